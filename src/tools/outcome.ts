// The two plain endings of a call: what it says, and why it failed.
import type { ToolOutcome } from './tool.ts'

export const succeeded = (text: string): ToolOutcome => ({
  content: [{ type: 'text', text }],
  isError: false,
})
export const failed = (why: string): ToolOutcome => ({
  content: [{ type: 'text', text: why }],
  isError: true,
})

/** What stands for the result of a call that was cut short; the words are what the model goes by. */
export const interruptedMark = '[interrupted]'
export const interrupted = (what = ''): ToolOutcome =>
  failed(what === '' ? interruptedMark : `${interruptedMark} ${what}`)

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
