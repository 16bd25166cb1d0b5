// Refusals of OpenAI and of servers that speak like it, in both of its APIs.
import type { ServerRefusal, Verdict } from '../../model/failure.ts'
import { verdictBy, type RefusalWords } from '../refusals.ts'

const words: RefusalWords = {
  codes: {
    invalid_api_key: 'unauthorized',
    insufficient_quota: 'unauthorized',
    authentication_error: 'unauthorized',
    permission_error: 'unauthorized',
    rate_limit_exceeded: 'rate-limited',
    rate_limit_error: 'rate-limited',
    tokens: 'rate-limited',
    requests: 'rate-limited',
    server_error: 'server',
    internal_server_error: 'server',
    server_is_overloaded: 'overloaded',
    slow_down: 'overloaded',
    invalid_request_error: 'invalid',
    BadRequestError: 'invalid',
    NotFoundError: 'invalid',
    invalid_prompt: 'invalid',
  },
  reasoning: [
    /encrypted content .*could not be (?:verified|decrypted|parsed)/i,
    /invalid_encrypted_content/i,
    /of type 'reasoning' was provided without its required/i,
    /was provided without its required 'reasoning' item/i,
    /items are not persisted when `?'?store/i,
    /reasoning_content.*must be passed back/i,
  ],
  features: [
    ['caching', /prompt_cache|cache_control/i],
    ['effort', /reasoning[._]?effort|reasoning\.summary|\beffort\b/i],
    ['thinking', /\bthinking\b|encrypted content is not supported/i],
  ],
  images: [
    /image_url.*(?:not supported|unsupported|is not a valid)/i,
    /(?:does not|doesn't) support (?:image|vision)/i,
    /(?:invalid|unsupported) image/i,
    /image.*(?:too large|exceeds)/i,
    /no endpoints found that support image/i,
  ],
  spent: /insufficient_quota|exceeded your current quota|billing/i,
  waits: /try again in (?<count>\d+(?:\.\d+)?)(?<unit>ms|s)/i,
}

/** What a refusal of OpenAI means, and whether trying again may help. */
export const openAiFailure = (refusal: ServerRefusal, now: number): Verdict => verdictBy(words, refusal, now)
