// How OpenAI refuses: a fault with its parameter and code, and the body it is sent in. Servers that speak alike wrap it otherwise.
import type { Refused } from '../front.ts'
import type { Quirks } from './quirks.ts'

export interface ApiFault {
  readonly message: string
  readonly param: string | null
  readonly code: string | null
  readonly status?: number
  readonly type?: string
}

export function fault(message: string, param: string | null = null, code: string | null = null): ApiFault {
  return { message, param, code }
}

/** The body of a refusal as this server writes it. */
export function refusedBy(quirks: Quirks, wrong: ApiFault): Refused {
  const status = wrong.status ?? 400
  const type = wrong.type ?? 'invalid_request_error'
  const { message, param, code } = wrong
  return { status, type, message, body: bodyOf(quirks, { status, type, message, param, code }) }
}

interface ErrorText {
  readonly status: number
  readonly type: string
  readonly message: string
  readonly param: string | null
  readonly code: string | null
}

function bodyOf(quirks: Quirks, error: ErrorText): unknown {
  const { status, type, message, param, code } = error
  if (quirks.errors === 'openrouter') return { error: { message, code: status } }
  if (quirks.errors === 'vllm')
    return {
      error: { message, type: status === 404 ? 'NotFoundError' : 'BadRequestError', param, code: status },
    }
  if (quirks.errors === 'litellm')
    return {
      error: {
        message: `litellm.BadRequestError: OpenAIException - ${message}`,
        type: null,
        param: null,
        code: String(status),
      },
    }
  if (quirks.errors === 'deepseek')
    return { error: { message, type, param: null, code: 'invalid_request_error' } }
  if (quirks.errors === 'groq') return { error: { message, type, ...(code === null ? {} : { code }) } }
  if (quirks.errors === 'lmstudio') return { error: message }
  return { error: { message, type, param, code } }
}

const NO_KEY =
  "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're accessing the API from your browser and are prompted for a username and password. You can obtain an API key from https://platform.openai.com/account/api-keys."

export const NOT_JSON =
  "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you have trouble figuring out how to fix this, please contact us through our help center at help.openai.com.)"

const SHOWN_KEY_CHARS = 4

/** Null when the key is let in; the credential is the tenant's. */
export function checkKey(
  headers: Readonly<Record<string, string>>,
  keys: readonly string[] | null,
  quirks: Quirks,
): ApiFault | null {
  if (quirks.key === 'none') return null
  const key = credentialOf(headers, quirks)
  if (key === '') return { ...fault(NO_KEY), status: 401 }
  if (keys === null || keys.includes(key)) return null
  const shown = key.length <= SHOWN_KEY_CHARS ? key : `${'*'.repeat(8)}${key.slice(-SHOWN_KEY_CHARS)}`
  const message = `Incorrect API key provided: ${shown}. You can find your API key at https://platform.openai.com/account/api-keys.`
  return { ...fault(message, null, 'invalid_api_key'), status: 401 }
}

export function credentialOf(headers: Readonly<Record<string, string>>, quirks: Quirks): string {
  const bearer = /^Bearer\s+(.+)$/iu.exec(headers['authorization'] ?? '')?.[1] ?? ''
  return quirks.key === 'api-key' ? (headers['api-key'] ?? bearer) : bearer
}
