// The lines of a session, written and read. An append hands more to the database than the lines: what the first fact says of
// its session, what its answers cost, and which input it delivers. All of it is written in one transaction with them. A session
// is read in pages of so many lines and bytes: memory stays bounded whatever a line holds.
import { refused, type Result } from '../disk/failure.ts'
import { defaults } from '../settings/defaults.ts'
import { encode, decode } from '../transcript/codec.ts'
import { isKnown, type Fact, type StoredEntry, type Usage } from '../transcript/fact.ts'
import { seq, unbounded, type SessionId } from '../transcript/ids.ts'
import type { ReadItem } from '../transcript/store.ts'
import type { Calls } from './connection.ts'

interface Appended {
  readonly lines: readonly string[]
  /** As files count them, with the end of the line. */
  readonly bytes: number
  readonly about: string | null
  readonly answers: string | null
  readonly received: string | null
}

type PriceOf = (model: string, usage: Usage) => number | null

/** Sessions from elsewhere: what they cost was paid there. */
export interface Past {
  /** Whether the session of a fork comes too, with its answers. */
  isCopied(child: string): boolean
}

export function appendedFrom(
  entries: readonly StoredEntry[],
  expected: number,
  priceOf: PriceOf = () => null,
  past: Past | null = null,
): Result<Appended> {
  const lines: string[] = []
  let bytes = 0
  let about: string | null = null
  const answers: object[] = []
  const received: object[] = []
  for (const [index, entry] of entries.entries()) {
    const line = encode(entry)
    const size = Buffer.byteLength(line)
    const wrong = problemOf(line, size, entry.seq, expected + index)
    if (wrong !== null) return wrong
    lines.push(line)
    bytes += size + 1
    if (!isKnown(entry)) continue
    about = aboutOf(entry.fact) ?? about
    const isToCome = past !== null && entry.fact.type === 'fork-end' && past.isCopied(entry.fact.child)
    const answer = isToCome ? null : answerOf(entry.fact, priceOf)
    const at = past === null ? {} : { at: wholeOf(entry.at) }
    if (answer !== null) answers.push({ seq: entry.seq, ...answer, ...at })
    const id = deliveredBy(entry.fact)
    if (id !== undefined) received.push({ id, seq: entry.seq })
  }
  return { ok: true, lines, bytes, about, answers: jsonOf(answers), received: jsonOf(received) }
}

const jsonOf = (rows: readonly object[]): string | null => (rows.length === 0 ? null : plainJson(rows))

/** The columns are of `jsonb`, which takes no zero character and no half of a pair; nothing of a transcript goes there. */
const plainJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'string' ? part.toWellFormed().replaceAll('\0', '') : part,
  )

function problemOf(line: string, size: number, place: number, wanted: number) {
  if (place !== wanted) return refused('bad-entry', `entry ${place} cannot be written as number ${wanted}`)
  if (!line.startsWith('{') || !line.endsWith('}') || line.includes('\n') || !line.isWellFormed())
    return refused('bad-entry', `entry ${place} is not one line of JSON`)
  if (size <= defaults.transcript.maxLineBytes) return null
  return refused('too-large', `entry ${place} is too long for a line; keep it as a blob`)
}

/** A fork or an agent belongs to the tree of the one above it; a session that a person branched off is its own. */
function aboutOf(fact: Fact): string | null {
  if (fact.type !== 'session-start') return null
  const { purpose, parent, startedBy } = fact
  const above = startedBy ?? (purpose === 'main' ? undefined : parent?.session)
  return plainJson({ purpose, parent: parent?.session, startedBy, above })
}

function answerOf(fact: Fact, priceOf: PriceOf): object | null {
  if (fact.type === 'fork-end' && fact.spent !== undefined) {
    const { tokens: input, dollars: usd } = fact.spent
    const none = { cacheRead: 0, cacheWrite: 0, output: 0 }
    return { model: fact.purpose, input: wholeOf(input), ...none, usd, child: fact.child }
  }
  if (fact.type !== 'assistant-message' || fact.usage === undefined) return null
  const { input, cacheRead, cacheWrite, output } = fact.usage
  const { model, messageId: message } = fact
  const counts = { input, cacheRead, cacheWrite, output }
  const whole = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, wholeOf(count)]))
  const estimated = fact.usage.estimated === true
  return { model, message, ...whole, usd: priceOf(model, fact.usage), estimated }
}

/** As a column takes it: a count of a model of the caller's own may be any number. */
const wholeOf = (count: number): number => Math.min(Math.max(0, Math.round(count)), Number.MAX_SAFE_INTEGER)

/** The input or message that a fact hands to the model. */
const deliveredBy = (fact: Fact): string | undefined =>
  fact.type === 'attachment' || fact.type === 'user-message' ? fact.id : undefined

const page = { rows: 1000, bytes: 8 * 1024 * 1024 }

interface Ends {
  readonly first: number
  readonly head: number
}

/** From the first to the last, or back. */
export async function* readLines(
  calls: Calls,
  session: SessionId,
  range: { readonly from?: number | undefined; readonly to?: number | undefined },
  isBack: boolean,
): AsyncIterable<ReadItem> {
  const found = await endsOf(calls, session)
  if (!found.ok) return yield { kind: 'failed', failure: found.failure }
  let from = Math.max(range.from ?? 0, found.first)
  let to = Math.min(range.to ?? unbounded, found.head)
  while (from <= to) {
    const lines = await calls.rows('lines', [session, from, to, isBack, page.rows, page.bytes])
    if (!lines.ok) return yield { kind: 'failed', failure: lines.failure }
    for (const { seq: at, line } of lines.rows) {
      const place = Number(at)
      // Places are written without gaps, by one statement each: a gap is damage of the database.
      if (isBack ? place < to : place > from)
        yield isBack ? gap(session, place + 1, to) : gap(session, from, place - 1)
      yield itemOf(session, place, line as string)
      if (isBack) to = place - 1
      else from = place + 1
    }
    if (lines.rows.length === 0) return yield gap(session, from, to)
  }
}

async function endsOf(calls: Calls, session: SessionId): Promise<Result<Ends>> {
  const found = await calls.value('ends', [session])
  if (!found.ok) return found
  const ends = found.value as Ends | null
  return ends === null
    ? refused('no-such-session', `there is no session ${session} in this store`)
    : { ok: true, ...ends }
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
