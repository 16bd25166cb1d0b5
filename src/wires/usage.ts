// Usage as each API reports it, and as the rest of the house counts it. Only the Messages API has its fresh tokens apart: elsewhere
// cached ones lie inside the prompt's total.
import type { Usage } from '../transcript/fact.ts'
import type { WireUsage } from '../model/wire.ts'
import { countOf, fieldsOf, type Fields } from './reading.ts'

export type UsageReport = { readonly [K in keyof WireUsage]?: WireUsage[K] | null }

/**
 * The report so far with what a later one adds. In a stream every report is cumulative and fields may come as null: null says
 * nothing, so it never overwrites.
 */
export function mergeUsage(sofar: UsageReport, later: UsageReport): UsageReport {
  const said = Object.entries(later).filter(([, value]) => value !== null && value !== undefined)
  return { ...sofar, ...Object.fromEntries(said) }
}

/** Usage of the Messages API. The split by lifetime wins over the sum where a gateway reports only the split. */
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

/** Usage of a chat completion; null where the server reported none. Compatible servers name cached tokens elsewhere. */
export function chatUsage(report: Fields): Usage | null {
  const prompt = countOf(report['prompt_tokens'])
  if (prompt === null) return null
  const details = fieldsOf(report['prompt_tokens_details'])
  const read = countOf(details?.['cached_tokens']) ?? countOf(report['prompt_cache_hit_tokens']) ?? 0
  const write = countOf(details?.['cache_write_tokens']) ?? 0
  return splitPrompt(prompt, read, write, countOf(report['completion_tokens']) ?? 0)
}

/** A total with what of it was read and written apart; what a server counts twice is not subtracted twice. */
function splitPrompt(prompt: number, read: number, write: number, output: number): Usage {
  const cacheRead = Math.min(read, prompt)
  const cacheWrite = Math.min(write, prompt - cacheRead)
  return { input: prompt - cacheRead - cacheWrite, cacheRead, cacheWrite, output }
}

export const noUsage: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }

/** Usage of a response; null where none was reported. Writes may be split by lifetime: the longer one counts as the longer one of ours. */
export function responsesUsage(report: Fields): Usage | null {
  const prompt = countOf(report['input_tokens'])
  if (prompt === null) return null
  const details = fieldsOf(report['input_tokens_details'])
  const split = fieldsOf(details?.['cache_write_tokens_details'])
  const long = countOf(split?.['ttl_12h_tokens']) ?? 0
  const written = countOf(details?.['cache_write_tokens']) ?? (countOf(split?.['ttl_30m_tokens']) ?? 0) + long
  const output = countOf(report['output_tokens']) ?? 0
  const usage = splitPrompt(prompt, countOf(details?.['cached_tokens']) ?? 0, written, output)
  return long > 0 ? { ...usage, cacheWrite1h: Math.min(long, usage.cacheWrite) } : usage
}

/** Usage of a generated answer; null where none was reported. Thoughts stand beside the candidates; writes cost nothing. */
export function geminiUsage(report: Fields): Usage | null {
  const prompt = countOf(report['promptTokenCount'])
  if (prompt === null) return null
  const tools = countOf(report['toolUsePromptTokenCount']) ?? 0
  const output = (countOf(report['candidatesTokenCount']) ?? 0) + (countOf(report['thoughtsTokenCount']) ?? 0)
  return splitPrompt(prompt + tools, countOf(report['cachedContentTokenCount']) ?? 0, 0, output)
}
