// LangChain.js: a middleware of createAgent that fits what is sent in each call of the model. The agent's own state keeps every
// message; nothing is removed from it.
import { isRecord } from '../../transcript/content.ts'
import type { Usage } from '../../transcript/fact.ts'
import {
  callName,
  isKeptCall,
  partsOf as anyParts,
  textOf,
  type CallName,
  type Dialect,
  type Element,
} from './dialect.ts'
import { createFitting, type FrameworkOptions } from './fitting.ts'

/** A message of LangChain, as far as it is looked at. */
export interface LangChainMessage {
  readonly type: string
  readonly content: unknown
}

/** The classes that messages of ours are made with, from `langchain` or `@langchain/core/messages`. */
export interface LangChainClasses<Message> {
  readonly HumanMessage: new (fields: { content: string }) => Message
  readonly ToolMessage: new (fields: {
    content: string
    tool_call_id: string
    status?: 'success' | 'error'
  }) => Message
}

/** An empty text says nothing here. */
const partsOf = (content: unknown): readonly Element[] => (content === '' ? [] : anyParts(content))
const fieldOf = (message: object, key: string): unknown => (message as Element)[key]

/** Calls stand in the content too, in the words of their provider. */
const isCallPart = ({ type }: Element): boolean =>
  type === 'tool_use' || type === 'tool_call' || type === 'function_call' || type === 'input_json_delta'

function write(message: LangChainMessage, nameOf: CallName = callName): readonly Element[] {
  const parts = partsOf(message.content)
  const texts = parts.filter(({ type }) => type === 'text')
  const rest = parts.filter((part) => part['type'] !== 'text' && !isCallPart(part))
  const beyond = rest.length === 0 ? {} : { x_rest: rest }
  if (message.type === 'tool')
    return [
      {
        role: 'tool',
        tool_call_id: nameOf(fieldOf(message, 'tool_call_id')),
        content: texts.map(({ text }) => ({ type: 'text', text })),
        ...beyond,
      },
    ]
  if (message.type !== 'ai')
    return [
      {
        role: message.type === 'system' ? 'system' : 'user',
        content: parts.map((part) =>
          part['type'] === 'text'
            ? { type: 'text', text: part['text'] }
            : { type: 'image_url', image_url: { url: JSON.stringify(part) } },
        ),
      },
    ]
  const calls = fieldOf(message, 'tool_calls')
  const made = Array.isArray(calls) ? calls.filter(isRecord) : []
  return [
    {
      role: 'assistant',
      content:
        texts.map(({ text }) => textOf(text)).join('') || (made.length > 0 ? null : JSON.stringify(rest)),
      ...(made.length === 0
        ? {}
        : {
            tool_calls: made.map((call) => ({
              id: nameOf(call['id']),
              type: 'function',
              function: { name: textOf(call['name']), arguments: JSON.stringify(call['args'] ?? {}) },
            })),
          }),
      ...beyond,
    },
  ]
}

const textIn = (element: Element): string =>
  partsOf(element['content'])
    .map(({ text }) => textOf(text))
    .join('\n')

/** The same message of the same class with another content. */
function withFields<Message extends LangChainMessage>(message: Message, fields: object): Message {
  const copy = Object.create(Object.getPrototypeOf(message) as object | null) as Message
  return Object.assign(copy, message, fields)
}

function rewrite<Message extends LangChainMessage>(
  message: Message,
  [element]: readonly (Element | null)[],
): Message {
  if (element === null || element === undefined) return message
  if (message.type === 'tool') {
    const left = partsOf(element['content']).map(({ text }) => textOf(text))
    const content =
      typeof message.content === 'string'
        ? left.join('\n')
        : partsOf(message.content).map((part) =>
            part['type'] === 'text' ? { ...part, text: left.shift() ?? '' } : part,
          )
    return withFields(message, { content })
  }
  const kept = new Set(partsOf(element['tool_calls']).map(({ id }) => id))
  const calls = fieldOf(message, 'tool_calls')
  if (message.type !== 'ai' || !Array.isArray(calls)) return message
  return withFields(message, {
    tool_calls: calls.filter((call) => isRecord(call) && isKeptCall(call['id'], kept)),
    content: Array.isArray(message.content)
      ? message.content.filter(
          (part: unknown) => !isRecord(part) || !isCallPart(part) || isKeptCall(part['id'], kept),
        )
      : message.content,
  })
}

const dialectWith = <Message extends LangChainMessage>({
  HumanMessage,
  ToolMessage,
}: LangChainClasses<Message>): Dialect<Message> => ({
  wire: 'openai-chat',
  write,
  rewrite,
  create: (element, idOf) =>
    element['role'] === 'tool'
      ? new ToolMessage({
          content: textIn(element),
          tool_call_id: idOf(element['tool_call_id']),
          status: 'error',
        })
      : new HumanMessage({ content: textIn(element) }),
})

function usageIn(answer: object | undefined): Usage | null {
  const reported = answer === undefined ? undefined : fieldOf(answer, 'usage_metadata')
  if (!isRecord(reported) || typeof reported['input_tokens'] !== 'number') return null
  const details = isRecord(reported['input_token_details']) ? reported['input_token_details'] : {}
  const number = (value: unknown): number => (typeof value === 'number' ? value : 0)
  const [cacheRead, cacheWrite] = [number(details['cache_read']), number(details['cache_creation'])]
  const output = number(reported['output_tokens'])
  return {
    input: Math.max(0, reported['input_tokens'] - cacheRead - cacheWrite),
    cacheRead,
    cacheWrite,
    output,
  }
}

interface ModelCall<Message> {
  readonly messages: readonly Message[]
  readonly systemMessage?: unknown
  readonly runtime?: unknown
}

export interface LangChainFitOptions<Message>
  extends FrameworkOptions<LangChainMessage>, LangChainClasses<Message> {
  /** The name of the conversation; the thread of the checkpointer where nothing is given. */
  readonly conversation?: ((request: object) => string) | undefined
}

/** A middleware for `createAgent({ middleware: [...] })`. */
export interface LangChainFit {
  readonly name: string
  wrapModelCall<Request extends ModelCall<LangChainMessage>, Response>(
    request: Request,
    handler: (request: Request) => Response | Promise<Response>,
  ): Promise<Response>
}

const threadOf = (request: object): string => {
  const runtime = fieldOf(request, 'runtime')
  const configurable = isRecord(runtime) ? (runtime['configurable'] ?? runtime['config']) : undefined
  return isRecord(configurable) ? textOf(configurable['thread_id']) : ''
}

/** `fit` for LangChain.js. */
export function langChainFit<Message extends LangChainMessage>({
  HumanMessage,
  ToolMessage,
  conversation = threadOf,
  ...options
}: LangChainFitOptions<Message>): LangChainFit {
  if (typeof HumanMessage !== 'function' || typeof ToolMessage !== 'function')
    throw new TypeError(
      "`HumanMessage` or `ToolMessage` is missing: pass both classes of your LangChain, import { HumanMessage, ToolMessage } from 'langchain'",
    )
  const fitting = createFitting<LangChainMessage>(dialectWith({ HumanMessage, ToolMessage }), options)
  return {
    name: 'palimpsest-fit',
    async wrapModelCall(request, handler) {
      const { messages, systemMessage } = request
      const answer = messages.findLast(({ type }) => type === 'ai')
      const ask = {
        conversation: conversation(request),
        usage: usageIn(answer),
        system: isRecord(systemMessage) ? systemMessage['content'] : undefined,
      }
      const fitted = await fitting.fitted(messages, ask)
      try {
        return await handler({ ...request, messages: [...fitted] })
      } catch (error) {
        const smaller = await fitting.smaller(messages, error, ask)
        if (smaller === null) throw error
        return handler({ ...request, messages: [...smaller] })
      }
    },
  }
}
