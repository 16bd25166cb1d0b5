// What happens beside the answers: compactions, memories, and forks that left only their end, as spans; edits and cache breaks,
// as numbers by layer and cause; and which boundary is still in force.
import { estimateText } from '../projection/tokens.ts'
import { isRecord } from '../transcript/content.ts'
import type { Entry, FactOf } from '../transcript/fact.ts'
import { names, type Operation, operations } from './conventions.ts'
import type { Attributes, SpanContext, TelemetryPort } from './port.ts'
import { type Place, short, type Teller } from './teller.ts'

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

export function editMetrics(
  port: TelemetryPort,
  { layer, tokensFreed, price }: FactOf<'view-edit'> | FactOf<'boundary'>,
  at: number,
): void {
  const by = { [names.layer]: short(layer) }
  port.count('palimpsest.edits.tokens_freed', Math.max(0, tokensFreed), by, at)
  if (price !== undefined && 'net' in price) port.count('palimpsest.edits.gain', price.net, by, at)
}

/** The compactions that were neither undone nor taken back. */
export class Boundaries {
  readonly #live = new Map<number, number>()

  take({ seq, fact }: Pick<Entry, 'seq' | 'fact'>): void {
    if (fact.type === 'boundary') this.#live.set(seq, textTokens(fact))
    if (fact.type === 'undo') this.#live.delete(fact.target)
    if (fact.type === 'rewind') for (const at of this.#live.keys()) if (at > fact.to) this.#live.delete(at)
  }

  get isLive(): boolean {
    return this.#live.size > 0
  }

  /** Of the summary in force, estimated. */
  get tokens(): number {
    return [...this.#live.values()].at(-1) ?? 0
  }
}

const textTokens = ({ edits }: FactOf<'boundary'>): number =>
  edits.reduce((all, edit) => all + (edit.kind === 'summary' ? estimateText(edit.text) : 0), 0)

/** The first cause counts: a break is one break. */
export function breakCause(causes: readonly unknown[]): string {
  const [first] = causes
  const kind = isRecord(first) ? first['kind'] : undefined
  return typeof kind === 'string' ? short(kind) : 'unknown'
}

/** What an audit says is kept in a loose record, since it may be of another version. */
function retentionIn(audit: unknown): number | null {
  const retention = isRecord(audit) ? audit['retention'] : undefined
  return typeof retention === 'number' ? retention : null
}
