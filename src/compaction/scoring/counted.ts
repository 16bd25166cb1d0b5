// What a boundary writes down of what it had counted, and how the next one goes on from it. Without it a name that a hundred
// calls have used would be new again after each compaction, and lines that were kept would count as said at the boundary.
import type { Fold } from '../../projection/fold.ts'
import type { Part } from '../../projection/view.ts'
import { redact } from '../../disk/redact.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Counted } from '../../transcript/fact.ts'
import { seq } from '../../transcript/ids.ts'
import type { Line, LineRole } from './lines.ts'
import type { NameCounts } from './names.ts'
import { entriesInPieces, shortForm, type Carried, type OwnEdit } from './short-form.ts'
import { countKeys, type NamedCounts } from './short-names.ts'
import { soundCounted } from './sound.ts'

/** The newest that stands in sight; null before the first boundary, and where none wrote one. */
export function countedIn(fold: Fold, parts: readonly Part[]): Carried | null {
  let newest: Carried | null = null
  for (const { kind, from } of parts) {
    const own = kind === 'edit' ? countedAt(fold, from) : null
    if (own !== null && (newest === null || own.upTo > newest.upTo)) newest = own
  }
  return newest
}

/** Of the boundary whose text stands at a place. */
export function countedAt(fold: Fold, place: number): Carried | null {
  const top = fold.edits.topAt(place)
  return top?.edit.kind === 'summary' ? soundCounted(top.edit, top.seq) : null
}

const roles = ['call', 'result', 'answer'] as const satisfies readonly LineRole[]

/** Where a line that was kept came from; null where nothing is known of it. One out of pieces that stayed says only its entry. */
export function bornAs(
  line: Carried['lines'][number] | undefined,
): (Pick<Line, 'at'> & Partial<Pick<Line, 'role' | 'isError'> & { readonly born: number }>) | null {
  if (line === undefined) return null
  const [at, born, place, isError] = line
  const role = roles[place]
  return role === undefined ? { at } : { at, born, role, isError: isError === 1 }
}

const valuesOf = (counts: NameCounts): readonly number[] => countKeys.map((key) => counts[key])

export interface Stayed {
  /** In the order in which the text has them. */
  readonly lines: readonly Line[]
  /** Whose text they are in, with the entries that stay in pieces. */
  readonly edit: OwnEdit
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
    .map((index): NamedCounts => {
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
  const carried = {
    upTo: seq(upTo),
    answers: now,
    names: named,
    subjects: titles.map(
      ({ title, last, work }) => [plainTitles.has(title) ? title : '', last, work] as const,
    ),
    lines: stayed.lines.map(
      ({ at, age, role, isError }) =>
        [at, now - age, roles.findIndex((one) => one === role), isError ? 1 : 0] as const,
    ),
    kept: entriesInPieces(stayed.edit.keep).map((at) => [at, now - stayed.ageOf(at)] as const),
    files: files
      .filter(([name]) => plainFiles.has(name))
      .map(
        ([name, { work, changes, last, lastChange, lastShown }]) =>
          [name, Math.round(work * perMille) / perMille, changes, last, lastChange, lastShown] as const,
      ),
  }
  return shortForm(carried, stayed.edit)
}

const perMille = 1000

/** Those in which nothing secret was found. */
function unchanged(texts: readonly string[]): ReadonlySet<string> {
  const safe = redact(texts.join('\n')).text.split('\n')
  return new Set(safe.length === texts.length ? texts.filter((text, index) => safe[index] === text) : [])
}
