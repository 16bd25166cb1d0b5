// Screen K: every cache break, worst first, with its causes; a row leads to the request and the byte.
import type { BreakRow } from '../../protocol.ts'
import { fragmentOf } from '../data/address.ts'
import type { OpenSession } from '../data/session.ts'
import { Many } from '../parts/many.tsx'
import { clock, counted, dollars, whole } from '../text/format.ts'
import { marked, ShownText, NameFact } from '../text/shown-text.tsx'

export function BreaksScreen({ open, seq }: { readonly open: OpenSession; readonly seq: number | null }) {
  const breaks = open.breaks.value
  const lost = breaks.reduce((sum, { tokens }) => sum + tokens, 0)
  const priced = breaks.flatMap(({ dollars: cost }) => cost ?? [])
  const unpriced = breaks.length - priced.length
  return (
    <article class="breaks">
      <header>
        <h2>Cache breaks</h2>
        {breaks.length > 0 && (
          <p class="facts">
            <span>
              <b>{counted(breaks.length, 'break')}</b>
            </span>
            <span>{whole(lost)} tokens sent again</span>
            <span>
              <b>{priced.length === 0 ? '?' : dollars(priced.reduce((sum, cost) => sum + cost, 0))}</b>
              {unpriced > 0 && ` and ${whole(unpriced)} without a price`}
            </span>
            <span>
              {counted(breaks.filter(({ isAnnounced }) => isAnnounced).length, 'announced', 'announced')}
            </span>
          </p>
        )}
      </header>
      {breaks.length === 0 && <p class="empty">No cache break has been seen in this session.</p>}
      <ol>
        <Many of={breaks} unit="break">
          {(row) => <Break key={row.seq} row={row} session={open.id} isOpen={row.seq === seq} />}
        </Many>
      </ol>
    </article>
  )
}

function Break({
  row,
  session,
  isOpen,
}: {
  readonly row: BreakRow
  readonly session: string
  readonly isOpen: boolean
}) {
  return (
    <li class={isOpen ? 'break chosen' : 'break'} id={`break-${row.seq}`}>
      <p class="facts">
        <b class="n">{whole(row.tokens)} tokens</b>
        <b class="n">{dollars(row.dollars)}</b>
        <a href={fragmentOf({ session, screen: 'breaks', seq: row.seq })}>entry {row.seq}</a>
        <span>{clock(row.at)}</span>
        <NameFact of={row.source} />
        <span class={row.isAnnounced ? 'on' : 'bad'}>
          {row.isAnnounced ? 'announced by an edit' : 'not announced'}
        </span>
      </p>
      <ul class="causes">
        {row.causes.map((cause, at) => (
          <li key={at}>{marked(cause)}</li>
        ))}
        {row.provider !== null && <li>the provider says: {marked(row.provider)}</li>}
        {row.differs !== null && <li class="bad">not the same: {marked(row.differs)}</li>}
      </ul>
      <p class="facts">
        {row.request !== null && (
          <a href={fragmentOf({ session, screen: 'request', seq: row.request, look: 'diff' })}>
            show the byte
          </a>
        )}
        {row.entry !== null && (
          <a href={fragmentOf({ session, screen: 'block', seq: row.entry, block: row.block ?? 0 })}>
            first difference: entry {row.entry}
            {row.block !== null && `, block ${row.block}`}
            {row.offset !== null && `, byte ${whole(row.offset)}`}
          </a>
        )}
      </p>
      {row.diff !== null && row.diff !== '' && <ShownText text={row.diff} className="diff-text" />}
    </li>
  )
}
