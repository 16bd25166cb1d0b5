// What the front ends have in common: what they are given, what they give back, and how they ask who answers.
import type { WireMessage, WireRequest, WireTool, WireUsage } from '../../model/wire.ts'
import type { Answerer } from '../answer.ts'
import { billOf, type Bill } from '../bill.ts'
import type { Clock } from '../exchange.ts'
import { cutAt, type EmittedBlock } from '../emission.ts'
import { isThinking, stringOf } from '../rules/blocks.ts'
import { weigherOf, type DialectModel } from './models.ts'
import { createPrefixCache, type PrefixReading } from './prefix-cache.ts'

export type Json = Readonly<Record<string, unknown>>

/** A request that was refused, in the words and the form of its vendor. */
export interface Refused {
  readonly status: number
  readonly type: string
  readonly message: string
  readonly body: unknown
}

export interface DialectReply {
  readonly id: string
  readonly model: DialectModel
  readonly stopReason: string
  readonly usage: WireUsage
  readonly bill: Bill
  readonly reading: PrefixReading
  body(): unknown
  frames(): Iterable<string>
  /** The first byte goes out now. */
  begin(): void
}

export type DialectOutcome =
  | { readonly ok: true; readonly reply: DialectReply }
  | { readonly ok: false; readonly refused: Refused }
export type DialectCount =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly refused: Refused }

export interface DialectOptions {
  readonly answerer: Answerer
  readonly clock: Clock
  readonly secret: string
  readonly models: readonly DialectModel[]
  /** How a prompt over the window is refused on a stream of Responses: at once, or after the stream has begun. */
  readonly overflow: 'refused' | 'in-stream'
  /** How often a cache without promises hits, from 0 to 1, and the seed its draws begin with. */
  readonly luck: { readonly chance: number; readonly seed: number }
}

/** What lives as long as the simulator. */
export interface DialectBench {
  readonly options: DialectOptions
  readonly cache: ReturnType<typeof createPrefixCache>
  readonly next: (kind: 'message' | 'call' | 'turn' | 'draw' | 'item') => number
}

export function createBench(options: DialectOptions): DialectBench {
  const counts = { message: 0, call: 0, turn: 0, draw: 0, item: 0 }
  return { options, cache: createPrefixCache(), next: (kind) => (counts[kind] += 1) }
}

const ID_DIGITS = 8

export function numbered(prefix: string, value: number): string {
  return `${prefix}sim${String(value).padStart(ID_DIGITS, '0')}`
}

export interface ModelAnswer {
  readonly blocks: readonly EmittedBlock[]
  readonly stop: string
  readonly outputTokens: number
  readonly thinkingTokens: number
}

/** A model that says why it will not answer; where nothing is said a filter has ended it. */
export const isSpokenRefusal = ({ stop, blocks }: ModelAnswer): boolean =>
  stop === 'refusal' && blocks.some(({ block }) => block.type === 'text')

export interface ReadRequest {
  readonly model: DialectModel
  readonly maxTokens: number
  readonly messages: readonly WireMessage[]
  readonly system: string
  readonly tools: readonly WireTool[]
  readonly choice: WireRequest['tool_choice'] | null
  readonly thinks: boolean
}

/** A request of any vendor as whoever answers reads it: in the form of the Messages API. */
export const requestOf = (read: ReadRequest): WireRequest => ({
  model: read.model.id,
  max_tokens: read.maxTokens,
  messages: read.messages,
  ...(read.system === '' ? {} : { system: read.system }),
  ...(read.tools.length === 0 ? {} : { tools: read.tools }),
  ...(read.choice === null ? {} : { tool_choice: read.choice }),
  thinking: { type: read.thinks ? 'adaptive' : 'disabled' },
})

export interface ModelAsk {
  readonly request: WireRequest
  readonly model: DialectModel
  readonly promptTokens: number
  readonly headers: Readonly<Record<string, string>>
}

/** Asks who answers, leaves reasoning out where none is wanted, and cuts where the room ends. */
export async function askModel(bench: DialectBench, ask: ModelAsk): Promise<ModelAnswer> {
  const { options } = bench
  const answer = await options.answerer.answer({
    request: ask.request,
    headers: ask.headers,
    turn: bench.next('turn'),
    now: options.clock.now(),
  })
  const weigher = weigherOf(ask.model)
  const room = Math.max(0, Math.min(ask.request.max_tokens, ask.model.window - ask.promptTokens))
  const thinks = ask.request.thinking?.type !== 'disabled'
  const wanted = answer.content.filter((block) => thinks || !isThinking(block))
  const cut = cutAt(wanted, room, weigher)
  const blocks = cut.blocks.map((each) => withCallId(bench, each))
  return {
    blocks,
    stop: cut.isWhole ? answer.stop_reason : 'max_tokens',
    outputTokens: cut.isWhole ? (answer.output_tokens ?? Math.max(1, cut.tokens)) : Math.max(1, cut.tokens),
    thinkingTokens: cut.thinkingTokens,
  }
}

/** Ids of another vendor's calls begin otherwise. */
function withCallId(bench: DialectBench, { block, inputJson }: EmittedBlock): EmittedBlock {
  if (block.type !== 'tool_use') return { block, inputJson }
  const given = stringOf(block['id'])
  const id = given === '' ? numbered('call_', bench.next('call')) : given.replace(/^toolu_/u, 'call_')
  return { block: { ...block, id }, inputJson }
}

/** The usage of any vendor in the words of the log, and its bill. */
export function accountOf(
  reading: PrefixReading,
  outputTokens: number,
  model: DialectModel,
): { readonly usage: WireUsage; readonly bill: Bill } {
  const { totalTokens, cachedTokens, writtenTokens } = reading
  const uncached = totalTokens - cachedTokens - writtenTokens
  const usage: WireUsage = {
    input_tokens: uncached,
    cache_creation_input_tokens: writtenTokens,
    cache_read_input_tokens: cachedTokens,
    output_tokens: outputTokens,
  }
  const price = model.long !== undefined && totalTokens > model.long.above ? model.long : model.price
  const tokens = { uncached, read: cachedTokens, written: writtenTokens, output: outputTokens }
  return { usage, bill: billOf(tokens, model.vendor === 'other' ? null : price) }
}
