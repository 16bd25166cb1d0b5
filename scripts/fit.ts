// `npm run fit -- FOLDER [--write] [--left-out] [--rooms 4300,10000] [--at-dial]`: fits the weights of the score on the recorded
// sessions of a folder, those held out apart. `--write` puts them into src/settings/score-weights.ts; `--left-out` fits once
// for each project without it and judges that project's recorded compactions by those weights; `--at-dial` does the same for
// what the default boundary of the dial keeps at simulated ones.
//
// Rows are kept under node_modules/.cache, by the code that makes them, so that a second run is quick.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { progressOn } from '../src/cli/replay/reporting.ts'
import { lineFeatures } from '../src/compaction/scoring/lines.ts'
import { nameFeatures } from '../src/compaction/scoring/names.ts'
import { pieceFeatures } from '../src/compaction/scoring/pieces.ts'
import {
  compactionCells,
  compactionColumns,
  compactionReport,
  verdictsOf,
  type Verdict,
} from '../src/lab/compactions/report.ts'
import { atDial, nothingAtDial, type AtDial } from './fitting/at-dial.ts'
import { added } from '../src/lab/stats/gains.ts'
import { fitLogistic } from './fitting/logistic.ts'
import { rowsOf } from './fitting/rows.ts'
import { importFile } from '../src/lab/importers/import-file.ts'
import type { Recording } from '../src/lab/recording.ts'
import { defaults } from '../src/settings/defaults.ts'
import type { ScoreWeights } from '../src/settings/score-weights.ts'

const root = resolve(import.meta.dirname, '..')
const given = process.argv.slice(2)
const folder = given.find((word) => !word.startsWith('-') && !/^[\d,]+$/.test(word))
if (folder === undefined || !existsSync(folder)) {
  process.stderr.write(
    `${folder === undefined ? 'no folder of recordings was named' : `${folder} is not there`}; usage: npm run fit -- FOLDER [--write] [--left-out] [--rooms 4300,10000] [--at-dial]\n`,
  )
  process.exit(2)
}

interface Session {
  readonly recording: Recording
  readonly project: string
  readonly name: Float64Array
  readonly line: Float64Array
  readonly piece: Float64Array
}

const filesBelow = (path: string): readonly string[] =>
  readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(path, entry.name)) : [join(path, entry.name)],
  )

/** What the rows depend on. */
const code = createHash('sha256')
for (const file of [
  ...filesBelow(join(root, 'src', 'compaction', 'scoring')),
  ...[
    'compaction/call-shape',
    'compaction/command-line',
    'compaction/tool-code',
    'compaction/excerpts',
    'compaction/file-work',
    'compaction/phrases',
    'lab/compactions/moments',
    'lab/measuring/texts',
    'lab/entries',
    'settings/compaction-defaults',
  ].map((name) => join(root, 'src', `${name}.ts`)),
  join(import.meta.dirname, 'fitting', 'rows.ts'),
])
  code.update(readFileSync(file))
const cache = join(root, 'node_modules', '.cache', 'fit', code.digest('hex').slice(0, 16))
mkdirSync(cache, { recursive: true })

const files = readdirSync(folder)
  .filter((name) => /\.jsonl(?:\.gz)?$/.test(name))
  .toSorted()
const sessions: Session[] = []
const progress = progressOn({
  errIsTerminal: process.stderr.isTTY,
  err: (text) => process.stderr.write(text),
})
for (const [index, file] of files.entries()) {
  if ((index + 1) % defaults.lab.heldOutEvery === 0 && files.length > 1) continue
  const imported = await importFile(join(folder, file))
  if (!imported.ok) {
    process.stderr.write(`${imported.failure.message}\n`)
    continue
  }
  const { recording } = imported
  const known = join(cache, `${basename(file)}.json`)
  if (!existsSync(known)) writeFileSync(known, JSON.stringify(rowsOf(recording)))
  const rows = JSON.parse(readFileSync(known, 'utf8')) as {
    readonly name: number[]
    readonly line: number[]
    readonly piece: number[]
  }
  sessions.push({
    recording,
    project: recording.project ?? recording.name,
    name: Float64Array.from(rows.name),
    line: Float64Array.from(rows.line),
    piece: Float64Array.from(rows.piece),
  })
  progress.tell(`${index + 1} of ${files.length} sessions`)
}
progress.end()

function fit(without: string | null): ScoreWeights {
  const from = sessions.filter(({ project }) => project !== without)
  const [ridge, rounds] = [1, 30]
  const rounded = (weights: readonly number[]): readonly number[] =>
    weights.map((weight) => Number(weight.toFixed(4)))
  return {
    name: rounded(
      fitLogistic({ width: nameFeatures.length, values: from.map(({ name }) => name) }, ridge, rounds),
    ),
    line: rounded(
      fitLogistic({ width: lineFeatures.length, values: from.map(({ line }) => line) }, ridge, rounds),
    ),
    piece: rounded(
      fitLogistic({ width: pieceFeatures.length, values: from.map(({ piece }) => piece) }, ridge, rounds),
    ),
  }
}

const weights = fit(null)
const rows = (of: 'name' | 'line' | 'piece', width: number): number =>
  sessions.reduce((sum, session) => sum + session[of].length / (width + 2), 0)
const origin = `npm run fit: ${sessions.length} sessions of ${new Set(sessions.map(({ project }) => project)).size} projects, ${rows('name', nameFeatures.length)} names, ${rows('line', lineFeatures.length)} lines and ${rows('piece', pieceFeatures.length)} pieces at simulated boundaries; every third session held out`
process.stdout.write(`${origin}\n\n`)
for (const [title, names, list] of [
  ['a name is needed', nameFeatures, weights.name],
  ['a line helps', lineFeatures, weights.line],
  ['an edit quotes a piece', pieceFeatures, weights.piece],
] as const)
  process.stdout.write(
    `${title}\n${names.map((name, at) => `  ${list[at]!.toFixed(4).padStart(9)}  ${name}\n`).join('')}\n`,
  )

if (given.includes('--write')) {
  const file = join(root, 'src', 'settings', 'score-weights.ts')
  const text = readFileSync(file, 'utf8')
  const list = (numbers: readonly number[]): string => `[${numbers.join(', ')}]`
  const fresh = `export const scoreWeights: ScoreWeights & { readonly origin: string } = {\n  origin:\n    '${origin}',\n  name: ${list(weights.name)},\n  line: ${list(weights.line)},\n  piece: ${list(weights.piece)},\n}\n`
  writeFileSync(file, text.slice(0, text.indexOf('export const scoreWeights')) + fresh)
  process.stdout.write(
    `written to ${file.slice(dirname(root).length + 1)}; npm run format puts the lines in order\n`,
  )
}

if (given.includes('--left-out')) {
  const at = given.indexOf('--rooms')
  const rooms = at < 0 ? undefined : given[at + 1]!.split(',').map(Number)
  const verdicts: Verdict[] = []
  const judged = sessions.filter(({ recording }) =>
    recording.turns.some(({ content }) => content.some(({ kind }) => kind === 'compact_summary')),
  )
  for (const project of new Set(judged.map((session) => session.project))) {
    const plan = { weights: fit(project) }
    for (const session of judged)
      if (session.project === project)
        verdicts.push(...verdictsOf(session.recording, { isHeldOut: false, simulated: false, rooms, plan }))
  }
  const report = compactionReport(verdicts)
  const table = [compactionColumns, ...report.rows.map(compactionCells)]
  const widths = compactionColumns.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  process.stdout.write(
    `recorded compactions, each project by weights that were fitted without it\n${table.map((row) => `${row.map((cell, column) => (column > 1 ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!))).join('  ')}\n`).join('')}`,
  )
  for (const line of report.tooLong) process.stdout.write(`  did not fit: ${line}\n`)
}
if (given.includes('--at-dial')) tellAtDial()

/** What the default boundary keeps, each project by weights that were fitted without it. */
function tellAtDial(): void {
  const sums = new Map<string, AtDial>()
  for (const project of new Set(sessions.map((session) => session.project))) {
    const plan = { weights: fit(project) }
    for (const { recording, project: own } of sessions) {
      if (own !== project) continue
      const kept = atDial(recording, plan)
      for (const client of [recording.client.split(' ')[0]!, 'all'])
        sums.set(client, added(sums.get(client) ?? nothingAtDial, kept))
    }
  }
  const share = (part: number, whole: number): string =>
    whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} % of ${whole}`
  process.stdout.write(
    `\nat simulated boundaries, the dial at ${defaults.dial.thrift}, each project by weights that were fitted without it\n`,
  )
  for (const [client, kept] of sums)
    if (kept.boundaries > 0)
      process.stdout.write(
        `  ${client}: ${kept.boundaries} boundaries to ${(kept.tokens / kept.boundaries / 1000).toFixed(1)}K tokens, texts of edits ${share(kept.ready, kept.edits)}, details in company ${share(kept.company, kept.details)}, answers that look something up ${share(kept.rounds, kept.answers)}\n`,
      )
}
