// Session files of Claude Code. They are internal to that program, so they are read leniently: lines of one response
// are merged, side chains and bookkeeping left out, and nothing that was said is dropped because a link is broken.
// Where the conversation went on in more than one way everything is kept, in file order.
import { estimateBlocks } from '../../projection/tokens.ts'
import {
  importedFrom,
  summaryKind,
  TurnList,
  type Imported,
  type RecordedBlock,
  type RecordedTurn,
  type Skipped,
} from '../recording.ts'
import { messageBlocks, responseOf } from './blocks.ts'
import { markClientLine } from './corpus.ts'
import { fieldsOf, stringOrNull, timeOf, type Fields, type Lines } from './lines.ts'

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
  'api-request-shape',
  'api-request-blob',
  'api-request',
  'prompt_snapshot',
  'tools-used',
  'atis-latch',
  'cost-state',
])
const conversation = new Set(['user', 'assistant', 'attachment'])

export const isClaudeCodeLine = (value: Fields): boolean => {
  const type = stringOrNull(value['type']) ?? ''
  return (
    (conversation.has(type) && 'parentUuid' in value) ||
    (bookkeeping.has(type) && ('sessionId' in value || 'leafUuid' in value))
  )
}

export function importClaudeCode(name: string, lines: Lines): Imported {
  const skipped: Skipped[] = [...lines.skipped]
  const seen = new Set<string>()
  const main: Fields[] = []
  for (const { line, value } of lines.records) {
    const type = stringOrNull(value['type'])
    const id = stringOrNull(value['uuid'])
    if (type === null || !(conversation.has(type) || bookkeeping.has(type)))
      skipped.push({ line, why: `unknown type ${JSON.stringify(type)}` })
    else if (id !== null && seen.has(id)) skipped.push({ line, why: `a copy of ${id}` })
    else if (value['isSidechain'] !== true) {
      if (id !== null) seen.add(id)
      main.push(value)
    }
  }
  const first = (field: string): string | undefined =>
    main.map((value) => stringOrNull(value[field])).find((found) => found !== null) ?? undefined
  const turns = turnsOf(
    main.filter(({ type, uuid }) => typeof uuid === 'string' && conversation.has(stringOrNull(type) ?? '')),
  )
  return importedFrom({ format: 'claude-code', skipped }, turns, {
    name: first('sessionId') ?? name,
    client: `claude-code ${first('version') ?? ''}`.trim(),
    outputCounts: outputCountsOf(turns),
  })
}

function turnsOf(records: readonly Fields[]): readonly RecordedTurn[] {
  const list = new TurnList()
  for (const value of records) {
    const at = timeOf(value['timestamp'])
    const message = fieldsOf(value['message'])
    if (value['type'] === 'attachment') list.user(attachmentBlocks(fieldsOf(value['attachment'])), at)
    else if (value['type'] === 'user') list.user(userBlocks(value, message), at)
    else if (value['isApiErrorMessage'] !== true && message['model'] !== '<synthetic>') {
      list.assistant(messageBlocks(message['content'], 'assistant'), responseOf(message, at))
    }
  }
  return list.turns()
}

function userBlocks(value: Fields, message: Fields): readonly RecordedBlock[] {
  const blocks = messageBlocks(message['content'], 'user')
  const kind =
    value['isCompactSummary'] === true ? summaryKind : value['isMeta'] === true ? 'client_note' : undefined
  if (kind === undefined) return blocks.map(markClientLine)
  return blocks.map((recorded) => (recorded.block.type === 'tool_result' ? recorded : { ...recorded, kind }))
}

function attachmentBlocks(attachment: Fields): readonly RecordedBlock[] {
  const type = stringOrNull(attachment['type'])
  // What the program sent as its own prompt: nobody says it in the conversation.
  if (type === null || type === 'prompt_snapshot') return []
  const text =
    stringOrNull(attachment['prompt']) ?? stringOrNull(attachment['content']) ?? JSON.stringify(attachment)
  return [{ block: { type: 'text', text }, kind: `attachment:${type}` }]
}

// Some versions wrote the output count as it stood when the response began: far less than what is there to be seen.
function outputCountsOf(turns: readonly RecordedTurn[]): 'final' | 'partial' {
  let reported = 0
  let estimated = 0
  for (const { usage, content } of turns) {
    if (usage === undefined) continue
    reported += usage.output
    estimated += estimateBlocks(content.map(({ block }) => block))
  }
  return reported < estimated / 2 ? 'partial' : 'final'
}
