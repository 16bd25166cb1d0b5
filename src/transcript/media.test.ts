import { expect, it } from 'vitest'
import { documentBlock, imageBlock, jpeg, largePng, pdf, png } from '../../test/media-bytes.ts'
import { describeMedia, mediaInfo } from './media.ts'

it('[T20] a picture says its format and its sides, a PDF its pages, whatever it is called', () => {
  expect(mediaInfo(imageBlock(png(640, 480)))).toMatchObject({ format: 'png', width: 640, height: 480 })
  expect(mediaInfo(imageBlock(jpeg(333, 77)))).toMatchObject({ format: 'jpeg', width: 333, height: 77 })
  const gif = Buffer.concat([Buffer.from('GIF89a'), Buffer.from([0x20, 0x03, 0x58, 0x02, 0, 0, 0])])
  expect(mediaInfo(imageBlock(gif))).toMatchObject({ format: 'gif', width: 800, height: 600 })
  const webp = Buffer.alloc(40)
  webp.write('RIFF', 0, 'latin1')
  webp.write('WEBPVP8X', 8, 'latin1')
  webp.writeUIntLE(1023, 24, 3)
  webp.writeUIntLE(767, 27, 3)
  expect(mediaInfo(imageBlock(webp))).toMatchObject({ format: 'webp', width: 1024, height: 768 })
  expect(mediaInfo(documentBlock(pdf(17)))).toMatchObject({ kind: 'document', format: 'pdf', pages: 17 })
  expect(mediaInfo(documentBlock(pdf(3, 900_000))).pages).toBe(3)
})

it('[T20] what cannot be read is named by what is known of it', () => {
  expect(mediaInfo(imageBlock(Buffer.from('no picture')))).toMatchObject({ width: null, height: null })
  const away = { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } } as const
  expect(describeMedia(mediaInfo(away))).toBe('url image')
  expect(describeMedia(mediaInfo(imageBlock(largePng(9000, 50, 2_000_000))))).toBe(
    'png image, 9000×50, 1.9 MB',
  )
  expect(describeMedia(mediaInfo(documentBlock(pdf(1))))).toMatch(/^pdf document, 1 page, \d+ bytes$/)
})
