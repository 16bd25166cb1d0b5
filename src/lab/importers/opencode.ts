// What opencode exports of a conversation, or keeps in its database: messages with their parts. A compaction is a message
// of the user with a part that says so, and the answer to it, which is the summary.
import type { AssistantBlock } from '../../transcript/content.ts'
import type { Usage } from '../../transcript/fact.ts'
import { importedFrom, summaryKind, TurnList, type Imported, type RecordedBlock } from '../recording.ts'
import { callOf, resultBlock, textBlock } from './blocks.ts'
import { fieldsOf, listOf, numberOf, stringOrNull, timeOf, type Fields } from './lines.ts'
import { isRecord } from '../../transcript/json.ts'

export interface OpencodeExport {
  readonly info: Fields
  readonly messages: readonly Fields[]
}

/** The conversation in a parsed file, or null where it is no export. */
export function exportIn(value: unknown): OpencodeExport | null {
  const { info, messages } = fieldsOf(value)
  const isExport = isRecord(info) && stringOrNull(info['id'])?.startsWith('ses_') === true
  return isExport && Array.isArray(messages) ? { info, messages: messages.map(fieldsOf) } : null
}

/** A session of opencode as a recording. */
export function importOpencode(name: string, { info, messages }: OpencodeExport): Imported {
  const list = new TurnList()
  for (const message of messages)
    takeMessage(list, fieldsOf(message['info']), listOf(message['parts']).map(fieldsOf))
  return importedFrom({ format: 'opencode', skipped: [] }, list.turns(), {
    name: stringOrNull(info['id']) ?? name,
    client: `opencode ${stringOrNull(info['version']) ?? ''}`.trim(),
  })
}

function takeMessage(list: TurnList, info: Fields, parts: readonly Fields[]): void {
  const at = timeOf(fieldsOf(info['time'])['created'])
  if (info['role'] === 'user') return list.user(parts.flatMap(saidIn), at)
  const texts = parts.flatMap((part) => (part['type'] === 'text' ? [stringOrNull(part['text']) ?? ''] : []))
  // The answer to a compaction stands for what came before it.
  if (info['summary'] === true) return list.user([textBlock(texts.join('\n'), summaryKind)], at)
  list.assistant(parts.flatMap(answered), {
    at,
    usage: opencodeUsage(info['tokens']),
    model: stringOrNull(info['modelID']) ?? undefined,
    stop: info['finish'] === 'tool-calls' ? 'tool_use' : info['finish'] === 'stop' ? 'end_turn' : undefined,
  })
  list.closeResponse()
  list.user(parts.flatMap(resultsIn), at)
}

function saidIn(part: Fields): readonly RecordedBlock[] {
  if (part['type'] !== 'text') return []
  return [textBlock(part['text'], part['synthetic'] === true ? 'client_note' : undefined)]
}

function answered(part: Fields): readonly RecordedBlock[] {
  const block = answerBlock(part)
  return block === null ? [] : [{ block }]
}

function answerBlock(part: Fields): AssistantBlock | null {
  switch (part['type']) {
    case 'text':
      return { type: 'text', text: stringOrNull(part['text']) ?? '' }
    case 'reasoning':
      return { type: 'thinking', thinking: stringOrNull(part['text']) ?? '' }
    case 'tool':
      return callOf(
        stringOrNull(part['callID']),
        stringOrNull(part['tool']),
        fieldsOf(part['state'])['input'],
      )
    default:
      return null
  }
}

function resultsIn(part: Fields): readonly RecordedBlock[] {
  if (part['type'] !== 'tool') return []
  const state = fieldsOf(part['state'])
  const isError = state['status'] === 'error'
  if (!isError && state['status'] !== 'completed') return []
  return [resultBlock(stringOrNull(part['callID']) ?? '', state[isError ? 'error' : 'output'], isError)]
}

export function opencodeUsage(value: unknown): Usage | undefined {
  const tokens = fieldsOf(value)
  const cache = fieldsOf(tokens['cache'])
  const input = numberOf(tokens['input'])
  if (input === null) return undefined
  const count = (of: Fields, field: string): number => numberOf(of[field]) ?? 0
  return {
    input,
    cacheRead: count(cache, 'read'),
    cacheWrite: count(cache, 'write'),
    output: count(tokens, 'output') + count(tokens, 'reasoning'),
  }
}
