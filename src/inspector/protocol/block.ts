// Screen B: one block and its whole life.

export interface BlockDetail {
  readonly seq: number
  readonly block: number
  readonly kind: string
  /** Tool and a short form of its input, for calls and results. */
  readonly label: string | null
  readonly tokens: number
  readonly sha256: string
  readonly spill: { readonly blob: string; readonly bytes: number } | null
  readonly born: {
    readonly at: number
    /** The answer with the call, and the input that led to it. */
    readonly call: number | null
    readonly asked: { readonly seq: number; readonly text: string } | null
  }
  readonly isPinned: boolean
  /** Place of the pin, to release it by. */
  readonly pin: number | null
  readonly isHeld: boolean
  /** Its life, oldest first: from one change of its state to the next. */
  readonly intervals: readonly BlockInterval[]
  readonly total: CarriedPrice
  /** Places that name its file or its telling words again later. */
  readonly namedAgain: readonly { readonly seq: number; readonly words: string }[]
  /** Memories that were saved from the stretch of entries it stands in. */
  readonly memories: readonly { readonly store: string; readonly file: string; readonly version: number }[]
}
export interface BlockInterval {
  readonly state: 'whole' | 'stub' | 'summarised' | 'excerpt' | 'removed' | 'rewound'
  /** The fact that began it (its own entry, an edit, an undo, a rewind). */
  readonly since: number
  /** The fact that ended it, or null: it lasts. */
  readonly until: number | null
  /** Layer and reason of the edit. */
  readonly layer: string | null
  readonly asked: string | null
  readonly why: string | null
  /** What stands for it meanwhile, shortened: the stub, the line of the summary that names it. */
  readonly text: string | null
  /** Tokens it takes in a request meanwhile. */
  readonly tokens: number
  /** The first and last request (numbers) that carried it in this state; null: none did. */
  readonly requests: { readonly first: number; readonly last: number } | null
  readonly price: CarriedPrice
}
/** How often something was sent, and what for. */
export interface CarriedPrice {
  readonly requests: number
  /** Requests in which it was plain input, written to the cache, read from it. */
  readonly input: number
  readonly written: number
  readonly read: number
  readonly dollars: number
  /** Requests without a known price: in no sum of dollars. */
  readonly unpriced: number
}
