// Tables, bars and numbers for the terminal. Whatever is put into a cell is made safe first.
import { safeLine } from './safe-text.ts'

export interface Column {
  readonly title: string
  readonly right?: boolean
}

/** Cells that do not fit are not cut: a table that hides what it was asked for is of no use. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const safe = rows.map((row) => row.map((cell) => safeLine(cell)))
  const widths = columns.map(({ title }, at) =>
    Math.max(widthOf(title), ...safe.map((row) => widthOf(row[at] ?? ''))),
  )
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ right }, at) => {
        const cell = cells[at] ?? ''
        const blank = ' '.repeat(Math.max(0, widths[at]! - widthOf(cell)))
        return right === true ? blank + cell : cell + blank
      })
      .join('  ')
      .trimEnd()
  return `${[line(columns.map(({ title }) => title)), ...safe.map(line)].join('\n')}\n`
}

const wide =
  /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE4F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}]/u
const widthOf = (text: string): number =>
  Array.from(text).reduce((sum, char) => sum + (wide.test(char) ? 2 : 1), 0)

/** A share as blocks; a share that is there shows at least a sliver. */
export function bar(share: number, width: number): string {
  const eighths = Math.round(share * width * 8)
  const sliver = share > 0 ? Math.max(1, eighths) : 0
  return '█'.repeat(Math.floor(sliver / 8)) + (['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][sliver % 8] ?? '')
}

export const whole = (value: number): string =>
  Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ' ')

export const dollars = (value: number | null): string =>
  value === null ? '?' : `$${value.toFixed(value < 0.1 ? 4 : 2)}`
export const percent = (share: number): string =>
  `${(share * 100).toFixed(share > 0 && share < 0.01 ? 2 : 1)}%`

/** Local time, to the minute. */
export function moment(ms: number): string {
  const at = new Date(ms)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`
}
