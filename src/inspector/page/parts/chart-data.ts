// A session's window over time as a chart takes it: stacked tokens by holder, where the prompt came from, money, marks.
import { holderNames, type RequestRow } from '../data/requests.ts'

export type MarkKind = 'edit' | 'compaction' | 'break' | 'agent' | 'input'

export interface Mark {
  /** The number of the request it stands at. */
  readonly at: number
  readonly kind: MarkKind
  readonly seq: number
}

export interface ChartData {
  /** Request numbers, growing. */
  readonly x: readonly number[]
  /** Tokens by holder, in the order of `holderNames`. */
  readonly held: readonly (readonly number[])[]
  readonly input: readonly (number | null)[]
  readonly read: readonly (number | null)[]
  readonly written: readonly (number | null)[]
  readonly dollars: readonly (number | null)[]
  readonly limit: number | null
  readonly marks: readonly Mark[]
}

/** From the bottom of the picture to its top: what changes least lies lowest. */
export const stackOrder = ['tools', 'system', 'summary', 'user', 'assistant', 'results'] as const

export function chartOf(rows: readonly RequestRow[], marks: readonly Mark[]): ChartData {
  return {
    x: rows.map(({ number }) => number),
    held: rows.map(({ held }) => held),
    input: rows.map(({ input }) => input),
    read: rows.map(({ read }) => read),
    written: rows.map(({ written }) => written),
    dollars: rows.map(({ dollars }) => dollars),
    limit: rows.at(-1)?.limit ?? null,
    marks,
  }
}

/**
 * Columns for the chart: x, then cumulative tokens from the highest layer to the lowest, each painted over the one before.
 * The last request is drawn as wide as the others, so one more x closes it.
 */
export function stacked({ x, held }: ChartData): number[][] {
  const order = stackOrder.map((name) => holderNames.indexOf(name))
  const columns: number[][] = [[], ...order.map(() => [])]
  const push = (number: number, tokens: readonly number[]): void => {
    columns[0]!.push(number)
    let sum = 0
    order.forEach((holder, layer) => {
      sum += tokens[holder] ?? 0
      columns[order.length - layer]!.push(sum)
    })
  }
  x.forEach((number, at) => push(number, held[at]!))
  if (x.length > 0) push(x.at(-1)! + 1, held.at(-1)!)
  return columns
}
