// The loop: settle, ask, run tools, again, until no call is open. An abort is an outcome: open calls are answered,
// the turn is ended, and the transcript stays whole. Nothing here throws; a failure ends the turn and is said.
import { priceOf } from '../projection/layers/pricing.ts'
import { snip } from '../projection/layers/snip.ts'
import type { ModelFailure } from '../model/model.ts'
import type { Composed } from '../request/compose.ts'
import { defaults } from '../settings/defaults.ts'
import { permitBy } from '../tools/permission/pipeline.ts'
import { runCalls, type Permit } from '../tools/run.ts'
import type { Tool, ToolEnv } from '../tools/tool.ts'
import type { ToolUseBlock, UserBlock } from '../transcript/content.ts'
import {
  textResult,
  attachmentOf,
  type ClearingPrice,
  type Entry,
  type Fact,
  type Outcome,
} from '../transcript/fact.ts'
import { notRun, type Tail } from '../transcript/grammar.ts'
import { callId, seq } from '../transcript/ids.ts'
import { interruptedBy } from '../transcript/markers.ts'
import type { Failure } from '../transcript/store.ts'
import { hookAttachment } from './api.ts'
import { somethingWaits } from './background/deliver.ts'
import { compact } from './compacting/compact.ts'
import type { Core, Slice } from './core.ts'
import { expand } from './expansion.ts'
import type { Emit, LiveEvent, TurnFailure } from './live.ts'
import { fireHooks, hookJudge } from './hooks.ts'
import { chooseMemories } from './requests/recall.ts'
import { lineageOf } from './results/lineage.ts'
import { runnableTools } from './options.ts'
import { isShown } from './restoring/read-through.ts'
import { budgetOf } from './limits/budget.ts'
import { gated, gatedText } from './results/results.ts'
import { dropForBytes, dropForTokens, dropRefused } from './media/limits.ts'
import { ask } from './requests/answer.ts'
import { withoutFeature } from './requests/features.ts'
import { makeRequest } from './requests/request-steps.ts'

/** How a turn ended. */
export interface Ended {
  readonly outcome: Outcome
  readonly failure: TurnFailure | null
}

/** Runs until the model has nothing more to do. The input is already written. */
export async function runTurn(core: Core, signal: AbortSignal, emit: Emit): Promise<void> {
  core.background.turnSignal = signal
  const ended = await rounds(core, signal, emit).finally(() => {
    core.background.turnSignal = null
  })
  const closed = await core.append((tail) => ending(tail, ended))
  const failure = ended.failure ?? (closed.ok ? null : closed.failure)
  await save(core, emit)
  await fireHooks(core, 'Stop', { outcome: ended.outcome }, emit, signal)
  if (ended.outcome === 'done' && closed.ok && core.role.isWatched)
    core.options.afterTurn?.ended(core.jobContext)
  emit({ type: 'turn-end', outcome: closed.ok ? ended.outcome : 'failed', failure })
}

async function rounds(core: Core, signal: AbortSignal, emit: Emit): Promise<Ended> {
  let isAskedAgain = false
  let isCompacted = false
  let withoutMedia = 0
  for (let round = 1; ; round++) {
    if (signal.aborted) return { outcome: 'aborted', failure: null }
    if (round > (core.options.maxRounds ?? Infinity)) return failed(tooManyRounds)
    const prepared = await makeRequest(core, emit)
    if (!prepared.ok) return failed(prepared.failure)
    const answered = await ask(core, prepared.composed, signal, emit)
    if (answered.kind === 'aborted') return { outcome: 'aborted', failure: null }
    if (answered.kind === 'failed') {
      // Media it refuses, or that make the request too large or too long, go before any words do.
      if (
        withoutMedia++ < defaults.media.refusals &&
        (await dropMedia(core, answered.model, prepared.composed, emit))
      )
        continue
      if (answered.model?.code === 'feature-refused') {
        const { feature, message } = answered.model
        const without = await withoutFeature(core, feature, message, prepared.composed, emit)
        if (without === true) continue
        if (without !== false) return failed(without)
      }
      // Too long by the provider's count: compacted and asked once more before anything is shown.
      if (isTooLong(answered.model) && !isCompacted && core.options.automaticRemoval !== false) {
        isCompacted = true
        if (await shortened(core, answered.model, signal, emit)) continue
      }
      // The provider refuses reasoning it does not know any more: once more without it, then the error is shown.
      if (answered.model?.code !== 'reasoning-invalid' || isAskedAgain) return failed(answered.failure)
      isAskedAgain = true
      const { upTo } = core.state.fold.numbers
      const noted = await core.append([{ type: 'reasoning-refused', upTo: seq(upTo) }])
      if (!noted.ok) return failed(noted.failure)
      emit({
        type: 'notice',
        code: 'reasoning-dropped',
        message: 'the provider refused earlier reasoning; sent again without it',
      })
      continue
    }
    isCompacted = false
    withoutMedia = 0
    const calls = callsOf(answered.entry)
    if (calls.length === 0) {
      if (core.state.tail.queued.length > 0 || somethingWaits(core)) continue
      return { outcome: 'done', failure: null }
    }
    const stopped = await runTools(core, calls, signal, emit)
    if (stopped !== null) return stopped
    await save(core, emit)
  }
}

const tooManyRounds: TurnFailure = {
  code: 'rounds',
  message: 'it went on calling tools for longer than it was given',
}

/** Replaces the media that a refusal is about; false where it is about none, or none can go. */
async function dropMedia(
  core: Core,
  failure: ModelFailure | null,
  composed: Composed,
  emit: Emit,
): Promise<boolean> {
  switch (failure?.code) {
    case 'media-refused':
      return dropRefused(core, failure, composed, emit)
    case 'too-large':
      return dropForBytes(core, Buffer.byteLength(composed.body), failure.mostBytes, emit)
    case 'overflow': {
      const outcome = core.room(failure.overflow.limitTokens)
      return outcome.ok && dropForTokens(core, failure.overflow.promptTokens, outcome.room, emit)
    }
    default:
      return false
  }
}

const isTooLong = (failure: ModelFailure | null): failure is ModelFailure =>
  failure?.code === 'overflow' || failure?.code === 'too-large'

async function shortened(
  core: Core,
  failure: ModelFailure,
  signal: AbortSignal,
  emit: Emit,
): Promise<boolean> {
  const overflow = failure.code === 'overflow' ? failure.overflow : undefined
  const outcome = await compact(core, { trigger: 'reactive', overflow }, emit, signal)
  if (!outcome.ok) emit({ type: 'notice', code: 'not-compacted', message: outcome.failure.message })
  return outcome.ok
}

/** A checkpoint is only a short cut, so a failing one is said and ends nothing. */
export async function save(core: Slice<'checkpoints'>, emit: Emit): Promise<void> {
  const unsaved = await core.checkpoints.save()
  if (unsaved !== null) emit(unsavedNotice(unsaved))
}

export const unsavedNotice = ({ code, message }: Failure): LiveEvent => ({
  type: 'notice',
  code,
  message: `no checkpoint was written: ${message}`,
})

async function runTools(
  core: Core,
  calls: readonly ToolUseBlock[],
  turnSignal: AbortSignal,
  emit: Emit,
): Promise<Ended | null> {
  chooseMemories(core, 'tools')
  // A person who is asked may stop the turn instead of answering: the other calls are not started then either.
  const stop = new AbortController()
  const signal = AbortSignal.any([turnSignal, stop.signal])
  const offered = runnableTools(core.options, core.view().tools)
  const tools = new Map(offered.map((tool) => [tool.spec.name, tool]))
  const runnable = calls.filter((call) => call.broken === undefined && !isCutShort(core.state.tail, call.id))
  const broken = calls.filter((call) => !runnable.includes(call))
  const unread = await core.append(broken.map((call) => textResult(callId(call.id), notRun(call.name))))
  if (!unread.ok) return failed(unread.failure)
  for (const call of runnable) emit({ type: 'tool-start', id: call.id, name: call.name, input: call.input })
  const running = runCalls(runnable, {
    tools: offered,
    env: (call) => envOf(core, call, emit),
    signal,
    mayRun: async (call, tool) => {
      const permit = await permitted(core, call, tool, signal, emit)
      if (!permit.ok && permit.stops === true) stop.abort()
      return permit
    },
  })
  for await (const { call, outcome } of running) {
    const fact = await gated(core, call.id, tools.get(call.name), outcome)
    const extra = await afterTool(core, call, fact.content, signal, emit)
    const first = await core.append([fact, ...extra])
    // What no line can hold and nothing could keep is an error of that call, not the end of the turn.
    const written =
      first.ok || first.failure.code !== 'too-large'
        ? first
        : await core.append([textResult(callId(call.id), notKept(first.failure)), ...extra])
    if (!written.ok) return failed(written.failure)
    const wanted = outcome.facts === undefined ? { ok: true as const } : await core.append(outcome.facts)
    if (!wanted.ok)
      emit({ type: 'notice', code: wanted.failure.code, message: `${call.name}: ${wanted.failure.message}` })
    emit({
      type: 'tool-end',
      id: call.id,
      name: call.name,
      isError: fact.isError,
      text: textOf(fact.content),
      ...(outcome.change === undefined ? {} : { change: outcome.change }),
    })
    if (outcome.memory !== undefined)
      emit({ type: 'memory', did: outcome.memory.did, files: [outcome.memory.file] })
  }
  return signal.aborted ? { outcome: 'aborted', failure: null } : null
}

/** Hooks are heard first; what was decided is written before the call runs. */
async function permitted(
  core: Slice<'append' | 'options' | 'session'>,
  call: ToolUseBlock,
  tool: Tool,
  signal: AbortSignal,
  emit: Emit,
): Promise<Permit> {
  const { judges = [] } = core.options
  const permit = await permitBy([hookJudge(core, emit), ...judges], call, tool, signal)
  if (permit.facts === undefined || signal.aborted) return permit
  const written = await core.append(permit.facts)
  if (!written.ok) {
    const why = `The decision could not be written: ${written.failure.message}`
    emit({ type: 'notice', code: written.failure.code, message: `${call.name} was not run. ${why}` })
    return { ok: false, why }
  }
  if (permit.ok && permit.notice !== undefined)
    emit({ type: 'notice', code: 'permission', message: permit.notice })
  return permit
}

async function afterTool(
  core: Slice<'background' | 'folders' | 'options' | 'session' | 'state' | 'transcript'>,
  call: ToolUseBlock,
  content: readonly UserBlock[],
  signal: AbortSignal,
  emit: Emit,
): Promise<Fact[]> {
  const payload = { tool: call.name, input: call.input, output: textOf(content) }
  const answer = await fireHooks(core, 'PostToolUse', payload, emit, signal)
  const folder = await core.folders?.touched(call)
  for (const message of folder?.problems ?? []) emit({ type: 'notice', code: 'instructions', message })
  const context = answer.context === null ? null : await gatedText(core, `hook-${call.id}`, answer.context)
  const nested = folder?.text ?? null
  const instructions = nested === null ? null : await gatedText(core, `instructions-${call.id}`, nested)
  return [
    ...(context === null ? [] : [hookAttachment('PostToolUse', context)]),
    ...(instructions === null ? [] : [attachmentOf('instructions', instructions, { source: call.name })]),
  ]
}

function envOf(core: Core, call: ToolUseBlock, emit: Emit): ToolEnv {
  const { store, cwd, clock } = core.options
  return {
    cwd,
    session: core.session,
    callId: call.id,
    readFiles: core.readFiles,
    spill: async (name, bytes) => {
      const kept = await store.putBlob(core.transcript.lease, name, bytes)
      return kept.ok ? kept : { ok: false, why: kept.failure.message }
    },
    expand: (ref, offset, limit) => expand(core, ref, offset, limit),
    isShown: (id) => isShown(core.state.fold, id),
    snip: (ids, reason) =>
      snip(core.state.fold, core.requests.tags, ids, reason, (...sizes) => pricedNow(core, ...sizes)),
    lineage: () => lineageOf(core.state.fold, core, call.id),
    report: (text) => emit({ type: 'tool-progress', id: call.id, text }),
    now: () => clock.now(),
  }
}

/** Whether the answer that made this call was cut off before its arguments were complete. */
const isCutShort = ({ open }: Tail, id: string): boolean => open.some((call) => call.id === id && call.broken)

/** What it is worth that the model wants something out of its view. */
function pricedNow(core: Core, freed: number, tail: number): ClearingPrice | undefined {
  const outcome = core.room()
  return outcome.ok ? priceOf(core.view(), budgetOf(core, outcome.room), 'asked', freed, tail) : undefined
}

/** What is written at the end of a turn: answers for calls still open, then the end itself. */
function ending(tail: Tail, { outcome, failure }: Ended): readonly Fact[] {
  const why = outcome === 'aborted' ? 'the user interrupted' : (failure?.message ?? 'the turn ended')
  const facts = tail.open.map((call) =>
    textResult(call.id, call.broken ? notRun(call.name) : interruptedBy(why)),
  )
  if (!tail.inTurn) return facts
  return [...facts, { type: 'turn-end', outcome, ...(failure === null ? {} : { failure }) }]
}

const failed = (failure: TurnFailure): Ended => ({ outcome: 'failed', failure })

const notKept = ({ message }: Failure): string =>
  `[the result of this call could not be written down: ${message}. Ask for less of it.]`

function callsOf(entry: Entry): readonly ToolUseBlock[] {
  if (entry.fact.type !== 'assistant-message') return []
  return entry.fact.content.filter(
    (block): block is ToolUseBlock => block.type === 'tool_use' && 'input' in block,
  )
}

const textOf = (content: readonly UserBlock[]): string =>
  content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n')
