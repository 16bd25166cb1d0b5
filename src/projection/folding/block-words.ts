// What a block says as lines of text, so that an edit can name some of them and the view can show just those. The lines
// of a block never change: they are counted from what the entry holds, not from what stubs left of it.
import type { ViewBlock } from '../view.ts'

/** The words of a text or a result; of a call its name and every text it was given. */
export function blockWords(block: ViewBlock): string {
  if (block.type === 'tool_result' && 'is_error' in block)
    return block.content.map((inner) => (inner.type === 'text' ? inner.text : '')).join('\n')
  if (block.type === 'tool_use' && 'name' in block) return [block.name, ...stringsIn(block.input)].join('\n')
  return block.type === 'text' && 'text' in block ? block.text : ''
}

/** The texts in the input of a call, without the escapes that JSON would put into them. */
export function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(stringsIn)
}
