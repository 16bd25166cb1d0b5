// How long a provider keeps what it has cached: a number of minutes or hours, as it is named in settings and on wires.

export type Lifetime = `${number}m` | `${number}h`

const minuteMs = 60_000
const minutesPerHour = 60

/** A lifetime in milliseconds. */
export function lifetimeMs(lifetime: Lifetime): number {
  const count = Number.parseFloat(lifetime)
  return count * minuteMs * (lifetime.endsWith('h') ? minutesPerHour : 1)
}

/** From an hour on a cache write has the price of the long lifetime. */
export const isLong = (lifetime: Lifetime): boolean => lifetime.endsWith('h')
