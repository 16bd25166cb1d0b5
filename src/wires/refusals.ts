// From a refusal to one failure of the port, for wires whose words are a table: the type or code of the error, the status and
// the text are all looked at, since servers that speak alike agree on none of them. Behind it the words of each maker.
import { retryAfter, type ServerRefusal, type Verdict } from '../model/failure.ts'
import type { Feature, ModelFailure } from '../model/model.ts'
import { errorBody, overflowOf } from '../model/overflow.ts'
import { defaults } from '../settings/defaults.ts'
import { spoiledAnswer } from './gemini/request.ts'

export type PlainCode = Exclude<ModelFailure['code'], 'overflow' | 'media-refused' | 'feature-refused'>

/** The words of one wire. */
interface RefusalWords {
  /** By the type, code or status word of the error. */
  readonly codes: Readonly<Record<string, PlainCode>>
  /** Content sealed by its maker that is no longer taken: it is sent without. */
  readonly reasoning: readonly RegExp[]
  readonly features: readonly (readonly [Feature, RegExp])[]
  readonly images: readonly RegExp[]
  /** Quota that waiting does not bring back. */
  readonly spent: RegExp
  /** How long to wait, where the text says it. */
  readonly waits: RegExp
}

/** What a status means on every wire. */
export const codesByStatus: Readonly<Record<number, PlainCode>> = {
  401: 'unauthorized',
  402: 'unauthorized',
  403: 'unauthorized',
  408: 'server',
  409: 'server',
  429: 'rate-limited',
  529: 'overloaded',
}
const tableCodes: typeof codesByStatus = {
  ...codesByStatus,
  404: 'invalid',
  413: 'too-large',
  503: 'overloaded',
}
export const firstServerStatus = 500
export const firstErrorStatus = 400
export const passing: readonly PlainCode[] = ['rate-limited', 'overloaded', 'server', 'network', 'cut-short']
const notOffered =
  /not (?:supported|permitted|allowed|available|enabled)|unsupported|unknown|unrecognized|does not support|invalid value/i

/** What a refusal means in the words of a wire, and whether trying again may help. */
function verdictBy(words: RefusalWords, refusal: ServerRefusal, now: number): Verdict {
  const text = refusal.text.slice(0, defaults.model.errorTextChars)
  // Inside a stream the status is a number in the error, if anywhere.
  const status = refusal.status ?? statusIn(text)
  const body = errorBody(text)
  const message =
    said(text, body.message).trim() || `the server answered ${status ?? 'with an error'} and no text`
  const overflow = overflowOf({ status, text })
  if (overflow !== null && !overflow.bytes)
    return { failure: { code: 'overflow', message, status, overflow }, retry: false }
  const code =
    overflow === null ? codeOf(words, status, [body.code, body.type, statusWord(text)], message) : 'too-large'
  if (code === 'invalid') {
    const image = words.images.some((pattern) => pattern.test(message))
    if (image) return mediaRefused(message, status)
    const feature = notOffered.test(message)
      ? words.features.find(([, pattern]) => pattern.test(message))?.[0]
      : undefined
    if (feature !== undefined)
      return { failure: { code: 'feature-refused', message, status, feature }, retry: false }
  }
  const isSpent = words.spent.test(`${body.code} ${message}`)
  const retryAfterMs = retryAfter(refusal.header, now) ?? waitIn(words, text) ?? undefined
  const failure: ModelFailure =
    retryAfterMs === undefined ? { code, message, status } : { code, message, status, retryAfterMs }
  const advice = refusal.header('x-should-retry')
  return { failure, retry: !isSpent && advice !== 'false' && (advice === 'true' || passing.includes(code)) }
}

/** Some servers put the sentence where others have an object. */
function said(text: string, message: string): string {
  if (message !== text || !text.trimStart().startsWith('{')) return message
  const found = /"error"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text)?.[1]
  return found === undefined ? message : String(JSON.parse(found))
}

function statusIn(text: string): number | null {
  const found = /"code"\s*:\s*"?([45]\d\d)"?\s*[,}]/.exec(text)?.[1]
  return found === undefined ? null : Number(found)
}

const statusWord = (text: string): string | null => /"status"\s*:\s*"([A-Z_]+)"/.exec(text)?.[1] ?? null

function codeOf(
  words: RefusalWords,
  status: number | null,
  names: readonly (string | null)[],
  message: string,
): PlainCode {
  if (words.reasoning.some((pattern) => pattern.test(message))) return 'reasoning-invalid'
  const named = names.flatMap((name) => (name === null ? [] : (words.codes[name] ?? []))).at(0)
  if (status === null || status < firstErrorStatus) return named ?? 'server'
  if (status < firstServerStatus && named !== undefined && named !== 'server') return named
  return tableCodes[status] ?? (status >= firstServerStatus ? 'server' : 'invalid')
}

const mediaRefused = (message: string, status: number | null): Verdict => ({
  failure: { code: 'media-refused', message, status, media: { at: null, kind: 'image', limits: {} } },
  retry: false,
})

const msPerSecond = 1000
function waitIn(words: RefusalWords, text: string): number | null {
  const found = words.waits.exec(text)?.groups
  if (found === undefined) return null
  const unit = found['unit'] === 'ms' ? 1 : msPerSecond
  const ms = Number(found['count']) * unit
  return Number.isFinite(ms) && ms > 0 ? ms : null
}

/** Of OpenAI and of servers that speak like it, in both of its APIs. */
const openAiWords: RefusalWords = {
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
export const openAiFailure = (refusal: ServerRefusal, now: number): Verdict =>
  verdictBy(openAiWords, refusal, now)

const geminiWords: RefusalWords = {
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
  const verdict = verdictBy(geminiWords, { ...refusal, text: refusal.text.replace(sdkWords, '') }, now)
  if (refusal.text.includes(spoiledAnswer)) return { ...verdict, once: true }
  if (verdict.failure.code !== 'invalid' || !badKey.test(refusal.text)) return verdict
  const { message, status } = verdict.failure
  return { failure: { code: 'unauthorized', message, status }, retry: false }
}
