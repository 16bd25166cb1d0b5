// What a run under faults is judged by, counted from outside: what the database kept, what workers were told was kept, and what the
// simulator billed.
import { sumOf } from '../../test/fleet/steps.ts'
import { sql, type TestDatabase } from '../../test/postgres/server.ts'
import { isFinal } from '../../src/fleet/index.ts'
import type { LoggedRequest } from '../../src/simulator/index.ts'
import { decode } from '../../src/transcript/codec.ts'
import { isKnown } from '../../src/transcript/fact.ts'
import { lateness, type Moment } from './places.ts'

export interface Told {
  readonly type: string
  readonly at: number
  readonly worker: number
  readonly session: string
  readonly isTakeover?: boolean
  readonly waitedMs?: number
}

/** Lines that a worker was told are kept. */
export interface Acknowledged {
  readonly type: 'acknowledged'
  readonly session: string
  readonly from: number
  readonly sums: readonly string[]
}

interface Counted {
  readonly database: TestDatabase
  readonly sent: ReadonlyMap<string, number>
  readonly heard: ReadonlyMap<string, LoggedRequest>
  readonly told: readonly Told[]
  /** What was done to workers and the server. */
  readonly faults: readonly Moment[]
  /** Sessions that a worker takes at once. */
  readonly places: number
  readonly acknowledged: readonly Acknowledged[]
  readonly seconds: number
  readonly cpu: number
  readonly insertLoop: { readonly cpu: number; readonly own: number }
  readonly plainWaits: readonly number[]
  readonly drainedIn: number
  readonly leaseMs: number
  readonly pollMs: number
  readonly say: (text: string) => void
}

interface Line {
  readonly session: string
  readonly seq: string
  readonly line: string
}

export async function report(counted: Counted): Promise<void> {
  const { adminUrl } = counted.database
  const lines = (await sql(
    adminUrl,
    'select session, seq, line from pal.entry order by session, seq',
  )) as readonly object[] as readonly Line[]
  const kept = answered(counted, lines)
  await transcripts(counted, lines)
  await billed(adminUrl, counted.heard, kept, counted.say)
  const [left] = await sql(
    adminUrl,
    `select (select count(*) from pal.reservation) as n, reserved, spent,
       spent - (select coalesce(sum(usd), 0) from pal.spend) as off from pal.budget`,
  )
  counted.say(
    `budget: reservations left over ${String(left!['n'])}, $${String(left!['reserved'])} reserved; $${Number(left!['spent']).toFixed(4)} spent, $${String(left!['off'])} off the sum of the answers`,
  )
  times(counted, lines.length)
}

/** Every input once, and after it, before the next one, one whole answer. Gives the answers by their ids, and whether each is whole. */
function answered({ sent, say }: Counted, lines: readonly Line[]): ReadonlyMap<string, boolean> {
  const delivered = new Map<string, number>()
  const answers = new Map<string, number>()
  const kept = new Map<string, boolean>()
  let [open, before] = ['', '']
  for (const { session, line } of lines) {
    if (session !== before) [before, open] = [session, '']
    const decoded = decode(line)
    if (!decoded.ok || !isKnown(decoded.entry)) continue
    const { fact } = decoded.entry
    if (fact.type === 'user-message') {
      open = `${session}/${fact.id ?? ''}`
      delivered.set(open, (delivered.get(open) ?? 0) + 1)
    }
    if (fact.type !== 'assistant-message') continue
    kept.set(fact.messageId, fact.partial !== true)
    if (isFinal(fact)) answers.set(open, (answers.get(open) ?? 0) + 1)
  }
  const once = (counts: ReadonlyMap<string, number>): number =>
    [...sent.keys()].filter((key) => counts.get(key) === 1).length
  const wrong = [...sent.keys()].filter((key) => delivered.get(key) !== 1 || answers.get(key) !== 1)
  const strange = [...delivered.keys()].filter((key) => !sent.has(key))
  const cut = [...kept.values()].filter((isWhole) => !isWhole).length
  say(
    `inputs: ${sent.size} sent, ${once(delivered)} delivered once, ${once(answers)} answered once, ${wrong.length} wrong${wrong.length > 0 ? ` (${wrong.slice(0, 5).join(', ')})` : ''}, ${strange.length} that nobody sent; ${cut} answers were cut off and asked for again`,
  )
  return kept
}

async function transcripts({ database, acknowledged, say }: Counted, lines: readonly Line[]): Promise<void> {
  const bySession = new Map<string, Line[]>()
  for (const line of lines) bySession.set(line.session, [...(bySession.get(line.session) ?? []), line])
  const sums = new Map(lines.map(({ session, seq, line }) => [`${session}/${seq}`, sumOf(line)]))
  let [entries, lost] = [0, 0]
  for (const { session, from, sums: told } of acknowledged)
    for (const [at, sum] of told.entries()) {
      entries++
      if (sums.get(`${session}/${from + at}`) !== sum) lost++
    }
  const gaps = [...bySession.values()].flatMap((own) =>
    own.filter(({ seq }, at) => at > 0 && Number(seq) !== Number(own[at - 1]!.seq) + 1),
  )
  const rows = await sql(database.adminUrl, 'select id, first, head, parked from pal.session')
  const heads = rows.filter(
    ({ id, head, first }) =>
      first !== null && bySession.get(id as string)?.length !== Number(head) - Number(first) + 1,
  )
  say(
    `transcript: ${lines.length} entries, ${entries} of them acknowledged to a worker that lived to say so: ${lost} lost or different; ${gaps.length} gaps, ${heads.length} heads that do not fit; parked: ${rows.filter(({ parked }) => parked !== null).length}`,
  )
}

function takeovers({ told, faults, places, leaseMs, pollMs, say }: Counted): void {
  const taken = told.flatMap(({ type, isTakeover, at, waitedMs = 0 }) =>
    type === 'claimed' && isTakeover === true ? [{ from: at - waitedMs, to: at }] : [],
  )
  if (taken.length === 0) return
  const moments = told.flatMap(({ type, at, worker }) =>
    type === 'ready' || type === 'claimed' || type === 'ended' ? [{ at, worker, what: type } as const] : [],
  )
  const { withPlace, waited, whileDown } = lateness(taken, [...moments, ...faults], places, leaseMs)
  // The wait between two polls is drawn from around its length.
  const soon = (late: readonly number[]): number => late.filter((ms) => ms <= pollMs * 1.25).length
  const spread = (late: readonly number[]): string =>
    `p50 ${quantile(late, 0.5)} ms, p95 ${quantile(late, 0.95)} ms, longest ${quantile(late, 1)} ms, ${soon(late)} within a poll`
  say(`takeovers: ${taken.length}, each after the end of a lease of ${leaseMs} ms (a poll is ${pollMs} ms):`)
  say(`  ${withPlace.length} with a free place when it ended: ${spread(withPlace)}`)
  say(
    `  ${waited.length} when no worker that ran had a free place: ${spread(waited.map(({ total }) => total))}; counted from when one was free: ${spread(waited.map(({ late }) => late))}`,
  )
  say(`  ${whileDown.length} while the server was down or had just been: ${spread(whileDown)}`)
}

function times(counted: Counted, entries: number): void {
  const { told, sent, seconds, drainedIn, cpu, insertLoop, plainWaits, pollMs, say } = counted
  takeovers(counted)
  const claims = told.filter(({ type }) => type === 'claimed')
  const waits = claims.filter(({ isTakeover }) => isTakeover !== true).map(({ waitedMs = 0 }) => waitedMs)
  say(
    `pickup: p50 ${quantile(waits, 0.5)} ms, p95 ${quantile(waits, 0.95)} ms after an input was sent (poll ${pollMs} ms); one plain insert beside it p50 ${quantile(plainWaits, 0.5)} ms, p95 ${quantile(plainWaits, 0.95)} ms`,
  )
  say(
    `throughput: ${(sent.size / seconds).toFixed(1)} turns/s, ${(entries / seconds).toFixed(1)} entries/s over the whole run; drained ${drainedIn.toFixed(0)} s after the last input`,
  )
  say(
    `server CPU: ${((cpu * 1e6) / entries).toFixed(0)} µs for each entry with claims, renewals, budgets and restarts; one append alone ${(insertLoop.own * 1e6).toFixed(0)} µs, a plain insert of the same bytes ${(insertLoop.cpu * 1e6).toFixed(0)} µs`,
  )
}

interface Sums {
  prompt: number
  output: number
  usd: number
}

/** By message: what the simulator billed for whole answers, against the rows of the database, to the token. */
async function billed(
  url: string,
  heard: ReadonlyMap<string, LoggedRequest>,
  kept: ReadonlyMap<string, boolean>,
  say: (text: string) => void,
): Promise<void> {
  const rows = await sql(url, 'select message, input, cache_read, cache_write, output, usd from pal.spend')
  const whole = rows.filter(({ message }) => kept.get(message as string) === true)
  const own: Sums = { prompt: 0, output: 0, usd: 0 }
  const theirs: Sums = { prompt: 0, output: 0, usd: 0 }
  let unlike = 0
  for (const row of whole) {
    const bill = heard.get(row['message'] as string)
    const mine = [row['input'], row['cache_read'], row['cache_write'], row['output']].map(Number)
    const billedTokens = tokensOf(bill)
    if (mine.some((value, at) => value !== billedTokens[at])) unlike++
    add(own, mine, Number(row['usd']))
    add(theirs, billedTokens, bill?.bill?.dollars ?? 0)
  }
  const distinct = new Set(rows.map(({ message }) => message)).size
  say(
    `spend: ${whole.length} whole answers, prompt ${own.prompt} and output ${own.output} tokens, $${own.usd.toFixed(4)}; the simulator billed for them ${theirs.prompt} and ${theirs.output}, $${theirs.usd.toFixed(4)}; ${unlike} rows differ, ${rows.length - distinct} counted twice, ${kept.size - rows.length} answers without a row`,
  )
  const lost = [...heard].filter(([message]) => !kept.has(message))
  const tokens = lost.reduce((total, [, each]) => total + tokensOf(each).reduce((sum, n) => sum + n, 0), 0)
  say(
    `billed but never kept: ${lost.length} requests, ${tokens} tokens, whose worker died or was cut off before an answer was written; ${rows.length - whole.length} cut-off answers are counted as far as they had come`,
  )
}

const tokensOf = (request: LoggedRequest | undefined): readonly number[] => {
  const usage = request?.usage
  return [
    usage?.input_tokens ?? 0,
    usage?.cache_read_input_tokens ?? 0,
    usage?.cache_creation_input_tokens ?? 0,
    usage?.output_tokens ?? 0,
  ]
}

function add(sums: Sums, [input = 0, read = 0, write = 0, output = 0]: readonly number[], usd: number): void {
  sums.prompt += input + read + write
  sums.output += output
  sums.usd += usd
}

const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0)
}
