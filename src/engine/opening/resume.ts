// Opening a session: from a checkpoint and the tail where there is one, by streaming where there is none. Reads
// only; what a crash left open is closed afterwards by the writer.
import type { ModelTable } from '../../model/models.ts'
import { checkpointOf, restore } from '../../projection/checkpoint.ts'
import { defaults } from '../../settings/defaults.ts'
import type { ReadFiles } from '../../tools/tool.ts'
import { encode } from '../../transcript/codec.ts'
import { isKnown, type Range, type StoredEntry } from '../../transcript/fact.ts'
import type { Tail } from '../../transcript/grammar.ts'
import { seq, unbounded, type Seq, type SessionId } from '../../transcript/ids.ts'
import { lineageOf, readLine, type Link } from '../../transcript/lineage.ts'
import type { Checkpoint, Damage, Failure, Lease, Result, Store } from '../../transcript/store.ts'
import { nothingSpent, type Spent } from '../limits/spend.ts'
import { advance, branched, newState, nothingYet, type Latest, type SessionState } from '../state.ts'
import { collect, MemoryRoom, supplyMissing } from './supply.ts'

export interface Resumed extends SessionState {
  readonly links: readonly Link[]
  /** Entries that had to be read after the checkpoint, or all of them. */
  readonly entriesRead: number
  readonly damage: readonly Damage[]
  /** An edit of a later version: the view cannot be computed further, so nothing may be written. */
  readonly readOnly: string | null
}

// Those of the version before lack what has become a fact since, and no fact of that time says it: they are read as they are.
const version = 2
const readable: readonly unknown[] = [1, version]
interface State {
  readonly version: number
  readonly fold: unknown
  readonly tail: Tail
  readonly spent: Spent
  readonly latest: Latest
}

export async function resume(store: Store, session: SessionId, table: ModelTable): Promise<Result<Resumed>> {
  const line = await lineageOf(store, session)
  if (!line.ok) return line
  const { links } = line
  const checkpoint = await store.getCheckpoint(session)
  const room = new MemoryRoom(session)
  const from = checkpoint === null ? null : await fromCheckpoint(store, links, checkpoint, room)
  if (from !== null && 'code' in from) return { ok: false, failure: from }
  const first = links[0]!.from
  const whole: Reading = { state: newState(first), next: first, isWhole: true }
  if (from === null) room.clear()
  const resumed = await readOn(store, links, from ?? whole, table, room)
  // What a checkpoint stands for was not read: where an undo needs some of it that is damaged, everything is read.
  const isShort = !resumed.ok && resumed.failure.code === 'damaged' && from !== null
  return isShort ? readOn(store, links, whole, table, new MemoryRoom(session)) : resumed
}

/** The state as it was when the entry at `upTo` was the last one; from a checkpoint at or before it, where one is handed in. */
export async function stateAt(
  store: Store,
  links: readonly Link[],
  table: ModelTable,
  upTo: Seq,
  checkpoint: Checkpoint | null = null,
): Promise<Result<Resumed>> {
  const room = new MemoryRoom(links.at(-1)!.session)
  const isBefore = checkpoint !== null && checkpoint.upTo <= upTo
  const from = isBefore ? await fromCheckpoint(store, links, checkpoint, room) : null
  if (from !== null && !('code' in from)) {
    const resumed = await readOn(store, links, from, table, room, upTo)
    if (resumed.ok || resumed.failure.code !== 'damaged') return resumed
  }
  const first = links[0]!.from
  const whole: Reading = { state: newState(first), next: first, isWhole: true }
  return readOn(store, links, whole, table, new MemoryRoom(links.at(-1)!.session), upTo)
}

export function checkpointFor({ fold, tail, spent, latest }: SessionState): Checkpoint {
  const { state, needs } = checkpointOf(fold)
  const whole: State = { version, fold: state, tail, spent, latest }
  return { version, upTo: seq(fold.numbers.upTo), state: whole, needs }
}

/** When a checkpoint is written, and of what. It is only a short cut: without one nothing is lost. */
export class Checkpoints {
  readonly #store: Store
  readonly #lease: Lease
  readonly #readFiles: ReadFiles
  readonly #state: () => SessionState
  #unsavedBytes = 0
  #hasBoundary = false

  constructor(store: Store, lease: Lease, readFiles: ReadFiles, state: () => SessionState) {
    this.#store = store
    this.#lease = lease
    this.#readFiles = readFiles
    this.#state = state
  }

  note(entry: StoredEntry): void {
    this.#unsavedBytes += encode(entry).length
    if (isKnown(entry) && entry.fact.type === 'boundary') this.#hasBoundary = true
  }

  /** Writes one when enough has come since the last, or a boundary has. */
  async save(): Promise<Failure | null> {
    if (this.#unsavedBytes < defaults.store.checkpointBytes && !this.#hasBoundary) return null
    return this.saveNow()
  }

  /** At the end of a session: only a checkpoint keeps the table of read files, and spares what a boundary hides from being read. */
  async saveAtEnd(): Promise<Failure | null> {
    const hasReadFiles = this.#unsavedBytes > 0 && this.#readFiles.entries().length > 0
    return this.#hasBoundary || hasReadFiles ? this.saveNow() : null
  }

  async saveNow(): Promise<Failure | null> {
    const state = this.#state()
    const latest = { ...state.latest, readFiles: this.#readFiles.entries() }
    const saved = await this.#store.putCheckpoint(this.#lease, checkpointFor({ ...state, latest }))
    if (!saved.ok) return saved.failure
    this.#unsavedBytes = 0
    this.#hasBoundary = false
    return null
  }
}

interface Reading {
  readonly state: SessionState
  readonly next: number
  /** From the very beginning: what is missing is met on the way, and said. */
  readonly isWhole: boolean
}

async function fromCheckpoint(
  store: Store,
  links: readonly Link[],
  checkpoint: Checkpoint,
  room: MemoryRoom,
): Promise<Reading | Failure | null> {
  const state = checkpoint.state as Partial<State> | null
  if (!readable.includes(checkpoint.version) || !readable.includes(state?.version)) return null
  if (state?.tail === undefined) return null
  const { fold: kept, tail, spent = nothingSpent, latest = nothingYet } = state
  // Damage in what it needs would go unseen: then everything is read, and what is lost is said.
  const needed = await collect(store, links, checkpoint.needs, lostOf(kept), room)
  if (!needed.ok) return needed.failure.code === 'no-memory' ? needed.failure : null
  const fold = restore(kept, needed.entries)
  if (fold === null) return null
  // An earlier version kept the rows of its agents under another name.
  const background =
    latest.background ?? (latest as Partial<Record<'beside', Latest['background']>>)['beside']
  return {
    state: { fold, tail, spent, latest: { ...latest, background } },
    next: checkpoint.upTo + 1,
    isWhole: false,
  }
}

async function readOn(
  store: Store,
  links: readonly Link[],
  reading: Reading,
  table: ModelTable,
  room: MemoryRoom,
  upTo: Seq = unbounded,
): Promise<Result<Resumed>> {
  const damage: Damage[] = []
  const own = links.at(-1)!
  let { state } = reading
  let expected = reading.next
  let entriesRead = 0
  let readOnly: string | null = null
  for await (const item of readLine(store, links, { from: seq(reading.next), to: upTo })) {
    if (item.kind === 'failed') return { ok: false, failure: item.failure }
    if (item.kind === 'damage') {
      damage.push(item.damage)
      continue
    }
    const full = room.take(item)
    if (full !== null) return { ok: false, failure: full }
    const { entry } = item
    noteGap(damage, expected, entry.seq)
    expected = entry.seq + 1
    if (!isKnown(entry) && entry.changesView) {
      readOnly = `entry ${entry.seq} (${entry.unknown}) was written by a newer version; open it with that one, read it, or branch off before it`
      break
    }
    const failure = isKnown(entry)
      ? await supplyMissing(store, links, state.fold, entry.fact, reading.isWhole)
      : null
    if (failure !== null) return { ok: false, failure }
    if (entry.seq === own.from) state = branched(state, own.from)
    state = advance(state, entry, table)
    // What a boundary hides is forgotten at once, so that a long reading stays small.
    if (isKnown(entry) && entry.fact.type === 'boundary') {
      state.fold.evict()
      room.clear()
    }
    entriesRead++
  }
  return { ok: true, ...state, links, entriesRead, damage, readOnly }
}

/** A store tells what is missing between two entries; that the first one or the last of a parent is, only the line shows. */
function noteGap(damage: Damage[], expected: number, found: number): void {
  if (found <= expected) return
  const lost = { from: seq(expected), to: seq(found - 1) }
  const covers = (range: Range | undefined): boolean =>
    range !== undefined && range.from <= lost.from && range.to >= lost.to
  if (damage.some((one) => covers(one.lost))) return
  const at = damage.findLastIndex((one) => one.lost === undefined)
  const one = damage[at]
  if (one !== undefined) damage[at] = { ...one, lost }
  else damage.push({ ...nowhere, what: missingText(lost), done: 'read on after the gap', lost })
}

const nowhere = { where: 'transcript', at: 0 }
export const missingText = ({ from, to }: Range): string =>
  from === to ? `entry ${from} is missing` : `entries ${from} to ${to} are missing`

const lostOf = (kept: unknown): readonly Range[] =>
  (kept as { readonly numbers?: { readonly lost?: readonly Range[] } } | null | undefined)?.numbers?.lost ??
  []
