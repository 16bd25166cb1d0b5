// What a quotation is compared with, and how. A model quotes with small deviations (white space, quotation marks, case,
// emphasis, a full stop, a part left out), so only letters and digits are compared. Pure.
import type { Part } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'

/** What was said, one text a message, as it is compared. */
export interface Said {
  /** Words of the user, those in earlier summaries included, and what hosts put in the user's place: on the wire they look alike. */
  readonly asUser: Place
  readonly byAnyone: Place
}
interface Place {
  readonly texts: readonly string[]
  /** The words of each line; made when a quotation is not found as it stands. */
  readonly lines: () => readonly ReadonlySet<string>[]
}

export function saidIn(parts: readonly Part[]): Said {
  const isUsers = ({ kind }: Part): boolean => kind === 'input' || kind === 'edit' || kind === 'injected'
  return { asUser: placeOf(parts.filter(isUsers).map(textOf)), byAnyone: placeOf(parts.map(textOf)) }
}

function placeOf(texts: readonly string[]): Place {
  let lines: readonly ReadonlySet<string>[] | null = null
  const linesOf = () => texts.flatMap((text) => text.split('\n')).map((line) => new Set(wordsOf(line)))
  return { texts: texts.map(letters), lines: () => (lines ??= linesOf()) }
}

function textOf({ blocks }: Part): string {
  const texts = blocks.flatMap((block) => {
    if (block.type === 'tool_result' && 'is_error' in block)
      return block.content.map((inner) => (inner.type === 'text' ? inner.text : ''))
    if (block.type === 'tool_use' && 'input' in block) return stringsIn(block.input)
    return 'text' in block && typeof block.text === 'string' ? [block.text] : []
  })
  return texts.join('\n')
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

/** `short` is too little to tell; `near` has most words of one line, told otherwise. */
export type Finding = 'said' | 'near' | 'invented' | 'short'

/** A line that claims to be a quotation, with whatever stands before it or around it. */
export function findLine(line: string, place: Place): Finding {
  const bare = line.replace(/^\s*(?:(?:[-*•>–—]|\(?\d+[.):\]])\s*)+/u, '').trim()
  const isFiller = /^(?:```\w*|"""|[([].*[)\]]|none\b.{0,20}|<\/?[\w-]+[^<>]*>)$/iu.test(bare)
  if (isFiller) return 'short'
  const whole = findQuote(bare, place)
  if (whole === 'said' || whole === 'short') return whole
  const label = /^[^:：]{1,40}[:：](.*)$/su.exec(bare)?.[1]
  const quotes = quotesIn(bare, defaults.summary.leastQuoteChars)
  const isQuoted = quotes.length > 0 && quotes.every((quote) => findQuote(quote, place) === 'said')
  if (isQuoted || (label !== undefined && findQuote(label, place) === 'said')) return 'said'
  return whole
}

export function findQuote(quote: string, place: Place): Finding {
  const all = letters(quote)
  if (bytesOf(all) < defaults.summary.leastQuoteChars) return 'short'
  if (place.texts.some((text) => text.includes(all))) return 'said'
  const pieces = quote
    .split(leftOut)
    .map(letters)
    .filter((piece) => piece !== '')
  const isWhole = pieces.every((piece) => bytesOf(piece) >= defaults.summary.leastQuoteChars)
  if (isWhole && pieces.length > 0 && place.texts.some((text) => holdsInOrder(text, pieces))) return 'said'
  const words = [...new Set(wordsOf(quote))]
  if (words.length < leastWords) return 'invented'
  return place.lines().some((known) => shareOf(words, known) >= defaults.summary.nearShare)
    ? 'near'
    : 'invented'
}

const leastWords = 3
/** What stands in brackets is the writer's: a part left out, a picture, a secret. */
const leftOut = /\[[^\]\n]{0,60}\]|…|\.{3,}/u

function holdsInOrder(text: string, pieces: readonly string[]): boolean {
  let at = 0
  for (const piece of pieces) {
    const found = text.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return true
}

export function quotesIn(text: string, least: number): readonly string[] {
  return [...text.replaceAll(/\s+/gu, ' ').matchAll(/["“„«]([^"“”„«»]+)["”“»]/gu)]
    .map((match) => match[1] ?? '')
    .filter((quote) => quote.length >= least)
}

/** Whether a line says what these words say. */
export const repeats = (line: string, quote: string): boolean => {
  const words = [...new Set(wordsOf(quote))]
  if (words.length < leastWords) return letters(line).includes(letters(quote))
  return shareOf(words, new Set(wordsOf(line))) >= defaults.summary.nearShare
}

const shareOf = (words: readonly string[], known: ReadonlySet<string>): number =>
  words.filter((word) => known.has(word)).length / words.length

/** Words that carry meaning; scripts without spaces give whole runs, which are found only as they stand. */
const wordsOf = (text: string): readonly string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{M}\p{N}_]{4,}/gu) ?? []

export const letters = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '')

/** In bytes, so that three signs of a dense script are as much as a word. */
export const bytesOf = (text: string): number => new TextEncoder().encode(text).length
