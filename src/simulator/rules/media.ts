// Rules 19 and 20, and how large an image is: width and height are read from the file header, nothing is decoded.
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

export function checkImages(request: WireRequest, model: SimulatedModel): WireError | null {
  const images = placedBlocks(request).flatMap(({ block, path }) => [
    ...(block.type === 'image' ? [{ block, path: `${path}.image` }] : []),
    ...innerBlocks(block).flatMap((inner, index) =>
      inner.type === 'image' ? [{ block: inner, path: `${path}.tool_result.content.${index}.image` }] : [],
    ),
  ])
  const most = model.window > SMALL_WINDOW ? MAX_IMAGES : MAX_IMAGES_SMALL_WINDOW
  if (images.length > most) {
    return invalid(`messages: Too much media: 0 document pages + ${images.length} images > ${most}`)
  }
  const many = images.length > MANY_IMAGES
  for (const { block, path } of images) {
    const wrong = imageFault(block, many)
    if (wrong !== null) return invalid(`${path}.source.base64${wrong}`)
  }
  return null
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
