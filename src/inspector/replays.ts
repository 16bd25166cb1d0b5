// The same session under another policy. A replay takes seconds to minutes, so it runs in a thread of its own, one at a time, and is
// kept by what was played and how.
import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { policyNamed } from '../lab/policies/list.ts'
import { defaults } from '../settings/defaults.ts'
import { encode } from '../transcript/codec.ts'
import { seq, sessionId } from '../transcript/ids.ts'
import type { Store } from '../transcript/store.ts'
import type { Replay, ReplayAnswer } from './protocol.ts'

/** What the thread is given, and what it says. */
export interface ReplayTask {
  readonly name: string
  /** The session's lines. */
  readonly lines: string
  readonly policy: string
  readonly model: string | null
  readonly window: number | null
}
export type ReplayMade =
  | { readonly ok: true; readonly replay: Replay }
  | { readonly ok: false; readonly problem: string }

export interface ReplayOptions {
  readonly store: Store
  readonly window?: number | undefined
  /** The program of the thread. */
  readonly worker: URL
  /** Larger sessions are not held in memory for it. */
  readonly mostBytes: number
}

type Kept = { readonly answer: Promise<ReplayMade>; made: ReplayMade | null }

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
    const read = await this.#read(session)
    if (typeof read === 'string') return { state: 'failed', policy: name, problem: read, replay: null }
    const policyHash = hashOf(JSON.stringify(policy))
    const key = `${read.hash} ${policyHash}`
    const kept = this.#kept.get(key) ?? this.#begin(key, { ...read, policyHash }, session, name)
    // A short one is answered at once.
    await Promise.race([kept.answer, new Promise((resolve) => setTimeout(resolve, shortMs))])
    if (kept.made === null) return { state: 'running', policy: name, problem: null, replay: null }
    if (!kept.made.ok) return { state: 'failed', policy: name, problem: kept.made.problem, replay: null }
    return { state: 'done', policy: name, problem: null, replay: kept.made.replay }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.terminate()))
  }

  #begin(
    key: string,
    read: {
      readonly lines: string
      readonly hash: string
      readonly head: number
      readonly policyHash: string
    },
    session: string,
    policy: string,
  ): Kept {
    const task = {
      name: session,
      lines: read.lines,
      policy,
      model: null,
      window: this.#options.window ?? null,
    }
    const run = this.#last.then(() => this.#run(task))
    this.#last = run
    const answer = run.then((made): ReplayMade => {
      const { hash: transcript, policyHash, head } = read
      kept.made = made.ok ? { ok: true, replay: { ...made.replay, transcript, policyHash, head } } : made
      return kept.made
    })
    const kept: Kept = { answer, made: null }
    this.#kept.set(key, kept)
    for (const oldest of [...this.#kept.keys()].slice(0, -defaults.inspector.replays))
      this.#kept.delete(oldest)
    return kept
  }

  #run(task: ReplayTask): Promise<ReplayMade> {
    return new Promise((resolve) => {
      const worker = new Worker(this.#options.worker, { workerData: task })
      this.#workers.add(worker)
      const end = (made: ReplayMade): void => {
        this.#workers.delete(worker)
        resolve(made)
        void worker.terminate()
      }
      worker.once('message', (made: ReplayMade) => end(made))
      worker.once('error', (error) => end({ ok: false, problem: `the replay failed: ${error.message}` }))
      worker.once('exit', () => end({ ok: false, problem: 'the replay ended without a result' }))
    })
  }

  async #read(
    session: string,
  ): Promise<{ readonly lines: string; readonly hash: string; readonly head: number } | string> {
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
