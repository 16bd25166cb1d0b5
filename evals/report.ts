// What came out, as a table and side by side with another side.
import type { Played, Row } from './run.ts'

export interface Summary {
  readonly label: string
  readonly rows: Played['rows']
  readonly left: Played['left']
}

const total = (row: Row, pick: (spent: Row['runs'][number]['spent']) => number): number =>
  row.runs.reduce((sum, { spent }) => sum + pick(spent), 0)

export const dollarsOf = ({ rows }: Pick<Played, 'rows'>): number =>
  rows.reduce((sum, row) => sum + total(row, ({ dollars }) => dollars), 0)

const score = ({ runs }: Row): string => `${runs.filter(({ passed }) => passed).length}/${runs.length}`
const mean = (row: Row, pick: (spent: Row['runs'][number]['spent']) => number): string =>
  Math.round(total(row, pick) / Math.max(1, row.runs.length)).toLocaleString('en-US')

/** What did not hold, and in how many runs. */
function misses({ runs }: Row): string {
  const counts = new Map<string, number>()
  for (const run of runs) {
    const wrong = run.criteria.filter(({ holds }) => !holds).map(({ says }) => `not: ${says}`)
    for (const why of run.trouble === null ? wrong : [run.trouble, ...wrong])
      counts.set(why, (counts.get(why) ?? 0) + 1)
  }
  return [...counts].map(([why, count]) => (count > 1 ? `${why} (${count})` : why)).join('; ')
}

export function table(played: Summary): string {
  const cells = played.rows.map((row) => [
    row.passed ? 'pass' : 'FAIL',
    row.task,
    score(row),
    mean(row, ({ tokens }) => tokens),
    mean(row, ({ calls }) => calls),
    `$${total(row, ({ dollars }) => dollars).toFixed(3)}`,
    misses(row),
  ])
  const passed = played.rows.filter((row) => row.passed).length
  return [
    played.label,
    aligned([['', 'task', 'runs', 'tokens', 'calls', 'cost', 'what did not hold'], ...cells]),
    `${passed} of ${played.rows.length} passed, $${dollarsOf(played).toFixed(2)}`,
    ...(played.left.length === 0 ? [] : [`not played, the cap was reached: ${played.left.join(', ')}`]),
  ].join('\n')
}

/** The same tasks on two sides; what differs stands first. */
export function comparison(one: Summary, other: Summary): string {
  const rows = one.rows.flatMap((row) => {
    const twin = other.rows.find(({ task }) => task === row.task)
    return twin === undefined ? [] : [{ row, twin, differs: row.passed !== twin.passed }]
  })
  const cells = rows
    .toSorted((a, b) => Number(b.differs) - Number(a.differs))
    .map(({ row, twin, differs }) => [
      differs ? (row.passed ? 'better' : 'WORSE') : '',
      row.task,
      score(row),
      score(twin),
      mean(row, ({ tokens }) => tokens),
      mean(twin, ({ tokens }) => tokens),
    ])
  return aligned([
    ['', 'task', one.label, other.label, `tokens ${one.label}`, `tokens ${other.label}`],
    ...cells,
  ])
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
