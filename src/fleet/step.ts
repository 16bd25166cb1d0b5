// One input and its answer as one step, for teams that run a durable engine of their own: the id of the input is the key of the
// step. Run again after a crash, it finds what was done and does the rest; run twice at once, one of the two waits.
import { refused, type Result } from '../disk/failure.ts'
import { textOf } from '../engine/live.ts'
import { isKnown, type FactOf, type Usage } from '../transcript/fact.ts'
import { seq, sessionId } from '../transcript/ids.ts'
import type { Claimed } from '../postgres/queue.ts'
import { workOn, type TurnPorts } from './turn.ts'

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
