// Writing one session: one queue, so that facts said at the same time get places one after the other; the grammar
// asked before every write; nothing counted as said before the store has it (law T1). A transcript never throws.
import { factProblem } from './codec.ts'
import type { Entry, Fact, StoredEntry } from './fact.ts'
import { closing, refusal, step, type Tail } from './grammar.ts'
import type { Clock, Ids } from './ids.ts'
import { seq } from './ids.ts'
import type { AppendOutcome, Failure, Lease, Result, Store, Durability } from './store.ts'
import { refused } from '../disk/failure.ts'

/** What stands beside a transcript and must keep step with it: the state of the session. */
export interface Follower {
  /** After the last entry that was taken. */
  tail(): Tail
  /** Called before facts are judged, for what they need to be read first. */
  prepare(facts: readonly Fact[]): Promise<Failure | null>
  /** Why a fact may not be written although the grammar allows it. */
  refuse(fact: Fact): Failure | null
  take(entry: StoredEntry): void
}

export interface TranscriptPorts {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
}

export type Appended = Result<{ readonly entries: readonly Entry[] }>

export class Transcript {
  readonly lease: Lease
  readonly #ports: TranscriptPorts
  readonly #follower: Follower
  #queue: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(ports: TranscriptPorts, lease: Lease, follower: Follower) {
    this.#ports = ports
    this.lease = lease
    this.#follower = follower
  }

  get tail(): Tail {
    return this.#follower.tail()
  }

  /** Appends all of the facts or none. A function is asked when its turn comes, with the tail as it is then. */
  append(facts: readonly Fact[] | ((tail: Tail) => readonly Fact[])): Promise<Appended> {
    return this.#inTurn(() => this.#append(typeof facts === 'function' ? facts(this.tail) : facts))
  }

  /** Writes what a crash or an abort left open. */
  close(why: string): Promise<Appended> {
    return this.append((tail) => closing(tail, why))
  }

  /** Ends the writing: everything is synced and the lease is given back. */
  release(): Promise<Result<object>> {
    return this.#inTurn(async () => {
      this.#closed = true
      const synced = await this.#ports.store.sync(this.lease)
      const released = await this.#ports.store.release(this.lease)
      return synced.ok ? released : synced
    })
  }

  /** Runs a job between two appends. */
  #inTurn<T>(job: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(job)
    this.#queue = done.then(
      () => undefined,
      () => undefined,
    )
    return done
  }

  async #append(facts: readonly Fact[]): Promise<Appended> {
    if (this.#closed) return refused('closed', 'the session was closed; open it again to go on')
    const unprepared = await this.#follower.prepare(facts)
    if (unprepared !== null) return { ok: false, failure: unprepared }
    const placed = this.#place(facts)
    if (!placed.ok || placed.entries.length === 0) return placed
    const { entries } = placed
    const durability = strictest(facts.map(durabilityOf))
    const outcome = await this.#ports.store.append(this.lease, entries, this.tail.next, durability)
    if (!outcome.ok) return { ok: false, failure: appendFailure(outcome, this.lease) }
    for (const entry of entries) this.#follower.take(entry)
    return { ok: true, entries }
  }

  #place(facts: readonly Fact[]): Appended {
    const entries: Entry[] = []
    let { tail } = this
    for (const fact of facts) {
      const problem = factProblem(fact)
      if (problem !== null) return refused('bad-fact', `a ${fact.type} cannot be written: ${problem}`)
      const failure = refusal(tail, fact) ?? this.#follower.refuse(fact)
      if (failure !== null) return refused(failure.code, failure.message)
      const entry: Entry = {
        v: 1,
        seq: seq(tail.next),
        uuid: this.#ports.ids.uuid(),
        parent: tail.lastUuid,
        at: this.#ports.clock.now(),
        fact,
      }
      entries.push(entry)
      // What follows the last one is the follower's to say.
      if (entries.length < facts.length) tail = step(tail, entry)
    }
    return { ok: true, entries }
  }
}

function appendFailure(outcome: Exclude<AppendOutcome, { ok: true }>, lease: Lease): Failure {
  switch (outcome.why) {
    case 'failed':
      return outcome.failure
    case 'seq-taken':
      return {
        code: 'seq-taken',
        message: `another writer has written to session ${lease.session}; open it again`,
      }
    case 'fenced': {
      const who = outcome.owner === null ? 'another process' : outcome.owner.who
      return {
        code: 'fenced',
        message: `session ${lease.session} was taken over by ${who}; open it again or fork it`,
      }
    }
  }
}

// When a fact must be safe on the disk. `now`: somebody acts on it at once, so losing it would make what
// was done unexplained. `soon`: losing the last moments of it is survivable and said. `none`: it can be made again.

export function durabilityOf(fact: Fact): Durability {
  switch (fact.type) {
    case 'session-start':
    case 'user-message':
    case 'input-queued':
    case 'permission':
    case 'boundary':
    case 'agent-start':
      return 'now'
    case 'assistant-message':
      // Any call may have an effect outside, so it must be known before it is run.
      return fact.content.some((block) => block.type === 'tool_use') ? 'now' : 'soon'
    case 'cache-break':
    case 'compaction-failed':
    case 'summary-previewed':
      return 'none'
    case 'instructions-set':
    case 'tool-result':
    case 'attachment':
    case 'memory-recall':
    case 'request-sent':
    case 'feature-refused':
    case 'reasoning-refused':
    case 'window-learned':
    case 'media-learned':
    case 'view-edit':
    case 'notes-update':
    case 'memories-extracted':
    case 'compaction-recorded':
    case 'collapse-stage':
    case 'pin':
    case 'undo':
    case 'release':
    case 'rewind':
    case 'model-set':
    case 'fork-end':
    case 'turn-end':
    case 'damage-found':
      return 'soon'
  }
}

/** Of facts written together: the most careful of them decides. */
export function strictest(durabilities: Iterable<Durability>): Durability {
  let strictest: Durability = 'none'
  for (const each of durabilities) {
    if (each === 'now') return 'now'
    if (each === 'soon') strictest = 'soon'
  }
  return strictest
}
