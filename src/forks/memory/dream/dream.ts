// One consolidation: the lock, the world as it is, a fork that proposes, and a change set that code has settled. Whatever
// ends it, the lock is given back; only one that went well counts as the last.
import type { JobContext } from '../../../engine/ports.ts'
import { diaryFolder } from '../../../memory/memory.ts'
import type { FolderStore } from '../../../memory/keeping/folder-store.ts'
import { applySet, finishSet, type WantedChange } from '../../../memory/sets/apply-set.ts'
import { manifestLine } from '../../../memory/recall/shown.ts'
import { defaults } from '../../../settings/defaults.ts'
import { guardedTools } from '../../../tools/files/guard.ts'
import type { MemoryJob } from '../board.ts'
import { memoryLimits } from '../limits.ts'
import type { MemoryJobOptions } from '../options.ts'
import { isOurs } from '../options.ts'
import { releaseDreamLock, takeDreamLock, type DreamLock } from './lock.ts'
import { dreamPrompt } from './prompt.ts'
import { settled } from './settle.ts'
import { stagingFor } from './staging.ts'
import { readWorld, type World } from './world.ts'

export const dreamPurpose = 'dream'

/** Who runs the fork: a session, or what stands for it beside the talk. */
export type Forking = Pick<JobContext, 'fork' | 'ending'>

export interface DreamHow {
  /** Only says what it would do. */
  readonly isDry: boolean
  /** The user asked for it, so review mode does not hold it. */
  readonly isAsked: boolean
}

export type Dreamt =
  | {
      readonly kind: 'changed' | 'shown' | 'nothing'
      /** The set it made, to be taken back by. */
      readonly set: string | null
      readonly changes: readonly WantedChange[]
      readonly told: readonly string[]
      /** Memories that have no room in the index. */
      readonly dropped: readonly string[]
      readonly read: number
    }
  | { readonly kind: 'taken' }
  | { readonly kind: 'failed' | 'killed'; readonly why: string }

export async function dream(
  options: MemoryJobOptions,
  keeper: FolderStore,
  aside: Forking,
  job: MemoryJob,
  how: DreamHow,
): Promise<Dreamt> {
  const dreamt = await locked(options, keeper, aside, job, how)
  const state = dreamt.kind === 'failed' || dreamt.kind === 'killed' ? dreamt.kind : 'completed'
  job.end(state, toldOf(dreamt))
  return dreamt
}

function toldOf(dreamt: Dreamt): readonly string[] {
  if (dreamt.kind === 'taken') return ['another process does it']
  if ('why' in dreamt) return [dreamt.why]
  return dreamt.told.length === 0 ? ['everything was in order'] : dreamt.told
}

async function locked(
  options: MemoryJobOptions,
  keeper: FolderStore,
  aside: Forking,
  job: MemoryJob,
  how: DreamHow,
): Promise<Dreamt> {
  const before = await finishSet(keeper)
  if (!before.ok) return failed(before.failure.message)
  const taken = await takeDreamLock(keeper)
  if (!taken.ok) return failed(taken.failure.message)
  const { lock } = taken
  if (lock === null) return { kind: 'taken' }
  let dreamt: Dreamt = failed('it broke off')
  try {
    dreamt = await under(options, keeper, aside, job, how)
  } finally {
    dreamt = await givenBack(keeper, lock, dreamt)
  }
  return dreamt
}

async function givenBack(keeper: FolderStore, lock: DreamLock, dreamt: Dreamt): Promise<Dreamt> {
  const isDone = dreamt.kind === 'changed' || dreamt.kind === 'nothing'
  const released = await releaseDreamLock(keeper, lock, isDone ? 'done' : 'failed')
  return released.ok ? dreamt : failed(released.failure.message)
}

async function under(
  options: MemoryJobOptions,
  keeper: FolderStore,
  aside: Forking,
  job: MemoryJob,
  how: DreamHow,
): Promise<Dreamt> {
  const read = await readWorld(keeper)
  if (!read.ok) return failed(read.failure.message)
  const { world } = read
  const count = world.memories.size
  const nothing = { kind: 'nothing', set: null, changes: [], told: [], dropped: [], read: count } as const
  if (world.texts.size === 0) return nothing
  const proposed = await proposals(options, keeper, world, aside, job)
  if ('kind' in proposed) return proposed
  const outcome = settled(world, proposed.staged, keeper.clock.now())
  if (!outcome.ok) return failed(outcome.why)
  const { changes, told } = outcome
  if (changes.length === 0) return { ...nothing, told }
  if (how.isDry) return { ...nothing, kind: 'shown', changes, told }
  if (job.signal.aborted || aside.ending.aborted) return killed
  const made = await applySet(keeper, {
    id: keeper.unique(),
    via: 'dream',
    told,
    changes,
    ...(how.isAsked ? { review: false } : {}),
  })
  if (!made.ok) return failed(made.failure.message)
  for (const { file } of changes) job.wrote(file)
  return { kind: 'changed', set: made.set.id, changes, told, dropped: made.dropped, read: count }
}

async function proposals(
  options: MemoryJobOptions,
  keeper: FolderStore,
  world: World,
  aside: Forking,
  job: MemoryJob,
): Promise<{ readonly staged: ReadonlyMap<string, string> } | Extract<Dreamt, { why: string }>> {
  const staging = stagingFor(keeper, world, (file) => job.wrote(file))
  const tools = options.tools()
  const writers = tools.filter(({ spec }) => spec.name === 'Write' || spec.name === 'Edit')
  const ours = isOurs([keeper], options)
  const newest = [...world.memories.values()].sort((a, b) => b.at - a.at || (a.file < b.file ? -1 : 1))
  const outcome = await aside.fork(
    {
      purpose: dreamPurpose,
      directive: dreamPrompt({
        root: keeper.place.root,
        manifest: newest.map(({ file, memory }) => manifestLine({ name: file, memory })),
        hasDiary: [...world.texts.keys()].some((file) => file.startsWith(`${diaryFolder}/`)),
        today: new Date(keeper.clock.now()).toISOString().slice(0, 'yyyy-mm-dd'.length),
      }),
      tools: guardedTools(writers, staging, options.userHome),
      judges: [memoryLimits(ours), ...options.judges],
      maxRounds: defaults.dream.rounds,
      writesCache: true,
      emit: (event) => job.hear(event),
    },
    AbortSignal.any([aside.ending, job.signal]),
  )
  if (outcome.outcome === 'aborted') return killed
  if (outcome.outcome === 'failed')
    return { kind: 'failed', why: outcome.failure?.message ?? 'the fork failed' }
  return { staged: staging.staged }
}

const failed = (why: string): Extract<Dreamt, { why: string }> => ({ kind: 'failed', why })
const killed = { kind: 'killed', why: 'it was stopped; nothing was changed' } as const
