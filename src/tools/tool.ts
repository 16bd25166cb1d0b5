// The Tool port: what the agent can do. `run` never throws; what goes wrong is a result with `isError`.
import type { OrWhy } from '../disk/failure.ts'
import type { Lineage } from '../memory/trust/lineage.ts'
import type { FileChange } from './files/file-change.ts'
import type { UserBlock } from '../transcript/content.ts'
import type { Snipped } from '../projection/layers/snip.ts'
import type { Fact, ToolSpec } from '../transcript/fact.ts'
import type { Repository } from './git/repository.ts'

/**
 * What may happen to a result later. `clear`: it may go when it is old or superseded. `superseded`: only once newer work
 * on the same file stands in its place. `keep`, `spill` and `never-clear`: it stays; what is large is written out at its
 * limit in any case.
 */
export type ResultPolicy = 'keep' | 'spill' | 'superseded' | 'clear' | 'never-clear'

export interface ToolPolicy {
  /** Read-only tools of one response run side by side; the others one after the other. */
  readonly readOnly: boolean
  readonly results: ResultPolicy
  /** Largest result that enters the view whole. Null: the tool pages by itself and is never written out. */
  readonly maxResultChars: number | null
}

export interface ToolOutcome {
  readonly content: readonly UserBlock[]
  readonly isError: boolean
  /** Facts the tool wants appended after its result (snip, pin). */
  readonly facts?: readonly Fact[] | undefined
  /** What it changed in a file, for those who look on; never kept. */
  readonly change?: FileChange | undefined
  /** The memory that it saved, or that waits for the user; for those who look on, never kept. */
  readonly memory?: { readonly did: 'saved' | 'held'; readonly file: string } | undefined
  /** The whole output is already kept under this blob; `content` is a preview of it. */
  readonly spill?: { readonly blob: string; readonly bytes: number; readonly sha256: string } | undefined
}

export interface Tool<Input = Record<string, unknown>> {
  readonly spec: ToolSpec
  readonly policy: ToolPolicy
  /** Why the input does not fit, or the input itself, checked. */
  parse(input: Readonly<Record<string, unknown>>): OrWhy<{ readonly input: Input }>
  run(input: Input, env: ToolEnv, signal: AbortSignal): Promise<ToolOutcome>
  /** The call it stands for, where it only hands on to another tool: permission and hooks see that one. */
  readonly reaches?: ((input: Readonly<Record<string, unknown>>) => ReachedCall) | undefined
}

export interface ReachedCall {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

/** A file as a person has seen it, by its real path; `sha256` is null where there was none. */
export interface ShownFile {
  readonly path: string
  readonly sha256: string | null
}

/** A command that runs unasked because it is read-only: nothing of the project may say what it really does. */
export interface ReadOnlyRun {
  /** The folders of the project: no program is taken from there. */
  readonly project: readonly string[]
  /** Which repository git may look at (null: none); left out where git is not called. */
  readonly git?: { readonly repository: Repository | null } | undefined
  /** Where a rule allowed the other parts, the words of those that are read-only; left out where all are. */
  readonly parts?: readonly string[] | undefined
}

/** What a tool is given: the place it works in, what was read so far, and where large output goes. */
export interface ToolEnv {
  readonly cwd: string
  /** The session that calls. */
  readonly session?: string | undefined
  readonly callId: string
  readonly readFiles: ReadFiles
  /** Keeps output beside the session; null where nothing can be kept. */
  readonly spill:
    | ((name: string, bytes: Uint8Array | AsyncIterable<Uint8Array>) => Promise<SpillOutcome>)
    | null
  /** Gives back what a stub or a summary stands for. */
  readonly expand: (
    ref: string,
    offset: number,
    limit: number,
  ) => Promise<
    | {
        readonly ok: true
        readonly text: string
        readonly total: number
        /** Where the reference names a picture or a document. */
        readonly media?: UserBlock | undefined
      }
    | { readonly ok: false; readonly why: string }
  >
  /** Whether the result of that call still stands in the view whole, so that it can be pointed at. */
  readonly isShown: (callId: string) => boolean
  /** Removes whole turns by their tags, where the session has tags: what to write, or why not. */
  readonly snip?: ((ids: readonly string[], reason: string) => Snipped) | undefined
  /** What the call may have been moved by, for those who must know who is speaking. */
  readonly lineage?: (() => Lineage) | undefined
  /** Set where the call was let run as read-only; then it gets a closed environment. */
  readonly readOnly?: ReadOnlyRun | undefined
  /** Set where a person agreed to a change of a file: nothing else may be changed. */
  readonly shown?: ShownFile | undefined
  /** Passes by, never kept: progress of a long run. */
  readonly report: (text: string) => void
  readonly now: () => number
}

export type SpillOutcome = OrWhy<{
  readonly blob: string
  readonly bytes: number
  readonly sha256: string
  readonly path?: string | undefined
}>

/** The files read in this session and how they were then; bounded, copied into forks. */
export interface ReadFiles {
  get(path: string): ReadFile | undefined
  set(path: string, file: ReadFile): void
  /** All of them, the one touched last at the end. */
  entries(): readonly (readonly [path: string, file: ReadFile])[]
  copy(): ReadFiles
  /** These and no others, in their order. */
  replace(entries: Iterable<readonly [path: string, file: ReadFile]>): void
}
export interface ReadFile {
  readonly sha256: string
  readonly mtimeMs: number
  readonly bytes: number
  /** The lines shown, when not the whole file was. */
  readonly part: { readonly offset: number; readonly limit: number } | null
  /** The call whose result shows it; see `isShown`. */
  readonly callId: string
}
