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

// Forks of forks are few; a longer chain is a cycle or damage.
const longest = 64
/** Oldest ancestor first, the session itself last. */
export async function lineageOf(
  store: Store,
  session: SessionId,
): Promise<Result<{ readonly links: readonly Link[] }>> {
  const links: Link[] = []
  let next: { session: SessionId; upTo: Seq } | undefined = { session, upTo: unbounded }
  while (next !== undefined) {
    if (links.length === longest || links.some((link) => link.session === next?.session)) {
      return refused(
        'bad-lineage',
        `the parents of session ${session} lead in a circle or too far; it cannot be read whole`,
      )
    }
    const first: ReadItem | undefined = await firstOf(store, next.session)
    if (first?.kind === 'failed') return { ok: false, failure: first.failure }
    if (first === undefined) return refused('no-such-session', `session ${next.session} holds nothing`)
    const entry: ReadItem & { kind: 'entry' } = first as ReadItem & { kind: 'entry' }
    links.unshift({ session: next.session, from: entry.entry.seq, to: next.upTo })
    const fact = isKnown(entry.entry) ? entry.entry.fact : undefined
    next = fact?.type === 'session-start' ? fact.parent : undefined
  }
  return { ok: true, links }
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

async function firstOf(store: Store, session: SessionId): Promise<ReadItem | undefined> {
  for await (const item of store.read(session)) if (item.kind !== 'damage') return item
  return undefined
}

/** The line of a session that stands on no other. */
export const ownLink = (session: SessionId): readonly Link[] => [{ session, from: seq(0), to: unbounded }]

/** The line of a session that goes on from another's, whose part ends at `upTo`. */
export const branchedLinks = (links: readonly Link[], session: SessionId, upTo: Seq): readonly Link[] => [
  ...links.slice(0, -1),
  { ...links.at(-1)!, to: upTo },
  { session, from: after(upTo), to: unbounded },
]
