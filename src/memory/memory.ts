// What a memory is, and where it came from.
//
// A memory is a markdown file with frontmatter (`format/frontmatter`) in a folder of memories. Who said it, and how far
// it may be trusted, is not in the file: files can be written by anybody. It is in the ledger beside the folder, bound
// to the bytes it was said of (`keeping/ledger`), so that a file changed by somebody else is a file nobody vouches for.
//
// Law M1: trust never rises on its own. Only a person raises it, by accepting exactly these bytes.

export const memoryTypes = ['user', 'feedback', 'project', 'reference'] as const
export type MemoryType = (typeof memoryTypes)[number]

/** Weakest first. What stands here is set by code from what was read; no text can claim it. */
export const trustLevels = ['data', 'model', 'confirmed', 'user', 'policy'] as const
export type Trust = (typeof trustLevels)[number]

/** `outside`: the file was changed by something that is not this program. */
export const sourceKinds = ['user', 'model', 'tool', 'web', 'outside'] as const
export type SourceKind = (typeof sourceKinds)[number]

export interface Provenance {
  readonly kind: SourceKind
  readonly trust: Trust
  /** The session it was learnt in, and the entry that wrote it. */
  readonly session: string | null
  readonly message: string | null
  /** What had been read by then: tools, or addresses, each once. */
  readonly from: readonly string[]
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** An origin that no session stands behind: a job, or a person who accepts. */
export const sessionless = (
  kind: SourceKind,
  trust: Trust,
  at: number,
  from: readonly string[] = [],
): Provenance => ({
  kind,
  trust,
  session: null,
  message: null,
  from,
  at,
})

/**
 * `open`: may be put before the model by itself. `fenced`: only found by searching, and shown as data. `held`: shown to
 * nobody but the user, until accepted.
 */
export type Standing = 'open' | 'fenced' | 'held'

/** What the frontmatter says. */
export interface MemoryHead {
  readonly name: string
  /** One specific line. */
  readonly description: string
  /** Null where none of the four is named. */
  readonly type: MemoryType | null
  /** Words a user would type when this matters. */
  readonly triggers: readonly string[]
  /** Files of this folder that it takes the place of. */
  readonly supersedes: readonly string[]
  /** A day as 2026-03-01 from which on it no longer holds. */
  readonly expires: string | null
  /** "since 2026-03-01: why", where the project no longer shows what it says. */
  readonly doubtful?: string | undefined
}

export const noHead: MemoryHead = {
  name: '',
  description: '',
  type: null,
  triggers: [],
  supersedes: [],
  expires: null,
}

export interface Memory extends MemoryHead {
  /** Its path in the folder of memories, with slashes. */
  readonly file: string
  readonly bytes: number
  readonly modifiedMs: number
  readonly sha256: string
  /** The first lines below the frontmatter. */
  readonly opening: string
  readonly standing: Standing
  /** Null where the ledger does not know these bytes. */
  readonly provenance: Provenance | null
}

/** A folder of memories and the folder in which this program keeps what it knows about them. */
export interface MemoryPlace {
  readonly scope: MemoryScope
  readonly root: string
  /** Never inside `root`: nobody who may write memories may write this. */
  readonly state: string
}
export type MemoryScope = 'user' | 'project' | 'team' | 'agent'

export const indexName = 'MEMORY.md'
/** Diaries lie below it; they are neither listed nor recalled. */
export const diaryFolder = 'logs'

export const weakest = (levels: readonly Trust[]): Trust =>
  trustLevels.find((level) => levels.includes(level)) ?? 'data'

/** A rule or preference says what to do; the other types say what is so. */
export const isRule = ({ type }: Pick<MemoryHead, 'type'>): boolean => type === 'user' || type === 'feedback'

/**
 * Whether it may stand before the model unasked. What only data says may not, nor a rule that the model worded and nobody
 * is shown to have said: it is an observation, found by searching.
 */
export const isOpen = (trust: Trust, head: Pick<MemoryHead, 'type'>): boolean =>
  trust !== 'data' && !(trust === 'model' && isRule(head))

/** Whether a person said it or agreed to it. */
export const isPersons = ({ provenance }: Pick<Memory, 'provenance'>): boolean =>
  provenance !== null && provenance.trust !== 'data' && provenance.trust !== 'model'
