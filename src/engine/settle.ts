// Letting each layer speak once, cheapest first, each at what the earlier ones left. What a layer wants is written
// as a fact before it counts; what is refused is said and not tried again (laws L1, L2).
import type { Room } from '../projection/budget.ts'
import type { Budget, Layer, Proposal } from '../projection/layer.ts'
import { microcompactName } from '../projection/layers/microcompact.ts'
import type { View } from '../projection/view.ts'
import type { Declined, FactOf } from '../transcript/fact.ts'
import { compact, isPlanRefusal } from './compacting/compact.ts'
import type { Core, Slice } from './core.ts'
import { spilled } from './keeping/spilling.ts'
import { budgetOf } from './limits/budget.ts'
import type { Emit, TurnFailure } from './live.ts'
import { prepareAhead } from './preparing/prepare.ts'
import { deletionsIn } from './server-side/told.ts'

export type Settled =
  | { readonly ok: true; readonly view: View; readonly declined: readonly Declined[] }
  | { readonly ok: false; readonly failure: TurnFailure }

export async function settle(core: Core, layers: readonly Layer[], emit: Emit): Promise<Settled> {
  const outcome = core.room()
  if (!outcome.ok) return { ok: false, failure: { code: 'no-room', message: outcome.why } }
  const declined: Declined[] = []
  for (const layer of layers) {
    const failure = await hear(core, layer, outcome.room, emit, declined)
    if (failure !== null) return { ok: false, failure }
  }
  const unwritten = await stubDeletions(core, layers, outcome.room, emit)
  if (unwritten !== null) return { ok: false, failure: unwritten }
  prepareAhead(core, outcome.room)
  const view = core.view()
  const { effective, window } = outcome.room
  if (view.tokens <= effective) return { ok: true, view, declined }
  const message =
    `the session takes about ${view.tokens} tokens, but only ${effective} of the ${window} token window can be sent. ` +
    core.role.overflowAdvice
  return { ok: false, failure: { code: 'overflow', message } }
}

/**
 * A later layer has rewritten what the server was to delete from its cache. Who asked for that was heard before, and is
 * heard once more: in this very request the deletions become stubs.
 */
async function stubDeletions(
  core: Core,
  layers: readonly Layer[],
  room: Room,
  emit: Emit,
): Promise<TurnFailure | null> {
  const view = core.view()
  const layer = layers.find(({ name }) => name === microcompactName)
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
  const budget = budgetOf(core, room)
  const proposal = layer.decide(core.view(), budget)
  if (proposal === null) {
    const left = layer.declined?.(core.view(), budget) ?? null
    if (left !== null) declined.push({ layer: layer.name, ...left })
    return null
  }
  if (proposal.kind === 'ask') return compacted(core, emit)
  const fact = await factOf(core, layer.name, proposal, budget)
  if (fact === null) {
    // A summary needs someone who writes it; without one the layer is heard in vain, and that is said.
    const message = `${layer.name} asked for a ${proposal.kind}; nobody does that here`
    emit({ type: 'notice', code: 'unanswered', message })
    return null
  }
  const { why, tokensFreed } = fact
  const written = await core.append([fact])
  if (written.ok) {
    emit({ type: 'view-edit', layer: layer.name, why, tokensFreed, seq: written.entries[0]!.seq })
    return null
  }
  if (isRefusal(written.failure.code)) {
    emit({ type: 'notice', code: 'refused', message: `${layer.name}: ${written.failure.message}` })
    return null
  }
  return written.failure
}

/** A compaction that cannot be made ends nothing by itself: whether the view can be sent is asked afterwards. */
async function compacted(core: Core, emit: Emit): Promise<TurnFailure | null> {
  const outcome = await compact(core, { trigger: 'auto' }, emit)
  if (outcome.ok) return null
  const { code, message } = outcome.failure
  if (!isRefusal(code) && !isPlanRefusal(code)) return outcome.failure
  emit({ type: 'notice', code: 'not-compacted', message })
  return null
}

/** A proposal as a fact, once what it needs has been done. */
async function factOf(
  core: Slice<'options' | 'state' | 'transcript' | 'view'>,
  layer: string,
  proposal: Proposal,
  budget: Budget,
): Promise<FactOf<'view-edit'> | null> {
  if (proposal.kind === 'spill') return spilled(core, layer, proposal, budget)
  if (proposal.kind !== 'edit') return null
  const { edits, why, tokensFreed, price } = proposal
  const fact = { type: 'view-edit', layer, asked: 'automatic', edits, why, tokensFreed } as const
  return price === undefined ? fact : { ...fact, price }
}

const refusals = new Set([
  'covered',
  'overlap',
  'held',
  'pinned',
  'splits-pair',
  'not-stubbable',
  'already-stubbed',
  'user-words',
  'nothing-left',
  'no-such-entry',
])
const isRefusal = (code: string): boolean => refusals.has(code)
