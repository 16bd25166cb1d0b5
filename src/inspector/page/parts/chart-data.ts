// A session's window over time as a chart takes it: stacked tokens by holder, where the prompt came from, money, marks.
import { firstFrom } from '../../columns.ts'
import { holderNames } from '../data/requests.ts'

export type MarkKind = 'edit' | 'compaction' | 'break' | 'agent' | 'input'

export interface Mark {
  /** The number of the request it stands at. */
  readonly at: number
  readonly kind: MarkKind
  readonly seq: number
}

/** One request as a chart draws it. */
export interface ChartRow {
  readonly number: number
  /** Tokens by holder, in the order of `holderNames`. */
  readonly byHolder: readonly number[]
  readonly tokens: number
  readonly input: number | null
  readonly read: number | null
  readonly written: number | null
  readonly dollars: number | null
}

export interface ChartData {
  /** In order of their numbers. */
  readonly rows: readonly ChartRow[]
  readonly limit: number | null
  readonly marks: readonly Mark[]
}

/** From the bottom of the picture to its top: what changes least lies lowest. */
export const stackOrder = ['tools', 'system', 'summary', 'user', 'assistant', 'results'] as const

/** More requests than a screen has pixels share columns. */
const mostColumns = 2500

/** The first row whose number is not below. */
export const rowFrom = (rows: readonly ChartRow[], number: number): number =>
  firstFrom(rows.length, (at) => rows[at]!.number < number)

/**
 * Columns for the chart over a span of request numbers: x, then cumulative tokens from the highest layer to the lowest, each painted
 * over the one before. Of requests that share a column the largest is drawn. The last is as wide as the others, so one more x closes it.
 */
export function stacked({ rows }: ChartData, [from, to]: readonly [number, number]): number[][] {
  const order = stackOrder.map((name) => holderNames.indexOf(name))
  const columns: number[][] = [[], ...order.map(() => [])]
  const push = (number: number, { byHolder }: ChartRow): void => {
    columns[0]!.push(number)
    let sum = 0
    order.forEach((holder, layer) => {
      sum += byHolder[holder] ?? 0
      columns[order.length - layer]!.push(sum)
    })
  }
  const first = Math.max(0, rowFrom(rows, from) - 1)
  const end = Math.min(rows.length, rowFrom(rows, to) + 1)
  const step = Math.max(1, Math.ceil((end - first) / mostColumns))
  for (let at = first; at < end; at += step) {
    let largest = rows[at]!
    for (let next = at + 1; next < Math.min(end, at + step); next++)
      if (rows[next]!.tokens > largest.tokens) largest = rows[next]!
    push(rows[at]!.number, largest)
  }
  if (end > first) push(rows[end - 1]!.number + 1, rows[end - 1]!)
  return columns
}

/** One mark for a kind at a request: the first. Both lists in order; what happened stands at the request that came after it. */
export function marksAt(
  places: Iterable<number>,
  kindOf: (place: number) => MarkKind,
  rows: readonly (ChartRow & { readonly seq: number })[],
): readonly Mark[] {
  const marks: Mark[] = []
  const lastOf = new Map<MarkKind, number>()
  let at = 0
  for (const seq of places) {
    while (at < rows.length - 1 && rows[at]!.seq <= seq) at++
    const { number } = rows[at]!
    const kind = kindOf(seq)
    if (lastOf.get(kind) === number) continue
    lastOf.set(kind, number)
    marks.push({ at: number, kind, seq })
  }
  return marks
}
