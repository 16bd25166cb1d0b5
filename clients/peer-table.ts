// The table of real programs: what each was charged and what stood in its requests, over the sessions that all of them played
// to their end, and how far our rule of a program is from the program.
import { sharesOf, sum, type Figures } from '../src/lab/measures.ts'
import { familyOf } from '../src/lab/playing/setup.ts'
import type { Script } from '../src/lab/playing/script.ts'
import { policyNamed } from '../src/lab/policies/list.ts'
import { prepareScript, replay } from '../src/lab/replay.ts'
import { window, type Program, type Ran } from './peer-run.ts'

export interface RuleRun {
  readonly session: string
  readonly rule: string
  /** In input tokens as the simulator counts them, answers apart. */
  readonly cost: number
  readonly figures: Figures
}

/** By whose rules and sizes our rows are played. */
const model = 'claude-opus-4-5'

/** Our rules for these programs on one session. */
export async function ruleRuns(script: Script, programs: readonly Program[]): Promise<readonly RuleRun[]> {
  const rules = [...new Set(programs.flatMap(({ rule }) => (rule === null ? [] : [rule])))]
  const runs: RuleRun[] = []
  const prepared = prepareScript(script)
  for (const rule of rules) {
    const policy = policyNamed(rule)
    if (policy === undefined) continue
    const figures = (await replay(prepared, { policy, window, model })).figures['5m']
    // The lab scales sizes to what providers counted; the simulator does not.
    const cost = sharesOf(figures).equivalents / familyOf(model).scale
    runs.push({ session: script.name, rule, cost, figures })
  }
  return runs
}

const million = (tokens: number): string => (tokens / 1e6).toFixed(2)
const percent = (share: number | null): string => (share === null ? '–' : (share * 100).toFixed(1))

/** Bill of the first of ours divided by the bill of the other: over all sessions, and the least and most of one. */
function ratioOf(ours: readonly Ran[], theirs: readonly Ran[]): string {
  const pairs = ours.flatMap((our) => {
    const their = theirs.find(({ session }) => session === our.session)
    return their === undefined || their.bill === 0 ? [] : [[our.bill, their.bill] as const]
  })
  if (pairs.length === 0) return '–'
  const total = (at: 0 | 1): number => pairs.reduce((all, pair) => all + pair[at], 0)
  const each = pairs.map(([our, their]) => our / their)
  return `${(total(0) / total(1)).toFixed(2)} (${Math.min(...each).toFixed(2)}–${Math.max(...each).toFixed(2)})`
}

const columns = [
  'program',
  'requests',
  'background',
  'refused',
  'failed',
  'read',
  'written',
  'input',
  '$',
  'bill',
  'need',
  'edits',
  'words',
  'more rounds',
  'first / it (each)',
]

function rowOf(label: string, runs: readonly Ran[], ours: readonly Ran[]): readonly string[] {
  const add = (of: (run: Ran) => number): number => runs.reduce((total, run) => total + of(run), 0)
  const { retention, readiness, words, moreRounds } = sharesOf(sum(runs.map(({ figures }) => figures)))
  return [
    label,
    String(add(({ requests }) => requests)),
    String(add(({ background, astray }) => background + astray)),
    String(add(({ refused }) => refused)),
    String(add(({ failures }) => failures)),
    million(add(({ read }) => read)),
    million(add(({ written }) => written)),
    million(add(({ uncached }) => uncached)),
    add(({ dollars }) => dollars).toFixed(2),
    million(add(({ bill }) => bill)),
    percent(retention),
    percent(readiness),
    percent(words),
    percent(moreRounds),
    ratioOf(ours, runs),
  ]
}

function ruleRow(
  { name, rule }: Program,
  runs: readonly Ran[],
  rules: readonly RuleRun[],
): readonly string[] | null {
  const pairs = runs.flatMap((run) => {
    const own = rules.find((one) => one.rule === rule && one.session === run.session)
    return own === undefined ? [] : [{ run, own }]
  })
  if (pairs.length === 0) return null
  const cost = pairs.reduce((total, { own }) => total + own.cost, 0)
  const real = pairs.reduce((total, { run }) => total + run.inputSide, 0)
  const { retention, readiness } = sharesOf(sum(pairs.map(({ own }) => own.figures)))
  return [
    name,
    rule ?? '',
    million(cost),
    million(real),
    (real / cost).toFixed(2),
    percent(retention),
    percent(sharesOf(sum(pairs.map(({ run }) => run.figures))).retention),
    percent(readiness),
  ]
}
const ruleColumns = [
  'program',
  'our rule',
  'cost by the rule',
  'by the program',
  'program / rule',
  'need by the rule',
  'by the program',
  'edits by the rule',
]

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)))
  const line = (row: readonly string[]): string =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  ')
  return rows.map((row) => `${line(row).trimEnd()}\n`).join('')
}

/** What one program was charged for one session and showed in it, or where it ended. */
function cellOf(run: Ran | undefined): string {
  if (run === undefined) return '–'
  if (run.answers < run.total) return `ended at ${run.answers} of ${run.total}`
  return `${million(run.bill)} / ${percent(sharesOf(run.figures).retention)}`
}

export function tableOf(
  runs: readonly Ran[],
  rules: readonly RuleRun[],
  programs: readonly Program[],
): string {
  const played = programs.filter(({ name }) => runs.some(({ program }) => program === name))
  const sessions = [...new Set(runs.map(({ session }) => session))].toSorted()
  const isWhole = (session: string): boolean =>
    played.every(({ name }) =>
      runs.some((run) => run.session === session && run.program === name && run.answers === run.total),
    )
  const common = sessions.filter(isWhole)
  const of = (name: string): readonly Ran[] =>
    runs.filter(({ program, session }) => program === name && common.includes(session))
  const left = sessions.filter((session) => !common.includes(session))
  const told = left.map((session) => {
    const cut = runs.filter((run) => run.session === session && run.answers < run.total)
    return `left out: ${session}, ${cut.map(({ program, answers, total }) => `${program} gave up at ${answers} of ${total}`).join(', ')}\n`
  })
  const ours = of(played.find(({ name }) => name.startsWith('pal'))?.name ?? '')
  const labels = new Map(runs.map(({ program, label }) => [program, label]))
  const table = aligned([
    columns,
    ...played.map(({ name }) => rowOf(labels.get(name) ?? name, of(name), ours)),
  ])
  const ruleTable = played.flatMap((program) => {
    const row = ruleRow(program, of(program.name), rules)
    return row === null ? [] : [row]
  })
  const sessionTable = sessions.map((session) => [
    session,
    ...played.map(({ name }) => cellOf(runs.find((run) => run.session === session && run.program === name))),
  ])
  return [
    `${common.length} of ${sessions.length} sessions that every program played to the end; tokens and bill in millions, bill in input tokens of the program's model\n\n`,
    ...told,
    table,
    `\nbill and need of each session\n\n${aligned([['session', ...played.map(({ name }) => name)], ...sessionTable])}`,
    ruleTable.length === 0
      ? ''
      : `\nour rules for these programs, input side without answers\n\n${aligned([ruleColumns, ...ruleTable])}`,
    verdictOf(played, of),
  ].join('')
}

/** The goal, said as it is: ours against the cheapest program of others. */
function verdictOf(played: readonly Program[], of: (name: string) => readonly Ran[]): string {
  const total = (name: string): number => of(name).reduce((all, { bill }) => all + bill, 0)
  const need = (name: string): number => sharesOf(sum(of(name).map(({ figures }) => figures))).retention ?? 0
  const isOurs = (name: string): boolean => name.startsWith('pal')
  const [cheapest] = played
    .filter(({ name }) => !isOurs(name) && total(name) > 0)
    .toSorted((a, b) => total(a.name) - total(b.name))
  if (cheapest === undefined) return ''
  const lines = played
    .filter(({ name }) => isOurs(name))
    .map(({ name }) => {
      const ratio = total(name) / total(cheapest.name)
      const isMet = ratio <= goal && need(name) >= need(cheapest.name)
      return `${name}: ${ratio.toFixed(2)} of the bill of ${cheapest.name}, the cheapest, with ${percent(need(name))} of needs in sight against ${percent(need(cheapest.name))}; the goal (at most ${goal} at no less need) is ${isMet ? 'met' : 'missed'}\n`
    })
  return `\n${lines.join('')}`
}
const goal = 0.8
