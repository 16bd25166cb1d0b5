// Session files of pi. Version 1 is a list; from version 2 on entries have parents, and the conversation is the line that ends
// in the last message.
import type { AssistantBlock } from '../../transcript/content.ts'
import {
  importedFrom,
  summaryKind,
  TurnList,
  type Imported,
  type RecordedBlock,
  type Skipped,
} from '../recording.ts'
import { callOf, resultBlock, resultContent, textBlock } from './blocks.ts'
import {
  fieldsOf,
  listOf,
  numberOf,
  stringOrNull,
  timeOf,
  type Fields,
  type JsonLine,
  type Lines,
} from './lines.ts'
import { isRecord } from '../../transcript/json.ts'

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
  (value['type'] === 'message' && isRecord(value['message']) && !('parentUuid' in value)) ||
  (spoken.has(stringOrNull(value['type']) ?? '') && 'parentId' in value)

export function importPi(name: string, lines: Lines): Imported {
  const skipped: Skipped[] = [...lines.skipped]
  const known: JsonLine[] = []
  for (const record of lines.records) {
    const type = stringOrNull(record.value['type']) ?? ''
    if (silent.has(type) || spoken.has(type)) known.push(record)
    else skipped.push({ line: record.line, why: `unknown type ${JSON.stringify(type)}` })
  }
  const entries = known.filter(({ value }) => value['type'] !== 'session').map(({ value }) => value)
  const list = new TurnList()
  for (const value of entries.some((entry) => 'parentId' in entry) ? lineOf(entries) : entries)
    takeEntry(list, value)
  const header = fieldsOf(known.find(({ value }) => value['type'] === 'session')?.value)
  const turns = list.turns()
  const named = turns.find((turn) => turn.model !== undefined)?.model
  return importedFrom({ format: 'pi', skipped }, turns, {
    name: stringOrNull(header['id']) ?? name,
    client: `pi session v${numberOf(header['version']) ?? 1}`,
    model: named ?? stringOrNull(header['modelId']) ?? 'unknown',
  })
}

/**
 * The line of entries that ends in the last message, in file order. A parent that is nowhere before in the file costs
 * nothing: what stands before it takes its place.
 */
function lineOf(entries: readonly Fields[]): readonly Fields[] {
  const indexOf = new Map(entries.map(({ id }, index) => [id, index]))
  const line: Fields[] = []
  let at = entries.findLastIndex(({ type }) => spoken.has(stringOrNull(type) ?? ''))
  while (at >= 0) {
    line.push(entries[at]!)
    const parent = indexOf.get(entries[at]!['parentId'])
    at = parent !== undefined && parent < at ? parent : at - 1
  }
  return line.toReversed()
}

function takeEntry(list: TurnList, value: Fields): void {
  const at = timeOf(value['timestamp'])
  switch (value['type']) {
    case 'message':
      return takeMessage(list, fieldsOf(value['message']), at)
    case 'compaction':
      return list.user([textBlock(value['summary'], summaryKind)], at)
    case 'branch_summary':
      return list.user([textBlock(value['summary'], 'branch_summary')], at)
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
          usage: piUsage(message['usage']),
          model: stringOrNull(message['model']) ?? undefined,
          stop: stops[stringOrNull(message['stopReason']) ?? ''],
        },
      )
      return list.closeResponse()
    case 'toolResult': {
      const call = stringOrNull(message['toolCallId']) ?? ''
      const content = withSources(message['content'])
      return list.user([resultBlock(call, content, message['isError'] === true)], at)
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

export function piUsage(value: unknown) {
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
