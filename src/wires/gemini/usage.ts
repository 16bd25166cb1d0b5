// Usage of a generated answer. Cached tokens lie inside the prompt's total, thoughts beside the candidates; writes cost nothing.
import type { Usage } from '../../transcript/fact.ts'
import { splitPrompt } from '../openai-chat/usage.ts'
import { countOf, type Fields } from '../reading.ts'

/** Provider-neutral usage; null where none was reported. */
export function geminiUsage(report: Fields): Usage | null {
  const prompt = countOf(report['promptTokenCount'])
  if (prompt === null) return null
  const tools = countOf(report['toolUsePromptTokenCount']) ?? 0
  const output = (countOf(report['candidatesTokenCount']) ?? 0) + (countOf(report['thoughtsTokenCount']) ?? 0)
  return splitPrompt(prompt + tools, countOf(report['cachedContentTokenCount']) ?? 0, 0, output)
}
