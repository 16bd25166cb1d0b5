// Pieces of the index as the page gets them: entries and requests in columns, newest first, and what entries have cost.
import { holders, shared } from '../../lab/playing/timeline.ts'
import { defaults } from '../../settings/defaults.ts'
import { seq } from '../../transcript/ids.ts'
import { isInForce } from '../../projection/folding/live-edits.ts'
import { entryFlags } from '../columns.ts'
import type { SessionIndex } from '../indexing/index-builder.ts'
import { wholeTokens } from '../indexing/edit-lives.ts'
import type { Carried, IndexChunk, RequestChunk } from '../protocol.ts'
import { intervalsOf, isCarried, priceOf } from './intervals.ts'

/** Entries before a place. */
export function indexChunk(index: SessionIndex, before: number | null, count: number): IndexChunk {
  const { entries, lists } = index
  const first = lists.first ?? 0
  const head = lists.head ?? -1
  const end = Math.max(0, Math.min(entries.length, before === null ? entries.length : before - first))
  const begin = Math.max(0, end - count)
  const rows = end - begin
  return {
    from: first + begin,
    to: first + end - 1,
    at: lists.firstAt + entries.sum('delta', 1, begin + 1),
    head,
    before: begin === 0 ? null : first + begin,
    kinds: lists.kinds,
    labels: lists.labels,
    bytes: entries.copied(new Uint32Array(rows), 'bytes', begin, end),
    delta: entries.copied(new Int32Array(rows), 'delta', begin, end),
    tokens: entries.copied(new Uint32Array(rows), 'tokens', begin, end),
    label: entries.copied(new Uint16Array(rows), 'label', begin, end),
    kind: entries.copied(new Uint8Array(rows), 'kind', begin, end),
    flags: flagsOf(index, begin, end),
  }
}

/** As the entries stand at the head: what the fold shows of them now. */
function flagsOf(index: SessionIndex, begin: number, end: number): Uint8Array {
  const { entries, lists, lives } = index
  const first = lists.first ?? 0
  const { edits } = index.state.fold
  const pinned = new Set(edits.pins.filter((pin) => isInForce(pin, Infinity)).map(({ at }) => at as number))
  const flags = entries.copied(new Uint8Array(end - begin), 'flags', begin, end)
  const holds = edits.visibleHolds()
  for (let row = 0; row < flags.length; row++) {
    const place = first + begin + row
    if (lives.cutAt(place) !== null) {
      flags[row]! |= entryFlags.rewound
      continue
    }
    if (entries.get(begin + row, 'tokens') === 0) continue
    const top = edits.topAt(place)
    if (top?.edit.kind === 'summary') {
      flags[row]! |= entryFlags.summarised
      const kept = top.edit.keep.find(({ at }) => at.seq === place)
      if (kept !== undefined)
        flags[row]! |=
          kept.head === undefined && kept.lines === undefined ? entryFlags.visible : entryFlags.stubbed
    } else if (top === undefined) {
      const isEdited = edits.stubs.has(seq(place)) || edits.remote.has(seq(place))
      flags[row]! |= isEdited ? entryFlags.stubbed : entryFlags.visible
    }
    if (pinned.has(place)) flags[row]! |= entryFlags.pinned
    if (holds.some(({ from, to }) => place >= from && place <= to)) flags[row]! |= entryFlags.onHold
  }
  return flags
}

/** Requests before a place. */
export function requestChunk(index: SessionIndex, before: number | null, count: number): RequestChunk {
  const { requests, lists } = index
  const end = before === null ? requests.length : requests.firstFrom('seq', before)
  const begin = Math.max(0, end - count)
  const rows = Array.from({ length: end - begin }, (_, at) => begin + at)
  type Name = Parameters<typeof requests.get>[1]
  const known = (name: Name): readonly number[] => rows.map((row) => requests.get(row, name))
  const maybe = (name: Name): readonly (number | null)[] =>
    rows.map((row) => {
      const value = requests.get(row, name)
      return Number.isNaN(value) ? null : value
    })
  const tokens = rows.map((row) => tokensOf(index, row))
  return {
    before: begin === 0 ? null : requests.get(begin, 'seq'),
    head: lists.head ?? -1,
    seq: known('seq'),
    number: rows.map((row) => row + 1),
    at: known('at'),
    source: known('source'),
    sources: lists.sources,
    model: known('model'),
    models: lists.models,
    input: maybe('input'),
    read: maybe('read'),
    written: maybe('written'),
    output: maybe('output'),
    dollars: maybe('dollars'),
    tokens,
    byHolder: rows.map((row, at) =>
      shared(
        holders.map((holder) => requests.get(row, holder)),
        tokens[at]!,
      ),
    ),
    limit: known('limit'),
    answer: maybe('answer'),
    break: maybe('break'),
    firstMs: maybe('firstMs'),
    ms: maybe('ms'),
    tries: maybe('tries'),
  }
}

/** The provider's count of the prompt, or ours. */
export function tokensOf({ requests }: Pick<SessionIndex, 'requests'>, row: number): number {
  const sum = requests.get(row, 'input') + requests.get(row, 'read') + requests.get(row, 'written')
  return Number.isNaN(sum) ? requests.get(row, 'estimate') : sum
}

export function carriedBy(index: SessionIndex, from: number, to: number): Carried {
  const first = Math.max(from, index.lists.first ?? 0)
  const last = Math.min(to, index.lists.head ?? -1, first + defaults.inspector.carriedEntries - 1)
  const requests: number[] = []
  const dollars: number[] = []
  for (let place = first; place <= last; place++) {
    const own = index.entries.get(index.rowOf(place), 'tokens')
    let [count, paid] = [0, 0]
    if (own > 0)
      for (const interval of intervalsOf(index, place, null)) {
        if (!isCarried(interval)) continue
        const price = priceOf(index, place, interval.tokens === wholeTokens ? own : interval.tokens, interval)
        count += price.requests
        paid += price.dollars
      }
    requests.push(count)
    dollars.push(paid)
  }
  return { from: first, to: Math.max(last, first - 1), requests, dollars }
}
