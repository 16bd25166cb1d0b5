// A fork: a child session on this one's prefix. It inherits what makes the cache key as rendered
// and renders nothing again, so its requests begin with its parent's bytes; it copies what can change; it is aborted
// with its parent but never aborts it; its tools stay in the list and are refused when called. It cannot fork again.
// It runs no layers, but for an agent that may work for long: what it has done itself is then put away.
import { branchedLinks, ownLink } from '../transcript/lineage.ts'
import { lookUp, type ModelInfo } from '../model/models.ts'
import { restriction, type Judge } from '../tools/permission/pipeline.ts'
import { textResult, type Fact } from '../transcript/fact.ts'
import type { BreakpointPosition } from '../request/compose.ts'
import { seq, sessionId, type Seq } from '../transcript/ids.ts'
import type { FailureCode } from '../transcript/store.ts'
import type { Appended } from '../transcript/transcript.ts'
import { inMemoryStore } from '../stores/index.ts'
import { Core, type CoreParts, type Slice } from './core.ts'
import type { Apart, ForkOutcome, ForkSpec } from './ports.ts'
import type { TurnFailure } from './live.ts'
import type { Ready } from './options.ts'
import { totalOf } from './limits/spend.ts'
import { isWarm } from './limits/budget.ts'
import { faultText } from './api.ts'
import { composerOf } from './requests/request-steps.ts'
import { Requests } from './requests/requests.ts'
import { fork as forkRole, forkedAgent, inherited, type Role } from './role.ts'
import { branched, newState } from './state.ts'
import { runTurn, type Ended } from './turn.ts'
import { notFinished, saidIn } from './background/agent-report.ts'
import { textIn } from '../transcript/content.ts'

const placeholder = '[this call is being handled by the parent session]'

/** Whoever wanted the fork may do without it; that its transcript or its end could not be written is said all the same. */
export async function runFork(parent: Core, spec: ForkSpec, signal: AbortSignal): Promise<ForkOutcome> {
  const ended = await forked(parent, spec, signal)
  if (ended.failure !== null && ofStore.has(ended.failure.code)) {
    const { code, message } = ended.failure
    parent.background.tell({ type: 'notice', code, message: `${spec.purpose} in the background: ${message}` })
  }
  return ended
}

const ofStore: ReadonlySet<string> = new Set<FailureCode>([
  'disk-full',
  'io-error',
  'read-only',
  'no-access',
  'too-many-open-files',
  'changed-outside',
  'fenced',
])

async function forked(parent: Core, spec: ForkSpec, signal: AbortSignal): Promise<ForkOutcome> {
  if (typeof spec?.purpose !== 'string' || typeof spec.directive !== 'string')
    return refused({
      code: 'bad-options',
      message: 'a fork needs `purpose`, what it is for, and `directive`, what it is told; pass both as texts',
    })
  if (!parent.role.mayFork || (spec.agent !== undefined && isTagged(parent)))
    return refused({ code: 'no-recursion', message: 'a fork cannot fork again; do the work in place' })
  if (parent.background.ending.signal.aborted)
    return refused({ code: 'closed', message: 'the session was closed; open it again to fork from it' })
  // Taken before the first await: what the parent writes meanwhile is not this fork's to see.
  const { turnSignal } = parent.background
  const plan = spec.apart === undefined ? onPrefix(parent, spec) : apart(parent, spec, spec.apart)
  const leased = await plan.parts.options.store.lease(plan.parts.session)
  if (!leased.ok)
    return refused(
      leased.why === 'taken'
        ? { code: 'session-open', message: 'the session of the fork is taken' }
        : leased.failure,
    )
  const child = new Core({ ...plan.parts, lease: leased.lease })
  const begun = await child.append([
    ...plan.facts,
    { type: 'user-message', content: [{ type: 'text', text: directiveOf(spec) }], origin: 'program' },
  ])
  const known = begun.ok ? await announced(parent, child, spec) : begun
  if (!known.ok) {
    const released = await child.transcript.release()
    return refused(released.ok ? known.failure : released.failure)
  }
  // Aborted with its parent; its own signal is never the parent's.
  const linked = AbortSignal.any([
    signal,
    parent.background.ending.signal,
    ...(turnSignal === null ? [] : [turnSignal]),
  ])
  const work = run(child, spec, linked)
    .catch(faulty)
    .then((ended) => finish(parent, child, spec, ended))
  parent.background.children.set(child, work)
  try {
    return await work
  } finally {
    parent.background.children.delete(child)
  }
}

interface ChildPlan {
  readonly parts: Omit<CoreParts, 'lease'>
  /** What stands before the directive. */
  readonly facts: readonly Fact[]
}

function onPrefix(parent: Core, spec: ForkSpec): ChildPlan {
  const state = branched({ ...parent.state, fold: parent.state.fold.copy() })
  const { open } = state.tail
  const requestHash = parent.state.latest.request?.hash
  const options = optionsFor(parent, spec)
  const readFiles = parent.readFiles.copy()
  for (const [path, file] of spec.read ?? []) readFiles.set(path, file)
  const upTo = seq(state.fold.numbers.upTo)
  const session = sessionId(options.ids.uuid())
  const links = branchedLinks(parent.links, session, upTo)
  // Once the cache has died, what a breakpoint covers is written: instructions are read again at once, the conversation by nobody.
  const isOnce = spec.maxRounds === 1 && !isWarm(parent)
  const breakpointAt =
    spec.writesCache === true ? undefined : isOnce ? { seq: seq(0) } : lastBreakpointOf(parent)
  const source = spec.purpose
  const watchKey = watchKeyOf(source, session)
  const composer = composerOf(parent)
  const lifetime = options.cacheLifetime
  const requests = new Requests({
    watchKey,
    session,
    from: parent.requests,
    composer,
    breakpointAt,
    lifetime,
  })
  const common = commonOf(parent, spec)
  return {
    parts: { options, session, source, state, links, readFiles, requests, ...common },
    facts: [
      {
        type: 'session-start',
        session,
        purpose: spec.purpose,
        parent: { session: parent.session, upTo, ...(requestHash === undefined ? {} : { requestHash }) },
      },
      ...open.map(({ id }) => textResult(id, placeholder, false)),
    ],
  }
}

/** Nobody goes on from such a conversation: its words and its cost stand in the parent, and nothing of it lies on the disk. */
function apart(parent: Core, spec: ForkSpec, { system, conversation, modelId }: Apart): ChildPlan {
  const session = sessionId(parent.options.ids.uuid())
  const isOther = modelId !== undefined && modelId !== parent.modelId
  const options: Ready = {
    ...optionsFor(parent, spec),
    store: inMemoryStore(),
    modelId: modelId ?? parent.modelId,
    ...(isOther ? { window: undefined, threshold: undefined } : {}),
    tools: [],
    formerTools: [],
    thinking: noThinking(lookUp(parent.options.models, modelId ?? parent.modelId)),
    effort: undefined,
    cacheLifetime: null,
  }
  const links = ownLink(session)
  const requests = new Requests({
    watchKey: watchKeyOf(spec.purpose, session),
    session,
    from: parent.requests,
    lifetime: null,
  })
  const common = commonOf(parent, spec)
  const sections = [{ name: 'system', text: system, side: 'dynamic' as const }]
  return {
    parts: { options, session, source: spec.purpose, state: newState(), links, requests, ...common },
    facts: [
      { type: 'session-start', session, purpose: spec.purpose },
      { type: 'instructions-set', sections, tools: [] },
      ...conversation,
    ],
  }
}

/** A model that thinks where nothing is said is told not to, as far as it can be: its answer has few tokens. */
const noThinking = (info: ModelInfo | null): Ready['thinking'] =>
  info?.capabilities.defaultThinking === 'on' && info.capabilities.thinking.includes('disabled')
    ? { type: 'disabled' }
    : undefined

/** A summary is asked on the main thread's bytes; other forks have prefixes of their own. */
const watchKeyOf = (purpose: string, session: string): string =>
  purpose === 'summary' ? purpose : `${purpose}/${session}`

const roleOf = ({ agent }: ForkSpec): Role => (agent === undefined ? forkRole : forkedAgent)

const commonOf = (parent: Core, spec: ForkSpec): Pick<CoreParts, 'role' | 'fork' | 'payers'> => ({
  role: roleOf(spec),
  fork: runFork,
  payers: [parent, ...parent.payers],
})

function optionsFor({ options }: Slice<'options'>, spec: ForkSpec): Ready {
  const above = inherited(options, roleOf(spec))
  const own = spec.tools ?? []
  const names = new Set(own.map((tool) => tool.spec.name))
  return {
    ...above,
    tools: [...options.tools.filter((tool) => !names.has(tool.spec.name)), ...own],
    // Results that travel together, and room at the last moment.
    layers: above.layers.filter((layer) => layer.makesRoom === true || layer.ownResultsOnly === true),
    caps: spec.caps ?? {},
    maxRounds: spec.maxRounds,
    judges: judgesFor(spec, above.judges),
    maxOutputTokens: spec.maxOutputTokens ?? options.maxOutputTokens,
  }
}

/** Where the last breakpoint of the parent's last request stood; of earlier versions only how far that request went is known. */
function lastBreakpointOf({
  state: { latest, fold },
}: Slice<'state'>): BreakpointPosition | { readonly seq: Seq } | undefined {
  const { lastRequest } = fold.numbers
  return latest.request?.markedAt ?? (lastRequest === null ? undefined : { seq: lastRequest })
}

async function run(child: Core, spec: ForkSpec, signal: AbortSignal): Promise<Ended> {
  let ended: Ended = { outcome: 'failed', failure: null }
  await runTurn(child, signal, (event) => {
    if (event.type === 'turn-end') ended = event
    spec.emit?.(event)
  })
  return ended
}

/** A port that throws is at fault; whoever waits for the fork hears of it, and its session is closed all the same. */
const faulty = (error: unknown): Ended => ({
  outcome: 'failed',
  failure: { code: 'fault', message: faultText(error) },
})

async function finish(
  parent: Slice<'append'>,
  child: Core,
  spec: ForkSpec,
  ended: Ended,
): Promise<ForkOutcome> {
  const { session } = child
  const why = spec.why?.() ?? ended.failure?.message ?? null
  const isCut = spec.agent !== undefined && ended.outcome !== 'done'
  const text = isCut
    ? `${notFinished(why ?? 'it was interrupted')}\n${await saidIn(child)}`.trim()
    : lastWords(child)
  const released = await child.transcript.release()
  const { outcome } = ended
  const spent = totalOf(child.state.spent)
  const noted = await parent.append([
    { type: 'fork-end', child: session, purpose: spec.purpose, outcome, text, spent },
  ])
  const failure = ended.failure ?? (released.ok ? (noted.ok ? null : noted.failure) : released.failure)
  return { outcome, session, text, spent: child.state.spent, usage: child.view().lastUsage, failure }
}

function lastWords(child: Slice<'view'>): string {
  const last = child.view().messages.last()
  if (last?.role !== 'assistant') return ''
  return textIn(last.content, '')
}

/** A child may do what it is not refused, and an agent nothing that its parent may not. */
const judgesFor = (spec: ForkSpec, above: Ready['judges'] = []): readonly Judge[] =>
  spec.judges === undefined ? [noTools] : [...spec.judges, ...above]

const noTools = restriction('fork', ({ name }) => `${name} cannot be used here; answer with text only`)

async function announced(
  parent: Slice<'append'>,
  child: Core,
  { agent, started }: ForkSpec,
): Promise<Appended> {
  started?.(child.session)
  if (agent === undefined) return { ok: true, entries: [] }
  return parent.append([{ type: 'agent-start', child: child.session, ...agent }])
}

/** Stands in what a forked agent is told, so that its session is known for one even when it is opened by itself. */
const forkTag = '<forked-agent/>'
const directiveOf = ({ agent, directive }: ForkSpec): string =>
  agent === undefined ? directive : `${forkTag}\n${directive}`

/** Only words that were said count: a file that holds the tag stops nobody. */
const isTagged = ({ state: { fold } }: Slice<'state'>): boolean =>
  [...fold.parts()].some(
    ({ kind, blocks }) =>
      kind === 'input' && blocks.some((block) => block.type === 'text' && block.text.startsWith(forkTag)),
  )

const refused = (failure: TurnFailure): ForkOutcome => ({
  outcome: 'failed',
  session: null,
  text: '',
  spent: null,
  usage: null,
  failure,
})
