// Dates that say when only to somebody who knows the day they were written on: replaced by the day itself, in
// the languages of `date-words.ts`. What stands in code, in names of files and addresses, or alone between quotation marks
// stays, and text without such words stays byte for byte. Days are those of the user (`day`).
import { ambiguous, dateLanguages, type DateLanguage } from './date-words.ts'
import { localMoment, dayOf } from './day.ts'
import { readMemoryText, withFields } from './frontmatter.ts'
import { isRule } from '../memory.ts'

const dayMs = 24 * 60 * 60 * 1000
const numbers = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
const unitDays = { day: 1, week: 7 }

interface Rule {
  readonly pattern: string
  readonly dateOf: (found: string, at: number) => string | null
}

const left = "(?<![\\p{L}\\p{N}_/\\\\@#.$=-]|\\p{L}['’])"
const right = '(?![\\p{L}\\p{N}_/\\\\(=]|-\\p{L}|\\.[\\p{L}\\p{N}])'
const countWord = `(?:\\d{1,3}|an?|${numbers.slice(1).join('|')})`
const counted: readonly Rule[] = [`in ${countWord} `, `${countWord} `].map((start, i) => ({
  pattern: `${start}(?:day|week|month|year)s?${i === 0 ? '' : ' ago'}`,
  dateOf(found, at) {
    const [, count, unit] = /(\S+) (day|week|month|year)s?(?: ago)?$/u.exec(found) ?? []
    if (count === undefined || unit === undefined) return null
    const many = /^\d/u.test(count) ? Number(count) : Math.max(1, numbers.indexOf(count))
    return movedBy(at, i === 0 ? many : -many, unit)
  },
}))

const spaced = compiled('both', left, right)
const joined = compiled('left', left, '')
const unspaced = compiled('dictionary', '', '')
/** Where none of these stands there is no word of theirs. */
const hangul = /[가-힣]/u
const unspacedSign = /[今昨明一本大后後前上下这這去先来]/u

const inlineCode = /((?<!`)(?:`[^`]+`|``.+?``)(?!`))/u

/** Whether a text says when only to somebody who knows its day. */
export const hasRelativeDate = (text: string): boolean => absoluteDates(text, 0).dates.length > 0

/** The text with each such word replaced by its day, as seen from a moment; and the dates that were put in. */
export function absoluteDates(
  text: string,
  at: number,
): { readonly text: string; readonly dates: readonly string[] } {
  const dates: string[] = []
  const here = localMoment(at)
  const put = (words: string): string => {
    const once = replaced(words, spaced, here, dates)
    const twice = hangul.test(once) ? replaced(once, joined, here, dates) : once
    return unspacedSign.test(twice) ? replaced(twice, unspaced, here, dates, isWordAt) : twice
  }
  const code = codeLines(text)
  const lines = text.split('\n').map((line, i) => {
    if (code.has(i)) return line
    const pieces = line.split(inlineCode)
    return pieces.map((piece, n) => (n % 2 === 1 ? piece : put(piece))).join('')
  })
  return { text: lines.join('\n'), dates }
}

/** The numbers of the lines that are code: between fences, or set in after an empty line. */
export function codeLines(text: string): ReadonlySet<number> {
  const code = new Set<number>()
  let fence: string | null = null
  let canBegin = true
  for (const [i, line] of text.split('\n').entries()) {
    const mark = /^\s*(?:[-*+>]\s+)*(`{3,}|~{3,})/u.exec(line)?.[1]
    if (fence !== null || mark !== undefined) code.add(i)
    if (fence === null) fence = mark ?? null
    else if (mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length) fence = null
    const isSetIn: boolean = fence === null && canBegin && /^(?: {4}|\t)\s*(?![-*+\s]|\d+[.)])/u.test(line)
    if (isSetIn) code.add(i)
    canBegin = isSetIn || line.trim() === ''
  }
  return code
}

function replaced(
  text: string,
  { search, rules }: ReturnType<typeof compiled>,
  at: number,
  dates: string[],
  isWord: typeof isWordAt = () => true,
): string {
  return text.replaceAll(search, (found: string, ...rest: unknown[]) => {
    const rule = rules[rest.findIndex((group) => group !== undefined)]
    const from = rest.find((one) => typeof one === 'number') ?? 0
    const isOther = ambiguous.has(found) || isQuoted(text, from, found.length)
    const isMeant = !isOther && isWord(text, from, from + found.length)
    const date = rule === undefined || !isMeant ? null : rule.dateOf(found.toLowerCase(), at)
    if (date === null) return found
    dates.push(date)
    return date
  })
}

/** A word alone between quotation marks is spoken of, not said. */
const isQuoted = (text: string, from: number, length: number): boolean =>
  /["'“‘«„「『]/u.test(text.charAt(from - 1)) && /["'”’»“」』]/u.test(text.charAt(from + length))

const segmenter = new Intl.Segmenter('zh', { granularity: 'word' })
const aroundChars = 16
/** Whether words begin and end there. Only what stands around it is looked at: each segment costs a copy of the whole. */
function isWordAt(text: string, from: number, to: number): boolean {
  const start = Math.max(0, from - aroundChars)
  const around = text.slice(start, to + aroundChars).toWellFormed()
  const ends = new Set([...segmenter.segment(around)].map(({ index }) => index + start))
  return ends.has(from) && (ends.has(to) || to === start + around.length)
}

/**
 * A memory with the days of its new lines as dates, as seen from a moment, and which they are. A fact has a day of its
 * own, a rule is for every day. A line that stood there already means the day on which it was first written, which
 * consolidation finds out.
 */
export function datedMemory(
  text: string,
  before: string | null,
  at: number,
): { readonly text: string; readonly dates: readonly string[] } {
  const { head, body, front } = readMemoryText(text)
  if (front === null || isRule(head)) return { text, dates: [] }
  const old = before === null ? null : readMemoryText(before)
  const known = new Set(old?.body.split('\n'))
  const description = old?.head.description === head.description ? null : absoluteDates(head.description, at)
  const whole = absoluteDates(body, at)
  const lines = body.split('\n')
  const now = whole.text.split('\n').map((line, i) => (known.has(lines[i]!) ? lines[i]! : line))
  const changed = lines.filter((line, i) => line !== now[i])
  const isDated = description !== null && description.text !== head.description
  const start = text.slice(0, text.length - body.length)
  const kept = isDated ? withFields(start, { description: description.text }) : start
  const dates = [...(description?.dates ?? []), ...changed.flatMap((line) => absoluteDates(line, at).dates)]
  return { text: kept + now.join('\n'), dates: [...new Set(dates)] }
}

/** The text without the dates that somebody's words come to: who says "tomorrow" has said that day. */
export function withoutDates(text: string, words: readonly string[], at: number): string {
  const { dates } = absoluteDates(words.join('\n'), at)
  return dates.reduce((rest, date) => rest.replaceAll(date, ' '), text)
}

function compiled(
  bounds: DateLanguage['bounds'],
  before: string,
  behind: string,
): { readonly search: RegExp; readonly rules: readonly Rule[] } {
  const languages = dateLanguages.filter((one) => one.bounds === bounds)
  const rules = [...(bounds === 'both' ? counted : []), ...languages.flatMap(rulesOf)]
  const any = rules.map(({ pattern }) => `(${pattern})`).join('|')
  return { search: new RegExp(`${before}(?:${any})${behind}`, 'giu'), rules }
}

function rulesOf(language: DateLanguage): readonly Rule[] {
  const { bounds, weekdays, weekOf, counted: how } = language
  const any = `(?:${weekdays.join('|')})`
  const three = (unit: 'weekday' | 'week' | 'month' | 'year', dateOf: (by: number) => Rule['dateOf']) =>
    language[unit].map((words, i) => ({ words, dateOf: dateOf(i - 1) }))
  const gap = bounds === 'dictionary' ? '' : ' '
  return [
    ...three('weekday', (by) => (found, at) => {
      // The longest name: one may begin or end with another.
      const ends = weekdays.map((name) => new RegExp(name, 'u').exec(found)?.[0].length ?? 0)
      return weekdayOf(at, by, ends.indexOf(Math.max(...ends)), how)
    }).map((one) => ({
      ...one,
      words: one.words.includes('{weekday}')
        ? one.words.replaceAll('{weekday}', any)
        : `${one.words}${gap}${any}`,
    })),
    ...Object.entries(language.days).map(([words, by]) => ({
      words,
      dateOf: (_: string, at: number) => dayOf(at + by * dayMs),
    })),
    ...three('week', (by) => (_, at) => weekOf(dayOf(mondayOf(at) + by * 7 * dayMs))),
    ...three('month', (by) => (_, at) => movedBy(at, by, 'month').slice(0, 'yyyy-mm'.length)),
    ...three('year', (by) => (_, at) => String(new Date(at).getUTCFullYear() + by)),
  ].map(({ words, dateOf }) => ({ pattern: words, dateOf }))
}

function movedBy(at: number, by: number, what: string): string {
  if (what === 'day' || what === 'week') return dayOf(at + by * unitDays[what] * dayMs)
  const date = new Date(at)
  const months = by * (what === 'month' ? 1 : 12)
  // The last day of a shorter month stands for days it does not have.
  const first = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1))
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate()
  return dayOf(first.getTime() + (Math.min(date.getUTCDate(), last) - 1) * dayMs)
}

const mondayOf = (at: number): number => at - ((new Date(at).getUTCDay() + 6) % 7) * dayMs

function weekdayOf(at: number, by: number, weekday: number, how: DateLanguage['counted']): string {
  if (how === 'within') return dayOf(mondayOf(at) + (by * 7 + ((weekday + 6) % 7)) * dayMs)
  const ahead = (weekday - new Date(at).getUTCDay() + 7) % 7
  if (by < 0) return dayOf(at + (ahead === 0 ? -7 : ahead - 7) * dayMs)
  return dayOf(at + (ahead === 0 && by > 0 ? 7 : ahead) * dayMs)
}
