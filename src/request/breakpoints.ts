// Where a cache breakpoint stands in the messages: exactly one, on the last block of the last message that can carry one,
// or where the caller says. A wire without breakpoints has the place all the same: what it caches ends there.
import type { Seq } from '../transcript/ids.ts'
import type { SentBlock, SentMessage, Spot } from './segments.ts'

/** Where a breakpoint stands in the messages: an entry's part and one of its blocks as sent. */
export interface BreakpointPosition {
  readonly seq: Seq
  readonly block: number
}

export type BreakpointName = 'messages' | 'dynamic' | 'static' | 'tools'

/** The last block that can carry a breakpoint: of all, the one named, or of those up to an entry. */
export function spotOf(
  messages: readonly SentMessage[],
  wanted: BreakpointPosition | { readonly seq: Seq } | undefined,
): Spot | null {
  for (let message = messages.length - 1; message >= 0; message--) {
    const sent = messages[message]!
    for (let block = sent.blocks.length - 1; block >= 0; block--) {
      if (!sent.blocks[block]!.takesBreakpoint) continue
      if (wanted === undefined || isPosition(positionOf(sent, block), wanted)) return { message, block }
    }
  }
  // An edit or a rewind took the block away: what stands before it can still be read.
  return wanted !== undefined && 'block' in wanted ? spotOf(messages, { seq: wanted.seq }) : null
}

/** Where a block stands in the transcript, so that a fork finds it again in a list of its own. */
export function positionOf({ blocks }: SentMessage, block: number): BreakpointPosition | null {
  const { part } = blocks[block]!
  if (part === null) return null
  return { seq: part.from, block: block - blocks.findIndex((other) => other.part === part) }
}

function isPosition(
  position: BreakpointPosition | null,
  wanted: BreakpointPosition | { readonly seq: Seq },
): boolean {
  if (position === null) return false
  return 'block' in wanted
    ? position.seq === wanted.seq && position.block === wanted.block
    : position.seq <= wanted.seq
}

/**
 * The last block of a user before the first summary in the list: it was cached before the boundary came and stays so. Null
 * where no summary stands in the list; without a spot where none of the messages stands before it.
 */
export function boundaryIn(messages: readonly SentMessage[]): { readonly spot: Spot | null } | null {
  const at = messages.findIndex(({ blocks }) => blocks.some(isSummary))
  if (at === -1) return null
  for (let message = at; message >= 0; message--) {
    const { role, blocks } = messages[message]!
    if (role !== 'user') continue
    const end = message === at ? blocks.findIndex(isSummary) : blocks.length
    const block = blocks.slice(0, end).findLastIndex(({ of }) => of?.type !== 'tool_result')
    if (block >= 0) return { spot: { message, block } }
  }
  return { spot: null }
}

const isSummary = ({ part }: SentBlock): boolean => part?.kind === 'edit'
