// Screen R: one request as it was sent, with the proof that it is, its parts, its bytes, and the difference to the one before.
import type { RequestDetail, RequestDifference } from '../../protocol.ts'
import { fragmentOf, type RequestLook } from '../data/address.ts'
import type { OpenSession } from '../data/session.ts'
import { Shown, useAsked } from '../parts/asked.tsx'
import { Raw } from '../parts/raw.tsx'
import { clock, counted, dollars, duration, whole } from '../text/format.ts'
import { marked, Name, NameFact } from '../text/shown-text.tsx'
import { RequestParts } from './request-parts.tsx'

export function RequestScreen({
  open,
  seq,
  look,
}: {
  readonly open: OpenSession
  readonly seq: number
  readonly look: RequestLook
}) {
  const isAnswered = open.requests.value.find((row) => row.seq === seq)?.answer ?? null
  const asked = useAsked<RequestDetail>(`${open.path}/request/${seq}`, isAnswered)
  return (
    <Shown asked={asked}>
      {(detail) => (
        <article class="request">
          <Heading detail={detail} session={open.id} look={look} />
          {look === 'parts' && <RequestParts detail={detail} open={open} />}
          {look === 'diff' && <Against detail={detail} session={open.id} />}
          {look === 'raw' && (
            <Raw
              path={`${open.path}/request/${seq}/body`}
              bytes={detail.bytes}
              name={`request-${detail.number}.json`}
            />
          )}
        </article>
      )}
    </Shown>
  )
}

function Heading({
  detail,
  session,
  look,
}: {
  readonly detail: RequestDetail
  readonly session: string
  readonly look: RequestLook
}) {
  const to = (wanted: RequestLook): string =>
    fragmentOf({ session, screen: 'request', seq: detail.seq, look: wanted })
  const names: Readonly<Record<RequestLook, string>> = {
    parts: 'parts',
    diff: detail.against === null ? 'against the one before' : `against #${detail.against.number}`,
    raw: 'raw',
  }
  return (
    <header>
      <h2>
        Request #{detail.number} <span class="dim">entry {detail.seq}</span>
      </h2>
      <p class="facts">
        <span>{clock(detail.at)}</span>
        <NameFact of={detail.source} />
        <NameFact of={detail.model} />
        <span>
          <b>{whole(detail.tokens)}</b> tokens{detail.counted === 'estimate' ? ' (our estimate)' : ''} of{' '}
          {whole(detail.limit)}
        </span>
        {detail.timing !== null && (
          <span>
            {duration(detail.timing.ms)}
            {detail.timing.firstMs !== undefined && `, first byte after ${duration(detail.timing.firstMs)}`}
            {detail.timing.tries > 1 && `, ${counted(detail.timing.tries, 'try', 'tries')}`}
          </span>
        )}
      </p>
      <Proof detail={detail} />
      <nav class="looks" aria-label="Ways to look at this request">
        {(Object.keys(names) as RequestLook[]).map((one) => (
          <a key={one} href={to(one)} aria-current={one === look ? 'page' : undefined}>
            {names[one]}
          </a>
        ))}
      </nav>
    </header>
  )
}

function Proof({ detail }: { readonly detail: RequestDetail }) {
  const { usage } = detail
  return (
    <>
      <p class={detail.isExact ? 'proof good' : 'proof bad'}>
        {detail.isExact
          ? `✓ ${whole(detail.bytes)} bytes, equal to what was sent`
          : `✗ not the bytes that were sent: ${detail.inexact ?? 'the hashes differ'}`}{' '}
        <code title={detail.hash}>{detail.hash.slice(0, 12)}</code>
        {!detail.isExact && (
          <>
            {' now '}
            <code title={detail.composedHash}>{detail.composedHash.slice(0, 12)}</code>
          </>
        )}
      </p>
      {usage !== null && (
        <p class="facts">
          {(['read', 'written', 'input', 'output'] as const).map((name) => (
            <span key={name}>
              {name} <b>{whole(usage[name])}</b>
            </span>
          ))}
          <span>
            <b>{dollars(usage.dollars)}</b>
          </span>
          {usage.isEstimated && <span>counted by size: the server did not say</span>}
          {detail.lifetime !== null && (
            <span>
              cache for <Name of={detail.lifetime} />
            </span>
          )}
          {detail.diagnosis !== null && <span>the provider says: {marked(detail.diagnosis)}</span>}
        </p>
      )}
    </>
  )
}

function Against({ detail, session }: { readonly detail: RequestDetail; readonly session: string }) {
  const { against } = detail
  if (against === null)
    return <p class="empty">This is the first request of its source: there is none to compare it with.</p>
  if (against.where === null)
    return (
      <p class="good">
        It begins with all {whole(against.common)} bytes of #{against.number} that stand before its
        breakpoints, and goes on: nothing of the cached part was changed.
      </p>
    )
  return <Difference against={against} session={session} />
}

function Difference({ against, session }: { readonly against: RequestDifference; readonly session: string }) {
  return (
    <div class="difference">
      <p>
        <b>{whole(against.common)}</b> bytes in common with #{against.number}, then{' '}
        {marked(against.where ?? '')}
        {against.entry !== null && (
          <>
            {' · '}
            <a href={fragmentOf({ session, screen: 'block', seq: against.entry, block: against.block ?? 0 })}>
              open entry {against.entry}
            </a>
          </>
        )}
      </p>
      <pre class="was" aria-label={`in #${against.number}`}>
        <span aria-hidden="true">− </span>
        {marked(against.before)}
      </pre>
      <pre class="is" aria-label="in this request">
        <span aria-hidden="true">+ </span>
        {marked(against.after)}
      </pre>
      {against.lost !== null && (
        <p class="bad">
          lost {whole(against.lost.tokens)} tokens = {dollars(against.lost.dollars)} ·{' '}
          {marked(against.lost.causes.join('; '))}
        </p>
      )}
    </div>
  )
}
