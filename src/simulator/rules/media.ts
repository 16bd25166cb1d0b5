// Rules 19 and 20, and how large an image or a document is: sides and pages are read from the file, nothing is decoded.
// A file that was cut is told by its end.
import type { WireBlock, WireError, WireRequest } from '../../model/wire.ts'
import type { SimulatedModel } from '../models.ts'
import { innerBlocks, placedBlocks } from './blocks.ts'
import { invalid } from './problem.ts'
import { isRecord } from './shape.ts'

const MAX_IMAGE_BYTES = 5_242_880
const MAX_SIDE = 8000
const MANY_IMAGES = 20
const MAX_SIDE_OF_MANY = 2000
const MAX_IMAGES = 600
const MAX_IMAGES_SMALL_WINDOW = 100
const SMALL_WINDOW = 200_000
/** A jpeg keeps its size behind metadata; further than this we do not look. */
const HEADER_BASE64_CHARS = 262_144

export interface ImageSize {
  readonly width: number
  readonly height: number
}

interface Placed {
  readonly block: WireBlock
  readonly path: string
}

export function checkMedia(request: WireRequest, model: SimulatedModel): WireError | null {
  const images = placedOf(request, 'image', 'image')
  const most = model.window > SMALL_WINDOW ? MAX_IMAGES : MAX_IMAGES_SMALL_WINDOW
  let pages = 0
  for (const { block, path } of placedOf(request, 'document', 'pdf')) {
    const data = base64Data(block)
    if (data === null) continue
    const own = documentPages(data)
    if (own === null) return invalid(`${path}.source.base64.data: The PDF specified was not valid.`)
    if (own > most)
      return invalid(`${path}.source.base64.data: A maximum of ${most} PDF pages may be provided.`)
    pages += own
  }
  if (images.length + pages > most) {
    return invalid(`messages: Too much media: ${pages} document pages + ${images.length} images > ${most}`)
  }
  const many = images.length > MANY_IMAGES
  for (const { block, path } of images) {
    const wrong = imageFault(block, many)
    if (wrong !== null) return invalid(`${path}.source.base64${wrong}`)
  }
  // The provider says no more than this.
  return images.some(({ block }) => isCut(block)) ? invalid('Could not process image') : null
}

/** Blocks of a type with the paths that errors name them by, those inside results included. */
function placedOf(request: WireRequest, type: string, name: string): readonly Placed[] {
  return placedBlocks(request).flatMap(({ block, path }) => [
    ...(block.type === type ? [{ block, path: `${path}.${name}` }] : []),
    ...innerBlocks(block).flatMap((inner, index) =>
      inner.type === type ? [{ block: inner, path: `${path}.tool_result.content.${index}.${name}` }] : [],
    ),
  ])
}

/** Null where it is no PDF. What was made by a test without the head of one counts as a page. */
function documentPages(data: string): number | null {
  const text = Buffer.from(data, 'base64').toString('latin1')
  if (!text.startsWith('%PDF')) return text.length < LEAST_FILE_BYTES ? 1 : null
  if (!text.includes('%%EOF')) return null
  return Math.max(1, text.match(/\/Type\s*\/Page(?![a-zA-Z])/g)?.length ?? 1)
}

/** Smaller ones are heads that a test made up. */
const LEAST_FILE_BYTES = 64

function isCut(block: WireBlock): boolean {
  const data = base64Data(block)
  if (data === null) return false
  const bytes = Buffer.from(data, 'base64')
  if (bytes.length < LEAST_FILE_BYTES) return false
  const end = bytes.length
  if (bytes.toString('latin1', 12, 16) === 'IHDR')
    return bytes.toString('latin1', end - 8, end - 4) !== 'IEND'
  return bytes.readUInt16BE(0) === 0xffd8 && bytes.readUInt16BE(end - 2) !== 0xffd9
}

function imageFault(block: WireBlock, many: boolean): string | null {
  const data = base64Data(block)
  if (data === null) return null
  if (data.length > MAX_IMAGE_BYTES) {
    return `: image exceeds 5 MB maximum: ${data.length} bytes > ${MAX_IMAGE_BYTES} bytes`
  }
  const size = imageSize(block)
  const side = size === null ? 0 : Math.max(size.width, size.height)
  if (side > MAX_SIDE) {
    return `.data: At least one of the image dimensions exceed max allowed size: ${MAX_SIDE} pixels`
  }
  if (many && side > MAX_SIDE_OF_MANY) {
    return `.data: At least one of the image dimensions exceed max allowed size for many-image requests: ${MAX_SIDE_OF_MANY} pixels`
  }
  return null
}

function base64Data(block: WireBlock): string | null {
  const source = block['source']
  return isRecord(source) && source['type'] === 'base64' && typeof source['data'] === 'string'
    ? source['data']
    : null
}

/** Null where the size is not in the request (urls, files) or the header is not one we read. */
export function imageSize(block: WireBlock): ImageSize | null {
  const data = base64Data(block)
  if (data === null) return null
  const bytes = Buffer.from(data.slice(0, HEADER_BASE64_CHARS), 'base64')
  if (bytes.length >= 24 && bytes.readUInt32BE(0) === 0x89504e47) {
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
  }
  if (bytes.length >= 10 && bytes.toString('latin1', 0, 3) === 'GIF') {
    return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
  }
  return bytes.length >= 4 && bytes.readUInt16BE(0) === 0xffd8 ? jpegSize(bytes) : null
}

/** Walks the segments to the first start-of-frame (C0–CF without the tables C4, C8, CC). */
function jpegSize(bytes: Buffer): ImageSize | null {
  let at = 2
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  return null
}
