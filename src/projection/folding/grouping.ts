// From parts to messages: neighbours of one role are one message, and in a user message tool results come first.
import type { Message, Part, ViewBlock } from '../view.ts'

export function messageOf(parts: readonly Part[]): Message {
  const first = parts[0]!
  let estimate = 0
  for (const part of parts) estimate += part.estimate - part.clearedEstimate
  return {
    role: first.role,
    parts,
    content: contentOf(parts),
    from: first.from,
    to: parts.at(-1)!.to,
    estimate,
  }
}

export function messagesOf(parts: readonly Part[]): Message[] {
  const messages: Message[] = []
  let run: Part[] = []
  for (const part of parts) {
    if (run.length > 0 && run[0]!.role !== part.role) {
      messages.push(messageOf(run))
      run = []
    }
    run.push(part)
  }
  if (run.length > 0) messages.push(messageOf(run))
  return messages
}

function contentOf(parts: readonly Part[]): readonly ViewBlock[] {
  if (parts.length === 1) return parts[0]!.blocks
  const results: ViewBlock[] = []
  const others: ViewBlock[] = []
  for (const part of parts) (part.kind === 'result' ? results : others).push(...part.blocks)
  return [...results, ...others]
}
