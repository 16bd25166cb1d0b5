// What Gemini CLI writes of a conversation: a line for each message, written again when it changes, and lines that set
// fields. A line that sets the messages to a list with a snapshot in it that was not there before is a compaction.
import { importedFrom, summaryKind, TurnList, type Imported, type RecordedBlock } from '../recording.ts'
import { callOf, resultBlock, textBlock } from './blocks.ts'
import { fieldsOf, listOf, numberOf, stringOrNull, timeOf, type Fields, type Lines } from './lines.ts'
import { isRecord } from '../../transcript/json.ts'
import type { Usage } from '../../transcript/fact.ts'

export const isGeminiLine = (value: Fields): boolean =>
  (value['type'] === 'gemini' && typeof value['tokens'] === 'object') ||
  (typeof value['sessionId'] === 'string' && typeof value['projectHash'] === 'string') ||
  (isRecord(value['$set']) && Array.isArray(value['$set']['messages']))

/** Older versions wrote one file of JSON instead: its head and its messages, as the lines that later ones write. Null where it is none. */
export function geminiLinesIn(value: unknown): Lines | null {
  const { messages, ...head } = fieldsOf(value)
  if (!isGeminiLine(head) || !Array.isArray(messages)) return null
  const records = [head, ...messages.map(fieldsOf)].map((each, at) => ({ line: at + 1, value: each }))
  return { total: records.length, records, skipped: [] }
}

/** A session of Gemini CLI as a recording. */
export function importGemini(name: string, lines: Lines): Imported {
  const found = new Map<string, Fields>()
  for (const { value } of lines.records) {
    const id = stringOrNull(value['id'])
    // Written again when results come: the place stays, the last form counts.
    if (id !== null) found.set(id, { ...found.get(id), ...value })
    else
      for (const snapshot of snapshotsIn(value))
        if (!found.has(snapshot.id)) found.set(snapshot.id, snapshot.message)
  }
  const list = new TurnList()
  for (const message of found.values()) takeMessage(list, message)
  const header = fieldsOf(lines.records.find(({ value }) => typeof value['projectHash'] === 'string')?.value)
  return importedFrom({ format: 'gemini-cli', skipped: [...lines.skipped] }, list.turns(), {
    name: stringOrNull(header['sessionId']) ?? name,
    client: 'gemini-cli',
  })
}

/** The summaries in a list of messages that was set; a list is set again at every return to a session. */
function snapshotsIn(value: Fields): readonly { readonly id: string; readonly message: Fields }[] {
  return listOf(fieldsOf(value['$set'])['messages']).flatMap((item) => {
    const message = fieldsOf(item)
    const text = textsIn(message['content']).join('\n')
    if (message['type'] !== 'user' || !text.trimStart().startsWith('<state_snapshot>')) return []
    return [{ id: text, message: { ...message, isSnapshot: true } }]
  })
}

function takeMessage(list: TurnList, message: Fields): void {
  const at = timeOf(message['timestamp'])
  if (message['type'] === 'user') return list.user(saidIn(message), at)
  if (message['type'] !== 'gemini') return
  const calls = listOf(message['toolCalls']).map(fieldsOf)
  const thoughts = listOf(message['thoughts']).map((one) => stringOrNull(fieldsOf(one)['description']) ?? '')
  const thinking = thoughts.filter((one) => one !== '').join('\n')
  list.assistant(
    [
      ...(thinking === '' ? [] : [{ block: { type: 'thinking' as const, thinking } }]),
      ...textsIn(message['content'])
        .filter((text) => text !== '')
        .map((text) => textBlock(text)),
      ...calls.map((call) => ({
        block: callOf(stringOrNull(call['id']), stringOrNull(call['name']), call['args']),
      })),
    ],
    { at, usage: geminiUsage(message['tokens']), model: stringOrNull(message['model']) ?? undefined },
  )
  list.closeResponse()
  list.user(
    calls
      .filter((call) => 'result' in call)
      .map((call) =>
        resultBlock(stringOrNull(call['id']) ?? '', resultTexts(call['result']), call['status'] === 'error'),
      ),
    at,
  )
}

function saidIn(message: Fields): readonly RecordedBlock[] {
  return textsIn(message['content']).map((text) => textBlock(text, kindOf(message, text)))
}

function kindOf(message: Fields, text: string): string | undefined {
  if (message['isSnapshot'] === true) return summaryKind
  return text.startsWith('<session_context>') ? 'client_note' : undefined
}

function textsIn(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content]
  return listOf(content).flatMap((part) => {
    const text = stringOrNull(fieldsOf(part)['text'])
    return text === null ? [] : [text]
  })
}

function resultTexts(result: unknown): readonly string[] {
  return listOf(result).map((part) => {
    const response = fieldsOf(fieldsOf(fieldsOf(part)['functionResponse'])['response'])
    return stringOrNull(response['output']) ?? stringOrNull(response['error']) ?? JSON.stringify(part)
  })
}

/** Reasoning is billed as output; what tools added to the prompt as input. */
export function geminiUsage(value: unknown): Usage | undefined {
  const tokens = fieldsOf(value)
  const input = numberOf(tokens['input'])
  if (input === null) return undefined
  const count = (field: string): number => numberOf(tokens[field]) ?? 0
  const cacheRead = count('cached')
  return {
    input: input - cacheRead + count('tool'),
    cacheRead,
    cacheWrite: 0,
    output: count('output') + count('thoughts'),
  }
}
