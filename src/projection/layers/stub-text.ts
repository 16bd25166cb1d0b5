// What stands where a cleared result stood: which call it answered, how large it was, the words of it that later work
// is likely to look for, and how to get the rest. With a digest of no size it is the plain marker.
//
// The words come from a tool and stay inside its result: they gain no trust by being quoted.
import { defaults } from '../../settings/defaults.ts'
import { wellFormed } from '../folding/part.ts'
import type { Candidate } from './survey.ts'

export const plainMarker = '[Old tool result content cleared]'

export function stubText(candidate: Candidate, digestChars: number): string {
  if (digestChars <= 0) return plainMarker
  const { part, block, call } = candidate
  const text = block.content.map((inner) => (inner.type === 'text' ? inner.text : '')).join('\n')
  const images = block.content.filter((inner) => inner.type !== 'text').length
  const size = `${text.length} characters${images > 0 ? ` and ${images} images` : ''}`
  const what = call === undefined ? (part.tool ?? 'a tool') : `${call.name} ${shortInput(call.input)}`
  const held = digestOf(text, what, digestChars)
  const words = held === '' ? '' : ` It held: ${held}.`
  return wellFormed(`${plainMarker.slice(0, -1)}: ${what}, ${size}.${words} Expand ${part.from} shows it.]`)
}

const mainFields = ['file_path', 'path', 'command', 'pattern', 'url', 'query'] as const

function shortInput(input: Readonly<Record<string, unknown>>): string {
  const main = mainFields.flatMap((field) => (typeof input[field] === 'string' ? [input[field]] : []))
  const whole = main.length > 0 ? main.join(' ') : JSON.stringify(input)
  return cut(whole.replace(/\s+/g, ' ').trim(), defaults.clearing.inputChars)
}

const errorLine = /\b(?:error|exception|failed|failure|fatal|panic|traceback|warning)\b/i
const pathWord = /(?<![\w.@~/-])(?:[\w.@~-]*\/)+[\w.@-]+(?::\d+)?/g
const nameWord = /\b(?:[a-z]+[A-Z]\w+|[A-Z][a-z]\w*[A-Z]\w+|[A-Za-z]\w*_\w+)\b/g
const numberWord = /\b(?:\d+\.\d+|\d{3,})\b/g
const pieceChars = 80

/** Error lines, then paths, names and numbers, most frequent first, as far as there is room. */
function digestOf(whole: string, known: string, room: number): string {
  const text = ends(whole)
  const pieces: string[] = []
  let left = room
  const add = (piece: string): void => {
    if (piece.length + 2 > left || pieces.includes(piece) || known.includes(piece)) return
    pieces.push(piece)
    left -= piece.length + 2
  }
  const errors = text.split('\n').filter((line) => errorLine.test(line))
  for (const line of errors.slice(0, 2)) add(cut(line.replace(/\s+/g, ' ').trim(), pieceChars))
  for (const kind of [pathWord, nameWord, numberWord]) {
    // Each kind leaves some room to the next.
    const enough = left / 2
    for (const word of frequent(text, kind)) {
      if (left < enough) break
      if (word.length <= pieceChars) add(word)
    }
  }
  return pieces.join(', ')
}

function frequent(text: string, kind: RegExp): readonly string[] {
  const counts = new Map<string, number>()
  for (const [word] of text.matchAll(kind)) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1]).map(([word]) => word)
}

/** Both ends of a long text: what matters mostly stands there, and clearing many results must stay quick. */
function ends(text: string): string {
  const most = defaults.clearing.digestScanChars
  if (text.length <= most) return text
  const tail = Math.floor(most / 4)
  return `${text.slice(0, most - tail)}\n${text.slice(-tail)}`
}

const cut = (text: string, chars: number): string =>
  text.length <= chars ? text : `${text.slice(0, chars - 1)}…`
