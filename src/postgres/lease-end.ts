// When a lease has surely ended, as its holder judges it. The steady clock stands still while a machine sleeps and the clock on the
// wall can be set back, so both are asked and the earlier end counts.
export interface LeaseEnd {
  readonly steady: number
  readonly wall: number
}

/** The clock on the wall is coarse, and is moved a little now and then. */
const slackMs = 1_000

/** So long after the moment of the steady clock at which it was asked for. */
export const endAfter = (ms: number, askedAt: number): LeaseEnd => ({
  steady: askedAt + ms,
  wall: Date.now() - performance.now() + askedAt + ms + slackMs,
})

/** The end on the steady clock as it looks now. */
export const steadyEnd = ({ steady, wall }: LeaseEnd): number =>
  Math.min(steady, performance.now() + wall - Date.now())
