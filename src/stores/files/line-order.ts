// What the sequence numbers of a transcript tell about what is missing, stands there twice or stands where it does not
// belong. An entry is held until the next one has come, since only both neighbours say whether it is in its place; damage is
// held as well, because only the neighbours say which places were lost in it. A checksum vouches for a place: a line without
// one never takes the place of one that has it, and is left out where it alone claims a place far from all others.
import { defaults } from '../../settings/defaults.ts'
import type { StoredEntry } from '../../transcript/fact.ts'
import { seq } from '../../transcript/ids.ts'
import type { Damage, ReadItem } from '../../transcript/store.ts'

export interface Place {
  readonly file: string
  /** Counted from 1; 0 when the reading began in the middle. */
  readonly line: number
  readonly offset: number
  readonly bytes: number
}

export const damageAt = (
  { file, line, offset }: Pick<Place, 'file' | 'line' | 'offset'>,
  what: string,
  done: string,
): Damage => ({ where: `${file}:${line}`, at: offset, what, done })

interface PlacedEntry {
  readonly entry: StoredEntry
  readonly place: Place
  readonly checked: boolean
}

/** Entries and damage in the order of the file in, entries in the order of their numbers and what is lost between them out. */
export class Order {
  readonly #step: 1 | -1
  #last: number | null = null
  #waiting: PlacedEntry | null = null
  /** Damage before the held entry, and after it. */
  #before: Damage[] = []
  #after: Damage[] = []
  #saidUnchecked = false

  /** `step` is 1 when reading forwards and -1 when reading backwards. */
  constructor(step: 1 | -1) {
    this.#step = step
  }

  entry(entry: StoredEntry, place: Place, checked: boolean): readonly ReadItem[] {
    const next = { entry, place, checked }
    const waiting = this.#waiting
    if (this.#last !== null && this.#ahead(this.#last, entry.seq) <= 0) return this.#leaveOut(next, twice)
    if (waiting === null) {
      this.#waiting = next
      return []
    }
    const ahead = this.#ahead(waiting.entry.seq, entry.seq)
    if (ahead > 0) {
      const isFar = !waiting.checked && this.#isFar(waiting, entry.seq)
      const out = isFar ? this.#dropWaiting(outOfPlace) : this.#release()
      this.#waiting = next
      return out
    }
    if (ahead === 0) {
      if (waiting.checked || !checked) return this.#leaveOut(next, twice)
      this.#dropWaiting(twice)
    } else {
      if (waiting.checked && !checked) return this.#leaveOut(next, outOfPlace)
      if (ahead === -1) return this.#swap(next)
      this.#dropWaiting(outOfPlace)
    }
    this.#waiting = next
    return []
  }

  bad(place: Place, what: string): void {
    this.#note(damageAt(place, what, 'skipped, the bytes stay where they are'))
  }

  /** Something to be said that is no loss. */
  say(place: Place, what: string, done: string): void {
    this.#note(damageAt(place, what, done))
  }

  /** What was held back, when nothing more comes. */
  rest(): readonly ReadItem[] {
    const waiting = this.#waiting
    const isFar = waiting !== null && !waiting.checked && this.#isFar(waiting, null)
    const out = waiting === null ? [] : isFar ? this.#dropWaiting(outOfPlace) : this.#release()
    const rest = damageItems([...this.#before, ...this.#after])
    this.#before = []
    this.#after = []
    return [...out, ...rest]
  }

  #ahead(from: number, to: number): number {
    return (to - from) * this.#step
  }

  #note(damage: Damage): void {
    if (this.#waiting === null) this.#before.push(damage)
    else this.#after.push(damage)
  }

  #leaveOut({ entry, place }: PlacedEntry, what: (place: number) => string): readonly ReadItem[] {
    this.#note(damageAt(place, what(entry.seq), 'left out of the reading'))
    return []
  }

  #dropWaiting(what: (place: number) => string): readonly ReadItem[] {
    const { entry, place } = this.#waiting!
    const damage = damageAt(place, what(entry.seq), 'left out of the reading')
    this.#before = [...this.#before, damage, ...this.#after]
    this.#after = []
    this.#waiting = null
    return []
  }

  /** Two neighbours that stand the wrong way round. */
  #swap(next: PlacedEntry): readonly ReadItem[] {
    const waiting = this.#waiting!
    this.#waiting = next
    this.#before = [...this.#before, ...this.#after]
    this.#after = [damageAt(next.place, outOfPlace(next.entry.seq), 'read in order of their numbers')]
    const out = this.#release()
    this.#waiting = waiting
    return out
  }

  /** A place nobody vouches for: far from the entry before it, and from the one after it. */
  #isFar({ entry }: PlacedEntry, next: number | null): boolean {
    const most = defaults.store.uncheckedGap
    // What stands first in the file may be any place: there is nothing before it to be far from.
    if (this.#step === 1 ? this.#last === null : next === null) return false
    const before = this.#last === null ? Infinity : this.#ahead(this.#last, entry.seq)
    const behind = next === null ? Infinity : this.#ahead(entry.seq, next)
    return before > most && behind > most
  }

  #release(): readonly ReadItem[] {
    const { entry, place, checked } = this.#waiting!
    const out = damageItems(this.#losses(entry.seq, place))
    if (!checked && !this.#saidUnchecked) {
      this.#saidUnchecked = true
      const what = 'a line without checksum, written by something else'
      out.push(...damageItems([damageAt(place, what, 'read as it is; further ones are not reported')]))
    }
    this.#last = entry.seq
    this.#waiting = null
    this.#before = this.#after
    this.#after = []
    out.push({ kind: 'entry', entry, bytes: place.bytes })
    return out
  }

  #losses(next: number, place: Place): readonly Damage[] {
    const out = this.#before
    const missing = this.#last === null ? 0 : this.#ahead(this.#last, next) - 1
    if (missing <= 0 || this.#last === null) return out
    const lost = { from: seq(Math.min(this.#last, next) + 1), to: seq(Math.max(this.#last, next) - 1) }
    const first = out[0]
    if (first !== undefined) return [{ ...first, lost }, ...out.slice(1)]
    const what =
      missing === 1 ? `entry ${lost.from} is missing` : `entries ${lost.from} to ${lost.to} are missing`
    return [{ ...damageAt(place, what, 'read on after the gap'), lost }]
  }
}

const twice = (place: number): string => `entry number ${place} occurs a second time`
const outOfPlace = (place: number): string => `entry number ${place} is out of order`

const damageItems = (damages: readonly Damage[]): ReadItem[] =>
  damages.map((damage) => ({ kind: 'damage', damage }))
