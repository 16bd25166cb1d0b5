// Cache marks as the wire allows them: well formed, on blocks that can bear one, no more than the cap, and no long
// lifetime behind a short one. Where marks belong is decided elsewhere; this only keeps them legal.
import type { CacheControl, WireBlock } from '../../model/wire.ts'
import { canBearMark, isBlock, isMarked, isRecord } from './blocks.ts'
import { changed, messagePath, note, draftPlace, withBlocks, type Draft, type Ledger } from './draft.ts'

/** A mark on reasoning or on an empty text moves to the nearest block before it that can bear one. */
export function marksMoved(drafts: readonly Draft[], ledger: Ledger): readonly Draft[] {
  if (!drafts.some((draft) => draft.blocks.some((block) => isMarked(block) && !canBearMark(block))))
    return drafts
  const lists = drafts.map((draft) => [...draft.blocks])
  lists.forEach((blocks, message) => {
    blocks.forEach((block, index) => {
      const draft = drafts[message]
      if (draft === undefined || block.cache_control === undefined || !isMarked(block) || canBearMark(block))
        return
      note(
        ledger,
        'mark-place',
        draftPlace(ledger, block, draft),
        'a cache mark moved back to a block that can bear it',
      )
      blocks[index] = changed(ledger, block, { cache_control: undefined })
      markBefore(lists, message, index, block.cache_control, ledger)
    })
  })
  return drafts.map((draft, message) => withBlocks(draft, lists[message] ?? []))
}

function markBefore(
  lists: readonly WireBlock[][],
  message: number,
  index: number,
  mark: CacheControl,
  ledger: Ledger,
): void {
  for (let at = message; at >= 0; at--) {
    const blocks = lists[at] ?? []
    for (let block = at === message ? index - 1 : blocks.length - 1; block >= 0; block--) {
      const candidate = blocks[block]
      if (candidate === undefined || !canBearMark(candidate)) continue
      if (!isMarked(candidate)) blocks[block] = changed(ledger, candidate, { cache_control: mark })
      return
    }
  }
}

export interface MarkLimits {
  readonly maxMarks: number
  /** Tools or system already carry a mark of the short lifetime. */
  readonly shortMarkBefore: boolean
}

/** Over the cap the earliest go: the last marks are the ones the next request reads from. */
export function marksLimited(drafts: readonly Draft[], limits: MarkLimits, ledger: Ledger): readonly Draft[] {
  const total = drafts.reduce(
    (sum, draft) => sum + draft.blocks.reduce((marks, block) => marks + marksOf(block), 0),
    0,
  )
  if (total === 0) return drafts
  let surplus = Math.max(0, total - limits.maxMarks)
  let short = limits.shortMarkBefore
  return drafts.map((draft) => {
    const settle = (block: WireBlock): WireBlock => {
      if (block.cache_control === undefined || !isMarked(block)) return block
      const place = draftPlace(ledger, block, draft) || messagePath(draft)
      if (surplus > 0) {
        surplus -= 1
        note(ledger, 'mark-count', place, `a cache mark above the ${limits.maxMarks} allowed was taken away`)
        return changed(ledger, block, { cache_control: undefined })
      }
      const mark = legal(block.cache_control)
      if (mark !== block.cache_control) note(ledger, 'mark-shape', place, 'a cache mark was spelled anew')
      const late = short && mark.ttl === '1h'
      if (late) note(ledger, 'mark-order', place, 'a 1h mark behind a 5m mark became 5m')
      short ||= mark.ttl !== '1h'
      const next: CacheControl = late ? { type: 'ephemeral' } : mark
      return next === block.cache_control ? block : changed(ledger, block, { cache_control: next })
    }
    return withBlocks(
      draft,
      draft.blocks.map((block) => settle(innerSettled(block, settle, ledger))),
    )
  })
}

/** Marks inside a result count like any other, and stand before the result's own. */
function innerSettled(block: WireBlock, settle: (block: WireBlock) => WireBlock, ledger: Ledger): WireBlock {
  const content = block['content']
  if (block.type !== 'tool_result' || !Array.isArray(content)) return block
  const next = content.map((inner: unknown) => (isBlock(inner) ? settle(inner) : inner))
  return next.every((inner, index) => inner === content[index])
    ? block
    : changed(ledger, block, { content: next })
}

function marksOf(block: WireBlock): number {
  const content =
    block.type === 'tool_result' && Array.isArray(block['content']) ? block['content'].filter(isBlock) : []
  const inner = content.filter(isMarked).length
  return inner + (isMarked(block) ? 1 : 0)
}

function legal(mark: CacheControl): CacheControl {
  const raw: unknown = mark
  const ttl = isRecord(raw) ? raw['ttl'] : undefined
  const ttlFits = ttl === undefined || ttl === '5m' || ttl === '1h'
  if (
    isRecord(raw) &&
    raw['type'] === 'ephemeral' &&
    ttlFits &&
    Object.keys(raw).every((key) => key === 'type' || key === 'ttl')
  )
    return mark
  return ttl === '1h' || ttl === '5m' ? { type: 'ephemeral', ttl } : { type: 'ephemeral' }
}
