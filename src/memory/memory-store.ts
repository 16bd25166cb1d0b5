// The port of memories: what the conversation, the jobs on memories and the commands ask of whoever keeps them. A folder of
// files is one such store (`keeping/folder-store`); another serves as well if it passes the contract in `testing`.
//
// What is only data stays `fenced`, what nobody vouches for is `held`, and trust never rises by saving (law M1): these are
// promises of every store, so nobody above has to ask which one it has.
import type { FailureCode, Result } from '../disk/fs.ts'
import type { Memory, MemoryScope, Provenance } from './memory.ts'

/** Who wrote it, as the versions tell. */
export const writers = ['session', 'extraction', 'dream', 'user', 'accept', 'revert'] as const
export type Writer = (typeof writers)[number]

export interface Listing {
  /** Newest first. */
  readonly memories: readonly Memory[]
  /** How many there are, listed or not. */
  readonly total: number
  readonly skipped: readonly { readonly file: string; readonly why: string }[]
}

export interface MemoryChange {
  /** Its path in the store, with slashes. */
  readonly file: string
  /** The whole new text; null removes it. */
  readonly text: string | null
  /** The hash of the bytes it was made from, null for none. Left out, whatever is there is replaced. */
  readonly expected?: string | null | undefined
}

/** A change that says itself where it comes from. */
export interface SourcedChange extends MemoryChange {
  readonly by: Provenance
}

export interface SaveOptions {
  readonly via: Writer
  /** A person has seen and wants exactly this. */
  readonly approved?: boolean | undefined
  /** When the user typed what it says; left out where the user did not. What was forgotten before that counts again. */
  readonly saidAt?: number | undefined
}

export interface Applied {
  readonly file: string
  readonly kind: 'written' | 'removed' | 'held' | 'unchanged' | 'refused'
  /** The version, by which it can be shown, compared and taken back; of a held one the number to accept it by. */
  readonly version: number | null
  /** What was really written: without secrets and hidden characters. */
  readonly text: string | null
  readonly by: Provenance
  readonly code: FailureCode | null
  readonly why: string
  readonly notes: readonly string[]
}

export interface SaveSetOptions {
  readonly via: Writer
  /** What it does, a line each. */
  readonly report: readonly string[]
  /** The user asked for exactly this, so nothing of it waits for review. */
  readonly isAsked: boolean
}

export interface SavedSet {
  readonly applied: readonly Applied[]
  readonly dropped: readonly string[]
  /** By which it can be taken back whole; null where the store cannot. */
  readonly set: string | null
}

/** What consolidation asks of a store beside the port of everybody. */
export interface MemorySets {
  /** When the last consolidation that ended well began, in milliseconds since the epoch; 0 for never. */
  last(): Promise<Result<{ readonly at: number }>>
  /** Begins one, after what an earlier one left half made. Null: somebody else is at it, wherever it runs. */
  begin(): Promise<Result<{ readonly begun: BegunConsolidation | null }>>
  /** All of it or nothing: one change that may not be made is a failure with its reason. */
  save(changes: readonly SourcedChange[], options: SaveSetOptions): Promise<Result<SavedSet>>
}

export interface BegunConsolidation {
  /** Lets others begin; only one that ended well counts as the last. */
  end(how: 'done' | 'failed'): Promise<Result<object>>
}

export interface SearchHit {
  readonly memory: Memory
  readonly score: number
}

export interface MemoryStore {
  readonly scope: MemoryScope
  /** The folder under which memories are named by path. */
  readonly root: string
  /** The newest `most`, each with what is known of exactly these bytes. A store without memories lists none. */
  list(most?: number): Promise<Result<Listing>>
  /** One with its text; `not-found` where there is none. */
  read(file: string): Promise<Result<{ readonly memory: Memory; readonly text: string }>>
  /** Judged, then written with its origin. A refusal is an outcome; only a store that does not work fails. */
  save(
    change: MemoryChange,
    by: Provenance,
    options: SaveOptions,
  ): Promise<Result<{ readonly applied: Applied; readonly dropped: readonly string[] }>>
  /** The best fitting first. */
  search(
    query: string,
    most: number,
    signal: AbortSignal,
  ): Promise<Result<{ readonly hits: readonly SearchHit[] }>>
  /** Left out by a store that makes no change sets: its memories are not consolidated. */
  readonly sets?: MemorySets | undefined
}

/** A store whose memories can be consolidated. */
export type SetStore = MemoryStore & { readonly sets: MemorySets }

export const hasSets = (store: MemoryStore): store is SetStore => store.sets !== undefined
