// What a job on memories may call: look anywhere the user's rules let it, run commands that only look, and
// write in the folders of memories. Everything else is refused when it is called; the list of tools stays as it is.
import type { JobContext } from '../../engine/ports.ts'
import type { MemoryStore } from '../../memory/memory-store.ts'
import { guardedTools, type FileGuard } from '../../tools/files/guard.ts'
import { isOurs, type MemoryJob, type MemoryJobOptions } from './memory-jobs.ts'
import { pass, type Judge } from '../../tools/permission/pipeline.ts'
import { analyse } from '../../tools/permission/shell/analyse.ts'
import { readOnly } from '../../tools/permission/shell/read-only-commands.ts'
import type { ToolUseBlock } from '../../transcript/content.ts'

const lookers: ReadonlySet<string> = new Set(['Read', 'Grep', 'Glob'])
const writers: ReadonlySet<string> = new Set(['Write', 'Edit'])
const commands: ReadonlySet<string> = new Set(['ls', 'find', 'grep', 'cat', 'stat', 'wc', 'head', 'tail'])

/** Why a call may not run, or null. `isOurs`: whether a path lies in a folder of memories. */
export function limitRefusal(
  { name, input }: Pick<ToolUseBlock, 'name' | 'input'>,
  isOurs: (input: Readonly<Record<string, unknown>>) => boolean,
): string | null {
  if (lookers.has(name)) return null
  if (writers.has(name))
    return isOurs(input) ? null : `${name} may be used in the folders of memories only; nothing was written`
  if (name === 'Bash') return commandRefusal(input)
  return `${name} may not be used here; use Read, Grep, Glob, and Write or Edit in the folders of memories`
}

function commandRefusal(input: Readonly<Record<string, unknown>>): string | null {
  const { command } = input
  if (typeof command !== 'string' || input['background'] === true) return 'only plain commands run here'
  const { steps, doubts, isBlind, isTooMuch } = analyse(command)
  const isPlain = !isBlind && !isTooMuch && doubts.length === 0 && steps.length > 0
  const areKnown = steps.every(({ words, doubt }) => {
    const known = words.filter((word) => word !== null)
    return doubt === null && commands.has(known[0]?.value ?? '') && readOnly(known).ok
  })
  return isPlain && areKnown
    ? null
    : `only ${[...commands].join(', ')} may be run here, plainly, without redirections, substitutions or options that act`
}

/** Who runs the fork: a session, or what stands for it in the background. */
export type Forking = Pick<JobContext, 'fork' | 'ending'>

/** A fork that works for memories: it writes through the guard alone, and may call no more than this. */
export const memoryFork = (
  {
    options,
    stores,
    guard,
    context,
    job,
  }: {
    readonly options: MemoryJobOptions
    /** Those it may write to. */
    readonly stores: readonly MemoryStore[]
    readonly guard: FileGuard
    readonly context: Forking
    readonly job: MemoryJob
  },
  ask: Pick<ForkAsk, 'purpose' | 'directive' | 'maxRounds' | 'writesCache'>,
): ReturnType<Forking['fork']> => {
  const writing = options.tools().filter(({ spec }) => writers.has(spec.name))
  return context.fork(
    {
      ...ask,
      tools: guardedTools(writing, guard, options.userHome),
      judges: [memoryLimits(isOurs(stores, options)), ...options.judges],
      emit: (event) => job.hear(event),
    },
    AbortSignal.any([context.ending, job.signal]),
  )
}
type ForkAsk = Parameters<Forking['fork']>[0]

/** The limits as a judge: what is written in the folders of memories is for their guard to decide. */
const memoryLimits = (isOurs: (input: Readonly<Record<string, unknown>>) => boolean): Judge => ({
  name: 'memory job',
  judge({ sent }) {
    const why = limitRefusal(sent, isOurs)
    if (why !== null) return Promise.resolve({ kind: 'deny', why })
    return Promise.resolve(
      writers.has(sent.name)
        ? { kind: 'allow', why: 'it writes in the folders of memories' }
        : pass('a memory job may read'),
    )
  },
})
