// One request: settled, composed, within the caps, written down, and then its answer written down before anything
// acts on it. What a stream leaves behind when it breaks is kept as a partial answer.
import { learnedWindow, wireModelId } from '../../model/models.ts'
import { silentOverflow, type SilentOverflow } from '../../model/overflow.ts'
import type { ModelFailure, ModelMessage } from '../../model/model.ts'
import type { ViewBlock } from '../../projection/view.ts'
import type { Composed, Composer } from '../../request/compose.ts'
import type { ToolUseBlock, UserBlock } from '../../transcript/content.ts'
import { isKnown, type Declined, type Entry, type FactOf, type Usage } from '../../transcript/fact.ts'
import { seq, type Seq } from '../../transcript/ids.ts'
import type { Result } from '../../transcript/store.ts'
import { totalWith } from '../aside/aside-of.ts'
import { deliverBeside } from '../beside/deliver.ts'
import { readCache } from '../server-side/cache-watch.ts'
import type { Core } from '../core.ts'
import type { Emit, TurnFailure } from '../live.ts'
import { maxOutputOf } from '../options.ts'
import { recallBefore, recallBeside } from '../recalling/recalling.ts'
import { noteApplied } from '../server-side/applied.ts'
import { deliverStart } from '../opening/start-hooks.ts'
import { toldTo } from '../server-side/told.ts'
import { settle } from '../settle.ts'
import { capRefusal, dollarsOf } from '../limits/spend.ts'

export type Prepared =
  | { readonly ok: true; readonly composed: Composed }
  | { readonly ok: false; readonly failure: TurnFailure }

/** What grows while a request is made. */
interface Making {
  readonly core: Core
  readonly emit: Emit
  /** What layers weighed and left. */
  declined: readonly Declined[]
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
  { name: 'deliver what start hooks said', run: ({ core }) => deliverStart(core) },
  { name: 'deliver results and messages', run: ({ core, emit }) => deliverBeside(core, emit) },
  { name: 'recall memories', run: ({ core, emit }) => recallBefore(core, emit) },
  { name: 'run layers', run: runLayers },
  // A compaction among them has asked the hooks again.
  { name: 'deliver what start hooks said of a compaction', run: ({ core }) => deliverStart(core) },
  { name: 'compose', run: compose },
  { name: 'check caps', run: checkCaps },
  { name: 'write down that it is sent', run: writeSent },
  { name: 'choose memories meanwhile', run: chooseMemories },
]

export async function prepare(core: Core, emit: Emit): Promise<Prepared> {
  const making: Making = { core, emit, declined: [], composed: null }
  for (const step of requestSteps) {
    const failure = await step.run(making)
    if (failure !== null) return { ok: false, failure }
  }
  return { ok: true, composed: making.composed! }
}

async function runLayers(making: Making): Promise<TurnFailure | null> {
  const { core, emit } = making
  const settled = await settle(core, core.options.layers, emit)
  if (!settled.ok) return settled.failure
  making.declined = settled.declined
  return null
}

async function compose(making: Making): Promise<TurnFailure | null> {
  const { core, emit } = making
  const { options, requests } = core
  const view = core.view()
  const outcome = composerOf(core).compose(view, {
    model: wireModelId(core.modelId),
    maxTokens: maxOutputOf(core),
    bindsPrefix: core.modelInfo()?.capabilities.bindsPrefix ?? false,
    reasoningFrom: core.state.latest.reasoningFrom,
    lifetime: core.lifetime,
    markAt: requests.markAt,
    thinking: options.thinking,
    effort: options.effort,
    ...toldTo(core, view),
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
export function composerOf(core: Slice<'requests' | 'state' | 'lifetime' | 'modelInfo'>): Composer {
  const references = core.lifetime !== null && core.modelInfo()?.capabilities.cacheEdits === true
  return core.requests.composer(core.state.fold, references)
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

async function chooseMemories({ core }: Making): Promise<null> {
  recallBeside(core)
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

/** Input typed while the model was busy: written when it was typed, given to the model once and in order. */
export async function deliverQueued(core: Core): Promise<TurnFailure | null> {
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

function requestSent(core: Core, composed: Composed, tokens: number): FactOf<'request-sent'> {
  const { lifetime, marks } = composed.segments
  return {
    type: 'request-sent',
    source: core.source,
    model: wireModelId(core.modelId),
    upTo: seq(core.state.fold.numbers.upTo),
    hash: composed.hash,
    tokens,
    marks,
    ...(lifetime === null ? {} : { lifetime }),
    ...(composed.lastMark === null ? {} : { markedAt: composed.lastMark }),
  }
}

/** What layers weighed and left, where it is another choice than the last time: each is told once. */
function newlyDeclined(
  core: Core,
  declined: readonly Declined[],
): { readonly declined?: readonly Declined[] } {
  const account = declined.map(({ layer, why }) => `${layer}: ${why}`).join('\n')
  const isNew = account !== core.requests.lastDeclined
  core.requests.lastDeclined = account
  return isNew && declined.length > 0 ? { declined } : {}
}

export type Recorded =
  | { readonly ok: true; readonly entry: Entry | null }
  | { readonly ok: false; readonly failure: TurnFailure }

/** Writes an answer down. A partial one that neither says nor costs anything leaves no trace. */
export async function record(
  core: Core,
  message: ModelMessage,
  isPartial: boolean,
  emit: Emit,
): Promise<Recorded> {
  const { content, messageId, stop, usage } = message
  // The name that was asked for: a provider may answer under a dated one, and reasoning is matched by name.
  const model = wireModelId(core.modelId)
  const fact: FactOf<'assistant-message'> = {
    type: 'assistant-message',
    content,
    messageId,
    stop,
    model,
    usage,
    ...(isPartial ? { partial: true } : {}),
  }
  if (isPartial && content.length === 0 && isFree(usage)) return { ok: true, entry: null }
  await noteApplied(core, message, emit)
  const { largestPrompt = 0 } = core.state.latest
  const written = await core.append([fact])
  if (!written.ok) return written
  emit({ type: 'answer-end', stop, usage, dollars: dollarsOf(core.options.models, model, usage) })
  await readCache(core, message, emit)
  if (!isPartial) {
    const failure = await noticeSilentOverflow(core, message, largestPrompt, emit)
    if (failure !== null) return { ok: false, failure }
  }
  if (!isPartial && core.role.keepsNotes) core.options.notes?.heard(core.aside)
  return { ok: true, entry: written.entries[0]! }
}

/** An answer that came although the request was too long: said, and where the server cut, its limit is learned. */
async function noticeSilentOverflow(
  core: Core,
  { usage, stop }: ModelMessage,
  largest: number,
  emit: Emit,
): Promise<TurnFailure | null> {
  const room = core.room()
  if (!room.ok) return null
  const sent = core.state.latest.request?.tokens ?? 0
  const found = silentOverflow({ usage, stop, estimate: sent, window: room.room.window })
  // After a compaction our estimate may be far off; a server that has taken more than this cuts nothing so small.
  if (found === null || (found.why === 'truncated' && found.promptTokens < largest)) return null
  emit({ type: 'notice', code: 'silent-overflow', message: silentSentence(found, sent) })
  return found.why === 'truncated' ? learnWindow(core, found.promptTokens) : null
}

/** Kept as a fact: after a restart the same request would run into the same end. */
async function learnWindow(core: Core, tokens: number | null): Promise<TurnFailure | null> {
  if (tokens === null || tokens === core.state.latest.learnedWindow) return null
  const written = await core.append([{ type: 'window-learned', tokens }])
  return written.ok ? null : written.failure
}

function silentSentence({ why, promptTokens, limitTokens }: SilentOverflow, sent: number): string {
  switch (why) {
    case 'truncated':
      return `about ${sent} tokens were sent and the server counted ${promptTokens}: it seems to have cut the prompt. Set the window, or compact`
    case 'over-window':
      return `the answer took the session past the window of ${limitTokens} tokens (prompt ${promptTokens}); set the window if it is larger`
    case 'filled':
      return `the answer ended because the window of ${limitTokens} tokens was full; compact, then ask to go on`
    case 'no-room':
      return `there was no room for an answer beside a prompt of ${promptTokens} tokens; compact, or allow more output`
  }
}

const isFree = ({ input, cacheRead, cacheWrite, output }: Usage): boolean =>
  input + cacheRead + cacheWrite + output === 0

/** Some gateways count their calls anew in every answer, and the wire wants each id once in a request. */
function withOwnIds({ state: { fold } }: Core, message: ModelMessage): ModelMessage {
  if (!message.content.some(isCall)) return message
  const taken = new Set<string>()
  for (const part of fold.parts()) for (const block of part.blocks) if (isCall(block)) taken.add(block.id)
  const content = message.content.map((block, index) => {
    if (!isCall(block)) return block
    const id = taken.has(block.id) ? `${block.id}-${fold.numbers.upTo + 1}-${index}` : block.id
    taken.add(id)
    return id === block.id ? block : { ...block, id }
  })
  return { ...message, content }
}

const isCall = (block: ViewBlock): block is ToolUseBlock => block.type === 'tool_use' && 'input' in block

export type Answered =
  | { readonly kind: 'answer'; readonly entry: Entry }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'failed'; readonly failure: TurnFailure; readonly model: ModelFailure | null }

/** Sends a composed request and sees it through to a written answer. */
export async function ask(
  core: Core,
  composed: Composed,
  signal: AbortSignal,
  emit: Emit,
): Promise<Answered> {
  const { model } = core.options
  if (model === undefined)
    return {
      kind: 'failed',
      failure: {
        code: 'no-model',
        message: 'this engine has no model of its own; use request() and receive()',
      },
      model: null,
    }
  const request = {
    model: wireModelId(core.modelId),
    body: composed.body,
    betas: composed.betas,
    source: core.source,
  }
  for await (const event of model.stream(request, signal)) {
    switch (event.type) {
      case 'text-delta':
      case 'thinking-delta':
        emit(event)
        break
      case 'retry':
        emit({ type: 'retry-wait', attempt: event.attempt, waitMs: event.waitMs, failure: event.failure })
        break
      case 'end': {
        const recorded = await record(core, withOwnIds(core, event.message), false, emit)
        if (!recorded.ok) return { kind: 'failed', failure: recorded.failure, model: null }
        return { kind: 'answer', entry: recorded.entry! }
      }
      case 'failed': {
        const { partial } = event
        const recorded = partial === null ? null : await record(core, withOwnIds(core, partial), true, emit)
        if (recorded !== null && !recorded.ok)
          return { kind: 'failed', failure: recorded.failure, model: null }
        if (event.failure.code === 'aborted') return { kind: 'aborted' }
        const unlearned =
          event.failure.code === 'overflow'
            ? await learnWindow(core, learnedWindow(event.failure.overflow))
            : null
        if (unlearned !== null) return { kind: 'failed', failure: unlearned, model: null }
        return {
          kind: 'failed',
          failure: { code: event.failure.code, message: event.failure.message },
          model: event.failure,
        }
      }
      default:
        break
    }
  }
  return {
    kind: 'failed',
    failure: { code: 'cut-short', message: 'the model ended its stream without an answer; try again' },
    model: null,
  }
}
