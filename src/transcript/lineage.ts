// A session and the sessions it was forked from, read as one. A fork goes on counting where it left its parent, so
// the entries of the whole line have one row of places, and any range of it can be read.
import type { Range } from './fact.ts'
import { isKnown } from './fact.ts'
import { refused } from '../disk/failure.ts'
import { after, seq, type Seq, type SessionId, unbounded } from './ids.ts'
import type { ReadItem, Result, Store } from './store.ts'

/** One session of a line and the places that count of it. */
export interface Link extends Range {
  readonly session: SessionId
}

/** Oldest ancestor first, the session itself last. A line may be of any length; only one that comes back to itself is none. */
export async function lineageOf(
  store: Store,
  session: SessionId,
): Promise<Result<{ readonly links: readonly Link[] }>> {
  const links: Link[] = []
  const met = new Set<SessionId>()
  let next: { session: SessionId; upTo: Seq } | undefined = { session, upTo: unbounded }
  while (next !== undefined) {
    if (met.has(next.session))
      return refused('bad-lineage', `the parents of session ${session} lead in a circle at ${next.session}`)
    met.add(next.session)
    const first: Result<First> = await firstOf(store, next.session)
    if (!first.ok) return first
    links.push({ session: next.session, from: first.from, to: next.upTo })
    next = first.parent
  }
  return { ok: true, links: links.reverse() }
}

/** The entries of a range over the whole line, in order. */
export async function* readLine(
  store: Store,
  links: readonly Link[],
  range: Partial<Range> = {},
): AsyncGenerator<ReadItem> {
  for (const link of links) {
    const from = Math.max(link.from, range.from ?? 0)
    const to = Math.min(link.to, range.to ?? unbounded)
    if (from > to) continue
    yield* store.read(link.session, { from: seq(from), ...(to === unbounded ? {} : { to: seq(to) }) })
  }
}

/** The entries of the whole line before a place, newest first. */
export async function* readLineBack(
  store: Store,
  links: readonly Link[],
  before: Seq,
): AsyncGenerator<ReadItem> {
  for (const link of links.toReversed()) {
    if (link.from >= before) continue
    yield* store.readBack(link.session, seq(Math.min(before, link.to + 1)))
  }
}

interface First {
  readonly from: Seq
  readonly parent: { readonly session: SessionId; readonly upTo: Seq } | undefined
}

/** The line of a session that stands on no other. */
export const ownLink = (session: SessionId): readonly Link[] => [{ session, from: seq(0), to: unbounded }]

/** The line of a session that goes on from another's, whose part ends at `upTo`. */
export const branchedLinks = (links: readonly Link[], session: SessionId, upTo: Seq): readonly Link[] => [
  ...links.slice(0, -1),
  { ...links.at(-1)!, to: upTo },
  { session, from: after(upTo), to: unbounded },
]

/**
 * Where a session begins and what it stands on. Where the entry that says so is lost, it begins as far before the first
 * readable one as places are missing: at 0 where that can be, and else it is a fork whose parent is not known.
 */
async function firstOf(store: Store, session: SessionId): Promise<Result<First>> {
  let bad = 0
  for await (const item of store.read(session)) {
    if (item.kind === 'failed') return { ok: false, failure: item.failure }
    if (item.kind === 'damage') {
      bad++
      continue
    }
    const { entry } = item
    const fact = isKnown(entry) ? entry.fact : undefined
    if (fact?.type === 'session-start') return { ok: true, from: entry.seq, parent: fact.parent }
    const before = entry.seq <= Math.max(shortestFork, bad) ? entry.seq : Math.max(1, bad)
    return { ok: true, from: seq(entry.seq - before), parent: undefined }
  }
  if (bad === 0) return refused('no-such-session', `session ${session} holds nothing`)
  return refused('damaged', `nothing of session ${session} can be read; its bytes stay in its folder`)
}

/** A fork stands on a session with a start and instructions at least, so nothing before this place is the start of one. */
const shortestFork = 2
