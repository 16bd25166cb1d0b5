// Gives back what a stub or a summary stands for. A ref is a place (`12`), a block of it (`12.0`), a range (`12-40`)
// or the name of a kept output; what is given back is bounded by the caller's limit.
import type { OrWhy } from '../disk/failure.ts'
import { createHash } from 'node:crypto'
import { defaults } from '../settings/defaults.ts'
import { headOf } from '../tools/outcome.ts'
import type { UserBlock } from '../transcript/content.ts'
import { defusedMark } from '../transcript/fence.ts'
import { isKnown, type Entry, type Fact, type FactOf } from '../transcript/fact.ts'
import { seq, unbounded, type SessionId } from '../transcript/ids.ts'
import { readLine, readLineBack } from '../transcript/lineage.ts'
import { expandCall } from '../transcript/markers.ts'
import { describeMedia, isKeptSource, isMedia, mediaInfo, type MediaBlock } from '../transcript/media.ts'
import type { Slice } from './core.ts'
import { hashInName, readKept } from './media/keeping.ts'

export type Expanded = OrWhy<{
  readonly text: string
  readonly total: number
  /** Where the ref names a picture or a document: itself. */
  readonly media?: MediaBlock | undefined
}>

export async function expand(
  core: Slice<'links' | 'options'>,
  ref: string,
  offset: number,
  limit: number,
): Promise<Expanded> {
  const place = /^(\d+)(?:\.(\d+)|-(\d+))?$/.exec(ref.trim())
  if (place === null) return blobPart(core, ref.trim(), offset, limit, await spillOf(core, ref.trim()))
  const from = Number(place[1])
  const block = place[2] === undefined ? null : Number(place[2])
  const to = place[3] === undefined ? from : Number(place[3])
  let text = ''
  let total = 0
  for await (const item of readLine(core.options.store, core.links, { from: seq(from), to: seq(to) })) {
    if (item.kind === 'failed') return { ok: false, why: item.failure.message }
    if (item.kind !== 'entry' || !isKnown(item.entry)) continue
    const spill =
      block === null && from === to && item.entry.fact.type === 'tool-result'
        ? item.entry.fact.spill
        : undefined
    if (spill !== undefined) return blobPart(core, spill.blob, offset, limit, spill)
    const media = block === null ? null : mediaAt(item.entry.fact, block)
    if (media !== null) return expandedMedia(core, ref, media)
    const more = shown(item.entry, block)
    total += more.length
    // A range may be the whole session: only what is asked for is held.
    if (text.length < offset + limit) text += more
  }
  if (total === 0) return { ok: false, why: 'not found' }
  return { ok: true, text: headOf(text.slice(offset), limit).toWellFormed(), total }
}

export type Spill = NonNullable<FactOf<'tool-result'>['spill']>

/** What the transcript says of a kept output, by its name; null for what is kept without a result of its own. */
async function spillOf(core: Slice<'links' | 'options'>, blob: string): Promise<Spill | null> {
  for await (const item of readLineBack(core.options.store, core.links, unbounded)) {
    const fact = item.kind === 'entry' && isKnown(item.entry) ? item.entry.fact : null
    if (fact?.type === 'tool-result' && fact.spill?.blob === blob) return fact.spill
  }
  return null
}

/** The whole of a kept output, compared with its hash. */
export const expandSpill = (core: Slice<'links' | 'options'>, spill: Spill): Promise<Expanded> =>
  blobPart(core, spill.blob, 0, Infinity, spill)

/** A page of a kept output, counted in characters like every page. */
async function blobPart(
  core: Slice<'links' | 'options'>,
  blob: string,
  offset: number,
  limit: number,
  kept: Spill | null,
): Promise<Expanded> {
  for (const link of [...core.links].reverse()) {
    const found = await pageOf(core, link.session, blob, { offset, limit }, kept)
    if (found !== null) return found
  }
  return {
    ok: false,
    why: `there is no entry and no kept output ${blob}; a ref looks like 12, 12.0 or 12-40`,
  }
}

/** Where a character stands follows only from all that come before it: the output is read through, a piece at a time. */
async function pageOf(
  core: Slice<'options'>,
  session: SessionId,
  blob: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
  kept: Spill | null,
): Promise<Expanded | null> {
  const hash = createHash('sha256')
  let bytes = 0
  const decoder = new TextDecoder()
  let text = ''
  let total = 0
  for (let at = 0, end = 1; at < end;) {
    const part = { offset: at, length: defaults.store.blockBytes }
    const found = await core.options.store.getBlob(session, blob, part)
    if (!found.ok) return at === 0 ? null : { ok: false, why: found.failure.message }
    at += found.bytes.byteLength
    end = found.bytes.byteLength === 0 ? 0 : found.total
    hash.update(found.bytes)
    bytes += found.bytes.byteLength
    const more = decoder.decode(found.bytes, { stream: at < end })
    const from = Math.max(0, offset - total)
    // One more than asked for shows whether the last one is whole.
    if (text.length <= limit) text += more.slice(from, from + limit + 1 - text.length)
    total += more.length
  }
  if (!hash.digest('hex').startsWith(kept?.sha256 ?? hashInName(blob))) {
    const how = kept === null || bytes >= kept.bytes ? 'changed' : 'cut'
    const size = kept === null ? `${bytes} bytes` : `${bytes} of ${kept.bytes} bytes`
    const why = `the kept output ${blob} is not what was written: it was ${how} since (${size}). Make it again if it is needed.`
    return { ok: false, why }
  }
  return { ok: true, text: headOf(text, limit).toWellFormed(), total }
}

function mediaAt(fact: Fact, block: number): MediaBlock | null {
  if (fact.type !== 'user-message' && fact.type !== 'tool-result' && fact.type !== 'attachment') return null
  const found = fact.content[block]
  return found !== undefined && isMedia(found) ? found : null
}

/** With its bytes: what the result holds is kept under the same name again, and lies there once. */
async function expandedMedia(
  core: Slice<'links' | 'options'>,
  ref: string,
  media: MediaBlock,
): Promise<Expanded> {
  const what = describeMedia(mediaInfo(media))
  const { source } = media
  const text = `[${ref}: ${what}]`
  if (!isKeptSource(source)) return { ok: true, text, total: text.length, media }
  const data = await readKept([core], source)
  if (data === null) return { ok: false, why: `the file of the ${what} is gone or was changed since` }
  const inline = { ...media, source: { type: 'base64', media_type: source.media_type, data } }
  return { ok: true, text, total: text.length, media: inline }
}

function shown(entry: Entry, block: number | null): string {
  const said = contentOf(entry)
  if (said === null) return ''
  const blocks = block === null ? said.blocks : said.blocks.slice(block, block + 1)
  return `[${entry.seq}, ${said.who}]\n${withoutHeads(blocks.join('\n'))}\n\n`
}

/** What stands in an entry cannot pass for the head of another. */
const withoutHeads = (text: string): string => text.replaceAll(/^\[(?=\d+, [a-z])/gmu, defusedMark)

function contentOf(entry: Entry): { readonly who: string; readonly blocks: readonly string[] } | null {
  const { fact } = entry
  switch (fact.type) {
    case 'user-message':
      return { who: 'user', blocks: fact.content.map(textFor(entry)) }
    case 'attachment':
      return { who: 'attachment', blocks: fact.content.map(textFor(entry)) }
    case 'tool-result':
      return { who: 'tool result', blocks: fact.content.map(textFor(entry)) }
    case 'fork-end':
      return { who: `result of ${fact.purpose} ${fact.child}`, blocks: [fact.text] }
    case 'assistant-message':
      return {
        who: 'assistant',
        blocks: fact.content.map((block) => {
          if ('text' in block) return block.text
          if ('name' in block) return `${block.name} ${JSON.stringify(block.input)}`
          return `[${block.type}]`
        }),
      }
    default:
      return null
  }
}

const textFor =
  ({ seq: place }: Entry) =>
  (block: UserBlock, index: number): string =>
    block.type === 'text'
      ? block.text
      : `[${describeMedia(mediaInfo(block))}; ${expandCall(`${place}.${index}`)} shows it]`
