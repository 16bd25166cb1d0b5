// Ranges of places that are in order and apart from each other.
import type { Range } from '../transcript/fact.ts'

/** Whether one of the ranges holds this place. */
export function holds(ranges: readonly Range[], place: number): boolean {
  let low = 0
  let high = ranges.length - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const range = ranges[middle]!
    if (place < range.from) high = middle - 1
    else if (place > range.to) low = middle + 1
    else return true
  }
  return false
}
