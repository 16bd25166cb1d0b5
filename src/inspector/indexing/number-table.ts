// Rows of numbers, kept as columns in blocks: a million rows take their bytes and no objects, and growing copies nothing.
import { firstFrom } from '../columns.ts'

const makers = {
  u8: (size: number) => new Uint8Array(size),
  u16: (size: number) => new Uint16Array(size),
  u32: (size: number) => new Uint32Array(size),
  i32: (size: number) => new Int32Array(size),
  f32: (size: number) => new Float32Array(size),
  f64: (size: number) => new Float64Array(size),
  /** A whole number that may be unknown (NaN): kept one higher, 0 where it is not known. */
  count: (size: number) => new Uint32Array(size),
}
type ColumnType = keyof typeof makers
type Block = ReturnType<(typeof makers)[ColumnType]>

interface Column {
  readonly type: ColumnType
  readonly blocks: Block[]
}

const blockRows = 4096

export class NumberTable<Name extends string> {
  readonly #columns: ReadonlyMap<Name, Column>
  #length = 0

  constructor(types: Readonly<Record<Name, ColumnType>>) {
    const names = Object.keys(types) as Name[]
    this.#columns = new Map(names.map((name) => [name, { type: types[name], blocks: [] }]))
  }

  get length(): number {
    return this.#length
  }

  /** Clamped to what the column holds. */
  push(row: Readonly<Record<Name, number>>): void {
    if (this.#length % blockRows === 0) this.#grow()
    this.put(this.#length++, row)
  }

  get(row: number, name: Name): number {
    return row < this.#length ? valueAt(this.#columns.get(name)!, row) : Number.NaN
  }

  put(row: number, values: Readonly<Partial<Record<Name, number>>>): void {
    for (const name of this.#columns.keys()) {
      const value = values[name]
      if (value !== undefined) this.set(row, name, value)
    }
  }

  set(row: number, name: Name, value: number): void {
    const { type, blocks } = this.#columns.get(name)!
    const block = blocks[Math.floor(row / blockRows)]
    if (block !== undefined) block[row % blockRows] = fitting(value, type)
  }

  /** A column from one row to before another, in an array of the caller's. */
  copied<T extends { [row: number]: number }>(into: T, name: Name, from: number, to: number): T {
    const column = this.#columns.get(name)!
    for (let row = from; row < to; row++) into[row - from] = valueAt(column, row)
    return into
  }

  sum(name: Name, from: number, to: number): number {
    const column = this.#columns.get(name)!
    let sum = 0
    for (let row = from; row < to; row++) sum += valueAt(column, row)
    return sum
  }

  /** The first row whose value in a rising column is not below. */
  firstFrom(name: Name, value: number): number {
    return firstFrom(this.#length, (row) => this.get(row, name) < value)
  }

  /** The columns one after the other, shared and not copied. */
  *bytes(): Generator<Uint8Array> {
    for (const { blocks } of this.#columns.values())
      for (const [at, { buffer, BYTES_PER_ELEMENT }] of blocks.entries())
        yield new Uint8Array(
          buffer,
          0,
          Math.min(blockRows, this.#length - at * blockRows) * BYTES_PER_ELEMENT,
        )
  }

  /** How many bytes that many rows are. */
  bytesOf(rows: number): number {
    return [...this.#columns.values()].reduce(
      (sum, { type }) => sum + makers[type](0).BYTES_PER_ELEMENT * rows,
      0,
    )
  }

  /** Takes rows of such bytes, which `read` puts where it is told. */
  async load(rows: number, read: (into: Uint8Array) => Promise<void>): Promise<void> {
    while (this.#length < rows) {
      this.#grow()
      this.#length = Math.min(rows, this.#length + blockRows)
    }
    for (const bytes of this.bytes()) await read(bytes)
  }

  #grow(): void {
    for (const { type, blocks } of this.#columns.values()) blocks.push(makers[type](blockRows))
  }
}

function valueAt({ type, blocks }: Column, row: number): number {
  const value = blocks[Math.floor(row / blockRows)]?.[row % blockRows] ?? Number.NaN
  return type !== 'count' ? value : value === 0 ? Number.NaN : value - 1
}

const most: Readonly<Record<Exclude<ColumnType, 'f32' | 'f64' | 'count'>, readonly [number, number]>> = {
  u8: [0, 0xff],
  u16: [0, 0xff_ff],
  u32: [0, 0xff_ff_ff_ff],
  i32: [-0x80_00_00_00, 0x7f_ff_ff_ff],
}

function fitting(value: number, type: ColumnType): number {
  if (type === 'f32' || type === 'f64') return value
  if (type === 'count') return Number.isNaN(value) ? 0 : fitting(value + 1, 'u32')
  const [low, high] = most[type]
  return Math.max(low, Math.min(high, Math.round(value)))
}
