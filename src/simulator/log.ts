// What the simulator was asked and what it did about it, for tests to look at. Bounded twice: in requests, and in the
// newest few whose bodies are kept, since a body can be megabytes.
import type { Bill } from './bill.ts'
import type { Level } from './prompt.ts'
import type { Reading } from './cache.ts'
import type { WireError, WireUsage } from '../model/wire.ts'

export interface LoggedRequest {
  readonly id: string
  /** The nth request to this path, from 1; what a fault is scheduled by. */
  readonly number: number
  readonly path: string
  readonly at: number
  readonly source: string | null
  model: string | null
  /** Length of the body as it arrived. */
  readonly bytes: number
  readonly headers: Readonly<Record<string, string>>
  /** Null once newer requests have pushed it out. */
  body: unknown
  /** Null where the connection was cut before any. */
  status: number | null
  error: WireError['error'] | null
  fault: string | null
  prompt: LoggedPrompt | null
  usage: WireUsage | null
  messageId: string | null
  stopReason: string | null
  appliedEdits: readonly Readonly<Record<string, unknown>>[]
  inputTransformations: readonly Readonly<Record<string, unknown>>[]
  diagnostics: unknown
  /** What it costs at the vendor's prices. */
  bill: Bill | null
  firstByteAt: number | null
  /** When the response was complete; null if it never was. */
  endedAt: number | null
}

export interface LoggedPrompt {
  readonly totalTokens: number
  readonly deletedTokens: number
  readonly positions: number
  readonly breakpoints: readonly {
    readonly level: Level
    readonly endTokens: number
    readonly lifetime: '5m' | '1h'
  }[]
  readonly hit: { readonly level: Level; readonly endTokens: number; readonly hash: string } | null
}

export interface RequestLog {
  readonly requests: readonly LoggedRequest[]
  /** How many were pushed out. */
  readonly forgotten: number
  last(): LoggedRequest | null
  bySource(source: string): readonly LoggedRequest[]
  clear(): void
}

export interface LogLimits {
  readonly requests?: number
  readonly bodies?: number
}

const KEPT_REQUESTS = 10_000
const KEPT_BODIES = 32

export function createLog(limits: LogLimits = {}): RequestLog & { add(request: LoggedRequest): void } {
  const requests: LoggedRequest[] = []
  const most = limits.requests ?? KEPT_REQUESTS
  const bodies = limits.bodies ?? KEPT_BODIES
  let forgotten = 0
  return {
    requests,
    get forgotten() {
      return forgotten
    },
    last: () => requests.at(-1) ?? null,
    bySource: (source) => requests.filter((each) => each.source === source),
    clear: () => {
      requests.length = 0
      forgotten = 0
    },
    add: (request) => {
      requests.push(request)
      const old = requests.at(-1 - bodies)
      if (old !== undefined) old.body = null
      if (requests.length <= most) return
      requests.shift()
      forgotten += 1
    },
  }
}

export function loggedPrompt({ prompt, hit }: Reading): LoggedPrompt {
  return {
    totalTokens: prompt.totalTokens,
    deletedTokens: prompt.deletedTokens,
    positions: prompt.positions.length,
    breakpoints: prompt.positions.flatMap(({ level, endTokens, breakpoint }) =>
      breakpoint === null ? [] : [{ level, endTokens, lifetime: breakpoint }],
    ),
    hit: hit === null ? null : { level: hit.level, endTokens: hit.endTokens, hash: hit.hash },
  }
}
