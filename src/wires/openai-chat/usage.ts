// Usage of a chat completion. Cached tokens lie inside the prompt's total here; compatible servers name them elsewhere.
import type { Usage } from '../../transcript/fact.ts'
import { countOf, fieldsOf, type Fields } from '../reading.ts'

/** Provider-neutral usage; null where the server reported none. */
export function chatUsage(report: Fields): Usage | null {
  const prompt = countOf(report['prompt_tokens'])
  if (prompt === null) return null
  const details = fieldsOf(report['prompt_tokens_details'])
  const read = countOf(details?.['cached_tokens']) ?? countOf(report['prompt_cache_hit_tokens']) ?? 0
  const write = countOf(details?.['cache_write_tokens']) ?? 0
  return splitPrompt(prompt, read, write, countOf(report['completion_tokens']) ?? 0)
}

/** A total with what of it was read and written apart; what a server counts twice is not subtracted twice. */
export function splitPrompt(prompt: number, read: number, write: number, output: number): Usage {
  const cacheRead = Math.min(read, prompt)
  const cacheWrite = Math.min(write, prompt - cacheRead)
  return { input: prompt - cacheRead - cacheWrite, cacheRead, cacheWrite, output }
}

export const noUsage: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }
