// One agent of this process, from its start to its end: what it is told, what it may take, what it says while it works,
// and the report it ends with.
import type { AgentAbout } from '../../engine/background/agent-rows.ts'
import { notFinished } from '../../engine/background/agent-report.ts'
import type { LiveEvent, Emit } from '../../engine/live.ts'
import { EngineError, type Session, type Spawned } from '../../engine/session.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Outcome } from '../../transcript/fact.ts'
import type { SessionId } from '../../transcript/ids.ts'
import { Inbox } from './inbox.ts'
import type { AgentLimits } from './types.ts'

export interface Finished {
  readonly outcome: Outcome
  readonly text: string
}

/** What somebody who looks is shown. */
export interface Look {
  readonly child: SessionId
  readonly parent: SessionId
  readonly about: AgentAbout
  readonly rounds: number
  /** What it is at, in a few words, where somebody has asked. */
  readonly phrase: string | null
  readonly isIdle: boolean
  readonly awaitsPlan: boolean
}

export class Worker {
  readonly about: AgentAbout
  readonly parent: Session
  readonly child: SessionId
  readonly inbox: Inbox
  /** The newest events, for those who begin to look. */
  readonly events: LiveEvent[] = []
  phrase: string | null = null
  isIdle = false
  /** It changes nothing until its plan is approved. */
  awaitsPlan = false
  /** It has agreed to end after this turn. */
  isLeaving = false
  /** The end of everything, clean-up included. Set by whoever starts it. */
  done: Promise<Finished> = Promise.resolve({ outcome: 'aborted', text: '' })
  readonly #followers = new Set<(event: LiveEvent | null) => void>()
  readonly #stopped = new AbortController()
  #watch: Watch | null = null
  #rounds = 0

  constructor(parent: Session, child: SessionId, about: AgentAbout) {
    this.parent = parent
    this.child = child
    this.about = about
    this.inbox = new Inbox(parent.id)
  }

  look(): Look {
    const { child, about, phrase, isIdle, awaitsPlan, parent } = this
    return {
      child,
      parent: parent.id,
      about,
      rounds: this.#rounds + (this.#watch?.rounds() ?? 0),
      phrase,
      isIdle,
      awaitsPlan,
    }
  }

  /** Fires when it is told to stop. */
  get stopped(): AbortSignal {
    return this.#stopped.signal
  }

  stop(why: string): void {
    this.#watch?.stop(why)
    this.#stopped.abort()
  }

  /** The limits of one turn, until it is over. */
  watch(limits: AgentLimits, outer: AbortSignal): Watch {
    const watch = watchRun(limits, outer)
    if (this.#stopped.signal.aborted) watch.stop('it was stopped')
    this.#watch = watch
    return watch
  }

  unwatch(): void {
    this.#rounds += this.#watch?.rounds() ?? 0
    this.#watch?.close()
    this.#watch = null
  }

  see(event: LiveEvent): void {
    this.#watch?.see(event)
    this.events.push(event)
    if (this.events.length > defaults.agents.followedEvents) this.events.shift()
    for (const tell of this.#followers) tell(event)
  }

  /** What it does from now on, after the newest of what it did. Ends when it ends. */
  async *follow(signal: AbortSignal): AsyncGenerator<LiveEvent> {
    const waiting: (LiveEvent | null)[] = [...this.events]
    let wake = (): void => {}
    const tell = (event: LiveEvent | null): void => {
      waiting.push(event)
      wake()
    }
    const stop = (): void => tell(null)
    this.#followers.add(tell)
    signal.addEventListener('abort', stop, { once: true })
    void this.done.then(stop)
    try {
      for (;;) {
        while (waiting.length > 0) {
          const event = waiting.shift()!
          if (event === null) return
          yield event
        }
        await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      this.#followers.delete(tell)
      signal.removeEventListener('abort', stop)
    }
  }
}

/** One turn of an agent with a session of its own, on what waits for it. */
export async function runTurnOf(worker: Worker, session: Session, watch: Watch): Promise<Finished> {
  let ended: Finished = { outcome: 'failed', text: '' }
  for await (const event of session.goOn(watch.signal)) {
    worker.see(event)
    if (event.type === 'turn-end')
      ended = {
        outcome: event.outcome,
        text: endText(session, watch.why() ?? event.failure?.message ?? null),
      }
  }
  // Stopped by a limit of its own it did not fail: what it had is there, and what is missing is said.
  return watch.why() !== null && ended.outcome === 'failed' ? { ...ended, outcome: 'aborted' } : ended
}

/** Tells it its task. A session that cannot be written to is a failure of the agent, not of whoever asked. */
export async function tellTask({ session }: Spawned, task: string): Promise<Finished | null> {
  try {
    await session.say(task)
    return null
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    return { outcome: 'failed', text: error.message }
  }
}

/** Of one that did not finish only why: what it had said is added where its end is written. */
function endText(session: Session, why: string | null): string {
  return why === null ? lastWords(session) : notFinished(why)
}

function lastWords(session: Session): string {
  for (const { role, content } of [...session.view().messages].toReversed()) {
    const text = content.flatMap((block) => ('text' in block && role === 'assistant' ? [block.text] : []))
    if (text.length > 0) return text.join('')
  }
  return ''
}

// ---- the limits of one run ----

// Requests and time are counted here, tokens and money before each request by the engine. Whoever
// passes one is stopped, keeps what it has said, and the reason stands in its report.

export interface Watch {
  readonly signal: AbortSignal
  /** To be called with every live event of the run. */
  readonly see: Emit
  rounds(): number
  /** Why it was stopped, or null. */
  why(): string | null
  stop(why: string): void
  close(): void
}

export function watchRun(limits: Pick<AgentLimits, 'rounds' | 'ms'>, outer: AbortSignal): Watch {
  const abort = new AbortController()
  let why: string | null = null
  let rounds = 0
  const stop = (reason: string): void => {
    why ??= reason
    abort.abort()
  }
  const onOuter = (): void => stop('it was interrupted')
  if (outer.aborted) onOuter()
  else outer.addEventListener('abort', onOuter, { once: true })
  const seconds = Math.round(limits.ms / 1000)
  const timer = setTimeout(
    () => stop(`it reached its limit of ${seconds} seconds`),
    Math.min(limits.ms, longestTimer),
  )
  timer.unref()
  return {
    signal: abort.signal,
    see: (event) => {
      // Seen before anything is sent, so the one too many costs nothing.
      if (event.type === 'request-start' && event.source !== 'progress' && ++rounds > limits.rounds)
        stop(`it reached its limit of ${limits.rounds} requests`)
    },
    rounds: () => rounds,
    why: () => why,
    stop,
    close: () => {
      clearTimeout(timer)
      outer.removeEventListener('abort', onOuter)
    },
  }
}

/** A timer set for longer fires at once. */
const longestTimer = 2 ** 31 - 1
