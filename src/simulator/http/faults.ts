// Faults to be scripted: which request they strike and what happens to it. A fault strikes before the rules are asked,
// as an overloaded server does; faults of the stream let the request through and spoil its answer.

export type Fault =
  | {
      readonly kind: 'status'
      readonly status: number
      readonly type?: string
      readonly message?: string
      readonly retryAfterSeconds?: number
    }
  | { readonly kind: 'reset'; readonly when: 'before-headers' | 'after-headers' }
  /** The connection breaks, or (clean) the stream ends as if it were complete. */
  | { readonly kind: 'cut'; readonly afterEvents: number; readonly clean?: boolean }
  | { readonly kind: 'slow'; readonly delayMs: number }
  | {
      readonly kind: 'stream-error'
      readonly afterEvents: number
      readonly type?: string
      readonly message?: string
    }
  /** One frame that is not JSON. */
  | { readonly kind: 'malformed'; readonly afterEvents: number }
  /** Nothing more comes until the client gives up. */
  | { readonly kind: 'hang'; readonly afterEvents?: number }

export interface FaultContext {
  /** The nth request to /v1/messages, from 1, refused ones included. */
  readonly number: number
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
}

export interface ScheduledFault {
  readonly at: number | ((context: FaultContext) => boolean)
  /** How often it strikes: once by number, without end by predicate. */
  readonly times?: number
  readonly fault: Fault
}

export interface Faults {
  add(...faults: readonly ScheduledFault[]): void
  clear(): void
  /** The first that strikes this request, and one fewer is left. */
  take(context: FaultContext): Fault | null
}

export function createFaults(initial: readonly ScheduledFault[] = []): Faults {
  const scheduled: { readonly fault: ScheduledFault; left: number }[] = []
  const add = (...faults: readonly ScheduledFault[]): void => {
    for (const fault of faults)
      scheduled.push({ fault, left: fault.times ?? (typeof fault.at === 'number' ? 1 : Infinity) })
  }
  add(...initial)
  return {
    add,
    clear: () => {
      scheduled.length = 0
    },
    take: (context) => {
      const struck = scheduled.find(({ fault, left }) => left > 0 && strikes(fault, context))
      if (struck === undefined) return null
      struck.left -= 1
      return struck.fault.fault
    },
  }
}

/** By number with `times`, the following requests are struck too. */
function strikes({ at, times = 1 }: ScheduledFault, context: FaultContext): boolean {
  return typeof at === 'number' ? context.number >= at && context.number < at + times : at(context)
}

const TEXTS: Readonly<Record<number, readonly [type: string, message: string]>> = {
  400: ['invalid_request_error', 'Invalid request'],
  413: ['request_too_large', 'Request exceeds the maximum size'],
  429: [
    'rate_limit_error',
    "This request would exceed your organization's rate limit of 30,000 input tokens per minute. Please reduce the prompt length or the maximum tokens requested, or try again later.",
  ],
  500: ['api_error', 'Internal server error'],
  504: ['timeout_error', 'Request timed out'],
  529: ['overloaded_error', 'Overloaded'],
}

export function faultText(fault: Extract<Fault, { kind: 'status' }>): { type: string; message: string } {
  const [type, message] = TEXTS[fault.status] ?? ['api_error', `Status ${fault.status}`]
  return { type: fault.type ?? type, message: fault.message ?? message }
}
