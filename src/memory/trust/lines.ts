// Lines and words of memories, compared without what is easily written otherwise. Pure.
import { defaults } from '../../settings/defaults.ts'
import { readMemoryText } from '../format/frontmatter.ts'
import { tellingWords } from './sentences.ts'

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

/** The sentences of a text: moving one is free, changing one is not. */
export const plainSentencesOf = (text: string): readonly string[] => {
  const { facts, struck } = linesOf(text)
  return [...facts, ...struck].flatMap(plainSentencesIn)
}

export const plainSentencesIn = (line: string): readonly string[] =>
  line
    .split(/(?<=[.!?。！？])\s+/u)
    .map(plain)
    .filter((sentence) => sentence !== '')

/**
 * The first line of an older text that a newer one does without, null where there is none. Where lines may be replaced, those
 * of which something new speaks are not lost.
 */
export function lostLine(old: string, text: string, mayReplace: boolean): string | null {
  const there = new Set(plainSentencesOf(text))
  const kept = new Set(plainSentencesOf(old))
  const fresh = linesOf(text).facts.filter((line) => !plainSentencesIn(line).every((one) => kept.has(one)))
  const lost = linesOf(old).facts.filter((line) => !plainSentencesIn(line).every((one) => there.has(one)))
  const isReplaced = (line: string): boolean =>
    mayReplace && fresh.some((one) => sharedWords(line, one) >= defaults.extraction.replacedShare)
  return lost.find((line) => !isReplaced(line)) ?? null
}

/** Whether a newer text has every sentence of an older one. */
export function keepsAll(old: string, text: string): boolean {
  const there = new Set(plainSentencesOf(text))
  return plainSentencesOf(old).every((sentence) => there.has(sentence))
}
