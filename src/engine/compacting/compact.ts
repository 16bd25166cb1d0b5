// Compacting a session: plan, write one boundary, say so. One append is the whole change, so a crash leaves the session
// as it was or as it should be. Guards (SPEC 8.9, 16.2): one at a time, never by a fork, never twice without new content,
// never a result that is not smaller; a model's summary that fails three times in a row is no longer asked for.
import type { Audit } from '../../compaction/audit.ts'
import { plan, rewritten, type Plan, type PlanOptions, type PlanOutcome } from '../../compaction/ladder.ts'
import { accountOf } from '../../compaction/summary.ts'
import type { Overflow } from '../../model/model.ts'
import type { Room } from '../../projection/budget.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Fact, FactOf } from '../../transcript/fact.ts'
import type { Seq } from '../../transcript/ids.ts'
import type { Failure, Result } from '../../transcript/store.ts'
import type { Core } from '../core.ts'
import { noHooks } from '../hooks.ts'
import type { Emit } from '../live.ts'
import { fireStart } from '../opening/start-hooks.ts'

export interface CompactAsk {
  readonly trigger: 'auto' | 'manual' | 'reactive'
  /** What the user wants to find again. */
  readonly instructions?: string | undefined
  /** Put away what follows this place. */
  readonly from?: Seq | undefined
  /** Put away what precedes this place. */
  readonly upTo?: Seq | undefined
  /** Plan only, and write nothing. */
  readonly dryRun?: boolean | undefined
  /** A text of the caller's own in place of the extracted one: a preview that was edited. */
  readonly text?: string | undefined
  /** What a provider said when it refused a request for its length. */
  readonly overflow?: Overflow | undefined
}

export interface Compacted {
  /** The place of the entry that can be undone; null for a preview. */
  readonly seq: Seq | null
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** Null when clearing large results was enough. */
  readonly source: 'model' | 'extractive' | null
  readonly steps: readonly string[]
  readonly partsGone: number
  readonly partsKept: number
  readonly texts: readonly string[]
  readonly audit: Audit | null
}

/** Codes that say: not now, and the session is as it was. Others are failures of what was asked to help. */
export const isPlanRefusal = (code: string): boolean => planRefusals.has(code)
const planRefusals = new Set([
  'nothing-new',
  'nothing-to-compact',
  'not-smaller',
  'no-room',
  'held',
  'busy',
  'blocked',
  'no-recursion',
  'aborted',
])

export type CompactOutcome = Result<{ readonly compacted: Compacted }>

/** The layer under whose name a compaction is written down. */
export const compactionLayer = 'autocompact'

export async function compact(
  core: Core,
  ask: CompactAsk,
  emit: Emit,
  signal: AbortSignal = core.turnSignal ?? core.ending.signal,
): Promise<CompactOutcome> {
  if (core.parent !== null)
    return refused('no-recursion', 'a fork works on its parent’s prefix and does not compact it')
  if (core.isCompacting) return refused('busy', 'a compaction is already under way')
  const outcome = core.room(ask.overflow?.limitTokens)
  if (!outcome.ok) return refused('no-room', outcome.why)
  core.isCompacting = true
  try {
    return await carryOut(core, ask, outcome.room, emit, signal)
  } finally {
    core.isCompacting = false
  }
}

async function carryOut(
  core: Core,
  ask: CompactAsk,
  room: Room,
  emit: Emit,
  signal: AbortSignal,
): Promise<CompactOutcome> {
  const options = planOptions(core, ask, room)
  const planned = plan(core.fold, room, options)
  const first =
    planned.ok || !isForced(core, ask, room, planned.code) ? planned : await forced(core, room, options, emit)
  if (!first.ok) return refused(first.code, first.message)
  if (ask.dryRun !== true) {
    const vetoed = await askHooks(core, ask, first.plan, room, emit, signal)
    if (vetoed !== null) return { ok: false, failure: vetoed }
  }
  const wanted = await withAccount(core, ask, room, options, first.plan, emit, signal)
  if (!wanted.ok) return wanted
  if (ask.dryRun === true) return { ok: true, compacted: report(wanted.plan, null) }
  if (signal.aborted) return refused('aborted', 'the compaction was stopped; the session is as it was')
  const written = await core.append([factOf(core, ask, wanted.plan, room)])
  if (!written.ok) return written
  const { seq } = written.entries[0]!
  const compacted = report(wanted.plan, seq)
  emit({ type: 'compaction', trigger: ask.trigger, seq, ...figures(compacted) })
  await tellHooks(core, ask, compacted, emit, signal)
  await fireStart(core, 'compact', emit, signal)
  return { ok: true, compacted }
}

function planOptions(core: Core, ask: CompactAsk, room: Room): PlanOptions {
  const { trigger, from, upTo, instructions } = ask
  return {
    trigger,
    from,
    upTo,
    instructions,
    scale: scaleOf(core, ask, room),
    mayTouchHeld: trigger === 'manual',
  }
}

/** After a refusal the provider's count is the truth; where it names none, the request was at least a window long. */
function scaleOf(core: Core, { trigger, overflow }: CompactAsk, { window }: Room): number {
  if (trigger !== 'reactive') return 1
  const counted = overflow?.promptTokens ?? window
  return Math.max(1, counted / Math.max(1, core.view().tokens))
}

/** What an undo gave back is held until the window leaves no choice. */
const isForced = (core: Core, { trigger }: CompactAsk, room: Room, code: string): boolean =>
  code === 'held' && (trigger === 'reactive' || core.view().tokens > room.effective)

async function forced(core: Core, room: Room, options: PlanOptions, emit: Emit): Promise<PlanOutcome> {
  const holds = [...new Set(core.fold.edits.holds.map((hold) => hold.seq))]
  const released = await core.append(holds.map((target): Fact => ({ type: 'release', target })))
  if (!released.ok) return { ok: false, code: 'held', message: released.failure.message }
  emit({
    type: 'notice',
    code: 'held-released',
    message: 'what an undo had given back no longer fits the window and is put away again',
  })
  return plan(core.fold, room, { ...options, mayTouchHeld: true })
}

// ---- a text of somebody else's ----

async function withAccount(
  core: Core,
  ask: CompactAsk,
  room: Room,
  options: PlanOptions,
  extracted: Plan,
  emit: Emit,
  signal: AbortSignal,
): Promise<Result<{ readonly plan: Plan }>> {
  if (ask.text !== undefined) {
    const own = rewritten(core.fold, room, options, extracted, ask.text)
    return own.ok ? own : refused(own.code, own.message)
  }
  const { summariser } = core.options
  const isOpen =
    (core.latest.summaryFailures ?? 0) >= defaults.compaction.failures && ask.trigger !== 'manual'
  if (summariser === undefined || extracted.span === null || isOpen || ask.dryRun === true)
    return { ok: true, plan: extracted }
  const answer = await summariser.summarise(
    {
      session: core.session,
      span: extracted.span,
      parts: extracted.partsGone,
      instructions: ask.instructions ?? null,
      maxTokens: room.reserve,
    },
    signal,
  )
  if (!answer.ok && answer.isAborted)
    return refused('aborted', 'the compaction was stopped; the session is as it was')
  const account = answer.ok ? accountOf(answer) : answer
  const made = account.ok ? rewritten(core.fold, room, options, extracted, account.account) : null
  if (made?.ok === true) return made
  const why = account.ok ? 'it is too long' : account.why
  return failedSummary(core, why, extracted, emit)
}

/** A failing summary replaces nothing: it is written down, said, and the extracted text stands. */
async function failedSummary(
  core: Core,
  why: string,
  extracted: Plan,
  emit: Emit,
): Promise<Result<{ readonly plan: Plan }>> {
  const noted = await core.append([{ type: 'compaction-failed', source: 'model', why }])
  if (!noted.ok) return noted
  emit({ type: 'notice', code: 'summary-failed', message: `the model's summary was not used: ${why}` })
  if (core.latest.summaryFailures === defaults.compaction.failures)
    emit({
      type: 'notice',
      code: 'breaker-open',
      message: `${defaults.compaction.failures} summaries failed in a row; from now on texts are extracted, until one succeeds`,
    })
  return { ok: true, plan: extracted }
}

// ---- the fact ----

function factOf(core: Core, ask: CompactAsk, made: Plan, room: Room): Fact {
  const { edits, source, tokensBefore, tokensAfter, audit, partsGone } = made
  const editing = {
    layer: compactionLayer,
    asked: ask.trigger === 'manual' ? ('user' as const) : ('automatic' as const),
    edits,
    why: whyOf(ask, made, room),
    tokensFreed: tokensBefore - tokensAfter,
  }
  if (source === null) return { type: 'view-edit', ...editing }
  const { lastUuid } = core.transcript.tail
  return {
    type: 'boundary',
    ...editing,
    trigger: ask.trigger,
    source,
    tokensBefore,
    tokensAfter,
    messagesSummarised: partsGone.length,
    ...(lastUuid === null ? {} : { last: lastUuid }),
    toolsKnown: core.view().tools.map((tool) => tool.name),
    ...(ask.instructions === undefined ? {} : { instructions: ask.instructions }),
    ...keptSegment(made),
    audit,
    chain: chainOf(core, room),
  }
}

function whyOf({ trigger, from, upTo }: CompactAsk, { tokensBefore }: Plan, { threshold }: Room): string {
  if (trigger === 'reactive') return 'the provider refused the request for its length'
  if (trigger === 'auto') return `the view takes ${tokensBefore} tokens, and at ${threshold} it is compacted`
  if (from !== undefined) return `the user asked to put away what follows ${from}`
  return upTo === undefined ? 'the user asked for it' : `the user asked to put away what precedes ${upTo}`
}

function keptSegment({ partsKept, partsGone }: Plan): Pick<FactOf<'boundary'>, 'kept'> {
  const head = partsKept[0]
  const tail = partsKept.at(-1)
  if (head === undefined || tail === undefined) return {}
  return { kept: { head: head.uuid, tail: tail.uuid, anchor: partsGone.at(-1)!.uuid } }
}

function chainOf(core: Core, room: Room): FactOf<'boundary'>['chain'] {
  const last = core.fold.edits.controls.findLast((control) => control.fact.type === 'boundary')
  const inputs = [...core.fold.parts()].filter((part) => part.kind === 'input')
  const turn = inputs.at(-1)?.uuid
  return {
    recompaction: last !== undefined,
    turnsSince: inputs.filter((part) => part.from > (last?.seq ?? -1)).length,
    ...(turn === undefined ? {} : { turn }),
    threshold: room.threshold,
    requestSource: core.source,
  }
}

function report(made: Plan, seq: Seq | null): Compacted {
  const { tokensBefore, tokensAfter, source, steps, texts, audit, partsGone, partsKept } = made
  return {
    seq,
    tokensBefore,
    tokensAfter,
    source,
    steps,
    texts,
    audit,
    partsGone: partsGone.length,
    partsKept: partsKept.length,
  }
}

const figures = ({ tokensBefore, tokensAfter, source, audit }: Compacted) => ({
  tokensBefore,
  tokensAfter,
  source,
  retention: audit?.retention ?? null,
})

// ---- hooks ----

/** A hook may forbid it, as long as the session can go on without. */
async function askHooks(
  core: Core,
  ask: CompactAsk,
  made: Plan,
  room: Room,
  emit: Emit,
  signal: AbortSignal,
): Promise<Failure | null> {
  const { tokensBefore, tokensAfter, partsGone } = made
  const ids = partsGone.map((part) => part.uuid)
  const payload = { session: core.session, trigger: ask.trigger, tokensBefore, tokensAfter, ids }
  const answer = await (core.options.hooks ?? noHooks).fire('PreCompact', payload, signal)
  for (const message of answer.failures) emit({ type: 'notice', code: 'hook-failed', message })
  if (answer.block === null) return null
  if (ask.trigger !== 'reactive' && core.view().tokens <= room.effective)
    return { code: 'blocked', message: answer.block }
  emit({
    type: 'notice',
    code: 'veto-ignored',
    message: `a hook forbade it, but nothing else fits: ${answer.block}`,
  })
  return null
}

async function tellHooks(
  core: Core,
  ask: CompactAsk,
  done: Compacted,
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  const payload = { session: core.session, trigger: ask.trigger, ...figures(done), seq: done.seq }
  const answer = await (core.options.hooks ?? noHooks).fire('PostCompact', payload, signal)
  for (const message of answer.failures) emit({ type: 'notice', code: 'hook-failed', message })
  if (answer.context !== null) emit({ type: 'notice', code: 'hook', message: answer.context })
}

function refused(code: string, message: string): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure: { code, message } }
}
