// Usage as the wire reports it, and as the rest of the house counts it.
// In a stream every report is cumulative and fields may come as null: null says nothing, so it never overwrites.
import type { Usage } from '../../transcript/fact.ts'
import type { WireUsage } from '../../model/wire.ts'
import { countOf, fieldsOf } from '../reading.ts'

export type UsageReport = { readonly [K in keyof WireUsage]?: WireUsage[K] | null }

/** The report so far with what a later one adds. */
export function mergeUsage(sofar: UsageReport, later: UsageReport): UsageReport {
  const said = Object.entries(later).filter(([, value]) => value !== null && value !== undefined)
  return { ...sofar, ...Object.fromEntries(said) }
}

/** Provider-neutral usage. The split by lifetime wins over the sum where a gateway reports only the split. */
export function usageOf(report: UsageReport): Usage {
  const split = fieldsOf(report.cache_creation)
  const written1h = countOf(split?.['ephemeral_1h_input_tokens']) ?? 0
  const written5m = countOf(split?.['ephemeral_5m_input_tokens']) ?? 0
  const written = countOf(report.cache_creation_input_tokens) ?? written5m + written1h
  // What is no count is not reported: a text or a number without end could not be read back.
  const usage = {
    input: countOf(report.input_tokens) ?? 0,
    cacheRead: countOf(report.cache_read_input_tokens) ?? 0,
    cacheWrite: written,
    output: countOf(report.output_tokens) ?? 0,
  }
  return written1h > 0 ? { ...usage, cacheWrite1h: Math.min(written1h, written) } : usage
}
