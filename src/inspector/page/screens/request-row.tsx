// One request as a row: the numbers that the chart draws.
import { indexAt } from '../data/requests.ts'
import type { OpenSession } from '../data/session.ts'
import { clock, dollars, percent, short, whole } from '../text/format.ts'
import { Name } from '../text/shown-text.tsx'

export const requestColumns = ['request', 'sent', 'tokens', 'read', 'cost', 'output'] as const

export function RequestRowCells({ seq, open }: { readonly seq: number; readonly open: OpenSession }) {
  const rows = open.requests.value
  const row = rows[indexAt(rows, seq)]
  if (row === undefined || row.seq !== seq)
    return (
      <>
        <span role="gridcell" class="c0 n">
          {seq}
        </span>
        <span role="gridcell" class="c1 dim">
          …
        </span>
      </>
    )
  const prompt = (row.input ?? 0) + (row.read ?? 0) + (row.written ?? 0)
  return (
    <>
      <span role="gridcell" class="c0 n">
        #{row.number}
      </span>
      <span role="gridcell" class="c1 what">
        {clock(row.at)} <Name of={row.source} />{' '}
        <span class="preview">
          <Name of={row.model} />
        </span>
        {row.break !== null && <span class="bad">cache break</span>}
      </span>
      <span role="gridcell" class="c2 n">
        {whole(row.tokens)}
      </span>
      <span role="gridcell" class="c3 n">
        {prompt === 0 ? 'no answer yet' : `${percent((row.read ?? 0) / prompt)} of the prompt`}
      </span>
      <span role="gridcell" class="c4 n">
        {row.input === null ? '' : dollars(row.dollars)}
      </span>
      <span role="gridcell" class="c5 n">
        {row.output === null ? '' : short(row.output)}
      </span>
    </>
  )
}
