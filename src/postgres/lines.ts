// What an append hands to the database beside the lines: what the first fact says of its session, what its answers cost, and
// which input it delivers. All of it is written in one transaction with the lines.
import { refused, type Result } from '../disk/failure.ts'
import { defaults } from '../settings/defaults.ts'
import { encode } from '../transcript/codec.ts'
import { isKnown, type Fact, type StoredEntry, type Usage } from '../transcript/fact.ts'

export interface Appended {
  readonly lines: readonly string[]
  /** As files count them, with the end of the line. */
  readonly bytes: number
  readonly about: string | null
  readonly answers: string | null
  readonly received: string | null
}

export type PriceOf = (model: string, usage: Usage) => number | null

export function appendedFrom(
  entries: readonly StoredEntry[],
  expected: number,
  priceOf: PriceOf = () => null,
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
    const answer = answerOf(entry.fact, priceOf)
    if (answer !== null) answers.push({ seq: entry.seq, ...answer })
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
