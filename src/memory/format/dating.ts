// The days of a whole memory, the same for everybody who writes one: a fact has a day of its own, a rule is for
// every day. Only what is new counts from now; a line that stood there already means the day on which it was first written,
// which consolidation finds out.
import { absoluteDates } from './dates.ts'
import { readMemoryText, withFields } from './frontmatter.ts'

/** The memory with the days of its new lines as dates, as seen from a moment, and which they are. */
export function datedMemory(
  text: string,
  before: string | null,
  at: number,
): { readonly text: string; readonly dates: readonly string[] } {
  const { head, body, front } = readMemoryText(text)
  if (front === null || isRule(head)) return { text, dates: [] }
  const old = before === null ? null : readMemoryText(before)
  const known = new Set(old?.body.split('\n'))
  const said = old?.head.description === head.description ? null : absoluteDates(head.description, at)
  const whole = absoluteDates(body, at)
  const lines = body.split('\n')
  const now = whole.text.split('\n').map((line, i) => (known.has(lines[i]!) ? lines[i]! : line))
  const changed = lines.filter((line, i) => line !== now[i])
  const isSaid = said !== null && said.text !== head.description
  const start = text.slice(0, text.length - body.length)
  const kept = isSaid ? withFields(start, { description: said.text }) : start
  const dates = [...(said?.dates ?? []), ...changed.flatMap((line) => absoluteDates(line, at).dates)]
  return { text: kept + now.join('\n'), dates: [...new Set(dates)] }
}

export const isRule = ({ type }: { readonly type: string | null }): boolean =>
  type === 'feedback' || type === 'user'

/** The text without the dates that somebody's words come to: who says "tomorrow" has said that day. */
export function withoutDates(text: string, words: readonly string[], at: number): string {
  const { dates } = absoluteDates(words.join('\n'), at)
  return dates.reduce((rest, date) => rest.replaceAll(date, ' '), text)
}
