// The requests of one session in the page, in order of their places, put together from chunks that come newest first.
import { firstFrom } from '../../columns.ts'
import type { RequestChunk, Totals } from '../../protocol.ts'

type Shown = 'seq' | 'number' | 'at' | 'tokens' | 'byHolder' | 'limit'
type Counted = 'input' | 'read' | 'written' | 'output' | 'dollars' | 'answer' | 'break' | 'ms' | 'tries'
export type RequestRow = { readonly [Name in Shown | Counted]: RequestChunk[Name][number] } & {
  readonly source: string
  readonly model: string
}

export const holderNames = ['system', 'tools', 'user', 'assistant', 'results', 'summary'] as const

export function rowsOf(chunk: RequestChunk): RequestRow[] {
  return chunk.seq.map((seq, at) => ({
    seq,
    number: chunk.number[at]!,
    at: chunk.at[at]!,
    source: chunk.sources[chunk.source[at]!] ?? '',
    model: chunk.models[chunk.model[at]!] ?? '',
    input: chunk.input[at] ?? null,
    read: chunk.read[at] ?? null,
    written: chunk.written[at] ?? null,
    output: chunk.output[at] ?? null,
    dollars: chunk.dollars[at] ?? null,
    tokens: chunk.tokens[at]!,
    byHolder: chunk.byHolder[at]!,
    limit: chunk.limit[at]!,
    answer: chunk.answer[at] ?? null,
    break: chunk.break[at] ?? null,
    ms: chunk.ms[at] ?? null,
    tries: chunk.tries[at] ?? null,
  }))
}

/** Two runs of rows, both in order, the newer saying what is so where both have one. */
export function joined(known: readonly RequestRow[], came: readonly RequestRow[]): readonly RequestRow[] {
  if (came.length === 0) return known
  const older = known.slice(0, indexAt(known, came[0]!.seq - 1) + 1)
  const newer = known.slice(indexAt(known, came.at(-1)!.seq) + 1)
  return older.concat(came, newer)
}

/** The row at a place or the last before it; -1 where there is none. */
export const indexAt = (rows: readonly RequestRow[], seq: number): number =>
  firstFrom(rows.length, (at) => rows[at]!.seq <= seq) - 1

export interface Sums extends Omit<Totals, 'estimated'> {
  readonly carried: number
  readonly unanswered: number
  readonly breaks: number
}

/** The sum over some requests. An answer counts once; what has no price is counted apart and never as nothing. */
export function sumsOf(rows: readonly RequestRow[]): Sums {
  const sums = {
    requests: rows.length,
    carried: 0,
    input: 0,
    read: 0,
    written: 0,
    output: 0,
    dollars: 0,
    unpriced: 0,
    unanswered: 0,
    breaks: 0,
  }
  for (const row of rows) {
    sums.carried += row.tokens
    sums.input += row.input ?? 0
    sums.read += row.read ?? 0
    sums.written += row.written ?? 0
    sums.output += row.output ?? 0
    if (row.input === null) sums.unanswered++
    else if (row.dollars === null) sums.unpriced++
    else sums.dollars += row.dollars
    if (row.break !== null) sums.breaks++
  }
  return sums
}
