// Every removal, as a list: what left the view or was too large to enter it, by whom, why, how many tokens, what it was expected to save,
// and the place by which it is taken back. Nothing is kept for it: it is read from the entries.
import {
  isEditing,
  isKnown,
  type Declined,
  type Edit,
  type EditPrice,
  type Range,
  type StoredEntry,
} from '../transcript/fact.ts'
import { textIn, type UserBlock } from '../transcript/content.ts'
import type { Seq } from '../transcript/ids.ts'
import type { Fold } from './fold.ts'
import { rangeOf } from './folding/live-edits.ts'
import { estimateText } from './tokens.ts'

export interface EditRow {
  /** The place of the edit: `undo` takes it. */
  readonly seq: Seq
  readonly at: number
  readonly layer: string
  readonly asked: 'user' | 'model' | 'automatic'
  readonly why: string
  /** What it does, and to how many blocks or spans. */
  readonly does: readonly { readonly kind: Edit['kind'] | 'spill'; readonly count: number }[]
  /** The entries it touches, from the first to the last; null when it names none. */
  readonly range: Range | null
  readonly tokensFreed: number
  /** Dollars it was expected to save over the rest of the session, where the choice was priced. */
  readonly saved: number | null
  /** The numbers of the choice, as they were written down. */
  readonly price: EditPrice | undefined
  readonly state: 'live' | 'undone' | 'rewound'
  /** What an undo restored stays until this number is released. */
  readonly hold?: Seq | undefined
}

/** A reduction that was weighed before a request and left, since it would have cost more than it saved. */
export interface DeclinedRow extends Declined {
  /** The place of that request. */
  readonly seq: Seq
  readonly at: number
}

/** The removals among these entries, oldest first. Entries may come in pieces of a stream. */
export function editRows(entries: Iterable<StoredEntry>): readonly EditRow[] {
  const list = new EditList()
  for (const entry of entries) list.push(entry)
  return list.rows()
}

/** Those the fold has in memory: everything but results that were too large when they came, and what a compaction
 * already covers and eviction has left out. */
export const editsOf = (fold: Fold): readonly EditRow[] => editRows(fold.edits.controls)

/** What an `EditList` has read so far, to go on from later. */
export interface EditListState {
  readonly rows: readonly EditRow[]
  readonly declined: readonly DeclinedRow[]
  readonly undoneAt: readonly (readonly [edit: Seq, undo: Seq])[]
}

/** Collects the removals of a session from its entries. */
export class EditList {
  readonly #rows: Map<Seq, EditRow>
  readonly #declined: DeclinedRow[]
  /** Where each was undone: a rewind to before that takes the undo with it. */
  readonly #undoneAt: Map<Seq, Seq>

  constructor({ rows, declined, undoneAt }: EditListState = { rows: [], declined: [], undoneAt: [] }) {
    this.#rows = new Map(rows.map((row) => [row.seq, row]))
    this.#declined = [...declined]
    this.#undoneAt = new Map(undoneAt)
  }

  state(): EditListState {
    return { rows: this.rows(), declined: this.#declined, undoneAt: [...this.#undoneAt] }
  }

  push(entry: StoredEntry): void {
    if (!isKnown(entry)) return
    const { fact, seq, at } = entry
    if (fact.type === 'undo') {
      this.#undoneAt.set(fact.target, seq)
      this.#mark((row) => row.seq === fact.target, 'undone', seq)
    } else if (fact.type === 'release') {
      this.#mark((row) => row.hold === fact.target, 'undone')
    } else if (fact.type === 'rewind') {
      this.#mark((row) => row.state === 'undone' && this.#undoneAt.get(row.seq)! > fact.to, 'live')
      this.#mark((row) => row.seq > fact.to && row.state === 'live', 'rewound')
    } else if (fact.type === 'request-sent')
      for (const one of fact.declined ?? []) this.#declined.push({ seq, at, ...one })
    else if (fact.type === 'tool-result' && fact.spill !== undefined)
      this.#rows.set(seq, spillRow(seq, at, fact.content, fact.spill.bytes))
    else if (isEditing(fact)) {
      const { layer, asked, why, edits, tokensFreed, price } = fact
      const range = spanOf(edits)
      const saved = netOf(price)
      const row = { seq, at, layer, asked, why, does: countsOf(edits), range, tokensFreed, saved, price }
      this.#rows.set(seq, { ...row, state: 'live' })
    }
  }

  rows(): readonly EditRow[] {
    return [...this.#rows.values()]
  }

  declined(): readonly DeclinedRow[] {
    return this.#declined
  }

  #mark(isMeant: (row: EditRow) => boolean, state: EditRow['state'], hold?: Seq): void {
    for (const row of this.#rows.values()) if (isMeant(row)) this.#rows.set(row.seq, { ...row, state, hold })
  }
}

/** The name under which results are listed that were too large when they came. */
export const resultLimitName = 'result-limit'
/** What is kept elsewhere is known by its bytes alone. */
const bytesPerToken = 4

function spillRow(seq: Seq, at: number, shown: readonly UserBlock[], bytes: number): EditRow {
  return {
    seq,
    at,
    layer: resultLimitName,
    asked: 'automatic',
    why: `a tool gave ${bytes} bytes, more than enters the context at once: both ends of it are shown`,
    does: [{ kind: 'spill', count: 1 }],
    range: { from: seq, to: seq },
    tokensFreed: Math.max(0, Math.round(bytes / bytesPerToken) - estimateText(textIn(shown))),
    saved: null,
    price: undefined,
    state: 'live',
  }
}

function countsOf(edits: readonly Edit[]): EditRow['does'] {
  const counts = new Map<Edit['kind'], number>()
  for (const edit of edits)
    counts.set(edit.kind, (counts.get(edit.kind) ?? 0) + (edit.kind === 'remote' ? edit.at.length : 1))
  return [...counts].map(([kind, count]) => ({ kind, count }))
}

function spanOf(edits: readonly Edit[]): Range | null {
  const ranges = edits.flatMap((edit) => rangeOf(edit) ?? [])
  if (ranges.length === 0) return null
  const first = ranges.reduce((a, b) => (b.from < a.from ? b : a))
  const last = ranges.reduce((a, b) => (b.to > a.to ? b : a))
  return { from: first.from, to: last.to }
}

const netOf = (price: EditPrice | undefined): number | null =>
  price?.kind === undefined ? null : (price.net ?? null)
