// The index of one session, entry by entry: columns for the page, who held the window at each request and what each side of it
// cost, and the lists of edits, breaks and agents. Everything comes from the entries and from one fold that goes along, so the
// index may be thrown away, and an index of the beginning is extended by the rest.
import { checkpointFor } from '../../engine/opening/resume.ts'
import { advance, branched, newState, type SessionState } from '../../engine/state.ts'
import { holders, HolderTokens } from '../../lab/playing/timeline.ts'
import { windowOf } from '../../model/models.ts'
import { EditList } from '../../projection/edit-list.ts'
import { isControl } from '../../projection/folding/live-edits.ts'
import { partOf } from '../../projection/folding/part.ts'
import { defaults } from '../../settings/defaults.ts'
import { textIn } from '../../transcript/content.ts'
import { type Entry, type FactOf, isKnown, type StoredEntry } from '../../transcript/fact.ts'
import { seq } from '../../transcript/ids.ts'
import type { Checkpoint } from '../../transcript/store.ts'
import { entryFlags, missingKind, noLabel } from '../columns.ts'
import { answered, noteFact } from './noted-facts.ts'
import { EditLives } from './edit-lives.ts'
import {
  emptyLists,
  entryTable,
  type EntryTable,
  type IndexLists,
  type IndexOptions,
  type IndexParts,
  type IndexTables,
  requestTable,
  type RequestTable,
  type Snapshot,
} from './index-rows.ts'

export class SessionIndex implements IndexParts {
  readonly options: IndexOptions
  readonly lists: IndexLists
  readonly entries: EntryTable
  readonly requests: RequestTable
  readonly lives: EditLives
  readonly editList: EditList
  #state: SessionState
  readonly #holders = new HolderTokens()
  /** Since the last request nothing but new entries has come. */
  #isGrown = true
  readonly #labels: Map<string, number>
  readonly #kinds: Map<string, number>

  constructor(
    session: string,
    options: IndexOptions,
    lists: IndexLists = emptyLists(session),
    state?: SessionState,
    tables: IndexTables = { entries: entryTable(), requests: requestTable() },
  ) {
    this.options = options
    this.lists = lists
    this.entries = tables.entries
    this.requests = tables.requests
    this.#state = state ?? newState()
    this.lives = new EditLives([...lists.lives], [...lists.cuts])
    this.editList = new EditList(lists.edits)
    this.#labels = new Map(lists.labels.map((label, at) => [label, at]))
    this.#kinds = new Map(lists.kinds.map((kind, at) => [kind, at]))
    this.#isGrown = state === undefined
  }

  get state(): SessionState {
    return this.#state
  }

  /** The row of an entry. */
  rowOf(place: number): number {
    return place - (this.lists.first ?? 0)
  }

  /** An entry of a session that this one continues: in its requests, and in no row. */
  inherit(entry: StoredEntry, bytes: number): void {
    if (isKnown(entry)) this.#editing(entry)
    this.#advance(entry, bytes)
  }

  /** The first entry of its own. */
  begin(place: number): void {
    this.#state = branched(this.#state, seq(place))
  }

  push(entry: StoredEntry, bytes: number): void {
    const { lists } = this
    lists.first ??= entry.seq
    lists.firstUuid ??= entry.uuid
    while (this.entries.length < entry.seq - lists.first) this.entries.push(missingRow)
    const at = isKnown(entry) ? entry.at : lists.lastAt
    if (this.entries.length === 0) lists.firstAt = at
    const row = { bytes, delta: this.entries.length === 0 ? 0 : at - lists.lastAt, ...this.#described(entry) }
    if (entry.seq - lists.first === this.entries.length) this.entries.push(row)
    lists.lastAt = at
    lists.head = Math.max(lists.head ?? 0, entry.seq)
    lists.headUuid = entry.uuid
    if (isKnown(entry)) {
      if (entry.fact.type === 'request-sent') this.#request(entry, entry.fact)
      if (entry.fact.type === 'assistant-message') answered(this, entry, entry.fact)
      this.#editing(entry)
      noteFact(this, entry)
    } else if (entry.changesView) lists.readOnlyFrom ??= entry.seq
    this.#advance(entry, bytes)
    this.entries.set(this.rowOf(entry.seq), 'tokens', this.#tokensOf(entry))
  }

  /** The lists as they are kept. */
  kept(): IndexLists {
    return { ...this.lists, edits: this.editList.state(), lives: this.lives.edits, cuts: this.lives.cuts }
  }

  labelled(list: 'models' | 'sources', text: string): number {
    const known = this.lists[list].indexOf(text)
    return known >= 0 ? known : this.lists[list].push(text) - 1
  }

  #editing(entry: Entry): void {
    this.lives.push(entry, (range) => this.#state.fold.edits.fits(range))
    this.editList.push(entry)
    if (isControl(entry.fact) || entry.fact.type === 'rewind') this.#isGrown = false
  }

  #advance(entry: StoredEntry, bytes: number): void {
    const { lists } = this
    lists.viewBytes += bytes
    lists.readBytes += bytes
    // More than any window holds: the session was never compacted, and the window is no longer computed.
    if (lists.viewBytes > defaults.inspector.viewBytes || lists.readOnlyFrom !== null)
      lists.unfoldedFrom ??= entry.seq
    if (lists.unfoldedFrom !== null) return
    this.#state = advance(this.#state, entry, this.options.models)
    const isBoundary = isKnown(entry) && entry.fact.type === 'boundary'
    if (!isBoundary) return
    this.#state.fold.evict()
    lists.viewBytes = 0
    lists.snapshots = withSnapshot(lists.snapshots, lists.readBytes, () => checkpointFor(this.#state))
  }

  #described(entry: StoredEntry): { tokens: number; label: number; kind: number; flags: number } {
    const kind = numbered(
      this.#kinds,
      this.lists.kinds,
      isKnown(entry) ? entry.fact.type : entry.unknown,
      // One below is what the page has for a row that has not come.
      missingKind - 2,
    )
    if (!isKnown(entry)) return { tokens: 0, label: noLabel, kind, flags: 0 }
    const { fact } = entry
    const name = labelOf(fact, this.#state)
    const label = name === null ? noLabel : numbered(this.#labels, this.lists.labels, name, noLabel - 1)
    return { tokens: 0, label, kind, flags: flagsOf(fact) }
  }

  /** The fold has counted it already. */
  #tokensOf(entry: StoredEntry): number {
    if (!isKnown(entry)) return 0
    const part = this.lists.unfoldedFrom === null ? this.#state.fold.units.find(entry.seq) : partOf(entry)
    return part?.estimate ?? 0
  }

  #request(entry: Entry, fact: FactOf<'request-sent'>): void {
    const isFolded = this.lists.unfoldedFrom === null
    const view = this.#state.fold.view()
    const weights = isFolded ? this.#holders.weigh(view, this.#isGrown) : holders.map(() => 0)
    this.#isGrown = true
    const byHolder = Object.fromEntries(holders.map((holder, at) => [holder, weights[at]!])) as ByHolder
    this.requests.push({
      ...unanswered,
      ...byHolder,
      seq: entry.seq,
      at: entry.at,
      source: this.labelled('sources', fact.source),
      model: this.labelled('models', fact.model),
      estimate: fact.tokens,
      limit: windowOf({
        model: fact.model,
        table: this.options.models,
        override: this.options.window,
        learned: this.#state.latest.learnedWindow,
      }).tokens,
    })
  }
}

type ByHolder = Record<(typeof holders)[number], number>

const unknown = Number.NaN
const unanswered = {
  input: unknown,
  read: unknown,
  written: unknown,
  output: unknown,
  dollars: unknown,
  answer: unknown,
  break: unknown,
  firstMs: unknown,
  ms: unknown,
  tries: unknown,
  readTo: -1,
  writtenTo: -1,
  perRead: unknown,
  perWritten: unknown,
  perInput: unknown,
  saving: 0,
}
const missingRow = { bytes: 0, delta: 0, tokens: 0, label: noLabel, kind: missingKind, flags: 0 }

function numbered(known: Map<string, number>, list: string[], text: string, most: number): number {
  const short = text.slice(0, defaults.inspector.labelChars)
  const found = known.get(short)
  if (found !== undefined) return found
  if (list.length >= most) {
    list[most] ??= 'other'
    return most
  }
  known.set(short, list.length)
  return list.push(short) - 1
}

function labelOf(fact: Entry['fact'], { tail }: SessionState): string | null {
  switch (fact.type) {
    case 'tool-result':
      return tail.open.find(({ id }) => id === fact.call)?.name ?? null
    case 'attachment':
      return fact.kind
    case 'request-sent':
    case 'cache-break':
      return fact.source
    case 'view-edit':
    case 'boundary':
      return fact.layer
    case 'permission':
      return fact.tool
    case 'agent-start':
      return fact.agent
    case 'fork-end':
      return fact.purpose
    case 'model-set':
      return fact.model
    case 'assistant-message':
      return textIn(fact.content) === '' ? callIn(fact) : null
    default:
      return null
  }
}
function callIn({ content }: FactOf<'assistant-message'>): string | null {
  for (const block of content) if (block.type === 'tool_use' && 'name' in block) return block.name
  return null
}

function flagsOf(fact: Entry['fact']): number {
  const failed =
    (fact.type === 'tool-result' && fact.isError) ||
    fact.type === 'compaction-failed' ||
    ((fact.type === 'turn-end' || fact.type === 'fork-end') && fact.outcome === 'failed')
  const spilled = fact.type === 'tool-result' && fact.spill !== undefined
  return (failed ? entryFlags.isError : 0) | (spilled ? entryFlags.spilled : 0)
}

// Folds that the index keeps to begin from. They lie evenly over the bytes of a session: those of long ago are thinned out as it
// grows, but no more than those of now, so that a request from anywhere costs the same small share of the session.

/** With one more at the place where so many bytes have been read, unless the last one is near. */
export function withSnapshot(
  kept: readonly Snapshot[],
  bytes: number,
  make: () => Checkpoint,
): readonly Snapshot[] {
  const least = distanceAt(bytes)
  if (bytes - (kept.at(-1)?.bytes ?? 0) < least) return kept
  const all = [...kept, { bytes, checkpoint: make() }]
  if (all.length <= defaults.inspector.snapshots) return all
  let last = 0
  return all.filter(({ bytes: at }) => {
    if (at - last < least) return false
    last = at
    return true
  })
}

/** Doubled as the session grows: what was thinned out by one distance still fits the next. */
function distanceAt(bytes: number): number {
  const { snapshots, snapshotBytes } = defaults.inspector
  let distance: number = snapshotBytes
  while (distance * snapshots < bytes) distance *= 2
  return distance
}
