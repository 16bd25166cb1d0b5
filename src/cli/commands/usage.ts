// `pal usage`: what sessions of Claude Code, Codex, pi, Gemini CLI, opencode and our own used and cost, by the provider's own counts. Only looks.
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  findOwn,
  isLong,
  opencodeDatabase,
  opencodeRequests,
  opencodeRows,
  policyNamed,
  recordedModel,
  requestsIn,
  requestsInLong,
  usageReport,
  type Billed,
  type BilledFork,
  type BilledRequest,
  type Grouping,
  type Spending,
  type UsageReport,
} from '../../lab/index.ts'
import { isAgents } from '../../companion/find-session.ts'
import { machineFileSystem } from '../../disk/fs.ts'
import { tableOf } from '../../preset.ts'
import { complain, exits, fail, type Exit, type Refusal } from '../exit-codes.ts'
import { sinceOf, verdictOn } from '../replay/own.ts'
import { play, recordingsAt } from '../replay/replay.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'
import {
  counted,
  countedByUs,
  dollars,
  percent,
  prose,
  table,
  whole,
  right,
  wraps,
} from '../terminal/tables.ts'
import { namesIn } from '../workplace/files.ts'
import { openWorkplace, type ProjectFlags } from '../workplace/workplace.ts'

export interface UsageFlags extends ProjectFlags {
  readonly by?: Grouping | undefined
  /** A day as 2026-11-01, or days back as 7d. */
  readonly since?: string | undefined
  readonly csv?: boolean | undefined
  /** Also what our policy would have cost: plays the sessions again. */
  readonly compare?: boolean | undefined
}

interface Gathered {
  readonly requests: readonly BilledRequest[]
  /** Work in the background without a transcript of its own: its tokens are not split, so it stands in no row. */
  readonly background: { readonly jobs: number; readonly tokens: number; readonly dollars: number }
  /** Answers of the offline model, which cost nothing. */
  readonly simulated: number
  readonly files: number
  /** Files with an answer that was asked for. */
  readonly asked: readonly string[]
  readonly problems: readonly string[]
}

const version = 1

export async function usage(io: Io, path: string | undefined, flags: UsageFlags): Promise<Exit> {
  const since = sinceOf(flags.since)
  if (since === null) return fail(io, exits.usage, '--since must be a day as 2026-11-01, or days back as 7d')
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  const found =
    path === undefined ? await ownFiles(io, join(place.home, 'projects')) : await recordingsAt(path, io)
  if ('exit' in found) return complain(io, found)
  const gathered = await gather(io, found, since)
  if (gathered.requests.length === 0)
    return fail(io, exits.failed, nothingIn(found.length, gathered, flags.since))
  const by = flags.by ?? 'day'
  const report = usageReport(gathered.requests, by, tableOf(place.settings))
  const verdict = flags.compare === true ? await comparison(gathered.asked, flags.since, io) : ''
  if (typeof verdict !== 'string') return complain(io, verdict)
  if (flags.json === true)
    io.out(
      `${safeJson({ version, by, ...gathered, requests: undefined, asked: undefined, ...report, ...(verdict === '' ? {} : { verdict: verdict.trim() }) }, 2)}\n`,
    )
  else
    io.out(
      flags.csv === true
        ? csvOf(by, report)
        : prose(`${verdict}${textOf(by, report, gathered, io.columns)}`, io.columns),
    )
  for (const problem of gathered.problems) io.err(`pal: ${safeLine(problem)}\n`)
  return exits.done
}

/** Sub-agents are part of what their sessions cost, but no conversation that could be played. */
async function comparison(
  files: readonly string[],
  since: string | undefined,
  io: Io,
): Promise<string | Refusal> {
  const policies = ['append-only', 'standard'].flatMap((name) => policyNamed(name) ?? [])
  const options = { policies, window: null, model: recordedModel }
  const played = files.filter((file) => !isAgents(file))
  const verdict = await verdictOn(played, options, (sources, isOver) =>
    play(sources, options, { jobs: 1 }, { ...io, self: null }, isOver),
  )
  if (typeof verdict !== 'string' || since === undefined) return verdict
  return `${verdict}That is of whole sessions, also of what they did before ${since}.\n`
}

/** Those of other programs, sub-agents too, and our own. */
async function ownFiles(io: Io, projects: string): Promise<readonly string[]> {
  const { sessions, passedOver } = await findOwn(io, { forUsage: true })
  for (const { why, count } of passedOver) io.err(`pal: not counted: ${count} ${safeLine(why)}\n`)
  const ours: string[] = []
  const problems: string[] = []
  for (const slug of await namesIn(machineFileSystem, projects, problems))
    for (const session of await namesIn(machineFileSystem, join(projects, slug, 'sessions'), problems))
      ours.push(join(projects, slug, 'sessions', session, 'transcript.jsonl'))
  for (const problem of problems) io.err(`pal: not counted: ${safeLine(problem)}\n`)
  const database = opencodeDatabase(io)
  const hasDatabase = (await stat(database).catch(() => null))?.isFile() ?? false
  return [...sessions.map(({ path }) => path), ...ours.sort(), ...(hasDatabase ? [database] : [])]
}

const second = 1000
const minute = 60 * second

/** A long file is read piece by piece; a packed one is as long as it is unpacked, and held. */
async function billedIn(file: string): Promise<Billed> {
  return (await isLong(file)) ? requestsInLong(file, () => false) : requestsIn(file, await readFile(file))
}

async function gather(io: Io, files: readonly string[], since: number | undefined): Promise<Gathered> {
  const requests: BilledRequest[] = []
  const asked: string[] = []
  const forks: BilledFork[] = []
  const problems: string[] = []
  const isAsked = ({ at }: { readonly at: number | null }): boolean =>
    since === undefined || (at !== null && at >= since)
  let simulated = 0
  let shown = Date.now()
  for (const [index, file] of files.entries()) {
    if (Date.now() - shown > second) {
      io.err(
        io.errIsTerminal
          ? `\r\u001B[Kread ${index} of ${files.length} files`
          : `read ${index} of ${files.length} files\n`,
      )
      // In a file a line a second would be too many.
      shown = Date.now() + (io.errIsTerminal ? 0 : 9 * second)
    }
    if (file.endsWith('.db')) {
      const rows = await opencodeRows(file)
      if (rows.ok) requests.push(...opencodeRequests(file, rows.messages).filter(isAsked))
      else problems.push(rows.why)
      continue
    }
    const read = await billedIn(file).catch((error: Error) => error.message)
    if (typeof read === 'string') problems.push(`${file} cannot be read (${read})`)
    else if (!read.ok) problems.push(read.failure.message)
    else {
      const those = read.requests.filter(isAsked)
      requests.push(...those)
      if (those.length > 0) asked.push(file)
      forks.push(...read.forks.filter(isAsked))
      simulated += read.simulated.filter(isAsked).length
      if (read.skipped > 0) problems.push(`${file}: ${counted(read.skipped, 'line')} could not be read`)
    }
  }
  if (io.errIsTerminal) io.err('\r\u001B[K')
  const seen = new Set(requests.map(({ session }) => session))
  const noted = forks.filter(({ child, tokens }) => tokens > 0 && !seen.has(child))
  const background = {
    jobs: noted.length,
    tokens: noted.reduce((sum, { tokens }) => sum + tokens, 0),
    dollars: noted.reduce((sum, { dollars: paid }) => sum + paid, 0),
  }
  return { requests, background, simulated, files: files.length, asked, problems }
}

const nothingIn = (files: number, { problems, simulated }: Gathered, since: string | undefined): string =>
  files === 0
    ? 'there is no session file of Claude Code, Codex, pi, Gemini CLI, opencode or pal here; name a file or a folder'
    : simulated > 0
      ? `every answer${since === undefined ? '' : ` since ${since}`} in ${counted(files, 'file')} is of the offline model, which costs nothing`
      : `no request with counts in ${counted(files, 'file')}${since === undefined ? '' : ` since ${since}`}${problems.length === 0 ? '' : ` (${problems[0]})`}`

const columns = [
  right('requests', 1),
  right('input', 3),
  right('cache read', 2),
  right('cache write', 4),
  right('output'),
  right('cost'),
]

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

function textOf(
  by: Grouping,
  { rows, total, copies, unpricedModels, spending }: UsageReport,
  { background, simulated }: Gathered,
  room: number,
): string {
  const unpriced = Object.entries(unpricedModels).map(([model, count]) => `${safeLine(model)} (${count})`)
  return [
    table(
      [wraps(by), ...columns],
      [...rows.map((row) => [row.key, ...cells(row)]), ['total', ...cells(total)]],
      room,
    ),
    total.dollars === 0 ? '' : spendingText(spending, total.dollars, room),
    total.outputUnknown === 0
      ? ''
      : `Output unknown for ${whole(total.outputUnknown)} requests (their files have the count of when the answer began): in no sum.\n`,
    total.estimated === 0 ? '' : countedByUs(total.estimated, total.requests),
    unpriced.length === 0
      ? ''
      : `No price is known for ${unpriced.join(', ')}: in no cost. A row in "models" of the settings gives one.\n`,
    copies === 0 ? '' : `${whole(copies)} copies of answers in other files were counted once.\n`,
    background.jobs === 0
      ? ''
      : `Not in the table: ${counted(background.jobs, 'background job')} without a file of ${background.jobs === 1 ? 'its' : 'their'} own: ${whole(background.tokens)} tokens, ${dollars(background.dollars)}.\n`,
    simulated === 0
      ? ''
      : `${simulated === 1 ? '1 answer of the offline model costs nothing and is' : `${whole(simulated)} answers of the offline model cost nothing and are`} not counted.\n`,
  ].join('')
}

function spendingText({ worst, breaks, ...paid }: Spending, all: number, room: number): string {
  const parts = [
    ['carried: read from the cache, request after request', paid.carried],
    ['sent for the first time', paid.sentFirst],
    ['sent again because the cache broke', paid.rewritten],
    ['sent again because it had gone cold', paid.coldReturns],
    ['output', paid.output],
  ] as const
  const went = table(
    [wraps('where the money went'), right('cost'), right('share')],
    parts.map(([name, value]) => [name, dollars(value), percent(value / all)]),
    room,
  )
  if (worst.length === 0) return `\n${went}`
  const rows = worst.map(({ at, program, session, tokens, dollars: cost, cause, pauseMs }) => [
    at === null ? 'unknown time' : new Date(at).toISOString().slice(0, 16).replace('T', ' '),
    `${program} ${session}`,
    whole(tokens),
    dollars(cost),
    cause === 'a pause' && pauseMs !== null ? `a pause of ${whole(Math.round(pauseMs / minute))} min` : cause,
  ])
  const columnsOf = ['when (UTC)', wraps('session', 1)]
  const shown =
    worst.length < breaks ? `the worst ${worst.length} of ${whole(breaks)} cache breaks` : 'cache breaks'
  return `\n${went}\n${shown}\n${table([...columnsOf, right('tokens sent again'), right('cost'), 'likely because of'], rows, room)}`
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
    'estimated',
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
    row.estimated,
  ])
  return `${[head, ...lines].map((cellsOf) => cellsOf.map((cell) => quoted(String(cell))).join(',')).join('\n')}\n`
}

/** As spreadsheets read it; a name from a file must not become a formula there. */
const quoted = (text: string): string => {
  const safe = safeLine(text)
  const plain = /^[=+\-@]/.test(safe) && Number.isNaN(Number(safe)) ? `'${safe}` : safe
  return /[",\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
