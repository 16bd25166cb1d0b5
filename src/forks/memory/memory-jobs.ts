// What goes on in the background for memories, for people to look at and to stop. Kept in memory only; what was
// written is in the ledger, and what it cost in the transcript.
import type { LiveEvent } from '../../engine/live.ts'
import { defaults } from '../../settings/defaults.ts'
import type { FileSystem } from '../../disk/fs.ts'
import type { FolderStore } from '../../memory/keeping/folder-store.ts'
import type { MemoryStore } from '../../memory/memory-store.ts'
import { isInside } from '../../disk/under-root.ts'
import { pathIn } from '../../tools/files/guard.ts'
import type { Judge } from '../../tools/permission/pipeline.ts'
import type { Tool } from '../../tools/tool.ts'
import type { Clock } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'

export type JobKind = 'extraction' | 'dream'
export type JobState = 'running' | 'completed' | 'failed' | 'killed'

export interface JobLook {
  readonly id: string
  readonly kind: JobKind
  readonly session: string
  readonly since: number
  readonly state: JobState
  /** `updating` from its first write on. */
  readonly phase: 'starting' | 'updating'
  /** What it said, the newest turns. */
  readonly turns: readonly string[]
  readonly tools: Readonly<Record<string, number>>
  /** Calls that were refused or failed, and why. */
  readonly refused: readonly string[]
  readonly files: readonly string[]
  /** What came of it. */
  readonly report: readonly string[]
  readonly tokens: number
}

export class MemoryJob {
  readonly id: string
  readonly kind: JobKind
  readonly session: string
  readonly since: number
  readonly #stop = new AbortController()
  readonly #turns: string[] = []
  readonly #tools = new Map<string, number>()
  readonly #refused: string[] = []
  readonly #files = new Set<string>()
  #said = ''
  #state: JobState = 'running'
  #report: readonly string[] = []
  #tokens = 0

  constructor(id: string, kind: JobKind, session: string, since: number) {
    this.id = id
    this.kind = kind
    this.session = session
    this.since = since
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }
  get isRunning(): boolean {
    return this.#state === 'running'
  }

  stop(): void {
    this.#stop.abort()
  }

  hear(event: LiveEvent): void {
    const { turns, turnChars } = defaults.memoryJobs
    if (event.type === 'text-delta') this.#said += event.text
    if (event.type === 'tool-start') this.#tools.set(event.name, (this.#tools.get(event.name) ?? 0) + 1)
    if (event.type === 'tool-end' && event.isError) this.#refused.push(`${event.name}: ${event.text}`)
    if (event.type !== 'answer-end') return
    const { input, cacheRead, cacheWrite, output } = event.usage
    this.#tokens += input + cacheRead + cacheWrite + output
    this.#turns.push(this.#said.trim().slice(0, turnChars).toWellFormed())
    this.#said = ''
    if (this.#turns.length > turns) this.#turns.shift()
  }

  wrote(file: string): void {
    this.#files.add(file)
  }

  end(state: Exclude<JobState, 'running'>, report: readonly string[]): void {
    this.#state = state
    this.#report = report
  }

  look(): JobLook {
    const { id, kind, session, since } = this
    return {
      id,
      kind,
      session,
      since,
      state: this.#state,
      phase: this.#files.size === 0 ? 'starting' : 'updating',
      turns: [...this.#turns],
      tools: Object.fromEntries(this.#tools),
      refused: [...this.#refused],
      files: [...this.#files],
      report: this.#report,
      tokens: this.#tokens,
    }
  }
}

export class MemoryJobList {
  readonly #jobs: MemoryJob[] = []
  #count = 0

  start(kind: JobKind, session: string, now: number): MemoryJob {
    const job = new MemoryJob(`${kind}-${++this.#count}`, kind, session, now)
    this.#jobs.push(job)
    const ended = this.#jobs.filter((one) => !one.isRunning)
    if (ended.length > defaults.memoryJobs.ended) this.#jobs.splice(this.#jobs.indexOf(ended[0]!), 1)
    return job
  }

  /** Newest last. */
  looks(): readonly JobLook[] {
    return this.#jobs.map((job) => job.look())
  }

  get running(): number {
    return this.#jobs.filter((job) => job.isRunning).length
  }

  stopAll(): void {
    for (const job of this.#jobs) if (job.isRunning) job.stop()
  }

  /** Whether there was one to stop. */
  stop(id: string): boolean {
    const job = this.#jobs.find((one) => one.id === id && one.isRunning)
    job?.stop()
    return job !== undefined
  }
}

/** What jobs on memories are made of. */
export interface MemoryJobOptions {
  readonly fs: FileSystem
  /** The stores that may be written to, the project's first. A team's is not among them. */
  readonly stores: readonly MemoryStore[]
  /** Those of them that are folders: these have a diary, and beside them is noted what of the project still held. */
  readonly keepers: readonly FolderStore[]
  /** The tools of the session; their list is sent as it is. */
  readonly tools: () => readonly Tool[]
  /** Who decides about what is read; they ask nobody. */
  readonly judges: readonly Judge[]
  /** The sessions of the project. */
  readonly store: Store
  readonly cwd: string
  /** The folder of the project, which shows whether what is remembered of it still holds. */
  readonly root: string
  readonly userHome: string | undefined
  readonly clock: Clock
  /** False where what the engine is given is nobody's typed words but what a program was called with. */
  readonly isTyped: boolean
}

/** A store as the folder it is, or null. */
export const folderOf = (
  { keepers }: Pick<MemoryJobOptions, 'keepers'>,
  { root }: MemoryStore,
): FolderStore | null => keepers.find((keeper) => keeper.root === root) ?? null

/** Whether a call names a path in a folder of memories. */
export const isOurs =
  (stores: readonly MemoryStore[], { cwd, userHome }: Pick<MemoryJobOptions, 'cwd' | 'userHome'>) =>
  (input: Readonly<Record<string, unknown>>): boolean => {
    const path = pathIn(input, cwd, userHome)
    return path !== null && stores.some(({ root }) => path !== root && isInside(root, path))
  }
