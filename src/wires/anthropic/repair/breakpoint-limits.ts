// Cache breakpoints as the wire allows them: well formed, on blocks that can bear one, no more than the cap, and no long
// lifetime behind a short one. Where breakpoints belong is decided elsewhere; this only keeps them legal.
import type { CacheControl, WireBlock } from '../../../model/wire.ts'
import { isRecord } from '../../../transcript/content.ts'
import { canCarryBreakpoint, isBlock, hasBreakpoint } from '../block-rules.ts'
import { sameItems } from '../../repairing.ts'
import { changed, messagePath, note, draftPlace, withBlocks, type Draft, type RepairLog } from './draft.ts'

/** A breakpoint on reasoning or on an empty text moves to the nearest block before it that can bear one. */
export function moveBreakpoints(drafts: readonly Draft[], log: RepairLog): readonly Draft[] {
  if (
    !drafts.some((draft) => draft.blocks.some((block) => hasBreakpoint(block) && !canCarryBreakpoint(block)))
  )
    return drafts
  const lists = drafts.map((draft) => [...draft.blocks])
  lists.forEach((blocks, message) => {
    blocks.forEach((block, index) => {
      const draft = drafts[message]
      if (
        draft === undefined ||
        block.cache_control === undefined ||
        !hasBreakpoint(block) ||
        canCarryBreakpoint(block)
      )
        return
      note(
        log,
        'breakpoint-place',
        draftPlace(log, block, draft),
        'a cache breakpoint moved back to a block that can bear it',
      )
      blocks[index] = changed(log, block, { cache_control: undefined })
      putBreakpointBefore(lists, message, index, block.cache_control, log)
    })
  })
  return drafts.map((draft, message) => withBlocks(draft, lists[message] ?? []))
}

function putBreakpointBefore(
  lists: readonly WireBlock[][],
  message: number,
  index: number,
  breakpoint: CacheControl,
  log: RepairLog,
): void {
  for (let at = message; at >= 0; at--) {
    const blocks = lists[at] ?? []
    for (let block = at === message ? index - 1 : blocks.length - 1; block >= 0; block--) {
      const candidate = blocks[block]
      if (candidate === undefined || !canCarryBreakpoint(candidate)) continue
      if (!hasBreakpoint(candidate)) blocks[block] = changed(log, candidate, { cache_control: breakpoint })
      return
    }
  }
}

export interface BreakpointLimits {
  readonly maxBreakpoints: number
}

/** Over the cap the earliest go: the last breakpoints are the ones the next request reads from. */
export function limitBreakpoints(
  drafts: readonly Draft[],
  limits: BreakpointLimits,
  log: RepairLog,
): readonly Draft[] {
  const total = drafts.reduce(
    (sum, draft) =>
      sum + draft.blocks.reduce((breakpoints, block) => breakpoints + countBreakpoints(block), 0),
    0,
  )
  if (total === 0) return drafts
  let surplus = Math.max(0, total - limits.maxBreakpoints)
  let short = false
  return drafts.map((draft) => {
    const limited = (block: WireBlock): WireBlock => {
      if (block.cache_control === undefined || !hasBreakpoint(block)) return block
      const place = draftPlace(log, block, draft) || messagePath(draft)
      if (surplus > 0) {
        surplus -= 1
        note(
          log,
          'breakpoint-count',
          place,
          `a cache breakpoint above the ${limits.maxBreakpoints} allowed was taken away`,
        )
        return changed(log, block, { cache_control: undefined })
      }
      const breakpoint = legal(block.cache_control)
      if (breakpoint !== block.cache_control)
        note(log, 'breakpoint-shape', place, 'a cache breakpoint was rewritten')
      const late = short && breakpoint.ttl === '1h'
      if (late) note(log, 'breakpoint-order', place, 'a 1h breakpoint after a 5m breakpoint became 5m')
      short ||= breakpoint.ttl !== '1h'
      const next: CacheControl = late ? { type: 'ephemeral' } : breakpoint
      return next === block.cache_control ? block : changed(log, block, { cache_control: next })
    }
    return withBlocks(
      draft,
      draft.blocks.map((block) => limited(innerLimited(block, limited, log))),
    )
  })
}

/** Breakpoints inside a result count like any other, and stand before the result's own. */
function innerLimited(block: WireBlock, limited: (block: WireBlock) => WireBlock, log: RepairLog): WireBlock {
  const content = block['content']
  if (block.type !== 'tool_result' || !Array.isArray(content)) return block
  const next = content.map((inner: unknown) => (isBlock(inner) ? limited(inner) : inner))
  return sameItems(next, content) ? block : changed(log, block, { content: next })
}

function countBreakpoints(block: WireBlock): number {
  const content =
    block.type === 'tool_result' && Array.isArray(block['content']) ? block['content'].filter(isBlock) : []
  const inner = content.filter(hasBreakpoint).length
  return inner + (hasBreakpoint(block) ? 1 : 0)
}

function legal(breakpoint: CacheControl): CacheControl {
  const raw: unknown = breakpoint
  const ttl = isRecord(raw) ? raw['ttl'] : undefined
  const ttlFits = ttl === undefined || ttl === '5m' || ttl === '1h'
  if (
    isRecord(raw) &&
    raw['type'] === 'ephemeral' &&
    ttlFits &&
    Object.keys(raw).every((key) => key === 'type' || key === 'ttl')
  )
    return breakpoint
  return ttl === '1h' || ttl === '5m' ? { type: 'ephemeral', ttl } : { type: 'ephemeral' }
}
