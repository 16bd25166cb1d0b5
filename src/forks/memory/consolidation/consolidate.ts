// One consolidation: the lock, the world as it is, a fork that proposes, and a change set that code has checked. Whatever
// ends it, the lock is given back; only one that went well counts as the last.
import { localDay } from '../../../memory/format/day.ts'
import { diaryFolder, indexName } from '../../../memory/memory.ts'
import type { FolderStore } from '../../../memory/keeping/folder-store.ts'
import type {
  BegunConsolidation,
  SetStore,
  SourcedChange,
  MemoryStore,
} from '../../../memory/memory-store.ts'
import { manifestLine } from '../../../memory/recall/recall-text.ts'
import { defaults } from '../../../settings/defaults.ts'
import { type FileGuard } from '../../../tools/files/guard.ts'
import { folderOf, type MemoryJob, type MemoryJobOptions } from '../memory-jobs.ts'
import { memoryFork, type Forking } from '../limits.ts'
import { consolidationPrompt } from '../prompt.ts'
import { sessionsFolder, withMissed } from './missed.ts'
import { changeSetOf } from './change-set.ts'
import { doubtsAbout } from './doubts.ts'
import { readSnapshot, type Snapshot } from './snapshot.ts'
import { relative, sep } from 'node:path'
import { isInside } from '../../../disk/under-root.ts'
import { shaOf } from '../../../memory/files.ts'
import { nameRefusal } from '../../../memory/format/names.ts'
import { proposalRefusal } from './check.ts'

interface ConsolidateOptions {
  /** Only says what it would do. */
  readonly isDry: boolean
  /** The user asked for it, so review mode does not hold it. */
  readonly isAsked: boolean
}

export type Consolidated =
  | {
      readonly kind: 'changed' | 'shown' | 'nothing'
      /** The set it made, to be taken back by; null for none, or where the store cannot take one back. */
      readonly set: string | null
      readonly changes: readonly SourcedChange[]
      readonly report: readonly string[]
      /** Memories that have no room in the index. */
      readonly dropped: readonly string[]
      readonly read: number
    }
  | { readonly kind: 'taken' }
  | { readonly kind: 'failed' | 'killed'; readonly why: string }

export async function consolidate(
  options: MemoryJobOptions,
  memories: SetStore,
  context: Forking,
  job: MemoryJob,
  how: ConsolidateOptions,
): Promise<Consolidated> {
  const consolidated = await locked({ options, memories, context, job, how })
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

interface Run {
  readonly options: MemoryJobOptions
  readonly memories: SetStore
  readonly context: Forking
  readonly job: MemoryJob
  readonly how: ConsolidateOptions
}

async function locked(run: Run): Promise<Consolidated> {
  const taken = await run.memories.sets.begin()
  if (!taken.ok) return failed(taken.failure.message)
  const { begun } = taken
  if (begun === null) return { kind: 'taken' }
  let consolidated: Consolidated = failed('it broke off')
  try {
    consolidated = await under(run)
  } finally {
    consolidated = await ended(begun, consolidated)
  }
  return consolidated
}

async function ended(begun: BegunConsolidation, consolidated: Consolidated): Promise<Consolidated> {
  const isDone = consolidated.kind === 'changed' || consolidated.kind === 'nothing'
  const released = await begun.end(isDone ? 'done' : 'failed')
  if (released.ok || consolidated.kind === 'taken' || 'why' in consolidated) return consolidated
  // What was changed is told all the same: only whoever comes next has to wait.
  const { message } = released.failure
  return { ...consolidated, report: [...consolidated.report, `the next one has to wait: ${message}`] }
}

async function under(run: Run): Promise<Consolidated> {
  const { options, memories, context, job, how } = run
  const folder = folderOf(options, memories)
  const read = await worldOf(options, memories, folder)
  if (!read.ok) return failed(read.failure.message)
  const { world } = read
  const count = world.memories.size
  const nothing = { kind: 'nothing', set: null, changes: [], report: [], dropped: [], read: count } as const
  if (world.texts.size === 0) return nothing
  const proposed = await proposals(run, world)
  if ('kind' in proposed) return proposed
  // What is true of the user is not shown by a project. When a claim last held is noted beside a folder.
  const found = folder?.scope === 'project' ? await doubtsAbout(folder, options.root, world) : null
  if (found?.ok === false) return failed(found.failure.message)
  const outcome = changeSetOf(world, proposed.staged, options.clock.now(), found?.doubts)
  if (!outcome.ok) return failed(outcome.why)
  const { changes, report } = outcome
  if (how.isDry)
    return changes.length === 0 ? { ...nothing, report } : { ...nothing, kind: 'shown', changes, report }
  const noted = await found?.note()
  if (noted?.ok === false) return failed(noted.failure.message)
  if (changes.length === 0) return { ...nothing, report }
  if (job.signal.aborted || context.ending.aborted) return killed
  const made = await memories.sets.save(changes, { via: 'dream', report, isAsked: how.isAsked })
  if (!made.ok) return failed(made.failure.message)
  for (const { file } of changes) job.wrote(file)
  return { kind: 'changed', set: made.set, changes, report, dropped: made.dropped, read: count }
}

/**
 * The memories as they are, and what was said in recent sessions of the project and stands in none of them. Beside another
 * store than a folder may lie sessions of other projects, whose sentences are none of its business.
 */
async function worldOf(
  options: MemoryJobOptions,
  memories: SetStore,
  folder: FolderStore | null,
): ReturnType<typeof withMissed> {
  const read = await readSnapshot(memories, folder)
  if (!read.ok || folder?.scope !== 'project' || read.world.texts.size === 0) return read
  const last = await memories.sets.last()
  return last.ok ? await withMissed(options.store, read.world, last.at) : last
}

async function proposals(
  { options, memories, context, job }: Run,
  world: Snapshot,
): Promise<{ readonly staged: ReadonlyMap<string, string> } | Extract<Consolidated, { why: string }>> {
  const staging = stagingFor(memories, world, (file) => job.wrote(file))
  const newest = [...world.memories.values()].sort((a, b) => b.at - a.at || (a.file < b.file ? -1 : 1))
  const outcome = await memoryFork(
    { options, stores: [memories], guard: staging, context, job },
    {
      purpose: 'dream',
      directive: consolidationPrompt({
        root: memories.root,
        manifest: newest.map(({ file, memory }) => manifestLine({ name: file, memory })),
        hasDiary: [...world.texts.keys()].some((file) => file.startsWith(`${diaryFolder}/`)),
        missed: [...world.texts].flatMap(([page, lines]) =>
          page.startsWith(`${sessionsFolder}/`) ? lines.split('\n') : [],
        ),
        today: localDay(options.clock.now()),
      }),
      maxRounds: defaults.consolidation.rounds,
      writesCache: true,
    },
  )
  if (outcome.outcome === 'aborted') return killed
  if (outcome.outcome === 'failed')
    return { kind: 'failed', why: outcome.failure?.message ?? 'the fork failed' }
  return { staged: staging.staged }
}

const failed = (why: string): Extract<Consolidated, { why: string }> => ({ kind: 'failed', why })
const killed = { kind: 'killed', why: 'it was stopped; nothing was changed' } as const

// Where the model writes while it consolidates: beside the store, in memory. Each proposal is checked when it is made,
// so that the model hears why and can do better; nothing of it is written before the whole has been settled.

export interface Staging extends FileGuard {
  readonly staged: ReadonlyMap<string, string>
}

function stagingFor(store: MemoryStore, world: Snapshot, proposed: (file: string) => void): Staging {
  const staged = new Map<string, string>()
  const { root } = store
  const fileOf = (path: string): string => relative(root, path).split(sep).join('/')
  return {
    staged,
    covers: (path) => path !== root && isInside(root, path),
    isGenerated: (path) => fileOf(path) === indexName,
    async read(path) {
      const file = fileOf(path)
      const own = staged.get(file)
      if (own !== undefined) return { ok: true, file: { path, text: own, sha256: shaOf(own) } }
      const read = await store.read(file)
      if (read.ok) return { ok: true, file: { path, text: read.text, sha256: read.memory.sha256 } }
      return read.failure.code === 'not-found'
        ? { ok: true, file: null }
        : { ok: false, why: read.failure.message }
    },
    write: ({ path, text }, env) => {
      const file = fileOf(path)
      const why = refusalOf(world, staged, file, text)
      if (why !== null) return Promise.resolve({ ok: false, why })
      if (file === indexName)
        return Promise.resolve({ ok: true, path, file: null, said: `${indexName} is generated.` })
      staged.set(file, text)
      proposed(file)
      const now = { sha256: shaOf(text), mtimeMs: env.now(), bytes: Buffer.byteLength(text) }
      return Promise.resolve({ ok: true, path, file: now, said: `Proposed for ${file}.` })
    },
  }
}

function refusalOf(
  world: Snapshot,
  staged: ReadonlyMap<string, string>,
  file: string,
  text: string,
): string | null {
  if (file === indexName) return null
  if (file.startsWith(`${diaryFolder}/`)) return 'Pages of the diary stay as they are.'
  if (file.startsWith(`${sessionsFolder}/`)) return 'What was said in sessions stays as it is.'
  const bad = nameRefusal(file)
  return bad === null ? proposalRefusal(world, staged, file, text) : `${file} can be no memory: ${bad}.`
}
