// Heights of rows with their running sums: which row stands at a pixel, and where a row begins, in as many steps as the
// count has bits, also after single heights have changed.

export class Heights {
  #sums: Float64Array
  #own: Float32Array
  #count: number
  readonly usual: number

  constructor(count: number, usual: number) {
    this.usual = usual
    this.#count = count
    const room = roomFor(count)
    this.#own = new Float32Array(room).fill(usual)
    this.#sums = sumsOf(this.#own)
  }

  get count(): number {
    return this.#count
  }

  /** More rows at the end, of the usual height; fewer are forgotten. */
  resize(count: number): void {
    if (count > this.#own.length) {
      const own = new Float32Array(roomFor(count)).fill(this.usual)
      own.set(this.#own)
      this.#own = own
      this.#sums = sumsOf(own)
    } else for (let row = count; row < this.#count; row++) this.set(row, this.usual)
    this.#count = count
  }

  set(row: number, height: number): void {
    const change = height - this.#own[row]!
    if (change === 0) return
    this.#own[row] = height
    for (let at = row + 1; at < this.#sums.length; at += at & -at) this.#sums[at]! += change
  }

  heightOf(row: number): number {
    return this.#own[row] ?? this.usual
  }

  /** Pixels above a row. */
  topOf(row: number): number {
    let sum = 0
    for (let at = Math.min(row, this.#count); at > 0; at -= at & -at) sum += this.#sums[at]!
    return sum
  }

  get total(): number {
    return this.topOf(this.#count)
  }

  /** The row that a pixel falls on. */
  rowAt(pixel: number): number {
    let at = 0
    let left = pixel
    for (let step = highestBit(this.#sums.length - 1); step > 0; step >>= 1) {
      const next = at + step
      if (next < this.#sums.length && this.#sums[next]! <= left) {
        at = next
        left -= this.#sums[next]!
      }
    }
    return Math.max(0, Math.min(at, this.#count - 1))
  }
}

const highestBit = (value: number): number => (value <= 0 ? 0 : 2 ** (31 - Math.clz32(value)))

/** Appends should rarely copy. */
const roomFor = (count: number): number => Math.max(64, Math.ceil(count * 1.25))

function sumsOf(own: Float32Array): Float64Array {
  const sums = new Float64Array(own.length + 1)
  for (let at = 1; at < sums.length; at++) {
    sums[at]! += own[at - 1]!
    const up = at + (at & -at)
    if (up < sums.length) sums[up]! += sums[at]!
  }
  return sums
}
