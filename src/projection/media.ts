// The media of a view, each with the place that an edit can name and the reference that brings it back.
import type { StubEdit } from '../transcript/fact.ts'
import { base64Of, describeMedia, isMedia, mediaInfo } from '../transcript/media.ts'
import type { MediaBlock, MediaInfo } from '../transcript/media.ts'
import { expandCall } from '../transcript/markers.ts'
import { estimateBlock } from './tokens.ts'
import type { Part, View, ViewBlock } from './view.ts'

/** A block of an entry, or one of the media that a result holds. */
export type InnerRef = StubEdit['at']

export interface ShownMedia {
  /** Null where an edit shows it: no other can replace it there. */
  readonly at: InnerRef | null
  readonly block: MediaBlock
  readonly info: MediaInfo
  /** What it takes in a request, as base64. */
  readonly chars: number
  readonly part: Part
  /** It came after the last answer. */
  readonly isNew: boolean
  /** No request has carried it yet. */
  readonly isUnsent: boolean
}

/** Oldest first. */
export function mediaIn(view: View): readonly ShownMedia[] {
  const shown: ShownMedia[] = []
  const last = view.messages.last()
  for (const message of view.messages) {
    if (message.role !== 'user') continue
    const isNew = message === last
    for (const part of message.parts)
      for (const { block, at } of mediaOf(part)) {
        const info = mediaInfo(block)
        const chars = base64Of(block)?.length ?? Math.ceil((info.bytes ?? 0) / 3) * 4
        shown.push({ at, block, info, chars, part, isNew, isUnsent: part.from > (view.lastRequest ?? -1) })
      }
  }
  return shown
}

/** The media of one part, those inside results included. */
export function mediaOf(part: Part): readonly { readonly block: MediaBlock; readonly at: InnerRef | null }[] {
  return part.blocks.flatMap((block, index) => {
    const source = part.source[index]!
    const place = part.kind === 'edit' || source === -1 ? null : { seq: part.from, block: source }
    if (isMedia(block)) return [{ block, at: place }]
    return innerMedia(block).map(({ block: inner, place: at }) => ({
      block: inner,
      at: place === null ? null : { ...place, inner: at },
    }))
  })
}

function innerMedia(block: ViewBlock): readonly { readonly block: MediaBlock; readonly place: number }[] {
  if (block.type !== 'tool_result' || !('is_error' in block)) return []
  return block.content.flatMap((inner, index) =>
    isMedia(inner) ? [{ block: inner, place: block.places?.[index] ?? index }] : [],
  )
}

/** What `Expand` takes to bring one back. */
export const refOf = ({ seq, block, inner }: InnerRef): string => `${seq}.${inner ?? block ?? 0}`

/** One by kind, size and reference. */
export const mediaLine = (block: MediaBlock, at: InnerRef): string =>
  `${describeMedia(mediaInfo(block))}: ${expandCall(refOf(at))}`

/** The placeholder of one, with kind, size, reason and reference. */
export function mediaStub(at: InnerRef, block: MediaBlock, why: string): StubEdit {
  const ref = refOf(at)
  const text = `[${describeMedia(mediaInfo(block))}: ${why}. ${expandCall(ref)} returns it.]`
  return { kind: 'stub', at, text, ref }
}

/** Estimated tokens that a placeholder frees. */
export const freedByStub = (block: MediaBlock, { text }: StubEdit): number =>
  Math.max(0, estimateBlock(block) - estimateBlock({ type: 'text', text }))
