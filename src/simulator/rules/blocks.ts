// A request as one flat list of blocks with their paths. String content is one text block, and neighbours
// of the same role are one turn, since the server merges them (rule 10).
import type { WireBlock, WireMessage, WireRequest } from '../../model/wire.ts'

export interface PlacedBlock {
  readonly role: WireMessage['role']
  readonly block: WireBlock
  readonly message: number
  readonly path: string
}

export interface Turn {
  readonly role: WireMessage['role']
  /** Index of its first message. */
  readonly message: number
  readonly blocks: readonly PlacedBlock[]
}

export function messageBlocks(message: WireMessage): readonly WireBlock[] {
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
}

export const placedBlocks = (request: WireRequest): readonly PlacedBlock[] =>
  turnsOf(request).flatMap((turn) => turn.blocks)

export function turnsOf(request: WireRequest): readonly Turn[] {
  const turns: { role: WireMessage['role']; message: number; blocks: PlacedBlock[] }[] = []
  for (const [message, each] of request.messages.entries()) {
    const { role } = each
    if (turns.at(-1)?.role !== role) turns.push({ role, message, blocks: [] })
    for (const [position, block] of messageBlocks(each).entries())
      turns.at(-1)?.blocks.push({ role, block, message, path: `messages.${message}.content.${position}` })
  }
  return turns
}

/** A user speaks anew: a message of results alone goes on with a turn. */
export const isAsk = (message: WireMessage): boolean =>
  message.role === 'user' && !messageBlocks(message).some((block) => block.type === 'tool_result')

/** Whether any block of the messages is such a one, those inside results included. */
export const hasBlock = (request: WireRequest, isOne: (block: WireBlock) => boolean): boolean =>
  placedBlocks(request).some(({ block }) => isOne(block) || innerBlocks(block).some(isOne))

/** Blocks inside a tool result, or none. */
export function innerBlocks(block: WireBlock): readonly WireBlock[] {
  const content = block.type === 'tool_result' ? block['content'] : undefined
  return Array.isArray(content) ? (content as readonly WireBlock[]) : []
}

export function isThinking(block: WireBlock): boolean {
  return block.type === 'thinking' || block.type === 'redacted_thinking'
}

export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
