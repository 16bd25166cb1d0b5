// Days as the user has them: those of the time zone of the machine, which `TZ` in the environment sets.

const minuteMs = 60 * 1000

/** The moment whose day in UTC is the user's day then. */
export const localMoment = (at: number): number => at - new Date(at).getTimezoneOffset() * minuteMs

/** The day in UTC, as 2026-03-01. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 'yyyy-mm-dd'.length)

/** The user's day then. */
export const localDay = (at: number): string => dayOf(localMoment(at))

/** How many of the user's days lie between two moments: none within one day, one from an evening to the next morning. */
export const daysBetween = (from: number, to: number): number =>
  (Date.parse(localDay(to)) - Date.parse(localDay(from))) / dayMs
const dayMs = 24 * 60 * minuteMs
