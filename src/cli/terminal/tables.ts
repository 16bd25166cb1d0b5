// Tables, wrapped text, bars and numbers for the terminal. Whatever is put into a cell is made safe first.
import { whole } from '../../transcript/whole.ts'
import { safeLine } from './safe-text.ts'

interface Column {
  readonly title: string
  readonly right?: boolean
  readonly wraps?: boolean
  readonly drop?: number | undefined
}

// The columns of a table; a title alone is one that always stays. `drop`: left out where the room is small, the highest number first.
export const left = (title: string, drop: number): Column => ({ title, drop })
export const right = (title: string, drop?: number): Column => ({ title, right: true, drop })
/** Text that goes on in the next line where the room is small; of several the last ones shrink first. */
export const wraps = (title: string, drop?: number): Column => ({ title, wraps: true, drop })

/** A text column narrower than this is not worth reading. */
const leastText = 16
const gap = '  '

/**
 * A table in the room there is: text columns wrap, then the columns that may be dropped go, and where even that is too
 * wide each row becomes a block of lines. Nothing that stays is cut.
 */
export function table(
  titles: readonly (string | Column)[],
  rows: readonly (readonly string[])[],
  room: number,
): string {
  const columns = titles.map((one) => (typeof one === 'string' ? { title: one } : one))
  const safe = rows.map((row) => row.map((cell) => safeLine(cell)))
  let kept = columns.map((_, at) => at)
  for (;;) {
    const widths = fitted(columns, kept, safe, room)
    if (widths !== null) return asLines(columns, kept, safe, widths)
    const next = kept
      .filter((at) => columns[at]!.drop !== undefined)
      .toSorted((a, b) => columns[b]!.drop! - columns[a]!.drop!)[0]
    if (next === undefined) return asBlocks(columns, kept, safe, room)
    kept = kept.filter((at) => at !== next)
  }
}

/** The widths of these columns in this room, or null where they do not fit. */
function fitted(
  columns: readonly Column[],
  kept: readonly number[],
  rows: readonly (readonly string[])[],
  room: number,
): ReadonlyMap<number, number> | null {
  const widths = new Map(
    kept.map((at) => [
      at,
      Math.max(widthOf(columns[at]!.title), ...rows.map((row) => widthOf(row[at] ?? ''))),
    ]),
  )
  const sum = (): number =>
    [...widths.values()].reduce((total, width) => total + width, gap.length * (kept.length - 1))
  for (const at of kept.toReversed()) {
    const over = sum() - room
    if (over <= 0) break
    const { title, wraps } = columns[at]!
    const width = widths.get(at)!
    if (wraps === true) widths.set(at, Math.min(width, Math.max(width - over, widthOf(title), leastText)))
  }
  return sum() <= room ? widths : null
}

function asLines(
  columns: readonly Column[],
  kept: readonly number[],
  rows: readonly (readonly string[])[],
  widths: ReadonlyMap<number, number>,
): string {
  const lines = (cells: readonly string[]): string[] => {
    const pieces = kept.map((at) => wordWrapped(cells[at] ?? '', widths.get(at)!))
    return Array.from({ length: Math.max(1, ...pieces.map(({ length }) => length)) }, (_, line) =>
      kept
        .map((at, place) => {
          const piece = pieces[place]![line] ?? ''
          const blank = ' '.repeat(Math.max(0, widths.get(at)! - widthOf(piece)))
          return columns[at]!.right === true ? blank + piece : piece + blank
        })
        .join(gap)
        .trimEnd(),
    )
  }
  const all = [lines(columns.map(({ title }) => title)), ...rows.map(lines)].flat()
  return `${all.join('\n')}\n`
}

/** Each row as lines of its own: the first cell, and below it what the others say. */
function asBlocks(
  columns: readonly Column[],
  kept: readonly number[],
  rows: readonly (readonly string[])[],
  room: number,
): string {
  const blocks = rows.map((row) =>
    kept
      .filter((at) => (row[at] ?? '') !== '')
      .flatMap((at, place) => {
        const { title } = columns[at]!
        const text = place === 0 || title === '' ? row[at]! : `${title}: ${row[at]!}`
        const indent = place === 0 ? '' : gap
        return wordWrapped(text, Math.max(1, room - indent.length)).map((line) => `${indent}${line}`)
      })
      .join('\n'),
  )
  return `${blocks.join('\n')}\n`
}

/** Lines of at most this width, broken at blanks; a word that is wider is broken where it must. */
export function wordWrapped(text: string, width: number): readonly string[] {
  if (widthOf(text) <= width) return [text]
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (widthOf(longer) <= width) {
      line = longer
      continue
    }
    if (line !== '') lines.push(line)
    line = word
    while (widthOf(line) > width) {
      const head = headOf(line, width)
      lines.push(head)
      line = line.slice(head.length)
    }
  }
  return [...lines, line]
}

function headOf(text: string, width: number): string {
  let head = ''
  for (const char of text) {
    if (head !== '' && widthOf(head + char) > width) break
    head += char
  }
  return head
}

/** Prose in the room there is: no line is left to the terminal, which breaks words. Blanks before a line stay. */
export const prose = (text: string, room: number): string =>
  text
    .split('\n')
    .flatMap((line) => {
      if (widthOf(line) <= room) return [line]
      const indent = /^ */.exec(line)![0]
      return wordWrapped(line.slice(indent.length), Math.max(1, room - indent.length)).map((piece) =>
        `${indent}${piece}`.trimEnd(),
      )
    })
    .join('\n')

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

export { whole }

/** "1 part", "2 parts". */
export const counted = (count: number, noun: string): string =>
  `${whole(count)} ${noun}${count === 1 ? '' : 's'}`

/** Said wherever sums are shown: a server that reports nothing is not free. */
export const countedByUs = (estimated: number, requests: number): string =>
  `The server did not say what ${whole(estimated)} of ${whole(requests)} answers took: they are counted by size, as plain input.\n`

export function dollars(value: number | null): string {
  if (value === null) return '?'
  const size = Math.abs(value)
  return `${value < 0 ? '−' : ''}$${size.toFixed(size < 0.1 ? 4 : 2)}`
}

/** A time as people read it: 8s, 1m 05s, 2h 03m. */
export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const two = (value: number): string => String(value).padStart(2, '0')
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`
  return `${Math.floor(seconds / 3600)}h ${two(Math.floor((seconds % 3600) / 60))}m`
}

export const percent = (share: number): string =>
  `${(share * 100).toFixed(share > 0 && share < 0.01 ? 2 : 1)}%`

/** Tokens in as few characters as tell them apart: 950, 5.5K, 203K, 1M. */
export function short(tokens: number): string {
  if (tokens < 1000) return String(tokens)
  return tokens < 1_000_000
    ? `${(tokens / 1000).toFixed(tokens < 10_000 ? 1 : 0)}K`
    : `${(tokens / 1_000_000).toFixed(tokens % 1_000_000 === 0 ? 0 : 2)}M`
}

/** Local time, to the minute. */
export function moment(ms: number): string {
  const at = new Date(ms)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`
}

/** A path as people write it: `~` for their home. */
export const shortPath = (path: string, home: string): string =>
  path === home ? '~' : path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
