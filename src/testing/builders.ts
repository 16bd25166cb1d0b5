// Short ways to write facts and entries in tests, and a clock and ids that are the same in every run.
import type { AssistantBlock, UserBlock } from '../transcript/content.ts'
import type { Entry, Fact, FactOf, Origin, Usage } from '../transcript/fact.ts'
import {
  callId,
  seq,
  type Ids,
  type SessionId,
  type Uuid,
  sessionId,
  uuid,
  type Clock,
} from '../transcript/ids.ts'

/** The start of a session. */
export const start = (session: SessionId = fixedSession()): Fact => ({
  type: 'session-start',
  session,
  purpose: 'main',
})

/** A message of the user. */
export const said = (text: string | readonly UserBlock[], origin: Origin = 'typed'): Fact => ({
  type: 'user-message',
  content: typeof text === 'string' ? [{ type: 'text', text }] : text,
  origin,
})

/** A small number that depends on a text: two answers that say different things have different ids. */
const sumOf = (text: string): number =>
  Array.from(text).reduce((sum, char) => (sum * 31 + char.codePointAt(0)!) % 1_000_000_007, 7)

export interface AnswerOptions {
  readonly id?: string
  readonly model?: string
  readonly usage?: Usage
  readonly stop?: string | null
  readonly partial?: boolean
}

/** An answer of the model. */
export const answered = (
  content: string | readonly AssistantBlock[],
  options: AnswerOptions = {},
): FactOf<'assistant-message'> => ({
  type: 'assistant-message',
  content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  messageId: options.id ?? `msg_${sumOf(JSON.stringify(content))}`,
  stop: options.stop === undefined ? 'end_turn' : options.stop,
  model: options.model ?? 'claude-sonnet-4-6',
  usage: options.usage,
  partial: options.partial,
})

/** A call of a tool. */
export const call = (id: string, name = 'Read', input: Record<string, unknown> = {}): AssistantBlock => ({
  type: 'tool_use',
  id,
  name,
  input,
})

/** The result of a call. */
export const result = (id: string, text: string | readonly UserBlock[] = 'ok', isError = false): Fact => ({
  type: 'tool-result',
  call: callId(id),
  content: typeof text === 'string' ? [{ type: 'text', text }] : text,
  isError,
})

/** Reasoning in an answer. */
export const thought = (text: string, signature = `sig:${text}`): AssistantBlock => ({
  type: 'thinking',
  thinking: text,
  signature,
})

/** Gives facts their places. */
export class Pen {
  readonly clock: FixedClock
  readonly #ids: Ids
  #next: number
  #parent: Uuid | null = null

  constructor(options: { first?: number; clock?: FixedClock; ids?: Ids } = {}) {
    this.#next = options.first ?? 0
    this.clock = options.clock ?? fixedClock()
    this.#ids = options.ids ?? countingIds()
  }

  write(fact: Fact): Entry {
    this.clock.advance(1000)
    const entry: Entry = {
      v: 1,
      seq: seq(this.#next++),
      uuid: this.#ids.uuid(),
      parent: this.#parent,
      at: this.clock.now(),
      fact,
    }
    this.#parent = entry.uuid
    return entry
  }
}

/** The entries of a session that begins with `session-start`. */
export function entriesOf(...facts: readonly Fact[]): Entry[] {
  const pen = new Pen()
  return [start(), ...facts].map((fact) => pen.write(fact))
}

// A clock that stands still until told and ids that count, so that a test gives the same bytes every time.

export interface FixedClock extends Clock {
  advance(ms: number): void
}

/** A clock that stands until it is moved. */
export function fixedClock(start: number = Date.UTC(2026, 0, 1)): FixedClock {
  let now = start
  return {
    now: () => now,
    advance: (ms) => {
      now += ms
    },
  }
}

/** Ids `00000000-0000-7000-8000-000000000001`, `…2` and so on; `space` keeps two sources of one test apart. */
export function countingIds(space = 0): Ids {
  let count = 0
  return {
    uuid: () => uuid(`${hex(space, 8)}-0000-7000-8000-${hex(++count, 12)}`),
  }
}

/** The id that built sessions have. */
export const fixedSession = (count = 1): SessionId => sessionId(`00000000-0000-7000-9000-${hex(count, 12)}`)

const hex = (value: number, length: number): string => value.toString(16).padStart(length, '0')
