// What is known of a line that could stay: who said it, how much it says, and what it shares with the work at hand.

import { defaults } from '../../settings/defaults.ts'

export type LineRole = 'call' | 'result' | 'answer' | 'kept'

/** Lines of a block as they stand. */
export interface ReadLines {
  readonly lines: readonly string[]
  /** Indexes of the names in each. */
  readonly names: readonly (readonly number[])[]
}

export interface Line {
  readonly text: string
  /** The entry it stands in, and its part. */
  readonly at: number
  readonly part: number
  /** What it belongs to, as an index of the survey's subjects. */
  readonly subject: number
  readonly role: LineRole
  /** Answers given after it. */
  readonly age: number
  readonly isError: boolean
  /** Indexes of the names in it. */
  readonly names: readonly number[]
  readonly tokens: number
}

/** In the order of the weights. */
export const lineFeatures = [
  'always',
  'in a call',
  'in an answer',
  'kept before',
  'words',
  'words of the last answers',
  'words of the newest input',
  'length',
  'answers since',
  'tells an error',
  'names',
  "words of the last answers in its subject's title",
  'words for each name',
  'answers since its subject was worked on',
] as const

export interface LineContext {
  readonly recent: ReadonlySet<string>
  readonly asked: ReadonlySet<string>
  /** Words of a subject's title that the last answers have too. */
  readonly titleShared: number
  readonly subjectAge: number
}

const log = Math.log1p

export function lineValues(
  line: Line,
  { recent, asked, titleShared, subjectAge }: LineContext,
): readonly number[] {
  let words = 0
  let shared = 0
  let wanted = 0
  for (const word of wordsIn(line.text)) {
    words++
    if (recent.has(word)) shared++
    if (asked.has(word)) wanted++
  }
  return [
    1,
    line.role === 'call' ? 1 : 0,
    line.role === 'answer' ? 1 : 0,
    line.role === 'kept' ? 1 : 0,
    log(words),
    log(shared),
    log(wanted),
    log(line.text.length),
    log(line.age),
    line.isError ? 1 : 0,
    log(line.names.length),
    log(titleShared),
    words / (1 + line.names.length),
    log(subjectAge),
  ]
}

const word = /[\p{L}\p{N}_]{3,}/gu

export function wordsIn(text: string): ReadonlySet<string> {
  const words = new Set<string>()
  for (const [found] of text.matchAll(word)) words.add(found.toLowerCase())
  return words
}

/** Nothing is left of a file's line but the number it was shown with. Commands that put numbers otherwise were asked for them. */
export const isNumberAlone = (line: string): boolean => /^\s*\d+→[\s{}()[\];,]*$/u.test(line)

/** Lines as they can stay; a long one in pieces that are cut at blanks. */
export function piecesOf(lines: readonly string[]): readonly string[] {
  const { lineChars } = defaults.score
  return lines.some(({ length }) => length > lineChars) ? lines.flatMap(cutLine) : lines
}

function cutLine(line: string): string | readonly string[] {
  const { lineChars } = defaults.score
  if (line.length <= lineChars) return line
  const pieces: string[] = []
  for (let start = 0; start < line.length;) {
    let end = Math.min(line.length, start + lineChars)
    const blank = line.lastIndexOf(' ', end)
    if (end < line.length && blank > start + lineChars / 2) end = blank
    pieces.push(line.slice(start, end))
    start = end
  }
  return pieces
}
