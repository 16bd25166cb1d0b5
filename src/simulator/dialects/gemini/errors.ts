// How the Gemini API refuses: a code, a message and the name of the status.
import type { Refused } from '../front.ts'

const NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

export function geminiRefusal(status: number, message: string, details?: readonly unknown[]): Refused {
  const type = NAMES[status] ?? 'UNKNOWN'
  return {
    status,
    type,
    message,
    body: { error: { code: status, message, status: type, ...(details === undefined ? {} : { details }) } },
  }
}

const NO_KEY =
  "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API."

/** Null when the key is let in. */
export function checkGeminiKey(key: string, keys: readonly string[] | null): Refused | null {
  if (key === '') return geminiRefusal(403, NO_KEY)
  if (keys === null || keys.includes(key)) return null
  return geminiRefusal(400, 'API key not valid. Please pass a valid API key.', [
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'API_KEY_INVALID',
      domain: 'googleapis.com',
      metadata: { service: 'generativelanguage.googleapis.com' },
    },
  ])
}
