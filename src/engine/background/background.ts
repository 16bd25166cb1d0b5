// What runs beside a session: its forks and agents, its jobs, and the signals that end them; and the session as such jobs
// see it.
import type { Room, RoomOutcome } from '../../projection/budget.ts'
import type { Fact } from '../../transcript/fact.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Appended, Transcript } from '../../transcript/transcript.ts'
import type { ForkOutcome, ForkSpec } from '../ports.ts'
import { totalOf, type Total } from '../limits/spend.ts'
import type { Emit, LiveEvent } from '../live.ts'
import { maxOutputOf, type Ready } from '../options.ts'
import type { SessionState } from '../state.ts'
import type { JobContext } from '../ports.ts'

/** A fork or an agent under way. */
export interface Child {
  readonly state: SessionState
  readonly background: Background
}

export class Background {
  /** Forks and agents under way, and what each of them ends with. */
  readonly children = new Map<Child, Promise<unknown>>()
  /** What goes on beside the talk, by what it is for; the end of the session waits for it. */
  readonly jobs = new Map<string, Promise<void>>()
  /** Fires when the session is closed: what runs beside it is stopped. */
  readonly ending = new AbortController()
  /** Of the turn that runs. A fork made in it ends with it. */
  turnSignal: AbortSignal | null = null
  /** Hears what is said while a turn runs, where nobody listens otherwise. */
  turnEmit: Emit | null = null
  /** Events from before anybody listened; the next turn tells them. */
  readonly unheard: LiveEvent[] = []
  /** Says something whether or not a turn runs. */
  readonly tell: Emit

  constructor(listen: Emit | undefined) {
    this.tell =
      listen ?? ((event) => (this.turnEmit === null ? void this.unheard.push(event) : this.turnEmit(event)))
  }

  /** Fires when the turn that runs ends, or the session. */
  get signal(): AbortSignal {
    return this.turnSignal === null
      ? this.ending.signal
      : AbortSignal.any([this.turnSignal, this.ending.signal])
  }

  /** Starts a job unless one of its kind runs. */
  start(kind: string, work: () => Promise<void>): void {
    if (this.jobs.has(kind)) return
    this.jobs.set(
      kind,
      work().finally(() => this.jobs.delete(kind)),
    )
  }
}

/** What a session and its forks have taken, running ones included. */
export function totalWith({ state, background }: Child): Total {
  let { tokens, dollars } = totalOf(state.spent)
  for (const child of background.children.keys()) {
    const own = totalWith(child)
    tokens += own.tokens
    dollars += own.dollars
  }
  return { tokens, dollars }
}

/** What a session must offer so that jobs can work for it. */
export interface Host {
  readonly session: SessionId
  readonly options: Ready
  readonly state: SessionState
  readonly transcript: Transcript
  readonly background: Background
  readonly modelId: string
  room(most?: Room['window'] | null): RoomOutcome
  append(facts: readonly Fact[]): Promise<Appended>
}

export function jobContextOf<T extends Host>(
  host: T,
  fork: (parent: T, spec: ForkSpec, signal: AbortSignal) => Promise<ForkOutcome>,
): JobContext {
  const { options, session, transcript, background } = host
  const { thinking } = options
  return {
    session,
    fold: host.state.fold,
    models: options.models,
    hasModel: options.model !== undefined,
    modelId: () => host.modelId,
    latest: () => host.state.latest,
    tail: () => host.state.tail,
    room: () => host.room(),
    maxOutput: () => maxOutputOf(host),
    thinkingTokens: thinking?.type === 'enabled' ? thinking.budget_tokens : 0,
    now: () => options.clock.now(),
    fork: (spec, signal) => fork(host, spec, signal),
    append: (facts) => host.append(facts),
    keep: (name, text) => options.store.putBlob(transcript.lease, name, new TextEncoder().encode(text)),
    ending: background.ending.signal,
    tell: background.tell,
  }
}
