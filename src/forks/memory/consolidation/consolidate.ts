// One consolidation: the lock, the world as it is, a fork that proposes, and a change set that code has checked. Whatever
// ends it, the lock is given back; only one that went well counts as the last.
import { localDay } from '../../../memory/format/day.ts'
import type { JobContext } from '../../../engine/ports.ts'
import { diaryFolder, type Provenance } from '../../../memory/memory.ts'
import type { FolderStore } from '../../../memory/keeping/folder-store.ts'
import { finishSet } from '../../../memory/sets/change-sets.ts'
import { manifestLine } from '../../../memory/recall/recall-text.ts'
import { defaults } from '../../../settings/defaults.ts'
import { guardedTools } from '../../../tools/files/guard.ts'
import type { MemoryJob } from '../memory-jobs.ts'
import { memoryLimits } from '../limits.ts'
import type { MemoryJobOptions } from '../memory-jobs.ts'
import { isOurs } from '../memory-jobs.ts'
import {
  lastConsolidation,
  releaseConsolidationLock,
  takeConsolidationLock,
  type ConsolidationLock,
} from './lock.ts'
import { sessionsFolder, withMissed } from './missed.ts'
import { consolidationPrompt } from './prompt.ts'
import { changeSetOf, type MadeChange } from './change-set.ts'
import { doubtsAbout } from './doubts.ts'
import { stagingFor } from './staging.ts'
import { readSnapshot, type Snapshot } from './snapshot.ts'

export const consolidationPurpose = 'dream'

/** Who runs the fork: a session, or what stands for it in the background. */
export type Forking = Pick<JobContext, 'fork' | 'ending'>

export interface ConsolidateOptions {
  /** Only says what it would do. */
  readonly isDry: boolean
  /** The user asked for it, so review mode does not hold it. */
  readonly isAsked: boolean
}

export type Consolidated =
  | {
      readonly kind: 'changed' | 'shown' | 'nothing'
      /** The set it made, to be taken back by. */
      readonly set: string | null
      readonly changes: readonly MadeChange[]
      readonly report: readonly string[]
      /** Memories that have no room in the index. */
      readonly dropped: readonly string[]
      readonly read: number
    }
  | { readonly kind: 'taken' }
  | { readonly kind: 'failed' | 'killed'; readonly why: string }

export async function consolidate(
  options: MemoryJobOptions,
  keeper: FolderStore,
  context: Forking,
  job: MemoryJob,
  how: ConsolidateOptions,
): Promise<Consolidated> {
  const consolidated = await locked(options, keeper, context, job, how)
  const state =
    consolidated.kind === 'failed' || consolidated.kind === 'killed' ? consolidated.kind : 'completed'
  job.end(state, reportOf(consolidated))
  return consolidated
}

function reportOf(consolidated: Consolidated): readonly string[] {
  if (consolidated.kind === 'taken') return ['another process does it']
  if ('why' in consolidated) return [consolidated.why]
  return consolidated.report.length === 0 ? ['everything was in order'] : consolidated.report
}

async function locked(
  options: MemoryJobOptions,
  keeper: FolderStore,
  context: Forking,
  job: MemoryJob,
  how: ConsolidateOptions,
): Promise<Consolidated> {
  const before = await finishSet(keeper)
  if (!before.ok) return failed(before.failure.message)
  const taken = await takeConsolidationLock(keeper)
  if (!taken.ok) return failed(taken.failure.message)
  const { lock } = taken
  if (lock === null) return { kind: 'taken' }
  let consolidated: Consolidated = failed('it broke off')
  try {
    consolidated = await under(options, keeper, context, job, how)
  } finally {
    consolidated = await givenBack(keeper, lock, consolidated)
  }
  return consolidated
}

async function givenBack(
  keeper: FolderStore,
  lock: ConsolidationLock,
  consolidated: Consolidated,
): Promise<Consolidated> {
  const isDone = consolidated.kind === 'changed' || consolidated.kind === 'nothing'
  const released = await releaseConsolidationLock(keeper, lock, isDone ? 'done' : 'failed')
  return released.ok ? consolidated : failed(released.failure.message)
}

async function under(
  options: MemoryJobOptions,
  keeper: FolderStore,
  context: Forking,
  job: MemoryJob,
  how: ConsolidateOptions,
): Promise<Consolidated> {
  const read = await worldOf(options, keeper)
  if (!read.ok) return failed(read.failure.message)
  const { world } = read
  const count = world.memories.size
  const nothing = { kind: 'nothing', set: null, changes: [], report: [], dropped: [], read: count } as const
  if (world.texts.size === 0) return nothing
  const proposed = await proposals(options, keeper, world, context, job)
  if ('kind' in proposed) return proposed
  // What is true of the user is not shown by a project.
  const found = keeper.scope === 'project' ? await doubtsAbout(keeper, options.root, world) : null
  if (found?.ok === false) return failed(found.failure.message)
  const outcome = changeSetOf(world, proposed.staged, keeper.clock.now(), found?.doubts)
  if (!outcome.ok) return failed(outcome.why)
  const { changes, report } = outcome
  if (how.isDry)
    return changes.length === 0 ? { ...nothing, report } : { ...nothing, kind: 'shown', changes, report }
  const noted = await found?.note()
  if (noted?.ok === false) return failed(noted.failure.message)
  if (changes.length === 0) return { ...nothing, report }
  if (job.signal.aborted || context.ending.aborted) return killed
  // What judges a memory is large, and most consolidations find everything in order.
  const { applyWrite } = await import('../../../memory/keeping/apply.ts')
  const set = { id: keeper.unique(), report }
  const made = await applyWrite(keeper, changes, ofNobody(keeper.clock.now()), {
    via: 'dream',
    set,
    ...(how.isAsked ? { review: false } : {}),
  })
  if (!made.ok) return failed(made.failure.message)
  for (const { file } of changes) job.wrote(file)
  return { kind: 'changed', set: set.id, changes, report, dropped: made.dropped, read: count }
}

/** Every change names the memories it is made of; one that named none would be data. */
const ofNobody = (at: number): Provenance => ({
  kind: 'model',
  trust: 'data',
  session: null,
  message: null,
  from: [],
  at,
})

/** The memories as they are, and what was said in recent sessions of the project and stands in none of them. */
async function worldOf(options: MemoryJobOptions, keeper: FolderStore): ReturnType<typeof withMissed> {
  const read = await readSnapshot(keeper)
  if (!read.ok || keeper.scope !== 'project' || read.world.texts.size === 0) return read
  const last = await lastConsolidation(keeper)
  return last.ok ? await withMissed(options.store, read.world, last.at) : last
}

async function proposals(
  options: MemoryJobOptions,
  keeper: FolderStore,
  world: Snapshot,
  context: Forking,
  job: MemoryJob,
): Promise<{ readonly staged: ReadonlyMap<string, string> } | Extract<Consolidated, { why: string }>> {
  const staging = stagingFor(keeper, world, (file) => job.wrote(file))
  const tools = options.tools()
  const writers = tools.filter(({ spec }) => spec.name === 'Write' || spec.name === 'Edit')
  const ours = isOurs([keeper], options)
  const newest = [...world.memories.values()].sort((a, b) => b.at - a.at || (a.file < b.file ? -1 : 1))
  const outcome = await context.fork(
    {
      purpose: consolidationPurpose,
      directive: consolidationPrompt({
        root: keeper.place.root,
        manifest: newest.map(({ file, memory }) => manifestLine({ name: file, memory })),
        hasDiary: [...world.texts.keys()].some((file) => file.startsWith(`${diaryFolder}/`)),
        missed: [...world.texts].flatMap(([page, lines]) =>
          page.startsWith(`${sessionsFolder}/`) ? lines.split('\n') : [],
        ),
        today: localDay(keeper.clock.now()),
      }),
      tools: guardedTools(writers, staging, options.userHome),
      judges: [memoryLimits(ours), ...options.judges],
      maxRounds: defaults.dream.rounds,
      writesCache: true,
      emit: (event) => job.hear(event),
    },
    AbortSignal.any([context.ending, job.signal]),
  )
  if (outcome.outcome === 'aborted') return killed
  if (outcome.outcome === 'failed')
    return { kind: 'failed', why: outcome.failure?.message ?? 'the fork failed' }
  return { staged: staging.staged }
}

const failed = (why: string): Extract<Consolidated, { why: string }> => ({ kind: 'failed', why })
const killed = { kind: 'killed', why: 'it was stopped; nothing was changed' } as const
