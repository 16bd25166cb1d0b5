// A whole session by the real command against the simulator, with a collector beside it: tools, agents, memory, compaction, a
// cache that broke, a retry and a failed turn. What arrives adds up to `pal cost`.
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call, createManualClock, createSimulator } from '../../src/simulator/index.ts'
import { agent, cast, replies, type Part } from '../agents/simulated-agents.ts'
import { openWorkspace, type Workspace } from '../cli/pal.ts'
import { later } from '../e2e/simulated.ts'
import { collector, patient, sumOf, type Collector, type GotSpan } from './collector.ts'

const parts: readonly Part[] = [
  { when: 'look around', answers: [[call('Glob', { pattern: '*' })], 'AGENT-REPORT'] },
  {
    when: 'main',
    answers: replies({
      'run it': [call('Bash', { command: 'echo hello-tool' })],
      delegate: [agent('scout', 'look around')],
      'search it': [call('SearchMemory', { query: 'anything' })],
      'break a tool': [call('Read', { file_path: 'no-such-file' })],
    }),
  },
]

async function scene(environment: Readonly<Record<string, string>> = {}) {
  const clock = createManualClock(1_800_000_000_000)
  const simulator = createSimulator({ answerer: cast(parts), clock })
  const { url } = await simulator.start()
  later(() => simulator.stop())
  const at = await openWorkspace({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'test-key',
    PALIMPSEST_MODEL: 'claude-sonnet-4-6',
    PALIMPSEST_ALLOW: 'Bash(echo *)',
    ...environment,
  })
  return { simulator, clock, at }
}

interface Cost {
  readonly session: string
  readonly total: {
    requests: number
    input: number
    cacheRead: number
    cacheWrite: number
    output: number
    dollars: number
  }
}
const costOf = async ({ pal }: Workspace, id?: string): Promise<Cost> =>
  JSON.parse((await pal(['cost', '--json', ...(id === undefined ? [] : [id])])).out) as Cost

const own = (spans: readonly GotSpan[], session: string, operation: string): readonly GotSpan[] =>
  spans.filter(
    ({ attributes }) =>
      attributes['gen_ai.conversation.id'] === session && attributes['gen_ai.operation.name'] === operation,
  )
const total = (spans: readonly GotSpan[], name: string): number =>
  spans.reduce((all, { attributes }) => all + Number(attributes[name] ?? 0), 0)

async function run({ at, simulator, clock }: Awaited<ReturnType<typeof scene>>): Promise<void> {
  const say = async (words: string, isFirst = false): Promise<number | null> => {
    const flags = isFirst ? [] : ['--continue']
    return (await at.pal(['-p', ...flags, words])).code
  }
  expect(await say('run it', true)).toBe(0)
  expect(await say('delegate')).toBe(0)
  expect(await say('search it')).toBe(0)
  expect(await say('break a tool')).toBe(0)
  // The provider has let go of what it promised to keep.
  clock.advance(10 * 60_000)
  expect(await say('still there?')).toBe(0)
  simulator.faults.add({ at: () => true, times: 1, fault: { kind: 'status', status: 529 } })
  expect(await say('again, please')).toBe(0)
  expect((await at.pal(['compact'])).code).toBe(0)
  expect(await say('after compaction')).toBe(0)
  simulator.faults.add({ at: () => true, times: 1, fault: { kind: 'status', status: 401 } })
  expect(await say('this fails')).toBe(1)
}

function checkSums(got: Collector, cost: Cost): void {
  const spans = got.spans()
  const chats = own(spans, cost.session, 'chat').filter(
    (span) => span.attributes['gen_ai.response.id'] !== undefined,
  )
  const { input, cacheRead, cacheWrite, output, requests } = cost.total
  expect(chats).toHaveLength(requests)
  expect(total(chats, 'gen_ai.usage.input_tokens')).toBe(input + cacheRead + cacheWrite)
  expect(total(chats, 'gen_ai.usage.cache_read.input_tokens')).toBe(cacheRead)
  expect(total(chats, 'gen_ai.usage.cache_creation.input_tokens')).toBe(cacheWrite)
  expect(total(chats, 'gen_ai.usage.output_tokens')).toBe(output)
}

describe('a whole session', () => {
  it('[TM1][TM2][TM10] arrives live and afterwards, adds up to pal cost, and an export gives the same spans', async () => {
    const live = await collector()
    const place = await scene({
      ...patient,
      OTEL_EXPORTER_OTLP_ENDPOINT: live.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
    })
    await run(place)
    const { at } = place
    const cost = await costOf(at)
    checkSums(live, cost)
    expect(live.headers.every((one) => one['x-key'] === 'a b')).toBe(true)

    const later = await collector()
    const sent = await at.pal(['sessions', 'export', '--otlp', later.url, '--json'])
    expect(sent.err).toBe('')
    expect(JSON.parse(sent.out)).toMatchObject({ sessions: [cost.session], spans: later.spans().length })
    checkSums(later, cost)
    const key = ({ traceId, spanId, parentSpanId, name, startMs, endMs }: GotSpan): string =>
      JSON.stringify([traceId, spanId, parentSpanId, name, startMs, endMs])
    const known = new Set(later.spans().map(key))
    // `pal compact` is a command of its own and sends nothing; everything else that came live is in the export, as it was.
    expect(live.spans().filter((span) => !known.has(key(span)))).toEqual([])
    expect(later.spans().length).toBeGreaterThan(live.spans().length)

    const spans = later.spans()
    const named = (name: string): readonly GotSpan[] => spans.filter((span) => span.name.startsWith(name))
    const tools = own(spans, cost.session, 'execute_tool')
    expect(tools.map(({ name, error }) => `${name} ${error}`).slice(0, 4)).toEqual([
      'execute_tool Bash null',
      'execute_tool Agent null',
      'execute_tool SearchMemory null',
      'execute_tool Read tool-error',
    ])
    expect(own(spans, cost.session, 'search_memory')).toHaveLength(1)
    // By hand, and where the dial's place has it by itself.
    expect(named('palimpsest.compact').length).toBeGreaterThan(0)
    const [scout] = named('invoke_agent general')
    const [starter] = spans.filter(({ spanId }) => spanId === scout?.parentSpanId)
    expect(starter).toMatchObject({ name: 'invoke_agent main', traceId: scout?.traceId })
    const chats = own(spans, cost.session, 'chat')
    expect(chats.map(({ attributes }) => attributes['palimpsest.request.tries'] ?? 0)).toContain(2)
    expect(chats.filter(({ error }) => error === 'unauthorized')).toHaveLength(1)
    const compacted = chats.filter(({ attributes }) => attributes['gen_ai.conversation.compacted'] === true)
    expect(compacted.length).toBeGreaterThan(1)
    expect(total(spans, 'palimpsest.cache.breaks')).toBe(1)
    for (const span of spans)
      expect(
        span.parentSpanId === null || spans.some(({ spanId }) => spanId === span.parentSpanId),
        span.name,
      ).toBe(true)
  })

  it('[TM2][TM3] metrics are the sums of the whole tree, kind by kind', async () => {
    const got = await collector()
    const place = await scene()
    await run(place)
    const { at } = place
    expect((await at.pal(['sessions', 'export', '--otlp', got.url])).code).toBe(0)
    const points = got.points()
    const ids = (await readdir(await sessionsIn(at))).filter((name) => !name.startsWith('.'))
    const costs = await Promise.all(ids.map((id) => costOf(at, id)))
    const all = (field: keyof Cost['total']): number =>
      costs.reduce((sum, { total: one }) => sum + one[field], 0)
    for (const [kind, field] of [
      ['input', 'input'],
      ['read', 'cacheRead'],
      ['write', 'cacheWrite'],
      ['output', 'output'],
    ] as const)
      expect(sumOf(points, 'palimpsest.request.tokens', { 'palimpsest.kind': kind })).toBe(all(field))
    expect(sumOf(points, 'gen_ai.client.token.usage', { 'gen_ai.token.type': 'input' })).toBe(
      all('input') + all('cacheRead') + all('cacheWrite'),
    )
    // The bill of the conversation has what its forks took in it; the metrics have each once, where it was spent.
    const main = await costOf(at)
    const dollars = sumOf(points, 'palimpsest.request.cost') + sumOf(points, 'palimpsest.fork.cost')
    expect(dollars).toBeCloseTo(main.total.dollars, 9)
    expect(sumOf(points, 'palimpsest.cache.breaks')).toBe(1)
    expect(sumOf(points, 'palimpsest.edits.tokens_freed')).toBeGreaterThan(0)
    expect(sumOf(points, 'palimpsest.cache.lost_tokens')).toBeGreaterThan(1000)
    const windows = points.filter(({ name }) => name === 'palimpsest.window.tokens')
    expect(new Set(windows.map(({ attributes }) => attributes['palimpsest.holder']))).toEqual(
      new Set(['system', 'tools', 'summary', 'conversation']),
    )
  })

  it('[TM5] nothing of what was said, no path and no session stands in a metric, and no text on a span', async () => {
    const got = await collector()
    const place = await scene()
    await writeFile(join(place.at.project, 'secret-file-name.txt'), 'x')
    expect((await place.at.pal(['-p', 'run it with secret-file-name'])).code).toBe(0)
    expect((await place.at.pal(['sessions', 'export', '--otlp', got.url])).code).toBe(0)
    const all = got.raw.join('\n')
    for (const text of ['hello-tool', 'secret-file-name', place.at.project, place.at.home])
      expect(all).not.toContain(text)
    const { session } = await costOf(place.at)
    expect(got.raw.filter((body) => body.includes('resourceMetrics')).join('\n')).not.toContain(session)
  })
})

async function sessionsIn({ state }: Workspace): Promise<string> {
  const [project] = await readdir(join(state, 'projects'))
  return join(state, 'projects', project!, 'sessions')
}
