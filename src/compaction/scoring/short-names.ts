// Names with their counts, written short: names with the same counts stand in one row, and a row says only what is not as
// expected of it. `s3f1n5 a.ts b.ts,d1 c.ts` is two of them under subject 3, first seen one answer after the row before and
// five times in all, and one that the model said once.
import type { NameCounts } from './names.ts'
import { numberBase, type Lexicon } from './shared-pieces.ts'

/** In the order in which counts are handed on. */
export const countKeys = [
  'first',
  'last',
  'lastUse',
  'seen',
  'uses',
  'edits',
  'said',
  'typed',
  'errors',
  'subjects',
  'subject',
] as const satisfies readonly (keyof NameCounts)[]

export type NamedCounts = readonly [name: string, ...counts: number[]]
/** When each subject was last worked on. */
type Lasts = readonly number[]
/** What a row goes on from. */
type Before = Pick<NameCounts, 'first' | 'subject' | 'last' | 'lastUse'>
const atFirst: Before = { first: 0, subject: -1, last: 0, lastUse: -1 }

/** `subject` is the place of its subject among those of the counted. */
export function countsFrom(values: readonly number[]): NameCounts {
  const [first = 0, last = 0, lastUse = -1, seen = 0, uses = 0, edits = 0, ...rest] = values
  const [said = 0, typed = 0, errors = 0, subjects = 0, subject = -1] = rest
  return { first, last, lastUse, seen, uses, edits, said, typed, errors, subjects, subject }
}

/** As the row before where that is of the same subject and time, else when its subject was last worked on. */
function expectedLast(
  { first, subject }: Pick<Before, 'first' | 'subject'>,
  before: Before,
  lasts: Lasts,
): number {
  const isLike = first === before.first && subject === before.subject
  return isLike ? before.last : Math.max(first, lasts[subject] ?? first)
}

/** s subject, f first seen, l last seen, u used by a call (-1 by none), e edits, c other uses, d said, t typed, n otherwise
 * seen, x in error lines, b times without another subject. */
function shortCounts(counts: NameCounts, before: Before, lasts: Lasts): string {
  const { first, last, lastUse, seen, uses, edits, said, typed, errors, subjects, subject } = counts
  const by = uses + said + typed
  const letter = (name: string, value: number, expected = 0): string =>
    value === expected ? '' : `${name}${value}`
  return [
    letter('s', subject, before.subject),
    letter('f', first - before.first),
    letter('l', last - first, expectedLast(counts, before, lasts) - first),
    isAsLate(counts, before) && lastUse === before.lastUse
      ? ''
      : shortUse(last, lastUse, isAsLate(counts, before)),
    letter('e', edits),
    letter('c', uses - edits, otherUses(lastUse, edits)),
    letter('d', said),
    letter('t', typed),
    letter('n', seen - by, otherSeen(by)),
    letter('x', errors),
    letter('b', seen - subjects),
  ].join('')
}

const isAsLate = (own: Pick<Before, 'first' | 'subject' | 'last'>, before: Before): boolean =>
  own.first === before.first && own.subject === before.subject && own.last === before.last

function shortUse(last: number, lastUse: number, isLike: boolean): string {
  if (lastUse < 0) return isLike ? 'u-1' : ''
  return last === lastUse ? 'u' : `u${last - lastUse}`
}

const otherUses = (lastUse: number, edits: number): number => (lastUse < 0 || edits > 0 ? 0 : 1)
const otherSeen = (by: number): number => (by > 0 ? 0 : 1)

const areCounts = /^(?:[a-z](?:-?\d{1,15})?)*$/
const inCounts = /([a-z])(-?\d*)/g

function longCounts(short: string, before: Before, lasts: Lasts): NameCounts | null {
  if (!areCounts.test(short)) return null
  const given = new Map([...short.matchAll(inCounts)].map(([, name, value]) => [name!, Number(value)]))
  const of = (name: string, expected = 0): number => given.get(name) ?? expected
  const subject = of('s', before.subject)
  const first = before.first + of('f')
  const last = first + of('l', expectedLast({ first, subject }, before, lasts) - first)
  const expectedUse = isAsLate({ first, subject, last }, before) ? before.lastUse : -1
  const use = given.get('u')
  const lastUse = use === undefined ? expectedUse : use < 0 ? -1 : last - use
  const edits = of('e')
  const uses = edits + of('c', otherUses(lastUse, edits))
  const [said, typed] = [of('d'), of('t')]
  const by = uses + said + typed
  const seen = by + of('n', otherSeen(by))
  return {
    first,
    last,
    lastUse,
    seen,
    uses,
    edits,
    said,
    typed,
    errors: of('x'),
    subjects: seen - of('b'),
    subject,
  }
}

/** Rows by when their names were first seen, and by subject: so most begin as the one before does. */
export function shortNames(names: readonly NamedCounts[], lasts: Lasts, lexicon: Lexicon): string {
  const rows = new Map<string, NamedCounts[]>()
  for (const one of names) {
    const key = one.slice(1).join()
    const own = rows.get(key)
    if (own === undefined) rows.set(key, [one])
    else own.push(one)
  }
  let before = atFirst
  return [...rows.values()]
    .map((own) => ({ own, counts: countsFrom(own[0]!.slice(1) as number[]) }))
    .toSorted(({ counts: a }, { counts: b }) => {
      const by = (['first', 'subject', 'last', 'lastUse'] as const).find((key) => a[key] !== b[key])
      return by === undefined ? 0 : a[by] - b[by]
    })
    .map(({ own, counts }) => {
      const short = shortCounts(counts, before, lasts)
      before = counts
      return [
        short,
        ...shortRow(
          own.map(([name]) => name),
          lexicon,
        ),
      ].join(' ')
    })
    .join(',')
}

/** Null where it could not have been written here. */
export function longNames(short: string, lasts: Lasts, lexicon: Lexicon): readonly NamedCounts[] | null {
  const names: NamedCounts[] = []
  let before = atFirst
  for (const row of short === '' ? [] : short.split(',')) {
    const [own = '', ...items] = row.split(' ')
    const counts = longCounts(own, before, lasts)
    const long = longRow(items, lexicon)
    if (counts === null || long === null) return null
    const values = countKeys.map((key) => counts[key])
    for (const name of long) names.push([name, ...values])
    before = counts
  }
  return names
}

/** A word is the way to it from the one before, a piece its place in the name before. */
function shortRow(names: readonly string[], lexicon: Lexicon): readonly string[] {
  let at = 0
  let whole = ''
  return names.map((name) => {
    const piece = whole.includes(name) ? piecesOf(whole).indexOf(name) : -1
    if (piece >= 0) return `:${piece || ''}`
    whole = name
    const number = lexicon.words.numbers.get(name)
    if (number === undefined) return lexicon.starts.short(name)
    const way = number - at
    at = number
    return `+${way.toString(numberBase)}`
  })
}

function longRow(items: readonly string[], lexicon: Lexicon): readonly string[] | null {
  const names: string[] = []
  let at = 0
  let whole = ''
  for (const item of items) {
    const way = wayTo.exec(item)?.[1]
    const piece = pieceOf.exec(item)?.[1]
    if (way !== undefined) at += Number.parseInt(way, numberBase)
    const name =
      way !== undefined
        ? lexicon.words.words[at]
        : piece === undefined
          ? lexicon.starts.long(item)
          : piecesOf(whole)[Number(piece)]
    if (name === undefined) return null
    names.push(name)
    if (piece === undefined) whole = name
  }
  return names
}

/** No name holds these marks. */
const wayTo = /^\+(-?[0-9a-z]{1,6})$/
const pieceOf = /^:(\d{0,3})$/

/** Shorter names that a name is read together with: its last part, and the pieces of that. */
function piecesOf(name: string): readonly string[] {
  const last = name.slice(name.lastIndexOf('/') + 1)
  return [...(last.length < name.length ? [last] : []), ...(last.includes('.') ? last.split('.') : [])]
}
