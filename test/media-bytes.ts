// Real pictures and documents for tests: PNG, JPEG and PDF files that any program can open, of any size.
import { createHash } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import type { DocumentBlock, ImageBlock } from '../src/transcript/content.ts'

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  return Buffer.concat([uint32(data.length), body, uint32(crc32(body))])
}

/** A grey picture whose shade depends on the seed, so that two seeds are two pictures. */
export function png(width: number, height: number, seed = 0): Buffer {
  const row = Buffer.alloc(width + 1, seed % 251)
  row[0] = 0
  const rows = Buffer.concat(Array.from({ length: height }, () => row))
  const head = Buffer.concat([uint32(width), uint32(height), Buffer.from([8, 0, 0, 0, 0])])
  const note = Buffer.from(`seed\0${seed}`, 'latin1')
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    chunk('tEXt', note),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** The same picture with so many bytes of text in it, which nothing can compress away. */
export function largePng(width: number, height: number, bytes: number, seed = 0): Buffer {
  const small = png(width, height, seed)
  const filler = Buffer.alloc(Math.max(0, bytes - small.length - 16), 'x')
  const end = small.length - 12
  return Buffer.concat([small.subarray(0, end), chunk('tEXt', filler), small.subarray(end)])
}

/** A grey baseline JPEG: every square is the same, so each takes the same six bits. */
export function jpeg(width: number, height: number): Buffer {
  const part = (marker: number, data: readonly number[] | Buffer): Buffer => {
    const length = Buffer.alloc(2)
    length.writeUInt16BE(data.length + 2)
    return Buffer.concat([Buffer.from([0xff, marker]), length, Buffer.from(data)])
  }
  const size = Buffer.alloc(4)
  size.writeUInt16BE(height, 0)
  size.writeUInt16BE(width, 2)
  const squares = Math.ceil(width / 8) * Math.ceil(height / 8)
  const bits = '001010'.repeat(squares)
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1')
  const scan = padded.match(/.{8}/g)!.flatMap((byte) => {
    const value = Number.parseInt(byte, 2)
    return value === 0xff ? [0xff, 0] : [value]
  })
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    part(0xe0, Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1')),
    part(0xdb, [0, ...Array.from({ length: 64 }, () => 16)]),
    part(0xc0, Buffer.concat([Buffer.from([8]), size, Buffer.from([1, 1, 0x11, 0])])),
    // One code of two bits for "no difference", and one of four for "nothing more in this square".
    part(0xc4, [0x00, 0, 1, ...Array.from({ length: 14 }, () => 0), 0]),
    part(0xc4, [0x10, 0, 2, 1, 1, ...Array.from({ length: 12 }, () => 0), 1, 2, 3, 0]),
    part(0xda, [1, 1, 0, 0, 63, 0]),
    Buffer.from(scan),
    Buffer.from([0xff, 0xd9]),
  ])
}

/** A PDF of so many pages, each with a line; `bytes` makes it at least that large. */
export function pdf(pages: number, bytes = 0, seed = 0): Buffer {
  const objects: string[] = []
  const kids = Array.from({ length: pages }, (_, page) => `${3 + page * 2} 0 R`).join(' ')
  objects.push('<< /Type /Catalog /Pages 2 0 R >>', `<< /Type /Pages /Kids [${kids}] /Count ${pages} >>`)
  for (let page = 0; page < pages; page++) {
    const words = `BT /F1 12 Tf 72 720 Td (Page ${page + 1} of ${seed}) Tj ET`
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${4 + page * 2} 0 R >>`,
      `<< /Length ${words.length} >>\nstream\n${words}\nendstream`,
    )
  }
  const filler = 'x'.repeat(Math.max(0, bytes))
  objects.push(`<< /Length ${filler.length} >>\nstream\n${filler}\nendstream`)
  let text = '%PDF-1.4\n'
  const places = objects.map((object, index) => {
    const at = text.length
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
    return at
  })
  const start = text.length
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`
  for (const place of places) text += `${String(place).padStart(10, '0')} 00000 n \n`
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`
  return Buffer.from(text, 'latin1')
}

export const imageBlock = (bytes: Buffer, media_type = 'image/png'): ImageBlock => ({
  type: 'image',
  source: { type: 'base64', media_type, data: bytes.toString('base64') },
})

export const documentBlock = (bytes: Buffer): DocumentBlock => ({
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data: bytes.toString('base64') },
})

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
