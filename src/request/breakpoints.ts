// Where cache breakpoints stand. At most four: last tool, static block, dynamic block, and exactly one in the
// messages, on the last block of the last message that can carry one, or where the caller says.
import type { CacheControl } from '../model/wire.ts'
import type { Seq } from '../transcript/ids.ts'
import type { Lifetime, Segment, Spot } from './segments.ts'
import type { SentMessage } from './serialize.ts'
import { withField } from './serialize.ts'

/** Where a breakpoint stands in the messages: an entry's part and one of its blocks as sent. */
export interface BreakpointPosition {
  readonly seq: Seq
  readonly block: number
}

export type BreakpointName = 'messages' | 'dynamic' | 'static' | 'tools'

/** One for each part of the prompt that is there. */
export function chooseBreakpoints(fixed: {
  readonly tools: readonly Segment[]
  readonly system: readonly Segment[]
}): readonly BreakpointName[] {
  const has = (side: 'static' | 'dynamic') => fixed.system.some((segment) => segment.name === side)
  const names: BreakpointName[] = ['messages']
  if (has('dynamic')) names.push('dynamic')
  if (has('static')) names.push('static')
  if (fixed.tools.length > 0) names.push('tools')
  return names
}

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

/** The cache breakpoint is written onto a block as this field. */
export function breakpointField(lifetime: Lifetime): string {
  const control: CacheControl = lifetime === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
  return `"cache_control":${JSON.stringify(control)}`
}

/** Segments as one JSON list, with the breakpoint on those named. */
export function listJson(
  segments: readonly Segment[],
  hasBreakpoint: (segment: Segment, index: number) => boolean,
  field: string,
): string {
  const items = segments.map((segment, index) =>
    hasBreakpoint(segment, index) ? withField(segment.json, field) : segment.json,
  )
  return `[${items.join(',')}]`
}
