// Places in order: what the sequence numbers of a transcript tell about what is missing or stands there twice.
// Damage is held back until the next entry, because only the neighbours say which places were lost in it.
import type { Damage, ReadItem } from '../../../transcript/store.ts'
import type { StoredEntry } from '../../../transcript/fact.ts'
import { seq } from '../../../transcript/ids.ts'

export interface Place {
  readonly file: string
  readonly line: number
  readonly offset: number
  readonly bytes: number
}

export interface Order {
  entry(entry: StoredEntry, place: Place, checked: boolean): readonly ReadItem[]
  bad(place: Place, what: string): void
  /** What was held back, when nothing more comes. */
  rest(): readonly ReadItem[]
}

/** `step` is 1 when reading forwards and -1 when reading backwards. */
export function order(step: 1 | -1): Order {
  let last: number | null = null
  let held: Damage[] = []
  let saidUnchecked = false
  const items = (damages: readonly Damage[]): ReadItem[] =>
    damages.map((damage) => ({ kind: 'damage', damage }))

  const release = (next: number, place: Place): readonly Damage[] => {
    const out = held
    held = []
    const missing = last === null ? 0 : (next - last) * step - 1
    if (missing <= 0 || last === null) return out
    const lost = { from: seq(Math.min(last, next) + 1), to: seq(Math.max(last, next) - 1) }
    const first = out[0]
    if (first !== undefined) return [{ ...first, lost }, ...out.slice(1)]
    const what =
      missing === 1 ? `entry ${lost.from} is missing` : `entries ${lost.from} to ${lost.to} are missing`
    return [{ ...place, bytes: 0, what, done: 'read on after the gap', lost }]
  }

  return {
    entry(entry, place, checked) {
      const out: ReadItem[] = []
      if (last !== null && (entry.seq - last) * step <= 0) {
        held.push({
          ...place,
          what: `place ${entry.seq} is taken a second time`,
          done: 'left out of the reading',
        })
        return out
      }
      out.push(...items(release(entry.seq, place)))
      if (!checked && !saidUnchecked) {
        saidUnchecked = true
        const what = 'a line without checksum, written by something else'
        out.push(...items([{ ...place, what, done: 'read as it is; further ones are not reported' }]))
      }
      last = entry.seq
      out.push({ kind: 'entry', entry })
      return out
    },
    bad(place, what) {
      held.push({ ...place, what, done: 'skipped, the bytes stay where they are' })
    },
    rest() {
      const out = items(held)
      held = []
      return out
    },
  }
}
