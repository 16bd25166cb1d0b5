// Counting a request by its provider, before it is sent. What a wire knows of it is data; an adapter carries the bytes.
import { Guard, NotReady, reasonOf, refusalIn, type AttemptPorts } from './attempts.ts'
import type { Counted, ModelRequest } from './model.ts'

/** How a provider is asked how long a request is. */
export interface CountRules {
  /** The body that is posted there, from that of a request. */
  body(body: string, model: string): string
  /** Tokens of what came back; null where it says none. */
  tokensIn(answer: unknown): number | null
}

/** Asks once: whoever wants a number can wait for it or do without. */
export async function countOnce(
  ports: Pick<AttemptPorts, 'connect' | 'failureOf' | 'settings' | 'clock'>,
  rules: CountRules,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Counted> {
  const { settings, failureOf, clock } = ports
  const guard = new Guard(signal, settings.idleMs)
  const failed = (code: 'aborted' | 'invalid' | 'network' | 'unauthorized', message: string): Counted => ({
    ok: false,
    failure: { code, message, status: null },
  })
  try {
    const connection = await ports.connect()
    if (connection.count === undefined) return failed('invalid', 'this connection cannot count')
    const answer = await connection.count(rules.body(request.body, request.model), request, guard)
    const tokens = rules.tokensIn(answer)
    return tokens === null ? failed('invalid', 'the answer names no count of tokens') : { ok: true, tokens }
  } catch (error) {
    if (signal.aborted) return failed('aborted', 'aborted by the caller')
    if (error instanceof NotReady) return failed(error.code, error.message)
    const refusal = refusalIn(error)
    if (refusal !== null) return { ok: false, failure: failureOf(refusal, clock.now()).failure }
    return failed('network', guard.expired ? 'nothing came for too long' : reasonOf(error))
  } finally {
    guard.release()
  }
}

/** The fields of a body that a count takes, and nothing that it would refuse. */
export function onlyFields(body: string, names: ReadonlySet<string>): Readonly<Record<string, unknown>> {
  const whole = JSON.parse(body) as Readonly<Record<string, unknown>>
  return Object.fromEntries(Object.entries(whole).filter(([name]) => names.has(name)))
}

/** A whole number of a field; null where it is none. */
export function countIn(answer: unknown, field: string): number | null {
  const value: unknown =
    typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>)[field] : null
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}
