// Screen S: all sessions, those at work first.
import type { SessionRow } from '../../protocol.ts'
import { useState } from 'preact/hooks'
import { fragmentOf } from '../data/address.ts'
import { titleOf, usePage } from '../data/state.ts'
import { Many } from '../parts/many.tsx'
import { bytes, counted, dollars, moment, percent, short, whole } from '../text/format.ts'
import { marked, Name, NameFact } from '../text/shown-text.tsx'

export function SessionsScreen() {
  const page = usePage()
  const list = page.sessions.value
  const [wanted, setWanted] = useState('')
  if (list === null) return page.problem.value === null ? <p class="waiting">Loading…</p> : null
  const rows = [...list.sessions]
    .filter((row) => isFound(row, wanted))
    .sort((a, b) => Number(b.owner !== null) - Number(a.owner !== null) || b.modifiedAt - a.modifiedAt)
  const live = list.sessions.filter(({ owner }) => owner !== null).length
  return (
    <article class="sessions">
      <header>
        <h2>
          Sessions{' '}
          <span class="dim">
            {whole(list.sessions.length)}
            {live > 0 && `, ${whole(live)} live`}
          </span>
        </h2>
        <label>
          <span class="sr">narrow to</span>
          <input
            type="search"
            placeholder="narrow to title, folder or id"
            value={wanted}
            onInput={(event) => setWanted(event.currentTarget.value)}
          />
        </label>
      </header>
      {list.problems.map((problem, at) => (
        <p key={at} class="problem">
          {marked(problem)}
        </p>
      ))}
      {list.sessions.length === 0 && (
        <p class="empty">There is no session yet. Start one with `pal` in a project folder.</p>
      )}
      <ul class="session-rows">
        <Many of={rows} unit="session">
          {(row) => <Row key={row.session} row={row} />}
        </Many>
      </ul>
    </article>
  )
}

const isFound = (row: SessionRow, wanted: string): boolean =>
  [row.session, row.title, row.cwd ?? '', row.purpose].some((text) =>
    text.toLowerCase().includes(wanted.trim().toLowerCase()),
  )

function Row({ row }: { readonly row: SessionRow }) {
  const { figures, window } = row
  return (
    <li>
      <a href={fragmentOf({ session: row.session, screen: 'window', from: null, to: null })}>
        <span class={row.owner === null ? 'dot' : 'dot live'} aria-hidden="true" />
        <Name of={titleOf(row, row.session)} />
      </a>
      <Fill window={window} />
      <p class="facts">
        {row.owner !== null && (
          <span class="on">
            live: <Name of={row.owner} />
          </span>
        )}
        <span>{moment(row.modifiedAt)}</span>
        {row.kind === 'gateway' && <span class="tag">gateway</span>}
        {row.purpose !== 'main' && <NameFact of={row.purpose} look="tag" />}
        <NameFact of={row.cwd} />
        {figures !== null && (
          <>
            <span>{counted(figures.requests, 'request')}</span>
            <span>{short(figures.read)} read</span>
            <span>
              <b>{dollars(figures.dollars)}</b>
              {figures.unpriced > 0 && ` and ${counted(figures.unpriced, 'answer')} without a price`}
              {figures.estimated > 0 && `, ${counted(figures.estimated, 'answer')} counted by size`}
            </span>
          </>
        )}
        <span>{bytes(row.bytes)}</span>
        {row.lastBreak !== null && (
          <span>
            last break {short(row.lastBreak.tokens)} at {moment(row.lastBreak.at)}
          </span>
        )}
        {row.damage !== null && <span class="bad">{marked(row.damage)}</span>}
        <NameFact of={row.session} look="dim" />
      </p>
    </li>
  )
}

function Fill({ window }: { readonly window: SessionRow['window'] }) {
  if (window === null || window.limit === 0) return <span class="fill" aria-hidden="true" />
  const share = Math.min(1, window.tokens / window.limit)
  return (
    <span class="fill" title={`${whole(window.tokens)} of ${whole(window.limit)} tokens`}>
      <span class="bar" aria-hidden="true">
        <span style={{ width: percent(share) }} />
      </span>
      {percent(share)}
    </span>
  )
}
