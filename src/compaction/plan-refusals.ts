// Why there is no plan, with the numbers.
import type { PlanContext } from './plan-context.ts'
import { whole } from '../transcript/whole.ts'

export interface PlanRefusal {
  readonly ok: false
  readonly code: 'nothing-new' | 'nothing-to-compact' | 'not-smaller' | 'no-room' | 'on-hold'
  readonly message: string
}

export function refused(code: PlanRefusal['code'], { before, room }: PlanContext, why: string): PlanRefusal {
  return {
    ok: false,
    code,
    message: `${why}; the session takes ${whole(before)} tokens, and compaction begins at ${whole(room.threshold)}`,
  }
}

export function nothingToGo(context: PlanContext): PlanRefusal {
  return context.holds.length > 0
    ? refused(
        'on-hold',
        context,
        'everything that could be compacted was restored by an undo and not released',
      )
    : refused('nothing-to-compact', context, 'there is nothing to compact')
}

export const notSmaller = (context: PlanContext, tokens: number): PlanRefusal =>
  refused('not-smaller', context, `the result would take ${whole(tokens)} tokens and save too little`)

export function tooLarge(context: PlanContext, tokens: number): PlanRefusal {
  const { fixed, threshold, window } = context.room
  if (context.holds.length > 0)
    return refused('on-hold', context, 'too much of the session was restored by an undo and not released')
  return {
    ok: false,
    code: 'no-room',
    message:
      `what must be kept takes ${whole(tokens)} tokens (${whole(fixed)} of them system prompt and tools), but only ${whole(threshold)} of the ` +
      `${whole(window)} token window may be used. Release pins, or take a model with a larger window or fewer tools.`,
  }
}
