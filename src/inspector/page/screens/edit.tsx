// Screen E: an edit or a compaction: what was there, what stands there now, what the audit says, what it was to save and has saved.
import type { AuditDetail, EditDetail, EditedEntry, RecordedHead } from '../../protocol.ts'
import { fragmentOf } from '../data/address.ts'
import type { OpenSession } from '../data/session.ts'
import { usePage } from '../data/state.ts'
import { Shown, useAsked } from '../parts/asked.tsx'
import { WishButton } from '../parts/confirm.tsx'
import { wordFor } from '../parts/icon.tsx'
import { Many } from '../parts/many.tsx'
import { clock, counted, dollars, percent, whole } from '../text/format.ts'
import { marked, Name, ShownText, NameFact } from '../text/shown-text.tsx'
import { Recorded } from './recorded.tsx'

export function EditScreen({ open, seq }: { readonly open: OpenSession; readonly seq: number }) {
  const state = open.edits.value.find((edit) => edit.seq === seq)
  const asked = useAsked<EditDetail | RecordedHead>(
    `${open.path}/edit/${seq}`,
    `${state?.state} ${state?.realised} ${state?.undoneBy}`,
  )
  return (
    <Shown asked={asked}>
      {(detail) =>
        detail.kind === 'recorded' ? (
          <Recorded head={detail} open={open} />
        ) : (
          <Edited detail={detail} open={open} />
        )
      }
    </Shown>
  )
}

function Edited({ detail, open }: { readonly detail: EditDetail; readonly open: OpenSession }) {
  return (
    <article class="edit">
      <Heading detail={detail} />
      <Money detail={detail} />
      {detail.compaction !== null && detail.compaction.audit !== null && (
        <Audit audit={detail.compaction.audit} session={open.id} />
      )}
      <div class="sides">
        <section aria-label="Before">
          <h3>
            Before <span class="dim">{whole(detail.tokensBefore)} tokens</span>
          </h3>
          <ol class="before">
            <Many of={detail.before} unit="block">
              {(entry, at) => <Before key={at} entry={entry} session={open.id} />}
            </Many>
          </ol>
          {detail.before.length === 0 && <p class="empty">Nothing that is listed by entries.</p>}
        </section>
        <section aria-label="After">
          <h3>
            After <span class="dim">{whole(detail.tokensAfter)} tokens</span>
          </h3>
          {detail.after.map(({ kind, seq: place, tokens, text }, at) => (
            <div key={at} class={`after a-${kind}`}>
              <p class="facts">
                <b>{kind}</b>
                {place !== null && (
                  <a href={fragmentOf({ session: open.id, screen: 'block', seq: place, block: 0 })}>
                    {place}
                  </a>
                )}
                <span>{whole(tokens)} tokens</span>
              </p>
              <ShownText text={text} />
            </div>
          ))}
          {detail.after.length === 0 && (
            <p class="empty">Nothing stands there: it was removed from context.</p>
          )}
        </section>
      </div>
    </article>
  )
}

function Heading({ detail }: { readonly detail: EditDetail }) {
  const page = usePage()
  const name = detail.kind === 'compaction' ? 'Compaction' : detail.kind === 'spill' ? 'Large result' : 'Edit'
  const canChange = page.about.value?.canChange === true
  const { compaction } = detail
  return (
    <header>
      <h2>
        {name} {detail.seq} <NameFact of={detail.layer} look="dim" />
      </h2>
      <p class="facts">
        <span>{clock(detail.at)}</span>
        <span>asked: {detail.asked}</span>
        {compaction !== null && (
          <span>
            <Name of={compaction.trigger} />, text by <Name of={compaction.source} />
          </span>
        )}
        {detail.does.map(({ kind, count }) => (
          <span key={kind}>
            {whole(count)} × <Name of={kind} />
          </span>
        ))}
        {detail.from !== null && (
          <span>
            entries {detail.from}–{detail.to}
          </span>
        )}
        <span class={detail.state === 'live' ? 'on' : 'gone'}>{detail.state}</span>
      </p>
      <p class="why">{marked(detail.why)}</p>
      {compaction !== null && compaction.instructions !== null && (
        <p class="why">asked for: “{marked(compaction.instructions)}”</p>
      )}
      {canChange && (
        <p class="actions">
          {detail.state === 'live' && (
            <WishButton
              wish={{
                verb: 'undo',
                target: detail.seq,
                about: `Undoes ${name.toLowerCase()} ${detail.seq}: what it removed is in context again, ${whole(detail.freed)} tokens, and stays there until you release it.`,
              }}
            >
              undo
            </WishButton>
          )}
          {detail.undoneBy !== null && (
            <WishButton
              wish={{
                verb: 'release',
                target: detail.undoneBy!,
                about: `Releases what the undo at ${detail.undoneBy} holds: layers may remove it from context again.`,
              }}
            >
              release
            </WishButton>
          )}
        </p>
      )}
    </header>
  )
}

function Money({ detail }: { readonly detail: EditDetail }) {
  const { price, freed, foreseen, realised } = detail
  return (
    <dl class="money">
      <div>
        <dt>freed</dt>
        <dd>{whole(freed)} tokens</dd>
      </div>
      <div>
        <dt>foreseen</dt>
        <dd>{foreseen === null ? 'not priced' : dollars(foreseen)}</dd>
      </div>
      <div>
        <dt>so far</dt>
        <dd class={realised !== null && realised < 0 ? 'bad' : ''}>
          {realised === null ? 'not known' : dollars(realised)}
        </dd>
      </div>
      {price !== null && (
        <div>
          <dt>reckoned with</dt>
          <dd>
            {price.kind}, cache {price.isWarm ? 'warm' : 'cold'},{' '}
            {counted(Math.round(price.expectedRequests), 'request')} to come, {whole(price.tailTokens)} tokens
            behind it: saves {dollars(price.saves)}, costs {dollars(price.costs)}
          </dd>
        </div>
      )}
    </dl>
  )
}

function Audit({ audit, session }: { readonly audit: AuditDetail; readonly session: string }) {
  return (
    <section class="audit" aria-label="Audit">
      <h3>
        Audit <span class="dim">{percent(audit.retention)} of checked details retained</span>
      </h3>
      <p class="facts">
        <span class={audit.userMessages.kept === audit.userMessages.found ? 'good' : 'bad'}>
          your messages {audit.userMessages.kept}/{audit.userMessages.found}
        </span>
        {audit.kinds.map(({ kind, found, kept }) => (
          <span key={kind} class={kept === found ? '' : 'bad'}>
            <Name of={kind} /> {kept}/{found}
          </span>
        ))}
      </p>
      {audit.lost.length > 0 && (
        <details open={audit.lost.length <= 8}>
          <summary>{counted(audit.lost.length, 'detail')} no longer in sight</summary>
          <ul>
            {audit.lost.map(({ text, at }, index) => (
              <li key={index}>
                {marked(text)}
                {at !== null && (
                  <>
                    {' → '}
                    <a href={fragmentOf({ session, screen: 'block', seq: at.seq, block: at.block ?? 0 })}>
                      {at.seq}
                    </a>
                  </>
                )}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}

const signs: Readonly<Record<EditedEntry['became'], string>> = {
  removed: '−',
  stub: '−',
  summarised: '−',
  cleared: '−',
  verbatim: '=',
  excerpt: '~',
}

function Before({ entry, session }: { readonly entry: EditedEntry; readonly session: string }) {
  return (
    <li class={`w-${entry.became}`}>
      <span class="sign" aria-hidden="true">
        {signs[entry.became]}
      </span>
      <a href={fragmentOf({ session, screen: 'block', seq: entry.seq, block: entry.block })}>{entry.seq}</a>
      <span class="label">
        <NameFact of={wordFor(entry.kind)} look="dim" /> <Name of={entry.label} />
      </span>
      <span class="n">{whole(entry.tokens)}</span>
      <span class="became">{entry.became}</span>
    </li>
  )
}
