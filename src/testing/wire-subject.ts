// What the contract of wires is run on: a wire with recorded answers of its provider, and the requests of random sessions.
import assert from 'node:assert/strict'
import type { ModelFailure, ModelMessage } from '../model/model.ts'
import { project } from '../projection/fold.ts'
import type { View } from '../projection/view.ts'
import type { Composed, ComposeParameters } from '../request/compose.ts'
import { textIn } from '../transcript/content.ts'
import type { Entry, FactOf } from '../transcript/fact.ts'
import type { StopKind } from '../transcript/stop.ts'
import type { Wire } from '../wires/wire.ts'
import { played, type Move } from './arbitrary.ts'
import { entriesOf, Pen, result, said } from './builders.ts'

/** One answer of the provider: as a stream, whole, and what it says. */
export interface RecordedAnswer {
  readonly name: string
  /** Parsed events in their order. */
  readonly events: readonly unknown[]
  /** The same answer where it is not streamed; null where there is no such form. */
  readonly whole: unknown
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly input: object }[]
  readonly ended: StopKind
  /** Bytes that must stand in the next request to the same model, and in none to another. */
  readonly goesBack: readonly string[]
}

export interface WireSubject {
  readonly wire: Wire
  readonly model: string
  readonly otherModel: string
  readonly answers: readonly RecordedAnswer[]
  readonly refusals: readonly {
    readonly status: number | null
    readonly text: string
    readonly code: ModelFailure['code']
    readonly retry: boolean
  }[]
  /** Null where the provider would take this body, or why not. */
  judge?(body: string, model: string): string | null
  /** An answer of a random session as a model of this wire would have given it: its reasoning sealed, its items. */
  asMade?(fact: FactOf<'assistant-message'>, model: string): FactOf<'assistant-message'>
  /** The body without what marks the end of the cached part; as it is where nothing does. */
  withoutMarks?(body: string): string
  /** A request as something else may have left it: cut, reordered, doubled. `pick` chooses below a number. */
  damage?(request: unknown, pick: (below: number) => number): unknown
  /** How many random cases; 100 by default. */
  readonly runs?: number
}

/** Every request of a session in which these moves were made, each answer made by a model of the wire. */
export const requestsOf = (subject: WireSubject, moves: readonly Move[]): readonly Asked[] =>
  sessionOf(subject, moves).requests

/** The same with the entries of the session. */
export function sessionOf(
  subject: WireSubject,
  moves: readonly Move[],
): { readonly entries: readonly Entry[]; readonly requests: readonly Asked[] } {
  const composer = subject.wire.createComposer()
  const requests: Asked[] = []
  const entries = played(moves, (fact, fold) => {
    const model = fact.model === 'claude-sonnet-4-6' ? subject.model : subject.otherModel
    const parameters = parametersOf(subject, model)
    const view = fold.view()
    const outcome = composer.compose(view, parameters)
    if (outcome.ok) requests.push({ view, parameters, composed: outcome.composed })
    return subject.asMade?.(fact, model) ?? withSidecars(subject, fact, model)
  })
  return { entries, requests }
}

export interface Asked {
  readonly view: View
  readonly parameters: ComposeParameters
  readonly composed: Composed
}

/** The bytes of a request up to the end of its cached part, breakpoints apart; null where it has none. */
export function cachedBytes(subject: WireSubject, { segments, body }: Composed): string | null {
  const { breakpoint, messages } = segments
  if (breakpoint === null) return null
  const bare = subject.withoutMarks?.(body) ?? body
  const block = messages[breakpoint.message]!.blocks[breakpoint.block]!.json
  const at = bare.lastIndexOf(block)
  assert.ok(at > 0, 'the last block stands in the body as it was written')
  return bare.slice(0, at + block.length)
}

/** What a fork of this request asks: everything up to there, and a text of ours. */
export function forkOf(subject: WireSubject, entries: readonly Entry[], parent: Asked): Composed {
  const own = entries.filter(({ seq }) => seq <= parent.view.upTo)
  const ask = new Pen({ first: own.length }).write(said('sum this up', 'injected'))
  const breakpointAt = parent.composed.lastBreakpoint ?? undefined
  const parameters = { ...parent.parameters, breakpointAt, maxTokens: 2000 }
  const outcome = subject.wire.createComposer().compose(project([...own, ask]), parameters)
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.why)
  return outcome.composed
}

/** Calls with the text of their arguments, and no reasoning. */
export function withSidecars(
  { wire: { name } }: WireSubject,
  fact: FactOf<'assistant-message'>,
  model: string,
): FactOf<'assistant-message'> {
  const content = fact.content
    .filter((block) => block.type !== 'thinking')
    .map((block) =>
      block.type === 'tool_use' && 'input' in block
        ? { ...block, sidecar: { wire: name, model, arguments: ` ${JSON.stringify(block.input)}` } }
        : block,
    )
  return { ...fact, model, content }
}

export function parametersOf({ wire }: WireSubject, model: string): ComposeParameters {
  return { model, maxTokens: 8000, bindsPrefix: false, lifetime: wire.cacheRules(null).lifetimes[0] ?? null }
}

export const runsOf = ({ runs = 100 }: WireSubject): { numRuns: number } => ({ numRuns: runs })

export function mustPass(subject: WireSubject, body: string, model: string): void {
  const request: unknown = JSON.parse(body)
  // A server joins neighbours of one role by itself.
  const problems = subject.wire.check(request, { model }).filter(({ rule }) => rule !== 'same-role')
  assert.deepEqual(problems, [])
  assert.equal(subject.judge?.(body, model) ?? null, null)
}

/** A session that one answer has been given in, as a view. */
export function viewAfter(message: ModelMessage, model: string): View {
  const { content, messageId, stop, ended, usage } = message
  const calls = content.flatMap((block) => (block.type === 'tool_use' && 'input' in block ? [block] : []))
  const answer = { type: 'assistant-message' as const, content, messageId, stop, model, usage }
  const results = calls.map(({ id }) => result(id, 'found'))
  const facts = [said('go'), { ...answer, ...(ended && { ended }) }, ...results, said('and now?')]
  return project(entriesOf(...facts))
}

export function read(subject: WireSubject, answer: RecordedAnswer): ModelMessage {
  const reader = subject.wire.createReader(subject.model)
  const events = answer.events.flatMap((event) => reader.feed(event))
  assert.ok(reader.complete, `${answer.name}: all of it came`)
  const message = reader.message()
  assert.ok(message !== null, answer.name)
  const streamed = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join('')
  assert.equal(streamed, textIn(message.content, ''), `${answer.name}: what was streamed is what it holds`)
  return message
}

export function bodyOf(subject: WireSubject, view: View, model: string): string {
  const outcome = subject.wire.createComposer().compose(view, parametersOf(subject, model))
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.why)
  return outcome.composed.body
}
