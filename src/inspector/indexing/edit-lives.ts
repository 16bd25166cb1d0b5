// When each edit was in force: from the fact that made it to the undo or rewind that took it back, perhaps several times. From
// this the state of any entry at any request is found by comparing places, without folding again.
import { isEditing, type Edit, type Entry, type Range } from '../../transcript/fact.ts'
import { rangeOf } from '../../projection/folding/live-edits.ts'
import { estimateText } from '../../projection/tokens.ts'

/** A stretch of places: from `since` to before `until`. */
export interface Life {
  readonly since: number
  readonly until: number | null
}

export interface EditLife {
  readonly seq: number
  readonly isBoundary: boolean
  readonly layer: string
  /** What of it is in force, without texts. */
  readonly parts: readonly EditPart[]
  lives: Life[]
  /** The undo that ended it last. */
  undo: number | null
}
export interface EditPart {
  readonly kind: Edit['kind']
  readonly from: number
  readonly to: number
  /** Of a stub: the block. Of a clearing: the entries, each with its block. Of a summary: what it shows of its span. */
  readonly blocks: readonly EditedBlock[]
}
export interface EditedBlock {
  readonly seq: number
  readonly block: number
  /** Tokens of what stands for it; −1 where it is shown whole. */
  readonly tokens: number
}
/** Cut off by a rewind, for good. */
export interface Cut extends Range {
  readonly since: number
}

export class EditLives {
  readonly edits: EditLife[]
  readonly cuts: Cut[]

  constructor(edits: EditLife[] = [], cuts: Cut[] = []) {
    this.edits = edits
    this.cuts = cuts
  }

  /** `fits` as the fold judged it before this entry was pushed. */
  push({ seq, fact }: Entry, fits: (range: Range) => boolean): void {
    if (isEditing(fact)) {
      const parts = fact.edits.flatMap((edit) => partOf(edit, seq, fits))
      const isBoundary = fact.type === 'boundary'
      this.edits.push({
        seq,
        isBoundary,
        layer: fact.layer,
        parts,
        lives: [{ since: seq, until: null }],
        undo: null,
      })
    } else if (fact.type === 'undo') this.#end(seq, (edit) => edit.seq === fact.target, true)
    else if (fact.type === 'rewind') this.#rewind(seq, fact.to)
  }

  /** Those that touch an entry, oldest first. */
  touching(place: number): readonly EditLife[] {
    return this.edits.filter(({ parts }) => parts.some((part) => place >= part.from && place <= part.to))
  }

  cutAt(place: number): number | null {
    return this.cuts.find(({ from, to }) => place >= from && place <= to)?.since ?? null
  }

  #end(seq: number, is: (edit: EditLife) => boolean, isUndo: boolean): void {
    for (const edit of this.edits) {
      const last = edit.lives.at(-1)
      if (last === undefined || last.until !== null || !is(edit)) continue
      edit.lives = [...edit.lives.slice(0, -1), { ...last, until: seq }]
      if (isUndo) edit.undo = seq
    }
  }

  /** What was edited after the place is gone with it, and what was undone after it is in force again. */
  #rewind(seq: number, to: number): void {
    this.#end(seq, (edit) => edit.seq > to, false)
    for (const edit of this.edits) {
      if (edit.undo === null || edit.undo <= to || edit.seq > to) continue
      edit.lives = [...edit.lives, { since: seq, until: null }]
      edit.undo = null
    }
    if (to + 1 <= seq - 1) this.cuts.push({ from: to + 1, to: seq - 1, since: seq } as Cut)
  }
}

function partOf(edit: Edit, seq: number, fits: (range: Range) => boolean): readonly EditPart[] {
  const range = rangeOf(edit)
  if (range === null || range.to >= seq || range.to < range.from || !fits(range)) return []
  return [{ kind: edit.kind, from: range.from, to: range.to, blocks: blocksOf(edit) }]
}

function blocksOf(edit: Edit): readonly EditedBlock[] {
  switch (edit.kind) {
    case 'stub':
      return [{ seq: edit.at.seq, block: edit.at.block ?? 0, tokens: estimateText(edit.text) }]
    case 'remote':
      return edit.at.map((at) => ({ seq: at.seq, block: at.block ?? 0, tokens: 0 }))
    case 'summary':
      return edit.keep.map(({ at, head = 0, tail = 0, lines }) => {
        const isWhole = head + tail === 0 && lines === undefined
        const tokens = isWhole ? wholeTokens : Math.ceil((head + tail) / charsPerToken)
        return { seq: at.seq, block: at.block ?? 0, tokens }
      })
    default:
      return []
  }
}

/** Instead of a number of tokens. */
export const wholeTokens = -1
/** An excerpt is known by its characters alone. */
const charsPerToken = 4
