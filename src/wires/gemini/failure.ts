// Refusals of the Gemini API.
import type { ServerRefusal, Verdict } from '../../model/failure.ts'
import { verdictBy, type RefusalWords } from '../refusals.ts'
import { spoiledAnswer } from './words.ts'

const words: RefusalWords = {
  codes: {
    UNAUTHENTICATED: 'unauthorized',
    PERMISSION_DENIED: 'unauthorized',
    RESOURCE_EXHAUSTED: 'rate-limited',
    UNAVAILABLE: 'overloaded',
    INTERNAL: 'server',
    DEADLINE_EXCEEDED: 'server',
    INVALID_ARGUMENT: 'invalid',
    FAILED_PRECONDITION: 'invalid',
    NOT_FOUND: 'invalid',
  },
  reasoning: [
    /(?:invalid|corrupted) thought signature/i,
    /missing a thought_signature/i,
    /thought signature is not valid/i,
  ],
  features: [
    ['caching', /cached_?content/i],
    ['thinking', /thinking_?(?:config|level|budget)|\bthinking\b/i],
  ],
  images: [/unable to process input image/i, /unsupported mime type/i, /image.*(?:too large|exceeds)/i],
  spent: /exceeded your current quota.*(?:billing|plan)|billing/is,
  waits: /"retryDelay"\s*:\s*"(?<count>\d+(?:\.\d+)?)(?<unit>ms|s)"/,
}

/** What the SDK writes before an error that came inside a stream. */
const sdkWords = /^got status: \w+\. (?=\{)/

/** A key that is not valid is refused like any other argument. */
const badKey = /api[_ ]key not valid|API_KEY_INVALID/i

/** What a refusal of Gemini means, and whether trying again may help. */
export function geminiFailure(refusal: ServerRefusal, now: number): Verdict {
  const verdict = verdictBy(words, { ...refusal, text: refusal.text.replace(sdkWords, '') }, now)
  if (refusal.text.includes(spoiledAnswer)) return { ...verdict, once: true }
  if (verdict.failure.code !== 'invalid' || !badKey.test(refusal.text)) return verdict
  const { message, status } = verdict.failure
  return { failure: { code: 'unauthorized', message, status }, retry: false }
}
