// `pal replay PATH --compactions`: what compactions kept of what the recorded future needed, the vendor's text beside ours.
import {
  clientOf,
  compactionCells,
  compactionColumns,
  compactionReport,
  load,
  recordedMoments,
  shownCompaction,
  verdictsOf,
  type ShownCompaction,
  type Source,
  type Verdict,
} from '../../lab/index.ts'
import { defaults } from '../../settings/defaults.ts'
import { print, exits, fail, type Exit } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'
import { right, table } from '../terminal/tables.ts'
import { progressOn } from './reporting.ts'

export interface CompactionFlags {
  readonly json?: boolean | undefined
  /** The number of a recorded compaction that is shown side by side, from 1. */
  readonly show?: number | undefined
  /** Also at boundaries that nobody made. */
  readonly simulated?: boolean | undefined
}

export async function judgeCompactions(
  sources: readonly Source[],
  flags: CompactionFlags,
  io: Io,
): Promise<Exit> {
  if (flags.show !== undefined) return showOne(sources, flags.show, flags.json === true, io)
  const verdicts: Verdict[] = []
  const problems: string[] = []
  const progress = progressOn(io)
  for (const [file, source] of sources.entries()) {
    progress.tell(`${file + 1} of ${sources.length} sessions`)
    const imported = await load(source)
    if (!imported.ok) problems.push(imported.failure.message)
    else {
      const isHeldOut = (file + 1) % defaults.lab.heldOutEvery === 0 && sources.length > 1
      verdicts.push(...verdictsOf(imported.recording, { isHeldOut, simulated: flags.simulated === true }))
    }
  }
  progress.end()
  const report = compactionReport(verdicts)
  if (flags.json === true) io.out(`${safeJson({ ...report, verdicts, problems }, 2)}\n`)
  else if (verdicts.length === 0)
    io.out('No compaction is recorded in there. --simulated judges boundaries that nobody made.\n')
  else {
    const columns = compactionColumns.map((title, at) => (at > 1 ? right(title) : title))
    const cells = report.rows.map((row) => compactionCells(row).map((cell) => safeLine(cell)))
    const list = (title: string, lines: readonly string[]): string =>
      lines.length === 0 ? '' : `\n${title}\n${lines.map((line) => `  ${safeLine(line)}\n`).join('')}`
    io.out(
      `${table(columns, cells, io.columns)}${footnote}${list("where the user's words did not all fit", report.tooLong)}${list('no compaction of ours', report.refused)}${list('not read', problems)}`,
    )
  }
  return problems.length === 0 ? exits.done : exits.failed
}

const footnote = `
Details are names, paths, numbers and hashes that a later call used before they were seen again. Per cent of them in what
stands after the compaction: anywhere (bare), beside a word they stood with before (company), beside a word of the answer
that uses them (useful). Sizes are our estimate. docs/measures.md has the definitions.
`

async function showOne(sources: readonly Source[], number: number, isJson: boolean, io: Io): Promise<Exit> {
  let count = 0
  for (const source of sources) {
    const imported = await load(source)
    if (!imported.ok) continue
    const own = recordedMoments(imported.recording).length
    const shown =
      number > count && number <= count + own ? shownCompaction(imported.recording, number - count - 1) : null
    count += own
    if (shown === null) continue
    return print(io, isJson, shown, () => shownText(shown, clientOf(imported.recording), io.columns))
  }
  return fail(
    io,
    exits.usage,
    count === 0
      ? 'no compaction is recorded in there; --show needs one'
      : `there are ${count} recorded compactions; --show takes a number from 1 to ${count}`,
  )
}

function shownText(
  { session, turn, vendor, ours, needed, words }: ShownCompaction,
  client: string,
  room: number,
): string {
  const block = (text: string): string =>
    text
      .split('\n')
      .map((line) => `  ${safeLine(line)}`)
      .join('\n')
  const rows = needed.map((one) => [one.atom, one.vendor, one.ours, one.line].map((cell) => safeLine(cell)))
  return [
    `${session}, turn ${turn}\n`,
    `What ${client} kept (${words.vendor}% of the user's characters):\n${vendor === null ? '  sealed: it cannot be read' : block(vendor)}\n`,
    `What we keep in the same room (${words.ours}% of the user's characters):\n${block(ours)}\n`,
    table(['needed later', client, 'ours', 'as it stood before'], rows, room),
  ].join('\n')
}
