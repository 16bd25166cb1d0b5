// Whether what a boundary wrote down can be gone on from. A transcript may be damaged or made up: then the next boundary does
// without, as after one of an earlier version.
import { defaults } from '../../settings/defaults.ts'
import { isRecord } from '../../transcript/content.ts'
import type { Counted, SummaryEdit } from '../../transcript/fact.ts'

/** An edit never changes, and is asked for many times by one plan. */
const known = new WeakMap<SummaryEdit, Counted | null>()

/** What the edit at a place had counted; null where it has none, or none that could be true. */
export function soundCounted(edit: SummaryEdit, at: number): Counted | null {
  let sound = known.get(edit)
  if (sound === undefined) {
    // Nobody has looked at it before: another version may write it in another form.
    const { counted } = edit
    sound = counted !== undefined && isCounted(counted) && isTrue(counted, edit) ? within(counted) : null
    known.set(edit, sound)
  }
  return sound !== null && sound.upTo < at ? sound : null
}

function isCounted(value: unknown): value is Counted {
  if (!isRecord(value)) return false
  const { upTo, answers, names, subjects, lines, kept, files } = value
  return (
    [upTo, answers].every((number) => isWhole(number, 0, Number.MAX_SAFE_INTEGER)) &&
    [names, subjects, files].every((rows) => areRows(rows, isNamed)) &&
    [lines, kept].every((rows) => areRows(rows, areNumbers))
  )
}

const areRows = (rows: unknown, isRow: (row: readonly unknown[]) => boolean): boolean =>
  Array.isArray(rows) && rows.every((row) => Array.isArray(row) && isRow(row))
const isNamed = ([name, ...counts]: readonly unknown[]): boolean =>
  typeof name === 'string' && areNumbers(counts)
const areNumbers = (values: readonly unknown[]): boolean => values.every((one) => typeof one === 'number')

function isTrue(
  { upTo, answers, names, subjects, lines, kept, files }: Counted,
  { text, keep }: Pick<SummaryEdit, 'text' | 'keep'>,
): boolean {
  return (
    lines.length <= text.length &&
    kept.length <= keep.length &&
    isWhole(answers, 0, upTo + 1) &&
    subjects.length <= names.length + lines.length &&
    new Set(names.map(([name]) => name)).size === names.length &&
    names.every(([, ...counts]) => isName(counts, answers, subjects.length)) &&
    subjects.every(([, last, work]) => isWhole(last, 0, answers) && isAmount(work)) &&
    lines.every(([place, born]) => isWhole(place, 0, upTo) && isWhole(born, 0, answers)) &&
    kept.every(([place, born]) => isWhole(place, 0, upTo) && isWhole(born, -Infinity, answers)) &&
    files.every(
      ([, work, changes, ...times]) => isAmount(work) && isAmount(changes) && areTimes(times, answers),
    )
  )
}

/** Another version may have written down more than this one carries: names that were seen lately and the files at work stay. */
function within(counted: Counted): Counted {
  const { countedNames, countedFiles } = defaults.score
  const names = counted.names.map((named, index) => ({ named, index, last: named[lastSeen]! }))
  const latest = names.toSorted((a, b) => b.last - a.last || a.index - b.index).slice(0, countedNames)
  const isMore = names.length > countedNames
  return {
    ...counted,
    names: isMore ? latest.toSorted((a, b) => a.index - b.index).map(({ named }) => named) : counted.names,
    files: counted.files.slice(0, countedFiles),
  }
}

const lastSeen = 2

/** When first and last seen and last used, then what was counted, then the place of its subject. */
function isName(counts: readonly number[], answers: number, subjects: number): boolean {
  return (
    counts.length === nameNumbers &&
    areTimes(counts.slice(0, nameTimes), answers) &&
    counts.slice(nameTimes, -1).every(isAmount) &&
    isWhole(counts.at(-1), -1, subjects - 1)
  )
}

const nameTimes = 3
const nameNumbers = 11

const areTimes = (times: readonly number[], answers: number): boolean =>
  times.every((time) => isWhole(time, -1, answers))

const isWhole = (value: unknown, least: number, most: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most

const isAmount = (value: number | undefined): boolean =>
  value !== undefined && value >= 0 && value <= Number.MAX_SAFE_INTEGER
