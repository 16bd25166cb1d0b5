// The answer to a request, written down before anything acts on it. What a stream leaves behind when it breaks is kept as a
// partial answer, and what a refusal or a count tells of the window is kept as a fact.
import { learnedWindow } from '../../model/models.ts'
import { silentOverflow, type SilentOverflow } from '../../model/overflow.ts'
import type { ModelEvent, ModelFailure, ModelMessage } from '../../model/model.ts'
import { promptTokens } from '../../model/usage.ts'
import type { ViewBlock } from '../../projection/view.ts'
import type { Composed } from '../../request/compose.ts'
import { sameReason } from '../../request/diagnosis.ts'
import { defaults } from '../../settings/defaults.ts'
import type { ToolUseBlock } from '../../transcript/content.ts'
import { type Entry, type FactOf, type Timing, type Usage } from '../../transcript/fact.ts'
import type { Clock } from '../../transcript/ids.ts'
import { endOf, stopKindOf } from '../../transcript/stop.ts'
import type { Core, Slice } from '../core.ts'
import type { Emit, TurnFailure } from '../live.ts'
import { diagnosisIn, readCache } from './cache-reading.ts'
import { noteApplied } from './server-edits.ts'
import { countedUsage, dollarsOf, isFree } from '../limits/spend.ts'
import { whole } from '../../transcript/whole.ts'

export type Recorded =
  | { readonly ok: true; readonly entry: Entry | null }
  | { readonly ok: false; readonly failure: TurnFailure }

/** Writes an answer down. A partial one that neither says nor costs anything leaves no trace. */
export async function record(
  core: Core,
  given: ModelMessage,
  isPartial: boolean,
  emit: Emit,
  timing?: Timing,
): Promise<Recorded> {
  // One that was asked for here was timed; the calls of another are carried out by whoever handed it in.
  const message = withOwnIds(core, given, timing !== undefined)
  const { content, messageId, stop } = message
  const room = core.room()
  const sent = core.state.latest.request?.tokens ?? 0
  const usage = countedUsage(message, sent, room.ok ? room.room.window : Infinity)
  const ended = endOf(message)
  const diagnosis = diagnosisIn(core, message)
  // The name that was asked for: a provider may answer under a dated one, and reasoning is matched by name.
  const { model, provider } = core.spoken
  const fact: FactOf<'assistant-message'> = {
    type: 'assistant-message',
    content,
    messageId,
    stop,
    ...(ended === stopKindOf(stop) ? {} : { ended }),
    model,
    ...(provider === undefined ? {} : { provider }),
    usage,
    ...(timing === undefined ? {} : { timing }),
    ...(diagnosis === null || diagnosis.reason === sameReason ? {} : { diagnosis }),
    ...(isPartial ? { partial: true } : {}),
    ...(isPartial || !isLeftOut(core, message) ? {} : { leftOut: true }),
  }
  if (isPartial && content.length === 0 && isFree(usage)) return { ok: true, entry: null }
  await noteApplied(core, message, emit)
  const { largestPrompt = 0 } = core.state.latest
  const before = fact.leftOut === true ? { ...core.state.fold.numbers } : null
  const written = await core.append([fact])
  if (!written.ok) return written
  emit({ type: 'answer-end', stop, ended, usage, dollars: dollarsOf(core.options.models, model, usage) })
  if (before !== null) {
    // What was read from a prompt that was cut says nothing about the cache.
    core.requests.takePending()
    const sentence = leftOutSentence(core, before, promptTokens(usage))
    if (sentence !== null) emit({ type: 'notice', code: 'left-out', message: sentence })
  } else {
    await readCache(core, message, diagnosis, emit)
  }
  if (!isPartial && before === null) {
    const failure = await noticeSilentOverflow(core, message, largestPrompt, emit)
    if (failure !== null) return { ok: false, failure }
  }
  if (!isPartial) sayUnfinished(message, emit)
  if (!isPartial && core.role.keepsNotes) core.options.notes?.heard(core.jobContext)
  return { ok: true, entry: written.entries[0]! }
}

/**
 * A prompt only grows while no edit lies between: one that is counted well below the one before was cut by the server.
 * Reasoning of earlier turns may go by itself on models that do not keep it.
 */
function isLeftOut(core: Slice<'modelInfo' | 'spoken' | 'state'>, message: ModelMessage): boolean {
  const { anchor, lastUsage } = core.state.fold.numbers
  const prompt = promptTokens(message.usage)
  if (anchor?.isClean !== true || lastUsage === null || prompt === 0) return false
  if (anchor.model !== core.spoken.model || message.appliedEdits.length > 0) return false
  if (message.inputTransformations.length > 0 || (message.cacheDeletedTokens ?? 0) > 0) return false
  const { leftOutShare, silentShare, silentMinTokens } = defaults.model
  const before = anchor.tokens
  const keeps = core.modelInfo()?.capabilities.keepsOldThinking === true
  return before >= silentMinTokens && prompt < before * (keeps ? leftOutShare : silentShare)
}

/** Said once: null where the answer before it was counted so already. */
function leftOutSentence(
  { state }: Slice<'state'>,
  {
    anchor,
    lastUsage,
  }: { readonly anchor: { readonly tokens: number } | null; readonly lastUsage: Usage | null },
  counted: number,
): string | null {
  const before = anchor?.tokens ?? 0
  if (lastUsage === null || promptTokens(lastUsage) + lastUsage.output !== before) return null
  const sent = Math.max(before, state.latest.request?.tokens ?? 0)
  return `about ${whole(sent)} tokens were sent and the server counted ${whole(counted)}, after ${whole(before)} for the request before it: it leaves out part of the prompt. Set the window of this model, or compact`
}

/** An answer that came although the request was too long: said, and where the server cut, its limit is learned. */
async function noticeSilentOverflow(
  core: Slice<'append' | 'room' | 'state'>,
  message: ModelMessage,
  largest: number,
  emit: Emit,
): Promise<TurnFailure | null> {
  const room = core.room()
  if (!room.ok) return null
  const sent = core.state.latest.request?.tokens ?? 0
  const found = silentOverflow({
    usage: message.usage,
    stop: message.stop,
    ended: endOf(message),
    estimate: sent,
    window: room.room.window,
  })
  // After a compaction our estimate may be far off; a server that has taken more than this cuts nothing so small.
  if (found === null || (found.why === 'truncated' && found.promptTokens < largest)) return null
  emit({ type: 'notice', code: 'silent-overflow', message: silentSentence(found, sent) })
  return found.why === 'truncated' ? learnWindow(core, found.promptTokens) : null
}

/** Kept as a fact: after a restart the same request would run into the same end. */
async function learnWindow(
  core: Slice<'append' | 'state'>,
  tokens: number | null,
): Promise<TurnFailure | null> {
  if (tokens === null || tokens === core.state.latest.learnedWindow) return null
  const written = await core.append([{ type: 'window-learned', tokens }])
  return written.ok ? null : written.failure
}

function silentSentence({ why, promptTokens, limitTokens }: SilentOverflow, sent: number): string {
  switch (why) {
    case 'truncated':
      return `about ${whole(sent)} tokens were sent and the server counted ${whole(promptTokens)}: it seems to have cut the prompt. Set the window, or compact`
    case 'over-window':
      return `the answer took the session past the window of ${whole(limitTokens)} tokens (prompt ${whole(promptTokens)}); set the window if it is larger`
    case 'filled':
      return `the answer ended because the window of ${whole(limitTokens)} tokens was full; compact, then ask to continue`
    case 'no-room':
      return `there was no room for an answer beside a prompt of ${whole(promptTokens)} tokens; compact, or allow more output`
  }
}

/** Some gateways count their calls anew in every answer, and the wire wants each id once in a request. */
function withOwnIds(
  { state: { fold } }: Slice<'state'>,
  message: ModelMessage,
  carriesOut: boolean,
): ModelMessage {
  if (!message.content.some(isCall)) return message
  const taken = new Set<string>()
  // What a compaction hides counts too: an undo brings it back.
  for (const { blocks } of fold.units.parts())
    for (const block of blocks) if (isCall(block)) taken.add(block.id)
  // What is out of memory cannot be asked; an id that only counts has most likely been there. Who carries calls out by the ids of
  // an answer would not find his again, so there none is changed for what it may meet: an undo that would meet it is refused.
  const isGuessed = carriesOut && fold.numbers.evicted.length > 0
  const content = message.content.map((block, index) => {
    if (!isCall(block)) return block
    const isTaken = taken.has(block.id) || (isGuessed && counted.test(block.id))
    const id = isTaken ? `${block.id}-${fold.numbers.upTo + 1}-${index}` : block.id
    taken.add(id)
    return id === block.id ? block : { ...block, id }
  })
  return { ...message, content }
}

/** `call_0`, `3`, `functions.read:12`: a number and nothing drawn at random. */
const counted = /^\D*\d{1,6}$/u

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
    wire: core.spoken.wire.name,
    provider: core.spoken.provider,
    model: core.spoken.model,
    body: composed.body,
    betas: composed.betas,
    source: core.source,
  }
  const watch = stopwatch(core.options.clock)
  for await (const event of model.stream(request, signal)) {
    watch.take(event)
    switch (event.type) {
      case 'text-delta':
      case 'thinking-delta':
        emit(event)
        break
      case 'retry':
        emit({ type: 'retry-wait', attempt: event.attempt, waitMs: event.waitMs, failure: event.failure })
        break
      case 'end': {
        const recorded = await record(core, event.message, false, emit, watch.timing())
        if (!recorded.ok) return { kind: 'failed', failure: recorded.failure, model: null }
        return { kind: 'answer', entry: recorded.entry! }
      }
      case 'failed': {
        const { partial } = event
        const recorded = partial === null ? null : await record(core, partial, true, emit, watch.timing())
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

/** How long an answer takes, and at which attempt it came. */
function stopwatch(clock: Clock): { take(event: ModelEvent): void; timing(): Timing } {
  const began = clock.now()
  const since = (): number => Math.max(0, clock.now() - began)
  let [firstMs, tries]: [number | undefined, number] = [undefined, 1]
  return {
    take: (event) => {
      if (event.type === 'retry') tries = event.attempt
      else if (firstMs === undefined && firstWords.has(event.type)) firstMs = since()
    },
    timing: () => ({ ...(firstMs === undefined ? {} : { firstMs }), ms: since(), tries }),
  }
}
const firstWords: ReadonlySet<string> = new Set<ModelEvent['type']>([
  'text-delta',
  'thinking-delta',
  'call-start',
])

// ---- why an answer says less than was asked for, in a sentence for the person: without it a turn would end in silence ----

/** Said where the turn ends with this answer. One that calls tools goes on, and what was cut in a call is said in its result. */
function sayUnfinished(message: ModelMessage, emit: Emit): void {
  const sentence = unfinishedSentence(message)
  if (sentence !== null) emit({ type: 'notice', code: 'unfinished-answer', message: sentence })
}

function unfinishedSentence(message: ModelMessage): string | null {
  const { content, stop, usage } = message
  if (content.some(({ type }) => type === 'tool_use')) return null
  const word = stop === null ? '' : ` (${stop})`
  const isSilent = !content.some((block) => block.type === 'text' && block.text.trim() !== '')
  switch (endOf(message)) {
    case 'refusal':
      return `the model or its provider refused to answer${word}; say it in other words, or ask another model`
    case 'filter':
      return `the filter of the provider ended the answer${word}; say it in other words, or ask another model`
    case 'length':
      // Where not one token was written there was no room at all, and that is said elsewhere; some servers count nothing.
      return usage.output === 0 && promptTokens(usage) > 0
        ? null
        : `the answer was cut at the most tokens of output${word}; ask to continue, or allow more with maxOutputTokens`
    case 'end':
      return isSilent ? 'the answer was empty; ask again' : null
    case 'other':
      return isSilent ? `the answer ended without a word${word}; ask again` : null
    case 'tool':
    case 'window':
    case 'paused':
      return null
  }
}
