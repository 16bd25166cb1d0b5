// Our own compaction of what came before a moment, as text, within a room.
import { countedIds } from '../playing/setup.ts'
import { plan, type PlanOptions } from '../../compaction/ladder.ts'
import { newestOf } from '../../compaction/kept-messages.ts'
import { planContextOf, type PlanContext } from '../../compaction/plan-context.ts'
import { pointOf } from '../../projection/dial.ts'
import { Fold } from '../../projection/fold.ts'
import { blockWords } from '../../projection/folding/render.ts'
import { roomOf } from '../../projection/budget.ts'
import type { ViewBlock } from '../../projection/view.ts'
import { textOf } from '../measuring/texts.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Edit } from '../../transcript/fact.ts'
import { seq, uuid } from '../../transcript/ids.ts'
import { toEntries } from '../entries.ts'
import type { Recording } from '../recording.ts'

export interface Kept {
  readonly text: string
  readonly tokens: number
}

/** Everything that was said, folded. */
export function foldOf(before: Recording): Fold {
  const fold = new Fold()
  const { entries } = toEntries(before, { ids: countedIds(), clock: { now: () => 0 } })
  for (const entry of entries) fold.push(entry)
  return fold
}

/** A window that holds it twice. */
export function roomFor(fold: Fold): ReturnType<typeof roomOf> {
  const { fixedEstimate } = fold.view()
  const window = Math.max(defaults.counting.unknownWindowTokens, 2 * fold.view().tokens)
  return roomOf({ window, maxOutput: 0, fixed: fixedEstimate })
}

/** What a compaction of it would be planned from; null where nothing has room. */
export function plannedFrom(fold: Fold): PlanContext | null {
  const room = roomFor(fold)
  return room.ok ? planContextOf(fold, room.room, {}) : null
}

/** Where the newest messages begin that stay as they are at the default dial. */
export function newestIn(context: PlanContext): { readonly end: number } {
  const { tailTokens } = pointOf()
  return { end: newestOf(context, tailTokens, tailTokens).start }
}

/** What stands beside the fixed part after a compaction; the refusal where there is none. */
export function keptWithin(
  fold: Fold,
  within: number,
  options: Partial<PlanOptions> = {},
): Kept | { readonly why: string } {
  const room = roomFor(fold)
  if (!room.ok) return { why: room.why }
  const made = plan(fold, room.room, { trigger: 'auto', ...options, within })
  if (!made.ok) return { why: made.message }
  const parts = [...withEdits(fold, made.plan.edits).parts()]
  return {
    text: parts.flatMap(({ blocks }) => blocks.map(shownIn)).join('\n\n'),
    tokens: parts.reduce((sum, { estimate }) => sum + estimate, 0),
  }
}

/** A call that stays as it was says what it gives to tools, as it is counted where it is used. */
const shownIn = (block: ViewBlock): string =>
  block.type === 'tool_use' && 'input' in block ? textOf({ ...block }) : blockWords(block)

/** The session as these edits leave it. */
export function withEdits(fold: Fold, edits: readonly Edit[]): Fold {
  const after = fold.copy()
  after.push({
    v: 1,
    seq: seq(fold.numbers.upTo + 1),
    uuid: uuid('00000000-0000-7000-8000-ffffffffffff'),
    parent: null,
    at: 0,
    fact: { type: 'view-edit', layer: 'lab', asked: 'automatic', edits, why: '', tokensFreed: 0 },
  })
  return after
}
