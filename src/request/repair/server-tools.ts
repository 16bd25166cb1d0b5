// Tools that the provider runs itself: call and result stand in one assistant message, the call first. Their content
// is the provider's own and cannot be made up, so a half pair is left out.
import type { WireBlock } from '../../model/wire.ts'
import { isServerCall, isServerResult } from './blocks.ts'
import { note, draftPlace, withBlocks, type Draft, type Ledger } from './draft.ts'

/** `open`: the turn is paused and goes on from here, so that a call at its end may still be running. */
export function serverPairs(draft: Draft, open: boolean, ledger: Ledger): Draft {
  if (!draft.blocks.some((block) => isServerCall(block.type) || isServerResult(block.type))) return draft
  const kept = new Set<number>()
  const calls = new Map<string, number>()
  const answered = new Set<string>()
  draft.blocks.forEach((block, index) => {
    if (isServerCall(block.type)) {
      const id = block['id']
      if (typeof id === 'string' && !calls.has(id)) calls.set(id, index)
    } else if (isServerResult(block.type)) {
      const id = String(block['tool_use_id'])
      const call = calls.get(id)
      if (call === undefined || answered.has(id)) return
      answered.add(id)
      kept.add(call).add(index)
    } else kept.add(index)
  })
  if (open) for (const [id, index] of calls) if (!answered.has(id)) kept.add(index)
  const missing = draft.blocks.filter((_, index) => !kept.has(index))
  for (const block of missing) {
    note(
      ledger,
      'server-pair',
      draftPlace(ledger, block, draft),
      `${block.type} left out: its other half is missing`,
    )
  }
  return withBlocks(
    draft,
    draft.blocks.filter((_, index) => kept.has(index)),
  )
}

export const endsInServerResult = (blocks: readonly WireBlock[]): boolean =>
  isServerResult(blocks.at(-1)?.type ?? '')
