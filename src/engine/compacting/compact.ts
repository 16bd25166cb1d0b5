// Compacting a session: plan, write one boundary, say so. One append is the whole change: a crash leaves the session as it
// was or with its boundary, and of what that gives back at most the last pieces are missing. Guards: one
// at a time, never by a fork but of what a forked agent has done itself, never twice without new content, never a result
// that is not smaller; a model's summary that fails three times in a row is no longer asked for.
import { type Plan, type PlanOptions, type PlanOutcome, plan } from '../../compaction/ladder.ts'
import { wishIn } from '../../compaction/summary.ts'
import { type Choosing, withSummary, withNotes } from './summary-source.ts'
import { type CompactAsk, type Compacted, refused } from './ask.ts'
import { boundaryOf, figures, isArchive, compactedOf } from './boundary.ts'
import type { Core, Slice } from '../core.ts'
import { fireHooks } from '../hooks.ts'
import type { Emit } from '../live.ts'
import { fireStart, renewBehindBoundary } from '../opening/start-hooks.ts'
import { withPrepared } from './prepared.ts'
import { nothingRestored, resetReadFiles, restoration } from '../restoring/restore.ts'
import { roomBelow, type Room } from '../../projection/budget.ts'
import type { Fact, FactOf } from '../../transcript/fact.ts'
import type { Seq } from '../../transcript/ids.ts'
import type { Result } from '../../transcript/store.ts'

export type CompactOutcome = Result<{ readonly compacted: Compacted }>

export async function compact(
  core: Core,
  ask: CompactAsk,
  emit: Emit,
  signal: AbortSignal = core.background.turnSignal ?? core.background.ending.signal,
): Promise<CompactOutcome> {
  if (core.role.compacts !== 'all' && prefixOf(core) === undefined)
    return refused('no-recursion', 'a fork works on its parent’s prefix and does not compact it')
  if (core.compacting.isUnderWay) return refused('busy', 'a compaction is already under way')
  const outcome = core.room(ask.overflow?.limitTokens)
  if (!outcome.ok) return refused('no-room', outcome.why)
  core.compacting.isUnderWay = true
  const room = refusedUncounted(ask) ? roomBelow(outcome.room, core.view().tokens) : outcome.room
  try {
    return await carryOut(core, ask, room, emit, signal)
  } finally {
    core.compacting.isUnderWay = false
  }
}

async function carryOut(
  core: Core,
  ask: CompactAsk,
  room: Room,
  emit: Emit,
  signal: AbortSignal,
): Promise<CompactOutcome> {
  const isAsItWas = watched(core)
  const options = planOptions(core, ask, room)
  const planned = plan(core.state.fold, room, options)
  const first =
    planned.ok || !isForced(core, ask, room, planned.code) ? planned : await forced(core, room, options, emit)
  if (!first.ok) return refused(first.code, first.message)
  const passedOver: string[] = []
  const wanted = await chosen({ core, ask, room, options, extracted: first.plan, emit, signal, passedOver })
  if (!wanted.ok) return wanted
  const given = isArchive(ask) ? nothingRestored : await restoration(core, wanted.plan, room, signal)
  const whole = { ...wanted.plan, tokensAfter: wanted.plan.tokensAfter + given.tokens }
  if (ask.dryRun === true) return { ok: true, compacted: compactedOf(whole, null, given) }
  if (signal.aborted) return refused('aborted', 'the compaction was stopped; the session is as it was')
  if (ask.trigger === 'manual' && !isAsItWas())
    return refused('aborted', 'an undo happened meanwhile; nothing was compacted')
  const written = await core.append([boundaryOf(core, ask, whole, room, passedOver), ...given.facts])
  if (!written.ok) return written
  const { seq } = written.entries[0]!
  if (isArchive(ask)) {
    const { layer, why, tokensFreed } = written.entries[0]!.fact as FactOf<'view-edit'>
    emit({ type: 'view-edit', layer, why, tokensFreed, seq })
    return { ok: true, compacted: compactedOf(whole, seq, given) }
  }
  if (whole.source !== null) resetReadFiles(core, given, written.entries.slice(1))
  const compacted = compactedOf(whole, seq, given)
  emit({ type: 'compaction', trigger: ask.trigger, seq, ...figures(compacted) })
  await tellHooks(core, ask, compacted, emit, signal)
  await renewBehindBoundary(core, ask.from !== undefined, emit)
  await fireStart(core, 'compact', emit, signal)
  return { ok: true, compacted }
}

/** Whether nobody has undone anything or gone back since: a text would bring back what was taken away. */
function watched({ state: { fold } }: Slice<'state'>): () => boolean {
  const { upTo } = fold.numbers
  const last = [...fold.parts()].at(-1)?.uuid
  return () =>
    [...fold.parts()].some(({ uuid }) => uuid === last) &&
    !fold.edits.controls.some(({ seq, fact }) => seq > upTo && fact.type === 'undo')
}

/** Notes first; hooks are asked only where the text is yet to be made. */
async function chosen(choosing: Choosing): Promise<Result<{ readonly plan: Plan }>> {
  const noted = await withNotes(choosing)
  if (noted !== null) return { ok: true, plan: noted }
  const asked = await askHooks(choosing)
  if (!asked.ok) return asked
  const prepared = asked.context === null ? await withPrepared(choosing) : null
  return prepared === null ? withSummary(choosing, asked.context) : { ok: true, plan: prepared }
}

function planOptions(
  core: Slice<'links' | 'options' | 'role' | 'state' | 'view'>,
  ask: CompactAsk,
  room: Room,
): PlanOptions {
  const { trigger, from, upTo, instructions } = ask
  return {
    trigger,
    from,
    upTo,
    instructions,
    thrift: core.options.thrift,
    // Whoever asks for a text of its own gets one.
    pressureClearing: isArchive(ask) ? false : core.options.pressureClearing,
    scale: scaleOf(core, ask, room),
    mayTouchHolds: trigger === 'manual',
    prefixTo: prefixOf(core),
  }
}

/** Of a forked agent: its parent's talk and the words that began its task. What it did since is its own to put away. */
function prefixOf({ role, links, state: { fold } }: Slice<'links' | 'role' | 'state'>): Seq | undefined {
  if (role.compacts !== 'own') return undefined
  const { from } = links.at(-1)!
  return [...fold.parts()].find((part) => part.kind === 'input' && part.from >= from)?.to
}

/** A refusal for length that names no tokens: a limit of bytes somewhere on the way, or words alone. */
const refusedUncounted = ({ trigger, overflow }: CompactAsk): boolean =>
  trigger === 'reactive' && (overflow?.promptTokens ?? overflow?.limitTokens ?? null) === null

/**
 * After a refusal the provider's count is the truth; where it names its limit alone, the request was at least that long.
 * Where it names nothing our own count stands: it says nothing about tokens, only that this was too much.
 */
function scaleOf(core: Slice<'view'>, ask: CompactAsk, { window }: Room): number {
  if (ask.trigger !== 'reactive' || refusedUncounted(ask)) return 1
  const counted = ask.overflow?.promptTokens ?? window
  return Math.max(1, counted / Math.max(1, core.view().tokens))
}

/** What an undo restored is left alone until the window leaves no choice. */
const isForced = (core: Slice<'role' | 'view'>, { trigger }: CompactAsk, room: Room, code: string): boolean =>
  code === 'on-hold' &&
  core.role.compacts === 'all' &&
  (trigger === 'reactive' || core.view().tokens > room.effective)

async function forced(
  core: Slice<'append' | 'state'>,
  room: Room,
  options: PlanOptions,
  emit: Emit,
): Promise<PlanOutcome> {
  const holds = [...new Set(core.state.fold.edits.holds.map((hold) => hold.seq))]
  const released = await core.append(holds.map((target): Fact => ({ type: 'release', target })))
  if (!released.ok) return { ok: false, code: 'on-hold', message: released.failure.message }
  emit({
    type: 'notice',
    code: 'hold-released',
    message: 'what an undo restored no longer fits the window and is compacted again',
  })
  return plan(core.state.fold, room, { ...options, mayTouchHolds: true })
}

/** A hook may forbid it, as long as the session can go on without. */
async function askHooks({
  core,
  ask,
  extracted,
  room,
  emit,
  signal,
}: Choosing): Promise<Result<{ /** For whoever writes the text. */ readonly context: string | null }>> {
  const { tokensBefore, tokensAfter, partsGone } = extracted
  const ids = partsGone.map((part) => part.uuid)
  const payload = { trigger: ask.trigger, tokensBefore, tokensAfter, ids }
  const answer = await fireHooks(core, 'PreCompact', payload, emit, signal)
  const context = wishIn(answer.context)
  if (answer.block === null) return { ok: true, context }
  if (ask.trigger !== 'reactive' && core.view().tokens <= room.effective)
    return refused('blocked', answer.block)
  emit({
    type: 'notice',
    code: 'veto-ignored',
    message: `a hook forbade it, but nothing else fits: ${answer.block}`,
  })
  return { ok: true, context }
}

async function tellHooks(
  core: Slice<'options' | 'session'>,
  ask: CompactAsk,
  done: Compacted,
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  const payload = { trigger: ask.trigger, ...figures(done), seq: done.seq }
  const answer = await fireHooks(core, 'PostCompact', payload, emit, signal)
  if (answer.context !== null) emit({ type: 'notice', code: 'hook', message: answer.context })
}
