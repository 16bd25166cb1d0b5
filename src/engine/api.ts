// The edge of the engine: what callers hand in, what it writes for them, and how a failure leaves it.
import { errorText } from '../disk/failure.ts'
import type { Slice } from './core.ts'
import type { LiveEvent } from './live.ts'
import { readFilesNow } from './restoring/read-through.ts'
import type { ModelMessage } from '../model/model.ts'
import type { WireUsage } from '../model/wire.ts'
import type { Wire } from '../wires/wire.ts'
import { textsIn, userBlockProblem, type UserBlock } from '../transcript/content.ts'
import { factProblem } from '../transcript/codec.ts'
import { outcomeFrom } from '../tools/outcome.ts'
import type { ToolOutcome } from '../tools/tool.ts'
import { attachmentOf, textResult, type Fact } from '../transcript/fact.ts'
import { fenced } from '../transcript/fence.ts'
import { type OpenCall, notRun } from '../transcript/grammar.ts'
import type { Failure, FailureCode } from '../transcript/store.ts'

/** An expected failure, as the embedding program gets it: `code` is stable, the message says what to do. */
export class EngineError extends Error {
  readonly code: FailureCode
  constructor(failure: Failure) {
    super(failure.message)
    this.name = 'EngineError'
    this.code = failure.code
  }
}

export type Input = string | readonly UserBlock[]

export interface SendHow {
  /** Of input that was sent from elsewhere: by this it is known to have come. */
  readonly id?: string
  /** Typed where nothing else is said. */
  readonly origin?: 'typed' | 'program'
}

export const never = (): AbortSignal => new AbortController().signal

export const turnRuns: Failure = {
  code: 'busy',
  message: 'a turn is running; wait for its end or abort it',
}
export const emptyInput: Failure = { code: 'empty-input', message: 'the prompt is empty' }

/** What programs without types hand in, said before any of it is written. */
export function inputProblem(input: unknown): Failure | null {
  if (typeof input === 'string') return null
  const wrong = Array.isArray(input) ? input.findIndex((block) => userBlockProblem(block) !== null) : -1
  if (Array.isArray(input) && wrong < 0) return null
  const which = wrong < 0 ? '' : `; block ${wrong} is wrong: ${userBlockProblem((input as unknown[])[wrong])}`
  return badOptions(
    `the prompt must be a text, or a list of blocks such as { type: 'text', text }, images and documents${which}`,
  )
}

/** A result as a program without types hands it in. */
export function handedIn(id: unknown, outcome: unknown): ToolOutcome {
  const given = outcomeFrom(outcome)
  if (given.ok) return given.outcome
  throw new EngineError(badOptions(`the result of the call ${String(id)} was not written: ${given.why}`))
}

/** A text that is asked for by its name; `whose` says of what. */
export function textFor(whose: string, value: unknown): string {
  if (typeof value === 'string') return value
  throw new EngineError(badOptions(`${whose} must be a text; nothing was changed`))
}

const badOptions = (message: string): Failure => ({ code: 'bad-options', message })

export function filled(input: Input): readonly UserBlock[] {
  const problem = inputProblem(input)
  if (problem !== null) throw new EngineError(problem)
  const content = blocksOf(input)
  if (isEmpty(content)) throw new EngineError(emptyInput)
  return content
}

/** Input as it is given to `send`. */
export interface Said {
  readonly input: Input
  readonly how: SendHow
}

export function namedModel(model: unknown): string {
  if (typeof model === 'string' && model.trim() !== '') return model
  throw new EngineError(badOptions("setModel needs the model's name; nothing was changed"))
}

/** For a hook: texts as one, with what else there is as it came. */
export const promptOf = (input: Input): Input =>
  typeof input !== 'string' && input.every(({ type }) => type === 'text')
    ? textsIn(input).join('\n\n')
    : input

export const blocksOf = (input: Input): readonly UserBlock[] =>
  typeof input === 'string' ? [{ type: 'text', text: input }] : input
export const isEmpty = (content: readonly UserBlock[]): boolean =>
  content.every((block) => block.type === 'text' && block.text.trim() === '')

/** What a client of the Messages API returns: the official one's `Message` fits. */
export interface Response {
  readonly id: string
  readonly model: string
  readonly content: readonly { readonly type: string }[]
  readonly stop_reason: string | null
  readonly usage: WireUsage
}

/** What a client of the wire gives back, as a message of the port. */
export function messageOf({ spoken: { wire, model } }: Slice<'spoken'>, response: unknown): ModelMessage {
  const message = wire.parse(response, model)
  if (message === null) throw new EngineError(noMessage)
  const { content, messageId, stop } = message
  const problem = factProblem({ type: 'assistant-message', content, messageId, stop, model: '' })
  if (problem === null) return message
  const text = `this answer holds what no answer of the API does (${problem}); pass it as it came`
  throw new EngineError({ code: 'no-message', message: text })
}

/** A body as an embedding program hands it to an SDK, which decides itself whether it streams. */
export function requestOf<Request>(wire: Wire<Request>, body: string, streaming: boolean): Request {
  if (wire.requestOf !== undefined) return wire.requestOf(body, { streaming })
  const { stream: _, ...request } = JSON.parse(body) as Request & { readonly stream?: boolean }
  return request as Request
}

/** What a stream of the SDK is, and programs without types hand in. */
const noMessage: Failure = {
  code: 'no-message',
  message: 'this is not a message of the API; from a stream pass its finalMessage()',
}

export const nothingWaits: Failure = {
  code: 'nothing-waits',
  message: 'no prompt waits for an answer',
}
export const cutShort = ({ id, name }: OpenCall): Fact => textResult(id, notRun(name))

export const faultText = (error: unknown): string =>
  `a part supplied to the engine failed: ${errorText(error)}`

/** What a hook says: information of a program, whatever it claims to be. */
export const hookAttachment = (name: string, text: string): Fact =>
  attachmentOf('hook', fenced('hook', { name }, text), { source: name })

/** Files as Read shows them, ready to be written down, and those that cannot be read. They can be edited at once. */
export async function fileAttachments(
  core: Slice<'options' | 'readFiles' | 'view'>,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly facts: readonly Fact[]; readonly unread: readonly string[] }> {
  if (!Array.isArray(paths)) throw new EngineError(badOptions('attachFiles needs a list of paths'))
  for (const path of paths) textFor('each path of attachFiles', path)
  const found = await readFilesNow(core, paths, signal)
  const facts = [...found].map(([path, { content, file }]): Fact => {
    if (file !== null) core.readFiles.set(path, { ...file, callId: '' })
    const [first, ...others] = content
    const text = first?.type === 'text' ? first.text : ''
    const named = fenced(
      'named-file',
      { path },
      `The user named this file; it is shown as it is now.\n${text}`,
    )
    return {
      type: 'attachment',
      kind: 'file',
      content: [{ type: 'text', text: named }, ...(first?.type === 'text' ? others : content)],
      source: path,
    }
  })
  return { facts, unread: paths.filter((path) => !found.has(path)) }
}

export const failedEnd = (failure: Failure): LiveEvent => ({
  type: 'turn-end',
  outcome: 'failed',
  failure,
})
