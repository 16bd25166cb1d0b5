// An agent that begins with its parent's conversation: a fork whose tools run. It reads the parent's prefix from the
// cache, puts away only what it has done itself, and works in the parent's folder.
import type { OrWhy } from '../../disk/failure.ts'
import type { Session } from '../../engine/session.ts'
import { restriction } from '../../tools/permission/pipeline.ts'
import { aboutOf, neverAborted, type AgentAsk } from './types.ts'
import type { AgentType } from './types.ts'
import type { Watch } from './worker.ts'
import { forkDirective } from './texts.ts'
import { Worker, type Finished } from './worker.ts'

export type ForkedAgent = OrWhy<{ readonly worker: Worker; readonly work: () => Promise<Finished> }>

/** In its list, so that the prefix stays the same, and refused when called. */
const refused = new Set(['Agent', 'Agents'])

export async function forkAgent(
  parent: Session,
  ask: AgentAsk,
  { limits, tools }: AgentType,
  signal: AbortSignal,
): Promise<ForkedAgent> {
  if (ask.worktree || ask.mode === 'teammate')
    return no('a fork works in the folder of its parent and ends with its task; start a fresh agent instead.')
  const about = aboutOf(ask)
  const outer = ask.mode === 'foreground' ? signal : neverAborted()
  const stop = new AbortController()
  let worker: Worker | null = null
  let watch: Watch | null = null
  let tell: (worker: Worker) => void = () => {}
  const started = new Promise<Worker>((resolve) => (tell = resolve))
  const forked = parent.fork(
    {
      purpose: 'agent',
      agent: about,
      directive: forkDirective(ask.task),
      judges: [
        restriction('agent type', ({ name }) => {
          if (name === 'Plan') return 'nobody is asked by a fork; say what you would do'
          if (refused.has(name)) return 'a fork starts no agents; do the work in place'
          return tools === null || tools.includes(name)
            ? null
            : `agents of type ${ask.type} do not use ${name}`
        }),
      ],
      writesCache: true,
      caps: { tokens: limits.tokens, dollars: limits.dollars },
      emit: (event) => worker?.see(event),
      why: () => watch?.why() ?? null,
      started: (child) => {
        worker = new Worker(parent, child, about)
        watch = worker.watch(limits, outer)
        watch.signal.addEventListener('abort', () => stop.abort(), { once: true })
        tell(worker)
      },
    },
    stop.signal,
  )
  const first = await Promise.race([started, forked])
  if (!(first instanceof Worker)) return no(first.failure?.message ?? 'the fork could not begin')
  const work = async (): Promise<Finished> => {
    const { outcome, text } = await forked
    first.unwatch()
    return { outcome, text }
  }
  return { ok: true, worker: first, work }
}

const no = (why: string) => ({ ok: false, why }) as const
