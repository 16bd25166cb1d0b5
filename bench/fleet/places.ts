// When a worker had a free place, from what the run did to workers and what they said of themselves. A session whose worker is gone
// cannot be taken by a fleet that has no place for it: how long it waited for one is a matter of how many workers there are.
export interface Moment {
  readonly at: number
  /** Null: of the server, without which nobody can claim. */
  readonly worker: number | null
  readonly what: 'ready' | 'claimed' | 'ended' | 'stopped' | 'resumed' | 'gone'
}

interface Place {
  free: number
  isAble: boolean
}

interface Change {
  readonly at: number
  readonly isFree: boolean
}

/** The moments at which the fleet came to have a place, and to have none. */
export function changesOf(moments: readonly Moment[], places: number): readonly Change[] {
  const workers = new Map<number | null, Place>([[null, { free: 0, isAble: true }]])
  const changes: Change[] = []
  for (const { at, worker, what } of moments.toSorted((a, b) => a.at - b.at)) {
    const own = workers.get(worker) ?? { free: places, isAble: false }
    workers.set(worker, own)
    if (what === 'claimed') own.free--
    else if (what === 'ended') own.free++
    else own.isAble = what === 'ready' || what === 'resumed'
    // A worker that is killed while it is stopped does not come back.
    if (what === 'gone') own.free = Number.NEGATIVE_INFINITY
    const isFree =
      workers.get(null)!.isAble && [...workers.values()].some((one) => one.isAble && one.free > 0)
    if (isFree !== changes.at(-1)?.isFree) changes.push({ at, isFree })
  }
  return changes
}

/** The first moment from this one on with a free place. */
function freeFrom(changes: readonly Change[], at: number): number {
  const before = changes.findLast((change) => change.at <= at)
  if (before?.isFree === true) return at
  return changes.find((change) => change.at > at && change.isFree)?.at ?? at
}

export interface Takeover {
  /** When its lease ended, and when it was taken. */
  readonly from: number
  readonly to: number
}

export interface Lateness {
  /** A worker had a place when the lease ended. */
  readonly withPlace: readonly number[]
  /** None had: the whole wait, and the part of it that came after one had. */
  readonly waited: readonly { readonly total: number; readonly late: number }[]
  /** The server was killed meanwhile: workers ask again some seconds after it is back. */
  readonly whileDown: readonly number[]
}

/** How late each was, by what it waited for; `sinceMs` before the end of a lease its worker was last heard of. */
export function lateness(
  takeovers: readonly Takeover[],
  moments: readonly Moment[],
  places: number,
  sinceMs: number,
): Lateness {
  const changes = changesOf(moments, places)
  const outages = moments.flatMap(({ at, worker }) => (worker === null ? [at] : []))
  const isDown = ({ from, to }: Takeover): boolean => outages.some((at) => at > from - sinceMs && at < to)
  const others = takeovers.filter((one) => !isDown(one))
  const free = others.map((one) => ({ ...one, free: freeFrom(changes, one.from) }))
  return {
    withPlace: free.flatMap((one) => (one.free === one.from ? [one.to - one.from] : [])),
    waited: free.flatMap((one) =>
      one.free === one.from ? [] : [{ total: one.to - one.from, late: Math.max(0, one.to - one.free) }],
    ),
    whileDown: takeovers.filter(isDown).map(({ from, to }) => to - from),
  }
}
