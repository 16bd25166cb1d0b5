// What a request holds, by where each block came from. Law: the rows are made of the request's own bytes, every block of it
// stands in exactly one row, and the tokens sum to the size that was given.
import { shared } from '../../lab/playing/timeline.ts'
import type { WireBlock, WireRequest, WireTool } from '../../model/wire.ts'
import { estimateBlock, estimateText, estimateTool } from '../../projection/tokens.ts'
import type { View, ViewBlock } from '../../projection/view.ts'
import type { ToolSpec } from '../../transcript/fact.ts'

export interface SourceRow {
  readonly source: string
  readonly blocks: number
  readonly tokens: number
}

interface Weight {
  blocks: number
  weight: number
}

/** By source, the largest first. */
export function breakdown(body: string, view: View, total: number): readonly SourceRow[] {
  const request = JSON.parse(body) as WireRequest
  const weights = new Map<string, Weight>()
  const add = (source: string, weight: number): void => {
    const row = weights.get(source) ?? { blocks: 0, weight: 0 }
    weights.set(source, { blocks: row.blocks + 1, weight: row.weight + weight })
  }
  addSystem(request, view, add)
  for (const tool of request.tools ?? []) add(`tool ${tool.name}`, estimateTool(specOf(tool)))
  const known = originsOf(view)
  for (const { role, content } of request.messages) {
    const blocks: readonly WireBlock[] =
      typeof content === 'string' ? [{ type: 'text', text: content }] : content
    for (const block of blocks) add(sourceOf(role, block, known), estimateBlock(unpacked(block)))
  }
  const sizes = shared(
    [...weights.values()].map(({ weight }) => weight),
    total,
  )
  return [...weights]
    .map(([source, { blocks }], at) => ({ source, blocks, tokens: sizes[at]! }))
    .toSorted((a, b) => b.tokens - a.tokens)
}

const specOf = ({ name, description = '', input_schema = {} }: WireTool): ToolSpec => ({
  name,
  description,
  input_schema,
})

/** A block as the view has it: a result whose content is one text travels as that text. */
function unpacked(block: WireBlock): ViewBlock {
  const { content } = block
  const isPacked = block.type === 'tool_result' && typeof content === 'string'
  return (isPacked ? { ...block, content: [{ type: 'text', text: content }] } : block) as ViewBlock
}

type Add = (source: string, weight: number) => void

function addSystem(request: WireRequest, view: View, add: Add): void {
  const { system } = request
  if (system === undefined) return
  if (typeof system === 'string') return add('system prompt', estimateText(system))
  const sides = (['static', 'dynamic'] as const).filter((side) =>
    view.sections.some((section) => section.side === side),
  )
  for (const [at, block] of system.entries())
    add(`system, ${sides[at] ?? 'more'} part`, estimateBlock(block as ViewBlock))
}

interface Origins {
  /** Texts in user messages that are not the user's own words. */
  readonly texts: ReadonlyMap<string, string>
  /** Results by call: of which tool, and which layer replaced them. */
  readonly results: ReadonlyMap<string, string>
  readonly tools: ReadonlyMap<string, string>
}

function originsOf(view: View): Origins {
  const texts = new Map<string, string>()
  const results = new Map<string, string>()
  const tools = new Map<string, string>()
  if (view.reminder !== null) texts.set(view.reminder, 'instruction files')
  for (const message of view.messages) {
    for (const part of message.parts) {
      const source =
        part.by !== null ? `edits by ${part.by}` : part.kind === 'injected' ? 'attachments' : null
      for (const block of part.blocks) {
        if (block.type === 'tool_use' && 'name' in block) tools.set(block.id, block.name)
        if (block.type === 'tool_result' && 'tool_use_id' in block)
          results.set(block.tool_use_id, source ?? `${part.tool ?? 'tool'} results`)
        if (block.type === 'text' && 'text' in block && source !== null) texts.set(block.text, source)
      }
    }
  }
  return { texts, results, tools }
}

/** What Snip names a message by; a block of its own. */
const tag = /^\[id:\w+\]$/

function sourceOf(role: string, block: WireBlock, known: Origins): string {
  const text = block.type === 'text' && typeof block['text'] === 'string' ? block['text'] : null
  if (text !== null && tag.test(text)) return 'message ids'
  if (text !== null && known.texts.has(text)) return known.texts.get(text)!
  if (block.type === 'tool_result') return known.results.get(String(block['tool_use_id'])) ?? 'tool results'
  if (block.type === 'thinking' || block.type === 'redacted_thinking') return 'reasoning'
  if (block.type === 'tool_use') return 'tool calls'
  if (role === 'assistant') return 'answers'
  return 'your messages'
}
