// Whether telemetry is on. Read at every start, so it loads nothing of it where it is off.
import type { Emit } from '../../engine/live.ts'
import { safeLine } from '../terminal/safe-text.ts'
import type { Workplace } from '../workplace/workplace.ts'
import type { LiveTelemetry } from './live.ts'
import { endpointOf } from './setup.ts'

/** For the conversation of this place; null where it is off. */
export async function telemetryFor(
  place: Workplace,
  listen: Emit | undefined,
): Promise<LiveTelemetry | null> {
  const { io, settings } = place
  const endpoint = endpointOf(settings, io.environment)
  if (endpoint === null) return null
  const tell = (message: string): void =>
    listen === undefined
      ? io.err(`pal: ${safeLine(message)}\n`)
      : listen({ type: 'notice', code: 'telemetry', message })
  return (await import('./live.ts')).liveTelemetry(place, endpoint, tell)
}
