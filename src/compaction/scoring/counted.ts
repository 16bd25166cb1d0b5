// What a boundary writes down of what it had counted, and how the next one goes on from it. Without it a name that a hundred
// calls have used would be new again after each compaction, and lines that were kept would count as said at the boundary.
import type { Fold } from '../../projection/fold.ts'
import type { Part } from '../../projection/view.ts'
import { redact } from '../../disk/redact.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Counted, Kept } from '../../transcript/fact.ts'
import { seq } from '../../transcript/ids.ts'
import type { Line, LineRole } from './lines.ts'
import type { NameCounts } from './names.ts'
import { soundCounted } from './sound.ts'

/** The newest that stands in sight; null before the first boundary, and where none wrote one. */
export function countedIn(fold: Fold, parts: readonly Part[]): Counted | null {
  let newest: Counted | null = null
  for (const { kind, from } of parts) {
    const own = kind === 'edit' ? countedAt(fold, from) : null
    if (own !== null && (newest === null || own.upTo > newest.upTo)) newest = own
  }
  return newest
}

/** Of the boundary whose text stands at a place. */
export function countedAt(fold: Fold, place: number): Counted | null {
  const top = fold.edits.topAt(place)
  return top?.edit.kind === 'summary' ? soundCounted(top.edit, top.seq) : null
}

/** Answers that texts in sight stand for. */
export interface HiddenAnswers {
  readonly all: number
  readonly by: ReadonlyMap<Part, number>
}

/**
 * How many they are is known, where they stood is not: each text has its share by its length, so that what stands between two
 * of them is about as old as it is.
 */
export function hiddenAnswers(counted: Counted | null, parts: readonly Part[]): HiddenAnswers {
  if (counted === null) return { all: 0, by: new Map() }
  const before = parts.filter(({ from }) => from <= counted.upTo)
  const all = Math.max(0, counted.answers - before.filter(({ kind }) => kind === 'answer').length)
  const texts = before.filter(({ kind }) => kind === 'edit')
  const length = texts.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  const by = new Map<Part, number>()
  let [passed, given] = [0, 0]
  for (const text of texts) {
    passed += text.to - text.from + 1
    const share = Math.round((all * passed) / length) - given
    given += share
    by.set(text, share)
  }
  return { all, by }
}

const roles = ['call', 'result', 'answer'] as const satisfies readonly LineRole[]

/** Where a line that was kept came from; null where nothing is known of it. One out of pieces that stayed says only its entry. */
export function bornAs(
  line: Counted['lines'][number] | undefined,
): (Pick<Line, 'at'> & Partial<Pick<Line, 'role' | 'isError'> & { readonly born: number }>) | null {
  if (line === undefined) return null
  const [at, born, place, isError] = line
  const role = roles[place]
  return role === undefined ? { at } : { at, born, role, isError: isError === 1 }
}

/** In the order in which counts are written down. */
const countKeys = [
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

const valuesOf = (counts: NameCounts): readonly number[] => countKeys.map((key) => counts[key])

/** As they were; `subject` is the place of its subject among those of the counted. */
export function countsFrom(values: readonly number[]): NameCounts {
  const [first = 0, last = 0, lastUse = -1, seen = 0, uses = 0, edits = 0, ...rest] = values
  const [said = 0, typed = 0, errors = 0, subjects = 0, subject = -1] = rest
  return { first, last, lastUse, seen, uses, edits, said, typed, errors, subjects, subject }
}

export interface Stayed {
  /** In the order in which the text has them. */
  readonly lines: readonly Line[]
  /** Whose text they are in, with the entries that stay in pieces. */
  readonly edit: { readonly keep: readonly Kept[] }
  /** Answers that came after an entry that stays in pieces. */
  readonly ageOf: (at: number) => number
  readonly files: ReadonlyMap<
    string,
    Record<'work' | 'changes' | 'last' | 'lastChange' | 'lastShown', number>
  >
}

/** What a survey counted. */
interface Tallied {
  readonly names: readonly string[]
  readonly counts: readonly NameCounts[]
  readonly subjects: readonly { readonly title: string; readonly last: number; readonly work: number }[]
  readonly now: number
}

/** `need` is the chance of each name to be needed. */
export function countedOf(
  { survey, need }: { readonly survey: Tallied; readonly need: Float64Array },
  upTo: number,
  stayed: Stayed,
): Counted {
  const { names, counts, subjects, now } = survey
  const likely = [...need.keys()]
    .toSorted((a, b) => need[b]! - need[a]! || a - b)
    .slice(0, defaults.score.countedNames)
  const safe = unchanged(likely.map((index) => names[index]!))
  const places = new Map<number, number>()
  const placeOf = (subject: number): number => {
    if (subject < 0) return -1
    const known = places.get(subject) ?? places.size
    places.set(subject, known)
    return known
  }
  const named = likely
    .filter((index) => safe.has(names[index]!))
    .toSorted((a, b) => a - b)
    .map((index): Counted['names'][number] => {
      const own = counts[index]!
      return [names[index]!, ...valuesOf({ ...own, subject: placeOf(own.subject) })]
    })
  for (const { subject } of stayed.lines) placeOf(subject)
  const titles = [...places.keys()].map((subject) => subjects[subject]!)
  const plainTitles = unchanged(titles.map(({ title }) => title))
  const files = [...stayed.files]
    .toSorted(([, a], [, b]) => b.work - a.work)
    .slice(0, defaults.score.countedFiles)
  const plainFiles = unchanged(files.map(([name]) => name))
  return {
    upTo: seq(upTo),
    answers: now,
    names: named,
    subjects: titles.map(
      ({ title, last, work }) => [plainTitles.has(title) ? title : '', last, work] as const,
    ),
    lines: stayed.lines.map(({ at, age, role, isError }) => {
      const place = roles.findIndex((one) => one === role)
      return [at, place < 0 ? 0 : now - age, place, isError ? 1 : 0] as const
    }),
    kept: entriesInPieces(stayed.edit.keep).map((at) => [at, now - stayed.ageOf(at)] as const),
    files: files
      .filter(([name]) => plainFiles.has(name))
      .map(
        ([name, { work, changes, last, lastChange, lastShown }]) =>
          [name, Math.round(work * perMille) / perMille, changes, last, lastChange, lastShown] as const,
      ),
  }
}

/** Entries that stay in pieces. */
const entriesInPieces = (keep: readonly Kept[]): readonly number[] => [
  ...new Set(keep.filter(({ lines }) => lines !== undefined).map(({ at }) => at.seq)),
]

const perMille = 1000

/** Those in which nothing secret was found. */
function unchanged(texts: readonly string[]): ReadonlySet<string> {
  const safe = redact(texts.join('\n')).text.split('\n')
  return new Set(safe.length === texts.length ? texts.filter((text, index) => safe[index] === text) : [])
}
