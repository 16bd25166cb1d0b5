// What can be seen in the request that is sent now. Reads the wire and nothing else, so it judges every policy alike.
// A block is read when it comes in and forgotten when it goes.
import type { WireBlock } from '../../model/wire.ts'
import type { PlainBlock } from '../playing/wire-blocks.ts'
import { atomsOf } from './atoms.ts'
import type { Needs, Seen } from './needs.ts'
import { linesOf, textOf, withoutLineNumbers } from './texts.ts'

interface PlainText {
  readonly whole: string
  readonly lines: readonly { readonly bare: string; readonly chars: number }[]
  readonly chars: number
}

export class Sight {
  readonly #needs: Needs
  readonly #plain = new Map<string, PlainText>()
  readonly #visible = new Map<PlainBlock, Seen>()
  readonly #where = new Map<string, Set<PlainBlock>>()

  constructor(needs: Needs) {
    this.#needs = needs
  }

  /** Whether anything that was shown before is gone. */
  look(blocks: readonly PlainBlock[]): boolean {
    const now = new Set(blocks)
    let isLess = false
    for (const block of this.#visible.keys()) {
      if (now.has(block)) continue
      isLess = true
      this.#forget(block)
    }
    for (const block of now) if (!this.#visible.has(block)) this.#read(block)
    return isLess
  }

  /** Somewhere in view, alone or not. */
  shows(atom: string): boolean {
    return (this.#where.get(atom)?.size ?? 0) > 0
  }

  /** In a line that still says something of what it stood with. */
  remembers(atom: string, step: number): boolean {
    const { isOriginal, keepsCompany } = this.#needs
    const places = [...(this.#where.get(atom) ?? [])]
    const lines = (place: PlainBlock): readonly string[] => this.#visible.get(place)!.lines.get(atom)!
    return (
      places.some((place) => lines(place).some((line) => isOriginal(atom, line, step))) ||
      places.some((place) => lines(place).some((line) => keepsCompany(atom, line, step)))
    )
  }

  /** Word for word, line numbers apart. */
  showsText(text: string): boolean {
    for (const seen of this.#visible.values()) if (seen.text.includes(text)) return true
    return false
  }

  /** Share of the characters of a text whose lines stand in what the user side says, results apart. */
  shareOf(text: string): number {
    const said: string[] = []
    for (const [{ role, block }, seen] of this.#visible)
      if (role === 'user' && block.type === 'text') said.push(seen.text)
    const { whole, lines, chars } = this.#plainOf(text)
    if (said.some((one) => one.includes(whole))) return 1
    let kept = 0
    for (const { bare, chars: own } of lines) if (said.some((one) => one.includes(bare))) kept += own
    return chars === 0 ? 1 : kept / chars
  }

  /** A text is asked about again whenever something has gone. */
  #plainOf(text: string): PlainText {
    let plain = this.#plain.get(text)
    if (plain === undefined) {
      const lines = text.split('\n').flatMap((line) => {
        const bare = withoutLineNumbers(line)
        return bare.trim() === '' ? [] : [{ bare, chars: line.length }]
      })
      plain = {
        whole: withoutLineNumbers(text),
        lines,
        chars: lines.reduce((sum, line) => sum + line.chars, 0),
      }
      this.#plain.set(text, plain)
    }
    return plain
  }

  #read(place: PlainBlock): void {
    const { read } = this.#needs
    const seen = read.get(place) ?? this.#seenIn(place.block)
    read.set(place, seen)
    this.#visible.set(place, seen)
    for (const atom of seen.lines.keys()) {
      const places = this.#where.get(atom)
      if (places === undefined) this.#where.set(atom, new Set([place]))
      else places.add(place)
    }
  }

  #forget(place: PlainBlock): void {
    for (const atom of this.#visible.get(place)!.lines.keys()) this.#where.get(atom)?.delete(place)
    this.#visible.delete(place)
  }

  #seenIn(block: WireBlock): Seen {
    const text = textOf(block)
    const lines = new Map<string, string[]>()
    for (const line of linesOf(text)) {
      for (const atom of atomsOf(line)) {
        if (!this.#needs.wanted.has(atom)) continue
        const own = lines.get(atom)
        if (own === undefined) lines.set(atom, [line])
        else own.push(line)
      }
    }
    return { lines, text: withoutLineNumbers(text) }
  }
}
