// The fields of one block, wherever it stands: none that the wire does not know, none missing that it demands.
import type { WireBlock } from '../../model/wire.ts'
import { isBlock, isRecord, knownKeys } from './blocks.ts'
import { changed, note, type Ledger } from './draft.ts'

/** The block with known keys alone; null when what makes it a block of its type is missing. */
export function fitting(
  block: WireBlock,
  place: string,
  extraKeys: readonly string[],
  ledger: Ledger,
): WireBlock | null {
  if (!isComplete(block)) {
    note(ledger, 'bad-block', place, `left out: a ${block.type} block without what it must hold`)
    return null
  }
  const known = knownKeys(block.type)
  const refused = Object.keys(block).filter((key) => known?.has(key) === false && !extraKeys.includes(key))
  if (refused.length === 0) return block
  note(ledger, 'extra-key', place, `left out: ${refused.join(', ')}`)
  return changed(ledger, block, Object.fromEntries(refused.map((key) => [key, undefined])))
}

function isComplete(block: WireBlock): boolean {
  switch (block.type) {
    case 'text':
      return typeof block['text'] === 'string'
    case 'image':
    case 'document':
      return isBlock(block['source'])
    case 'search_result':
      return (
        typeof block['source'] === 'string' &&
        typeof block['title'] === 'string' &&
        Array.isArray(block['content'])
      )
    case 'server_tool_use':
    case 'mcp_tool_use':
      return typeof block['id'] === 'string' && typeof block['name'] === 'string' && isRecord(block['input'])
    case 'compaction':
      return block['content'] !== ''
    default:
      return true
  }
}

/** A user's text, and what a search result quotes in it, may not carry citations. */
export function withoutCitations(block: WireBlock, place: string, ledger: Ledger): WireBlock {
  if (block.type === 'search_result' && Array.isArray(block['content'])) {
    const content: readonly unknown[] = block['content']
    const next = content.map((item) => (isBlock(item) ? withoutCitations(item, place, ledger) : item))
    return next.every((item, index) => item === content[index])
      ? block
      : changed(ledger, block, { content: next })
  }
  const citations = block['citations']
  if (block.type !== 'text' || !Array.isArray(citations) || citations.length === 0) return block
  note(ledger, 'user-citations', place, 'citations left out: a user message cannot carry them')
  return changed(ledger, block, { citations: undefined })
}
