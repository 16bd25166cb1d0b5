// What an install would write, as data: each file with its text before and after. Nothing is read or written here.

export const installClients = ['claude', 'codex', 'opencode'] as const
export type InstallClient = (typeof installClients)[number]

export interface InstallPlace {
  /** The companion's own folder. */
  readonly root: string
  /** Folders of the clients, as their variables or defaults name them. */
  readonly claude: string
  readonly codex: string
  readonly opencode: string
  /** The program that runs the bundle. */
  readonly node: string
  /** The command that serves memories and audits; null where it lies in a cache that may be emptied. */
  readonly pal: string | null
  /** The plugin of opencode, as it was bundled. */
  readonly opencodePlugin: string
}

export interface PlannedFile {
  readonly path: string
  /** Null where there was none. */
  readonly before: string | null
  readonly after: string
  /** A file of the user's to which entries are added; else one of ours. */
  readonly isShared: boolean
}

export interface InstallPlan {
  readonly files: readonly PlannedFile[]
  /** What the user must know or do. */
  readonly notes: readonly string[]
}

/** The file as it is now, or null. */
export type ReadText = (path: string) => string | null

export const hookName = 'hook.cjs'

const plainWord = /^[\w./:@%+=-]+$/

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
  plainWord.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

export const hookCommand = ({ node, root }: InstallPlace, ...words: readonly string[]): string =>
  [node, `${root}/${hookName}`, ...words].map(quoted).join(' ')

/** How long a client may wait for a hook at most; its own clock is far shorter. */
export const hookSeconds = 2

export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
