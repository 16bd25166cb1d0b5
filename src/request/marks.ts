// Where cache marks stand. At most four: last tool, static block, dynamic block, and exactly one in the
// messages, on the last block of the last message that can carry one, or where the caller says.
import type { CacheControl } from '../model/wire.ts'
import type { Seq } from '../transcript/ids.ts'
import type { Lifetime, Segment, Spot } from './segments.ts'
import type { SentMessage } from './serialize.ts'
import { withField } from './serialize.ts'

/** A place in the messages: an entry's part and one of its blocks as sent. */
export interface MarkPlace {
  readonly seq: Seq
  readonly block: number
}

export type MarkName = 'messages' | 'dynamic' | 'static' | 'tools'

/** The messages first: without that mark nothing of the conversation is cached. Then the widest prefix. */
export function chooseMarks(
  fixed: { readonly tools: readonly Segment[]; readonly system: readonly Segment[] },
  limit: number,
): readonly MarkName[] {
  const has = (side: 'static' | 'dynamic') => fixed.system.some((segment) => segment.name === side)
  const wanted: MarkName[] = ['messages']
  if (has('dynamic')) wanted.push('dynamic')
  if (has('static')) wanted.push('static')
  if (fixed.tools.length > 0) wanted.push('tools')
  return wanted.slice(0, limit)
}

/** The last block that can carry a mark: of all, the one named, or of those up to an entry. */
export function spotOf(
  messages: readonly SentMessage[],
  wanted: MarkPlace | { readonly seq: Seq } | undefined,
): Spot | null {
  for (let message = messages.length - 1; message >= 0; message--) {
    const sent = messages[message]!
    for (let block = sent.blocks.length - 1; block >= 0; block--) {
      if (!sent.blocks[block]!.markable) continue
      if (wanted === undefined || isPlace(placeOf(sent, block), wanted)) return { message, block }
    }
  }
  // An edit or a rewind took the block away: what stands before it can still be read.
  return wanted !== undefined && 'block' in wanted ? spotOf(messages, { seq: wanted.seq }) : null
}

/** The place of a block in the transcript, so that a fork finds it again in a list of its own. */
export function placeOf({ blocks }: SentMessage, block: number): MarkPlace | null {
  const { part } = blocks[block]!
  if (part === null) return null
  return { seq: part.from, block: block - blocks.findIndex((other) => other.part === part) }
}

function isPlace(place: MarkPlace | null, wanted: MarkPlace | { readonly seq: Seq }): boolean {
  if (place === null) return false
  return 'block' in wanted
    ? place.seq === wanted.seq && place.block === wanted.block
    : place.seq <= wanted.seq
}

export function markField(lifetime: Lifetime): string {
  const control: CacheControl = lifetime === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
  return `"cache_control":${JSON.stringify(control)}`
}

/** Segments as one JSON list, with the mark on those named. */
export function listJson(
  segments: readonly Segment[],
  isMarked: (segment: Segment, index: number) => boolean,
  field: string,
): string {
  const items = segments.map((segment, index) =>
    isMarked(segment, index) ? withField(segment.json, field) : segment.json,
  )
  return `[${items.join(',')}]`
}
