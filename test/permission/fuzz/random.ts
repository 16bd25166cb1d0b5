// A small generator of numbers that gives the same for the same seed on every machine.
export interface Random {
  /** A whole number below `bound`. */
  below(bound: number): number
  chance(share: number): boolean
  pick<T>(items: readonly T[]): T
}

export function randomFrom(seed: number, index: number): Random {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35)) >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (bound: number): number => Math.floor(next() * bound)
  return { below, chance: (share) => next() < share, pick: (items) => items[below(items.length)]! }
}
