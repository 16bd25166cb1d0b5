// The same session under another policy, and a compaction of another program beside ours. Both take seconds to minutes, so they run
// in a thread of their own, one at a time, and are kept by what was played and how.
import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { policyNamed } from '../lab/policies/list.ts'
import { defaults } from '../settings/defaults.ts'
import { encode } from '../transcript/codec.ts'
import { seq, sessionId } from '../transcript/ids.ts'
import type { Store } from '../transcript/store.ts'
import type { RecordedAnswer, RecordedCompaction, Replay, ReplayAnswer } from './protocol.ts'

/** What the thread is given, and what it says. */
export interface ReplayTask {
  readonly name: string
  /** The session's lines. */
  readonly lines: string
  readonly wanted: Wanted
}
type Wanted =
  | { readonly kind: 'replay'; readonly policy: string; readonly window: number | null }
  /** Where the recorded compaction stands. */
  | { readonly kind: 'recorded'; readonly at: number }
/** Without what was played. */
export type PlayedReplay = Omit<Replay, 'transcript' | 'policyHash' | 'head'>
export type Made<T> =
  | { readonly ok: true; readonly made: T }
  | { readonly ok: false; readonly problem: string }

export interface ReplayOptions {
  readonly store: Store
  readonly window?: number | undefined
  /** The program of the thread. */
  readonly worker: URL
  /** Larger sessions are not held in memory for it. */
  readonly mostBytes: number
}

interface Read {
  readonly lines: string
  readonly hash: string
  readonly head: number
}
type Kept = { readonly answer: Promise<unknown>; made: Made<unknown> | null }
type Asked<T> =
  | { readonly state: 'running'; readonly problem: null; readonly made: null }
  | { readonly state: 'failed'; readonly problem: string; readonly made: null }
  | { readonly state: 'done'; readonly problem: null; readonly made: T; readonly read: Read }

export class Replays {
  readonly #options: ReplayOptions
  readonly #kept = new Map<string, Kept>()
  readonly #workers = new Set<Worker>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: ReplayOptions) {
    this.#options = options
  }

  /** Null: no such policy. Asked again, the same replay is not made twice. */
  async ask(session: string, name: string): Promise<ReplayAnswer | null> {
    const policy = policyNamed(name)
    if (policy === undefined) return null
    const policyHash = hashOf(JSON.stringify(policy))
    const window = this.#options.window ?? null
    const asked = await this.#ask<PlayedReplay>(session, { kind: 'replay', policy: name, window }, policyHash)
    const { state, problem } = asked
    if (asked.state !== 'done') return { state, policy: name, problem, replay: null }
    const { hash: transcript, head } = asked.read
    return { state, policy: name, problem, replay: { ...asked.made, transcript, policyHash, head } }
  }

  /** The compaction that stands recorded at a place. */
  async recorded(session: string, at: number): Promise<RecordedAnswer> {
    const wanted = { kind: 'recorded', at } as const
    const { state, problem, made } = await this.#ask<RecordedCompaction>(session, wanted, `recorded ${at}`)
    return { state, problem, recorded: made }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.terminate()))
  }

  async #ask<T>(session: string, wanted: Wanted, how: string): Promise<Asked<T>> {
    const read = await this.#read(session)
    if (typeof read === 'string') return { state: 'failed', problem: read, made: null }
    const key = `${read.hash} ${how}`
    const kept = this.#kept.get(key) ?? this.#begin(key, { name: session, lines: read.lines, wanted })
    // A short one is answered at once.
    await Promise.race([kept.answer, new Promise((resolve) => setTimeout(resolve, shortMs))])
    if (kept.made === null) return { state: 'running', problem: null, made: null }
    if (!kept.made.ok) return { state: 'failed', problem: kept.made.problem, made: null }
    return { state: 'done', problem: null, made: kept.made.made as T, read }
  }

  #begin(key: string, task: ReplayTask): Kept {
    const run = this.#last.then(() => this.#run(task))
    this.#last = run
    const answer = run.then((made) => void (kept.made = made))
    const kept: Kept = { answer, made: null }
    this.#kept.set(key, kept)
    for (const oldest of [...this.#kept.keys()].slice(0, -defaults.inspector.replays))
      this.#kept.delete(oldest)
    return kept
  }

  #run(task: ReplayTask): Promise<Made<unknown>> {
    return new Promise((resolve) => {
      const worker = new Worker(this.#options.worker, { workerData: task })
      this.#workers.add(worker)
      const end = (made: Made<unknown>): void => {
        this.#workers.delete(worker)
        resolve(made)
        void worker.terminate()
      }
      worker.once('message', (made: Made<unknown>) => end(made))
      worker.once('error', (error) => end({ ok: false, problem: `the replay failed: ${error.message}` }))
      worker.once('exit', () => end({ ok: false, problem: 'the replay ended without a result' }))
    })
  }

  async #read(session: string): Promise<Read | string> {
    const lines: string[] = []
    let [bytes, head] = [0, 0]
    for await (const item of this.#options.store.read(sessionId(session), { from: seq(0) })) {
      if (item.kind === 'failed') return item.failure.message
      if (item.kind !== 'entry') continue
      const line = encode(item.entry)
      bytes += line.length
      head = item.entry.seq
      if (bytes > this.#options.mostBytes)
        return `the session has more than ${Math.round(this.#options.mostBytes / 1_000_000)} MB; replay it with pal replay`
      lines.push(line)
    }
    const text = lines.join('\n')
    return { lines: text, hash: hashOf(text), head }
  }
}

const shortMs = 500
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
