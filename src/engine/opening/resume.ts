// Opening a session: from a checkpoint and the tail where there is one, by streaming where there is none. Reads
// only; what a crash left open is closed afterwards by the writer.
import { checkpointOf, restore } from '../../projection/checkpoint.ts'
import { Fold } from '../../projection/fold.ts'
import type { ModelTable } from '../../model/models.ts'
import type { Entry, FactOf, Range, StoredEntry } from '../../transcript/fact.ts'
import { isKnown } from '../../transcript/fact.ts'
import { emptyTail, step, type Tail } from '../../transcript/grammar.ts'
import { seq, type Seq, type SessionId } from '../../transcript/ids.ts'
import { lineageOf, readLine, type Link } from '../../transcript/lineage.ts'
import type { Checkpoint, Damage, Failure, Result, Store } from '../../transcript/store.ts'
import { noteBeside, nothingBeside, type Besides } from '../beside/agent-rows.ts'
import { nothingSpent, spend, type Spent } from '../limits/spend.ts'
import type { ReadFile } from '../../tools/tool.ts'
import { collect, supplyMissing } from './supply.ts'

/** The little that a session knows of itself beside its view. */
export interface Latest {
  /** The model last chosen in the session. */
  readonly model: string | null
  /** When the last request was sent: the lifetime of the cache counts from there. */
  readonly requestAt: number | null
  /** Its answer read less from the cache than was there, and nothing of ours explains it. */
  readonly cacheLost?: boolean | undefined
  /** Lifetime of the marks of its first request; it stays for the session (SPEC 9.4). */
  readonly lifetime?: '5m' | '1h' | undefined
  /** Model summaries that failed in a row. */
  readonly summaryFailures?: number | undefined
  /** The last entry the session notes speak of. */
  readonly notesTo?: Seq | undefined
  /** The last entry that was looked through for memories. */
  readonly memoriesTo?: Seq | undefined
  /** The files read so far, as a checkpoint keeps them: without it an Edit after a resume would ask to read again. */
  readonly readFiles?: readonly (readonly [path: string, file: ReadFile])[] | undefined
  /** Spans staged to be archived. */
  readonly collapse?: FactOf<'collapse-stage'> | undefined
  /** Agents and messages: this session's own, never those of what it was forked from. */
  readonly beside?: Besides | undefined
}

export interface Resumed {
  readonly fold: Fold
  readonly tail: Tail
  readonly spent: Spent
  readonly latest: Latest
  readonly links: readonly Link[]
  /** Entries that had to be read after the checkpoint, or all of them. */
  readonly entriesRead: number
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
  readonly latest: Latest
}

const nothingYet: Latest = { model: null, requestAt: null }

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
    latest: nothingYet,
    next: links[0]!.from,
  }
  return readOn(store, links, reading, table)
}

/** The checkpoint of a session as it stands. */
export function checkpointFor(fold: Fold, tail: Tail, spent: Spent, latest: Latest): Checkpoint {
  const { state, needs } = checkpointOf(fold)
  const whole: State = { version, fold: state, tail, spent, latest }
  return { version, upTo: seq(fold.numbers.upTo), state: whole, needs }
}

/** What an entry tells beside its view. */
export function note(latest: Latest, entry: StoredEntry): Latest {
  if (!isKnown(entry)) return latest
  const { beside = nothingBeside } = latest
  const now = noteBeside(beside, entry)
  return noteOf(now === beside ? latest : { ...latest, beside: now }, entry)
}

/** Of a fork or a branch: what its parent started is the parent's. */
export const withoutBeside = (latest: Latest): Latest => ({
  ...latest,
  beside: undefined,
  notesTo: undefined,
})

function noteOf(latest: Latest, entry: Entry): Latest {
  const { fact } = entry
  if (fact.type === 'model-set') return { ...latest, model: fact.model }
  if (fact.type === 'compaction-failed')
    return fact.source === 'model'
      ? { ...latest, summaryFailures: (latest.summaryFailures ?? 0) + 1 }
      : latest
  // What was read before a boundary is out of sight (SPEC 8.8).
  if (fact.type === 'boundary')
    return {
      ...latest,
      readFiles: undefined,
      collapse: undefined,
      ...(fact.source === 'model' ? { summaryFailures: 0 } : {}),
    }
  if (fact.type === 'notes-update') return { ...latest, notesTo: fact.coversTo }
  if (fact.type === 'memories-extracted') return { ...latest, memoriesTo: fact.coversTo }
  // Notes of what was taken back speak of things that are no longer so.
  if (fact.type === 'rewind' && (latest.notesTo ?? -1) > fact.to) return { ...latest, notesTo: undefined }
  if (fact.type === 'collapse-stage') return { ...latest, collapse: fact }
  if (fact.type === 'cache-break') return { ...latest, cacheLost: fact.causes.every(isLoss) }
  if (fact.type !== 'request-sent') return latest
  const lifetime = latest.lifetime ?? (fact.source === 'main' ? fact.lifetime : undefined)
  return { ...latest, requestAt: entry.at, cacheLost: false, ...(lifetime === undefined ? {} : { lifetime }) }
}

/** The cache was lost by age or by the server, not by a change of ours. */
function isLoss(cause: unknown): boolean {
  const kind = typeof cause === 'object' && cause !== null && 'kind' in cause ? cause.kind : null
  return kind === 'expired' || kind === 'server'
}

interface Reading {
  readonly fold: Fold
  readonly tail: Tail
  readonly spent: Spent
  readonly latest: Latest
  readonly next: number
}

async function fromCheckpoint(
  store: Store,
  links: readonly Link[],
  checkpoint: Checkpoint,
): Promise<Reading | null> {
  const state = checkpoint.state as Partial<State> | null
  if (checkpoint.version !== version || state?.version !== version || state.tail === undefined) return null
  const { fold: kept, tail, spent = nothingSpent, latest = nothingYet } = state
  // Damage in what it needs would go unseen: then everything is read, and what is lost is said.
  const needed = await collect(store, links, checkpoint.needs, lostOf(kept))
  if (!needed.ok) return null
  const fold = restore(kept, needed.entries)
  return fold === null ? null : { fold, tail, spent, latest, next: checkpoint.upTo + 1 }
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
  let { tail, spent, latest } = reading
  let entriesRead = 0
  let readOnly: string | null = null
  for await (const item of readLine(store, links, { from: seq(reading.next) })) {
    if (item.kind === 'failed') return { ok: false, failure: item.failure }
    if (item.kind === 'damage') {
      damage.push(item.damage)
      continue
    }
    const { entry } = item
    if (!isKnown(entry) && entry.changesView) {
      readOnly = `entry ${entry.seq} (${entry.unknown}) was written by a newer version; open it with that one, read it, or branch off before it`
      break
    }
    const failure = await push(store, links, fold, entry)
    if (failure !== null) return { ok: false, failure }
    // A fork starts a life of its own, but the calls its parent had open stand in its view and want an answer.
    if (entry.seq === own.from) {
      tail = { ...emptyTail(own.from), open: tail.open, lastUuid: tail.lastUuid }
      latest = withoutBeside(latest)
    }
    tail = step(tail, entry)
    latest = note(latest, entry)
    // What an ancestor paid before the fork is the ancestor's.
    if (entry.seq >= own.from) spent = spend(spent, entry, table)
    entriesRead++
  }
  return { ok: true, fold, tail, spent, latest, links, entriesRead, damage, readOnly }
}

/** Pushes an entry of the past. What a boundary hides is forgotten at once, so that a long reading stays small. */
async function push(
  store: Store,
  links: readonly Link[],
  fold: Fold,
  entry: StoredEntry,
): Promise<Failure | null> {
  const failure = isKnown(entry) ? await supplyMissing(store, links, fold, entry.fact) : null
  if (failure !== null) return failure
  fold.push(entry)
  if (isKnown(entry) && entry.fact.type === 'boundary') fold.evict()
  return null
}

const lostOf = (kept: unknown): readonly Range[] =>
  (kept as { readonly numbers?: { readonly lost?: readonly Range[] } } | null | undefined)?.numbers?.lost ??
  []
