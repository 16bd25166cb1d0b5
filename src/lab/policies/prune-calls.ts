// Calls and their results leave the view as soon as they are not among the newest messages, whatever that does to the
// cache; what was said beside a call stays. A message is one answer, the results of one answer, or one input.
import type { Layer } from '../../projection/layer.ts'
import { estimateText } from '../../projection/tokens.ts'
import type { Part } from '../../projection/view.ts'
import type { Edit } from '../../transcript/fact.ts'
import { isCall, partsOf } from './parts.ts'
import { textIn } from '../../transcript/content.ts'

export const pruneCallsName = 'prune-calls'

export function pruneCalls({ keepMessages }: { readonly keepMessages: number }): Layer {
  return {
    name: pruneCallsName,
    decide: (view) => {
      const edits: Edit[] = []
      let gone = 0
      for (const { parts, text } of prunable(partsOf(view), keepMessages)) {
        const [from, to] = [parts[0]!.from, parts.at(-1)!.to]
        gone += parts.reduce((sum, part) => sum + part.estimate, 0) - estimateText(text)
        edits.push(
          text === ''
            ? { kind: 'drop', from, to }
            : { kind: 'summary', from, to, text, ref: `${from}-${to}`, keep: [] },
        )
      }
      if (edits.length === 0) return null
      const why = `calls before the last ${keepMessages} messages go`
      return { kind: 'edit', edits, why, tokensFreed: Math.max(1, Math.round(view.factor * gone)) }
    },
  }
}

interface Exchange {
  readonly parts: readonly Part[]
  /** What was said beside the calls. */
  readonly text: string
}

function prunable(parts: readonly Part[], keepMessages: number): readonly Exchange[] {
  const messages = messagesIn(parts)
  const newest = new Set(messages.slice(-keepMessages).flat().flatMap(callsOf))
  return messages.flatMap((message, index) => {
    const calls = message.flatMap(callsOf)
    if (message[0]!.kind !== 'answer' || calls.length === 0) return []
    if (calls.some((call) => newest.has(call))) return []
    const next = messages[index + 1] ?? []
    const answered = next[0]?.kind === 'result' ? next : []
    return [{ parts: [...message, ...answered], text: message.map(saidIn).join('\n').trim() }]
  })
}

function messagesIn(parts: readonly Part[]): readonly Part[][] {
  const messages: Part[][] = []
  for (const part of parts) {
    const before = messages.at(-1)?.[0]
    const goesOn =
      before !== undefined &&
      before.kind === part.kind &&
      (part.kind === 'result' || (part.kind === 'answer' && part.messageId === before.messageId))
    if (goesOn) messages.at(-1)!.push(part)
    else messages.push([part])
  }
  return messages
}

const callsOf = ({ blocks }: Part): readonly string[] =>
  blocks.flatMap((block) => (isCall(block) ? [block.id] : 'tool_use_id' in block ? [block.tool_use_id] : []))

const saidIn = ({ blocks }: Part): string => textIn(blocks)
