// Which fact may follow which. `Tail` is the little that must be known of a transcript to judge the next fact;
// `closing` gives the facts that a crash left unwritten, so that repair happens once, on write, and readers
// never have to guess. Pure.
import { textResult, isKnown, isRealInput, type Fact, type FactOf, type StoredEntry } from './fact.ts'
import { callId, seq, type CallId, type Seq, type Uuid } from './ids.ts'
import { endOf } from './stop.ts'

export interface OpenCall {
  readonly id: CallId
  readonly name: string
  /** Its arguments were cut short or unreadable: it is answered, never run. */
  readonly broken: boolean
}

export interface Tail {
  /** The next free place. */
  readonly next: Seq
  readonly started: boolean
  /** Calls without a result, in the order they were made. */
  readonly open: readonly OpenCall[]
  /** Input that was acknowledged but not yet delivered to the model. */
  readonly queued: readonly Seq[]
  /** A turn has begun and has not ended. */
  readonly inTurn: boolean
  readonly lastUuid: Uuid | null
}

export interface Refusal {
  readonly code:
    | 'not-started'
    | 'started-twice'
    | 'calls-open'
    | 'call-unknown'
    | 'call-duplicate'
    | 'no-turn'
    | 'queue-unknown'
    | 'no-such-place'
  readonly message: string
}

export const emptyTail = (first: Seq = seq(0)): Tail => ({
  next: first,
  started: false,
  open: [],
  queued: [],
  inTurn: false,
  lastUuid: null,
})

/** Why this fact may not be written now, or null. */
export function refusal(tail: Tail, fact: Fact): Refusal | null {
  if (fact.type === 'session-start') {
    return tail.started ? { code: 'started-twice', message: 'the session has already started' } : null
  }
  // Where the start itself was lost, what says so takes its place.
  if (!tail.started && fact.type !== 'damage-found')
    return { code: 'not-started', message: `${fact.type} before session-start` }
  switch (fact.type) {
    case 'user-message':
      if (fact.queued !== undefined && !tail.queued.includes(fact.queued)) {
        return { code: 'queue-unknown', message: `no undelivered input at ${fact.queued}` }
      }
      return callsOpen(tail, fact)
    case 'assistant-message':
      return callsOpen(tail, fact) ?? duplicateCalls(fact)
    case 'request-sent':
    case 'boundary':
      return callsOpen(tail, fact)
    case 'turn-end':
      if (!tail.inTurn) return { code: 'no-turn', message: 'turn-end without a turn' }
      return callsOpen(tail, fact)
    case 'tool-result':
      return tail.open.some((call) => call.id === fact.call)
        ? null
        : { code: 'call-unknown', message: `no open call ${fact.call}` }
    case 'rewind':
      return fact.to < tail.next
        ? null
        : { code: 'no-such-place', message: `cannot rewind to ${fact.to}, it lies ahead` }
    default:
      return null
  }
}

/** The tail after an entry. A rewind to a place with no call open is decided by the fold, which knows the place. */
export function step(tail: Tail, entry: StoredEntry): Tail {
  const moved = { ...tail, next: seq(entry.seq + 1), lastUuid: entry.uuid ?? tail.lastUuid }
  if (!isKnown(entry)) return moved
  const fact = entry.fact
  switch (fact.type) {
    case 'session-start':
    case 'damage-found':
      return { ...moved, started: true }
    case 'user-message':
      return {
        ...moved,
        inTurn: moved.inTurn || isRealInput(fact),
        // Only a lost line leaves calls open here; the fold answers them.
        open: isRealInput(fact) ? [] : moved.open,
        queued:
          fact.queued === undefined ? moved.queued : moved.queued.filter((place) => place !== fact.queued),
      }
    case 'input-queued':
      return { ...moved, queued: [...moved.queued, entry.seq] }
    case 'assistant-message':
      return { ...moved, open: callsOf(fact) }
    case 'tool-result':
      return { ...moved, open: moved.open.filter((call) => call.id !== fact.call) }
    case 'rewind':
      return { ...moved, open: [], inTurn: false }
    case 'turn-end':
      return { ...moved, inTurn: false }
    default:
      return moved
  }
}

/** What must be written before anything else: a result for every open call, then the end of the cut-short turn. */
export function closing(tail: Tail, why: string): readonly Fact[] {
  const facts: Fact[] = tail.open.map(({ id, name, broken }) =>
    textResult(id, broken ? notRun(name) : resultUnknown(name, why)),
  )
  if (tail.inTurn)
    facts.push({ type: 'turn-end', outcome: 'aborted', failure: { code: 'interrupted', message: why } })
  return facts
}

export const notRun = (tool: string): string =>
  `[${tool} was not run: its arguments were cut off before they were complete]`
const resultUnknown = (tool: string, why: string): string =>
  `[no result of ${tool}: ${why}. It may or may not have taken effect; check before doing it again]`

export function callsOf(fact: FactOf<'assistant-message'>): readonly OpenCall[] {
  const calls: OpenCall[] = []
  for (const block of fact.content) {
    if (block.type !== 'tool_use' || !('id' in block)) continue
    calls.push({
      id: callId(block.id),
      name: block.name,
      broken: block.broken !== undefined || fact.partial === true || endOf(fact) === 'length',
    })
  }
  return calls
}

function callsOpen(tail: Tail, fact: Fact): Refusal | null {
  if (tail.open.length === 0) return null
  const names = tail.open.map((call) => `${call.name} (${call.id})`).join(', ')
  return { code: 'calls-open', message: `${fact.type} while calls are open: ${names}` }
}

function duplicateCalls(fact: FactOf<'assistant-message'>): Refusal | null {
  const ids = callsOf(fact).map((call) => call.id)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  return twice === undefined
    ? null
    : { code: 'call-duplicate', message: `call id ${twice} is used twice in one message` }
}
