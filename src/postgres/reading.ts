// Reading a session in pages of so many lines and bytes: memory stays bounded whatever a line holds.
import { decode } from '../transcript/codec.ts'
import type { Range } from '../transcript/fact.ts'
import { seq, unbounded, type Seq, type SessionId } from '../transcript/ids.ts'
import type { ReadItem, Result } from '../transcript/store.ts'
import type { Connection } from './connection.ts'

const page = { rows: 1000, bytes: 8 * 1024 * 1024 }

interface Ends {
  readonly first: number
  readonly head: number
}

export async function* readForward(
  connection: Connection,
  tenant: string,
  session: SessionId,
  range: Partial<Range>,
): AsyncIterable<ReadItem> {
  const found = await endsOf(connection, tenant, session)
  if (!found.ok) return yield { kind: 'failed', failure: found.failure }
  const to = Math.min(range.to ?? unbounded, found.head)
  for (let from = Math.max(range.from ?? 0, found.first); from <= to;) {
    const lines = await linesOf(connection, [tenant, session, from, to, false])
    if (!lines.ok) return yield { kind: 'failed', failure: lines.failure }
    for (const { place, line } of lines.lines) {
      // Places are written without gaps, by one statement each: a gap is damage of the database.
      if (place > from) yield gap(session, from, place - 1)
      yield itemOf(session, place, line)
      from = place + 1
    }
    if (lines.lines.length === 0) return yield gap(session, from, to)
  }
}

export async function* readBackward(
  connection: Connection,
  tenant: string,
  session: SessionId,
  before?: Seq,
): AsyncIterable<ReadItem> {
  const found = await endsOf(connection, tenant, session)
  if (!found.ok) return yield { kind: 'failed', failure: found.failure }
  for (let to = Math.min((before ?? unbounded) - 1, found.head); to >= found.first;) {
    const lines = await linesOf(connection, [tenant, session, found.first, to, true])
    if (!lines.ok) return yield { kind: 'failed', failure: lines.failure }
    for (const { place, line } of lines.lines) {
      if (place < to) yield gap(session, place + 1, to)
      yield itemOf(session, place, line)
      to = place - 1
    }
    if (lines.lines.length === 0) return yield gap(session, found.first, to)
  }
}

async function endsOf(connection: Connection, tenant: string, session: SessionId): Promise<Result<Ends>> {
  const found = await connection.query('select pal.ends($1, $2) as ends', [tenant, session])
  if (!found.ok) return found
  const ends = found.rows[0]!['ends'] as Ends | null
  if (ends !== null) return { ok: true, ...ends }
  return {
    ok: false,
    failure: { code: 'no-such-session', message: `there is no session ${session} in this store` },
  }
}

async function linesOf(
  connection: Connection,
  values: readonly unknown[],
): Promise<Result<{ readonly lines: readonly { readonly place: number; readonly line: string }[] }>> {
  const found = await connection.query('select seq, line from pal.lines($1, $2, $3, $4, $5, $6, $7)', [
    ...values,
    page.rows,
    page.bytes,
  ])
  if (!found.ok) return found
  return {
    ok: true,
    lines: found.rows.map(({ seq: place, line }) => ({ place: Number(place), line: line as string })),
  }
}

function itemOf(session: SessionId, place: number, line: string): ReadItem {
  const decoded = decode(line)
  if (decoded.ok) return { kind: 'entry', entry: decoded.entry, bytes: Buffer.byteLength(line) + 1 }
  return damaged(session, place, place, decoded.why)
}

const gap = (session: SessionId, from: number, to: number): ReadItem =>
  damaged(session, from, to, 'the database has no such line')

const damaged = (session: SessionId, from: number, to: number, what: string): ReadItem => ({
  kind: 'damage',
  damage: {
    where: `entry ${from} of session ${session} in Postgres`,
    at: from,
    what,
    done: 'skipped',
    lost: { from: seq(from), to: seq(to) },
  },
})
