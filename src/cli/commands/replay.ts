// `pal replay`: recorded sessions under other policies: what would have been sent, cached, paid and lost. Many files
// are shared among processes of this same command; each prints its part as lines of JSON for the first one.
import { spawn } from 'node:child_process'
import { readdir, readFile, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import {
  playAll,
  policies,
  policyFrom,
  policyNamed,
  reportOf,
  reportText,
  type BatchOptions,
  type Outcome,
  type Policy,
} from '../../lab/index.ts'
import { defaults } from '../../settings/defaults.ts'
import { findModel, simulatedModels } from '../../simulator/index.ts'
import { exits, refuse, type Exit, type Refusal } from '../exit-codes.ts'

export interface ReplayArguments {
  /** A recording, or a folder of them. */
  readonly path: string
  /** Names or files, with commas between; `all` are all that have a name. */
  readonly policy?: string | undefined
  readonly window?: number | undefined
  readonly model?: string | undefined
  readonly json?: boolean | undefined
  /** Processes that share the work. */
  readonly jobs?: number | undefined
  /** `1/2`: only this part, as lines of JSON. For the command itself. */
  readonly part?: string | undefined
}

/** The streams; how the command calls itself again, null where it cannot. */
export interface ReplayIo {
  readonly errIsTerminal: boolean
  out(text: string): void
  err(text: string): void
  readonly self?: readonly string[] | null
}

const usual = 'append-only,standard'

export async function replayCommand(flags: ReplayArguments, io: ReplayIo): Promise<Exit> {
  const batch = await batchFor(flags)
  if ('exit' in batch) {
    io.err(`pal: ${batch.message}\n`)
    return batch.exit
  }
  if (batch.part !== undefined) {
    for await (const outcome of playAll(batch)) io.out(`${JSON.stringify(outcome)}\n`)
    return exits.done
  }
  const total = batch.files.length * batch.policies.length
  const outcomes: Outcome[] = []
  let done = 0
  const jobs = Math.min(flags.jobs ?? availableParallelism(), batch.files.length)
  const self = io.self ?? null
  const source =
    jobs > 1 && self !== null ? shared(flags, jobs, self) : { outcomes: playAll(batch), failure: () => null }
  for await (const outcome of source.outcomes) {
    outcomes.push(outcome)
    if (outcome.kind === 'played') done += 1
    if (io.errIsTerminal) io.err(`\r${progress(done, total)}`)
  }
  if (io.errIsTerminal) io.err('\r\u001B[K')
  const failure = source.failure()
  if (failure !== null) {
    io.err(`pal: ${failure}\n`)
    return exits.failed
  }
  const { window, model } = batch
  const report = reportOf(
    outcomes,
    batch.policies.map(({ name }) => name),
    { window, model },
  )
  io.out(flags.json === true ? `${JSON.stringify(report, null, 2)}\n` : reportText(report))
  const isPlayed = outcomes.some(({ kind }) => kind === 'played')
  return isPlayed ? exits.done : exits.failed
}

const barChars = 30

function progress(done: number, total: number): string {
  const full = Math.round((done / Math.max(1, total)) * barChars)
  return `${'█'.repeat(full)}${'░'.repeat(barChars - full)} ${done} of ${total} replays`
}

async function batchFor(flags: ReplayArguments): Promise<BatchOptions | Refusal> {
  const model = flags.model ?? defaults.preset.model
  if (findModel(simulatedModels, model) === null)
    return refuse(
      exits.usage,
      `${model} is no model that can be simulated; one of ${simulatedModels.map(({ id }) => id).join(', ')}`,
    )
  const window = flags.window ?? defaults.counting.unknownWindowTokens
  if (!(window > 0)) return refuse(exits.usage, '--window must be a number of tokens above 0')
  const part = flags.part === undefined ? undefined : partOf(flags.part)
  if (part === null) return refuse(exits.usage, '--part must be like 1/2')
  const files = await filesOf(flags.path)
  if ('exit' in files) return files
  const chosen: Policy[] = []
  for (const word of (flags.policy ?? usual).split(',')) {
    const found = await policiesFor(word.trim())
    if ('exit' in found) return found
    chosen.push(...found)
  }
  return { files, policies: chosen, window, model, part }
}

function partOf(text: string): { readonly index: number; readonly of: number } | null {
  const [, index, of] = /^(\d+)\/(\d+)$/.exec(text) ?? []
  const part = { index: Number(index) - 1, of: Number(of) }
  return part.index >= 0 && part.index < part.of ? part : null
}

/** In a fixed order, so that the same sessions are held out wherever they lie. */
async function filesOf(path: string): Promise<readonly string[] | Refusal> {
  try {
    if (!(await stat(path)).isDirectory()) return [path]
    const found = await readdir(path, { recursive: true })
    const names = found.filter((name) => /\.jsonl(?:\.gz)?$/.test(name)).sort()
    if (names.length === 0) return refuse(exits.usage, `${path} holds no recording (*.jsonl or *.jsonl.gz)`)
    return names.map((name) => join(path, name))
  } catch (error) {
    return refuse(exits.usage, `${path} cannot be read (${(error as Error).message})`)
  }
}

async function policiesFor(word: string): Promise<readonly Policy[] | Refusal> {
  if (word === 'all') return policies
  const named = policyNamed(word)
  if (named !== undefined) return [named]
  const names = policies.map(({ name }) => name).join(', ')
  try {
    const { size } = await stat(word)
    if (size > defaults.lab.maxPolicyBytes) return refuse(exits.usage, `${word} is too long for a policy`)
    const read = policyFrom(word, await readFile(word, 'utf8'))
    return read.ok ? [read.policy] : refuse(exits.usage, read.failure.message)
  } catch {
    return refuse(exits.usage, `${word} is neither a policy nor a file; there are ${names}, and all of them`)
  }
}

interface Shared {
  readonly outcomes: AsyncIterable<Outcome>
  /** Why a part is missing, once all have ended. */
  failure(): string | null
}

/** The parts run beside each other and are read as they come. */
function shared(flags: ReplayArguments, jobs: number, self: readonly string[]): Shared {
  const [command, ...first] = self
  let failure: string | null = null
  async function* outcomes(): AsyncGenerator<Outcome> {
    const waiting: Outcome[] = []
    const state = { running: jobs, wake: (): void => undefined }
    for (let index = 1; index <= jobs; index++) {
      const words = [...first, 'replay', ...wordsOf({ ...flags, part: `${index}/${jobs}` })]
      const child = spawn(command!, words, { stdio: ['ignore', 'pipe', 'inherit'] })
      createInterface({ input: child.stdout }).on('line', (line) => {
        waiting.push(JSON.parse(line) as Outcome)
        state.wake()
      })
      child.on('error', (error) => (failure = `a part could not be started: ${error.message}`))
      child.on('close', (code) => {
        if (code !== 0) failure ??= `a part ended with ${code}; try again with --jobs 1`
        state.running -= 1
        state.wake()
      })
    }
    while (state.running > 0 || waiting.length > 0) {
      yield* waiting.splice(0)
      if (state.running > 0 && waiting.length === 0)
        await new Promise<void>((resolve) => (state.wake = resolve))
    }
  }
  return { outcomes: outcomes(), failure: () => failure }
}

function wordsOf({ path, policy, window, model, part }: ReplayArguments): readonly string[] {
  const options = { policy, window, model, part }
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return [path, ...given.map(([name, value]) => `--${name}=${value}`)]
}
