// Session files of pi. Version 1 is a list; from version 2 on entries have parents, and the conversation is the line that ends
// in the last message.
import type { AssistantBlock } from '../../transcript/content.ts'
import { contextOf, type Imported, type RecordedBlock, type Skipped } from '../recording.ts'
import { TurnList } from '../turn-list.ts'
import { callOf, resultContent } from './blocks.ts'
import { chainOf } from './chain.ts'
import type { BranchOptions } from './claude-code.ts'
import {
  fieldsOf,
  isFields,
  listOf,
  numberOf,
  stringOrNull,
  timeOf,
  type Fields,
  type JsonLine,
  type Lines,
} from './lines.ts'

const silent = new Set([
  'session',
  'model_change',
  'thinking_level_change',
  'custom',
  'label',
  'session_info',
  'ephemeral',
  'context_transform',
])
const spoken = new Set(['message', 'compaction', 'branch_summary', 'custom_message'])
const stops: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  toolUse: 'tool_use',
  length: 'max_tokens',
}

export const isPiLine = (value: Fields): boolean =>
  (value['type'] === 'session' && 'cwd' in value) ||
  (value['type'] === 'message' && isFields(value['message']) && !('parentUuid' in value)) ||
  (spoken.has(stringOrNull(value['type']) ?? '') && 'parentId' in value)

export function importPi(name: string, lines: Lines, options: BranchOptions = {}): Imported {
  const skipped: Skipped[] = [...lines.skipped]
  const known: JsonLine[] = []
  for (const record of lines.records) {
    const type = stringOrNull(record.value['type']) ?? ''
    if (silent.has(type) || spoken.has(type)) known.push(record)
    else skipped.push({ line: record.line, why: `unknown type ${JSON.stringify(type)}` })
  }
  const entries = known.filter(({ value }) => value['type'] !== 'session')
  const isTree = entries.some(({ value }) => 'parentId' in value)
  const chain = isTree ? chainOf(entries.map(linkOf)) : null
  const kept =
    chain === null || options.branches === 'all'
      ? entries
      : entries.filter((_, index) => chain.line.has(index))
  const list = new TurnList()
  for (const { value } of kept) takeEntry(list, value)
  const turns = list.turns()
  if (turns.length === 0) {
    return {
      ok: false,
      failure: { code: 'nothing-said', message: `${name}: no message in ${lines.total} lines` },
    }
  }
  const header = fieldsOf(known.find(({ value }) => value['type'] === 'session')?.value)
  const answers = turns.filter((turn) => turn.role === 'assistant')
  const first = answers.find((turn) => turn.usage !== undefined)?.usage
  const calls = turns.flatMap(({ content }) =>
    content.flatMap(({ block }) => ('name' in block ? [block.name] : [])),
  )
  const recording = {
    name: stringOrNull(header['id']) ?? name,
    client: `pi session v${numberOf(header['version']) ?? 1}`,
    model:
      answers.find((turn) => turn.model !== undefined)?.model ?? stringOrNull(header['modelId']) ?? 'unknown',
    usageKind: first === undefined ? ('none' as const) : ('anthropic' as const),
    outputCounts: 'final' as const,
    firstRequestTokens: first === undefined ? null : contextOf(first),
    system: null,
    tools: [...new Set(calls)],
    turns,
    extra: { cwd: stringOrNull(header['cwd']) },
  }
  const { islandsJoined, branches } = chain ?? { islandsJoined: 0, branches: 0 }
  const report = {
    format: 'pi',
    lines: lines.total,
    records: known.length,
    skipped,
    islandsJoined,
    branches,
    notes: [],
  }
  return { ok: true, recording, report }
}

const linkOf = ({ value }: JsonLine, index: number) => {
  const id = stringOrNull(value['id']) ?? `line ${index}`
  return {
    id,
    parent: stringOrNull(value['parentId']),
    group: id,
    isConversation: spoken.has(stringOrNull(value['type']) ?? ''),
  }
}

function takeEntry(list: TurnList, value: Fields): void {
  const at = timeOf(value['timestamp'])
  switch (value['type']) {
    case 'message':
      return takeMessage(list, fieldsOf(value['message']), at)
    case 'compaction':
      return list.user(
        [{ block: { type: 'text', text: stringOrNull(value['summary']) ?? '' }, kind: 'compact_summary' }],
        at,
      )
    case 'branch_summary':
      return list.user(
        [{ block: { type: 'text', text: stringOrNull(value['summary']) ?? '' }, kind: 'branch_summary' }],
        at,
      )
    case 'custom_message':
      return list.user(said(value['content'], stringOrNull(value['customType']) ?? 'custom'), at)
  }
}

function takeMessage(list: TurnList, message: Fields, fallback: number | null): void {
  const at = timeOf(message['timestamp']) ?? fallback
  switch (message['role']) {
    case 'user':
      return list.user(said(message['content'], undefined), at)
    case 'assistant':
      list.assistant(
        listOf(message['content']).map((block) => ({ block: answerBlock(fieldsOf(block)) })),
        {
          at,
          usage: usageOf(message['usage']),
          model: stringOrNull(message['model']) ?? undefined,
          stop: stops[stringOrNull(message['stopReason']) ?? ''],
        },
      )
      return list.closeResponse()
    case 'toolResult': {
      const call = stringOrNull(message['toolCallId']) ?? ''
      const content = resultContent(withSources(message['content']))
      return list.user(
        [
          {
            block: { type: 'tool_result', tool_use_id: call, content, is_error: message['isError'] === true },
          },
        ],
        at,
      )
    }
    case 'bashExecution': {
      const text = `Ran \`${stringOrNull(message['command']) ?? ''}\`\n${stringOrNull(message['output']) ?? ''}`
      return list.user([{ block: { type: 'text', text }, kind: 'user_bash' }], at)
    }
    default:
      return list.user(
        said(message['content'] ?? message['summary'], `role:${stringOrNull(message['role']) ?? 'unknown'}`),
        at,
      )
  }
}

function said(content: unknown, kind: string | undefined): readonly RecordedBlock[] {
  return resultContent(withSources(content)).map((block) => ({ block, kind }))
}

// Images carry their bytes beside the type here, not in a source.
function withSources(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  return content.map((item: unknown) => {
    const value = fieldsOf(item)
    if (value['type'] !== 'image' || 'source' in value) return item
    return { type: 'image', source: { type: 'base64', media_type: value['mimeType'], data: value['data'] } }
  })
}

function answerBlock(value: Fields): AssistantBlock {
  switch (value['type']) {
    case 'thinking': {
      const signature = stringOrNull(value['thinkingSignature'])
      return {
        type: 'thinking',
        thinking: stringOrNull(value['thinking']) ?? '',
        ...(signature === null ? {} : { signature }),
      }
    }
    case 'toolCall':
      return callOf(stringOrNull(value['id']), stringOrNull(value['name']), value['arguments'])
    default:
      return { type: 'text', text: stringOrNull(value['text']) ?? JSON.stringify(value) }
  }
}

function usageOf(value: unknown) {
  const usage = fieldsOf(value)
  const input = numberOf(usage['input'])
  if (input === null) return undefined
  return {
    input,
    cacheRead: numberOf(usage['cacheRead']) ?? 0,
    cacheWrite: numberOf(usage['cacheWrite']) ?? 0,
    output: numberOf(usage['output']) ?? 0,
  }
}
