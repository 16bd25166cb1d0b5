// The laws of counting and of the shape of spans, over facts made for them, random sessions and recorded ones.
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { importFile } from '../../src/lab/importers/import-file.ts'
import { toEntries } from '../../src/lab/entries.ts'
import { SessionTally } from '../../src/lab/stats/session-stats.ts'
import { statsOf } from '../../src/lab/stats/stats.ts'
import { modelTable } from '../../src/model/models.ts'
import { instruments, names, operations, schemaUrl } from '../../src/telemetry/conventions.ts'
import { arbitraryMoves, played, countingIds, fixedClock } from '../../src/testing/index.ts'
import type { Entry, Fact, FactOf } from '../../src/transcript/fact.ts'
import { callId, seq, sessionId } from '../../src/transcript/ids.ts'
import { corpusFiles, corpusFolder } from '../shared-data.ts'
import { entriesOf, toldOf } from './told.ts'

const model = 'claude-sonnet-4-6'
const usage = { input: 10, cacheRead: 200, cacheWrite: 30, output: 4 }
const start = (session: string, more: Partial<FactOf<'session-start'>> = {}): Fact => ({
  type: 'session-start',
  session: sessionId(session),
  purpose: 'main',
  ...more,
})
const said: Fact = { type: 'user-message', content: [{ type: 'text', text: 'SAID-TEXT' }], origin: 'typed' }
const asked: Fact = {
  type: 'request-sent',
  source: 'main',
  model,
  upTo: seq(1),
  hash: 'h',
  tokens: 240,
  marks: [],
}
const answer = (more: Partial<FactOf<'assistant-message'>> = {}): Fact => ({
  type: 'assistant-message',
  content: [{ type: 'text', text: 'ANSWER-TEXT' }],
  messageId: 'm1',
  stop: 'end_turn',
  model,
  usage,
  ...more,
})
const done: Fact = { type: 'turn-end', outcome: 'done' }
const turn = [said, asked, answer(), done]
const boundary: Fact = {
  type: 'boundary',
  trigger: 'manual',
  source: 'extractive',
  tokensBefore: 100,
  tokensAfter: 10,
  messagesSummarised: 2,
  layer: 'compact',
  asked: 'user',
  why: 'because',
  tokensFreed: 90,
  edits: [{ kind: 'summary', from: seq(1), to: seq(3), text: 'SUMMARY-TEXT of it', ref: '1-3', keep: [] }],
  audit: { retention: 0.9 },
}
const kinds = ['input', 'read', 'write', 'output'] as const
const tokens = (told: ReturnType<typeof toldOf>): readonly number[] =>
  kinds.map((kind) => told.sum('palimpsest.request.tokens', { [names.kind]: kind }))

/** What `pal stats` counts of the same entries. */
function tallied(entries: readonly Entry[]) {
  const tally = new SessionTally(modelTable(), () => 'day')
  for (const entry of entries) tally.take(entry)
  return statsOf([{ project: 'p', stats: tally.stats() }]).total
}

describe('what is counted', () => {
  it('[TM2] an answer counts once: by its place, and in an import by its id too', () => {
    const lines = [
      start('a', { imported: 'x: y' }),
      said,
      answer(),
      answer(),
      answer({ messageId: 'm2' }),
      done,
    ]
    expect(tokens(toldOf({ a: entriesOf(lines) }))).toEqual([20, 400, 60, 8])
    const own = [start('a'), said, asked, answer(), asked, answer(), done]
    expect(tokens(toldOf({ a: entriesOf(own) }))).toEqual([20, 400, 60, 8])
  })

  it('[TM2] the prompt is what was sent, what was cached included', () => {
    const told = toldOf({ a: entriesOf([start('a'), ...turn]) })
    expect(told.sum('gen_ai.client.token.usage', { [names.tokenType]: 'input' })).toBe(240)
    expect(told.named('chat')[0]?.ending?.attributes).toMatchObject({
      [names.inputTokens]: 240,
      [names.outputTokens]: 4,
    })
    const window = told.values.filter(({ name }) => name === 'palimpsest.window.tokens')
    expect(window.reduce((all, { value }) => all + value, 0)).toBe(240)
  })

  it('[TM3] a fork counts what it added, and a child counts where its entries are, or by its end, never both', () => {
    const end: Fact = {
      type: 'fork-end',
      child: sessionId('child'),
      purpose: 'summary',
      outcome: 'done',
      text: '',
      spent: { tokens: 244, dollars: 0.5 },
    }
    const parent = entriesOf([start('a'), ...turn, end])
    const above = { session: sessionId('a'), upTo: seq(4) }
    const child = entriesOf([start('child', { purpose: 'summary', parent: above }), ...turn], 5)
    const both = toldOf({ a: parent, child }, { read: new Set(['child']) })
    expect(tokens(both)).toEqual([20, 400, 60, 8])
    expect(both.sum('palimpsest.fork.tokens')).toBe(0)
    const alone = toldOf({ a: parent })
    expect(tokens(alone)).toEqual([10, 200, 30, 4])
    expect(alone.sum('palimpsest.fork.tokens')).toBe(244)
    expect(alone.sum('palimpsest.fork.cost')).toBe(0.5)
    expect(alone.named('invoke_agent summary')).toHaveLength(1)
  })

  it('[TM4] what has no price is counted apart, and costs nothing', () => {
    const told = toldOf({ a: entriesOf([start('a'), said, asked, answer({ model: 'nobody-knows' }), done]) })
    expect(told.sum('palimpsest.request.unpriced')).toBe(1)
    expect(told.sum('palimpsest.request.cost')).toBe(0)
    expect(tokens(told)).toEqual([10, 200, 30, 4])
    expect(told.named('chat')[0]?.ending?.attributes).not.toHaveProperty(names.dollars)
  })

  it('[TM2] on random sessions the sums are those of pal stats, and every span has one beginning and one end', () => {
    fc.assert(
      fc.property(arbitraryMoves(fc), (moves) => {
        const entries = played(moves)
        const told = toldOf({ s: entries })
        const { input, cacheRead, cacheWrite, output, dollars, unpriced } = tallied(entries)
        expect(tokens(told)).toEqual([input, cacheRead, cacheWrite, output])
        const paid = told.sum('palimpsest.request.cost') + told.sum('palimpsest.fork.cost')
        expect(paid).toBeCloseTo(dollars, 9)
        expect(told.sum('palimpsest.request.unpriced')).toBe(unpriced)
        const spans = told.spans()
        const ids = new Set(spans.map(({ spanId }) => spanId))
        for (const { parent, at, ending } of spans) {
          if (parent !== null) expect(ids).toContain(parent.spanId)
          if (ending !== null) expect(ending.at).toBeGreaterThanOrEqual(at)
        }
      }),
      { numRuns: 150 },
    )
  })

  it.skipIf(corpusFiles.length === 0)(
    '[TM2] on the recorded sessions too, to the token',
    { timeout: 600_000 },
    async () => {
      for (const file of corpusFiles) {
        const imported = await importFile(join(corpusFolder, file))
        if (!imported.ok) throw new Error(imported.failure.message)
        const { entries } = toEntries(imported.recording, { ids: countingIds(), clock: fixedClock(1) })
        const { input, cacheRead, cacheWrite, output, unpriced } = tallied(entries)
        const told = toldOf({ s: entries })
        expect(tokens(told), file).toEqual([input, cacheRead, cacheWrite, output])
        expect(told.sum('palimpsest.request.unpriced'), file).toBe(unpriced)
      }
    },
  )
})

describe('what is told', () => {
  it('[TM1] times are those of the facts', () => {
    const [turned] = toldOf({ a: entriesOf([start('a'), ...turn]) }).named('invoke_agent main')
    expect([turned?.at, turned?.ending?.at]).toEqual([1_700_000_001_000, 1_700_000_004_000])
  })

  it('[TM1] a request without an answer ends where that shows, with why', () => {
    const refused: Fact = { type: 'window-learned', tokens: 5 }
    const told = toldOf({ a: entriesOf([start('a'), said, asked, refused, asked, answer(), done]) })
    expect(told.named('chat').map(({ ending }) => ending?.error)).toEqual(['overflow', null])
    const failed: Fact = {
      type: 'turn-end',
      outcome: 'failed',
      failure: { code: 'overloaded', message: 'SECRET' },
    }
    const cut = toldOf({ a: entriesOf([start('a'), said, asked, failed]) })
    expect(cut.spans().map(({ ending }) => ending?.error)).toEqual(['overloaded', 'overloaded'])
  })

  it('[TM6] compacted is said while a boundary is in force', () => {
    const compacted = (facts: readonly Fact[]): unknown[] =>
      toldOf({ a: entriesOf([start('a'), ...facts]) })
        .named('chat')
        .map(({ attributes }) => attributes[names.compacted] ?? false)
    expect(compacted([...turn, boundary, ...turn])).toEqual([false, true])
    expect(compacted([...turn, boundary, { type: 'undo', target: seq(5) }, ...turn])).toEqual([false, false])
    expect(compacted([...turn, boundary, { type: 'rewind', to: seq(4) }, ...turn])).toEqual([false, false])
  })

  it('[TM12] a child is in the trace of the turn that started it; a branch and later turns link to it', () => {
    const child = (purpose: string) =>
      entriesOf(
        [start('c', { purpose, parent: { session: sessionId('a'), upTo: seq(4) } }), ...turn, ...turn],
        5,
      )
    const parent = entriesOf([start('a'), ...turn, ...turn])
    const told = toldOf({ a: parent, c: child('notes') })
    const [first, second] = told.named('invoke_agent main')
    expect(first?.traceId).not.toBe(second?.traceId)
    const [inside, later] = told.named('invoke_agent notes')
    expect(inside).toMatchObject({ traceId: first?.traceId, parent: { spanId: first?.spanId } })
    expect(later).toMatchObject({ parent: null, links: [{ spanId: first?.spanId }] })
    const branch = toldOf({ a: parent, c: child('main') }).named('invoke_agent main')[2]
    expect(branch).toMatchObject({ parent: null, links: [{ spanId: first?.spanId }] })
  })

  it('[TM7] the version of the conventions is pinned, and instruments have their buckets', () => {
    expect(schemaUrl).toBe('https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev')
    expect(instruments['gen_ai.client.token.usage'].bounds?.at(-1)).toBe(67_108_864)
    for (const [name, { kind, bounds }] of Object.entries(instruments)) {
      expect(name).toMatch(/^(gen_ai|palimpsest)\.[a-z_.]+$/)
      expect(bounds !== undefined, name).toBe(kind === 'histogram')
    }
  })
})

describe('what stays inside', () => {
  const call = (name: string): Fact =>
    answer({
      content: [{ type: 'tool_use', id: 'c1', name, input: { command: 'ARGUMENT-TEXT', key: secret } }],
    })
  const secret = `sk-ant-api03-${'a1B2'.repeat(20)}`
  const result: Fact = {
    type: 'tool-result',
    call: callId('c1'),
    content: [{ type: 'text', text: `RESULT-TEXT ${secret}` }],
    isError: false,
  }
  const facts = (tool: string): readonly Fact[] => [
    start('session-name-x'),
    { type: 'instructions-set', sections: [], tools: [{ name: 'Bash', description: '', input_schema: {} }] },
    said,
    asked,
    call(tool),
    result,
    { type: 'memory-recall', files: ['MEMORY-NAME.md'], text: 'MEMORY-TEXT' },
    boundary,
    { type: 'turn-end', outcome: 'failed', failure: { code: 'server', message: 'MESSAGE-TEXT' } },
  ]

  it('[TM5] no text leaves unless content is on; then without secrets', () => {
    const all = (content: boolean): string => {
      const told = toldOf({ 'session-name-x': entriesOf(facts('Bash')) }, { content })
      return JSON.stringify([told.spans(), told.values])
    }
    for (const text of ['SAID-', 'ANSWER-', 'ARGUMENT-', 'RESULT-', 'MEMORY-', 'SUMMARY-', 'MESSAGE-'])
      expect(all(false)).not.toContain(text)
    for (const text of ['SAID-', 'ARGUMENT-', 'RESULT-']) expect(all(true)).toContain(text)
    expect(all(true)).not.toContain(secret)
  })

  it('[TM5] metrics have no session, and a tool only by a name that was offered', () => {
    const hostile = `/etc/passwd ${'x'.repeat(10_000)}`
    for (const tool of ['Bash', hostile]) {
      const told = toldOf({ 'session-name-x': entriesOf(facts(tool)) }, { content: true })
      const metrics = JSON.stringify(told.values)
      expect(metrics).not.toMatch(/session-name-x|passwd|-TEXT/)
      expect(metrics).toContain(tool === 'Bash' ? '"Bash"' : '"_other"')
      for (const { name } of told.spans()) expect(name.length).toBeLessThan(300)
    }
  })

  it('[TM1] memories are operations of their own below the call', () => {
    const isMemory = (path: string): boolean => path.startsWith('/memory/')
    const write = (name: string, input: Record<string, unknown>): Fact =>
      answer({ content: [{ type: 'tool_use', id: 'c1', name, input }] })
    const operationOf = (fact: Fact): string | undefined =>
      toldOf({ a: entriesOf([start('a'), said, asked, fact, result, done]) }, { isMemory })
        .spans()
        .find(({ name }) => name.endsWith('_memory'))?.name
    expect(operationOf(write('Write', { file_path: '/memory/x.md' }))).toBe(operations.upsertMemory)
    expect(operationOf(write('Edit', { file_path: '/memory/x.md' }))).toBe(operations.updateMemory)
    expect(operationOf(write('Edit', { file_path: '/src/x.md' }))).toBeUndefined()
    for (const [command, operation] of [
      ['create', 'create_memory'],
      ['str_replace', 'update_memory'],
      ['delete', 'delete_memory'],
      ['view', 'search_memory'],
    ])
      expect(operationOf(write('memory', { command, path: '/memories/x' }))).toBe(operation)
    expect(operationOf(write('memory', { command: 'constructor' }))).toBeUndefined()
  })
})
