// What stands in the view for a text that is too long for it: both ends, cut at line ends, with the way to the rest.
import { defaults } from '../../settings/defaults.ts'
import { persistedOutput } from '../../tools/outcome.ts'

export interface Kept {
  readonly bytes: number
  /** Where a tool can read it. */
  readonly path: string
  /** What `expand` takes. */
  readonly ref: string
}

export function previewOf(text: string, { bytes, path, ref }: Kept): string {
  const { head, tail } = endsOf(text, defaults.results.headBytes, defaults.results.tailBytes)
  return persistedOutput({ ref, path, bytes }, { head, tail, left: text.length - head.length - tail.length })
}

/** For what could not be kept. */
export function cutOff(text: string, limitBytes: number, why: string): string {
  const { head } = endsOf(text, limitBytes, 0)
  return `${head}\n[cut here: ${text.length - head.length} more characters could not be kept (${why})]`
}

function endsOf(text: string, headBytes: number, tailBytes: number): { head: string; tail: string } {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(headBytes))
  const head = toLineEnd(text.slice(0, read))
  return { head, tail: fromLineStart(lastBytes(text.slice(head.length), tailBytes)) }
}

function lastBytes(text: string, bytes: number): string {
  if (bytes === 0) return ''
  const end = new TextEncoder().encode(text.slice(-bytes))
  let start = Math.max(0, end.length - bytes)
  while (start < end.length && (end[start]! & continuationMask) === continuation) start++
  return new TextDecoder().decode(end.subarray(start)).replace(/^\uFFFD/, '')
}
const continuationMask = 0xc0
const continuation = 0x80

// A line end is taken where one is near; one very long line is cut where it must be.
function toLineEnd(text: string): string {
  const end = text.lastIndexOf('\n')
  return end > text.length / 2 ? text.slice(0, end) : text
}
function fromLineStart(text: string): string {
  const start = text.indexOf('\n') + 1
  return start > 0 && start < text.length / 2 ? text.slice(start) : text
}
