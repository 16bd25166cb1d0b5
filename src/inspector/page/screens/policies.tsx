// Screen P: the same session under two policies, request by request on one axis, with what each cost and kept.
import { useMemo, useState } from 'preact/hooks'
import type { PolicyList, Replay, ReplayAnswer, ReplayMoment } from '../../protocol.ts'
import { holderNames } from '../data/requests.ts'
import type { OpenSession } from '../data/session.ts'
import { usePage } from '../data/state.ts'
import { Shown, useAsked, useMade } from '../parts/asked.tsx'
import type { ChartData } from '../parts/chart-data.ts'
import { Chart, Zoom } from '../parts/chart.tsx'
import { counted, dollars, percent, short, whole } from '../text/format.ts'
import { marked, Name } from '../text/shown-text.tsx'

export function PoliciesScreen({
  open,
  a,
  b,
  at,
}: {
  readonly open: OpenSession
  readonly a: string
  readonly b: string
  readonly at: number | null
}) {
  const page = usePage()
  const list = useAsked<PolicyList>('/policies')
  const [first, second] = [useReplay(open, a), useReplay(open, b)]
  const [zoom] = useState(() => new Zoom())
  const tops = [first, second].flatMap(({ replay }) => (replay === null ? [] : [largest(replay)]))
  const top = tops.length === 2 ? Math.max(...tops) : undefined
  const go = (one: string, other: string, number: number | null = at): void =>
    page.go({ session: open.id, screen: 'policies', a: one, b: other, at: number }, true)
  return (
    <article class="policies">
      <h2>The same session under two policies</h2>
      <Shown asked={list}>
        {({ policies }) => (
          <div class="choices">
            <Choice label="first policy" value={a} policies={policies} onChange={(name) => go(name, b)} />
            <Choice label="second policy" value={b} policies={policies} onChange={(name) => go(a, name)} />
          </div>
        )}
      </Shown>
      {(
        [
          [a, first],
          [b, second],
        ] as const
      ).map(([name, played], index) => (
        <Played
          key={`${index} ${name}`}
          name={name}
          played={played}
          zoom={zoom}
          at={at}
          top={top}
          onOpen={(number) => go(a, b, number)}
        />
      ))}
      {first.replay !== null && second.replay !== null && (
        <Compared a={first.replay} b={second.replay} names={[a, b]} at={at} />
      )}
    </article>
  )
}

type Playing = Pick<ReplayAnswer, 'state' | 'problem' | 'replay'>

/** Asks for a replay until it is done. */
function useReplay(open: OpenSession, policy: string): Playing {
  const made = useMade<ReplayAnswer>(`${open.path}/replay`, { policy }, policy)
  return { state: made.state, problem: made.problem, replay: 'replay' in made ? made.replay : null }
}

function Choice({
  label,
  value,
  policies,
  onChange,
}: {
  readonly label: string
  readonly value: string
  readonly policies: PolicyList['policies']
  readonly onChange: (name: string) => void
}) {
  const about = policies.find(({ name }) => name === value)?.about
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {!policies.some(({ name }) => name === value) && <option value={value}>{value}</option>}
        {(['ours', 'peer', 'bound'] as const).map((kind) => (
          <optgroup key={kind} label={{ ours: 'ours', peer: 'other programs', bound: 'bounds' }[kind]}>
            {policies
              .filter((policy) => policy.kind === kind)
              .map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
          </optgroup>
        ))}
      </select>
      {about !== undefined && <span class="dim">{marked(about)}</span>}
    </label>
  )
}

function Played({
  name,
  played,
  zoom,
  at,
  top,
  onOpen,
}: {
  readonly name: string
  readonly played: Playing
  readonly zoom: Zoom
  readonly at: number | null
  readonly top: number | undefined
  readonly onOpen: (number: number) => void
}) {
  const { replay } = played
  const data = useMemo(() => (replay === null ? null : chartIn(replay)), [replay])
  return (
    <section aria-label={`Under ${name}`}>
      <h3>
        <Name of={name} />{' '}
        {replay !== null && (
          <span class="dim">
            {dollars(replay.totals.dollars)}
            {replay.totals.unpriced > 0 &&
              ` and ${counted(replay.totals.unpriced, 'answer')} without a price`}{' '}
            · {counted(replay.moments.length, 'request')} · {short(replay.totals.read)} read ·{' '}
            {replay.needsInSight === null
              ? 'needs not measured'
              : `${percent(replay.needsInSight)} of needs in sight`}{' '}
            · {editWords(replay)}
          </span>
        )}
      </h3>
      {played.state === 'running' && <p class="waiting">Replaying…</p>}
      {played.state === 'failed' && <p class="problem">{marked(played.problem ?? 'The replay failed.')}</p>}
      {replay?.problems.map((problem, index) => (
        <p key={index} class="problem">
          {marked(problem)}
        </p>
      ))}
      {data !== null && (
        <Chart
          data={data}
          label={`Tokens by holder under ${name}`}
          selected={at === null ? null : [at, at]}
          height={150}
          top={top}
          zoom={zoom}
          onHover={() => undefined}
          onOpen={onOpen}
          onSelect={(from, to) => zoom.set([from, to + 1])}
          onMark={({ at: number }) => onOpen(number)}
        />
      )}
    </section>
  )
}

const editWords = ({ edits }: Replay): string => {
  const all = Object.entries(edits)
  return all.length === 0 ? 'no edits' : all.map(([layer, count]) => `${whole(count)} ${layer}`).join(', ')
}

const chartIn = ({ moments }: Replay): ChartData => ({
  rows: moments.map((moment, at) => ({
    ...moment,
    number: at + 1,
    tokens: moment.input + moment.read + moment.written,
  })),
  limit: null,
  marks: moments.flatMap(({ changes, lost }, at) => [
    ...changes.map(({ layer }) => ({
      at: at + 1,
      kind: layer === 'autocompact' ? ('compaction' as const) : ('edit' as const),
      seq: at + 1,
    })),
    ...(lost > 0 ? [{ at: at + 1, kind: 'break' as const, seq: at + 1 }] : []),
  ]),
})

function Compared({
  a,
  b,
  names,
  at,
}: {
  readonly a: Replay
  readonly b: Replay
  readonly names: readonly [string, string]
  readonly at: number | null
}) {
  const difference = b.totals.dollars - a.totals.dollars
  const share = a.totals.dollars === 0 ? null : difference / a.totals.dollars
  return (
    <section aria-label="Difference">
      <h3>Difference</h3>
      <p class="facts">
        <span>
          <Name of={names[1]} /> costs <b class={difference > 0 ? 'bad' : 'good'}>{dollars(difference)}</b>{' '}
          {difference > 0 ? 'more' : 'against'} <Name of={names[0]} />
          {share !== null && ` (${share > 0 ? '+' : '−'}${percent(Math.abs(share))})`}
        </span>
        <span>
          largest request {whole(largest(a))} and {whole(largest(b))} tokens
        </span>
        {a.needsInSight !== null && b.needsInSight !== null && (
          <span>
            needs in sight {percent(a.needsInSight)} and {percent(b.needsInSight)}
          </span>
        )}
      </p>
      {at === null ? (
        <p class="dim">Press a request in one of the charts to see it under both.</p>
      ) : (
        <MomentTable number={at} names={names} moments={[a.moments[at - 1], b.moments[at - 1]]} />
      )}
    </section>
  )
}

const largest = ({ moments }: Replay): number =>
  moments.reduce((most, { input, read, written }) => Math.max(most, input + read + written), 0)

// One request under two policies, number by number.
type Pair = readonly [ReplayMoment | undefined, ReplayMoment | undefined]

function MomentTable({
  number,
  names,
  moments,
}: {
  readonly number: number
  readonly names: readonly [string, string]
  readonly moments: Pair
}) {
  const rows: readonly (readonly [string, (moment: ReplayMoment) => string])[] = [
    ...holderNames.map(
      (name, at) => [name, (moment: ReplayMoment) => whole(moment.byHolder[at] ?? 0)] as const,
    ),
    ['read', ({ read }) => whole(read)],
    ['written', ({ written }) => whole(written)],
    ['input', ({ input }) => whole(input)],
    ['lost', ({ lost }) => whole(lost)],
    ['cost', ({ dollars: cost }) => dollars(cost)],
  ]
  return (
    <>
      <table class="moments">
        <caption>Request #{number} under both, in tokens</caption>
        <thead>
          <tr>
            <td />
            {names.map((name, at) => (
              <th key={at} scope="col" class="n">
                <Name of={name} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, value]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {moments.map((moment, at) => (
                <td key={at} class="n">
                  {moment === undefined ? 'not sent' : value(moment)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {moments.map((moment, at) =>
        (moment?.changes ?? []).map(({ layer, why, freed }, index) => (
          <p key={`${at} ${index}`} class="dim">
            <Name of={names[at]!} />: <Name of={layer} /> freed {whole(freed)}, {marked(why)}
          </p>
        )),
      )}
    </>
  )
}
