// Where a long list stands. Browsers cap the height of an element, so beyond that cap the scroll space is scaled: a drag of
// the bar moves through all of it, a turn of the wheel still moves by pixels.

/** Chromium caps at 33 million pixels, Firefox at 17. */
const mostPixels = 15_000_000
/** Rows kept ready above and below what is seen. */
const spare = 4
/** A scroll by more than this many screens was a drag or a jump. */
const jumpScreens = 3

/** Where the list stands: an offset in its own pixels, and the element's scroll position that goes with it. */
export class Scroll {
  readonly rowHeight: number
  count: number
  view = 600
  #offset = 0
  #last = 0

  constructor(count: number, rowHeight: number) {
    this.count = count
    this.rowHeight = rowHeight
  }

  get #total(): number {
    return this.count * this.rowHeight
  }

  get space(): number {
    return Math.min(mostPixels, this.#total)
  }

  get #scale(): number {
    const room = this.space - this.view
    return room <= 0 ? 1 : Math.max(1, (this.#total - this.view) / room)
  }

  get isAtEnd(): boolean {
    return this.count === 0 || this.#offset >= this.#end - this.rowHeight
  }

  get #end(): number {
    return Math.max(0, this.#total - this.view)
  }

  inSight(): readonly [from: number, to: number] {
    const from = Math.floor(this.#offset / this.rowHeight) - spare
    const to = Math.floor((this.#offset + this.view) / this.rowHeight) + 1 + spare
    return [Math.max(0, Math.min(from, this.count - 1)), Math.min(this.count, to)]
  }

  /** Where a row stands in the element. */
  placeOf(row: number): number {
    return row * this.rowHeight - this.#offset + this.#offset / this.#scale
  }

  to(offset: number): void {
    this.#offset = Math.max(0, Math.min(offset, this.#end))
  }

  /** Moves so far that a row is seen whole; says whether it moved. */
  show(row: number): boolean {
    const top = row * this.rowHeight
    const bottom = top + this.rowHeight
    const room = this.view
    if (top >= this.#offset && bottom <= this.#offset + room) return false
    const isFar = Math.abs(top - this.#offset) > this.view * 1.5
    this.to(isFar ? top - room / 2 : top < this.#offset ? top : bottom - room)
    return true
  }

  toEnd(element: { scrollTop: number }): void {
    this.to(this.#end)
    this.sync(element)
  }

  sync(element: { scrollTop: number }): void {
    element.scrollTop = this.#offset / this.#scale
    this.#last = element.scrollTop
  }

  /** Takes the element's position over; says whether that moved anything. */
  scrolled(element: { scrollTop: number }): boolean {
    const moved = element.scrollTop - this.#last
    if (moved === 0) return false
    this.#last = element.scrollTop
    const scale = this.#scale
    if (scale === 1 || Math.abs(moved) > this.view * jumpScreens) this.to(element.scrollTop * scale)
    else {
      this.to(this.#offset + moved)
      this.sync(element)
    }
    return true
  }
}
