// From a refusal of the Messages API to one failure of the port. Gateways and hosts that speak it use other words, so the
// type of the error, the status and the text are all looked at.
import { retryAfter, type ServerRefusal, type Verdict } from '../../model/failure.ts'
import type { Feature, ModelFailure, RefusedMedia } from '../../model/model.ts'
import { errorBody, overflowOf } from '../../model/overflow.ts'
import { defaults } from '../../settings/defaults.ts'
import type { LearnedMedia } from '../../transcript/fact.ts'
import { codesByStatus, firstErrorStatus, firstServerStatus, passing, type PlainCode } from '../refusals.ts'

/** What a refusal means, and whether trying again may help. */
export function failureOf(refusal: ServerRefusal, now: number): Verdict {
  const { status } = refusal
  const text = refusal.text.slice(0, defaults.model.errorTextChars)
  const body = errorBody(text)
  const said = body.message.trim() || `the server answered ${status ?? 'with an error'} and no text`
  // The whole text is "model: NAME".
  const message = body.type === 'not_found_error' && /^model: \S+$/.test(said) ? `unknown ${said}` : said
  const overflow = overflowOf({ status, text })
  if (overflow !== null) {
    const code = overflow.bytes ? 'too-large' : 'overflow'
    const mostBytes = byteLimit(message)
    return {
      failure:
        code === 'overflow' ? { code, message, status, overflow } : { code, message, status, mostBytes },
      retry: false,
    }
  }
  const code = codeOf(status, body.type, message)
  const media = code === 'invalid' ? refusedMedia(message) : null
  if (media !== null) return { failure: { code: 'media-refused', message, status, media }, retry: false }
  const feature = code === 'invalid' ? refusedFeature(message) : null
  if (feature !== null)
    return { failure: { code: 'feature-refused', message, status, feature }, retry: false }
  const retryAfterMs = retryAfter(refusal.header, now) ?? undefined
  const failure: ModelFailure =
    retryAfterMs === undefined ? { code, message, status } : { code, message, status, retryAfterMs }
  return { failure, retry: isWorthRetrying(code, body.code, refusal.header('x-should-retry')) }
}

const codesByType: Readonly<Record<string, PlainCode>> = {
  invalid_request_error: 'invalid',
  not_found_error: 'invalid',
  authentication_error: 'unauthorized',
  permission_error: 'unauthorized',
  billing_error: 'unauthorized',
  rate_limit_error: 'rate-limited',
  overloaded_error: 'overloaded',
  request_too_large: 'too-large',
}

function codeOf(status: number | null, type: string | null, message: string): PlainCode {
  const known = codesByType[type ?? ''] ?? 'server'
  if (status === null || status < firstErrorStatus) return known === 'invalid' ? invalid(message) : known
  const named = codesByStatus[status]
  if (named !== undefined) return named
  if (status >= firstServerStatus) return known === 'overloaded' ? known : 'server'
  return invalid(message)
}

/** Reasoning that the server no longer accepts has a cure of its own: send it without. */
const reasoningTexts = [
  /invalid `?signature`? in `?thinking`? block/i,
  /bound to a different conversation/i,
  /`?thinking`? or `?redacted_thinking`? blocks in the latest assistant message cannot be modified/i,
  /must start with a thinking block/i,
  /first block must be `?thinking`? or `?redacted_thinking`?/i,
  /final block in an assistant message cannot be `?(redacted_)?thinking`?/i,
]
const invalid = (message: string): PlainCode =>
  reasoningTexts.some((pattern) => pattern.test(message)) ? 'reasoning-invalid' : 'invalid'

/** So have media: send it without them. The path names the block, where there is one. */
const mediaPath =
  /messages\.(?<message>\d+)\.content\.(?<block>\d+)(?:\.tool_result\.content\.(?<inner>\d+))?\.(?<kind>image|pdf|document)\b/
const mediaTexts = [
  /could not process (?<kind>image|pdf|document)/i,
  /too much media: .*> (?<count>\d+)/i,
  /too much media/i,
  /at most (?<count>\d+) (?<kind>image)/i,
  /(?<kind>image) exceeds .*maximum: \d+ bytes > (?<imageBytes>\d+) bytes/i,
  /(?<kind>image) exceeds .*maximum/i,
  /(?<kind>image) dimensions exceed .*many-image requests: (?<manySide>\d+) pixels/i,
  /(?<kind>image) dimensions exceed .*size: (?<side>\d+) pixels/i,
  /(?<kind>image) dimensions exceed/i,
  /maximum of (?<count>\d+) (?<kind>pdf) pages/i,
  /the (?<kind>pdf) specified (?:was|is) /i,
  /(?:invalid|unsupported) (?<kind>image|pdf|document) (?:format|type|data)/i,
]

/** What an endpoint does not offer can be left out of the request; both must stand there, the name and that it is refused. */
const featureNames: readonly (readonly [Feature, RegExp])[] = [
  ['cache-diagnostics', /\bdiagnostics\b|cache-diagnosis/i],
  ['context-management', /context[_-]management|clear_tool_uses|clear_thinking/i],
  ['caching', /cache_control|prompt[_ -]caching|extended-cache-ttl/i],
  ['effort', /output_config|\beffort\b/i],
  ['thinking', /\bthinking\b/i],
]
const notOffered =
  /extra inputs are not permitted|not (?:supported|permitted|allowed|available|enabled)|unsupported|unexpected value|unknown|unrecognized/i

/** Nothing depends on a comparison: whatever displeases in the question, the request goes without it. */
const aboutDiagnostics = /^diagnostics[.:]/

function refusedFeature(message: string): Feature | null {
  if (aboutDiagnostics.test(message)) return 'cache-diagnostics'
  if (!notOffered.test(message)) return null
  return featureNames.find(([, pattern]) => pattern.test(message))?.[0] ?? null
}

function refusedMedia(message: string): RefusedMedia | null {
  const path = mediaPath.exec(message)?.groups
  const text = mediaTexts.map((pattern) => pattern.exec(message)).find((found) => found !== null)
  if (path === undefined && text === undefined) return null
  const kind = (path?.['kind'] ?? text?.groups?.['kind'])?.toLowerCase()
  return {
    at:
      path === undefined
        ? null
        : {
            message: Number(path['message']),
            block: Number(path['block']),
            inner: path['inner'] === undefined ? null : Number(path['inner']),
          },
    kind: kind === undefined ? null : kind === 'image' ? 'image' : 'document',
    limits: limitsIn(text?.groups ?? {}),
  }
}

function limitsIn(found: Readonly<Record<string, string | undefined>>): LearnedMedia {
  const named = (['count', 'side', 'manySide', 'imageBytes'] as const).flatMap((name) =>
    found[name] === undefined ? [] : [[name, Number(found[name])] as const],
  )
  return Object.fromEntries(named)
}

/** Of a refusal for bytes; a number that is named without its unit may be anything. */
const byteLimit = (message: string): number | undefined => {
  const found = /(?:max\w*|limit\w*|exceed\w*|at most|>)\D{0,40}(\d{4,}) bytes/i.exec(message)?.[1]
  return found === undefined ? undefined : Number(found)
}

const spent = 'enforced_spend_limit_reached'

function isWorthRetrying(code: PlainCode, errorCode: string | null, advice: string | null): boolean {
  if (errorCode === spent || advice === 'false' || code === 'too-large') return false
  return advice === 'true' || passing.includes(code)
}
