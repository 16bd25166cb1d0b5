// What every response and every request carries in headers: keys, versions, request ids, rate limits.
// Limits are reported, not enforced: a refusal is a fault to be scripted.
import type { WireError, WireUsage } from '../../model/wire.ts'
import { invalid, problem } from '../rules/problem.ts'
import { VERSIONS } from '../rules/request-shape.ts'

const MINUTE_MS = 60_000
const LIMITS = { requests: 4000, 'input-tokens': 2_000_000, 'output-tokens': 400_000 } as const

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
  const used = { requests: 0, 'input-tokens': 0, 'output-tokens': 0 }
  let minute = 0
  const turnOver = (): void => {
    const current = Math.floor(now() / MINUTE_MS)
    if (current === minute) return
    minute = current
    Object.assign(used, { requests: 0, 'input-tokens': 0, 'output-tokens': 0 })
  }
  return {
    spend: (usage) => {
      turnOver()
      used.requests += 1
      used['input-tokens'] += (usage?.input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0)
      used['output-tokens'] += usage?.output_tokens ?? 0
    },
    headers: () => {
      turnOver()
      const reset = new Date((minute + 1) * MINUTE_MS).toISOString()
      const left = {
        requests: LIMITS.requests - used.requests,
        'input-tokens': LIMITS['input-tokens'] - used['input-tokens'],
        'output-tokens': LIMITS['output-tokens'] - used['output-tokens'],
      }
      const all = [
        ['requests', LIMITS.requests, left.requests],
        ['input-tokens', LIMITS['input-tokens'], left['input-tokens']],
        ['output-tokens', LIMITS['output-tokens'], left['output-tokens']],
        [
          'tokens',
          LIMITS['input-tokens'] + LIMITS['output-tokens'],
          left['input-tokens'] + left['output-tokens'],
        ],
      ] as const
      return Object.fromEntries(
        all.flatMap(([name, limit, remaining]) => [
          [`anthropic-ratelimit-${name}-limit`, String(limit)],
          [`anthropic-ratelimit-${name}-remaining`, String(Math.max(0, remaining))],
          [`anthropic-ratelimit-${name}-reset`, reset],
        ]),
      )
    },
  }
}
