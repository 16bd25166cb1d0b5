// The fact a compaction is written down as, and its report.
import type { Plan } from '../../compaction/ladder.ts'
import type { Room } from '../../projection/budget.ts'
import { priceOf } from '../../projection/layers/pricing.ts'
import type { ClearingPrice, Edit, Fact, FactOf } from '../../transcript/fact.ts'
import type { Seq } from '../../transcript/ids.ts'
import type { Core, Slice } from '../core.ts'
import { budgetOf } from '../limits/budget.ts'
import type { Restoration } from '../restoring/restore.ts'
import type { CompactAsk, Compacted } from './ask.ts'

/** The layer under whose name a compaction is written down. */
const compactionLayer = 'autocompact'

/** A text for a span of its own: nothing else of a compaction happens. */
export const isArchive = ({ layer }: CompactAsk): boolean => layer?.text === 'archive'

/** `passedOver` says why the text is not the one that comes first. */
export function boundaryOf(
  core: Core,
  ask: CompactAsk,
  made: Plan,
  room: Room,
  passedOver: readonly string[],
): Fact {
  const { edits, source, tokensBefore, tokensAfter, audit, partsGone } = made
  const editing = {
    layer: ask.layer?.name ?? compactionLayer,
    asked: ask.trigger === 'manual' ? ('user' as const) : ('automatic' as const),
    edits,
    why: [whyOf(ask), ...passedOver].join('; '),
    tokensFreed: tokensBefore - tokensAfter,
    price: priceAt(core, made, room),
  }
  if (source === null || isArchive(ask)) return { type: 'view-edit', ...editing }
  const { lastUuid } = core.state.tail
  return {
    type: 'boundary',
    ...editing,
    trigger: ask.trigger,
    source,
    tokensBefore,
    tokensAfter,
    messagesSummarised: partsGone.length,
    ...(lastUuid === null ? {} : { last: lastUuid }),
    ...(ask.instructions === undefined ? {} : { instructions: ask.instructions }),
    ...keptSegment(made),
    audit,
    chain: chainOf(core, room),
  }
}

/** What stands behind the first edit is written again; a model's own call for the text is not in it. */
function priceAt(
  core: Core,
  { edits, tokensBefore, tokensAfter, partsKept }: Plan,
  room: Room,
): ClearingPrice {
  const view = core.view()
  const scale = tokensBefore / Math.max(1, view.tokens)
  const first = Math.min(...edits.map(placeOf))
  const before = partsKept.reduce(
    (sum, part) => (part.to < first ? sum + part.estimate - part.clearedEstimate : sum),
    0,
  )
  const freed = (tokensBefore - tokensAfter) / view.factor
  const tail = Math.max(0, (tokensAfter - room.fixed) / view.factor - scale * before)
  return priceOf(view, budgetOf(core, room, tokensAfter), 'boundary', freed, tail)
}

const placeOf = (edit: Edit): number =>
  edit.kind === 'stub' ? edit.at.seq : edit.kind === 'remote' ? Infinity : edit.from

function whyOf({ trigger, from, upTo, layer }: CompactAsk): string {
  if (layer !== undefined) return layer.why
  if (trigger === 'reactive') return 'the provider refused the request for its length'
  if (from !== undefined) return `the user asked to compact what follows ${from}`
  return upTo === undefined ? 'the user asked for it' : `the user asked to compact what precedes ${upTo}`
}

function keptSegment({ partsKept, partsGone }: Plan): Pick<FactOf<'boundary'>, 'kept'> {
  const head = partsKept[0]
  const tail = partsKept.at(-1)
  if (head === undefined || tail === undefined) return {}
  return { kept: { head: head.uuid, tail: tail.uuid, anchor: partsGone.at(-1)!.uuid } }
}

function chainOf(core: Slice<'source' | 'state'>, room: Room): FactOf<'boundary'>['chain'] {
  const last = core.state.fold.edits.controls.findLast((control) => control.fact.type === 'boundary')
  const inputs = [...core.state.fold.parts()].filter((part) => part.kind === 'input')
  const turn = inputs.at(-1)?.uuid
  return {
    recompaction: last !== undefined,
    turnsSince: inputs.filter((part) => part.from > (last?.seq ?? -1)).length,
    ...(turn === undefined ? {} : { turn }),
    threshold: room.threshold,
    requestSource: core.source,
  }
}

export function compactedOf(made: Plan, seq: Seq | null, given: Restoration): Compacted {
  const { tokensBefore, tokensAfter, source, steps, span, texts, audit, partsGone, partsKept } = made
  return {
    seq,
    tokensBefore,
    tokensAfter,
    source,
    steps,
    span,
    texts,
    audit,
    partsGone: partsGone.length,
    partsKept: partsKept.length,
    restored: given.facts.map(({ kind, source }) => (source === undefined ? kind : `${kind} ${source}`)),
    restoredTokens: given.tokens,
  }
}

export const figures = ({ tokensBefore, tokensAfter, source, audit }: Compacted) => ({
  tokensBefore,
  tokensAfter,
  source,
  retention: audit?.retention ?? null,
})
