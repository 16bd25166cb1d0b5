// How much of what was needed a text still holds. The same for every text, whoever wrote it: an atom is looked for in
// the characters around it and in the heading its line is grouped under, so that joining lines gains nothing.
import { defaults } from '../../settings/defaults.ts'
import { titledLines } from '../../compaction/sections.ts'
import { atomsOf, contentWords, wordsAround } from '../measuring/atoms.ts'
import { withoutLineNumbers } from '../measuring/texts.ts'
import type { Detail, Wanted } from './details.ts'

/** What became of one detail. */
export interface Judged {
  readonly detail: Detail
  /** Anywhere. */
  readonly bare: boolean
  /** In a line that shares another content word with one in which it stood before. */
  readonly company: boolean
  /** In a line that shares another content word with the answer that uses it. */
  readonly useful: boolean
}

/** Sums, so that compactions add up. */
export const noScore = {
  compactions: 0,
  tokens: 0,
  details: 0,
  bare: 0,
  company: 0,
  useful: 0,
  typedChars: 0,
  typedKept: 0,
  /** The same of boundaries alone at which all of it fits the room. */
  fittingChars: 0,
  fittingKept: 0,
  openTasks: 0,
  openKept: 0,
  decisions: 0,
  decisionsKept: 0,
}
export type Score = Readonly<typeof noScore>

/** A text, its size, what was wanted, and whether all that a person said fits the room there was. */
export function scoreOf(text: string, tokens: number, wanted: Wanted, fits = false): Score {
  const judged = judgedBy(text, wanted.details)
  const count = (of: (one: Judged) => boolean): number => judged.filter(of).length
  const typed = typedIn(text, wanted.typed)
  const units = wanted.decisions.length === 0 ? [] : linesIn(text).map(({ line }) => contentWords(line))
  const flat = flatOf(text)
  return {
    compactions: 1,
    tokens,
    details: judged.length,
    bare: count(({ bare }) => bare),
    company: count(({ company }) => company),
    useful: count(({ useful }) => useful),
    ...typed,
    fittingChars: fits ? typed.typedChars : 0,
    fittingKept: fits ? typed.typedKept : 0,
    openTasks: wanted.openTasks.length,
    openKept: wanted.openTasks.filter((task) => flat.includes(flatOf(task))).length,
    decisions: wanted.decisions.length,
    decisionsKept: wanted.decisions.filter((sentence) => isStated(contentWords(sentence), units)).length,
  }
}

export function judgedBy(text: string, details: readonly Detail[]): readonly Judged[] {
  const wanted = new Set(details.map(({ atom }) => atom))
  const places = new Map<string, Line[]>()
  for (const one of linesIn(text))
    for (const atom of atomsOf(one.line)) {
      if (!wanted.has(atom)) continue
      const own = places.get(atom)
      if (own === undefined) places.set(atom, [one])
      else own.push(one)
    }
  return details.map((detail) => {
    const { atom, lines, company, use } = detail
    const units = (places.get(atom) ?? []).flatMap((place) => unitsOf(atom, place))
    const shares = (words: ReadonlySet<string>): boolean =>
      units.some((unit) => [...wordsAround(atom, unit)].some((word) => words.has(word)))
    const bare = units.length > 0
    // What stood alone is whole where it stands alone.
    const isAlone = bare && (places.get(atom) ?? []).some(({ line }) => lines.has(line.trim()))
    return { detail, bare, company: bare && (isAlone || shares(company)), useful: bare && shares(use) }
  })
}

interface Line {
  readonly line: string
  readonly heading: string
}

const indentOf = (line: string): number => /^\s*/.exec(line)![0].length
const isHeading = (line: string): boolean => /^(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$|\d+\.\s.*:\s*$)/.test(line)

/** The lines of a text, each with the heading it is grouped under: the nearest line before it that is less indented, without a line of ours that stands behind it. */
function linesIn(text: string): readonly Line[] {
  const open: { readonly indent: number; readonly line: string }[] = []
  const found: Line[] = []
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    const indent = isHeading(line) ? -1 : indentOf(line)
    while (open.length > 0 && open.at(-1)!.indent >= indent) open.pop()
    found.push({ line, heading: titledLines(open.at(-1)?.line ?? '').title })
    open.push({ indent, line })
  }
  return found
}

/** The characters around each place of an atom in a line, with the heading. */
function unitsOf(atom: string, { line, heading }: Line): readonly string[] {
  const { unitChars } = defaults.lab.compactions
  const above = heading.slice(0, unitChars)
  if (line.length <= unitChars) return [`${above}\n${line}`]
  const units: string[] = []
  for (let at = line.indexOf(atom); at >= 0; at = line.indexOf(atom, at + atom.length)) {
    const start = Math.max(0, at - Math.floor((unitChars - atom.length) / 2))
    units.push(`${above}\n${line.slice(start, start + unitChars)}`)
  }
  return units
}

/** Characters of what a person said whose lines stand in the text. */
export function typedIn(
  text: string,
  typed: readonly string[],
): { readonly typedChars: number; readonly typedKept: number } {
  const shown = withoutLineNumbers(text)
  let typedChars = 0
  let typedKept = 0
  for (const said of typed)
    for (const line of withoutLineNumbers(said).split('\n')) {
      if (line.trim() === '') continue
      typedChars += line.length
      if (shown.includes(line)) typedKept += line.length
    }
  return { typedChars, typedKept }
}

/** Most of its content words stand in one line. */
function isStated(words: ReadonlySet<string>, units: readonly ReadonlySet<string>[]): boolean {
  const least = Math.ceil(words.size * defaults.lab.compactions.statedShare)
  return units.some((unit) => {
    let shared = 0
    for (const word of words) if (unit.has(word)) shared++
    return shared >= least
  })
}

const flatOf = (text: string): string => text.replaceAll(/\s+/g, ' ').toLowerCase().trim()
