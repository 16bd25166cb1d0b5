// The entries of a session as a list: what each is, its tokens, what became of it, what it has cost so far.
import { computed, useComputed, type ReadonlySignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useCallback, useMemo, useRef, useState } from 'preact/hooks'
import { entryFlags, firstFrom } from '../../columns.ts'
import type { EditSummary } from '../../protocol.ts'
import type { EntryRow } from '../data/entries.ts'
import { indexAt } from '../data/requests.ts'
import type { OpenSession } from '../data/session.ts'
import { usePage } from '../data/state.ts'
import { Icon, wordFor } from '../parts/icon.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { bytes, clock, counted, dollars, percent, short, whole } from '../text/format.ts'
import { marked, Name, NameFact } from '../text/shown-text.tsx'

/** What the list can be narrowed to. */
interface Filter {
  isWanted(kind: string, flags: number): boolean
}

const of = (...kinds: readonly string[]): Filter => {
  const set = new Set(kinds)
  return { isWanted: (kind) => set.has(kind) }
}

const filters = {
  everything: { isWanted: () => true },
  conversation: of('user-message', 'assistant-message', 'tool-result', 'attachment', 'memory-recall'),
  requests: of('request-sent'),
  edits: of(
    'view-edit',
    'boundary',
    'undo',
    'release',
    'pin',
    'rewind',
    'compaction-failed',
    'compaction-recorded',
  ),
  breaks: of('cache-break'),
  errors: { isWanted: (_: string, flags: number) => (flags & entryFlags.isError) !== 0 },
} satisfies Readonly<Record<string, Filter>>

type FilterName = keyof typeof filters

const rowHeight = 26
/** Rows are let rest before more of them is asked for. */
const sightMs = 100
const columns = ['seq', 'what', 'tokens', 'state', 'cost so far', 'carried by'] as const

export function EntryList({ open }: { readonly open: OpenSession }) {
  const page = usePage()
  const [filter, setFilter] = useState<FilterName>('everything')
  const version = open.version.value
  const { entries } = open
  const places = useMemo(
    () => (filter === 'everything' ? null : entries.placesOf(filters[filter].isWanted)),
    [filter, version],
  )
  const edits = useComputed(() => new Map(open.edits.value.map((edit) => [edit.seq, edit])))
  const count = places === null ? entries.count : places.length
  const seqAt = useCallback((at: number): number => places?.[at] ?? entries.first + at, [places, version])
  const active = page.active.value
  const activeRow = active === null ? -1 : rowOf(active, places, entries.first, entries.count)
  const wanted = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const isRequests = filter === 'requests'
  return (
    <div class="entries">
      <div class="filters" role="group" aria-label="Which entries are listed">
        {(Object.keys(filters) as FilterName[]).map((name) => (
          <button key={name} type="button" aria-pressed={name === filter} onClick={() => setFilter(name)}>
            {name}
          </button>
        ))}
        <span class="dim">
          {counted(count, 'row')}
          {entries.loaded < entries.count && ` · ${whole(entries.count - entries.loaded)} still loading`}
        </span>
      </div>
      <VirtualList
        id="entry"
        count={count}
        rowHeight={rowHeight}
        label={isRequests ? 'Requests' : 'Entries'}
        active={activeRow}
        columns={isRequests ? requestColumns : columns}
        version={`${filter} ${version}`}
        follows={true}
        row={(at) =>
          isRequests ? (
            <RequestRowCells seq={seqAt(at)} open={open} />
          ) : (
            <EntryCells row={entries.row(seqAt(at))} open={open} edits={edits} />
          )
        }
        onPress={(at) => {
          page.active.value = seqAt(at)
          openEntry(page, open, seqAt(at))
        }}
        onSight={(from, to) => {
          if (count === 0) return
          clearTimeout(wanted.current)
          wanted.current = setTimeout(
            () => void open.wantRows(seqAt(from), seqAt(Math.min(to, count) - 1)),
            sightMs,
          )
        }}
      />
    </div>
  )
}

/** What a press on an entry shows. */
export function openEntry(page: ReturnType<typeof usePage>, open: OpenSession, seq: number): void {
  const { kind } = open.entries.row(seq)
  const session = open.id
  if (kind === 'request-sent') page.go({ session, screen: 'request', seq, look: 'parts' })
  else if (kind === 'compaction-recorded' && !page.source.isStatic) page.go({ session, screen: 'edit', seq })
  else if (kind === 'view-edit' || kind === 'boundary') page.go({ session, screen: 'edit', seq })
  else if (kind === 'cache-break') page.go({ session, screen: 'breaks', seq })
  else page.go({ session, screen: 'block', seq, block: 0 })
}

function rowOf(seq: number, places: Uint32Array | null, first: number, count: number): number {
  if (places === null) return seq >= first && seq < first + count ? seq - first : -1
  const at = firstFrom(places.length, (row) => places[row]! < seq)
  return places[at] === seq ? at : -1
}

/** What a map has for one row: what comes for other rows does not draw this one again. */
function useOwn<T>(all: ReadonlySignal<ReadonlyMap<number, T>>, seq: number): T | undefined {
  return useMemo(() => computed(() => all.value.get(seq)), [all, seq]).value
}

function EntryCells({
  row,
  open,
  edits,
}: {
  readonly row: EntryRow
  readonly open: OpenSession
  readonly edits: ReadonlySignal<ReadonlyMap<number, EditSummary>>
}) {
  const edit = useOwn(edits, row.seq)
  const cost = useOwn(open.costs, row.seq)
  const isCounted = row.tokens > 0
  return (
    <>
      {cell('c0 n', row.seq)}
      {cell('c1 what', <What row={row} open={open} edit={edit} />)}
      {cell('c2 n', isCounted ? whole(row.tokens) : '')}
      {cell('c3 state', <State row={row} />)}
      {cell('c4 n', isCounted && cost !== undefined && cost.requests > 0 ? dollars(cost.dollars) : '')}
      {cell('c5 n', isCounted && cost !== undefined ? counted(cost.requests, 'request') : '')}
    </>
  )
}

const cell = (look: string, content: ComponentChildren) => (
  <span role="gridcell" class={look}>
    {content}
  </span>
)

function What({
  row,
  open,
  edit,
}: {
  readonly row: EntryRow
  readonly open: OpenSession
  readonly edit: EditSummary | undefined
}) {
  const preview = useOwn(open.previews, row.seq)
  if (row.kind === null) return <span class="dim">…</span>
  if (row.kind === '') return <span class="bad">missing</span>
  const word = wordFor(row.kind)
  return (
    <>
      <Icon kind={row.kind} />
      <span class="kind">
        <Name of={row.label ?? word} title={row.label === null ? undefined : word} />
      </span>
      {edit !== undefined ? (
        <span class="preview">
          freed {short(edit.freed)}
          {edit.foreseen !== null && ` · foreseen ${dollars(edit.foreseen)}`}
          {edit.realised !== null && `, so far ${dollars(edit.realised)}`}
          {edit.state !== 'live' && ` · ${edit.state}`} · {marked(edit.why)}
        </span>
      ) : (
        <span class="preview">{preview === undefined ? bigOnes(row) : marked(preview)}</span>
      )}
    </>
  )
}

/** Long lines are not loaded for a row: their size is said instead. */
const bigOnes = ({ bytes: size }: EntryRow): string => (size > 65_536 ? `${bytes(size)}, open to read` : '')

function State({ row }: { readonly row: EntryRow }) {
  const { flags, tokens } = row
  const words: (readonly [string, string])[] = []
  if (flags & entryFlags.rewound) words.push(['rewound', 'gone'])
  else if (flags & entryFlags.summarised) words.push(['summarised', 'gone'])
  else if (flags & entryFlags.stubbed) words.push(['stub', 'gone'])
  else if (flags & entryFlags.visible) words.push(['in context', 'on'])
  else if (tokens > 0) words.push(['removed', 'gone'])
  if (flags & entryFlags.spilled) words.push(['spilled', 'tag'])
  if (flags & entryFlags.pinned) words.push(['pinned', 'tag'])
  if (flags & entryFlags.onHold) words.push(['on hold', 'tag'])
  if (flags & entryFlags.isError) words.push(['error', 'bad'])
  return (
    <>
      {words.map(([word, look]) => (
        <span key={word} class={look}>
          {word}
        </span>
      ))}
    </>
  )
}

// One request as a row: the numbers that the chart draws.
const requestColumns = ['request', 'sent', 'tokens', 'read', 'cost', 'output'] as const

function RequestRowCells({ seq, open }: { readonly seq: number; readonly open: OpenSession }) {
  const rows = open.requests.value
  const row = rows[indexAt(rows, seq)]
  if (row === undefined || row.seq !== seq)
    return (
      <>
        {cell('c0 n', seq)}
        {cell('c1 dim', '…')}
      </>
    )
  const prompt = (row.input ?? 0) + (row.read ?? 0) + (row.written ?? 0)
  return (
    <>
      {cell('c0 n', `#${row.number}`)}
      <span role="gridcell" class="c1 what">
        {clock(row.at)} <Name of={row.source} /> <NameFact of={row.model} look="preview" />
        {row.break !== null && <span class="bad">cache break</span>}
      </span>
      {cell('c2 n', whole(row.tokens))}
      {cell('c3 n', prompt === 0 ? 'no answer yet' : `${percent((row.read ?? 0) / prompt)} of the prompt`)}
      {cell('c4 n', row.input === null ? '' : dollars(row.dollars))}
      {cell('c5 n', row.output === null ? '' : short(row.output))}
    </>
  )
}
