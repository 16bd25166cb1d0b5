// `pal replay`: recorded sessions under other policies: what would have been sent, cached, paid and lost.
import { spawn } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import {
  comparedText,
  comparedWith,
  dial,
  filesUnder,
  kindOf,
  layers,
  playAll,
  policies,
  policyFrom,
  policyNamed,
  recordedModel,
  reportText,
  sampleSources,
  texts,
  withoutCopies,
  playOne,
  type BatchOptions,
  type Outcome,
  type Policy,
  type Source,
} from '../../lab/index.ts'
import { defaults } from '../../settings/defaults.ts'
import { findModel, simulatedModels } from '../../simulator/index.ts'
import { complain, exits, fail, refuse, type Exit, type Refusal } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'
import { judgeCompactions, type CompactionFlags } from './compactions.ts'
import { ownSessions, type OwnFlags } from './own.ts'
import { progressOn, reportFor, writePage } from './reporting.ts'
import { safeJson, safeLine, safeText } from '../terminal/safe-text.ts'

export interface ReplayArguments extends OwnFlags, CompactionFlags {
  /** Judge compactions instead of playing policies. */
  readonly compactions?: boolean | undefined
  /** The sessions that are made up. */
  readonly sample?: boolean | undefined
  readonly own?: boolean | undefined
  readonly policy?: string | undefined
  readonly window?: number | undefined
  readonly model?: string | undefined
  /** Where the page is written. */
  readonly report?: string | undefined
  readonly json?: boolean | undefined
  /** A policy that the others are compared with, session by session. */
  readonly against?: string | undefined
  /** Processes that share the work. */
  readonly jobs?: number | undefined
  /** For the command itself: it plays what it is told on standard input. */
  readonly worker?: boolean | undefined
}

/** How the command calls itself again, null where it cannot. */
export type ReplayIo = Io & { readonly self: readonly string[] | null }

const usual = 'append-only,standard'

export async function replayCommand(
  around: Io,
  path: string | undefined,
  flags: ReplayArguments,
): Promise<Exit> {
  const script = process.argv[1]
  const io: ReplayIo = { ...around, self: script === undefined ? null : [process.execPath, script] }
  if (flags.worker === true) {
    await work(io.lines(), (text) => io.out(text))
    return exits.done
  }
  const { sample = false } = flags
  const isOwn = flags.own === true || (path === undefined && !sample)
  if (Number(path !== undefined) + Number(sample) + Number(flags.own === true) > 1)
    return fail(io, exits.usage, 'a path, --own and --sample do not go together')
  if (flags.compactions !== true && (flags.show !== undefined || flags.simulated === true))
    return fail(io, exits.usage, '--show and --simulated go with --compactions')
  if (flags.compactions === true && isOwn)
    return fail(io, exits.usage, '--compactions needs a recording, a folder of them or --sample')
  const options = await optionsFor(flags)
  if ('exit' in options) return complain(io, options)
  if (isOwn)
    return ownSessions(flags, options, io, (sources, isOver) => play(sources, options, flags, io, isOver))
  const files = path === undefined ? [] : await recordingsAt(path, io)
  if ('exit' in files) return complain(io, files)
  const sources =
    path === undefined ? sampleSources : files.map((file): Source => ({ kind: 'file', path: file }))
  if (flags.compactions === true) return judgeCompactions(sources, flags, io)
  const played = await play(await withoutCopies(sources), options, flags, io)
  if ('exit' in played) return complain(io, played)
  const report = reportFor(played.outcomes, options)
  const { against } = flags
  const compared = against === undefined ? undefined : comparedWith(report, against)
  if (flags.json === true) io.out(`${safeJson({ ...report, compared }, 2)}\n`)
  else io.out(safeText(reportText(report) + (compared === undefined ? '' : comparedText(compared, against!))))
  const refused = await writePage(flags.report, report, options)
  if (refused !== null) return complain(io, refused)
  return played.outcomes.some(({ kind }) => kind === 'played') ? exits.done : exits.failed
}

async function optionsFor(flags: ReplayArguments): Promise<BatchOptions | Refusal> {
  const model = flags.model ?? recordedModel
  if (model !== recordedModel && findModel(simulatedModels, model) === null)
    return refuse(
      exits.usage,
      `${model} cannot be simulated; use ${recordedModel} for each recording's own, or one of ${simulatedModels.map(({ id }) => id).join(', ')}`,
    )
  const chosen = await policiesIn(flags.policy ?? usual)
  if ('exit' in chosen) return chosen
  if (flags.against !== undefined && !chosen.some(({ name }) => name === flags.against))
    return refuse(exits.usage, `--against ${flags.against} is none of the policies that are played`)
  const window = flags.window ?? null
  const timelines = flags.report === undefined ? [] : chosen.filter(isPictured).map(({ name }) => name)
  return { policies: chosen, window, model, timelines }
}

/** Every moment of every session under every policy would make the page too large. */
const isPictured = (policy: Policy): boolean => policy.ignoresWindow || kindOf(policy) === 'ours'

/** Plays everything, with a bar on a terminal and a line now and then elsewhere. */
export async function play(
  sources: readonly Source[],
  job: BatchOptions,
  { jobs = availableParallelism() }: Pick<ReplayArguments, 'jobs'>,
  io: ReplayIo,
  isOver?: () => boolean,
): Promise<{ readonly outcomes: readonly Outcome[] } | Refusal> {
  const total = sources.length * job.policies.length
  const outcomes: Outcome[] = []
  let done = 0
  const progress = progressOn(io)
  const workers = Math.min(jobs, sources.length)
  const shared =
    workers > 1 && io.self !== null
      ? share({ sources, job, workers, self: io.self, isOver })
      : { outcomes: playAll(sources, { ...job, isOver }), failure: () => null }
  for await (const outcome of shared.outcomes) {
    outcomes.push(outcome)
    if (outcome.kind === 'played') done += 1
    progress.tell(`${io.errIsTerminal ? `${bar(done, total)} ` : ''}${done} of ${total} replays`)
  }
  progress.end()
  const failure = shared.failure()
  return failure === null ? { outcomes } : refuse(exits.failed, failure)
}

const barChars = 30

function bar(done: number, total: number): string {
  const full = Math.round((done / Math.max(1, total)) * barChars)
  return `${'█'.repeat(full)}${'░'.repeat(barChars - full)}`
}

// ---- what the arguments choose ----

const groups: ReadonlyMap<string, readonly Policy[]> = new Map([
  ['all', policies],
  ['dial', dial],
  ['layers', layers],
  ['texts', texts],
])

/** Names or files, with commas between; `all` are all that have a name. */
async function policiesIn(names: string): Promise<readonly Policy[] | Refusal> {
  const chosen: Policy[] = []
  for (const name of names.split(',')) {
    const found = await policiesFor(name.trim())
    if ('exit' in found) return found
    chosen.push(...found)
  }
  return chosen
}

async function policiesFor(name: string): Promise<readonly Policy[] | Refusal> {
  const group = groups.get(name)
  if (group !== undefined) return group
  const named = policyNamed(name)
  if (named !== undefined) return [named]
  const names = policies.map(({ name }) => name).join(', ')
  try {
    const { size } = await stat(name)
    if (size > defaults.lab.maxPolicyBytes) return refuse(exits.usage, `${name} is too long for a policy`)
    const read = policyFrom(name, await readFile(name, 'utf8'))
    return read.ok ? [read.policy] : refuse(exits.usage, read.failure.message)
  } catch {
    const sets = [...groups.keys()].join(', ')
    return refuse(
      exits.usage,
      `${name} is neither a policy nor a file; there are ${names}, and the sets ${sets}`,
    )
  }
}

// ---- many recordings shared among processes of this same command ----
// Each worker gets the job as its first line, then one
// recording after the other as soon as it is free, and prints what comes out as lines of JSON; `done` ends a recording.

type Said = Outcome | { readonly kind: 'done' }

export interface Shared {
  readonly outcomes: AsyncIterable<Outcome>
  /** Why something is missing, once all have ended. */
  failure(): string | null
}

/** The other side: plays what comes in until the input ends. */
export async function work(lines: AsyncIterable<string>, out: (text: string) => void): Promise<void> {
  /** It is told first: everything but the recordings. */
  let job: BatchOptions | null = null
  for await (const line of lines) {
    if (job === null) {
      job = JSON.parse(line) as BatchOptions
      continue
    }
    const { source, file } = JSON.parse(line) as { readonly source: Source; readonly file: number }
    for await (const outcome of playOne(source, file, job)) out(`${JSON.stringify(outcome)}\n`)
    out('{"kind":"done"}\n')
  }
}

export interface SharedOptions {
  readonly sources: readonly Source[]
  readonly job: BatchOptions
  readonly workers: number
  /** How the command calls itself. */
  readonly self: readonly string[]
  /** Asked before each recording: the rest is left out. */
  readonly isOver?: (() => boolean) | undefined
}

export function share({ sources, job, workers, self, isOver = () => false }: SharedOptions): Shared {
  const [command, ...args] = self
  const queue = sources.map((source, file) => ({ source, file }))
  let failure: string | null = null
  const waiting: Outcome[] = []
  const state = { running: workers, wake: (): void => undefined }
  const begin = (): void => {
    const child = spawn(command!, [...args, 'replay', '--worker'], { stdio: ['pipe', 'pipe', 'inherit'] })
    const next = (): void => {
      const task = isOver() ? undefined : queue.shift()
      if (task === undefined) child.stdin.end()
      else child.stdin.write(`${JSON.stringify(task)}\n`)
    }
    // A worker that has died does not listen any more; its exit says so.
    child.stdin.on('error', () => undefined)
    child.stdin.write(`${JSON.stringify(job)}\n`)
    next()
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = JSON.parse(line) as Said
      if (said.kind === 'done') next()
      else waiting.push(said)
      state.wake()
    })
    child.on('error', (error) => (failure = `a worker could not be started: ${error.message}`))
    child.on('close', (code) => {
      if (code !== 0) failure ??= `a worker ended with ${code}; try again with --jobs 1`
      state.running -= 1
      state.wake()
    })
  }
  async function* outcomes(): AsyncGenerator<Outcome> {
    for (let count = 0; count < workers; count++) begin()
    while (state.running > 0 || waiting.length > 0) {
      yield* waiting.splice(0)
      if (state.running > 0 && waiting.length === 0)
        await new Promise<void>((resolve) => (state.wake = resolve))
    }
  }
  return { outcomes: outcomes(), failure: () => failure }
}

/** The recordings that a path names: a file, or every one below a folder. In a fixed order, so that the same sessions are held out wherever they lie. */
export async function recordingsAt(path: string, io: Pick<Io, 'err'>): Promise<readonly string[] | Refusal> {
  try {
    if (!(await stat(path)).isDirectory()) return [path]
    const { names, unread } = (await filesUnder(path))!
    for (const { folder, why } of unread)
      io.err(`pal: ${safeLine(folder)} cannot be entered (${why}); what lies there is left out\n`)
    const found: string[] = []
    for (const name of names.filter((one) => /\.jsonl(?:\.gz)?$/.test(one))) {
      const file = join(path, name)
      // Who reads a pipe that nobody writes to waits for ever.
      if ((await stat(file).catch(() => null))?.isFile() !== false) found.push(file)
    }
    return found.length > 0
      ? found
      : refuse(exits.usage, `${path} contains no recording (*.jsonl or *.jsonl.gz)`)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file or folder' : message
    return refuse(exits.usage, `${path} cannot be read: ${why}. Name a session file, or a folder of them`)
  }
}
