// What the cache key is made of, piece by piece and without breakpoints, in the order the provider reads it. Break detection
// compares two of these; the hash names one.
import { isDeeplyWellFormed, wellFormedRecord } from './block-rules.ts'
import { digest, messageJson, withField, type SentMessage } from './serialize.ts'

export type Lifetime = '5m' | '1h'

/** A tool or a side of the system prompt. */
export interface Segment {
  readonly name: string
  readonly digest: string
  readonly json: string
}

/** A block of a message, by index. */
export interface Spot {
  readonly message: number
  readonly block: number
}

export interface Segments {
  readonly model: string
  readonly tools: readonly Segment[]
  readonly system: readonly Segment[]
  /** Everything in the list of messages, ours included. Shared with the composer: comparing begins with identity. */
  readonly messages: readonly SentMessage[]
  /** The block of the messages that carries the breakpoint: what lies behind it is not cached. */
  readonly breakpoint: Spot | null
  readonly thinking: string
  readonly effort: string
  readonly betas: string
  /** Other fields of the body that may be part of the key. */
  readonly extra: string
  readonly lifetime: Lifetime | null
  /** Where breakpoints stand: tools, static, dynamic, messages. */
  readonly breakpoints: readonly string[]
}

export function segment(name: string, value: object): Segment {
  const json = JSON.stringify(isDeeplyWellFormed(value) ? value : wellFormedRecord({ ...value }))
  return { name, json, digest: digest(json) }
}

/** The messages as JSON, joined, and one digest of them all. */
export interface Joined {
  readonly json: string
  readonly digest: string
}

interface Chunk {
  readonly messages: readonly SentMessage[]
  readonly json: string
  readonly digest: string
}

// Smaller chunks mean more pieces in every request, larger ones more to join again for each new message.
const chunkMessages = 64

export type Joiner = (messages: readonly SentMessage[], breakpoint: Spot | null, field: string) => Joined

/** Joins messages in chunks that are kept: what did not change since the last request is copied, not made again. */
export function createJoiner(): Joiner {
  let kept: readonly Chunk[] = []
  return (messages, breakpoint, field) => {
    const chunks: Chunk[] = []
    let json = ''
    for (let start = 0; start < messages.length; start += chunkMessages) {
      const end = Math.min(start + chunkMessages, messages.length)
      const before = kept[chunks.length]
      const chunk =
        before !== undefined && isSame(before.messages, messages, start, end)
          ? before
          : chunkOf(messages.slice(start, end))
      chunks.push(chunk)
      const hasBreakpoint = breakpoint !== null && breakpoint.message >= start && breakpoint.message < end
      const text = hasBreakpoint
        ? chunkWithBreakpoint(chunk, breakpoint.message - start, breakpoint.block, field)
        : chunk.json
      json = start === 0 ? text : json + ',' + text
    }
    kept = chunks
    return { json, digest: digest(chunks.map((chunk) => chunk.digest).join()) }
  }
}

function isSame(
  before: readonly SentMessage[],
  now: readonly SentMessage[],
  start: number,
  end: number,
): boolean {
  if (before.length !== end - start) return false
  for (let index = start; index < end; index++) if (before[index - start] !== now[index]) return false
  return true
}

// A chunk that is still growing will be made again: its text is left in pieces. A full one stays, and is joined.
function chunkOf(messages: readonly SentMessage[]): Chunk {
  const texts = messages.map((message) => message.json)
  return {
    messages,
    json: texts.length < chunkMessages ? inPieces(texts) : texts.join(','),
    digest: digest(messages.map((message) => message.digest).join()),
  }
}

function chunkWithBreakpoint({ messages }: Chunk, at: number, block: number, field: string): string {
  return inPieces(
    messages.map((message, index) =>
      index === at ? messageWithBreakpoint(message, block, field) : message.json,
    ),
  )
}

/** Joined with `+`: such a string is put together only when its bytes are needed, and then once. */
const inPieces = (texts: readonly string[]): string => texts.reduce((json, text) => json + ',' + text)

function messageWithBreakpoint({ role, blocks }: SentMessage, at: number, field: string): string {
  return messageJson(
    role,
    blocks.map(({ json }, index) => (index === at ? withField(json, field) : json)),
  )
}

/** Over everything that makes the cache key, without breakpoints. */
export function hashOf(segments: Segments, messages: Joined): string {
  const { model, tools, system, thinking, effort, betas, extra } = segments
  const fixed = [...tools, ...system].map((each) => each.digest)
  return digest(JSON.stringify([model, thinking, effort, betas, extra, ...fixed, messages.digest]))
}
