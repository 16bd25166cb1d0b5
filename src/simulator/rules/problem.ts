// What a rule says when it refuses: one error body, in the words of the real API.
import type { WireError } from '../../model/wire.ts'

export function invalid(message: string): WireError {
  return problem('invalid_request_error', message)
}

export function problem(type: string, message: string): WireError {
  return { type: 'error', error: { type, message } }
}

const STATUS: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}
const UNKNOWN_STATUS = 500

export function statusOf(error: WireError): number {
  return STATUS[error.error.type] ?? UNKNOWN_STATUS
}
