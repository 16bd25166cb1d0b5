// An agent with a transcript of its own: a session that another one pays for. It runs the layers and compacts its own
// view, nobody else's; it is told to stop when the other is closed; its start and its end are facts of the
// other, so that they outlive the process. Unlike a fork it shares nothing of its parent's prefix.
import { setMaxListeners } from 'node:events'
import type { Judge } from '../../tools/permission/pipeline.ts'
import type { Outcome } from '../../transcript/fact.ts'
import { sessionId, type Seq } from '../../transcript/ids.ts'
import { refused } from '../../disk/failure.ts'
import { isRecord } from '../../transcript/json.ts'
import { ownLink } from '../../transcript/lineage.ts'
import type { Failure, Result } from '../../transcript/store.ts'
import { Core, type Slice } from '../core.ts'
import { runFork } from '../fork.ts'
import { instructionsOf, ready, type EngineOptions } from '../options.ts'
import { totalOf } from '../limits/spend.ts'
import { totalWith } from './background.ts'
import { resume } from '../opening/resume.ts'
import { agent, inherited } from '../role.ts'
import { newState } from '../state.ts'
import { agentPurpose, type AgentAbout } from './agent-rows.ts'
import { backgroundOf } from './deliver.ts'
import { saidIn } from './agent-report.ts'

export interface SpawnSpec extends AgentAbout {
  /** What is other than with the parent: prompt, tools, model, caps, folder … */
  readonly options: Partial<EngineOptions>
  /** What restricts it, before all who judge its calls anyway. */
  readonly judges?: readonly Judge[] | undefined
}

export interface SpawnedCore {
  readonly core: Core
  /**
   * Writes its end into the parent, once, and gives its session free. Says where the end stands. Where it did not
   * finish, what it had said by then stands there too.
   */
  finish(outcome: Outcome, text: string): Promise<Result<{ readonly end: Seq }>>
}

export async function spawn(parent: Core, spec: SpawnSpec): Promise<Result<SpawnedCore>> {
  if (!parent.role.mayStartAgents)
    return refused('no-recursion', 'an agent starts no agents of its own; do the work in place')
  if (parent.background.ending.signal.aborted)
    return refused('closed', 'the session was closed; open it again')
  const given: Partial<SpawnSpec> | null | undefined = spec
  if (!isRecord(given?.options))
    return refused('bad-options', 'an agent needs `options`, what it has of its own; pass at least {}')
  const { options: own, judges = [], ...about } = spec
  const isOther = own.modelId !== undefined && own.modelId !== parent.modelId
  // Every agent that runs listens for the end. Many at once are no leak, and Node would warn the user of one.
  setMaxListeners(0, parent.background.ending.signal)
  const above = inherited(parent.options, agent)
  const options = ready({
    ...above,
    modelId: parent.modelId,
    // What was chosen for one model need not fit another.
    ...(isOther ? { window: undefined, threshold: undefined, thinking: undefined, effort: undefined } : {}),
    ...own,
    judges: [...judges, ...(own.judges ?? above.judges ?? [])],
  })
  const session = sessionId(options.ids.uuid())
  const leased = await options.store.lease(session)
  if (!leased.ok)
    return leased.why === 'taken' ? refused('session-open', 'the session of the agent is taken') : leased
  const core = new Core({
    options,
    session,
    source: agentPurpose,
    role: agent,
    fork: runFork,
    lease: leased.lease,
    state: newState(),
    links: ownLink(session),
    payers: [parent, ...parent.payers],
  })
  const begun = await core.append([
    { type: 'session-start', session, purpose: agentPurpose, cwd: options.cwd, startedBy: parent.session },
    await instructionsOf(options),
  ])
  const started = begun.ok ? await parent.append([{ type: 'agent-start', child: session, ...about }]) : begun
  if (!started.ok) {
    const released = await core.transcript.release()
    return released.ok ? started : released
  }
  return { ok: true, ...linked(parent, core) }
}

function linked(parent: Slice<'append' | 'background'>, core: Core): SpawnedCore {
  let close = (): void => {}
  parent.background.children.set(core, new Promise<void>((resolve) => (close = resolve)))
  let finishing: Promise<Result<{ readonly end: Seq }>> | null = null
  const end = async (outcome: Outcome, text: string): Promise<Result<{ readonly end: Seq }>> => {
    core.background.ending.abort()
    await Promise.allSettled(core.background.children.values())
    const spent = totalWith(core)
    const whole =
      outcome === 'done' ? text : [text, await saidIn(core)].filter((part) => part !== '').join('\n')
    const released = await core.transcript.release()
    const noted = await parent.append([
      { type: 'fork-end', child: core.session, purpose: agentPurpose, outcome, text: whole, spent },
    ])
    parent.background.children.delete(core)
    close()
    if (!noted.ok) return noted
    return released.ok ? { ok: true, end: noted.entries[0]!.seq } : released
  }
  return { core, finish: (outcome, text) => (finishing ??= end(outcome, text)) }
}

/** Agents that ran when the process ended are ended: what they took is read from their own transcripts. */
export async function endLost(core: Slice<'append' | 'options' | 'state'>): Promise<Failure | null> {
  for (const { child, state } of backgroundOf(core).agents) {
    if (state !== 'running') continue
    const found = await resume(core.options.store, child, core.options.models)
    const spent = found.ok ? totalOf(found.spent) : undefined
    const said = await saidIn({ options: core.options, session: child })
    const why = `The process ended before it was finished. What it had done is kept in its own session ${child}.`
    const text = [why, said].filter((part) => part !== '').join('\n')
    const end = { type: 'fork-end', child, purpose: agentPurpose, outcome: 'aborted', text } as const
    const written = await core.append([spent === undefined ? end : { ...end, spent }])
    if (!written.ok) return written.failure
  }
  return null
}
