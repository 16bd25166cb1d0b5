// What `pal usage` counts, against sums that this test makes itself from the raw lines.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import {
  importBytes,
  opencodeRequests,
  opencodeRows,
  requestsIn,
  usageReport,
  type BilledRequest,
} from '../../src/lab/index.ts'
import { lookUp, modelTable } from '../../src/model/models.ts'
import { openWorkspace } from '../cli/pal.ts'
import { corpusFolder, hasCorpus } from '../shared-data.ts'

const folder = mkdtempSync(join(tmpdir(), 'pal-usage-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Much longer than a file takes, and shorter than a test may. */
const patienceMs = 15_000

const read = (name: string, lines: readonly object[]): readonly BilledRequest[] => {
  const billed = requestsIn(name, Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n')))
  if (!billed.ok) throw new Error(billed.failure.message)
  return billed.requests
}

interface Counts {
  readonly output?: number
  readonly sidechain?: boolean
  readonly session?: string
}
const claudeLine = (
  id: string,
  uuid: string,
  { output = 40, sidechain = false, session = 's' }: Counts = {},
) => ({
  type: 'assistant',
  parentUuid: null,
  uuid,
  sessionId: session,
  cwd: '/home/me/shop',
  isSidechain: sidechain,
  timestamp: '2026-11-02T10:00:00.000Z',
  message: {
    id,
    model: 'claude-sonnet-4-5-20250929',
    role: 'assistant',
    content: [{ type: 'text', text: 'ok' }],
    usage: {
      input_tokens: 10,
      cache_read_input_tokens: 1000,
      cache_creation_input_tokens: 200,
      cache_creation: { ephemeral_1h_input_tokens: 50, ephemeral_5m_input_tokens: 150 },
      output_tokens: output,
    },
  },
})
/** What a session begins with: without it an answer cannot be played. */
const asked = (uuid: string, session = 's') => ({
  type: 'user',
  parentUuid: null,
  uuid,
  sessionId: session,
  cwd: '/home/me/shop',
  isSidechain: false,
  timestamp: '2026-11-02T09:59:00.000Z',
  message: { role: 'user', content: 'Make it right.' },
})
interface RecordedUsage {
  readonly input_tokens?: number
  readonly cache_read_input_tokens?: number
  readonly cache_creation_input_tokens?: number
  readonly output_tokens?: number
  readonly cache_creation?: { readonly ephemeral_1h_input_tokens?: number }
}
interface RecordedLine {
  readonly role?: string
  readonly model?: string
  readonly output_tokens?: string
  readonly usage?: RecordedUsage | null
}

const codexCount = (at: string, input: number, cached: number, total: number) => ({
  timestamp: at,
  type: 'event_msg',
  payload: {
    type: 'token_count',
    info: {
      last_token_usage: { input_tokens: input, cached_input_tokens: cached, output_tokens: 7 },
      total_token_usage: { total_tokens: total },
    },
  },
})

describe('usage', () => {
  it('[LB20] an answer that is written as several lines counts once, with its last counts', () => {
    const requests = read('a', [
      claudeLine('m1', 'u1', { output: 3 }),
      claudeLine('m1', 'u2', { output: 40 }),
      claudeLine('m2', 'u3'),
    ])
    expect(requests.map(({ id, output }) => [id, output])).toEqual([
      ['m1', 40],
      ['m2', 40],
    ])
  })

  it('[LB20] a copy in another file is counted once, and agents are counted', () => {
    const one = read('a', [claudeLine('m1', 'u1'), claudeLine('m2', 'u2', { sidechain: true })])
    const other = read('b', [
      claudeLine('m1', 'u1', { session: 't' }),
      claudeLine('m3', 'u9', { session: 't' }),
    ])
    const report = usageReport([...one, ...other], 'agent', modelTable())
    expect([report.total.requests, report.copies]).toEqual([3, 1])
    expect(report.rows.map(({ key, requests }) => [key, requests])).toEqual([
      ['conversations', 2],
      ['sub-agents', 1],
    ])
  })

  it('[LB20] Codex: counts that come again, and rows that a child has of its parent, are not counted', () => {
    const meta = (id: string, timestamp: string) => ({
      timestamp,
      type: 'session_meta',
      payload: { id, timestamp, cwd: '/home/me/shop' },
    })
    const context = { timestamp: '2026-11-02T10:00:01Z', type: 'turn_context', payload: { model: 'gpt-5.4' } }
    const parent = [
      meta('p', '2026-11-02T10:00:00Z'),
      context,
      codexCount('2026-11-02T10:00:05Z', 100, 60, 107),
      codexCount('2026-11-02T10:00:06Z', 100, 60, 107),
      codexCount('2026-11-02T10:00:09Z', 200, 90, 314),
    ]
    const child = [
      meta('c', '2026-11-02T11:00:00Z'),
      ...parent,
      codexCount('2026-11-02T11:00:05Z', 300, 200, 621),
    ]
    expect(read('p', parent).map(({ usage }) => [usage.input, usage.cacheRead])).toEqual([
      [40, 60],
      [110, 90],
    ])
    expect(read('c', child).map(({ session, usage }) => [session, usage.input])).toEqual([['c', 100]])
  })

  it('[LB21] money is by the model of each request, both lifetimes apart; no price and no final count are in no sum', () => {
    const [one] = read('a', [claudeLine('m1', 'u1')])
    const table = modelTable()
    const rates = lookUp(table, 'claude-sonnet-4-5-20250929')!.prices!
    const expected =
      10 * rates.input + 1000 * rates.read + 150 * rates.write5m + 50 * rates.write1h + 40 * rates.output
    expect(usageReport([one!], 'model', table).total.dollars).toBeCloseTo(expected / 1e6, 12)
    const odd = [
      { ...one!, id: 'x', model: 'no-such-model' },
      { ...one!, id: 'y', output: null },
    ]
    const { total, unpricedModels } = usageReport(odd, 'model', table)
    expect(total.dollars).toBeCloseTo((expected - 40 * rates.output) / 1e6, 12)
    expect([total.unpriced, total.outputUnknown, total.output]).toEqual([1, 1, 40])
    expect(unpricedModels).toEqual({ 'no-such-model': 1 })
  })

  it('[LB21] a block lasts five hours from the full hour of its first request', () => {
    const [one] = read('a', [claudeLine('m1', 'u1')])
    const at = (id: string, time: string) => ({
      ...one!,
      id,
      at: new Date(`2026-11-02T${time}:00`).getTime(),
    })
    const { rows } = usageReport(
      [at('a', '09:40'), at('b', '13:59'), at('c', '14:05'), at('d', '20:00')],
      'block',
      modelTable(),
    )
    expect(rows.map(({ key, requests }) => [key, requests])).toEqual([
      ['2026-11-02 09:00', 2],
      ['2026-11-02 14:00', 1],
      ['2026-11-02 20:00', 1],
    ])
  })

  it('[LB22] pal usage finds own sessions with their agents and prints rows, JSON and CSV', async () => {
    const { pal, home } = await openWorkspace()
    const put = (path: string, lines: readonly object[]): void => {
      mkdirSync(dirname(join(home, path)), { recursive: true })
      writeFileSync(join(home, path), lines.map((line) => JSON.stringify(line)).join('\n'))
    }
    put('.claude/projects/-shop/a.jsonl', [asked('u0'), claudeLine('m1', 'u1')])
    put('.claude/projects/-shop/a/subagents/agent-1.jsonl', [claudeLine('m2', 'u2', { sidechain: true })])
    const json = await pal(['usage', '--json', '--by', 'project'])
    expect(JSON.parse(json.out)).toMatchObject({
      version: 1,
      by: 'project',
      total: { requests: 2, input: 20, cacheRead: 2000, cacheWrite: 400, output: 80 },
      rows: [{ key: '/home/me/shop', requests: 2 }],
    })
    const compared = await pal(['usage', '--compare'])
    expect(compared.out).toMatch(/^paid \$0\.\d+; with our policy \$0\.\d+ \(.\d+ %\)\n/)
    const text = await pal(['usage'])
    expect(text.out).toMatch(
      /^day\s+requests\s+input[\s\S]*2026-11-02[\s\S]*total[\s\S]*where the money went[\s\S]*carried: read from the cache/,
    )
    const csv = await pal(['usage', '--csv', '--by', 'model'])
    expect(csv.out.split('\n')[1]).toMatch(/^claude-sonnet-4-5-20250929,2,20,2000,400,80,0,\d\.\d{6},0,0$/)
    expect((await pal(['usage', '--since', '2026-11-03'])).err).toContain(
      'no request with counts in 2 files since 2026-11-03',
    )
    expect((await pal(['usage', 'nowhere'])).code).toBe(2)
    expect((await pal(['usage', '--by', 'colour'])).code).toBe(2)
  })

  it('[LB22] sessions of pal are found; answers of the offline model are said and not counted', async () => {
    const { pal, state } = await openWorkspace()
    expect((await pal(['-p', 'hello', '--offline'])).code).toBe(0)
    const nothing = await pal(['usage'])
    expect([nothing.code, nothing.err]).toEqual([
      1,
      expect.stringMatching(/every answer in \d+ files? is of the offline model/),
    ])
    const [slug] = readdirSync(join(state, 'projects'))
    const sessions = join(state, 'projects', slug!, 'sessions')
    const transcript = join(sessions, readdirSync(sessions)[0]!, 'transcript.jsonl')
    const lines = readFileSync(transcript, 'utf8').trim().split('\n')
    const answer = lines.find((line) => line.includes('"assistant-message"'))!
    const { input, output } = (JSON.parse(answer) as { fact: { usage: Record<string, number> } }).fact.usage
    // As a provider would have answered, and one more that stays the simulator's; a fork that wrote no file of its own.
    const paid = lines.map((line) => line.replaceAll('msg_sim', 'msg_01'))
    const fork = {
      seq: 900,
      at: Date.now(),
      fact: { type: 'fork-end', child: 'gone', spent: { tokens: 1234, dollars: 0.5 } },
    }
    writeFileSync(transcript, [...paid, answer, JSON.stringify(fork), ''].join('\n'))
    // A file that is too long to be held says the same.
    const heavy = JSON.stringify({ seq: 901, at: 1, fact: { type: 'note', text: 'x'.repeat(1_000_000) } })
    for (const text of [[], Array.from({ length: 34 }, () => heavy)]) {
      writeFileSync(transcript, [...paid, ...text, answer, JSON.stringify(fork), ''].join('\n'))
      const long = JSON.parse((await pal(['usage', '--json', '--by', 'program'])).out) as unknown
      expect(long).toMatchObject({ rows: [{ key: 'palimpsest', requests: 1, input, output }] })
    }
    const json = await pal(['usage', '--json', '--by', 'program'])
    expect(JSON.parse(json.out)).toMatchObject({
      rows: [{ key: 'palimpsest', requests: 1, input, output }],
      background: { jobs: 1, tokens: 1234, dollars: 0.5 },
      simulated: 1,
    })
    const text = (await pal(['usage'])).out.replaceAll(/\s+/g, ' ')
    expect(text).not.toContain('counted by size')
    const sized = paid.map((line) => line.replaceAll('"usage":{', '"usage":{"estimated":true,'))
    writeFileSync(transcript, [...sized, ''].join('\n'))
    expect((await pal(['usage'])).out.replaceAll(/\s+/g, ' ')).toContain(
      'The server did not say what 1 of 1 answers took: they are counted by size, as plain input.',
    )
    const [head, row] = (await pal(['usage', '--csv', '--by', 'program'])).out.split('\n')
    expect([head, row]).toEqual([expect.stringMatching(/,estimated$/), expect.stringMatching(/,1$/)])
    expect(text).toContain('1 background job without a file of its own: 1,234 tokens, $0.50.')
    expect(text).toContain('1 answer of the offline model costs nothing and is not counted.')
  })

  it('[LB22] --since leaves out what was answered before it, also of the offline model and in the comparison, and takes days that are', async () => {
    const { pal, home } = await openWorkspace()
    expect((await pal(['-p', 'hello', '--offline'])).code).toBe(0)
    const project = join(home, '.claude', 'projects', '-shop')
    mkdirSync(project, { recursive: true })
    const old = [asked('u0'), claudeLine('m1', 'u1')]
    const recent = claudeLine('m2', 'u2', { session: 't' })
    const late = [asked('u9', 't'), { ...recent, timestamp: '2026-11-12T10:00:00.000Z' }]
    for (const [name, lines] of [
      ['old', old],
      ['late', late],
    ] as const)
      writeFileSync(join(project, `${name}.jsonl`), lines.map((line) => JSON.stringify(line)).join('\n'))
    const none = await pal(['usage', '--since', '2100-01-01'])
    expect([none.code, none.err]).toEqual([
      1,
      expect.stringContaining('no request with counts in 3 files since'),
    ])
    const both = await pal(['usage', '--json', '--compare'])
    const one = await pal(['usage', '--json', '--compare', '--since', '2026-11-12'])
    const [whole, part] = [both, one].map(({ out }) => JSON.parse(out) as { readonly verdict: string })
    expect(whole!.verdict).toMatch(/^paid \$0\.0036;/)
    expect(part!.verdict).toMatch(
      /^paid \$0\.0018;.*\n.*whole sessions, also of what they did before 2026-11-12/,
    )
    expect((await pal(['usage', '--since', '2026-02-31'])).code).toBe(2)
  })

  it('[LB22] --since, days and blocks begin by the clock of the person, wherever that is', async () => {
    const { pal, project } = await openWorkspace()
    const at = (id: string, timestamp: string) => JSON.stringify({ ...claudeLine(id, id), timestamp })
    writeFileSync(
      join(project, 'a.jsonl'),
      [
        at('m1', '2026-10-31T20:40:00Z'),
        at('m2', '2026-11-01T02:40:00Z'),
        at('m3', '2026-11-01T12:40:00Z'),
      ].join('\n'),
    )
    const rowsIn = async (zone: string, ...words: string[]) => {
      const { out } = await pal(['usage', project, '--json', ...words], { environment: { TZ: zone } })
      const { rows } = JSON.parse(out) as { readonly rows: readonly { key: string; requests: number }[] }
      return rows.map(({ key, requests }) => `${key}: ${requests}`)
    }
    expect(await rowsIn('America/Los_Angeles', '--since', '2026-11-01')).toEqual(['2026-11-01: 1'])
    expect(await rowsIn('Asia/Tokyo', '--since', '2026-11-01')).toEqual(['2026-11-01: 3'])
    expect(await rowsIn('Asia/Kolkata', '--by', 'block')).toEqual([
      '2026-11-01 02:00: 1',
      '2026-11-01 08:00: 1',
      '2026-11-01 18:00: 1',
    ])
  })

  it('[LB21] a model of any name without a price is said with its count', () => {
    const names = ['constructor', '__proto__', 'a-model-nobody-knows']
    const requests = names.flatMap((model, index) =>
      read('f', [
        {
          ...claudeLine(`m${index}`, `u${index}`),
          message: { ...claudeLine(`m${index}`, 'u').message, model },
        },
      ]),
    )
    const { unpricedModels } = usageReport(requests, 'day', modelTable())
    expect(Object.entries(unpricedModels)).toEqual(names.map((name) => [name, 1]))
  })

  it('[LB26] pal usage PATH of a folder waits on no pipe', async () => {
    const { start, project } = await openWorkspace()
    writeFileSync(join(project, 'a.jsonl'), JSON.stringify(claudeLine('m1', 'u1')))
    execFileSync('mkfifo', [join(project, 'b.jsonl')])
    const { child, ended } = await start(['usage', '--json', project])
    const inTime = await Promise.race([ended, sleep(patienceMs, null)])
    child.kill()
    expect(JSON.parse(inTime?.out ?? 'null')).toMatchObject({ total: { requests: 1 }, files: 1 })
  })

  it('[LB22] without any session it says so', async () => {
    const { pal } = await openWorkspace()
    const { code, err } = await pal(['usage'])
    expect([code, err]).toEqual([1, expect.stringContaining('there is no session file')])
  })

  it.skipIf(!hasCorpus)(
    `[LB21] equals the recorded counts of every session to the token${hasCorpus ? '' : ' (skipped: no recorded sessions)'}`,
    () => {
      const table = modelTable()
      let compared = 0
      for (const name of readdirSync(corpusFolder).filter((file) => file.endsWith('.jsonl.gz'))) {
        const packed = readFileSync(join(corpusFolder, name))
        const [header, ...turns] = gunzipSync(packed)
          .toString()
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as RecordedLine)
        const isFinal = header!.output_tokens !== 'partial'
        let sums = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, micro: 0, requests: 0 }
        for (const turn of turns) {
          const { usage } = turn
          if (turn.role !== 'assistant' || usage === undefined || usage === null) continue
          const n = (key: keyof RecordedUsage & `${string}_tokens`): number => usage[key] ?? 0
          const long = usage.cache_creation?.ephemeral_1h_input_tokens ?? 0
          const [input, cacheRead, cacheWrite] = [
            n('input_tokens'),
            n('cache_read_input_tokens'),
            n('cache_creation_input_tokens'),
          ]
          const output = isFinal ? n('output_tokens') : 0
          const prices = lookUp(table, String(turn.model ?? header!.model))?.prices
          const rates =
            prices?.tier !== undefined && input + cacheRead + cacheWrite > prices.tier.abovePromptTokens
              ? prices.tier.rates
              : prices
          sums = {
            requests: sums.requests + 1,
            input: sums.input + input,
            cacheRead: sums.cacheRead + cacheRead,
            cacheWrite: sums.cacheWrite + cacheWrite,
            output: sums.output + output,
            micro:
              sums.micro +
              (rates === undefined || rates === null
                ? 0
                : input * rates.input +
                  cacheRead * rates.read +
                  (cacheWrite - long) * rates.write5m +
                  long * rates.write1h +
                  output * rates.output),
          }
        }
        const billed = requestsIn(name, packed)
        const { total } = usageReport(billed.ok ? billed.requests : [], 'session', table)
        expect([name, total.requests, total.input, total.cacheRead, total.cacheWrite, total.output]).toEqual([
          name,
          sums.requests,
          sums.input,
          sums.cacheRead,
          sums.cacheWrite,
          sums.output,
        ])
        expect(total.dollars).toBeCloseTo(sums.micro / 1e6, 6)
        if (sums.requests > 0) compared++
      }
      expect(compared).toBeGreaterThan(30)
    },
  )

  it('[LB23] says where the money went: carried, sent first, sent again after a break or a pause, put out; and names the worst breaks', () => {
    const model = 'claude-sonnet-4-5'
    const at = (minutes: number): number => Date.UTC(2026, 10, 2, 10, minutes)
    const asked = (
      minutes: number,
      cacheRead: number,
      cacheWrite: number,
      more: Partial<BilledRequest> = {},
    ) => ({
      program: 'x',
      session: 's',
      chain: 'c',
      project: null,
      model,
      isAgent: false,
      id: null,
      at: at(minutes),
      usage: { input: 0, cacheRead, cacheWrite, output: 10 },
      output: 10,
      ...more,
    })
    const requests: readonly BilledRequest[] = [
      asked(0, 0, 100_000),
      asked(1, 100_000, 1000),
      // Cold: everything again, and 500 more.
      asked(20, 0, 101_500),
      // Another chain between them is no break.
      asked(21, 0, 7000, { chain: 'other' }),
      // Taken out: of the rest nothing was read.
      asked(22, 0, 40_000),
      asked(23, 0, 45_000, { model: 'claude-haiku-4-5' }),
      asked(24, 0, 46_000, { model: 'claude-haiku-4-5' }),
    ]
    const { spending, total } = usageReport(requests, 'day', modelTable())
    const [sonnet, haiku] = [3.75 / 1_000_000, 1.25 / 1_000_000]
    expect(spending.coldReturns).toBeCloseTo(101_000 * sonnet, 9)
    expect(spending.rewritten).toBeCloseTo(40_000 * sonnet + 40_000 * haiku + 45_000 * haiku, 9)
    expect(spending.carried).toBeCloseTo(0.03, 9)
    const { carried, sentFirst, rewritten, coldReturns, output } = spending
    expect(carried + sentFirst + rewritten + coldReturns + output).toBeCloseTo(total.dollars, 9)
    expect(spending.worst.map(({ tokens, cause }) => [tokens, cause])).toEqual([
      [101_000, 'a pause'],
      [40_000, 'something was removed'],
      [45_000, 'something before it changed'],
      [40_000, 'another model'],
    ])
    expect(spending.worst[0]!.pauseMs).toBe(19 * 60_000)
  })

  it('[LB23] an answer that nobody counted breaks no cache, and the next is held against the one before it', () => {
    const line = (seq: number, usage: object) => ({
      v: 1,
      seq,
      at: seq,
      fact: { type: 'assistant-message', messageId: `chatcmpl-${seq}`, model: 'gpt-5.5', usage },
    })
    const counted = { cacheWrite: 0, output: 10 }
    const requests = read('transcript', [
      { v: 1, seq: 0, at: 0, fact: { type: 'session-start', session: 's', purpose: 'main' } },
      line(1, { ...counted, input: 50_000, cacheRead: 0 }),
      // Broken off before its usage came: sized by us, as plain input.
      line(2, { ...counted, input: 51_000, cacheRead: 0, estimated: true }),
      line(3, { ...counted, input: 2000, cacheRead: 50_000 }),
    ])
    const { spending, total } = usageReport(requests, 'day', modelTable())
    expect([spending.breaks, spending.rewritten]).toEqual([0, 0])
    expect([total.requests, total.estimated, total.input]).toEqual([3, 1, 103_000])
  })

  it('[LB23] a client of Claude that marks nothing for the cache has none that breaks; one of OpenAI has it unasked', () => {
    const lossesOf = (model: string) => {
      const line = (seq: number, input: number) => ({
        v: 1,
        seq,
        at: seq,
        fact: {
          type: 'assistant-message',
          messageId: `m-${seq}`,
          model,
          usage: { input, cacheRead: 0, cacheWrite: 0, output: 10 },
        },
      })
      const requests = read('transcript', [
        { v: 1, seq: 0, at: 0, fact: { type: 'session-start', session: 's', purpose: 'main' } },
        line(1, 50_000),
        line(2, 51_000),
      ])
      return usageReport(requests, 'day', modelTable()).spending
    }
    expect(lossesOf('claude-sonnet-4-5')).toMatchObject({ breaks: 0, rewritten: 0 })
    expect(lossesOf('gpt-5.5').breaks).toBe(1)
  })

  it('[LB24] reads what Gemini CLI and opencode wrote when they were run: each answer once, with its last counts', () => {
    const billed = (file: string): readonly BilledRequest[] => {
      const all = requestsIn(file, readFileSync(join('test/fixtures/usage', file)))
      if (!all.ok) throw new Error(all.failure.message)
      return all.requests
    }
    expect(
      billed('gemini-cli-0.61.0.jsonl').map(({ usage, output, model }) => [usage, output, model]),
    ).toEqual([
      [{ input: 5000, cacheRead: 0, cacheWrite: 0, output: 15 }, 15, 'gemini-2.5-pro'],
      [{ input: 944, cacheRead: 4096, cacheWrite: 0, output: 15 }, 15, 'gemini-2.5-pro'],
    ])
    const opencode = billed('opencode-1.18.33.json')
    expect(opencode.map(({ usage }) => usage)).toEqual([
      { input: 0, cacheRead: 0, cacheWrite: 8058, output: 19 },
      { input: 0, cacheRead: 8058, cacheWrite: 59, output: 14 },
      { input: 0, cacheRead: 8117, cacheWrite: 24, output: 4 },
    ])
    expect(opencode[0]).toMatchObject({
      program: 'opencode',
      project: '/project',
      model: 'claude-sonnet-4-5',
    })
    // What the program itself said it cost.
    expect(usageReport(opencode, 'day', modelTable()).total.dollars).toBeCloseTo(0.03593625, 9)
  })

  it('[LB24] a conversation of an older Gemini CLI, in one file of JSON, is found and counted, and can be imported', async () => {
    const { pal, home } = await openWorkspace()
    const chats = join(home, '.gemini', 'tmp', 'abc', 'chats')
    mkdirSync(chats, { recursive: true })
    const tokens = { input: 1000, output: 20, cached: 300, thoughts: 5, tool: 0, total: 1025 }
    const timestamp = '2026-11-02T10:00:00.000Z'
    const session = {
      sessionId: 'g1',
      projectHash: 'abc',
      startTime: timestamp,
      lastUpdated: timestamp,
      messages: [
        { id: 'a', timestamp, type: 'user', content: 'what is it?' },
        { id: 'b', timestamp, type: 'gemini', content: 'a shop', model: 'gemini-2.5-pro', tokens },
      ],
    }
    const file = join(chats, 'session-2026-11-02T10-00-g1.json')
    writeFileSync(file, JSON.stringify(session, null, 2))
    writeFileSync(join(home, '.gemini', 'tmp', 'abc', 'logs.json'), '[]')
    const { out } = await pal(['usage', '--json', '--by', 'program'])
    expect(JSON.parse(out === '' ? '{}' : out)).toMatchObject({
      files: 1,
      rows: [{ key: 'gemini-cli', requests: 1, input: 700, cacheRead: 300, output: 25 }],
    })
    const recording = importBytes(file, readFileSync(file))
    expect(recording.ok && recording.recording.turns.map(({ role }) => role)).toEqual(['user', 'assistant'])
  })

  it('[LB24] looks into the database of opencode where Node can, and says what to do where it cannot', async () => {
    const file = join(folder, 'opencode.db')
    const sqlite = await import('node:sqlite').catch(() => null)
    if (sqlite === null) {
      const refused = await opencodeRows(file)
      expect(refused).toEqual({ ok: false, why: expect.stringContaining('Node 22.5') })
      return
    }
    const database = new sqlite.DatabaseSync(file)
    database.exec('create table message (id text, session_id text, time_created integer, data text)')
    const data = JSON.stringify({
      role: 'assistant',
      tokens: { input: 3, output: 2, cache: { read: 1, write: 4 } },
    })
    database.prepare('insert into message values (?, ?, ?, ?)').run('m1', 'ses_1', 1, data)
    database.close()
    const rows = await opencodeRows(file)
    expect(rows.ok && opencodeRequests(file, rows.messages)).toMatchObject([
      { session: 'ses_1', usage: { input: 3, cacheRead: 1, cacheWrite: 4, output: 2 }, id: 'opencode m1' },
    ])
  })
})
