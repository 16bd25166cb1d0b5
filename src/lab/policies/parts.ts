// What the policies read of a view.
import { deedOf, fileOf } from '../../compaction/files.ts'
import type { ToolUseBlock } from '../../transcript/content.ts'
import type { Part, View, ViewBlock } from '../../projection/view.ts'

export const partsOf = (view: View): readonly Part[] => [...view.messages].flatMap((message) => message.parts)

/** The words of a result. */
export function resultText({ blocks }: Part): string {
  const [block] = blocks
  const words = block !== undefined && 'is_error' in block ? block.content : []
  return words.map((inner) => (inner.type === 'text' ? inner.text : '')).join('\n')
}

export const isCall = (block: ViewBlock): block is ToolUseBlock =>
  block.type === 'tool_use' && 'name' in block

/** The file that a call of a reading tool names, and whether it is read whole; null for every other call. */
function readBy(block: ViewBlock): { readonly path: string; readonly isWhole: boolean } | null {
  if (!isCall(block) || deedOf(block) !== 'read') return null
  const { input } = block
  const path = fileOf(block)
  if (path === null) return null
  return { path, isWhole: ['offset', 'limit', 'view_range'].every((field) => input[field] === undefined) }
}

/** Results by what their call read, oldest first. */
export function readsIn(
  parts: readonly Part[],
): readonly { readonly part: Part; readonly path: string; readonly isWhole: boolean }[] {
  const calls = new Map<string, NonNullable<ReturnType<typeof readBy>>>()
  return parts.flatMap((part) => {
    for (const block of part.kind === 'answer' ? part.blocks : []) {
      const read = readBy(block)
      if (read !== null && isCall(block)) calls.set(block.id, read)
    }
    const [result] = part.blocks
    if (part.kind !== 'result' || result === undefined || !('tool_use_id' in result)) return []
    const read = calls.get(result.tool_use_id)
    return read === undefined || part.isError === true ? [] : [{ part, ...read }]
  })
}
