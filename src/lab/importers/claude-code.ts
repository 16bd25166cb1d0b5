// Session files of Claude Code. They are internal to that program, so they are read leniently: lines of one response
// are merged, side chains and bookkeeping left out, and nothing that was said is dropped because a link is broken.
// Where the conversation went on in more than one way everything is kept in file order, unless only the newest way is wanted.
import { estimateBlocks } from '../../projection/tokens.ts'
import {
  contextOf,
  type Imported,
  type RecordedBlock,
  type RecordedTurn,
  type Skipped,
} from '../recording.ts'
import { TurnList } from '../turn-list.ts'
import { anthropicUsage, messageBlocks } from './blocks.ts'
import { chainOf, type Link } from './chain.ts'
import { markClientLine } from './corpus.ts'
import { fieldsOf, listOf, stringOrNull, timeOf, type Fields, type JsonLine, type Lines } from './lines.ts'

export interface BranchOptions {
  /** What to keep where the recording went on in more than one way. */
  readonly branches?: 'all' | 'newest' | undefined
}

const bookkeeping = new Set([
  'system',
  'summary',
  'progress',
  'queue-operation',
  'file-history-snapshot',
  'custom-title',
  'ai-title',
  'agent-name',
  'agent-setting',
  'permission-mode',
  'mode',
  'last-prompt',
  'pr-link',
  'bridge-session',
  'bridge_status',
])
const conversation = new Set(['user', 'assistant', 'attachment'])

export const isClaudeCodeLine = (value: Fields): boolean => {
  const type = stringOrNull(value['type']) ?? ''
  return (
    (conversation.has(type) && 'parentUuid' in value) ||
    (bookkeeping.has(type) && ('sessionId' in value || 'leafUuid' in value))
  )
}

export function importClaudeCode(name: string, lines: Lines, options: BranchOptions = {}): Imported {
  const skipped: Skipped[] = [...lines.skipped]
  const notes: string[] = []
  const seen = new Set<string>()
  const main: JsonLine[] = []
  let sideLines = 0
  for (const record of lines.records) {
    const type = stringOrNull(record.value['type'])
    const id = stringOrNull(record.value['uuid'])
    if (type === null || !(conversation.has(type) || bookkeeping.has(type))) {
      skipped.push({ line: record.line, why: `unknown type ${JSON.stringify(type)}` })
    } else if (id !== null && seen.has(id)) {
      skipped.push({ line: record.line, why: `a copy of ${id}` })
    } else if (record.value['isSidechain'] === true) {
      sideLines++
    } else {
      if (id !== null) seen.add(id)
      main.push(record)
    }
  }
  if (sideLines > 0) notes.push(`${sideLines} lines of sub-agents are not part of the conversation`)
  const linked = main.filter(({ value }) => stringOrNull(value['uuid']) !== null)
  const chain = chainOf(linked.map(linkOf))
  const kept = options.branches === 'newest' ? newest(linked, chain.line) : linked
  const turns = turnsOf(kept.filter(({ value }) => conversation.has(stringOrNull(value['type']) ?? '')))
  if (turns.length === 0) {
    return {
      ok: false,
      failure: { code: 'nothing-said', message: `${name}: no message in ${lines.total} lines` },
    }
  }
  const { islandsJoined, branches } = chain
  const report = {
    format: 'claude-code',
    lines: lines.total,
    records: lines.records.length,
    skipped,
    islandsJoined,
    branches,
    notes,
  }
  return { ok: true, recording: recordingOf(name, main, turns), report }
}

function linkOf({ value }: JsonLine): Link {
  const message = fieldsOf(value['message'])
  const id = stringOrNull(value['uuid']) ?? ''
  const answered = listOf(message['content']).some((block) => fieldsOf(block)['type'] === 'tool_result')
  const group = answered ? 'results' : (stringOrNull(message['id']) ?? id)
  // A boundary begins a new root; the conversation before it goes on through the logical parent.
  const parent = stringOrNull(value['parentUuid']) ?? stringOrNull(value['logicalParentUuid'])
  return { id, parent, group, isConversation: value['type'] === 'user' || value['type'] === 'assistant' }
}

// The line to the newest message, with the other lines of its responses and the results of its calls.
function newest(linked: readonly JsonLine[], line: ReadonlySet<number>): readonly JsonLine[] {
  const ids = new Set<unknown>()
  const calls = new Set<unknown>()
  const isOfLine = (record: JsonLine, index: number): boolean =>
    line.has(index) || ids.has(fieldsOf(record.value['message'])['id'])
  linked.forEach(({ value }, index) => {
    const id = fieldsOf(value['message'])['id']
    if (line.has(index) && id !== undefined) ids.add(id)
  })
  linked.forEach((record, index) => {
    if (!isOfLine(record, index)) return
    for (const block of listOf(fieldsOf(record.value['message'])['content'])) calls.add(fieldsOf(block)['id'])
  })
  calls.delete(undefined)
  return linked.filter(
    (record, index) =>
      isOfLine(record, index) ||
      listOf(fieldsOf(record.value['message'])['content']).some((block) =>
        calls.has(fieldsOf(block)['tool_use_id']),
      ),
  )
}

function turnsOf(records: readonly JsonLine[]): readonly RecordedTurn[] {
  const list = new TurnList()
  for (const { value } of records) {
    const at = timeOf(value['timestamp'])
    const message = fieldsOf(value['message'])
    if (value['type'] === 'attachment') list.user(attachmentBlocks(fieldsOf(value['attachment'])), at)
    else if (value['type'] === 'user') list.user(userBlocks(value, message), at)
    else if (value['isApiErrorMessage'] !== true && message['model'] !== '<synthetic>') {
      list.assistant(messageBlocks(message['content'], 'assistant'), {
        at,
        messageId: stringOrNull(message['id']) ?? undefined,
        usage: anthropicUsage(message['usage']),
        model: stringOrNull(message['model']) ?? undefined,
        stop: stringOrNull(message['stop_reason']) ?? undefined,
      })
    }
  }
  return list.turns()
}

function userBlocks(value: Fields, message: Fields): readonly RecordedBlock[] {
  const blocks = messageBlocks(message['content'], 'user')
  const kind =
    value['isCompactSummary'] === true
      ? 'compact_summary'
      : value['isMeta'] === true
        ? 'client_note'
        : undefined
  if (kind === undefined) return blocks.map(markClientLine)
  return blocks.map((recorded) => (recorded.block.type === 'tool_result' ? recorded : { ...recorded, kind }))
}

function attachmentBlocks(attachment: Fields): readonly RecordedBlock[] {
  const type = stringOrNull(attachment['type'])
  if (type === null) return []
  const text =
    stringOrNull(attachment['prompt']) ?? stringOrNull(attachment['content']) ?? JSON.stringify(attachment)
  return [{ block: { type: 'text', text }, kind: `attachment:${type}` }]
}

function recordingOf(name: string, main: readonly JsonLine[], turns: readonly RecordedTurn[]) {
  const answers = turns.filter((turn) => turn.role === 'assistant')
  const first = answers.find((turn) => turn.usage !== undefined)?.usage
  const version = main.map(({ value }) => stringOrNull(value['version'])).find((found) => found !== null)
  const session = main.map(({ value }) => stringOrNull(value['sessionId'])).find((found) => found !== null)
  const tools = answers.flatMap(({ content }) =>
    content.flatMap(({ block }) => (block.type === 'tool_use' && 'name' in block ? [block.name] : [])),
  )
  return {
    name: session ?? name,
    client: `claude-code ${version ?? ''}`.trim(),
    model: answers.find((turn) => turn.model !== undefined)?.model ?? 'unknown',
    usageKind: first === undefined ? ('none' as const) : ('anthropic' as const),
    outputCounts: outputCountsOf(answers),
    firstRequestTokens: first === undefined ? null : contextOf(first),
    system: null,
    tools: [...new Set(tools)],
    turns,
    extra: {
      cwd: main.map(({ value }) => stringOrNull(value['cwd'])).find((found) => found !== null) ?? null,
    },
  }
}

// Some versions wrote the output count as it stood when the response began: far less than what is there to be seen.
function outputCountsOf(answers: readonly RecordedTurn[]): 'final' | 'partial' {
  let reported = 0
  let estimated = 0
  for (const { usage, content } of answers) {
    if (usage === undefined) continue
    reported += usage.output
    estimated += estimateBlocks(content.map(({ block }) => block))
  }
  return reported < estimated / 2 ? 'partial' : 'final'
}
