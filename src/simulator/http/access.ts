// What every response and every request carries in headers: keys, versions, request ids, rate limits.
// Limits are reported, not enforced: a refusal is a fault to be scripted.
import type { WireError, WireUsage } from '../../model/wire.ts'
import { invalid, problem } from '../rules/problem.ts'
import { VERSIONS } from '../rules/request-shape.ts'

const MINUTE_MS = 60_000
const LIMITS = [
  ['requests', 4000],
  ['input-tokens', 2_000_000],
  ['output-tokens', 400_000],
  ['tokens', 2_400_000],
] as const

/** Any key will do unless keys are named; `x-api-key` wins over a bearer token. */
export function checkAccess(
  headers: Readonly<Record<string, string>>,
  keys: readonly string[] | null,
): WireError | null {
  const bearer = /^Bearer\s+(.+)$/i.exec(headers['authorization'] ?? '')?.[1]
  const key = headers['x-api-key'] ?? bearer ?? ''
  if (key === '') return problem('authentication_error', 'x-api-key header is required')
  if (keys !== null && !keys.includes(key)) return problem('authentication_error', 'invalid x-api-key')
  const version = headers['anthropic-version']
  if (version === undefined) return invalid('anthropic-version: header is required')
  return VERSIONS.includes(version) ? null : invalid(`anthropic-version: "${version}" is not a valid version`)
}

export interface RateWindow {
  spend(usage: WireUsage | null): void
  headers(): Readonly<Record<string, string>>
}

/** Cache reads do not count against the input limit. */
export function createRateWindow(now: () => number): RateWindow {
  const none = { requests: 0, 'input-tokens': 0, 'output-tokens': 0, tokens: 0 }
  let used = none
  let minute = 0
  const turnOver = (): void => {
    const current = Math.floor(now() / MINUTE_MS)
    if (current !== minute) used = none
    minute = current
  }
  return {
    spend: (usage) => {
      turnOver()
      const input = (usage?.input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0)
      const output = usage?.output_tokens ?? 0
      used = {
        requests: used.requests + 1,
        'input-tokens': used['input-tokens'] + input,
        'output-tokens': used['output-tokens'] + output,
        tokens: used.tokens + input + output,
      }
    },
    headers: () => {
      turnOver()
      const reset = new Date((minute + 1) * MINUTE_MS).toISOString()
      return Object.fromEntries(
        LIMITS.flatMap(([name, limit]) => [
          [`anthropic-ratelimit-${name}-limit`, String(limit)],
          [`anthropic-ratelimit-${name}-remaining`, String(Math.max(0, limit - used[name]))],
          [`anthropic-ratelimit-${name}-reset`, reset],
        ]),
      )
    },
  }
}
