// Chance that comes out the same each time: a small generator of numbers (mulberry32), begun with a seed.

export interface Chance {
  /** At least 0 and below 1. */
  next(): number
  /** A whole number, both ends included. */
  between(least: number, most: number): number
  pick<T>(list: readonly T[]): T
  isLikely(share: number): boolean
}

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    between,
    pick: (list) => list[between(0, list.length - 1)]!,
    isLikely: (share) => next() < share,
  }
}
