// Screen E of a compaction that another program made: its text beside ours in the same room, and what was needed later of each.
import type { RecordedAnswer, RecordedCompaction, RecordedHead } from '../../protocol.ts'
import { fragmentOf } from '../data/address.ts'
import type { OpenSession } from '../data/session.ts'
import { useMade } from '../parts/asked.tsx'
import { Many } from '../parts/many.tsx'
import { clock, counted, whole } from '../text/format.ts'
import { marked, Name, ShownText, NameFact } from '../text/shown-text.tsx'

export function Recorded({ head, open }: { readonly head: RecordedHead; readonly open: OpenSession }) {
  const made = useMade<RecordedAnswer>(`${open.path}/recorded`, { at: head.seq }, String(head.seq))
  const recorded = 'recorded' in made ? made.recorded : null
  return (
    <article class="edit recorded">
      <header>
        <h2>
          Recorded compaction {head.seq}{' '}
          <span class="dim">
            by <Name of={head.client} />
          </span>
        </h2>
        <p class="facts">
          <span>{clock(head.at)}</span>
          <a href={fragmentOf({ session: open.id, screen: 'block', seq: head.seq, block: 0 })}>
            its text as it stands
          </a>
        </p>
        <p class="why">
          Made by the program this session was imported from, and in no request of ours: everything it stands
          for is in the session.
        </p>
      </header>
      {made.state === 'running' && <p class="waiting">Compacting the same in the same room…</p>}
      {made.state === 'failed' && (
        <p class="problem" role="alert">
          {made.problem}
        </p>
      )}
      {recorded !== null && <BothTexts recorded={recorded} client={head.client} />}
    </article>
  )
}

const isLost = (mark: string): boolean => mark === 'no' || mark === '–'

function BothTexts({ recorded, client }: { readonly recorded: RecordedCompaction; readonly client: string }) {
  const { vendor, ours, needed, words } = recorded
  const kept = (side: 'vendor' | 'ours'): number => needed.filter((one) => !isLost(one[side])).length
  return (
    <>
      <div class="sides">
        <Side
          title={client}
          tokens={recorded.vendorTokens}
          kept={kept('vendor')}
          of={needed.length}
          words={words.vendor}
        >
          {vendor}
        </Side>
        <Side
          title="ours, same room"
          tokens={recorded.oursTokens}
          kept={kept('ours')}
          of={needed.length}
          words={words.ours}
        >
          {ours}
        </Side>
      </div>
      <section aria-label="Needed later">
        <h3>
          Needed later{' '}
          <span class="dim">
            {counted(needed.length, 'detail')} that a later call used before it was seen again
          </span>
        </h3>
        {needed.length === 0 ? (
          <p class="empty">No later call used a detail of what came before.</p>
        ) : (
          <ul class="needed">
            <Many of={needed} unit="detail">
              {(one, at) => (
                <li key={at}>
                  <b class="atom">
                    <Name of={one.atom} />
                  </b>
                  <Mark of={one.vendor} whose={client} />
                  <Mark of={one.ours} whose="ours" />
                  <span class="line">{marked(one.line)}</span>
                </li>
              )}
            </Many>
          </ul>
        )}
      </section>
    </>
  )
}

function Side({
  title,
  tokens,
  kept,
  of,
  words,
  children,
}: {
  readonly title: string
  readonly tokens: number
  readonly kept: number
  readonly of: number
  readonly words: string
  readonly children: string | null
}) {
  return (
    <section aria-label={title}>
      <h3>
        <Name of={title} /> <span class="dim">{whole(tokens)} tokens</span>
      </h3>
      <p class="facts">
        <span class={kept === of ? 'good' : 'bad'}>
          {whole(kept)} of {counted(of, 'detail')} kept
        </span>
        <span>{words} % of what you typed</span>
      </p>
      {children === null ? (
        <p class="empty">Sealed: it cannot be read.</p>
      ) : (
        <div class="scrolled" tabIndex={0} role="region" aria-label={`text, ${title}`}>
          <ShownText text={children} />
        </div>
      )}
    </section>
  )
}

/** What became of a detail in a text: lost, there, there with a word it stood with, there with a word of its use. */
function Mark({ of, whose }: { readonly of: string; readonly whose: string }) {
  return (
    <span class={isLost(of) ? 'bad' : 'good'} title={whose}>
      <NameFact of={whose} look="dim" /> {of === 'no' ? 'lost' : <Name of={of} />}
    </span>
  )
}
