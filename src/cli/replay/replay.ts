// `pal replay`: recorded sessions under other policies: what would have been sent, cached, paid and lost.
import { availableParallelism } from 'node:os'
import {
  playAll,
  reportOf,
  reportText,
  sampleSources,
  type BatchOptions,
  type Outcome,
  type Source,
} from '../../lab/index.ts'
import { defaults } from '../../settings/defaults.ts'
import { findModel, simulatedModels } from '../../simulator/index.ts'
import { exits, refuse, type Exit, type Refusal } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'
import { policiesIn, sourcesAt } from './choice.ts'
import { share, work } from './workers.ts'

export interface ReplayArguments {
  /** A recording, or a folder of them. */
  readonly path?: string | undefined
  /** The sessions that are made up. */
  readonly sample?: boolean | undefined
  readonly policy?: string | undefined
  readonly window?: number | undefined
  readonly model?: string | undefined
  readonly json?: boolean | undefined
  /** Processes that share the work. */
  readonly jobs?: number | undefined
  /** For the command itself: it plays what it is told on standard input. */
  readonly worker?: boolean | undefined
}

/** How the command calls itself again, null where it cannot. */
export type ReplayIo = Pick<Io, 'errIsTerminal' | 'out' | 'err' | 'lines'> & {
  readonly self: readonly string[] | null
}

const usual = 'append-only,standard'

export async function replayCommand(flags: ReplayArguments, io: ReplayIo): Promise<Exit> {
  if (flags.worker === true) {
    await work(io.lines(), io.out)
    return exits.done
  }
  const sources = flags.path === undefined ? sampleSources : await sourcesAt(flags.path)
  const options = await optionsFor(flags)
  for (const refused of [sources, options]) if ('exit' in refused) return complain(io, refused)
  if ('exit' in sources || 'exit' in options) return exits.usage
  const played = await play(sources, options, flags, io)
  if ('exit' in played) return complain(io, played)
  const { window, model } = options
  const names = options.policies.map(({ name }) => name)
  const report = reportOf(played.outcomes, names, { window, model })
  io.out(flags.json === true ? `${JSON.stringify(report, null, 2)}\n` : reportText(report))
  return played.outcomes.some(({ kind }) => kind === 'played') ? exits.done : exits.failed
}

function complain(io: ReplayIo, { exit, message }: Refusal): Exit {
  io.err(`pal: ${message}\n`)
  return exit
}

async function optionsFor(flags: ReplayArguments): Promise<BatchOptions | Refusal> {
  const model = flags.model ?? defaults.preset.model
  if (findModel(simulatedModels, model) === null)
    return refuse(
      exits.usage,
      `${model} is no model that can be simulated; one of ${simulatedModels.map(({ id }) => id).join(', ')}`,
    )
  const chosen = await policiesIn(flags.policy ?? usual)
  if ('exit' in chosen) return chosen
  return { policies: chosen, window: flags.window ?? defaults.counting.unknownWindowTokens, model }
}

/** Plays everything, with a bar on a terminal. */
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
  const workers = Math.min(jobs, sources.length)
  const shared =
    workers > 1 && io.self !== null
      ? share({ sources, job, workers, self: io.self, isOver })
      : { outcomes: playAll(sources, { ...job, isOver }), failure: () => null }
  for await (const outcome of shared.outcomes) {
    outcomes.push(outcome)
    if (outcome.kind === 'played') done += 1
    if (io.errIsTerminal) io.err(`\r${bar(done, total)}`)
  }
  if (io.errIsTerminal) io.err('\r\u001B[K')
  const failure = shared.failure()
  return failure === null ? { outcomes } : refuse(exits.failed, failure)
}

const barChars = 30

function bar(done: number, total: number): string {
  const full = Math.round((done / Math.max(1, total)) * barChars)
  return `${'█'.repeat(full)}${'░'.repeat(barChars - full)} ${done} of ${total} replays`
}
