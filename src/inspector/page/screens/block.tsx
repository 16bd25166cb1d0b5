// Screen B: one block and its whole life: where it came from, which requests carried it at which price, what became of it.
import type { BlockDetail, BlockInterval, CarriedPrice } from '../../protocol.ts'
import { fragmentOf } from '../data/address.ts'
import { blocksIn } from '../data/preview.ts'
import type { OpenSession } from '../data/session.ts'
import { usePage } from '../data/state.ts'
import { Shown, useAsked } from '../parts/asked.tsx'
import { WishButton } from '../parts/confirm.tsx'
import { Block, useLine } from '../parts/content.tsx'
import { Raw } from '../parts/raw.tsx'
import { wordFor } from '../parts/icon.tsx'
import { bytes, clock, counted, dollars, whole } from '../text/format.ts'
import { marked, Name, ShownText, NameFact } from '../text/shown-text.tsx'

/** Characters that are shown without asking. */
const shortText = 400

export function BlockScreen({
  open,
  seq,
  block,
}: {
  readonly open: OpenSession
  readonly seq: number
  readonly block: number
}) {
  const loaded = useLine(open, seq)
  const row = open.entries.row(seq)
  const count =
    loaded === null || loaded === 'missing' || loaded.fact === null ? 0 : blocksIn(loaded.fact).length
  const hasBlocks = count > 0
  const asked = useAsked<BlockDetail>(
    hasBlocks ? `${open.path}/block/${seq}/${block}` : null,
    open.version.value,
  )
  const title = row.kind === null || row.kind === '' ? 'Entry' : wordFor(row.kind)
  return (
    <article class="block-screen">
      <header>
        <h2>
          {seq}
          {count > 1 && `/${block}`} {marked(title)} <NameFact of={row.label} look="dim" />
        </h2>
        {row.at > 0 && (
          <p class="facts">
            <span>{clock(row.at)}</span>
            <span>{bytes(row.bytes)} stored</span>
            {row.tokens > 0 && <span>{whole(row.tokens)} tokens</span>}
          </p>
        )}
        {count > 1 && (
          <nav class="looks" aria-label="Blocks of this entry">
            {Array.from({ length: count }, (_, at) => (
              <a
                key={at}
                href={fragmentOf({ session: open.id, screen: 'block', seq, block: at })}
                aria-current={at === block ? 'page' : undefined}
              >
                {at}
              </a>
            ))}
          </nav>
        )}
      </header>
      {loaded === null && <p class="waiting">Loading…</p>}
      {loaded === 'missing' && <p class="problem">Entry {seq} could not be read.</p>}
      {hasBlocks && <Shown asked={asked}>{(detail) => <Life detail={detail} open={open} />}</Shown>}
      {loaded !== null && loaded !== 'missing' && <Text loaded={loaded} block={block} />}
    </article>
  )
}

function Text({
  loaded,
  block,
}: {
  readonly loaded: { readonly fact: Readonly<Record<string, unknown>> | null; readonly line: string }
  readonly block: number
}) {
  const all = loaded.fact === null ? [] : blocksIn(loaded.fact)
  const one = all[block]
  return (
    <section aria-label="Text">
      {one === undefined ? (
        <ShownText
          text={loaded.fact === null ? loaded.line : JSON.stringify(loaded.fact, null, 2)}
          language="json"
        />
      ) : (
        <Block block={one} />
      )}
      <details>
        <summary>Stored line</summary>
        <ShownText text={loaded.line} language="json" />
      </details>
    </section>
  )
}

function Life({ detail, open }: { readonly detail: BlockDetail; readonly open: OpenSession }) {
  const page = usePage()
  const session = open.id
  const canChange = page.about.value?.canChange === true
  const to = (seq: number): string => fragmentOf({ session, screen: 'block', seq, block: 0 })
  return (
    <section aria-label="Its life">
      <p class="facts">
        <span>
          <b>{dollars(detail.total.dollars)}</b> so far, carried by{' '}
          {counted(detail.total.requests, 'request')}
        </span>
        <span>
          sha <code title={detail.sha256}>{detail.sha256.slice(0, 8)}</code>
        </span>
        {detail.born.call !== null && <a href={to(detail.born.call)}>call {detail.born.call}</a>}
        {detail.born.asked !== null && (
          <span>
            asked by <a href={to(detail.born.asked.seq)}>{detail.born.asked.seq}</a> “
            {marked(detail.born.asked.text)}”
          </span>
        )}
        <span>{detail.isPinned ? 'pinned' : 'not pinned'}</span>
        {detail.isOnHold && <span>on hold</span>}
      </p>
      {canChange && (
        <p class="actions">
          {detail.isPinned && detail.pin !== null ? (
            <WishButton
              wish={{
                verb: 'release',
                target: detail.pin!,
                about: `Releases the pin on ${detail.seq}: layers may remove it from context again.`,
              }}
            >
              release the pin
            </WishButton>
          ) : (
            <WishButton
              wish={{
                verb: 'pin',
                target: detail.seq,
                block: detail.block,
                about: `Pins ${detail.seq}/${detail.block}: it stays in context, through every compaction.`,
              }}
            >
              pin
            </WishButton>
          )}
        </p>
      )}
      <ol class="life">
        {detail.intervals.map((interval, at) => (
          <Interval key={at} interval={interval} session={session} />
        ))}
      </ol>
      <Named detail={detail} session={session} />
      {detail.spill !== null && (
        <details>
          <summary>Kept in the session's folder: {bytes(detail.spill.bytes)}</summary>
          <Raw
            path={`${open.path}/blob/${encodeURIComponent(detail.spill.blob)}`}
            bytes={detail.spill.bytes}
            name="result.txt"
          />
        </details>
      )}
    </section>
  )
}

function Interval({ interval, session }: { readonly interval: BlockInterval; readonly session: string }) {
  const { state, since, layer, asked, why, text, requests, price, tokens } = interval
  return (
    <li class={`s-${state}`}>
      <b>{state === 'whole' ? 'in context' : state}</b> since{' '}
      <a href={fragmentOf({ session, screen: layer === null ? 'block' : 'edit', seq: since, block: 0 })}>
        {since}
      </a>
      {tokens > 0 && ` · ${whole(tokens)} tokens`}
      {requests !== null && ` · #${requests.first}–#${requests.last}`}
      <Price price={price} />
      {layer !== null && (
        <div class="dim">
          <Name of={layer} />
          {asked !== null && `, asked: ${asked}`}
          {why !== null && <>, {marked(why)}</>}
        </div>
      )}
      {text !== null && text !== '' && <Replacement text={text} />}
    </li>
  )
}

/** What is in its place: short ones at once, long ones when asked for. */
function Replacement({ text }: { readonly text: string }) {
  const quote = <ShownText text={text} className="quote" />
  return text.length <= shortText ? (
    quote
  ) : (
    <details>
      <summary>the text in its place, {counted(text.length, 'character')}</summary>
      {quote}
    </details>
  )
}

function Price({ price }: { readonly price: CarriedPrice }) {
  if (price.requests === 0) return <span class="dim"> · no request carried it</span>
  const parts = [
    price.input > 0 ? `input ${whole(price.input)}` : '',
    price.written > 0 ? `written ${whole(price.written)}` : '',
    price.read > 0 ? `read ${whole(price.read)}` : '',
    price.unpriced > 0 ? `without a price ${whole(price.unpriced)}` : '',
  ].filter((part) => part !== '')
  return (
    <span>
      {' '}
      · {counted(price.requests, 'request')}: {parts.join(', ')} → <b>{dollars(price.dollars)}</b>
    </span>
  )
}

function Named({ detail, session }: { readonly detail: BlockDetail; readonly session: string }) {
  return (
    <>
      {detail.namedAgain.length > 0 && (
        <p>
          Named again later:{' '}
          {detail.namedAgain.map(({ seq, words }, at) => (
            <span key={at}>
              {at > 0 && ', '}
              <a href={fragmentOf({ session, screen: 'block', seq, block: 0 })}>{seq}</a> {marked(words)}
            </span>
          ))}
        </p>
      )}
      {detail.memories.length > 0 && (
        <p>
          Memories saved from this stretch:{' '}
          {detail.memories.map(({ store, file, version }, at) => (
            <span key={at}>
              {at > 0 && ', '}
              <a href={fragmentOf({ screen: 'memory', store, file })}>
                <Name of={file} /> v{version}
              </a>
            </span>
          ))}
        </p>
      )}
    </>
  )
}
