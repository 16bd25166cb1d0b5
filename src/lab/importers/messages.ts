// Plain arrays of messages, as programs keep them: the Messages API's shape or OpenAI's chat shape, alone or in an
// object with `messages`, and with the system prompt where there is one.
import type { UserBlock } from '../../transcript/content.ts'
import { importedFrom, TurnList, type Imported, type RecordedBlock, type Skipped } from '../recording.ts'
import { callOf, messageBlocks, responseOf, resultBlock, textBlock } from './blocks.ts'
import { fieldsOf, listOf, stringOrNull, timeOf, type Fields } from './lines.ts'
import { isRecord } from '../../transcript/json.ts'

const roles = new Set(['user', 'assistant', 'system', 'developer', 'tool', 'function'])

export const isMessage = (value: unknown): boolean =>
  isRecord(value) && roles.has(stringOrNull(value['role']) ?? '')

/** The messages of a parsed file, or null when it holds none. */
export function messagesIn(value: unknown): readonly unknown[] | null {
  const list = Array.isArray(value) ? value : listOf(fieldsOf(value)['messages'])
  return list.some(isMessage) ? list : null
}

export function importMessages(name: string, value: unknown): Imported {
  const messages = messagesIn(value)
  if (messages === null)
    return { ok: false, failure: { code: 'no-messages', message: `${name}: no array of messages` } }
  const isChat = messages.some(isChatMessage)
  const list = new TurnList()
  const skipped: Skipped[] = []
  const system: string[] = [...plainTexts(fieldsOf(value)['system'])]
  messages.forEach((message, index) => {
    const fields = fieldsOf(message)
    if (!isMessage(message)) skipped.push({ line: index + 1, why: 'not a message' })
    else if (fields['role'] === 'system' || fields['role'] === 'developer')
      takeSystem(list, fields, system, index)
    else if (isChat) takeChat(list, fields)
    else takeAnthropic(list, fields)
  })
  const shape = isChat ? 'openai' : 'anthropic'
  const model = stringOrNull(fieldsOf(value)['model'])
  return importedFrom({ format: shape, skipped }, list.turns(), {
    name,
    client: `${shape} messages`,
    ...(model === null ? {} : { model }),
    firstRequestTokens: null,
    system: system.length === 0 ? null : system.join('\n\n'),
  })
}

function isChatMessage(message: unknown): boolean {
  const value = fieldsOf(message)
  if (
    value['role'] === 'tool' ||
    value['role'] === 'function' ||
    'tool_calls' in value ||
    'function_call' in value
  )
    return true
  return listOf(value['content']).some((part) => fieldsOf(part)['type'] === 'image_url')
}

// The system prompt stands before everything; what comes later was said at its place.
function takeSystem(list: TurnList, message: Fields, system: string[], index: number): void {
  const texts = plainTexts(message['content'])
  if (list.turns().length === 0) system.push(...texts)
  else
    list.user(
      texts.map((text) => ({
        block: { type: 'text', text },
        kind: `role:${stringOrNull(message['role']) ?? index}`,
      })),
      null,
    )
}

function takeAnthropic(list: TurnList, message: Fields): void {
  const at = timeOf(message['timestamp'])
  if (message['role'] === 'user') return list.user(messageBlocks(message['content'], 'user'), at)
  list.assistant(messageBlocks(message['content'], 'assistant'), responseOf(message, at))
  if (stringOrNull(message['id']) === null) list.closeResponse()
}

function takeChat(list: TurnList, message: Fields): void {
  const at = timeOf(message['timestamp'])
  switch (message['role']) {
    case 'tool':
    case 'function': {
      const call = stringOrNull(message['tool_call_id']) ?? stringOrNull(message['name']) ?? ''
      return list.user([resultBlock(call, message['content'], false)], at)
    }
    case 'assistant':
      list.assistant(
        [
          ...thought(message),
          ...plainTexts(message['content']).map((text) => textBlock(text)),
          ...callsOf(message),
        ],
        { at },
      )
      return list.closeResponse()
    default:
      return list.user(chatParts(message['content']), at)
  }
}

function thought(message: Fields): readonly RecordedBlock[] {
  const thinking = stringOrNull(message['reasoning_content']) ?? stringOrNull(message['reasoning'])
  return thinking === null || thinking === '' ? [] : [{ block: { type: 'thinking', thinking } }]
}

function callsOf(message: Fields): readonly RecordedBlock[] {
  const old = message['function_call']
  const calls = isRecord(old) ? [{ id: old['name'], function: old }] : listOf(message['tool_calls'])
  return calls.map((call) => {
    const value = fieldsOf(call)
    const made = fieldsOf(value['function'] ?? value['custom'])
    return {
      block: callOf(
        stringOrNull(value['id']),
        stringOrNull(made['name']),
        made['arguments'] ?? made['input'],
      ),
    }
  })
}

function chatParts(content: unknown): readonly RecordedBlock[] {
  if (!Array.isArray(content)) return plainTexts(content).map((text) => textBlock(text))
  return content.map((part: unknown) => ({ block: chatPart(fieldsOf(part)) }))
}

function chatPart(part: Fields): UserBlock {
  const url = stringOrNull(fieldsOf(part['image_url'])['url'])
  if (url !== null) return { type: 'image', source: { type: 'url', url } }
  return { type: 'text', text: stringOrNull(part['text']) ?? JSON.stringify(part) }
}

function plainTexts(content: unknown): readonly string[] {
  if (typeof content === 'string') return content === '' ? [] : [content]
  return listOf(content).map(
    (part) => stringOrNull(part) ?? stringOrNull(fieldsOf(part)['text']) ?? JSON.stringify(part),
  )
}
