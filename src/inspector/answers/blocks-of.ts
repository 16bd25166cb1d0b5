// The blocks of an entry as a person knows them, and a short name for each.
import { textIn, textsIn } from '../../transcript/content.ts'
import type { Entry } from '../../transcript/fact.ts'
import { partOf } from '../../projection/folding/part.ts'
import type { ViewBlock } from '../../projection/view.ts'

/** By their index in the entry's own content; a result is one block. */
export function blocksOf(entry: Entry): readonly ViewBlock[] {
  const { fact } = entry
  if (fact.type === 'tool-result') return partOf(entry)?.blocks ?? []
  if ('content' in fact) return fact.content
  return fact.type === 'memory-recall' ? [{ type: 'text', text: fact.text }] : []
}

export function textOf(block: ViewBlock): string {
  if (block.type === 'text' && 'text' in block) return block.text
  if (block.type === 'thinking' && 'thinking' in block) return block.thinking
  if (block.type === 'tool_result' && 'content' in block) return textsIn(block.content).join('\n')
  if (block.type === 'tool_use' && 'input' in block) return JSON.stringify(block.input, null, 2)
  return JSON.stringify(block, (key, value: unknown) => (key === 'data' ? '…' : value)) ?? ''
}

const labelChars = 80

export function labelOf({ fact }: Entry, block: ViewBlock): string {
  const text =
    block.type === 'tool_use' && 'name' in block ? `${block.name} ${argumentIn(block.input)}` : textOf(block)
  const source = fact.type === 'attachment' ? `${fact.kind} ` : ''
  return `${source}${text.replace(/\s+/gu, ' ').trim()}`.slice(0, labelChars).toWellFormed()
}

/** What a call is about: its first text. */
export function argumentIn(input: Readonly<Record<string, unknown>>): string {
  for (const value of Object.values(input)) if (typeof value === 'string') return value
  return ''
}

/** What was said last by a person. */
export const saidIn = ({ fact }: Entry): string =>
  fact.type === 'user-message' ? textIn(fact.content, ' ').replace(/\s+/gu, ' ').trim() : ''
