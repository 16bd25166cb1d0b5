// Running the layers: each is asked once, cheapest first, at what the earlier ones left. What a layer wants is carried out
// as it asks and written as a fact, under its name and with its reason, before it counts; what is refused is said and not tried again (laws L1, L2).
import type { Room } from '../projection/budget.ts'
import type { Budget, Layer, Proposal } from '../projection/layer.ts'
import type { EditRefusalCode } from '../projection/refusal.ts'
import type { Declined, FactOf, Range } from '../transcript/fact.ts'
import { after } from '../transcript/ids.ts'
import type { CompactAsk, CompactRefusalCode, PlanRefusalCode } from './compacting/ask.ts'
import { compact } from './compacting/compact.ts'
import type { Core, Slice } from './core.ts'
import { spilled } from './results/results.ts'
import { budgetOf } from './limits/budget.ts'
import type { Emit, TurnFailure } from './live.ts'
import { prepareAhead } from './compacting/prepared.ts'
import { deletionsIn } from './requests/server-edits.ts'
import { whole } from '../transcript/whole.ts'

/** Null when the view can be sent now; what layers weighed and left is added to `declined`. */
export async function runLayers(core: Core, emit: Emit, declined: Declined[]): Promise<TurnFailure | null> {
  const outcome = core.room()
  if (!outcome.ok) return { code: 'no-room', message: outcome.why }
  for (const layer of core.options.layers) {
    const failure = await hear(core, layer, outcome.room, emit, declined)
    if (failure !== null) return failure
  }
  const unwritten = await stubDeletions(core, outcome.room, emit)
  if (unwritten !== null) return unwritten
  prepareAhead(core, outcome.room)
  const { tokens } = core.view()
  const { effective, window } = outcome.room
  if (tokens <= effective) return null
  const message =
    `the session takes about ${whole(tokens)} tokens, but only ${whole(effective)} of the ${whole(window)} token window can be sent. ` +
    core.role.overflowAdvice
  return { code: 'overflow', message }
}

/**
 * A later layer has rewritten what the server was to delete from its cache. Who asked for that was heard before, and is
 * heard once more: in this very request the deletions become stubs.
 */
async function stubDeletions(core: Core, room: Room, emit: Emit): Promise<TurnFailure | null> {
  const view = core.view()
  const layer = core.options.layers.find(({ deletesFromCache }) => deletesFromCache === true)
  if (layer === undefined || view.changedFrom === null || deletionsIn(view).length === 0) return null
  return hear(core, layer, room, emit, [])
}

async function hear(
  core: Core,
  layer: Layer,
  room: Room,
  emit: Emit,
  declined: Declined[],
): Promise<TurnFailure | null> {
  const budget = layerBudget(core, room)
  const proposal = layer.decide(core.view(), budget)
  if (proposal === null) {
    const left = layer.declined?.(core.view(), budget) ?? null
    if (left !== null) declined.push({ layer: layer.name, ...left })
    return null
  }
  if (proposal.kind === 'ask') return summarised(core, layer.name, proposal, emit)
  const fact = await factOf(core, layer.name, proposal, budget)
  if (fact === null) return null
  const { why, tokensFreed } = fact
  const written = await core.append([fact])
  if (written.ok) {
    emit({ type: 'view-edit', layer: layer.name, why, tokensFreed, seq: written.entries[0]!.seq })
    return null
  }
  if (isHarmless(written.failure.code)) {
    emit({ type: 'notice', code: 'refused', message: `${layer.name}: ${written.failure.message}` })
    return null
  }
  return written.failure
}

/** With what a layer may know of the others: on a cold cache, whether one of them is about to make room. */
function layerBudget(core: Core, room: Room): Budget {
  const budget = budgetOf(core, room)
  if (budget.isWarm) return budget
  const view = core.view()
  return { ...budget, boundaryDue: core.options.layers.some((layer) => layer.isDue?.(view, budget) === true) }
}

/** A text that cannot be made ends nothing by itself: whether the view can be sent is asked afterwards. */
async function summarised(
  core: Core,
  name: string,
  { span, text, why }: Extract<Proposal, { kind: 'ask' }>,
  emit: Emit,
): Promise<TurnFailure | null> {
  const outcome = await compact(
    core,
    { trigger: 'auto', layer: { name, why, text }, ...within(core, span) },
    emit,
  )
  const before = core.compacting.refusedFor
  core.compacting.refusedFor = outcome.ok ? null : outcome.failure.code
  if (outcome.ok) return null
  const { code, message } = outcome.failure
  if (!isHarmless(code)) return outcome.failure
  // A hold stays for many requests; that is told once.
  if (code !== 'on-hold' || before !== code) emit({ type: 'notice', code: 'not-compacted', message })
  return null
}

/** The ends of a span as they are chosen by hand; of the whole view none is, and the newest messages stay. */
function within(core: Slice<'view'>, { from, to }: Range): Pick<CompactAsk, 'from' | 'upTo'> {
  const { messages } = core.view()
  const isAll = from <= (messages.at(0)?.from ?? 0) && to >= (messages.last()?.to ?? 0)
  return isAll ? {} : { from, upTo: after(to) }
}

/** A proposal as a fact, once what it needs has been done. */
async function factOf(
  core: Slice<'options' | 'state' | 'transcript' | 'view'>,
  layer: string,
  proposal: Exclude<Proposal, { kind: 'ask' }>,
  budget: Budget,
): Promise<FactOf<'view-edit'> | null> {
  if (proposal.kind === 'spill') return spilled(core, layer, proposal, budget)
  const { edits, why, tokensFreed, price } = proposal
  const fact = { type: 'view-edit', layer, asked: 'automatic', edits, why, tokensFreed } as const
  return price === undefined ? fact : { ...fact, price }
}

/** What says: not now, and the session is as it was. Anything else is a failure of what was asked to help. */
const harmless: Readonly<Record<EditRefusalCode | PlanRefusalCode | CompactRefusalCode, boolean>> = {
  covered: true,
  overlap: true,
  'on-hold': true,
  pinned: true,
  'splits-pair': true,
  'not-stubbable': true,
  'already-stubbed': true,
  'user-words': true,
  'nothing-left': true,
  'no-such-entry': true,
  'no-such-edit': false,
  'calls-open': false,
  'call-duplicate': false,
  'nothing-new': true,
  'nothing-to-compact': true,
  'not-smaller': true,
  'no-room': true,
  busy: true,
  blocked: true,
  'no-recursion': true,
  aborted: true,
}
const isHarmless = (code: string): boolean =>
  Object.hasOwn(harmless, code) && harmless[code as keyof typeof harmless]
