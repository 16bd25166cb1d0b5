// Lines and words of memories, compared without what is easily written otherwise. Pure.
import { readMemoryText } from '../../memory/format/frontmatter.ts'
import { tellingWords } from '../../memory/trust/support.ts'

/** Words alone: marks, case, blanks and where links lead do not count. */
export const plain = (line: string): string =>
  line
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\]\([^)\s]*\)/gu, ']')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

export interface Lines {
  /** What is said, a line each. */
  readonly facts: readonly string[]
  /** What was struck out: `~~no longer so~~`. */
  readonly struck: readonly string[]
  /** They say nothing that could be lost, but they are read. */
  readonly headings: readonly string[]
}

const struckLine = /^(?:[-*+]\s+|\d+[.)]\s+)?~~(.+)~~\s*(?:\(superseded(?: \d{4}-\d{2}-\d{2})?\))?\.?$/iu

/** The lines of a memory's body. */
export function linesOf(text: string): Lines {
  const facts: string[] = []
  const struck: string[] = []
  const headings: string[] = []
  for (const line of readMemoryText(text)
    .body.split('\n')
    .map((one) => one.trim())) {
    const gone = struckLine.exec(line)
    if (gone !== null) struck.push(gone[1]!)
    else if (plain(line) !== '') (/^#{1,6}\s/u.test(line) ? headings : facts).push(line)
  }
  return { facts, struck, headings }
}

/** Words that carry meaning, by their beginnings. */
export const telling = (text: string): ReadonlySet<string> => new Set(tellingWords(plain(text)))

/** The share of the first text's telling words that the second has; 1 where there are none to have. */
export function sharedWords(text: string, other: string): number {
  const words = telling(text)
  if (words.size === 0) return plain(text) === plain(other) ? 1 : 0
  const there = telling(other)
  return [...words].filter((word) => there.has(word)).length / words.size
}
