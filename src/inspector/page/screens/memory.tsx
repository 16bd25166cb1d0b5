// Screen M: memories with their trust, origin and versions, and the sessions that recalled them.
import { diffLines } from 'diff'
import { useMemo, useState } from 'preact/hooks'
import type { MemoryDetail, MemoryList, MemoryOrigin, MemoryRow } from '../../protocol.ts'
import { fragmentOf } from '../data/address.ts'
import { Shown, useAsked } from '../parts/asked.tsx'
import { Many } from '../parts/many.tsx'
import { counted, moment } from '../text/format.ts'
import { marked, Name, ShownText, NameFact } from '../text/shown-text.tsx'

export function MemoryScreen({
  store,
  file,
}: {
  readonly store: string | null
  readonly file: string | null
}) {
  const asked = useAsked<MemoryList>('/memory')
  return (
    <div class={file === null ? 'split' : 'split has-detail'}>
      <div class="master">
        <Shown asked={asked}>{(list) => <Stores list={list} store={store} file={file} />}</Shown>
      </div>
      {store !== null && file !== null && (
        <aside class="detail" aria-label="One memory">
          <Memory key={`${store}/${file}`} store={store} file={file} />
        </aside>
      )}
    </div>
  )
}

function Stores({
  list,
  store,
  file,
}: {
  readonly list: MemoryList
  readonly store: string | null
  readonly file: string | null
}) {
  const count = list.stores.reduce((sum, { memories }) => sum + memories.length, 0)
  return (
    <article class="memory">
      <h2>
        Memory <span class="dim">{counted(count, 'memory', 'memories')}</span>
      </h2>
      {count === 0 && <p class="empty">No memory has been saved yet.</p>}
      {list.stores.map((one) => (
        <section key={one.store} aria-label={one.scope}>
          <h3>
            <Name of={one.scope} /> <NameFact of={one.folder} look="dim" />
          </h3>
          {one.problem !== null && <p class="problem">{marked(one.problem)}</p>}
          <ul class="memories">
            <Many of={one.memories} unit="memory">
              {(row) => (
                <li key={row.file} class={one.store === store && row.file === file ? 'chosen' : ''}>
                  <a href={fragmentOf({ screen: 'memory', store: one.store, file: row.file })}>
                    <Name of={row.title === '' ? row.file : row.title} />
                  </a>
                  <MemoryFacts row={row} />
                </li>
              )}
            </Many>
          </ul>
        </section>
      ))}
    </article>
  )
}

function MemoryFacts({ row }: { readonly row: MemoryRow }) {
  return (
    <p class="facts">
      <NameFact of={row.file} />
      <NameFact of={row.kind} />
      <NameFact of={row.trust} look="tag" />
      <span>
        v{row.version}
        {row.versions > 1 && ` of ${row.versions}`}
      </span>
      {row.at !== null && <span>{moment(row.at)}</span>}
      {row.origin !== null && <Origin origin={row.origin} />}
      <span>
        {row.recalledBy.length === 0
          ? 'never recalled'
          : `recalled ${counted(row.recalledBy.length, 'time')}`}
      </span>
    </p>
  )
}

function Origin({ origin }: { readonly origin: MemoryOrigin }) {
  const words = (
    <>
      by <Name of={origin.by} />
    </>
  )
  if (origin.session === null) return <span>{words}</span>
  const session = origin.session
  const to =
    origin.seq === null
      ? fragmentOf({ session, screen: 'window', from: null, to: null })
      : fragmentOf({ session, screen: 'block', seq: origin.seq, block: 0 })
  return (
    <span>
      {words} in <a href={to}>{origin.seq === null ? 'its session' : `entry ${origin.seq}`}</a>
    </span>
  )
}

function Memory({ store, file }: { readonly store: string; readonly file: string }) {
  const asked = useAsked<MemoryDetail>(`/memory/${encodeURIComponent(store)}/${encodeURIComponent(file)}`)
  return <Shown asked={asked}>{(detail) => <Versions detail={detail} />}</Shown>
}

function Versions({ detail }: { readonly detail: MemoryDetail }) {
  const { history } = detail
  const [at, setAt] = useState(history.length - 1)
  const version = history[at]
  const before = history[at - 1]
  return (
    <article>
      <h2>
        <Name of={detail.title === '' ? detail.file : detail.title} />
      </h2>
      <MemoryFacts row={detail} />
      {history.length > 1 && (
        <label class="slider">
          version {version?.version ?? '–'} of {history.at(-1)!.version}
          <input
            type="range"
            min={0}
            max={history.length - 1}
            value={at}
            onInput={(event) => setAt(Number(event.currentTarget.value))}
          />
        </label>
      )}
      {version === undefined ? (
        <p class="empty">No version of it is kept.</p>
      ) : (
        <>
          <p class="facts">
            <span>{moment(version.at)}</span>
            <Origin origin={version.origin} />
            {version.why !== null && <span>{marked(version.why)}</span>}
            {version.isRemoval && <span class="bad">removed</span>}
          </p>
          {version.text === null ? (
            <p class="empty">The text of this version is gone: it was forgotten.</p>
          ) : before === undefined || before.text === null ? (
            <ShownText text={version.text} />
          ) : (
            <TextDiff before={before.text} after={version.text} />
          )}
        </>
      )}
      <RecalledBy detail={detail} />
    </article>
  )
}

function RecalledBy({ detail }: { readonly detail: MemoryDetail }) {
  if (detail.recalledBy.length === 0) return null
  return (
    <section aria-label="Recalled by">
      <h3>Recalled by</h3>
      <ul class="recalls">
        <Many of={detail.recalledBy} unit="session">
          {({ session, seq, at }) => (
            <li key={`${session} ${seq}`}>
              <a href={fragmentOf({ session, screen: 'block', seq, block: 0 })}>{moment(at)}</a>{' '}
              <span class="dim">
                <Name of={session} /> at {seq}
              </span>
            </li>
          )}
        </Many>
      </ul>
    </section>
  )
}

// Two texts as one, line by line: what went, what came, what stayed. The reckoning is given a limit, since its worst case
// is quadratic; beyond it both texts stand one after the other.
const mostMs = 200

function TextDiff({ before, after }: { readonly before: string; readonly after: string }) {
  const changes = useMemo(
    () =>
      diffLines(before, after, { timeout: mostMs }) ?? [
        { value: before, removed: true, added: false },
        { value: after, added: true, removed: false },
      ],
    [before, after],
  )
  return (
    <pre class="text-diff">
      {changes.map(({ value, added, removed }, at) => (
        <span key={at} class={added ? 'is' : removed ? 'was' : 'same'}>
          {lines(value).map((line, index) => (
            <span key={index} class="line">
              <span class="sign">{added ? '+ ' : removed ? '− ' : '  '}</span>
              {marked(line)}
              {'\n'}
            </span>
          ))}
        </span>
      ))}
    </pre>
  )
}

const lines = (text: string): readonly string[] => text.replace(/\n$/, '').split('\n')
