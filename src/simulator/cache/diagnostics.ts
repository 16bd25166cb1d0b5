// Who broke the cache: the request is compared with the one that produced an earlier message, level by level.
// The tokens named are those of the earlier prompt that could have been read and now cannot.
import type { Prompt } from './prompt.ts'

export type Divergence = 'model_changed' | 'tools_changed' | 'system_changed' | 'messages_changed'
export type Diagnosis = {
  readonly cache_miss_reason:
    | { readonly type: Divergence; readonly cache_missed_input_tokens: number }
    | { readonly type: 'previous_message_not_found' }
} | null

export interface Diagnostics {
  remember(messageId: string, prompt: Prompt): void
  compare(previousMessageId: string | null, prompt: Prompt): Diagnosis
}

/** Prompts are large; only the newest are kept. */
const KEPT_PROMPTS = 256

export function createDiagnostics(): Diagnostics {
  const prompts = new Map<string, Prompt>()
  return {
    remember: (messageId, prompt) => {
      prompts.set(messageId, prompt)
      const [oldest] = prompts.keys()
      if (prompts.size > KEPT_PROMPTS && oldest !== undefined) prompts.delete(oldest)
    },
    compare: (previousMessageId, prompt) => {
      if (previousMessageId === null) return null
      const before = prompts.get(previousMessageId)
      if (before === undefined) return { cache_miss_reason: { type: 'previous_message_not_found' } }
      return divergence(before, prompt)
    },
  }
}

function divergence(before: Prompt, now: Prompt): Diagnosis {
  const from = (type: Divergence, kept: number): Diagnosis => ({
    cache_miss_reason: { type, cache_missed_input_tokens: before.totalTokens - kept },
  })
  if (before.model !== now.model) return from('model_changed', 0)
  if (before.toolsHash !== now.toolsHash) return from('tools_changed', 0)
  if (before.systemHash !== now.systemHash) return from('system_changed', levelEnd(before, 'tools'))
  const different = before.positions.findIndex((each, index) => {
    const other = now.positions[index]
    return other !== undefined && other.hash !== each.hash
  })
  if (different < 0) return null
  return from('messages_changed', before.positions[different - 1]?.endTokens ?? 0)
}

function levelEnd(prompt: Prompt, level: 'tools'): number {
  return prompt.positions.findLast((each) => each.level === level)?.endTokens ?? 0
}
