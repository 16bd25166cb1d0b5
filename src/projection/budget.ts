// The room there is, in numbers. Everything scales with the window, so thresholds stay positive and the
// target lies below the trigger for any pair of window and output size.
import { defaults } from '../settings/defaults.ts'
import { whole } from '../transcript/whole.ts'

export interface Room {
  readonly window: number
  /** Kept free for what a summary needs to be written. */
  readonly reserve: number
  /** window − reserve. */
  readonly effective: number
  /** Reductions fire at or above this. */
  readonly threshold: number
  /** System prompt and tools. */
  readonly fixed: number
  /** threshold − fixed: what the conversation may take. */
  readonly room: number
  /** What a reduction must reach. */
  readonly target: number
}
export type RoomOutcome =
  | { readonly ok: true; readonly room: Room }
  | { readonly ok: false; readonly why: string }

/** Tokens, or a part of the effective window as "80%". It can lower the threshold, never raise it. */
export type Threshold = number | `${number}%`

/** A threshold as clues. What is neither tokens nor a part is handed on as it is, and refused with the room. */
export const thresholdClues = (
  threshold: Threshold | undefined,
): Pick<RoomClues, 'thresholdShare' | 'thresholdTokens'> =>
  typeof threshold === 'string'
    ? { thresholdShare: Number(threshold.slice(0, -1)) / 100 }
    : { thresholdTokens: threshold }

export interface RoomClues {
  readonly window: number
  readonly maxOutput: number
  readonly fixed: number
  /** A share of the effective window that lowers the threshold. */
  readonly thresholdShare?: number | undefined
  /** Tokens that lower the threshold. */
  readonly thresholdTokens?: number | undefined
}

/** How much of a window a session may fill, and where reductions begin. */
export function roomOf(clues: RoomClues): RoomOutcome {
  const { reserveTokens, reserveShare, marginTokens, marginShare, targetShare } = defaults.room
  const { window, maxOutput, fixed } = clues
  const reserve = Math.floor(Math.min(maxOutput, reserveTokens, window * reserveShare))
  const effective = window - reserve
  const last = effective - Math.floor(Math.min(marginTokens, window * marginShare))
  const wanted = [clues.thresholdTokens, clues.thresholdShare].filter((clue) => clue !== undefined)
  if (!wanted.every((clue) => Number.isFinite(clue) && clue > 0))
    return {
      ok: false,
      why: 'the threshold that was set is not a number above 0; set tokens, or a share such as "80%"',
    }
  const lowered = [last, clues.thresholdTokens ?? last, Math.floor(effective * (clues.thresholdShare ?? 1))]
  const threshold = Math.max(1, Math.min(...lowered))
  const room = threshold - fixed
  if (room <= 0) {
    return {
      ok: false,
      why:
        `system prompt and tools take ${whole(fixed)} tokens, but only ${whole(threshold)} of the ${whole(window)} token window may be used: ` +
        'no room is left for the conversation. Take a model with a larger window or fewer tools.',
    }
  }
  const target = fixed + Math.floor(room * targetShare)
  return { ok: true, room: { window, reserve, effective, threshold, fixed, room, target } }
}

/** The same window, of which so many tokens were too much: a reduction has to end well below them. */
export function roomBelow(whole: Room, tokens: number): Room {
  const threshold = Math.max(whole.fixed + 1, Math.min(whole.threshold, tokens))
  const room = threshold - whole.fixed
  return { ...whole, threshold, room, target: whole.fixed + Math.floor(room * defaults.room.targetShare) }
}
