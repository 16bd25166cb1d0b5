// Long lines on the screen. The screen library walks over text by characters as people see them, and Node gives each of
// them a copy of the whole text: a line of 100 KB would take gigabytes. In pieces the work grows as the text does.
import { getGraphemeSegmenter, getWordSegmenter } from '@earendil-works/pi-tui/dist/utils.js'

/** Code units of a piece: longer than any character people see, short enough to be copied often. */
const pieceLength = 256

/** The library shares one segmenter of each kind; from now on both work in pieces. */
export function segmentInPieces(): void {
  for (const segmenter of [getGraphemeSegmenter(), getWordSegmenter()])
    if (!Object.hasOwn(segmenter, 'segment'))
      Object.defineProperty(segmenter, 'segment', { value: inPieces(segmenter) })
}

/** As `segment` of the segmenter, for any length. */
export function inPieces(segmenter: Intl.Segmenter): (text: string) => Intl.Segments {
  const segment = (text: string): Intl.Segments => Intl.Segmenter.prototype.segment.call(segmenter, text)
  return (text) =>
    text.length <= pieceLength
      ? segment(text)
      : {
          containing: (index) => segment(text).containing(index),
          [Symbol.iterator]: () => segmentsOf(text, segment),
        }
}

function* segmentsOf(
  text: string,
  segment: (text: string) => Intl.Segments,
): Generator<Intl.SegmentData, undefined, unknown> {
  for (let at = 0; at < text.length;) {
    const end = pieceEnd(text, at)
    const isLast = end === text.length
    const found = [...segment(text.slice(at, end))]
    // The last one of a piece may go on in the next.
    const whole = isLast || found.length === 1 ? found : found.slice(0, -1)
    for (const data of whole) yield { ...data, index: at + data.index, input: text }
    const last = whole.at(-1)!
    at += last.index + last.segment.length
  }
  return undefined
}

/** Not within a pair of code units. */
function pieceEnd(text: string, from: number): number {
  const end = Math.min(from + pieceLength, text.length)
  return end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1]!) ? end - 1 : end
}
