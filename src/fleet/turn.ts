// One turn as one step: a claimed session is opened, what waits is delivered, the turn is run to its end, and the session is closed.
// Everything that must outlive the process is in the database when the step ends, so whoever runs it (our worker, or a durable
// engine of a team's own) may be killed at any moment and run it again.
import type { Engine } from '../engine/engine.ts'
import { EngineError, type Session } from '../engine/session.ts'
import { type LiveEvent, textOf } from '../engine/live.ts'
import { refused, type Failure, type Result, errorText } from '../disk/failure.ts'
import type { Claimed, InputRow, Queue } from '../postgres/queue.ts'
import type { PostgresStore } from '../postgres/store.ts'
import { isKnown, isRealInput, type FactOf, type Usage } from '../transcript/fact.ts'
import { sessionId, type SessionId, seq } from '../transcript/ids.ts'
import type { Pending } from './questions.ts'

/** An engine for one claimed session, over the store it was claimed from. */
export interface SessionEngine {
  readonly engine: Engine
  /** What a person is asked in this turn, as far as it was asked. */
  readonly pending: Pending
  /** Looks whether messages wait, so that the session knows that it is not finished; left out where none can. */
  readonly look?: ((session: SessionId) => Promise<unknown>) | undefined
  close(): Promise<void>
}

export type OpenEngine = (
  claimed: Claimed,
  store: PostgresStore,
) => Promise<Result<{ readonly opened: SessionEngine }>>

export interface TurnPorts {
  readonly store: PostgresStore
  readonly queue: Queue
  readonly openEngine: OpenEngine
  /** Hears what passes by. */
  readonly listen?: ((session: string, event: LiveEvent) => void) | undefined
  /** A session that fails so often in a row is parked; before that it is tried again after a while. */
  readonly mostTries?: number | undefined
  readonly retryMs?: number | undefined
  /** Whether no further turn is to begin. */
  readonly isStopping?: (() => boolean) | undefined
}

/** How the work on a claimed session ended. */
export type StepOutcome =
  /** Nothing is left to do. */
  | { readonly kind: 'done'; readonly turns: number }
  /** It was stopped before everything was done; whoever claims it next goes on. */
  | { readonly kind: 'stopped'; readonly turns: number }
  /** Another has taken it over. */
  | { readonly kind: 'fenced'; readonly turns: number }
  /** A person must answer or decide; until then nobody works on it. */
  | { readonly kind: 'parked'; readonly turns: number; readonly why: string }
  | { readonly kind: 'failed'; readonly turns: number; readonly failure: Failure }

const mostInputs = 20
export const failureDefaults = { mostTries: 5, retryMs: 2_000, longestRetryMs: 120_000 }

/** Works on a claimed session until nothing waits for it, or the signal says to stop. Never rejects. */
export async function workOn(claimed: Claimed, ports: TurnPorts, signal: AbortSignal): Promise<StepOutcome> {
  const { store } = ports
  const lease = { session: sessionId(claimed.session), epoch: claimed.epoch, token: claimed.token }
  const made = await ports
    .openEngine(claimed, store)
    .catch((error: unknown) => refused('fault', errorText(error)))
  if (!made.ok) {
    const outcome: StepOutcome = { kind: 'failed', turns: 0, failure: made.failure }
    await noteFailure(claimed, outcome, ports)
    await store.release(lease)
    return outcome
  }
  const { engine } = made.opened
  const counted = { turns: 0 }
  let outcome: StepOutcome | null = null
  try {
    const { session } = await engine.openWith(claimed.session, { create: true })
    try {
      outcome = await drain(session, claimed, made.opened, ports, counted, signal)
      await noteFailure(claimed, outcome, ports)
      if (outcome.kind === 'stopped' && ports.isStopping?.() === true) await ports.queue.uncount(claimed)
    } finally {
      await session.close()
    }
  } catch (error) {
    // What went wrong first is what happened; a session that cannot be closed any more is the next one's.
    if (outcome === null || outcome.kind === 'done') {
      outcome = outcomeOf(error, counted.turns)
      await noteFailure(claimed, outcome, ports)
    }
  }
  const unclosed = await closed(made.opened)
  // The session has what it needs; that its engine stays open concerns this process, and is said.
  return unclosed === null || outcome.kind !== 'done'
    ? outcome
    : { kind: 'failed', turns: counted.turns, failure: { code: 'fault', message: unclosed } }
}

/** Null, or why it could not be closed. */
const closed = async (opened: SessionEngine): Promise<string | null> => {
  try {
    await opened.close()
    return null
  } catch (error) {
    return errorText(error)
  }
}

async function noteFailure(claimed: Claimed, outcome: StepOutcome, ports: TurnPorts): Promise<void> {
  if (outcome.kind !== 'failed') return
  const { mostTries = failureDefaults.mostTries, retryMs = failureDefaults.retryMs } = ports
  const wait = Math.min(failureDefaults.longestRetryMs, retryMs * 2 ** Math.max(0, claimed.tries - 1))
  const { code, message } = outcome.failure
  await ports.queue.fail(claimed, `${code}: ${message}`, mostTries, wait)
}

function outcomeOf(error: unknown, turns: number): StepOutcome {
  const failure: Failure =
    error instanceof EngineError
      ? { code: error.code as Failure['code'], message: error.message }
      : { code: 'fault', message: errorText(error) }
  return fencedCodes.has(failure.code) ? { kind: 'fenced', turns } : { kind: 'failed', turns, failure }
}

const fencedCodes: ReadonlySet<string> = new Set(['fenced', 'session-open', 'seq-taken'])

async function drain(
  session: Session,
  claimed: Claimed,
  { pending, look }: SessionEngine,
  ports: TurnPorts,
  counted: { turns: number },
  signal: AbortSignal,
): Promise<StepOutcome> {
  const { queue } = ports
  const cut = session.unfinished() ? null : await cutOff(ports.store, session.id)
  if (cut !== null) await session.rewind(cut)
  for (let seen = claimed.n; ;) {
    if (signal.aborted || ports.isStopping?.() === true) return { kind: 'stopped', turns: counted.turns }
    const next = await nextInput(queue, claimed.session)
    if (!next.ok) return { kind: 'failed', turns: counted.turns, failure: next.failure }
    if (next.row !== null && next.row.parked !== null)
      return { kind: 'parked', turns: counted.turns, why: next.row.parked }
    await look?.(session.id)
    // A turn that a crash has cut off comes before what was sent later; one that a question has ended goes on with its answer.
    const row = session.unfinished() && next.row?.kind !== 'answer' ? null : next.row
    if (row !== null || session.unfinished()) {
      const ended = await runTurn(session, row, ports, signal)
      counted.turns++
      const stop = afterTurn(ended, pending, counted.turns, signal)
      if (stop === null) continue
      if (stop.kind !== 'parked') return stop
      const parked = await parkIt(queue, claimed.session, stop.why, pending)
      if (!parked.ok) return { kind: 'failed', turns: counted.turns, failure: parked.failure }
      if (parked.isFound) return stop
    }
    const finished = await queue.finish(claimed, seen)
    if (!finished.ok) return { kind: 'failed', turns: counted.turns, failure: finished.failure }
    if (finished.outcome !== 'more') return { kind: finished.outcome, turns: counted.turns }
    const again = await queue.wantedNumber(claimed.session)
    if (!again.ok) return { kind: 'failed', turns: counted.turns, failure: again.failure }
    seen = again.n
  }
}

function parkIt(
  queue: Queue,
  session: string,
  why: string,
  pending: Pending,
): Promise<Result<{ readonly isFound: boolean }>> {
  const isQuestion = pending.asked().length > 0
  pending.forget()
  return isQuestion ? queue.parkForQuestion(session, why) : queue.park(session, why)
}

async function nextInput(queue: Queue, session: string): Promise<Result<{ readonly row: InputRow | null }>> {
  const found = await queue.inbox(session, null, mostInputs)
  if (!found.ok) return found
  return { ok: true, row: found.rows.find(({ kind }) => kind !== 'mail') ?? null }
}

/** Of a session whose last answer was cut off: the place before it. Rewound to there, the model is asked for it again. */
async function cutOff(store: PostgresStore, session: SessionId): Promise<number | null> {
  for await (const item of store.readBack(session)) {
    if (item.kind !== 'entry' || !isKnown(item.entry)) return null
    const { fact, seq } = item.entry
    if (isRealInput(fact) || (fact.type === 'turn-end' && fact.outcome === 'done')) return null
    if (fact.type === 'assistant-message') return fact.partial === true ? seq - 1 : null
  }
  return null
}

interface TurnEnded {
  readonly outcome: 'done' | 'aborted' | 'failed'
  readonly failure: Failure | null
}

async function runTurn(
  session: Session,
  row: InputRow | null,
  ports: TurnPorts,
  signal: AbortSignal,
): Promise<TurnEnded> {
  const events =
    row === null
      ? session.goOn(signal)
      : session.send(wordsOf(row), signal, { id: row.id, origin: 'program' })
  let ended: TurnEnded = {
    outcome: 'failed',
    failure: { code: 'fault', message: 'the turn ended without a word' },
  }
  for await (const event of events) {
    ports.listen?.(session.id, event)
    if (event.type === 'turn-end') ended = { outcome: event.outcome, failure: event.failure }
  }
  return ended
}

/** Null to go on; else how the work ends. */
function afterTurn(
  ended: TurnEnded,
  pending: Pending,
  turns: number,
  signal: AbortSignal,
): StepOutcome | null {
  const [question] = pending.asked()
  if (question !== undefined)
    return { kind: 'parked', turns, why: `question ${question.id}: ${question.tool}` }
  if (ended.outcome === 'done') return null
  if (ended.failure !== null && fencedCodes.has(ended.failure.code)) return { kind: 'fenced', turns }
  if (signal.aborted || ended.outcome === 'aborted') return { kind: 'stopped', turns }
  if (ended.failure?.code === 'cap') return { kind: 'parked', turns, why: `budget: ${ended.failure.message}` }
  return {
    kind: 'failed',
    turns,
    failure: ended.failure ?? { code: 'fault', message: 'the turn failed without a reason' },
  }
}

/** What the model is sent for an input: its words, or what a person said to a question. */
function wordsOf({ kind, body }: InputRow): string {
  if (kind !== 'answer') return body
  const { tool, body: subject, answer } = JSON.parse(body) as { tool: string; body: string; answer: string }
  const said =
    answer === 'allow'
      ? 'It is allowed: make the same call again if it is still needed.'
      : `It is not allowed${answer.startsWith('deny: ') ? `: ${answer.slice('deny: '.length)}` : ''}. Go on without it.`
  return `The question about ${tool} was answered.\n\n${subject}\n\n${said}`
}

// One input and its answer as one step, for teams that run a durable engine of their own: the id of the input is the key of the
// step. Run again after a crash, it finds what was done and does the rest; run twice at once, one of the two waits.

export interface StepInput {
  readonly session: string
  /** The key: the same id again is the same step. */
  readonly id: string
  readonly text: string
  readonly team?: string | undefined
  readonly project?: string | undefined
}

export interface StepAnswer {
  /** Where the input stands in the transcript. */
  readonly seq: number
  readonly text: string
  readonly usage: readonly Usage[]
}

const pollMs = 250

/** Delivers an input and gives its answer, once for each id. */
export async function runTurnStep(
  input: StepInput,
  ports: TurnPorts,
  signal: AbortSignal = new AbortController().signal,
): Promise<Result<StepAnswer>> {
  const { queue, store } = ports
  const { session, id, text: body, team, project } = input
  const sent = await queue.send({ session, id, kind: 'input', body, team, project })
  if (!sent.ok) return sent
  for (;;) {
    const answer = await answerTo(input, ports)
    if (!answer.ok || answer.answer !== null) return answer.ok ? { ok: true, ...answer.answer! } : answer
    if (signal.aborted) return refused('aborted', `the step ${id} was stopped; run it again to go on`)
    const row = await queue.rows(session)
    if (!row.ok) return row
    const parked = row.rows[0]?.parked ?? null
    if (parked !== null) return refused('parked', `session ${session} is parked: ${parked}`)
    const askedAt = performance.now()
    const leased = await store.lease(sessionId(session))
    if (!leased.ok && leased.why === 'failed') return leased
    if (!leased.ok) {
      await new Promise((resolve) => setTimeout(resolve, pollMs))
      continue
    }
    const { lease, next } = leased
    const n = await queue.wantedNumber(session)
    if (!n.ok) {
      // Kept, it would be renewed for nobody.
      await store.release(lease)
      return n
    }
    store.adopt(lease, next, askedAt)
    const claimed: Claimed = {
      session,
      epoch: lease.epoch,
      token: lease.token,
      tries: 1,
      n: n.n,
      next,
      team: team ?? null,
      project: project ?? null,
      failure: null,
      isTakeover: false,
      waitedMs: 0,
    }
    const outcome = await workOn(claimed, ports, signal)
    if (outcome.kind === 'failed') return { ok: false, failure: outcome.failure }
  }
}

/**
 * The words that end the turn: the first whole answer without a call. A turn that another worker went on with has an end of its
 * own only where it was cut off, so the end is no sign.
 */
async function answerTo(
  { session, id }: StepInput,
  { queue, store }: TurnPorts,
): Promise<Result<{ readonly answer: StepAnswer | null }>> {
  const place = await queue.deliveredAt(session, id)
  if (!place.ok) return place
  if (place.seq === null) return { ok: true, answer: null }
  const usage: Usage[] = []
  for await (const item of store.read(sessionId(session), { from: seq(place.seq + 1) })) {
    if (item.kind === 'failed') return { ok: false, failure: item.failure }
    if (item.kind !== 'entry' || !isKnown(item.entry)) continue
    const { fact } = item.entry
    if (fact.type !== 'assistant-message') continue
    if (fact.usage !== undefined) usage.push(fact.usage)
    if (isFinal(fact)) return { ok: true, answer: { seq: place.seq, text: textOf(item.entry), usage } }
  }
  return { ok: true, answer: null }
}

/** Whether an answer is whole and ends its turn. */
export const isFinal = (fact: FactOf<'assistant-message'>): boolean =>
  fact.partial !== true && fact.content.every(({ type }) => type !== 'tool_use')
