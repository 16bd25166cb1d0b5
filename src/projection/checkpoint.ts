// A fold kept as a small state and the ranges of entries it needs besides: law P5, checkpoint plus tail equals
// everything. Derived and versioned: a checkpoint of another version is not read but rebuilt from the transcript.
import { isKnown, type Entry, type Range, type StoredEntry } from '../transcript/fact.ts'
import { Fold, keptUnits, type FoldNumbers } from './fold.ts'

/** Changes when a fold would read kept state differently. */
export const foldVersion = 1

export interface FoldState {
  readonly version: typeof foldVersion
  readonly controls: readonly Entry[]
  readonly numbers: FoldNumbers
}

/** The state of a fold and what must be read back with it. What edits hide leaves the fold's memory as well. */
export function checkpointOf(fold: Fold): { readonly state: FoldState; readonly needs: readonly Range[] } {
  fold.evict()
  const { cut, evicted } = fold.numbers
  const numbers = { ...fold.numbers, cut: [...cut], evicted: [...evicted] }
  const state: FoldState = { version: foldVersion, controls: [...fold.edits.controls], numbers }
  return { state, needs: fold.units.ranges() }
}

/** The fold as it was at the checkpoint, from its state and the entries of the ranges it needs; null if it cannot be. */
export function restore(state: unknown, entries: Iterable<StoredEntry>): Fold | null {
  if (!isFoldState(state)) return null
  const fold = new Fold()
  const { cut, evicted } = state.numbers
  Object.assign(fold.numbers, state.numbers, { cut: [...cut], evicted: [...evicted] })
  fold.edits.supply(state.controls)
  for (const entry of entries) {
    if (!isKnown(entry) || fold.numbers.cut.some((range) => entry.seq >= range.from && entry.seq <= range.to))
      continue
    if (fold.edits.topAt(entry.seq) === undefined) fold.take(entry)
    else for (const unit of keptUnits([entry])) fold.units.push(unit)
  }
  fold.render()
  return fold
}

function isFoldState(state: unknown): state is FoldState {
  return (
    typeof state === 'object' && state !== null && (state as { version?: unknown }).version === foldVersion
  )
}
