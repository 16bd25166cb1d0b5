// Where the table of read files says that a file is shown: the result of a call, or an attachment that a compaction gave
// back; and whether it still is.
import type { Fold } from '../../projection/fold.ts'

export const attachmentRef = (place: number): string => `attachment-${place}`

/** Whether the result of a call, or an attachment, stands in the view as it came, so that it can be pointed at. */
export function isShown(fold: Fold, ref: string): boolean {
  const [, place] = /^attachment-(\d+)$/.exec(ref) ?? []
  for (const part of fold.parts()) {
    if (part.by !== null) continue
    if (place !== undefined && part.from === Number(place)) return true
    if (part.kind !== 'result') continue
    const isHere = part.blocks.some(
      (block) =>
        block.type === 'tool_result' &&
        'is_error' in block &&
        block.tool_use_id === ref &&
        block.cleared === undefined,
    )
    if (isHere) return true
  }
  return false
}
