// What a boundary carries over to the next, written short, and read again. It stands in the edit whose text it speaks of, so
// what the text says anyway is a number: words, titles, the entries that stay in pieces. Nothing here judges what is read.
import type { Counted, Kept } from '../../transcript/fact.ts'
import type { Seq } from '../../transcript/ids.ts'
import { parseSections } from '../sections.ts'
import { areShared, numberBase, Shared, sharedIn, Words, type Lexicon } from './shared-pieces.ts'
import { longNames, shortNames, type NamedCounts } from './short-names.ts'

/** Places in time are numbers of answers since the session began. */
export interface Carried {
  readonly upTo: Seq
  readonly answers: number
  /** Each with what was counted of it, the place of its last subject at the end. */
  readonly names: readonly NamedCounts[]
  /** What names and lines belong to, when it was last worked on, and how much. */
  readonly subjects: readonly (readonly [title: string, last: number, work: number])[]
  /** Of each line chosen into the text: its entry, when it came, who said it (0 a call, 1 a result, 2 an answer), 1 where it tells an error. One out of pieces that stayed says only its entry. */
  readonly lines: readonly (readonly [at: number, born: number, role: number, isError: number])[]
  /** Of entries kept in pieces: when they came. */
  readonly kept: readonly (readonly [at: number, born: number])[]
  /** Files: work, changes, when last worked on, changed and shown. */
  readonly files: readonly (readonly [name: string, ...counts: number[]])[]
}

/** What it stands beside. */
export interface OwnEdit {
  readonly text: string
  readonly keep: readonly Kept[]
}

export function shortForm(carried: Carried, { text, keep }: OwnEdit): Counted {
  const { upTo, answers, names, subjects, lines, kept, files } = carried
  const headings = new Map(titlesIn(text).map((title, index) => [title, index]))
  const words = new Words([text])
  const titles = subjects.map(([title]) => {
    const heading = headings.get(title)
    return heading === undefined ? titleWord(title, words) : `#${heading}`
  })
  const own = subjects.map(([title]) => title)
  words.add(own)
  const starts = new Shared(
    sharedIn([
      ...names.map(([name]) => name).filter((name) => !words.numbers.has(name)),
      ...own.filter((_, index) => titles[index] === null).map(withoutRoot),
    ]),
  )
  const ages = new Map(kept.map(([at, born]) => [at, answers - born]))
  return {
    upTo,
    answers,
    words: words.words.length,
    shared: starts.shared,
    subjects: subjects.map(
      ([title, last, work], index) =>
        `${answers - last} ${work} ${titles[index] ?? shortTitle(title, starts)}`,
    ),
    names: shortNames(names, lastsOf(carried), { words, starts }),
    lines: shortLines(lines),
    kept: entriesInPieces(keep)
      .map((at) => ages.get(at) ?? '')
      .join(' '),
    files: shortFiles(files, answers, words),
  }
}

/** Null where it could not have been written here, beside this text. */
export function longForm(counted: Counted, { text, keep }: OwnEdit): Carried | null {
  const { upTo, answers, shared } = counted
  if (!areShared(shared) || counted.names.length > mostChars || counted.lines.length > mostChars) return null
  const lexicon = { words: new Words([text]), starts: new Shared(shared) }
  const subjects = longSubjects(counted, titlesIn(text), lexicon)
  if (subjects === null) return null
  lexicon.words.add(subjects.map(([title]) => title))
  const names = longNames(counted.names, lastsOf({ subjects }), lexicon)
  const lines = longLines(counted.lines, text.length)
  const files = longFiles(counted, lexicon.words)
  const ages = counted.kept.split(' ')
  const places = entriesInPieces(keep)
  if (names === null || lines === null || files === null) return null
  if (lexicon.words.words.length !== counted.words || ages.length !== Math.max(1, places.length)) return null
  const kept = places.flatMap((at, index) =>
    ages[index] === '' ? [] : [[at, answers - Number(ages[index])] as const],
  )
  return { upTo, answers, names, subjects, lines, kept, files }
}

/** More than all that a boundary writes: 600 names of 240 characters. */
const mostChars = 250_000

const lastsOf = ({ subjects }: Pick<Carried, 'subjects'>): readonly number[] =>
  subjects.map(([, last]) => last)

/** Entries that stay in pieces. */
export const entriesInPieces = (keep: readonly Kept[]): readonly number[] => [
  ...new Set(keep.filter(({ lines }) => lines !== undefined).map(({ at }) => at.seq)),
]

// ---- subjects ----

/** What the lines in a text stand under. */
const titlesIn = (text: string): readonly string[] =>
  (parseSections(text)?.details ?? []).map((item) => headingOf(item.split('\n', 1)[0]!))

/** A title without the refs beside it. */
export const headingOf = (line: string): string => line.replace(/ \[[\d, ]+\]$/, '')

const withoutRoot = (title: string): string => (title.startsWith('/') ? title.slice(1) : title)

/** A file whose path stands in the text. */
function titleWord(title: string, { numbers }: Words): string | null {
  const number = numbers.get(withoutRoot(title))
  if (number === undefined) return null
  return `${title.startsWith('/') ? '/+' : '+'}${number.toString(numberBase)}`
}

const isMarked = /^[#=+]|^\/\+|\^[0-9a-zA-Z]/

const shortTitle = (title: string, starts: Shared): string =>
  isMarked.test(title) ? `=${title}` : starts.short(title)

function longTitle(short: string, titles: readonly string[], { words, starts }: Lexicon): string | undefined {
  const [, mark, number] = /^(#|\/?\+)([0-9a-z]{1,6})$/.exec(short) ?? []
  if (mark === '#') return titles[Number(number)]
  if (mark === undefined) return short.startsWith('=') ? short.slice(1) : starts.long(short)
  const word = words.words[Number.parseInt(number!, numberBase)]
  return word === undefined || mark === '+' ? word : `/${word}`
}

const subject = /^(-?\d{1,15}) (\d[\d.e+-]{0,30}) (.{0,2000})$/su

function longSubjects(
  { subjects, answers }: Counted,
  titles: readonly string[],
  lexicon: Lexicon,
): Carried['subjects'] | null {
  const long: Carried['subjects'][number][] = []
  for (const short of subjects) {
    const [, ago, work, title = ''] = subject.exec(short) ?? []
    const own = longTitle(title, titles, lexicon)
    if (ago === undefined || own === undefined) return null
    long.push([own, answers - Number(ago), Number(work)])
  }
  return long
}

// ---- lines ----

const roles = 'cra'

/** `12r3!x4` is four lines of a result in entry 12 that came after three answers and tell an error. */
function shortLines(lines: Carried['lines']): string {
  const runs: { readonly line: string; count: number }[] = []
  for (const [at, born, role, isError] of lines) {
    const line = `${at}${role < 0 ? 'k' : `${roles[role]}${born}`}${isError === 1 ? '!' : ''}`
    const last = runs.at(-1)
    if (last?.line === line) last.count++
    else runs.push({ line, count: 1 })
  }
  return runs.map(({ line, count }) => (count === 1 ? line : `${line}x${count}`)).join(' ')
}

const run = /^(\d{1,15})(?:k|([cra])(\d{1,15}))(!?)(?:x(\d{1,6}))?$/

function longLines(short: string, most: number): Carried['lines'] | null {
  const lines: Carried['lines'][number][] = []
  for (const item of short === '' ? [] : short.split(' ')) {
    const [, at, role = '', born = 0, isError, count = 1] = run.exec(item) ?? []
    if (at === undefined || lines.length + Number(count) > most) return null
    const line = [
      Number(at),
      Number(born),
      role === '' ? -1 : roles.indexOf(role),
      isError === '!' ? 1 : 0,
    ] as const
    for (let times = Number(count); times > 0; times--) lines.push(line)
  }
  return lines
}

// ---- files ----

/** Files go by their name and their nearest folder. */
const tailOf = (path: string): string => path.split('/').slice(-2).join('/')

/** When it was last worked on, edited and shown. */
const fileTimes = 'les'

function shortFiles(files: Carried['files'], answers: number, { words }: Words): readonly string[] {
  const numbers = new Map(words.map((word, index) => [tailOf(word), index]))
  return files.map(([name, work, changes = 0, ...times]) => {
    const when = times.map((time, index) => (time < 0 ? '' : `${fileTimes[index]}${answers - time}`)).join('')
    const word = numbers.get(name)
    const said = word === undefined ? `=${name}` : `+${word.toString(numberBase)}`
    return `${work}${changes === 0 ? '' : `c${changes}`}${when} ${said}`
  })
}

function longFiles({ files, answers }: Counted, { words }: Words): Carried['files'] | null {
  const long: Carried['files'][number][] = []
  for (const short of files) {
    const [, work, changes = 0, last, edited, shown, mark, name = ''] = file.exec(short) ?? []
    const word = mark === '+' ? words[Number.parseInt(name, numberBase)] : undefined
    if (work === undefined || (mark === '+' && word === undefined)) return null
    const when = [last, edited, shown].map((ago) => (ago === undefined ? -1 : answers - Number(ago)))
    long.push([word === undefined ? name : tailOf(word), Number(work), Number(changes), ...when])
  }
  return long
}

/** `2.5c1l3e3s7 +4f`. */
const file =
  /^(\d[\d.]{0,30})(?:c(\d{1,15}))?(?:l(\d{1,15}))?(?:e(\d{1,15}))?(?:s(\d{1,15}))? ([+=])(.{0,2000})$/su
