// Dates that say when only to somebody who knows the day they were written on: replaced by the day itself (SPEC 10.4).
// English words only. What stands in backticks is code and stays. Pure.

const dayMs = 24 * 60 * 60 * 1000
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const numbers = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
const unitDays = { day: 1, week: 7 }

const count = `(\\d{1,3}|an?|${numbers.slice(1).join('|')})`
const unit = '(days?|weeks?|months?|years?)'
const relative = new RegExp(
  [
    "\\b(?:the day after tomorrow|the day before yesterday|tomorrow|yesterday|tonight|today)\\b(?!\u2019s|'s)",
    `\\bin ${count} ${unit}\\b`,
    `\\b${count} ${unit} ago\\b`,
    `\\b(next|this|last) (${weekdays.join('|')}|week|month|year)\\b`,
  ].join('|'),
  'giu',
)
const code = /`[^`\n]*`/gu

/** Whether a text says when only to somebody who knows its day. */
export const hasRelativeDate = (text: string): boolean => text.replaceAll(code, ' ').match(relative) !== null

/** The text with each such word replaced by its day, as seen from a moment; and the dates that were put in. */
export function absoluteDates(
  text: string,
  at: number,
): { readonly text: string; readonly dates: readonly string[] } {
  const dates: string[] = []
  const put = (words: string): string =>
    words.replaceAll(relative, (found: string) => {
      const date = dateOf(found.toLowerCase(), at)
      if (date === null) return found
      dates.push(date)
      return date
    })
  const pieces = text.split(/(`[^`\n]*`)/u)
  return { text: pieces.map((piece, i) => (i % 2 === 1 ? piece : put(piece))).join(''), dates }
}

const fixed: Readonly<Record<string, number>> = {
  'the day after tomorrow': 2,
  'the day before yesterday': -2,
  tomorrow: 1,
  yesterday: -1,
  tonight: 0,
  today: 0,
}

function dateOf(words: string, at: number): string | null {
  const days = fixed[words]
  if (days !== undefined) return dayOf(at + days * dayMs)
  const moved = /^(in )?(\S+) (day|week|month|year)s?( ago)?$/u.exec(words)
  if (moved !== null && (moved[1] !== undefined || moved[4] !== undefined))
    return movedBy(at, countOf(moved[2]!) * (moved[4] === undefined ? 1 : -1), moved[3]!)
  const [, which, what] = /^(next|this|last) (\S+)$/u.exec(words) ?? []
  return which === undefined || what === undefined ? null : turned(at, which, what)
}

const countOf = (word: string): number =>
  /^\d/u.test(word) ? Number(word) : Math.max(1, numbers.indexOf(word))

function movedBy(at: number, by: number, what: string): string {
  if (what === 'day' || what === 'week') return dayOf(at + by * unitDays[what] * dayMs)
  const date = new Date(at)
  const months = by * (what === 'month' ? 1 : 12)
  // The last day of a shorter month stands for days it does not have.
  const first = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1))
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate()
  return dayOf(first.getTime() + (Math.min(date.getUTCDate(), last) - 1) * dayMs)
}

function turned(at: number, which: string, what: string): string {
  const by = which === 'next' ? 1 : which === 'last' ? -1 : 0
  const date = new Date(at)
  if (what === 'year') return String(date.getUTCFullYear() + by)
  if (what === 'month')
    return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + by, 1)).toISOString().slice(0, 7)
  const today = date.getUTCDay()
  if (what === 'week') return `the week of ${dayOf(at + (by * 7 - ((today + 6) % 7)) * dayMs)}`
  const ahead = (weekdays.indexOf(what) - today + 7) % 7
  if (which === 'last') return dayOf(at + (ahead === 0 ? -7 : ahead - 7) * dayMs)
  return dayOf(at + (ahead === 0 && which === 'next' ? 7 : ahead) * dayMs)
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 'yyyy-mm-dd'.length)
