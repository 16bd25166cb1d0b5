// Media and texts that are too long for a line of the transcript are kept beside the session, under the hash of their bytes:
// the same picture is there once. Where it cannot be kept it stays in the fact, and the store says whether that fits.
import { createHash } from 'node:crypto'
import { defaults } from '../../settings/defaults.ts'
import type { UserBlock } from '../../transcript/content.ts'
import type { Fact } from '../../transcript/fact.ts'
import { base64Of, isKeptSource, isMedia, mediaInfo } from '../../transcript/media.ts'
import type { KeptSource, MediaBlock } from '../../transcript/media.ts'
import type { Link } from '../../transcript/lineage.ts'
import type { Lease, Store } from '../../transcript/store.ts'
import type { View } from '../../projection/view.ts'
import { mediaIn } from '../../projection/media.ts'
import { previewOf } from '../../tools/outcome.ts'

interface Keeping {
  readonly options: { readonly store: Store }
  readonly transcript: { readonly lease: Lease }
}

/** The facts, with what is long in them kept beside the session. */
export async function withKept(core: Keeping, facts: readonly Fact[]): Promise<readonly Fact[]> {
  if (!facts.some(hasLong)) return facts
  const kept: Fact[] = []
  for (const fact of facts)
    kept.push(
      hasContent(fact) && hasLong(fact) ? { ...fact, content: await contentOf(core, fact.content) } : fact,
    )
  return kept
}

type WithContent = Extract<Fact, { readonly content: readonly UserBlock[] }>

const hasContent = (fact: Fact): fact is WithContent =>
  fact.type === 'user-message' ||
  fact.type === 'input-queued' ||
  fact.type === 'tool-result' ||
  fact.type === 'attachment'
const hasLong = (fact: Fact): boolean => hasContent(fact) && fact.content.some(isLong)

function isLong(block: UserBlock): boolean {
  if (block.type === 'text') return block.text.length > defaults.media.textChars
  return (base64Of(block)?.length ?? 0) > defaults.media.inlineChars
}

async function contentOf(core: Keeping, content: readonly UserBlock[]): Promise<readonly UserBlock[]> {
  const kept: UserBlock[] = []
  for (const block of content)
    kept.push(
      !isLong(block) ? block : isMedia(block) ? await keptMedia(core, block) : await keptText(core, block),
    )
  return kept
}

async function keptMedia(core: Keeping, block: MediaBlock): Promise<UserBlock> {
  const data = base64Of(block)!
  const bytes = Buffer.from(data, 'base64')
  // What would not come back byte for byte stays as it is.
  if (bytes.toString('base64') !== data) return block
  const put = await core.options.store.putBlob(core.transcript.lease, `media-${hashOf(bytes)}`, bytes)
  if (!put.ok) return block
  const { width, height, pages } = mediaInfo(block)
  const named = block.source['media_type']
  const source: KeptSource = {
    type: 'kept',
    blob: put.blob,
    sha256: put.sha256,
    media_type: typeof named === 'string' ? named : '',
    bytes: put.bytes,
    ...(width === null ? {} : { width }),
    ...(height === null ? {} : { height }),
    ...(pages === null ? {} : { pages }),
  }
  return { ...block, source: { ...source } }
}

async function keptText(core: Keeping, block: UserBlock): Promise<UserBlock> {
  if (block.type !== 'text') return block
  const bytes = new TextEncoder().encode(block.text)
  const put = await core.options.store.putBlob(core.transcript.lease, `text-${hashOf(bytes)}`, bytes)
  if (!put.ok) return block
  const { blob, path = blob } = put
  return { type: 'text', text: previewOf(block.text, { bytes: put.bytes, path, ref: blob }) }
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex').slice(0, 32)

/** How the hash of a text begins that was kept under this name; nothing for other names. */
export const hashInName = (blob: string): string => /^text-([0-9a-f]{32})$/.exec(blob)?.[1] ?? ''

// ---- and back ----

/** The base64 of what is kept, for those that a view shows; null for what cannot be read. Shared by a session and its forks. */
export type LoadedMedia = Map<string, string | null>

interface Place {
  readonly options: { readonly store: Store }
  readonly links: readonly Link[]
}

interface Loading extends Place {
  readonly payers: readonly Place[]
  readonly requests: { readonly media: LoadedMedia }
  readonly role: { readonly compacts: string }
}

/** Reads what the view shows and nobody has read yet. */
export async function loadMedia(core: Loading, view: View): Promise<void> {
  const { media } = core.requests
  const wanted = new Map<string, KeptSource>()
  for (const { block } of mediaIn(view))
    if (isKeptSource(block.source)) wanted.set(block.source.blob, block.source)
  const places = [core, ...core.payers]
  // A fork may have let go of some meanwhile, so it is looked again until all are there at once.
  for (;;) {
    const missing = [...wanted.values()].filter(({ blob }) => !media.has(blob))
    if (missing.length === 0) break
    for (const kept of missing) media.set(kept.blob, await readKept(places, kept))
  }
  if (core.role.compacts === 'all') for (const blob of media.keys()) if (!wanted.has(blob)) media.delete(blob)
}

/** What was changed or cut since is not what was shown: it is not there, rather than another picture in its place. */
export async function readKept(
  places: readonly Place[],
  { blob, sha256 }: KeptSource,
): Promise<string | null> {
  for (const { options, links } of places)
    for (const { session } of links.toReversed()) {
      const found = await options.store.getBlob(session, blob)
      if (found.ok && createHash('sha256').update(found.bytes).digest('hex') === sha256)
        return Buffer.from(found.bytes).toString('base64')
    }
  return null
}
