// Short ways to write facts and entries in tests.
import type { AssistantBlock, UserBlock } from '../transcript/content.ts'
import type { Entry, Fact, FactOf, Origin, Usage } from '../transcript/fact.ts'
import { callId, seq, type Ids, type SessionId, type Uuid } from '../transcript/ids.ts'
import { countingIds, fixedClock, fixedSession, type FixedClock } from './fixed.ts'

export const start = (session: SessionId = fixedSession()): Fact => ({
  type: 'session-start',
  session,
  purpose: 'main',
})

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

export const call = (id: string, name = 'Read', input: Record<string, unknown> = {}): AssistantBlock => ({
  type: 'tool_use',
  id,
  name,
  input,
})

export const result = (id: string, text: string | readonly UserBlock[] = 'ok', isError = false): Fact => ({
  type: 'tool-result',
  call: callId(id),
  content: typeof text === 'string' ? [{ type: 'text', text }] : text,
  isError,
})

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
