// Usage of a response. Cached and written tokens lie inside the total; writes may be split by lifetime.
import type { Usage } from '../../transcript/fact.ts'
import { splitPrompt } from '../openai-chat/usage.ts'
import { countOf, fieldsOf, type Fields } from '../reading.ts'

/** Provider-neutral usage; null where none was reported. The longer lifetime counts as the longer one of ours. */
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
