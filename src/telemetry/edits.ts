// What edits and cache breaks say of themselves: numbers by layer and cause, and which boundary is still in force.
import { estimateText } from '../projection/tokens.ts'
import { isRecord } from '../transcript/content.ts'
import type { Entry, FactOf } from '../transcript/fact.ts'
import { short } from './content.ts'
import { names } from './conventions.ts'
import type { TelemetryPort } from './port.ts'

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
export function retentionIn(audit: unknown): number | null {
  const retention = isRecord(audit) ? audit['retention'] : undefined
  return typeof retention === 'number' ? retention : null
}
