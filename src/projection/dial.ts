// The dial between thrift and fidelity: one number from 0 (keep as much as fits) to 1 (spend as little as is sensible).
// It sets when a boundary comes before it must, and what stays beside the text: the newest messages, lines of older
// blocks that later work is likely to need, the text itself. The points were chosen in the lab, on recorded sessions.
import { defaults } from '../settings/defaults.ts'
import { isRecord } from '../transcript/json.ts'

/** What a place of the dial means. */
export interface DialPoint {
  /**
   * A boundary comes once carrying what it would put away has cost this many times what it costs to write the rest
   * again. Infinity waits for the threshold.
   */
  readonly carry: number
  /** On a cold cache a boundary costs nothing; then this many tokens to put away are enough. */
  readonly coldTokens: number
  /** Less than this is not worth a boundary. */
  readonly leastTokens: number
  /** The newest messages, as they are. */
  readonly tailTokens: number
  /** Pieces of older blocks, word for word. */
  readonly excerptTokens: number
  /** Single lines of older blocks that the score chose, under what they belong to. */
  readonly detailTokens: number
  /** The text that stands for the rest. */
  readonly textTokens: number
  /** Files that are read again afterwards, all together. */
  readonly filesTokens: number
  /** 1: after an hour without an answer old results are cleared; below that they are left to the boundary. */
  readonly clearsIdle: number
}

/** What a boundary may leave in place, as far as the room allows. */
export type Allowance = Pick<DialPoint, 'tailTokens' | 'excerptTokens' | 'detailTokens' | 'textTokens'>

/** A place of the dial, or a point of one's own. */
export type Thrift = number | DialPoint

export const pointOf = (thrift: Thrift = defaults.dial.thrift): DialPoint =>
  typeof thrift === 'number' ? pointAt(thrift) : thrift

/** Whether a value of a program without types is a place of the dial or a whole point. */
export const isThrift = (value: unknown): value is Thrift =>
  typeof value === 'number'
    ? value >= 0 && value <= 1
    : isRecord(value) && Object.keys(pointAt(0)).every((key) => Number(value[key]) >= 0)

/** Between two points that were measured it is in between. */
function pointAt(thrift: number): DialPoint {
  const { points } = defaults.dial
  const place = Math.min(1, Math.max(0, thrift))
  const above = Math.max(
    1,
    points.findIndex((point) => point.at >= place),
  )
  const [low, high] = [points[above - 1]!, points[above]!]
  const share = (place - low.at) / (high.at - low.at)
  const between = (of: (point: DialPoint) => number): number => {
    if (share <= 0) return of(low)
    return share >= 1 ? of(high) : of(low) + share * (of(high) - of(low))
  }
  return {
    carry: between((point) => point.carry),
    coldTokens: between((point) => point.coldTokens),
    leastTokens: between((point) => point.leastTokens),
    tailTokens: between((point) => point.tailTokens),
    excerptTokens: between((point) => point.excerptTokens),
    detailTokens: between((point) => point.detailTokens),
    textTokens: between((point) => point.textTokens),
    filesTokens: between((point) => point.filesTokens),
    clearsIdle: between((point) => point.clearsIdle),
  }
}

/** In a small room each takes its share and no more. */
export function allowanceOf(point: DialPoint, room: number): Allowance {
  const { keptShare, textShare } = defaults.compaction
  return {
    tailTokens: Math.min(point.tailTokens, keptShare * room),
    excerptTokens: Math.min(point.excerptTokens, defaults.dial.excerptShare * room),
    detailTokens: Math.min(point.detailTokens, defaults.dial.detailShare * room),
    textTokens: Math.min(point.textTokens, textShare * room),
  }
}
