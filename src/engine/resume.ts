// Opening a session: from a checkpoint and the tail where there is one, by streaming where there is none. Reads
// only; what a crash left open is closed afterwards by the writer.
import { checkpointOf, restore } from '../projection/checkpoint.ts'
import { Fold } from '../projection/fold.ts'
import type { ModelTable } from '../model/models.ts'
import type { Fact, Range, StoredEntry } from '../transcript/fact.ts'
import { isKnown } from '../transcript/fact.ts'
import { emptyTail, step, type Tail } from '../transcript/grammar.ts'
import { seq, type SessionId } from '../transcript/ids.ts'
import { lineageOf, readLine, type Link } from '../transcript/lineage.ts'
import type { Checkpoint, Damage, Failure, Result, Store } from '../transcript/store.ts'
import { nothingSpent, spend, type Spent } from './spend.ts'

export interface Resumed {
  readonly fold: Fold
  readonly tail: Tail
  readonly spent: Spent
  readonly links: readonly Link[]
  readonly damage: readonly Damage[]
  /** An edit of a later version: the view cannot be computed further, so nothing may be written. */
  readonly readOnly: string | null
}

const version = 1
interface State {
  readonly version: typeof version
  readonly fold: unknown
  readonly tail: Tail
  readonly spent: Spent
}

export async function resume(store: Store, session: SessionId, table: ModelTable): Promise<Result<Resumed>> {
  const line = await lineageOf(store, session)
  if (!line.ok) return line
  const { links } = line
  const checkpoint = await store.getCheckpoint(session)
  const from = checkpoint === null ? null : await fromCheckpoint(store, links, checkpoint)
  const reading = from ?? {
    fold: new Fold(),
    tail: emptyTail(links[0]!.from),
    spent: nothingSpent,
    next: links[0]!.from,
  }
  return readOn(store, links, reading, table)
}

/** The checkpoint of a session as it stands. */
export function checkpointFor(fold: Fold, tail: Tail, spent: Spent): Checkpoint {
  const { state, needs } = checkpointOf(fold)
  const whole: State = { version, fold: state, tail, spent }
  return { version, upTo: seq(fold.numbers.upTo), state: whole, needs }
}

/** Reads back what an undo or a rewind needs and eviction has left out. */
export async function supplyMissing(
  store: Store,
  links: readonly Link[],
  fold: Fold,
  fact: Fact,
): Promise<Failure | null> {
  const range = fold.missing(fact)
  if (range === null) return null
  const entries = await collect(store, links, [range])
  if (!entries.ok) return entries.failure
  fold.supply(range, entries.entries)
  return null
}

interface Reading {
  readonly fold: Fold
  readonly tail: Tail
  readonly spent: Spent
  readonly next: number
}

async function fromCheckpoint(
  store: Store,
  links: readonly Link[],
  checkpoint: Checkpoint,
): Promise<Reading | null> {
  const state = checkpoint.state as Partial<State> | null
  if (checkpoint.version !== version || state?.version !== version || state.tail === undefined) return null
  const needed = await collect(store, links, checkpoint.needs)
  if (!needed.ok) return null
  const fold = restore(state.fold, needed.entries)
  return fold === null
    ? null
    : { fold, tail: state.tail, spent: state.spent ?? nothingSpent, next: checkpoint.upTo + 1 }
}

async function readOn(
  store: Store,
  links: readonly Link[],
  reading: Reading,
  table: ModelTable,
): Promise<Result<Resumed>> {
  const { fold } = reading
  const damage: Damage[] = []
  const own = links.at(-1)!
  let { tail, spent } = reading
  let readOnly: string | null = null
  for await (const item of readLine(store, links, { from: seq(reading.next) })) {
    if (item.kind === 'failed') return { ok: false, failure: item.failure }
    if (item.kind === 'damage') {
      damage.push(item.damage)
      continue
    }
    const { entry } = item
    // A fork starts a life of its own, but the calls its parent had open stand in its view and want an answer.
    if (entry.seq === own.from) tail = { ...emptyTail(own.from), open: tail.open, lastUuid: tail.lastUuid }
    fold.push(entry)
    tail = step(tail, entry)
    // What an ancestor paid before the fork is the ancestor's.
    if (entry.seq >= own.from) spent = spend(spent, entry, table)
    if (!isKnown(entry) && entry.changesView) {
      readOnly = `entry ${entry.seq} (${entry.unknown}) was written by a newer version; open it with that one, or fork before it`
      break
    }
  }
  return { ok: true, fold, tail, spent, links, damage, readOnly }
}

async function collect(
  store: Store,
  links: readonly Link[],
  ranges: readonly Range[],
): Promise<Result<{ readonly entries: readonly StoredEntry[] }>> {
  const entries: StoredEntry[] = []
  for (const range of ranges) {
    for await (const item of readLine(store, links, range)) {
      if (item.kind === 'failed') return { ok: false, failure: item.failure }
      if (item.kind === 'entry') entries.push(item.entry)
    }
  }
  return { ok: true, entries }
}
