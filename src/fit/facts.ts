// The conversation of a foreign agent as facts of an ordinary session, so that everything that reads sessions reads it too.
// A person is behind these words, but a program sent them: nothing of it counts as typed here. What a fact cannot say (a
// block of a kind we do not know) stands as its JSON. Pure.
import { objectIn } from '../transcript/json.ts'
import { isRecord, type AssistantBlock, type UserBlock } from '../transcript/content.ts'
import { textResult, type Fact, type Section, type ToolSpec } from '../transcript/fact.ts'
import { callId } from '../transcript/ids.ts'
import { valueAt } from './json-spans.ts'
import { parameter, type ForeignRequest, type Unit } from './layouts.ts'

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {})
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
const asJson = (value: unknown): string => JSON.stringify(value) ?? ''
const plain = (text: string): UserBlock => ({ type: 'text', text })

/** One unit in neutral form: said by the user's side, a result, or part of an answer. */
export type Said =
  | { readonly by: 'user'; readonly content: readonly UserBlock[]; readonly isInjected: boolean }
  | {
      readonly by: 'tool'
      readonly call: string
      readonly content: readonly UserBlock[]
      readonly isError: boolean
    }
  | { readonly by: 'model'; readonly content: readonly AssistantBlock[] }

/** What the units say, in their order. */
export const saidIn = (request: ForeignRequest, units: readonly Unit[]): readonly Said[] =>
  units.flatMap((unit) => readers[request.wire](valueAt(request.bytes, unit), unit.role))

const readers: Readonly<Record<ForeignRequest['wire'], (value: unknown, role: string) => readonly Said[]>> = {
  anthropic: anthropicUnit,
  'openai-chat': chatUnit,
  'openai-responses': responsesUnit,
  gemini: geminiUnit,
}

const user = (content: readonly UserBlock[], isInjected = false): readonly Said[] =>
  content.length === 0 ? [] : [{ by: 'user', content, isInjected }]
const model = (content: readonly AssistantBlock[]): readonly Said[] =>
  content.length === 0 ? [] : [{ by: 'model', content }]

/** What a client adds by itself, in the tags it uses for that. */
const isInjectedText = (text: string): boolean =>
  /^\s*<(?:system-reminder|environment_context|user_instructions)>/u.test(text)

function anthropicUnit(value: unknown, role: string): readonly Said[] {
  const said = textOf(value)
  const block: Fields = said === null ? fieldsOf(value) : { type: 'text', text: said }
  const { cache_control: _, ...fields } = block
  if (role === 'assistant')
    return model([{ ...fields, type: textOf(fields['type']) ?? 'unknown' } as AssistantBlock])
  if (block['type'] === 'tool_result')
    return [
      {
        by: 'tool',
        call: textOf(block['tool_use_id']) ?? '',
        content: userBlocks(block['content']),
        isError: block['is_error'] === true,
      },
    ]
  const content = userBlocks([fields])
  return user(content, role !== 'user' || isInjectedText(textOf(fields['text']) ?? ''))
}

function userBlocks(content: unknown): readonly UserBlock[] {
  const text = textOf(content)
  if (text !== null) return [plain(text)]
  return listOf(content).map((part) => {
    const { cache_control: _, ...fields } = fieldsOf(part)
    const said = textOf(fields['text'])
    if (fields['type'] === 'text' && said !== null) return { ...fields, type: 'text', text: said }
    const { type, source } = fields
    const isMedium = (type === 'image' || type === 'document') && isRecord(source)
    return isMedium
      ? { ...fields, type, source: { ...source, type: textOf(source['type']) ?? '' } }
      : plain(asJson(part))
  })
}

function chatUnit(value: unknown): readonly Said[] {
  const message = fieldsOf(value)
  const parts = chatParts(message['content'])
  switch (message['role']) {
    case 'tool':
      return [{ by: 'tool', call: textOf(message['tool_call_id']) ?? '', content: parts, isError: false }]
    case 'assistant':
      return model([
        ...textsIn(parts),
        ...listOf(message['tool_calls']).map((call) => {
          const fields = fieldsOf(call)
          const made = fieldsOf(fields['function'] ?? fields['custom'])
          return callBlock(textOf(fields['id']), textOf(made['name']), made['arguments'] ?? made['input'])
        }),
      ])
    default:
      return spoken(parts, message['role'])
  }
}

const textsIn = (parts: readonly UserBlock[]): readonly Extract<UserBlock, { type: 'text' }>[] =>
  parts.filter((part) => part.type === 'text')

/** Said by the user's side: what another role says, and what the client says for itself, was not typed. */
const spoken = (parts: readonly UserBlock[], role: unknown): readonly Said[] =>
  user(parts, role !== 'user' || textsIn(parts).some(({ text }) => isInjectedText(text)))

function chatParts(content: unknown): readonly UserBlock[] {
  const text = textOf(content)
  if (text !== null) return text === '' ? [] : [plain(text)]
  return listOf(content).map((part) => {
    const fields = fieldsOf(part)
    const url = textOf(fieldsOf(fields['image_url'])['url']) ?? textOf(fields['image_url'])
    if (url !== null) return { type: 'image', source: { type: 'url', url } }
    return plain(textOf(fields['text']) ?? asJson(part))
  })
}

function callBlock(id: string | null, name: string | null, input: unknown): AssistantBlock {
  const call = { type: 'tool_use', id: id ?? '', name: name ?? '' } as const
  if (isRecord(input)) return { ...call, input }
  const text = textOf(input) ?? ''
  // Free text of a custom tool, or arguments that were cut: kept as they came.
  return { ...call, input: objectIn(text) ?? { input: text } }
}

function responsesUnit(value: unknown): readonly Said[] {
  const said = textOf(value)
  if (said !== null) return user([plain(said)])
  const item = fieldsOf(value)
  const type = textOf(item['type']) ?? 'message'
  if (type.endsWith('_call_output'))
    return [
      { by: 'tool', call: textOf(item['call_id']) ?? '', content: chatParts(item['output']), isError: false },
    ]
  if (type === 'function_call' || type === 'custom_tool_call')
    return model([
      callBlock(textOf(item['call_id']), textOf(item['name']), item['arguments'] ?? item['input']),
    ])
  if (type !== 'message') return model([plain(asJson(item)) as AssistantBlock])
  const parts = chatParts(item['content'])
  return item['role'] === 'assistant' ? model(textsIn(parts)) : spoken(parts, item['role'])
}

function geminiUnit(value: unknown, role: string): readonly Said[] {
  const part = fieldsOf(value)
  // The API reads both spellings of a name, and clients write either.
  const call = part['functionCall'] ?? part['function_call']
  const answer = part['functionResponse'] ?? part['function_response']
  if (isRecord(call))
    return model([callBlock(textOf(call['id']) ?? textOf(call['name']), textOf(call['name']), call['args'])])
  if (isRecord(answer)) {
    const response = fieldsOf(answer['response'])
    const text = textOf(response['output']) ?? textOf(response['error']) ?? asJson(response)
    return [
      {
        by: 'tool',
        call: textOf(answer['id']) ?? textOf(answer['name']) ?? '',
        content: [plain(text)],
        isError: 'error' in response,
      },
    ]
  }
  const text = textOf(part['text']) ?? asJson(part)
  if (role === 'model')
    return model([part['thought'] === true ? { type: 'thinking', thinking: text } : { type: 'text', text }])
  return user([plain(text)], isInjectedText(text))
}

/** What the client's system prompt and tools are. */
export function instructionsOf(request: ForeignRequest): Fact {
  const system =
    parameter(request, 'system') ??
    parameter(request, 'instructions') ??
    parameter(request, 'systemInstruction') ??
    parameter(request, 'system_instruction')
  const texts =
    textOf(system) ??
    listOf(fieldsOf(system)['parts'] ?? system)
      .map((part) => textOf(fieldsOf(part)['text']) ?? '')
      .join('\n\n')
  const section: Section = { name: 'client', text: texts, side: 'static' }
  const tools = listOf(parameter(request, 'tools')).flatMap((tool) => {
    const declared = fieldsOf(tool)['functionDeclarations'] ?? fieldsOf(tool)['function_declarations']
    return (Array.isArray(declared) ? declared : [tool]).map(toolSpec)
  })
  return { type: 'instructions-set', sections: texts === '' ? [] : [section], tools }
}

function toolSpec(tool: unknown): ToolSpec {
  const fields = fieldsOf(fieldsOf(tool)['function'] ?? tool)
  const schema = fields['input_schema'] ?? fields['parameters'] ?? fields['parametersJsonSchema']
  return {
    name: textOf(fields['name']) ?? textOf(fields['type']) ?? 'tool',
    description: textOf(fields['description']) ?? '',
    input_schema: fieldsOf(schema),
  }
}

/** Who made an answer, where the facts ask for it. */
export interface AnswerNames {
  readonly model: string
  readonly messageId: (index: number) => string
}

/**
 * The facts for what was said. Answers next to each other are one; calls that nobody answered before the user's side spoke
 * again are closed, since no fact may stand there while calls are open.
 */
export function factsOf(said: readonly Said[], open: readonly string[], names: AnswerNames): readonly Fact[] {
  const facts: Fact[] = []
  const waiting = new Set(open)
  const close = (): void => {
    for (const call of waiting)
      facts.push(textResult(callId(call), '[the client sent no result for this call]'))
    waiting.clear()
  }
  for (const [index, item] of said.entries()) {
    if (item.by === 'tool') {
      if (waiting.delete(item.call))
        facts.push({
          type: 'tool-result',
          call: callId(item.call),
          content: item.content,
          isError: item.isError,
        })
      else
        facts.push({ type: 'attachment', kind: 'foreign-result', content: item.content, source: item.call })
    } else if (item.by === 'user') {
      // Texts of the client between two results of one answer wait for none of them.
      if (item.isInjected && waiting.size > 0)
        facts.push({ type: 'attachment', kind: 'foreign-text', content: item.content })
      else {
        close()
        facts.push({
          type: 'user-message',
          content: item.content,
          origin: item.isInjected ? 'injected' : 'program',
        })
      }
    } else {
      const before = said[index - 1]
      const last = facts.at(-1)
      if (before?.by === 'model' && last?.type === 'assistant-message')
        facts[facts.length - 1] = { ...last, content: [...last.content, ...item.content] }
      else {
        close()
        facts.push({
          type: 'assistant-message',
          content: item.content,
          messageId: names.messageId(index),
          stop: null,
          model: names.model,
        })
      }
      for (const block of item.content) if (block.type === 'tool_use' && 'id' in block) waiting.add(block.id)
    }
  }
  return facts
}
