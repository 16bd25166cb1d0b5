// A request that is too long, said in many words: this file knows the words and turns them into one value.
// Order is the law here. A limit a minute that the request alone exceeds comes first, since waiting never helps;
// then whatever is a throttle is put aside, because its words ("too many tokens") are those of an overflow;
// then the texts, most exact first, so that numbers are found where there are any.
import { isRecord, objectIn } from '../transcript/json.ts'
import { defaults } from '../settings/defaults.ts'
import type { Usage } from '../transcript/fact.ts'
import { stopKindOf, type StopKind } from '../transcript/stop.ts'
import type { Overflow } from './model.ts'
import { promptTokens } from './usage.ts'

export interface ErrorText {
  readonly status: number | null
  /** The body as it came (JSON or not), or the message taken out of it. */
  readonly text: string
}

/** Which overflow an error speaks of, or null when it speaks of something else. */
export function overflowOf(error: ErrorText): Overflow | null {
  const words = wordsOf(error.text)
  const tight = perMinute(words)
  if (tight !== null) return tight
  if (isThrottle(error.status, words)) return null
  for (const { provider, pattern } of patterns) {
    const found = pattern.exec(words)
    if (found !== null) return { ...nothing, provider: hostOf(error.text) ?? provider, ...numbersOf(found) }
  }
  if (error.status === tooLarge || /request_too_large/.test(words)) return { ...nothing, bytes: true }
  return null
}

const tooLarge = 413
const nothing: Overflow = {
  provider: 'unknown',
  promptTokens: null,
  outputTokens: null,
  limitTokens: null,
  perMinute: false,
  bytes: false,
}

interface Pattern {
  readonly provider: string
  /** Named groups: prompt, output, limit. */
  readonly pattern: RegExp
}

const patterns: readonly Pattern[] = [
  {
    provider: 'anthropic',
    pattern: /prompt is too long:? (?<prompt>[\d,]+) tokens > (?<limit>[\d,]+)/i,
  },
  {
    provider: 'anthropic',
    pattern: /exceed context limit: (?<prompt>[\d,]+) \+ (?<output>[\d,]+) > (?<limit>[\d,]+)/i,
  },
  { provider: 'bedrock', pattern: /input is too long for requested model/i },
  {
    provider: 'openai',
    pattern:
      /maximum context length is (?<limit>[\d,]+) tokens.*?(?:resulted in|requested(?: about)?) (?<total>[\d,]+) tokens(?: \((?<prompt>[\d,]+) in the messages, (?<output>[\d,]+) in the completion\))?/is,
  },
  { provider: 'openai', pattern: /exceeds the context window/i },
  {
    provider: 'google',
    pattern:
      /input token count(?: \((?<prompt>[\d,]+)\))? exceeds the maximum number of tokens allowed(?: \((?<limit>[\d,]+)\))?/i,
  },
  {
    provider: 'xai',
    pattern:
      /maximum prompt length is (?<limit>[\d,]+)(?: but the request contains (?<prompt>[\d,]+) tokens)?/i,
  },
  {
    provider: 'llama.cpp',
    pattern:
      /(?:request \((?<prompt>[\d,]+) tokens\) )?exceeds the available context size(?: \((?<limit>[\d,]+) tokens\))?/i,
  },
  {
    provider: 'mistral',
    pattern: /prompt contains (?<prompt>[\d,]+) tokens.*?(?<limit>[\d,]+) maximum context length/i,
  },
  {
    provider: 'moonshot',
    pattern: /exceeded model token limit: (?<limit>[\d,]+)(?: \(requested: (?<prompt>[\d,]+)\))?/i,
  },
  {
    provider: 'unknown',
    pattern:
      /(?:token count|prompt(?! token)|input(?! token))(?: of (?<prompt>[\d,]+))?[^.]{0,40} exceeds the limit of (?<limit>[\d,]+)/i,
  },
  { provider: 'unknown', pattern: /maximum context length is (?<limit>[\d,]+) tokens/i },
  { provider: 'unknown', pattern: /prompt (?:is )?too long/i },
  { provider: 'unknown', pattern: /prompt exceeds max length/i },
  { provider: 'unknown', pattern: /exceeds (?:the )?(?:model'?s )?maximum context length/i },
  { provider: 'unknown', pattern: /context window exceed(?:ed|s limit)/i },
  { provider: 'unknown', pattern: /input token count.*exceeds the maximum/i },
  { provider: 'unknown', pattern: /greater than the context length/i },
  { provider: 'unknown', pattern: /reduce the length of the messages/i },
  { provider: 'unknown', pattern: /context[_ ]length[_ ]exceeded/i },
  { provider: 'unknown', pattern: /too many tokens/i },
  { provider: 'unknown', pattern: /token limit exceeded/i },
]

function numbersOf(found: RegExpExecArray): Pick<Overflow, 'promptTokens' | 'outputTokens' | 'limitTokens'> {
  const group = (name: string): number | null => numberOf(found.groups?.[name])
  return {
    promptTokens: group('prompt') ?? group('total'),
    outputTokens: group('output'),
    limitTokens: group('limit'),
  }
}

const numberOf = (text: string | undefined): number | null =>
  text === undefined ? null : Number(text.replaceAll(',', ''))

/** The request alone is larger than what a minute allows. Below the limit it is an ordinary throttle. */
function perMinute(words: string): Overflow | null {
  const pattern =
    /request too large.*tokens per min(?:ute)? \(TPM\): limit (?<limit>[\d,]+), requested (?<prompt>[\d,]+)/is
  const found = pattern.exec(words)
  if (found === null) return null
  const numbers = numbersOf(found)
  if ((numbers.promptTokens ?? 0) <= (numbers.limitTokens ?? 0)) return null
  return { ...nothing, ...numbers, provider: 'openai', perMinute: true }
}

const throttleStatuses: readonly (number | null)[] = [401, 402, 403, 429, 503, 529]
const throttleWords =
  /^(?:throttling error|service unavailable):|throttlingexception|rate[ _]limit|too many requests|quota|per (?:minute|hour|day)|(?:daily|monthly|hourly) token limit|please wait before/im

const isThrottle = (status: number | null, words: string): boolean =>
  throttleStatuses.includes(status) || throttleWords.test(words)

/** Claude on Vertex and on Bedrock says what Anthropic says; only the ids tell where it ran. */
function hostOf(text: string): string | null {
  if (/req_vrtx_|toolu_vrtx_/.test(text)) return 'vertex'
  return /toolu_bdrk_|ValidationException/.test(text) ? 'bedrock' : null
}

export interface ErrorBody {
  readonly message: string
  readonly type: string | null
  readonly code: string | null
}

/** What an error body says. A body wrapped in the message of another is unwrapped; text that is no body is the message. */
export function errorBody(text: string): ErrorBody {
  const body = text.trimStart().startsWith('{') ? objectIn(text) : null
  if (body === null) return { message: text, type: null, code: null }
  const inner = recordOf(body['error']) ?? body
  const type = textOf(inner['type'])
  const code = textOf(recordOf(inner['details'])?.['error_code']) ?? textOf(inner['code'])
  const message = textOf(inner['message'])
  if (message === null) return { message: text, type, code }
  const wrapped = errorBody(message)
  return { message: wrapped.message, type: wrapped.type ?? type, code: wrapped.code ?? code }
}

const wordsOf = (text: string): string => Object.values(errorBody(text)).join('\n')

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
const recordOf = (value: unknown): Readonly<Record<string, unknown>> | null =>
  isRecord(value) ? value : null

// ---- overflows that come as an answer ----

export interface Answered {
  readonly usage: Usage
  readonly stop: string | null
  /** What that word means; unset where it is one of the Messages API. */
  readonly ended?: StopKind | undefined
  /** What we think was sent, less what the server was told to leave out. */
  readonly estimate: number
  readonly window: number
}

export interface SilentOverflow {
  /** truncated: the server cut the prompt · over-window: more than fits · filled: the output met the end · no-room: none for it. */
  readonly why: 'truncated' | 'over-window' | 'filled' | 'no-room'
  readonly promptTokens: number
  readonly limitTokens: number
}

/** An answer that came, though the request was too long. Not for warming calls, which ask for no output. */
export function silentOverflow(answer: Answered): SilentOverflow | null {
  const prompt = promptTokens(answer.usage)
  const why = silentReason(answer, prompt)
  return why === null ? null : { why, promptTokens: prompt, limitTokens: answer.window }
}

function silentReason(
  { usage, stop, ended = stopKindOf(stop), estimate, window }: Answered,
  prompt: number,
): SilentOverflow['why'] | null {
  const { silentShare, silentMinTokens } = defaults.model
  if (ended === 'window') return 'filled'
  if (prompt + usage.output > window) return 'over-window'
  // A server that reports nothing at all has neither cut nor refused anything that we could know of.
  if (prompt === 0) return null
  if (usage.output === 0 && (ended === 'length' || stop === 'length')) return 'no-room'
  return estimate >= silentMinTokens && prompt < estimate * silentShare ? 'truncated' : null
}
