// What stands where a cleared result stood: which call it answered, how large it was, the words of it that later work
// is likely to look for, and how to get the rest. With a digest of no size it is the plain marker.
//
// The words come from a tool and stay inside its result: they gain no trust by being quoted.
import { defaults } from '../../settings/defaults.ts'
import { clearedMark, expandCall } from '../../transcript/markers.ts'
import { wellFormed } from '../folding/part.ts'
import type { Candidate } from './survey.ts'

export const plainMarker = `${clearedMark}]`

export function stubText(candidate: Candidate, digestChars: number): string {
  if (digestChars <= 0) return plainMarker
  const { part, block, call } = candidate
  const text = block.content.map((inner) => (inner.type === 'text' ? inner.text : '')).join('\n')
  const images = block.content.filter((inner) => inner.type !== 'text').length
  const size = `${text.length} characters${images > 0 ? ` and ${images} images` : ''}`
  const what = call === undefined ? (part.tool ?? 'a tool') : `${call.name} ${shortInput(call.input)}`
  const mentioned = digestOf(text.replaceAll(savedFrame, ''), what, digestChars)
  const words = mentioned === '' ? '' : `; mentions ${mentioned}`
  return wellFormed(`${clearedMark}: ${what} (${size}${words}). ${expandCall(part.from)}.]`)
}

const mainFields = ['file_path', 'path', 'command', 'pattern', 'url', 'query'] as const

function shortInput(input: Readonly<Record<string, unknown>>): string {
  const main = mainFields.flatMap((field) => (typeof input[field] === 'string' ? [input[field]] : []))
  const whole = main.length > 0 ? main.join(' ') : JSON.stringify(input)
  return cut(whole.replace(/\s+/g, ' ').trim(), defaults.clearing.inputChars)
}

const errorWord = /(?:error|exception|fail|fatal|panic|traceback|warning)/gi
const pathWord = /(?<![\w.@~/-])(?:[\w.@~-]*\/)+[\w.@-]+(?::\d+)?/g
const nameWord = /\b(?:[a-z]+[A-Z]\w+|[A-Z][a-z]\w*[A-Z]\w+|[A-Za-z]\w*_\w+)\b/g
/** What stands around the ends of an output that was saved: words of ours. */
const savedFrame = /^<\/?persisted-output\b.*$|^\[… \d+ characters left out; .* …\]$/gmu
const pieceChars = 80

/** The lines that speak of an error, each once. */
function* errorLines(text: string): Generator<string> {
  let end = 0
  for (const { index } of text.matchAll(errorWord)) {
    if (index < end) continue
    const from = text.lastIndexOf('\n', index) + 1
    end = text.indexOf('\n', index)
    if (end < 0) end = text.length
    yield text.slice(from, end)
  }
}

function* wordsOf(text: string, kind: RegExp): Generator<string> {
  for (const [word] of text.matchAll(kind)) yield word
}

/** Error lines, then paths and names in the order they stand there, each as far as its share of the room goes. A number alone tells nothing. */
function digestOf(whole: string, known: string, room: number): string {
  const text = ends(whole)
  const pieces: string[] = []
  let left = room
  const kinds = [pathWord, nameWord].map((kind) => wordsOf(text, kind))
  for (const found of [errorLines(text), ...kinds]) {
    const enough = left / 2
    // Reading on for what has no room would cost more than all the rest.
    for (const word of found) {
      const piece = cut(word.replace(/\s+/g, ' ').trim(), pieceChars)
      if (piece.length + 2 > left || left < enough) break
      if (pieces.includes(piece) || known.includes(piece)) continue
      pieces.push(piece)
      left -= piece.length + 2
    }
  }
  return pieces.join(', ')
}

/** Both ends of a long text: what matters mostly stands there, and clearing many results must stay quick. */
function ends(text: string): string {
  const most = defaults.clearing.digestScanChars
  if (text.length <= most) return text
  const tail = Math.floor(most / 4)
  return `${withoutHalf(text.slice(0, most - tail))}\n${withoutHalf(text.slice(-tail))}`
}

const cut = (text: string, chars: number): string =>
  text.length <= chars ? text : `${withoutHalf(text.slice(0, chars - 1))}…`

/** Half of a character at either end, as a cut leaves it, is left out. */
const withoutHalf = (text: string): string => text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '')
