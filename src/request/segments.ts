// What the cache key is made of, piece by piece and without breakpoints, in the order the provider reads it. Break detection
// compares two of these; the hash names one.
import { hash } from 'node:crypto'
import type { Part, ViewBlock } from '../projection/view.ts'
import type { Seq } from '../transcript/ids.ts'
import type { Lifetime } from '../transcript/lifetime.ts'
import { isDeeplyWellFormed, wellFormedRecord } from './well-formed.ts'

/** A block's JSON, and where it came from. */
export interface SentBlock {
  readonly json: string
  readonly type: string
  /** Null in a message that no entry stands behind. */
  readonly part: Part | null
  /** A cache breakpoint may stand on it. */
  readonly takesBreakpoint: boolean
  /** What it was made from; null for what we added. */
  readonly of: ViewBlock | null
}

/**
 * A message of the view as sent, without breakpoints: one item of the list, or several in their order. It is never empty,
 * as a message that shows nothing is not sent.
 */
export interface SentMessage {
  readonly role: 'user' | 'assistant'
  readonly blocks: readonly SentBlock[]
  /** The items, joined by commas. */
  readonly json: string
  readonly digest: string
  /** Its first entry, or null for one of our own making. */
  readonly entry: Seq | null
  /** Ids of the calls it makes and of those it answers. */
  readonly calls: readonly string[]
  readonly answers: readonly string[]
  readonly hasImage: boolean
}

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

/** Adds a field to the JSON of an object that is not empty. */
export const withField = (json: string, field: string): string => `${json.slice(0, -1)},${field}}`

export function digest(text: string): string {
  return hash('sha256', text, 'base64url')
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

/** A message with the field of a breakpoint on one of its blocks, as a wire writes it. */
export type WithBreakpoint = (message: SentMessage, block: number, field: string) => string

/** Joins messages in chunks that are kept: what did not change since the last request is copied, not made again. */
export function createJoiner(withBreakpoint: WithBreakpoint): Joiner {
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
        ? inPieces(
            chunk.messages.map((message, index) =>
              index === breakpoint.message - start
                ? withBreakpoint(message, breakpoint.block, field)
                : message.json,
            ),
          )
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

/** Joined with `+`: such a string is put together only when its bytes are needed, and then once. */
const inPieces = (texts: readonly string[]): string => texts.reduce((json, text) => json + ',' + text)

/** Over everything that makes the cache key, without breakpoints. */
export function hashOf(segments: Segments, messages: Joined): string {
  const { model, tools, system, thinking, effort, betas, extra } = segments
  const fixed = [...tools, ...system].map((each) => each.digest)
  return digest(JSON.stringify([model, thinking, effort, betas, extra, ...fixed, messages.digest]))
}
