// What happens beside the answers, as spans: compactions, memories, and forks that left only their end.
import type { Entry, FactOf } from '../transcript/fact.ts'
import { short } from './content.ts'
import { names, operations, type Operation } from './conventions.ts'
import { editMetrics, retentionIn } from './edits.ts'
import type { Attributes, SpanContext } from './port.ts'
import type { Place, Teller } from './teller.ts'

/** `before`: when what stands before it was written; a compaction began no earlier. */
export function tellCompaction(
  teller: Teller,
  { seq, at }: Entry,
  fact: FactOf<'boundary'> | FactOf<'compaction-failed'>,
  before: number,
  turn: SpanContext | null,
): void {
  const retention = fact.type === 'boundary' ? retentionIn(fact.audit) : null
  const kept: Attributes = retention === null ? {} : { [names.retention]: retention }
  teller.moment(
    turn,
    { seq, at: before },
    {
      operation: operations.compact,
      end: at,
      attributes: { ...compactionAttributes(fact), ...kept },
      error: fact.type === 'boundary' ? null : fact.type,
    },
  )
  if (fact.type === 'compaction-failed') return
  editMetrics(teller.port, fact, at)
  if (retention === null) return
  const by = { [names.source]: fact.source }
  teller.port.record('palimpsest.compaction.retention', retention, by, at)
}

const compactionAttributes = (fact: FactOf<'boundary'> | FactOf<'compaction-failed'>): Attributes =>
  fact.type === 'compaction-failed'
    ? { [names.source]: short(fact.source) }
    : {
        [names.trigger]: fact.trigger,
        [names.source]: fact.source,
        [names.tokensBefore]: fact.tokensBefore,
        [names.tokensAfter]: fact.tokensAfter,
        [names.layer]: short(fact.layer),
      }

export function tellMemory(
  teller: Teller,
  place: Place,
  operation: Operation,
  records: number,
  turn: SpanContext | null,
): void {
  const attributes = { [names.operation]: operation, [names.memoryRecords]: records }
  teller.moment(turn, place, { operation, end: place.at, attributes, error: null })
}

/** A fork whose own entries are not read: its end says that it was and what it took. */
export function tellFork(
  teller: Teller,
  place: Place,
  { child, purpose, outcome, spent }: FactOf<'fork-end'>,
  agent: { readonly name: string } | null,
  turn: SpanContext | null,
): void {
  teller.moment(turn, place, {
    operation: operations.agent,
    end: place.at,
    attributes: {
      [names.operation]: operations.agent,
      [names.agentName]: short(agent?.name ?? purpose),
      [names.agentId]: child,
      [names.purpose]: short(purpose),
      [names.outcome]: outcome,
      ...(spent === undefined ? {} : { [names.forkTokens]: spent.tokens, [names.dollars]: spent.dollars }),
    },
    error: outcome === 'failed' ? outcome : null,
  })
  if (spent === undefined) return
  const by = { [names.purpose]: short(purpose) }
  teller.port.count('palimpsest.fork.tokens', spent.tokens, by, place.at)
  teller.port.count('palimpsest.fork.cost', spent.dollars, by, place.at)
}
