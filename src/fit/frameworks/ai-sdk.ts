// The AI SDK: `prepareStep` of generateText, streamText and agents, or a middleware of the model. Its messages are judged as
// those of Chat Completions, which pair calls and results most strictly; files, reasoning and approvals ride along unread.
import { isRecord } from '../../transcript/content.ts'
import type { Usage } from '../../transcript/fact.ts'
import { plainDigest } from '../../wires/plain-digest.ts'
import {
  callName,
  isKeptCall,
  partsOf,
  textOf,
  type CallName,
  type Dialect,
  type Element,
} from './dialect.ts'
import { createFitting, type FrameworkOptions } from './fitting.ts'

/** A message of the AI SDK, as far as it is looked at. */
export interface AiSdkMessage {
  readonly role: string
  readonly content: unknown
}

/** What is only carried along, small enough to be hashed: bytes by their name. */
const carried = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, inner: unknown) =>
      inner instanceof Uint8Array ? `bytes:${plainDigest(inner)}` : inner,
    ) ?? 'null',
  ) as unknown

const filePart = (part: Element): Element => {
  const data: unknown = isRecord(part['data']) ? part['data']['data'] : (part['data'] ?? part['image'])
  const mime = textOf(part['mediaType']) || 'image/png'
  const url =
    typeof data === 'string' && !/^\w+:/u.test(data)
      ? `data:${mime};base64,${data}`
      : data instanceof Uint8Array
        ? `bytes:${plainDigest(data)}`
        : String(carried(data))
  return { type: 'image_url', image_url: { url } }
}

function write({ role, content }: AiSdkMessage, nameOf: CallName = callName): readonly Element[] {
  const parts = partsOf(content)
  if (role === 'tool') {
    const results = parts.filter(({ type }) => type === 'tool-result')
    const rest = parts.filter(({ type }) => type !== 'tool-result')
    if (results.length === 0) return [{ role: 'user', content: JSON.stringify(carried(rest)) }]
    return results.map((part) => ({
      role: 'tool',
      tool_call_id: nameOf(part['toolCallId']),
      content: outputTexts(part['output']).map((text) => ({ type: 'text', text })),
    }))
  }
  if (role !== 'assistant')
    return [
      {
        role: role === 'system' ? 'system' : 'user',
        content: parts.map((part) =>
          part['type'] === 'text' ? { type: 'text', text: part['text'] } : filePart(part),
        ),
      },
    ]
  // What the provider ran itself has its result inside the answer.
  const calls = parts.filter((part) => part['type'] === 'tool-call' && part['providerExecuted'] !== true)
  const texts = parts.filter(({ type }) => type === 'text')
  const rest = parts.filter((part) => part['type'] !== 'text' && !calls.includes(part))
  return [
    {
      role: 'assistant',
      content:
        texts.map(({ text }) => textOf(text)).join('') ||
        (calls.length > 0 ? null : JSON.stringify(carried(rest))),
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map((part) => ({
              id: nameOf(part['toolCallId']),
              type: 'function',
              function: {
                name: textOf(part['toolName']),
                arguments: JSON.stringify(carried(part['input'] ?? {})),
              },
            })),
          }),
      ...(rest.length === 0 ? {} : { x_rest: carried(rest) }),
    },
  ]
}

function outputTexts(output: unknown): readonly string[] {
  const { type, value, reason } = isRecord(output) ? output : {}
  if (type === 'content' && Array.isArray(value))
    return value.filter(isRecord).flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : []))
  if (type === 'execution-denied') return [textOf(reason) || 'denied']
  return [typeof value === 'string' ? value : JSON.stringify(carried(value)) || '']
}

const textsIn = (element: Element): readonly string[] =>
  typeof element['content'] === 'string'
    ? [element['content']]
    : partsOf(element['content']).map(({ text }) => textOf(text))

function shorter(output: unknown, texts: readonly string[]): unknown {
  const { type, value } = isRecord(output) ? output : {}
  if (type === 'content' && Array.isArray(value)) {
    const left = [...texts]
    return {
      ...(output as object),
      value: value.map((part: unknown) =>
        isRecord(part) && typeof part['text'] === 'string' ? { ...part, text: left.shift() ?? '' } : part,
      ),
    }
  }
  const isError = type === 'error-text' || type === 'error-json'
  return { ...(output as object), type: isError ? 'error-text' : 'text', value: texts.join('\n') }
}

function rewrite<Message extends AiSdkMessage>(
  message: Message,
  elements: readonly (Element | null)[],
): Message {
  const parts = partsOf(message.content)
  if (message.role === 'tool') {
    const results = parts.filter(({ type }) => type === 'tool-result')
    const content = parts.flatMap((part) => {
      const element = elements[results.indexOf(part)]
      if (element === undefined) return [part]
      return element === null ? [] : [{ ...part, output: shorter(part['output'], textsIn(element)) }]
    })
    return { ...message, content }
  }
  const calls = new Set(partsOf(elements[0]?.['tool_calls']).map(({ id }) => id))
  if (message.role !== 'assistant') return message
  return {
    ...message,
    content: parts.filter(
      (part) =>
        part['type'] !== 'tool-call' ||
        part['providerExecuted'] === true ||
        isKeptCall(part['toolCallId'], calls),
    ),
  }
}

/** The prompt of a model has a list of parts where messages may have a text. */
const dialect = <Message extends AiSdkMessage>(): Dialect<Message> => ({
  wire: 'openai-chat',
  write,
  rewrite,
  create: (element, idOf) =>
    (element['role'] === 'tool'
      ? {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: idOf(element['tool_call_id']),
              toolName: 'unknown',
              output: { type: 'error-text', value: textsIn(element).join('\n') },
            },
          ],
        }
      : {
          role: 'user',
          content: [{ type: 'text', text: textsIn(element).join('\n') }],
        }) as object as Message,
})

/** A call that waits for somebody's approval has no result yet, and must not get one from us. */
const isWaiting = (messages: readonly AiSdkMessage[]): boolean => {
  const parts = messages.flatMap(({ content }) => partsOf(content))
  const answered = new Set(
    parts.flatMap((part) => (part['type'] === 'tool-result' ? [part['toolCallId']] : [])),
  )
  return parts.some((part) => part['type'] === 'tool-approval-request' && !answered.has(part['toolCallId']))
}

interface AiSdkUsage {
  readonly inputTokens?: unknown
  readonly inputTokenDetails?: unknown
  readonly outputTokens?: unknown
}
const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0)

function usageIn({ inputTokens, inputTokenDetails, outputTokens }: AiSdkUsage): Usage | null {
  // A model's own report has its numbers in records, that of a step has them beside each other.
  const details = isRecord(inputTokenDetails) ? inputTokenDetails : isRecord(inputTokens) ? inputTokens : {}
  const total = count(isRecord(inputTokens) ? inputTokens['total'] : inputTokens)
  if (total === 0) return null
  const cacheRead = count(details['cacheReadTokens'] ?? details['cacheRead'])
  const cacheWrite = count(details['cacheWriteTokens'] ?? details['cacheWrite'])
  const output = count(isRecord(outputTokens) ? outputTokens['total'] : outputTokens)
  return { input: Math.max(0, total - cacheRead - cacheWrite), cacheRead, cacheWrite, output }
}

/** A call of a model, as a middleware is given it. */
interface ModelCall {
  readonly prompt: readonly AiSdkMessage[]
  readonly tools?: readonly unknown[] | undefined
}
interface StreamPart {
  readonly type: string
}

/** For one conversation: give `prepareStep` to generateText, streamText or an agent, or the middleware to wrapLanguageModel. */
export interface AiSdkFit {
  readonly prepareStep: <Message extends AiSdkMessage>(step: {
    readonly messages: readonly Message[]
    readonly steps: readonly { readonly usage: object }[]
    readonly instructions?: unknown
  }) => Promise<{ messages: Message[] }>
  readonly middleware: {
    readonly specificationVersion: 'v4'
    transformParams<Params extends ModelCall>(call: { readonly params: Params }): Promise<Params>
    wrapGenerate<Result extends { readonly usage: object }, Params extends ModelCall>(call: {
      readonly doGenerate: () => PromiseLike<Result>
      readonly params: Params
      readonly model: { doGenerate(params: Params): PromiseLike<Result> }
    }): Promise<Result>
    wrapStream<
      Part extends StreamPart,
      Result extends { stream: ReadableStream<Part> },
      Params extends ModelCall,
    >(call: {
      readonly doStream: () => PromiseLike<Result>
      readonly params: Params
      readonly model: { doStream(params: Params): PromiseLike<Result> }
    }): Promise<Result>
  }
}

/** `fit` for the AI SDK: one for each conversation. */
export function aiSdkFit(options: FrameworkOptions<AiSdkMessage>): AiSdkFit {
  const fitting = createFitting<AiSdkMessage>(dialect(), options)
  let usage: Usage | null = null
  /** What is refused for its length is sent once more, smaller. */
  async function sent<Params extends ModelCall, Result>(
    params: Params,
    first: () => PromiseLike<Result>,
    again: (params: Params) => PromiseLike<Result>,
  ): Promise<Result> {
    try {
      return await first()
    } catch (error) {
      const prompt = await fitting.smaller(params.prompt, error, { tools: params.tools })
      if (prompt === null) throw error
      return await again({ ...params, prompt: [...prompt] })
    }
  }
  return {
    async prepareStep({ messages, steps, instructions }) {
      if (isWaiting(messages)) return { messages: [...messages] }
      const spent = steps.at(-1)?.usage
      const returned = await fitting.fitted(messages, {
        usage: spent === undefined ? null : usageIn(spent),
        system: instructions,
      })
      return { messages: [...returned] as (typeof messages)[number][] }
    },
    middleware: {
      specificationVersion: 'v4',
      async transformParams({ params }) {
        if (isWaiting(params.prompt)) return params
        const prompt = await fitting.fitted(params.prompt, { usage, tools: params.tools })
        return { ...params, prompt: [...prompt] }
      },
      async wrapGenerate({ doGenerate, params, model }) {
        const result = await sent(params, doGenerate, (smaller) => model.doGenerate(smaller))
        usage = usageIn(result.usage)
        return result
      },
      async wrapStream({ doStream, params, model }) {
        const result = await sent(params, doStream, (smaller) => model.doStream(smaller))
        const heard = new TransformStream<StreamPart, StreamPart>({
          transform(part, controller) {
            if (part.type === 'finish' && 'usage' in part && isRecord(part.usage)) usage = usageIn(part.usage)
            controller.enqueue(part)
          },
        })
        return { ...result, stream: result.stream.pipeThrough(heard) }
      },
    },
  }
}
