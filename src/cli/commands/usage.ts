// `pal usage`: what sessions of Claude Code, Codex, pi and our own used and cost, by the provider's own counts. Only looks.
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  findOwn,
  requestsIn,
  usageReport,
  type BilledRequest,
  type Grouping,
  type UsageReport,
} from '../../lab/index.ts'
import { tableOf } from '../../preset.ts'
import { complain, exits, refuse, type Exit, type Refusal } from '../exit-codes.ts'
import { sinceOf } from '../replay/own.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'
import { dollars, percent, prose, table, whole } from '../terminal/tables.ts'
import { openWorkplace } from '../workplace/workplace.ts'

export interface UsageFlags {
  readonly by?: Grouping | undefined
  /** A day as 2026-11-01, or days back as 7d. */
  readonly since?: string | undefined
  readonly json?: boolean | undefined
  readonly csv?: boolean | undefined
  readonly cwd?: string | undefined
}

interface Gathered {
  readonly requests: readonly BilledRequest[]
  readonly files: number
  readonly problems: readonly string[]
}

const version = 1

export async function usage(
  io: Io,
  path: string | undefined,
  flags: UsageFlags,
  now: () => number = Date.now,
): Promise<Exit> {
  const since = sinceOf(flags.since, now())
  if (since === null)
    return complain(io, refuse(exits.usage, '--since must be a day as 2026-11-01, or days back as 7d'))
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  const found = path === undefined ? await ownFiles(io, join(place.home, 'projects')) : await filesAt(path)
  if ('exit' in found) return complain(io, found)
  const gathered = await gather(io, found, since, now)
  if (gathered.requests.length === 0)
    return complain(io, refuse(exits.failed, nothingIn(found.length, gathered, flags.since)))
  const by = flags.by ?? 'day'
  const report = usageReport(gathered.requests, by, tableOf(place.settings))
  if (flags.json === true)
    io.out(`${safeJson({ version, by, files: gathered.files, ...report, problems: gathered.problems }, 2)}\n`)
  else io.out(flags.csv === true ? csvOf(by, report) : prose(textOf(by, report, io.columns), io.columns))
  for (const problem of gathered.problems) io.err(`pal: ${safeLine(problem)}\n`)
  return exits.done
}

/** Those of other programs, sub-agents too, and our own. */
async function ownFiles(io: Io, projects: string): Promise<readonly string[]> {
  const { sessions } = await findOwn(io, { agents: true })
  const ours: string[] = []
  for (const slug of await readdir(projects).catch(() => []))
    for (const name of await readdir(join(projects, slug, 'sessions')).catch(() => []))
      if (name.endsWith('.jsonl')) ours.push(join(projects, slug, 'sessions', name))
  return [...sessions.map(({ path }) => path), ...ours.sort()]
}

async function filesAt(path: string): Promise<readonly string[] | Refusal> {
  try {
    if (!(await stat(path)).isDirectory()) return [path]
    const names = await readdir(path, { recursive: true })
    return names
      .filter((name) => /\.jsonl(?:\.gz)?$/.test(name))
      .sort()
      .map((name) => join(path, name))
  } catch (error) {
    return refuse(exits.usage, `${path} cannot be read (${(error as Error).message})`)
  }
}

const second = 1000

async function gather(
  io: Io,
  files: readonly string[],
  since: number | undefined,
  now: () => number,
): Promise<Gathered> {
  const requests: BilledRequest[] = []
  const problems: string[] = []
  const began = now()
  let shown = began
  for (const [index, file] of files.entries()) {
    if (now() - shown > second) {
      io.err(
        io.errIsTerminal
          ? `\r\u001B[Kread ${index} of ${files.length} files`
          : `read ${index} of ${files.length} files\n`,
      )
      // In a file a line a second would be too many.
      shown = now() + (io.errIsTerminal ? 0 : 9 * second)
    }
    const bytes = await readFile(file).catch((error: Error) => error.message)
    const read = typeof bytes === 'string' ? null : requestsIn(file, bytes)
    if (typeof bytes === 'string') problems.push(`${file} cannot be read (${bytes})`)
    else if (read?.ok === false) problems.push(read.failure.message)
    else if (read?.ok === true) {
      requests.push(...read.requests.filter(({ at }) => since === undefined || (at !== null && at >= since)))
      if (read.skipped > 0) problems.push(`${file}: ${read.skipped} lines could not be read`)
    }
  }
  if (io.errIsTerminal) io.err('\r\u001B[K')
  return { requests, files: files.length, problems }
}

const nothingIn = (files: number, { problems }: Gathered, since: string | undefined): string =>
  files === 0
    ? 'there is no session file of Claude Code, Codex, pi or pal here; name a file or a folder'
    : `no request with counts in ${files} files${since === undefined ? '' : ` since ${since}`}${problems.length === 0 ? '' : ` (${problems[0]})`}`

const right = (title: string) => ({ title, right: true })
const columns = ['requests', 'input', 'cache read', 'cache write', 'output', 'cost'] as const

/** What goes first where the room is small. */
const dropped: Readonly<Record<string, { readonly drop: number }>> = {
  'cache write': { drop: 4 },
  input: { drop: 3 },
  'cache read': { drop: 2 },
  requests: { drop: 1 },
}

type Total = UsageReport['total']
const cells = (total: Total): readonly string[] => [
  whole(total.requests),
  whole(total.input),
  whole(total.cacheRead),
  whole(total.cacheWrite),
  total.outputUnknown === total.requests
    ? 'unknown'
    : `${whole(total.output)}${total.outputUnknown > 0 ? '+' : ''}`,
  total.unpriced === total.requests
    ? 'no price'
    : `${dollars(total.dollars)}${total.unpriced > 0 ? '+' : ''}`,
]

function textOf(by: Grouping, { rows, total, copies, unpricedModels }: UsageReport, room: number): string {
  const parts = [
    ['cache read', total.paidFor.cacheRead],
    ['cache write', total.paidFor.cacheWrite],
    ['input', total.paidFor.input],
    ['output', total.paidFor.output],
  ] as const
  const shares = parts.map(
    ([name, paid]) => `${name} ${dollars(paid)} (${percent(total.dollars === 0 ? 0 : paid / total.dollars)})`,
  )
  const unpriced = Object.entries(unpricedModels).map(([model, count]) => `${model} (${count})`)
  return [
    table(
      [{ title: by, wraps: true }, ...columns.map((title) => ({ ...right(title), ...dropped[title] }))],
      [...rows.map((row) => [row.key, ...cells(row)]), ['total', ...cells(total)]],
      room,
    ),
    `Paid for: ${shares.join(', ')}.\n`,
    total.outputUnknown === 0
      ? ''
      : `Output unknown for ${whole(total.outputUnknown)} requests (their files have the count of when the answer began): in no sum.\n`,
    unpriced.length === 0
      ? ''
      : `No price is known for ${unpriced.join(', ')}: in no cost. A row in "models" of the settings gives one.\n`,
    copies === 0 ? '' : `${whole(copies)} copies of answers in other files were counted once.\n`,
  ].join('')
}

function csvOf(by: Grouping, { rows }: UsageReport): string {
  const head = [
    by,
    'requests',
    'input',
    'cache_read',
    'cache_write',
    'output',
    'output_unknown',
    'dollars',
    'unpriced',
  ]
  const lines = rows.map((row) => [
    row.key,
    row.requests,
    row.input,
    row.cacheRead,
    row.cacheWrite,
    row.output,
    row.outputUnknown,
    row.dollars.toFixed(6),
    row.unpriced,
  ])
  return `${[head, ...lines].map((cellsOf) => cellsOf.map((cell) => quoted(String(cell))).join(',')).join('\n')}\n`
}

/** As spreadsheets read it; a name from a file must not become a formula there. */
const quoted = (text: string): string => {
  const safe = safeLine(text)
  const plain = /^[=+\-@]/.test(safe) && Number.isNaN(Number(safe)) ? `'${safe}` : safe
  return /[",\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
