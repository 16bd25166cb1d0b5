// What of a session cannot travel to another wire or model: it stays in the transcript and is left out of requests. Words, calls,
// results, images and documents always travel.
import type { Part, View, ViewBlock } from '../projection/view.ts'
import { estimateBlocks } from '../projection/tokens.ts'
import type { WireName } from '../model/model.ts'
import { isItem, isReasoning } from '../transcript/content.ts'

/** Blocks of one maker and kind that are left out, with what they weigh. */
export interface LeftBehind {
  /** reasoning: thoughts, open or sealed · signature: what proves a call to its maker · server: calls the provider ran itself. */
  readonly what: 'reasoning' | 'signature' | 'server'
  readonly model: string
  readonly count: number
  readonly tokens: number
}

export interface SwitchTarget {
  readonly wire: WireName
  readonly model: string
}

/** What a request to this wire and model leaves out of a view, by kind and maker. */
export function leftBehind(view: View, target: SwitchTarget): readonly LeftBehind[] {
  const found = new Map<string, LeftBehind>()
  for (const message of view.messages.slice(0)) {
    if (message.role !== 'assistant') continue
    for (const part of message.parts)
      for (const block of part.blocks) {
        const what = lossOf(block, part, target)
        if (what === null) continue
        const model = part.model ?? 'unknown'
        const sofar = found.get(`${what} ${model}`) ?? { what, model, count: 0, tokens: 0 }
        const tokens = sofar.tokens + (what === 'signature' ? 0 : estimateBlocks([block]))
        found.set(`${what} ${model}`, { ...sofar, count: sofar.count + 1, tokens })
      }
  }
  return [...found.values()]
}

function lossOf(block: ViewBlock, part: Part, { wire, model }: SwitchTarget): LeftBehind['what'] | null {
  const isOther = part.model !== model
  if (isItem(block)) return isOther || block.wire !== wire ? 'reasoning' : null
  if (isReasoning(block)) return isOther || wire !== 'anthropic' ? 'reasoning' : null
  if ('sidecar' in block && block.sidecar?.raw !== undefined)
    return isOther || block.sidecar.wire !== wire ? 'signature' : null
  const isPlain = block.type === 'text' || block.type === 'tool_use' || block.type === 'compaction'
  return part.role === 'assistant' && !isPlain && wire !== 'anthropic' ? 'server' : null
}

const words: Readonly<Record<LeftBehind['what'], string>> = {
  reasoning: 'thought',
  signature: 'signature',
  server: 'block of a tool that the provider ran',
}

/** The same in a sentence; null where everything travels. */
export function leftBehindText(left: readonly LeftBehind[]): string | null {
  if (left.length === 0) return null
  const parts = left.map(({ what, model, count, tokens }) => {
    const size = tokens === 0 ? '' : ` (about ${tokens} tokens)`
    return `${count} ${words[what]}${count === 1 ? '' : 's'} of ${model}${size}`
  })
  return `left out, since only their maker can read them: ${parts.join(', ')}. They stay in the transcript.`
}
