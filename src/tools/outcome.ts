// The two plain endings of a call: what it says, and why it failed.
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
