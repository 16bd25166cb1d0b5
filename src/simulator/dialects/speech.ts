// How a vendor speaks of what goes wrong around an answer: no key, no JSON, too large, struck by a fault, broken on the way.
import type { Fault } from '../http/faults.ts'
import type { Sendable } from '../http/sending.ts'
import type { Refused } from './front.ts'
import { geminiRefusal } from './gemini/exchange.ts'
import { fault, NOT_JSON, refusedBy } from './openai/errors.ts'
import type { Quirks } from './openai/quirks.ts'

export interface Speech extends Pick<Sendable, 'failed' | 'malformed'> {
  notJson(why: string): Refused
  tooLarge(most: number): Refused
  notFound(method: string, path: string): Refused
  wrongMethod(method: string, path: string): Refused
  wrongType(type: string): Refused | null
  failure(message: string): Refused
  struck(fault: Extract<Fault, { kind: 'status' }>): Refused
}

const OVERLOADED = 'The server is overloaded or not ready yet.'
const RATE =
  'Rate limit reached in organization org-simulator on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.'

export function openaiSpeech(quirks: Quirks, isResponses: boolean): Speech {
  const refuse = (status: number, type: string, message: string, code: string | null): Refused =>
    refusedBy(quirks, { ...fault(message, null, code), status, type })
  const invalid = 'invalid_request_error'
  return {
    notJson: () => refuse(400, invalid, NOT_JSON, null),
    tooLarge: () => refuse(413, invalid, 'Request body too large.', null),
    notFound: (method, path) => refuse(404, invalid, `Invalid URL (${method} ${path})`, null),
    wrongMethod: (method, path) =>
      refuse(405, invalid, `Not allowed to ${method} on ${path}.`, 'method_not_supported'),
    wrongType: (type) =>
      refuse(
        400,
        invalid,
        `Unsupported content type: '${type}'. This API method only accepts 'application/json' requests, but you specified the header 'Content-Type: ${type}'. Please try again with a supported content type.`,
        'unsupported_content_type',
      ),
    failure: (message) => refuse(500, 'server_error', message, null),
    struck: (struck) => {
      const [type, message, code] = openaiTexts(struck.status)
      return refuse(struck.status, struck.type ?? type, struck.message ?? message, code)
    },
    failed: (struck) => {
      const message = struck.message ?? OVERLOADED
      const refused = refuse(503, struck.type ?? 'server_error', message, 'server_error')
      const event = { type: 'error', code: 'server_error', message, param: null, sequence_number: 999 }
      return {
        status: 503,
        body: refused.body,
        frame: isResponses
          ? `event: error\ndata: ${JSON.stringify(event)}\n\n`
          : `data: ${JSON.stringify(refused.body)}\n\n`,
      }
    },
    malformed: isResponses
      ? 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":{\n\n'
      : 'data: {"id":"chatcmpl-","choices":[{\n\n',
  }
}

function openaiTexts(status: number): readonly [type: string, message: string, code: string | null] {
  if (status === 429) return ['tokens', RATE, 'rate_limit_exceeded']
  if (status === 401) return ['invalid_request_error', 'Incorrect API key provided.', 'invalid_api_key']
  if (status === 503) return ['server_error', OVERLOADED, null]
  if (status >= 500)
    return ['server_error', 'The server had an error while processing your request. Sorry about that!', null]
  return ['invalid_request_error', `Status ${status}`, null]
}

export function geminiSpeech(): Speech {
  return {
    notJson: (why) => geminiRefusal(400, `Invalid JSON payload received. ${why}`),
    tooLarge: (most) => geminiRefusal(400, `Request payload size exceeds the limit: ${most} bytes.`),
    notFound: (method, path) => geminiRefusal(404, `${method} ${path}: not found`),
    wrongMethod: (method, path) => geminiRefusal(404, `${method} ${path}: not found`),
    wrongType: () => null,
    failure: (message) => geminiRefusal(500, message),
    struck: ({ status, message = geminiText(status), retryAfterSeconds: seconds }) =>
      geminiRefusal(status, message, seconds === undefined ? undefined : [retryInfo(seconds)]),
    failed: (struck) => {
      const { status, body } = geminiRefusal(503, struck.message ?? geminiText(503))
      return { status, body, frame: `data: ${JSON.stringify(body)}\r\n\r\n` }
    },
    malformed: 'data: {"candidates": [{"content":\r\n\r\n',
  }
}

/** Where Google says how long to wait. */
const retryInfo = (seconds: number): object => ({
  '@type': 'type.googleapis.com/google.rpc.RetryInfo',
  retryDelay: `${seconds}s`,
})

function geminiText(status: number): string {
  if (status === 429) return 'Resource has been exhausted (e.g. check quota).'
  if (status === 503) return 'The model is overloaded. Please try again later.'
  return status >= 500
    ? 'An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting'
    : `Status ${status}`
}
