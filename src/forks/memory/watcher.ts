// What happens with memories when a turn has ended: what was said is extracted, then it is asked
// whether it is time to consolidate. All of it runs in the background; nothing waits for it but the end of the session,
// and that not for long. What goes wrong is said and ends nothing.
import { basename } from 'node:path'
import type { JobContext, TurnWatcher } from '../../engine/ports.ts'
import { endedWithin } from '../waiting.ts'
import { defaults } from '../../settings/defaults.ts'
import { hasSets, type SetStore } from '../../memory/memory-store.ts'
import { folderOf, isOurs, type MemoryJobList, type MemoryJob, type MemoryJobOptions } from './memory-jobs.ts'
import type { Consolidated } from './consolidation/consolidate.ts'
import { spanSince } from './span.ts'

export interface WatcherOptions extends MemoryJobOptions {
  readonly list: MemoryJobList
  readonly extracts: boolean
  readonly consolidates: boolean
  /** Turns between two extractions. */
  readonly every?: number | undefined
}

/** Of one session. */
interface State {
  turns: number
  failures: number
  /** What runs after a turn, the extraction of it, and whether a turn has ended since it began. */
  working: Promise<void> | null
  extracting: MemoryJob | null
  isWanted: boolean
  consolidating: { readonly work: Promise<void>; readonly job: MemoryJob } | null
}

export interface MemoryWatcher extends TurnWatcher {
  /** Waits until nothing is under way: one job may lead to another. */
  settled(): Promise<void>
}

export function memoryWatcher(options: WatcherOptions): MemoryWatcher {
  const under = new Set<Promise<void>>()
  const track = (work: Promise<void>): Promise<void> => {
    under.add(work)
    return work.finally(() => under.delete(work))
  }
  const states = new Map<string, State>()
  const scans: Scans = new Map()
  const stateOf = (session: string): State => {
    const state = states.get(session) ?? {
      turns: 0,
      failures: 0,
      working: null,
      extracting: null,
      isWanted: false,
      consolidating: null,
    }
    states.set(session, state)
    return state
  }
  return {
    ended(context) {
      if (!context.hasModel || options.stores.length === 0) return
      const state = stateOf(context.session)
      state.turns++
      if (state.working !== null) {
        state.isWanted = options.extracts
        return
      }
      state.working = track(afterTurns(options, context, state, scans, track))
    },
    async settled() {
      while (under.size > 0) await Promise.all(under)
    },
    async closing(context, hurry) {
      const state = states.get(context.session)
      if (state === undefined) return
      states.delete(context.session)
      const { working } = state
      if (working !== null && !(await endedWithin(working, Infinity, hurry))) {
        if (state.extracting !== null)
          tell(context, 'memory-wait', 'saving memories before exit; Ctrl-C skips that')
        if (!(await endedWithin(working, defaults.extraction.exitMs))) {
          state.extracting?.stop()
          await working
        }
      }
      state.consolidating?.job.stop()
      await state.consolidating?.work
    },
  }
}

/** Only the newest request was kept, and it is served whatever the count says. */
const isWanted = ({ isWanted: isAsked, failures }: State, { ending }: JobContext): boolean =>
  isAsked && failures < defaults.extraction.failures && !ending.aborted

async function afterTurns(
  options: WatcherOptions,
  context: JobContext,
  state: State,
  scans: Scans,
  track: Track,
): Promise<void> {
  const every = options.every ?? defaults.extraction.every
  state.isWanted = options.extracts && state.turns % every === 0
  // A turn may also end while it is asked whether to consolidate.
  do {
    try {
      while (isWanted(state, context)) {
        state.isWanted = false
        await extractOnce(options, context, state)
      }
      await consolidateIfDue(options, context, state, scans, track)
    } catch (error) {
      // A port that throws is at fault, but the conversation must not end by it, and it must be heard of (law E1).
      tell(context, 'fault', `memories: ${String(error)}`)
    }
  } while (isWanted(state, context))
  state.working = null
}

async function extractOnce(options: WatcherOptions, context: JobContext, state: State): Promise<void> {
  const spanNow = () => spanSince(context.fold, context.latest().memoriesTo, isOurs(options.stores, options))
  // What is said after this turn may be seen by the fork, and is looked at once more after its own.
  const span = spanNow()
  if (span.messages === 0) return
  const { coversTo } = span
  if (span.hasWritten) {
    await note(context, { type: 'memories-extracted', coversTo, files: [], skipped: true })
    return
  }
  const job = options.list.start('extraction', context.session, context.now())
  state.extracting = job
  sign(context, job)
  // What only follows a turn is loaded then, and not before the first request.
  const { extract } = await import('./extract.ts')
  const done = await extract(options, context, spanNow, job)
  state.extracting = null
  if (!done.ok) {
    job.end(done.isAborted ? 'killed' : 'failed', [done.why])
    sign(context, job)
    if (done.isAborted) return
    state.failures++
    if (state.failures === defaults.extraction.failures)
      tell(
        context,
        'extraction-off',
        `memories could not be saved ${state.failures} times in a row (${done.why}); paused until the session is opened again`,
      )
    return
  }
  state.failures = 0
  const saved = done.saved.map((path) => basename(path))
  const { refused } = job.look()
  const none = refused.length === 0 ? 'nothing to remember' : 'nothing was saved'
  const last = refused.at(-1)
  job.end('completed', [
    saved.length === 0 ? none : `saved ${saved.join(', ')}`,
    ...(last === undefined ? [] : [`refused ${refused.length}, the last: ${last}`]),
  ])
  sign(context, job)
  await note(context, { type: 'memories-extracted', coversTo, files: done.saved })
  if (saved.length > 0) context.tell({ type: 'memory', did: 'saved', files: saved })
  if (done.held.length > 0)
    context.tell({ type: 'memory', did: 'held', files: done.held.map((path) => basename(path)) })
}

/** One store at a time; the others have their turn after a later one. */
async function consolidateIfDue(
  options: WatcherOptions,
  context: JobContext,
  state: State,
  scans: Scans,
  track: Track,
): Promise<void> {
  const { gateOf } = await import('./consolidation/gates.ts')
  for (const memories of options.stores.filter(hasSets)) {
    if (state.consolidating !== null || context.ending.aborted) return
    const { root } = memories
    const scan = scans.get(root) ?? { last: null }
    scans.set(root, scan)
    const { gate, failure } = await gateOf({
      isOn: options.consolidates,
      memories,
      folder: folderOf(options, memories),
      clock: options.clock,
      store: options.store,
      scans: scan,
    })
    if (failure !== null) tell(context, failure.code, `consolidating memories: ${failure.message}`)
    if (gate === 'open' && !context.ending.aborted)
      await startConsolidation(options, memories, context, state, track)
  }
}
/** Counts work as under way until it ends. */
type Track = (work: Promise<void>) => Promise<void>
/** When the sessions were last looked through, by store. */
type Scans = Map<string, { last: number | null }>

async function startConsolidation(
  options: WatcherOptions,
  memories: SetStore,
  context: JobContext,
  state: State,
  track: Track,
): Promise<void> {
  const { consolidate } = await import('./consolidation/consolidate.ts')
  const job = options.list.start('dream', context.session, context.now())
  sign(context, job)
  const work = consolidate(options, memories, context, job, { isDry: false, isAsked: false })
    .then((consolidated) => {
      sign(context, job)
      report(context, memories, job, consolidated)
    })
    .catch((error: unknown) => {
      job.end('failed', [String(error)])
      tell(context, 'fault', `consolidating memories: ${String(error)}`)
    })
    .finally(() => {
      state.consolidating = null
    })
  state.consolidating = { work: track(work), job }
}

/** What another process does, or a person has stopped, is no news. */
function report(context: JobContext, { scope }: SetStore, job: MemoryJob, consolidated: Consolidated): void {
  if (consolidated.kind === 'failed')
    tell(context, 'consolidation-failed', `consolidating memories: ${consolidated.why}`)
  if (consolidated.kind !== 'changed') return
  const gone = consolidated.changes.filter(({ text }) => text === null).length
  const { tokens } = job.look()
  const undo = `; pal consolidate --undo${scope === 'project' ? '' : ` --scope ${scope}`} reverts it`
  tell(
    context,
    'consolidation-done',
    `consolidating memories: ${consolidated.read} read, ${consolidated.changes.length - gone} changed, ${gone} retired, ${tokens} tokens${consolidated.set === null ? '' : undo}`,
  )
}

async function note(context: JobContext, fact: Parameters<JobContext['append']>[0][number]): Promise<void> {
  const written = await context.append([fact])
  if (!written.ok && !context.ending.aborted) tell(context, written.failure.code, written.failure.message)
}

/** A sign of life, so that whoever counts what is under way looks again. */
const sign = (context: JobContext, { kind, since }: MemoryJob): void =>
  context.tell({ type: 'working', source: names[kind], forMs: context.now() - since })
const names = { extraction: 'saving memories', dream: 'consolidating memories' } as const

const tell = (context: JobContext, code: string, message: string): void =>
  context.tell({ type: 'notice', code, message })
