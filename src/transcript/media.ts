// Pictures and documents: what they are, how large, and in words. Sizes are read from the head of the file; nothing is
// decoded, and nothing here needs more than a browser has.
import type { DocumentBlock, ImageBlock } from './content.ts'
import { defaults } from '../settings/defaults.ts'

export type MediaBlock = ImageBlock | DocumentBlock

/** What can be said of one without looking at what it shows. */
export interface MediaInfo {
  readonly kind: 'image' | 'document'
  /** png, jpeg, pdf …; as it calls itself where its bytes are not at hand. */
  readonly format: string
  /** Of the file; null where it is somewhere else (an address, a file of the provider). */
  readonly bytes: number | null
  readonly width: number | null
  readonly height: number | null
  /** Of a PDF; a guess by size where the file does not say. */
  readonly pages: number | null
}

/** A medium that is kept beside the session; `sha256` is of its bytes, which are there once however often it is shown. */
export interface KeptSource {
  readonly type: 'kept'
  readonly blob: string
  readonly sha256: string
  readonly media_type: string
  readonly bytes: number
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly pages?: number | undefined
}

export const isMedia = (block: { readonly type: string }): block is MediaBlock =>
  (block.type === 'image' || block.type === 'document') && 'source' in block

export const isKeptSource = (source: { readonly type: string }): source is KeptSource =>
  source.type === 'kept' && 'blob' in source && typeof source.blob === 'string'

/** The file as base64, where the block itself carries it. A document of plain text is text, not a file. */
export function base64Of({ source }: MediaBlock): string | null {
  return source.type === 'base64' && typeof source['data'] === 'string' ? source['data'] : null
}

/** What names the bytes of a medium: equal names, equal bytes; null where that cannot be told without reading them. */
export const keptAs = ({ source }: MediaBlock): string | null => (isKeptSource(source) ? source.sha256 : null)

export function mediaInfo(block: MediaBlock): MediaInfo {
  const { source } = block
  const kind = block.type
  const named = typeof source['media_type'] === 'string' ? source['media_type'] : ''
  if (isKeptSource(source)) {
    const { bytes, width = null, height = null, pages = null } = source
    return { kind, format: formatOf(named), bytes, width, height, pages }
  }
  const data = base64Of(block)
  if (data === null) {
    const text = source.type === 'text' && typeof source['data'] === 'string' ? source['data'] : null
    const bytes = text?.length ?? null
    return { kind, format: formatOf(named) || source.type, bytes, width: null, height: null, pages: null }
  }
  const bytes = Math.floor((data.length * 3) / 4)
  if (kind === 'document')
    return { kind, format: formatOf(named), bytes, width: null, height: null, pages: pagesOf(data, bytes) }
  const first = bytesOf(data.slice(0, firstChars))
  const head = imageFormat(first) === 'jpeg' ? bytesOf(data.slice(0, jpegChars)) : first
  const size = sizeOf(head)
  const format = imageFormat(head) ?? formatOf(named)
  return { kind, format, bytes, width: size?.width ?? null, height: size?.height ?? null, pages: null }
}

/** For a placeholder: "png image, 640×480, 12 KB". */
export function describeMedia({ kind, format, bytes, width, height, pages }: MediaInfo): string {
  const what = format === '' ? kind : `${format} ${kind}`
  const sides = width === null || height === null ? [] : [`${width}×${height}`]
  const long = pages === null ? [] : [pages === 1 ? '1 page' : `${pages} pages`]
  const size = bytes === null ? [] : [sizeText(bytes)]
  return [what, ...sides, ...long, ...size].join(', ')
}

const step = 1024
export function sizeText(bytes: number): string {
  if (bytes < step) return `${bytes} bytes`
  return bytes < step * step ? `${Math.round(bytes / step)} KB` : `${(bytes / step / step).toFixed(1)} MB`
}

/** Enough for every head but that of a jpeg, which has its size behind metadata; further than this is not looked. */
const firstChars = 64
const jpegChars = 262_144
/** Whatever is no type says nothing: it would be read out in a placeholder. */
const formatOf = (mediaType: string): string => /^(?:[a-z]+\/)?([\w.+-]{1,80})$/i.exec(mediaType)?.[1] ?? ''

function bytesOf(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64.slice(0, base64.length - (base64.length % 4))), (character) =>
      character.charCodeAt(0),
    )
  } catch {
    return new Uint8Array()
  }
}

const latin = (bytes: Uint8Array, from: number, to: number): string =>
  String.fromCharCode(...bytes.subarray(from, to))
const pngMagic = '\x89PNG'

/** What the bytes of a picture say it is. */
function imageFormat(head: Uint8Array): 'png' | 'jpeg' | 'gif' | 'webp' | null {
  if (latin(head, 0, 4) === pngMagic) return 'png'
  if (head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return 'jpeg'
  if (/^GIF8[79]a/.test(latin(head, 0, 6))) return 'gif'
  return latin(head, 0, 4) === 'RIFF' && latin(head, 8, 12) === 'WEBP' ? 'webp' : null
}

function sizeOf(head: Uint8Array): { readonly width: number; readonly height: number } | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  switch (imageFormat(head)) {
    case 'png':
      return head.length < 24 ? null : { width: view.getUint32(16), height: view.getUint32(20) }
    case 'gif':
      return head.length < 10 ? null : { width: view.getUint16(6, true), height: view.getUint16(8, true) }
    case 'jpeg':
      return jpegSize(view)
    case 'webp':
      return head.length < 30 ? null : webpSize(head, view)
    default:
      return null
  }
}

/** Walks the segments to the first start of a frame (C0–CF without the tables C4, C8, CC). */
function jpegSize(view: DataView): { readonly width: number; readonly height: number } | null {
  let at = 2
  while (at + 9 <= view.byteLength && view.getUint8(at) === 0xff) {
    const marker = view.getUint8(at + 1)
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
      return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) }
    at += 2 + view.getUint16(at + 2)
  }
  return null
}

function webpSize(
  head: Uint8Array,
  view: DataView,
): { readonly width: number; readonly height: number } | null {
  const uint24 = (at: number): number => view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000
  switch (latin(head, 12, 16)) {
    case 'VP8X':
      return { width: uint24(24) + 1, height: uint24(27) + 1 }
    case 'VP8L': {
      const bits = view.getUint32(21, true)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8 ':
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
    default:
      return null
  }
}

/** The pages a PDF names in the open; where they stand in compressed objects, what a file of this size usually has. */
function pagesOf(base64: string, bytes: number): number {
  let named = 0
  let counted = 0
  // In pieces with some overlap: a name may stand across the end of one.
  for (let at = 0; at < base64.length; at += pieceChars) {
    const piece = latinText(bytesOf(base64.slice(at, at + pieceChars + overlapChars)))
    const own = at + pieceChars >= base64.length ? Infinity : (pieceChars / 4) * 3
    for (const match of piece.matchAll(/\/Type\s*\/Page(?![a-zA-Z])/g)) if (match.index < own) named++
    for (const match of piece.matchAll(/\/Count\s+(\d+)/g)) counted = Math.max(counted, Number(match[1]))
  }
  return Math.max(named, Math.min(counted, mostPages)) || Math.ceil(bytes / defaults.media.bytesPerPage) || 1
}
const pieceChars = 256 * 1024
const overlapChars = 64
/** A count beyond is no count of pages. */
const mostPages = 100_000

const latinText = (bytes: Uint8Array): string => new TextDecoder('latin1').decode(bytes)
