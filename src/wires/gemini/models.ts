// What differs between the generations of Gemini: how effort is said, and how their caches behave. Prefixes are cached unasked
// and without promise; writes cost nothing. Read on 2026-11-15 from the maker's guides on thinking and caching.
import { plainName, type ModelInfo } from '../../model/models.ts'
import type { CacheRules } from '../wire.ts'

/** Up to 2.5 thinking is a number of tokens, later a level. */
const isEarly = (model: string): boolean => /^gemini-[12]\b/.test(plainName(model))

const budgets: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
}
const levels: Readonly<Record<string, string>> = {
  none: 'minimal',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

/** The settings of thinking for an effort; none where none was asked for. Thoughts come as summaries. */
export function thinkingOf(model: string, effort: string | undefined): object | undefined {
  if (effort === undefined) return undefined
  if (isEarly(model)) return { thinkingBudget: budgets[effort] ?? budgets['medium'], includeThoughts: true }
  return { thinkingLevel: levels[effort] ?? 'medium', includeThoughts: true }
}

/** Whether calls of the turn under way must carry a signature. */
export const asksSignatures = (model: string): boolean => !isEarly(model)

const earlyMinTokens = 2048
const minTokens = 4096

/** The cache of a Gemini: what was read is known, why it was not is never said, so a fall counts only after several hits. */
export function geminiCacheRules(model: ModelInfo | null): CacheRules {
  return {
    kind: 'implicit',
    lifetimes: ['5m'],
    readFactor: 0.1,
    writeFactor: 1,
    minTokens: model?.minCacheTokens ?? (isEarly(model?.id ?? '') ? earlyMinTokens : minTokens),
    stepTokens: 1,
    promised: false,
    breaks: { slackTokens: minTokens, hitsBefore: 3, lookback: null },
  }
}
