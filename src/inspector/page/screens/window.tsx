// Screen W: what filled the window at every request, and the session's entries below.
import { useComputed, useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { EditSummary } from '../../protocol.ts'
import { fragmentOf } from '../data/address.ts'
import { holderNames, indexAt, type RequestRow, type Sums, sumsOf } from '../data/requests.ts'
import type { OpenSession } from '../data/session.ts'
import { usePage } from '../data/state.ts'
import { type Mark, marksAt, stackOrder } from '../parts/chart-data.ts'
import { Chart, type Zoom } from '../parts/chart.tsx'
import { Icon } from '../parts/icon.tsx'
import { clock, counted, dollars, percent, short, whole } from '../text/format.ts'
import { Name } from '../text/shown-text.tsx'
import { EntryList } from './entry-list.tsx'

/** Below this the chart leaves more room for the list. */
const smallScreen = 760

export function WindowScreen({
  open,
  zoom,
  isNarrowed,
}: {
  readonly open: OpenSession
  readonly zoom: Zoom
  /** A detail stands beside it: the chart takes less room. */
  readonly isNarrowed: boolean
}) {
  const page = usePage()
  const address = page.address.value
  const now = useMemo(
    () => ({ rows: open.requests.value, edits: open.edits.value, version: open.version.value }),
    [open.requests.value, open.edits.value, open.version.value],
  )
  const { rows, edits, version } = useCalm(now, open.requests.value.length)
  const hovered = useSignal<number | null>(null)
  const marks = useMemo(() => marksOf(open, rows, edits), [rows, edits, version])
  const data = useMemo(() => ({ rows, marks, limit: rows.at(-1)?.limit ?? null }), [rows, marks])
  const selected = useComputed(() => selectionIn(page.address.value, open.requests.value))
  const range = selected.value
  const id = open.id
  return (
    <section class="window" aria-label="The window over time">
      {rows.length > 0 && (
        <>
          <Chart
            data={data}
            label={`Tokens by holder over ${counted(rows.length, 'request')}; the list of requests has the numbers.`}
            selected={range}
            height={isNarrowed || innerWidth < smallScreen ? 140 : 200}
            zoom={zoom}
            onHover={(index) => void (hovered.value = index)}
            onOpen={(number) => {
              const row = rows.find((one) => one.number === number)
              if (row !== undefined) page.go({ session: id, screen: 'request', seq: row.seq, look: 'parts' })
            }}
            onSelect={(from, to) => {
              const within = rows.filter(({ number }) => number >= from && number <= to)
              if (within.length > 0)
                page.go({ session: id, screen: 'window', from: within[0]!.seq, to: within.at(-1)!.seq })
            }}
            onMark={(mark) => page.go(markAddress(id, mark))}
          />
          <Legend
            row={hovered.value === null ? rows.at(-1)! : (rows[hovered.value] ?? rows.at(-1)!)}
            isHovered={hovered.value !== null}
          />
          <SelectionSums
            rows={rows}
            range={range}
            open={open}
            isSelected={address.screen === 'window' && address.from !== null}
          />
        </>
      )}
      {rows.length === 0 && open.head.value !== null && (
        <p class="empty">No request has been sent in this session yet.</p>
      )}
      <EntryList open={open} />
    </section>
  )
}

const markAddress = (session: string, { kind, seq }: Mark) => {
  if (kind === 'break') return { session, screen: 'breaks', seq } as const
  if (kind === 'edit' || kind === 'compaction') return { session, screen: 'edit', seq } as const
  return { session, screen: 'block', seq, block: 0 } as const
}

/** Request numbers that the address selects. */
function selectionIn(
  address: ReturnType<typeof usePage>['address']['value'],
  rows: readonly RequestRow[],
): readonly [number, number] | null {
  if (!('session' in address)) return null
  if (address.screen === 'request') {
    const row = rows[indexAt(rows, address.seq)]
    return row?.seq === address.seq ? [row.number, row.number] : null
  }
  if (address.screen !== 'window' || address.from === null || address.to === null) return null
  const low = Math.min(address.from, address.to)
  const first = rows.find(({ seq }) => seq >= low)
  const last = rows[indexAt(rows, Math.max(address.from, address.to))]
  return first === undefined || last === undefined || last.seq < first.seq
    ? null
    : [first.number, last.number]
}

/** What happened, at the request that came after it. */
function marksOf(
  open: OpenSession,
  rows: readonly RequestRow[],
  edits: readonly EditSummary[],
): readonly Mark[] {
  if (rows.length === 0) return []
  const first = rows[0]!.seq
  const kinds = { 'agent-start': 'agent', 'user-message': 'input' } as const
  const places = open.entries.placesOf((kind) => kind in kinds)
  const kindAt = (seq: number) => kinds[open.entries.row(seq).kind as keyof typeof kinds]
  const editKinds = new Map(
    [...edits]
      .sort((one, other) => one.seq - other.seq)
      .map(({ seq, kind }) => [seq, kind === 'compaction' ? kind : 'edit'] as const),
  )
  return [
    ...marksAt(places, kindAt, rows),
    ...marksAt(editKinds.keys(), (seq) => editKinds.get(seq)!, rows),
    ...rows.flatMap((row): Mark[] =>
      row.break === null ? [] : [{ at: row.number, kind: 'break', seq: row.break }],
    ),
  ].filter(({ seq }) => seq >= first || rows[0]!.number === 1)
}

function SelectionSums({
  rows,
  range,
  open,
  isSelected,
}: {
  readonly rows: readonly RequestRow[]
  readonly range: readonly [number, number] | null
  readonly open: OpenSession
  readonly isSelected: boolean
}) {
  const page = usePage()
  const [copied, setCopied] = useState(false)
  const within = useMemo(
    () => (range === null ? rows : rows.filter(({ number }) => number >= range[0] && number <= range[1])),
    [rows, range?.[0], range?.[1]],
  )
  const sums = useMemo(() => sumsOf(within), [within])
  const edits = open.edits.value.filter(
    ({ seq }) => within.length > 0 && seq >= within[0]!.seq && seq <= within.at(-1)!.seq,
  ).length
  const isPartial = range === null && open.head.value !== null && rows.length < open.head.value.requests
  return (
    <div class="sums" aria-label="Sums over the selected requests" role="group">
      <strong>
        {range === null
          ? `all ${counted(rows.length, 'request')}`
          : range[0] === range[1]
            ? `#${range[0]}`
            : `#${range[0]}–#${range[1]}`}
      </strong>
      {isPartial && (
        <span class="note">{whole(open.head.value!.requests - rows.length)} older still loading</span>
      )}
      <Figures sums={sums} />
      <span>{counted(sums.breaks, 'break')}</span>
      <span>{counted(edits, 'edit')}</span>
      {isSelected && (
        <span class="actions">
          <button
            type="button"
            onClick={() =>
              void navigator.clipboard.writeText(asTable(within)).then(
                () => setCopied(true),
                () => page.say('The browser did not allow copying.'),
              )
            }
          >
            {copied ? 'copied' : 'copy as CSV'}
          </button>
          <a href={fragmentOf({ session: open.id, screen: 'window', from: null, to: null })}>clear</a>
        </span>
      )}
    </div>
  )
}

function Figures({ sums }: { readonly sums: Sums }) {
  const prompt = sums.input + sums.read + sums.written
  return (
    <>
      <span title="tokens of all requests together">
        <b>{short(sums.carried)}</b> carried
      </span>
      <span>
        <b>{short(sums.read)}</b> read <i>{prompt === 0 ? '' : percent(sums.read / prompt)}</i>
      </span>
      {(['written', 'input', 'output'] as const).map((name) => (
        <span key={name}>
          <b>{short(sums[name])}</b> {name}
        </span>
      ))}
      <span>
        <b>{sums.unpriced > 0 && sums.dollars === 0 ? '?' : dollars(sums.dollars)}</b>
        {sums.unpriced > 0 && <i> and {counted(sums.unpriced, 'answer')} without a price</i>}
      </span>
    </>
  )
}

/** Numbers alone and names in quotes, so that no cell begins a formula. */
function asTable(rows: readonly RequestRow[]): string {
  const quoted = (text: string): string => `"'${text.replaceAll('"', '""')}"`
  const head = 'number,seq,time,source,model,tokens,input,read,written,output,dollars'
  const lines = rows.map((row) =>
    [
      row.number,
      row.seq,
      clock(row.at),
      quoted(row.source),
      quoted(row.model),
      row.tokens,
      row.input ?? '',
      row.read ?? '',
      row.written ?? '',
      row.output ?? '',
      row.dollars ?? '',
    ].join(','),
  )
  return [head, ...lines].join('\n')
}

/** The more rows a chart has, the longer it takes to draw, and the less one more of them changes it. */
const paces: readonly (readonly [upTo: number, paceMs: number])[] = [
  [3000, 60],
  [30_000, 300],
  [Number.POSITIVE_INFINITY, 1500],
]

/** The value as it was at most a pace ago; `size` says how costly it is to take it over. */
function useCalm<T>(value: T, size: number): T {
  const [calm, setCalm] = useState(value)
  const last = useRef(0)
  useEffect(() => {
    if (value === calm) return
    const pace = paces.find(([upTo]) => size < upTo)?.[1] ?? 0
    const timer = setTimeout(
      () => {
        last.current = performance.now()
        setCalm(value)
      },
      Math.max(0, last.current + pace - performance.now()),
    )
    return () => clearTimeout(timer)
  }, [value])
  return calm
}

// What the colours of the chart are, with the numbers of the request under the pointer, or of the last.

/** The shapes of the marks. */
const markKinds = [
  ['view-edit', 'edit'],
  ['boundary', 'compaction'],
  ['cache-break', 'break'],
  ['agent-start', 'agent'],
  ['user-message', 'you'],
] as const

function Legend({ row, isHovered }: { readonly row: RequestRow; readonly isHovered: boolean }) {
  const prompt = (row.input ?? 0) + (row.read ?? 0) + (row.written ?? 0)
  return (
    <div class="legend">
      <span class={isHovered ? 'which hovered' : 'which'}>
        #{row.number} <i>{clock(row.at)}</i>
      </span>
      {[...stackOrder].reverse().map((holder) => (
        <span key={holder}>
          <span class={`swatch h-${holder}`} aria-hidden="true" />
          {holder} <b>{whole(row.byHolder[holderNames.indexOf(holder)] ?? 0)}</b>
        </span>
      ))}
      <span class="sum">
        = <b>{whole(row.tokens)}</b> of {whole(row.limit)}{' '}
        <i>{percent(row.limit === 0 ? 0 : row.tokens / row.limit)}</i>
      </span>
      {row.read !== null && (
        <span>
          <span class="swatch h-read" aria-hidden="true" />
          read <b>{prompt === 0 ? '–' : percent((row.read ?? 0) / prompt)}</b>
        </span>
      )}
      <span>
        <b>{dollars(row.dollars)}</b>
      </span>
      <span class="who">
        <Name of={row.source} /> · <Name of={row.model} />
      </span>
      <span class="mark-key">
        {markKinds.map(([kind, word]) => (
          <span key={kind}>
            <Icon kind={kind} />
            {word}
          </span>
        ))}
      </span>
    </div>
  )
}
