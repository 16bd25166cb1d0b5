// Whether a model's summary may be trusted, and what of it. One that lacks its sections, mostly quotes as the
// user's what nobody said, or names things that do not occur is no summary of this session. A single quotation that was
// made up costs only itself and the lines that say the same. Wrong numbers and lost names are the audit's to find. Pure.
import { defaults } from '../../settings/defaults.ts'
import { sectionsOf, userMessagesTitle, type Variant } from './prompt.ts'
import type { Part } from '../../projection/view.ts'

export type Judged =
  /** Without the user's words, which stand behind every summary as they were said; with what was taken out. */
  | { readonly ok: true; readonly summary: string; readonly takenOut: readonly string[] }
  | { readonly ok: false; readonly why: string }

export function judged(summary: string, variant: Variant, said: Said): Judged {
  const sections = cutUp(summary, variant)
  const quoted = quotedIn(sections, said)
  const why = missingIn(sections, variant) ?? quoted.why ?? tooLittle(sections) ?? strangeIn(sections, said)
  if (why !== null) return { ok: false, why }
  const takenOut = [...quoted.invented]
  const kept = sections.flatMap((section) => {
    if (section.title === userMessagesTitle) return [section.heading, elsewhere, '']
    const kept = section.lines.map((line) => {
      if (!isWrong(section, line, quoted.invented, said)) return line
      takenOut.push(line)
      return removed
    })
    return [section.heading, ...kept]
  })
  return { ok: true, summary: kept.join('\n').trim(), takenOut: takenOut.map(short) }
}

/** What it gives as the user's words; and why it is no summary where most of that was made up. */
function quotedIn(
  sections: readonly Section[],
  { asUser }: Said,
): { readonly invented: readonly string[]; readonly why: string | null } {
  const lines = sections.find(({ title }) => title === userMessagesTitle)?.lines ?? []
  const found = lines.map((line) => ({ line, size: bytesOf(letters(line)), as: findLine(line, asUser) }))
  const real = found.filter(({ as }) => as === 'said')
  const made = found.filter(({ as }) => as === 'invented')
  const invented = made.map(({ line }) => line)
  // By lines and by letters: neither one long invention nor many short ones outweigh what is true.
  const isMost = made.length > real.length && sizeAll(made) > sizeAll(real)
  return {
    invented,
    why: isMost ? `it quotes words that the user did not say: "${short(invented[0]!)}"` : null,
  }
}

const elsewhere = '(Kept verbatim in the blocks below.)'
const removed = '(A line was removed here: it quoted words that nobody said.)'

const sizeAll = (lines: readonly { readonly size: number }[]): number =>
  lines.reduce((sum, { size }) => sum + size, 0)

// ---- sections ----

interface Section {
  readonly title: string
  /** Its place in what was asked, from 0. */
  readonly at: number
  readonly heading: string
  readonly lines: string[]
}

/** Cut at the headings that were asked for, in whatever order; where hardly any is there by its words, by its number. */
function cutUp(summary: string, variant: Variant): readonly Section[] {
  const titles = sectionsOf(variant).map(({ title }) => title)
  const shapes = titles.map(shapeOf)
  const named = cutAt(summary, titles, (line) => shapes.map((shape) => headingIn(line, shape)))
  if (named.length > titles.length / 2) return named
  const numbered = cutAt(summary, titles, (line, next) =>
    titles.map((_, at) => (at === next ? numberIn(line, at + 1) : null)),
  )
  const best = numbered.length > named.length ? numbered : named
  if (best.length > titles.length / 2) return best
  // Titles in another language with nothing but their numbers: only where all are there, in order.
  const bare = cutAt(summary, titles, (line, next) =>
    titles.map((_, at) => (at === next ? bareNumberIn(line, at + 1) : null)),
  )
  return bare.length === titles.length ? bare : best
}

/** A short line with a number and no end of a sentence. */
const bareNumberIn = (line: string, number: number): string | null =>
  new RegExp(String.raw`^\s*${number}[.)]\s*[^\n]{1,60}$`, 'u').test(line) && !/[.!?。！？]\s*$/u.test(line)
    ? line
    : null

/** `headings` gives for each title what of the line is its heading. What stands before the first is a greeting or a draft. */
function cutAt(
  summary: string,
  titles: readonly string[],
  headings: (line: string, next: number) => readonly (string | null)[],
): readonly Section[] {
  const sections: Section[] = []
  for (const line of summary.split('\n')) {
    const found = headings(line, sections.length)
    const at = found.findIndex((heading) => heading !== null)
    if (at < 0 || sections.some((section) => section.at === at)) {
      sections.at(-1)?.lines.push(line)
      continue
    }
    const rest = line.slice(found[at]!.length).replace(/^[\s*:：.]+/u, '')
    sections.push({ title: titles[at]!, at, heading: found[at]!, lines: rest === '' ? [] : [rest] })
  }
  return sections
}

const shapeOf = (title: string): RegExp => {
  const mark = String.raw`[^\p{L}\p{N}]{0,20}`
  const words = title.replaceAll(' and ', ' (?:and|&) ')
  return new RegExp(String.raw`^(${mark}(?:\d+[.)])?${mark})${words}(?![\p{L}\p{N}])`, 'iu')
}

/** A line that begins with the title, alone on it or marked as a heading. */
function headingIn(line: string, shape: RegExp): string | null {
  const found = shape.exec(line)
  if (found === null) return null
  const isMarked = /[#*\d]/u.test(found[1]!)
  const rest = line.slice(found[0].length)
  const isHeading = isMarked || /^[\s*]*(?:[:：.(–—-]|$)/u.test(rest)
  return isHeading ? `${found[0]}${/^[*:：]*/u.exec(rest)![0]}` : null
}

/** In another language only the number tells; a list inside a section has no such form. */
function numberIn(line: string, number: number): string | null {
  const found = /^[\s#*>]*(\d)[.)][^:：]*/u.exec(line)
  const isHeading = /^\s*[#*]/u.test(line) || /[:：][\s*]*$/u.test(line)
  return isHeading && Number(found?.[1]) === number
    ? `${found![0]}${/[:：][*]*/u.exec(line)?.[0] ?? ''}`
    : null
}

/** What was asked and where the work stood must be there; a few others may have had nothing to say. */
function missingIn(sections: readonly Section[], variant: Variant): string | null {
  const asked = sectionsOf(variant).slice(0, -1)
  const missing = asked.filter(({ title }) => !sections.some((section) => section.title === title))
  const isNeeded = missing.some(({ title }) => title === asked[0]!.title || title === asked.at(-1)!.title)
  if (!isNeeded && missing.length <= defaults.summary.mostMissing) return null
  return `it lacks ${missing.map(({ title }) => `"${title}"`).join(', ')}`
}

/** Headings alone say nothing. */
function tooLittle(sections: readonly Section[]): string | null {
  const bodies = sections.filter(({ title }) => title !== userMessagesTitle)
  const size = bytesOf(letters(bodies.flatMap(({ lines }) => lines.filter((line) => !isNone(line))).join('')))
  return size < defaults.summary.leastBodyChars ? `its sections say too little (${size} letters)` : null
}

const isNone = (line: string): boolean => /^\W*(?:none|n\/a|nothing)\b.{0,20}$/iu.test(line)

/** Paths, names and numbers are the same in every language: most of those it names must occur in the session. */
function strangeIn(sections: readonly Section[], said: Said): string | null {
  const { leastNames, mostNames, knownShare } = defaults.summary
  const kept = sections.flatMap(({ title, lines }) => (title === userMessagesTitle ? [] : lines)).join('\n')
  const names = new Set((kept.match(/[\w./@-]{5,120}/gu) ?? []).filter((word) => isName.test(word)))
  const looked = [...names].slice(0, mostNames)
  if (looked.length < leastNames) return null
  const strange = looked.filter((name) => !said.byAnyone.texts.some((text) => text.includes(letters(name))))
  if (looked.length - strange.length >= knownShare * looked.length) return null
  return `it names what does not occur in the session: ${strange.slice(0, leastNames).map(short).join(', ')}`
}

const isName = /[a-z][A-Z]|_|\/|\.[a-z]|\d{3}/u

// ---- lines ----

/** Sections that say what is to be done: a request that nobody made would send the work astray. */
const isWork = ({ at }: Section, count: number): boolean => at === 0 || at >= count - 3

function isWrong(section: Section, line: string, invented: readonly string[], said: Said): boolean {
  const count = sectionsOf('full').length
  if (!isWork(section, count)) return false
  if (invented.some((quote) => repeats(line, quote))) return true
  if (section.at !== count - 1) return false
  const quotes = quotesIn(line, defaults.summary.leastNextQuoteChars)
  return quotes.some(
    (quote) => findQuote(quote, said.byAnyone) !== 'said' && findQuote(quote, said.asUser) === 'invented',
  )
}

const short = (line: string): string => line.trim().slice(0, defaults.summary.shownQuoteChars).toWellFormed()

// What a quotation is compared with, and how. A model quotes with small deviations (white space, quotation marks, case,
// emphasis, a full stop, a part left out), so only letters and digits are compared. Pure.

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
function findLine(line: string, place: Place): Finding {
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

function findQuote(quote: string, place: Place): Finding {
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
