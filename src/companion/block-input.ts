// What a block is made of and what it tells of itself. Only typed words are ever quoted; everything else is a name or a count.

/** A message as the user typed it, seen by our own hook: a line in the client's file is no user's word. */
export interface TypedWords {
  readonly text: string
  /** Its number in the session; larger is newer. */
  readonly order: number
  /** Milliseconds since the epoch, or null. */
  readonly at: number | null
}

/** From the client's list, which a model writes: its words are shown only where the user typed the same. */
export interface OpenTask {
  readonly text: string
  readonly isStarted?: boolean | undefined
}

/** A file that exists below the working folder; the caller has looked. The newest first. */
export interface FileAtWork {
  readonly path: string
  readonly edits?: number | undefined
}

export interface FailedCommand {
  readonly program: string
  readonly exitCode: number | null
}

/** Where the session can be read: a file with its lines. */
export interface WayBack {
  readonly file: string
  readonly from: number
  readonly to: number
}

export interface BlockInput {
  readonly session: string
  /** Which compaction it follows: any text that is the same when asked again. */
  readonly boundary: string
  /** The program, by the beginning of its name. */
  readonly client: string
  readonly typed: readonly TypedWords[]
  readonly tasks?: readonly OpenTask[] | undefined
  readonly files?: readonly FileAtWork[] | undefined
  /** The working folder: paths below it are written whole. */
  readonly folder?: string | undefined
  /** The newest first. */
  readonly failures?: readonly FailedCommand[] | undefined
  readonly wayBack?: WayBack | undefined
  /** What is in sight anyway, where that is known: the client's summary, the messages it kept, the block. */
  readonly shown?: string | undefined
  /** Characters; the default is what every client passes whole. */
  readonly budget?: number | undefined
}

/** In the order in which room is given. */
const itemKinds = ['newest', 'first', 'rules', 'task', 'words', 'file', 'failure'] as const
export type ItemKind = (typeof itemKinds)[number]

export interface BlockItem {
  readonly kind: ItemKind
  /** `ends`: head and tail of something long; `sentences`: those of a message that are rules. */
  readonly form: 'whole' | 'ends' | 'sentences'
  /** The message it is from. */
  readonly order?: number | undefined
  readonly text: string
}

export interface Block {
  readonly id: string
  /** Empty where there is nothing to say. */
  readonly text: string
  readonly included: readonly BlockItem[]
  /** What did not fit. */
  readonly left: readonly BlockItem[]
}
