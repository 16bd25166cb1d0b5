// The two plain endings of a call, what it says and why it failed; and what is shown of one that is too long.
import { defaults } from '../settings/defaults.ts'
import type { OrWhy } from '../disk/failure.ts'
import { isRecord, userBlockProblem, type UserBlock } from '../transcript/content.ts'
import { fenced } from '../transcript/fence.ts'
import { expandCall, interruptedMark } from '../transcript/markers.ts'
import type { ToolOutcome } from './tool.ts'

/** A result of plain text. */
export const succeeded = (text: string): ToolOutcome => ({
  content: [{ type: 'text', text }],
  isError: false,
})
/** A result that says why a call failed. */
export const failed = (why: string): ToolOutcome => ({
  content: [{ type: 'text', text: why }],
  isError: true,
})

/** What a tool or a program gave for a call, as its outcome; programs without types give anything. */
export function outcomeFrom(given: unknown): OrWhy<{ readonly outcome: ToolOutcome }> {
  if (typeof given === 'string') return { ok: true, outcome: succeeded(given) }
  const isWhole = isRecord(given) && !Array.isArray(given)
  const content: unknown = isWhole ? given['content'] : given
  if (!Array.isArray(content))
    return { ok: false, why: 'it is neither a text nor { content, isError } with a list of blocks' }
  const wrong = content.map(userBlockProblem).findIndex((problem) => problem !== null)
  if (wrong >= 0)
    return {
      ok: false,
      why: `a result holds blocks of text, images and documents, and block ${wrong} is none: ${userBlockProblem(content[wrong])}`,
    }
  const facts: unknown = isWhole ? given['facts'] : undefined
  if (facts !== undefined && !(Array.isArray(facts) && facts.every(isRecord)))
    return { ok: false, why: 'its `facts` are no list of facts' }
  const outcome = isWhole ? (given as object as ToolOutcome) : { content: content as readonly UserBlock[] }
  return { ok: true, outcome: { ...outcome, isError: isWhole && given['isError'] === true } }
}

/** What replaces the result of a call that was cut short; the words are what the model goes by. */
export const interrupted = (what = ''): ToolOutcome =>
  failed(what === '' ? interruptedMark : `${interruptedMark} ${what}`)

/** Output that is kept whole elsewhere: both ends of it, its size, and the way to the rest. */
export const persistedOutput = (
  kept: { readonly ref: string; readonly path?: string | undefined; readonly bytes: number },
  { head, tail, left }: { readonly head: string; readonly tail: string; readonly left: number },
): string =>
  fenced(
    'persisted-output',
    { ref: kept.ref, bytes: kept.bytes, path: kept.path },
    `${head}\n[… ${left} characters left out; ${expandCall(kept.ref)} returns them${kept.path === undefined ? '' : ', or Read the path'} …]\n${tail}`,
  )

/** At most `chars` characters, never half of a code point. */
export function headOf(text: string, chars: number): string {
  if (text.length <= chars) return text
  return text.slice(0, isHighHalf(text, chars - 1) ? chars - 1 : chars)
}
/** The same from the end. */
export function tailOf(text: string, chars: number): string {
  if (text.length <= chars) return text
  const from = text.length - chars
  return text.slice(isHighHalf(text, from - 1) ? from + 1 : from)
}
const isHighHalf = (text: string, at: number) => /[\uD800-\uDBFF]/.test(text.charAt(at))

// ---- a text that is too long for the view: both ends, cut at line ends, with the way to the rest ----

interface KeptText {
  readonly bytes: number
  /** Where a tool can read it. */
  readonly path: string
  /** What `expand` takes. */
  readonly ref: string
}

export function previewOf(text: string, { bytes, path, ref }: KeptText): string {
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
export function toLineEnd(text: string): string {
  const end = text.lastIndexOf('\n')
  return end > text.length / 2 ? text.slice(0, end) : text
}
export function fromLineStart(text: string): string {
  const start = text.indexOf('\n') + 1
  return start > 0 && start < text.length / 2 ? text.slice(start) : text
}
