// A conversation told again for a direct call: text only, so that no call, result, image or signature of
// another request can make it invalid. Who said what stays in the roles; results are fenced, so that they cannot pass for
// the user's words. In rounds, so that the oldest can go, and in pieces, so that each fits a window. Pure.
import { defaults } from '../../settings/defaults.ts'
import { estimateText } from '../../projection/tokens.ts'
import type { Part, ViewBlock } from '../../projection/view.ts'
import type { Fact } from '../../transcript/fact.ts'
import { fenced } from '../../transcript/fence.ts'

export interface Line {
  readonly role: 'user' | 'assistant'
  readonly text: string
  readonly tokens: number
}
/** A user input with the response that follows it, or a further response of the same turn. */
export type Round = readonly Line[]

/** Told with no block longer than this many tokens. Attachments that are given back anyway are left out. */
export function roundsOf(parts: readonly Part[], blockTokens: number, factor: number): readonly Round[] {
  const rounds: Line[][] = []
  let before: Part['kind'] | null = null
  for (const part of parts) {
    if (part.attachment?.restored === true) continue
    const text = part.blocks
      .map((block) => cut(blockText(block, part), blockTokens))
      .join('\n')
      .trim()
    const isAnswer = part.kind === 'answer'
    const begins = isAnswer
      ? before === 'result'
      : part.kind !== 'result' && before !== null && isSpoken(before)
    if (rounds.length === 0 || begins) rounds.push([])
    before = part.kind
    if (text === '') continue
    const tokens = Math.ceil(factor * estimateText(text))
    rounds.at(-1)!.push({ role: part.role, text, tokens })
  }
  return rounds.filter((round) => round.length > 0)
}

const isSpoken = (kind: Part['kind']): boolean => kind === 'answer' || kind === 'result'

function blockText(block: ViewBlock, part: Part): string {
  if (block.type === 'tool_result' && 'is_error' in block) {
    const inner = block.content.map((one) => (one.type === 'text' ? one.text : `[${one.type}]`)).join('\n')
    const failed = block.is_error ? 'yes' : undefined
    return fenced('tool-result', { tool: part.tool ?? 'a tool', failed }, inner)
  }
  if (block.type === 'tool_use' && 'input' in block)
    return `[called ${block.name} with ${JSON.stringify(block.input)}]`
  if ('text' in block && typeof block.text === 'string') return block.text
  return block.type === 'image' || block.type === 'document' ? `[${block.type}]` : ''
}

function cut(text: string, tokens: number): string {
  const most = Math.floor(tokens * defaults.summary.charsPerToken)
  if (text.length <= most || estimateText(text) <= tokens) return text
  const end = Math.floor(most / 2)
  return `${text.slice(0, end)}\n[… ${text.length - 2 * end} characters left out …]\n${text.slice(-end)}`.toWellFormed()
}

/** Pieces of so many tokens each, cut between rounds, inside one only where it alone is too long. */
export function piecesOf(rounds: readonly Round[], tokens: number): readonly (readonly Round[])[] {
  const pieces: Round[][] = [[]]
  let taken = 0
  const add = (round: Round): void => {
    const size = tokensOf(round)
    if (taken > 0 && taken + size > tokens) {
      pieces.push([])
      taken = 0
    }
    pieces.at(-1)!.push(round)
    taken += size
  }
  for (const round of rounds) {
    if (tokensOf(round) <= tokens) add(round)
    else for (const line of round) add([line])
  }
  return pieces.filter((piece) => piece.length > 0)
}

const tokensOf = (round: Round): number => round.reduce((sum, line) => sum + line.tokens, 0)

/** Without the oldest rounds, so that `gap` tokens are saved, or a share of the rounds where nobody named a gap. */
export function withoutOldest(rounds: readonly Round[], gap: number | null): readonly Round[] {
  if (gap === null || gap <= 0)
    return rounds.slice(Math.max(1, Math.ceil(rounds.length * defaults.summary.dropShare)))
  let saved = 0
  let at = 0
  while (at < rounds.length && saved < gap) saved += tokensOf(rounds[at++]!)
  return rounds.slice(at)
}

const leftOutMark =
  '[The oldest part of this conversation is left out here: even the request for a summary was too long.]'

/** The rounds as facts of a conversation of its own, after what earlier pieces came to. It begins with a user message. */
export function conversationText(
  rounds: readonly Round[],
  earlier: string | null,
  isShortened: boolean,
): readonly Fact[] {
  const lines = rounds.flat()
  const head = [
    ...(earlier === null
      ? []
      : [
          fenced(
            'earlier-summary',
            {},
            `A summary of the earlier part of this conversation, which continues below.\n${earlier}`,
          ),
        ]),
    ...(isShortened || (earlier === null && lines[0]?.role === 'assistant') ? [leftOutMark] : []),
  ]
  return [
    ...head.map(injected),
    ...lines.map((line, index) =>
      line.role === 'assistant' ? answered(line.text, index) : injected(line.text),
    ),
  ]
}

const injected = (text: string): Fact => ({
  type: 'user-message',
  content: [{ type: 'text', text }],
  origin: 'injected',
})
const answered = (text: string, index: number): Fact => ({
  type: 'assistant-message',
  content: [{ type: 'text', text }],
  messageId: `told-${index}`,
  stop: 'end_turn',
  model: 'told',
})
