// The same session in every meter: a recording is played through the engine into a home of its own, and what the simulator charged
// is held against the inspector's routes, `pal cost`, `pal context` and `pal usage`, each as people run them.
import { isDeepStrictEqual } from 'node:util'
import { join } from 'node:path'
import type { RequestChunk, RequestDetail, SessionHead } from '../../src/inspector/protocol.ts'
import { policyNamed } from '../../src/lab/policies/list.ts'
import { prepareReplay, replayOnce } from '../../src/lab/replay.ts'
import { load, type Source } from '../../src/lab/source.ts'
import { slugOf } from '../../src/preset/project.ts'
import { fileStore } from '../../src/stores/index.ts'

export interface Meters {
  /** The state folder and the project of a home. */
  readonly state: string
  readonly project: string
  /** Runs `pal` there; gives what it wrote. */
  pal(words: readonly string[]): Promise<string>
  /** Runs `pal inspect` there meanwhile, and asks it. */
  inspected<T>(work: (get: <A>(path: string) => Promise<A>) => Promise<T>): Promise<T>
}

export interface Agreed {
  readonly requests: number
  readonly tokens: number
  /** What differs, in words; none where all meters agree. */
  readonly differences: readonly string[]
}

interface Sums {
  readonly requests: number
  readonly input: number
  readonly read: number
  readonly written: number
  readonly output: number
}

export async function agreement(source: Source, window: number, meters: Meters): Promise<Agreed> {
  const imported = await load(source)
  if (!imported.ok) throw new Error(imported.failure.message)
  const root = join(meters.state, 'projects', slugOf(meters.project), 'sessions')
  const store = fileStore({ root, fsync: 'none' })
  const played = await replayOnce(prepareReplay(imported.recording), {
    policy: policyNamed('standard')!,
    window,
    model: 'claude-sonnet-5',
    timeline: true,
    store,
  })
  const bill = played.timeline!.map(({ fresh, read, written }) => ({ input: fresh, read, written }))
  const sessions: string[] = []
  for await (const info of store.list()) if (info.ok) sessions.push(info.session)
  const [session] = sessions
  if (session === undefined || sessions.length !== 1) throw new Error('one session should have been written')
  const shown = await meters.inspected(async (get) => {
    const head = await get<SessionHead>(`/api/s/${session}`)
    const requests = await allRequests(get, session)
    const last = await get<RequestDetail>(`/api/s/${session}/request/${requests.at(-1)!.seq}`)
    return { head, requests, last }
  })
  const cost = JSON.parse(await meters.pal(['cost', session, '--json'])) as {
    readonly total: Readonly<Record<string, number>>
  }
  const context = JSON.parse(await meters.pal(['context', session, '--json'])) as RequestDetail
  const usage = JSON.parse(
    await meters.pal(['usage', join(root, session, 'transcript.jsonl'), '--json']),
  ) as { readonly total: Readonly<Record<string, number>> }
  const differences: string[] = []
  const same = (what: string, is: unknown, should: unknown): void => {
    if (!isDeepStrictEqual(is, should))
      differences.push(`${what}: ${JSON.stringify(is)} instead of ${JSON.stringify(should)}`)
  }
  // Sums of the same amounts in another order may differ in their last digit.
  const sameMoney = (what: string, is: number, should: number): void => {
    if (!(Math.abs(is - should) < 1e-6)) same(what, is, should)
  }
  const { total } = cost
  const { requests, input, read, written, output, dollars } = shown.head.totals
  const sums = { requests, input, read, written, output }
  for (const [row, charged] of bill.entries()) {
    const { seq: _, ...counted } = shown.requests[row] ?? { seq: 0 }
    same(`request ${row + 1} and the bill`, counted, charged)
  }
  same('requests and the bill', requests, bill.length)
  for (const side of ['input', 'read', 'written'] as const)
    same(
      `${side} and the bill`,
      sums[side],
      bill.reduce((sum, one) => sum + one[side], 0),
    )
  same('pal cost', costed(total), sums)
  sameMoney('dollars of pal cost', total['dollars']!, dollars)
  same(
    'pal usage',
    {
      requests: usage.total['requests'],
      input: usage.total['input'],
      read: usage.total['cacheRead'],
      written: usage.total['cacheWrite'],
      output: usage.total['output'],
    },
    sums,
  )
  sameMoney('dollars of pal usage', usage.total['dollars']!, dollars)
  same('pal context', [context.tokens, context.sources], [shown.last.tokens, shown.last.sources])
  same('the pieces', sumOf(shown.last.pieces), shown.last.tokens)
  same('the sources', sumOf(shown.last.sources), shown.last.tokens)
  same('the proof of the last request', shown.last.isExact, true)
  return { requests, tokens: input + read + written, differences }
}

const costed = (total: Readonly<Record<string, number>>): Sums => ({
  requests: total['requests']!,
  input: total['input']!,
  read: total['cacheRead']!,
  written: total['cacheWrite']!,
  output: total['output']!,
})

const sumOf = (rows: readonly { readonly tokens: number }[]): number =>
  rows.reduce((sum, { tokens }) => sum + tokens, 0)

type Row = { readonly seq: number } & Readonly<Record<'input' | 'read' | 'written', number | null>>

async function allRequests(get: <A>(path: string) => Promise<A>, session: string): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (let before: number | null = null; ;) {
    const query = before === null ? '' : `?before=${before}`
    const chunk: RequestChunk = await get<RequestChunk>(`/api/s/${session}/requests${query}`)
    rows.unshift(
      ...chunk.seq.map((seq, at) => ({
        seq,
        input: chunk.input[at] ?? null,
        read: chunk.read[at] ?? null,
        written: chunk.written[at] ?? null,
      })),
    )
    before = chunk.before
    if (before === null) return rows
  }
}
