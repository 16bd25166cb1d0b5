// Rows of numbers, kept as columns that grow: a million rows take their bytes and no objects.

const makers = {
  u8: (size: number) => new Uint8Array(size),
  u16: (size: number) => new Uint16Array(size),
  u32: (size: number) => new Uint32Array(size),
  i32: (size: number) => new Int32Array(size),
  f32: (size: number) => new Float32Array(size),
  f64: (size: number) => new Float64Array(size),
}
type ColumnType = keyof typeof makers
type Column = ReturnType<(typeof makers)[ColumnType]>

const firstRows = 256
/** Twice as much would be held in vain by a table of a million rows. */
const growth = 1.3

export class NumberTable<Name extends string> {
  readonly #types: Readonly<Record<Name, ColumnType>>
  readonly #columns = new Map<Name, Column>()
  #length = 0
  #room = firstRows

  constructor(types: Readonly<Record<Name, ColumnType>>) {
    this.#types = types
    for (const name of this.names) this.#columns.set(name, makers[types[name]](firstRows))
  }

  get names(): readonly Name[] {
    return Object.keys(this.#types) as Name[]
  }

  get length(): number {
    return this.#length
  }

  /** Clamped to what the column holds. */
  push(row: Readonly<Record<Name, number>>): void {
    if (this.#length === this.#room) this.#grow()
    for (const [name, column] of this.#columns) column[this.#length] = fitting(row[name], this.#types[name])
    this.#length++
  }

  get(row: number, name: Name): number {
    return this.#columns.get(name)![row] ?? Number.NaN
  }

  set(row: number, name: Name, value: number): void {
    this.#columns.get(name)![row] = fitting(value, this.#types[name])
  }

  /** A part of a column, shared and not copied. */
  column(name: Name, from = 0, to = this.#length): Column {
    return this.#columns.get(name)!.subarray(from, to)
  }

  /** The first row whose value in a rising column is not below. */
  firstFrom(name: Name, value: number): number {
    const column = this.#columns.get(name)!
    let [low, high] = [0, this.#length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (column[middle]! < value) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The columns one after the other. */
  bytes(): readonly Uint8Array[] {
    return this.names.map((name) => {
      const column = this.column(name)
      return new Uint8Array(column.buffer, column.byteOffset, column.byteLength)
    })
  }

  /** Takes rows from such bytes; says how many bytes they were, or null where there are too few. */
  load(bytes: Uint8Array, rows: number): number | null {
    let offset = 0
    for (const name of this.names) {
      const column = makers[this.#types[name]](Math.max(firstRows, rows))
      const size = column.BYTES_PER_ELEMENT * rows
      if (offset + size > bytes.length) return null
      new Uint8Array(column.buffer, 0, size).set(bytes.subarray(offset, offset + size))
      this.#columns.set(name, column)
      offset += size
    }
    this.#length = rows
    this.#room = Math.max(firstRows, rows)
    return offset
  }

  #grow(): void {
    this.#room = Math.ceil(this.#room * growth)
    for (const [name, column] of this.#columns) {
      const larger = makers[this.#types[name]](this.#room)
      larger.set(column)
      this.#columns.set(name, larger)
    }
  }
}

const most: Readonly<Record<ColumnType, readonly [number, number]>> = {
  u8: [0, 0xff],
  u16: [0, 0xff_ff],
  u32: [0, 0xff_ff_ff_ff],
  i32: [-0x80_00_00_00, 0x7f_ff_ff_ff],
  f32: [-Infinity, Infinity],
  f64: [-Infinity, Infinity],
}

function fitting(value: number, type: ColumnType): number {
  const [low, high] = most[type]
  return type === 'f64' || type === 'f32' ? value : Math.max(low, Math.min(high, Math.round(value)))
}
