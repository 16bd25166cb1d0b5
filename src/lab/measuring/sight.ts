// What can be seen in the request that is sent now. Reads the wire and nothing else, so it judges every policy alike.
// A block is read when it comes in and forgotten when it goes.
import type { WireBlock } from '../../model/wire.ts'
import type { PlainBlock } from '../playing/wire-blocks.ts'
import { atomsOf } from './atoms.ts'
import type { Needs, Seen } from './needs.ts'
import { linesOf, textOf, withoutLineNumbers } from './texts.ts'

export class Sight {
  readonly #needs: Needs
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
    const said = [...this.#visible].filter(([{ role, block }]) => role === 'user' && block.type === 'text')
    if (said.some(([, seen]) => seen.text.includes(withoutLineNumbers(text)))) return 1
    let all = 0
    let kept = 0
    for (const line of text.split('\n')) {
      const bare = withoutLineNumbers(line)
      if (bare.trim() === '') continue
      all += line.length
      if (said.some(([, seen]) => seen.text.includes(bare))) kept += line.length
    }
    return all === 0 ? 1 : kept / all
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
