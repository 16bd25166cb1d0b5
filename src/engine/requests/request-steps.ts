// One request: what waits is delivered, layers run, the view is composed and held to the caps, and it is written down that
// it is sent.
import { isAbsolute } from 'node:path'
import type { Composed, Composer } from '../../request/compose.ts'
import { textIn, type UserBlock } from '../../transcript/content.ts'
import { pathText } from '../../transcript/fence.ts'
import { attachmentOf, isKnown, type Declined, type FactOf } from '../../transcript/fact.ts'
import { seq, type Seq } from '../../transcript/ids.ts'
import type { Result } from '../../transcript/store.ts'
import { totalWith } from '../background/background.ts'
import { deliverBackground } from '../background/deliver.ts'
import type { Core, Slice } from '../core.ts'
import type { Emit, TurnFailure } from '../live.ts'
import { maxOutputOf } from '../options.ts'
import { modeKind } from '../../transcript/markers.ts'
import { recallMemories, chooseMemories } from './recall.ts'
import { deliverStart } from '../opening/start-hooks.ts'
import { serverEditsFor } from './server-edits.ts'
import { runLayers } from '../run-layers.ts'
import { folderKind } from '../state.ts'
import { capRefusal } from '../limits/spend.ts'
import { diagnosisFor } from './cache-reading.ts'
import { featuresFor } from './features.ts'
import { loadMedia } from '../media/keeping.ts'
import { holdToLimits, mediaFirst, newMediaLast } from '../media/limits.ts'

/** What grows while a request is made. */
interface Making {
  readonly core: Core
  readonly emit: Emit
  /** What layers weighed and left. */
  readonly declined: Declined[]
  composed: Composed | null
}

export interface RequestStep {
  readonly name: string
  /** Null, or why there can be no request now. */
  run(making: Making): Promise<TurnFailure | null>
}

/** Everything up to the moment of sending, in its order; the first that fails ends it. */
export const requestSteps: readonly RequestStep[] = [
  { name: 'deliver queued input', run: ({ core }) => deliverQueued(core) },
  { name: 'tell of another working folder', run: ({ core }) => tellFolder(core) },
  { name: 'deliver what start hooks said', run: ({ core }) => deliverStart(core) },
  { name: 'say what holds now', run: ({ core }) => saySituation(core) },
  { name: 'deliver results and messages', run: ({ core, emit }) => deliverBackground(core, emit) },
  { name: 'recall memories', run: ({ core, emit }) => recallMemories(core, emit) },
  { name: 'hold media to the limits', run: ({ core, emit }) => holdToLimits(core, emit) },
  { name: 'make room by media', run: ({ core, emit }) => mediaFirst(core, emit) },
  { name: 'run layers', run: reduce },
  // A compaction among them has asked the hooks again.
  { name: 'deliver what start hooks said of a compaction', run: ({ core }) => deliverStart(core) },
  { name: 'compose', run: compose },
  { name: 'check caps', run: checkCaps },
  { name: 'write down that it is sent', run: writeSent },
  { name: 'choose memories meanwhile', run: startChoosing },
]

export async function makeRequest(core: Core, emit: Emit): Promise<Result<{ readonly composed: Composed }>> {
  const making: Making = { core, emit, declined: [], composed: null }
  for (const step of requestSteps) {
    const failure = await step.run(making)
    if (failure !== null) return { ok: false, failure }
  }
  return { ok: true, composed: making.composed! }
}

async function reduce({ core, emit, declined }: Making): Promise<TurnFailure | null> {
  const failure = await runLayers(core, emit, declined)
  if (failure?.code !== 'overflow' || !(await newMediaLast(core, emit))) return failure
  return runLayers(core, emit, declined)
}

async function compose(making: Making): Promise<TurnFailure | null> {
  const { core, emit } = making
  const { requests } = core
  const view = core.view()
  const { name, capabilities } = core.spoken.wire
  const { mostTools } = capabilities
  if (mostTools !== null && view.tools.length > mostTools)
    return {
      code: 'too-many-tools',
      message: `this session has ${view.tools.length} tools, and ${name} takes ${mostTools}: leave out servers or tools and begin a new session, or go on with a model of another provider`,
    }
  await loadMedia(core, view)
  const outcome = composerOf(core).compose(view, {
    model: core.spoken.model,
    cacheKey: core.requests.cacheKey,
    maxTokens: maxOutputOf(core),
    bindsPrefix: core.modelInfo()?.capabilities.bindsPrefix ?? false,
    reasoningFrom: core.state.latest.reasoningFrom,
    lifetime: core.lifetime,
    breakpointAt: requests.breakpointAt,
    ...featuresFor(core, emit),
    ...serverEditsFor(core, view),
    ...diagnosisFor(core),
  })
  if (!outcome.ok) return { code: 'nothing-to-send', message: outcome.why }
  making.composed = outcome.composed
  if (outcome.composed.withoutThinking) {
    emit({
      type: 'notice',
      code: 'without-thinking',
      message: 'this request is sent without thinking: an earlier part of this turn has lost its reasoning',
    })
  }
  return null
}

/** The one that has serialized this session so far. */
export function composerOf(
  core: Slice<'requests' | 'spoken' | 'state' | 'lifetime' | 'modelInfo'>,
): Composer {
  const references = core.lifetime !== null && core.modelInfo()?.capabilities.cacheEdits === true
  return core.requests.composer(core.state.fold, references, core.spoken)
}

async function writeSent({ core, emit, declined, composed }: Making): Promise<TurnFailure | null> {
  const { tokens } = core.view()
  const sent = requestSent(core, composed!, tokens)
  const written = await core.append([{ ...sent, ...newlyDeclined(core, declined) }])
  if (!written.ok) return written.failure
  core.requests.sent(composed!, core.options.clock.now())
  emit({ type: 'request-start', source: core.source, model: sent.model, tokens })
  return null
}

async function startChoosing({ core }: Making): Promise<null> {
  chooseMemories(core, 'request')
  return null
}

/** A fork or an agent is held to its own caps and, with all the others, to those of the sessions that pay for it. */
async function checkCaps({ core }: Making): Promise<TurnFailure | null> {
  const { tokens, lastUsage } = core.view()
  const cached = (lastUsage?.cacheRead ?? 0) + (lastUsage?.cacheWrite ?? 0)
  const next = { model: core.modelId, tokens, cached, lifetime: core.lifetime }
  for (const payer of [core, ...core.payers]) {
    const refused = capRefusal(payer.options.caps, totalWith(payer), next, core.options.models)
    if (refused !== null) return { code: 'cap', message: refused }
  }
  return null
}

/** A session that is opened in another folder says so: the prompt it began with names the first. */
async function tellFolder(
  core: Slice<'append' | 'options' | 'source' | 'state'>,
): Promise<TurnFailure | null> {
  const { cwd } = core.options
  const before = core.state.latest.cwd
  // What holds now names the folder already; whoever runs no tools here may name no folder at all.
  if (core.options.situation !== undefined) return null
  if (core.source !== 'main' || before === undefined || !isAbsolute(before) || !isAbsolute(cwd)) return null
  if (before === cwd) return null
  const text = `The working folder is now ${pathText(cwd)}; it was ${pathText(before)}. Commands run there, and relative paths start there.`
  const written = await core.append([
    { type: 'attachment', kind: folderKind, content: [{ type: 'text', text }], source: cwd },
  ])
  return written.ok ? null : written.failure
}

/** Input typed while the model was busy: written when it was typed, given to the model once and in order. */
export async function deliverQueued(
  core: Slice<'append' | 'options' | 'session' | 'state'>,
): Promise<TurnFailure | null> {
  for (const place of core.state.tail.queued) {
    const found = await queuedContent(core, place)
    if (!found.ok) return found.failure
    const { content } = found
    const written = await core.append([{ type: 'user-message', content, origin: 'queued', queued: place }])
    if (!written.ok) return written.failure
  }
  return null
}

/** What was typed at this place while the model was busy. */
async function queuedContent(
  { options, session }: Slice<'options' | 'session'>,
  place: Seq,
): Promise<Result<{ readonly content: readonly UserBlock[] }>> {
  for await (const item of options.store.read(session, { from: place, to: place })) {
    if (item.kind === 'failed') return { ok: false, failure: item.failure }
    if (item.kind === 'entry' && isKnown(item.entry) && item.entry.fact.type === 'input-queued')
      return { ok: true, content: item.entry.fact.content }
  }
  return { ok: false, failure: { code: 'not-found', message: `the queued input at ${place} cannot be read` } }
}

function requestSent(
  core: Slice<'source' | 'spoken' | 'state'>,
  composed: Composed,
  tokens: number,
): FactOf<'request-sent'> {
  const { lifetime, breakpoints: marks } = composed.segments
  const { model, thinking, effort, betas, extra } = composed.segments
  const parameters = { model, thinking, effort, betas, extra }
  const isNew = JSON.stringify(parameters) !== JSON.stringify(core.state.latest.parameters)
  return {
    type: 'request-sent',
    source: core.source,
    model: core.spoken.model,
    upTo: seq(core.state.fold.numbers.upTo),
    hash: composed.hash,
    tokens,
    marks,
    ...(lifetime === null ? {} : { lifetime }),
    ...(composed.lastBreakpoint === null ? {} : { markedAt: composed.lastBreakpoint }),
    ...(isNew ? { parameters } : {}),
  }
}

/** What layers weighed and left, where it is another choice than the last time: each is told once. */
function newlyDeclined(
  core: Slice<'requests'>,
  declined: readonly Declined[],
): { readonly declined?: readonly Declined[] } {
  const reasons = declined.map(({ layer, why }) => `${layer}: ${why}`).join('\n')
  const isNew = reasons !== core.requests.lastDeclined
  core.requests.lastDeclined = reasons
  return isNew && declined.length > 0 ? { declined } : {}
}

/**
 * What holds now and may change while a session lasts or between two openings of it: the mode, whether somebody can answer,
 * the folder, the date, the model. It never stands in the prefix, which would go stale; it is said before the first request
 * after each change, and the newest stands, after a compaction and a resume too.
 */
async function saySituation(
  core: Slice<'append' | 'modelId' | 'options' | 'state' | 'view'>,
): Promise<TurnFailure | null> {
  const now = core.options.situation?.(core.modelId)
  if (now === undefined || core.view().messages.length === 0) return null
  const last = [...core.state.fold.parts()].findLast(({ attachment }) => attachment?.kind === modeKind)
  if (last !== undefined && textIn(last.blocks) === now) return null
  const written = await core.append([attachmentOf(modeKind, now, { source: 'program' })])
  return written.ok ? null : written.failure
}
