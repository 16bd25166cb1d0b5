import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { WireBlock, WireMessage, WireRequest } from '../model/wire.ts'
import { createCache, type PromptCache } from './cache.ts'
import type { Counter } from './counter.ts'
import { simulatedModels } from './models.ts'

const mark = (ttl: '5m' | '1h' = '5m') => ({ cache_control: { type: 'ephemeral' as const, ttl } })
const text = (words: string): WireBlock => ({ type: 'text', text: words })
const texts = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => text(`block ${from + index}`))
const calls = (count: number): WireBlock[] =>
  Array.from({ length: count }, (_, index) => ({
    type: 'tool_use',
    id: `t${index}`,
    name: 'read',
    input: {},
  }))
const results = (count: number): WireBlock[] =>
  Array.from({ length: count }, (_, index) => ({
    type: 'tool_result',
    tool_use_id: `t${index}`,
    content: 'x',
  }))
const tool = { name: 'read', description: 'Reads.', input_schema: { type: 'object' } }

/** Round numbers, as in the vectors: every block weighs the same, the system block is the rest of T. */
const counting = (system: number, block = 1000): Counter => ({
  block: (each) => (each['text'] === 'system' ? system : block),
  tool: () => 1000,
  overhead: () => 0,
})

interface Parts {
  readonly messages: readonly WireMessage[]
  readonly systemTtl?: '5m' | '1h'
  readonly more?: Partial<WireRequest>
  readonly markLast?: boolean
}
function request({ messages, systemTtl = '5m', more = {}, markLast = true }: Parts): WireRequest {
  const last = messages.at(-1)
  const blocks = (last?.content ?? []) as readonly WireBlock[]
  const marked = blocks.map((block, index) =>
    markLast && index === blocks.length - 1 ? { ...block, ...mark() } : block,
  )
  return {
    model: 'claude-sonnet-5',
    max_tokens: 100,
    tools: [tool],
    system: [{ ...text('system'), ...mark(systemTtl) }],
    messages: [...messages.slice(0, -1), { role: last?.role ?? 'user', content: marked }],
    ...more,
  }
}
const users = (count: number) => [{ role: 'user' as const, content: texts(0, count) }]
const SECOND = 1000

function fields(cache: PromptCache, wire: WireRequest, seconds: number): readonly number[] {
  const usage = cache.account(wire, seconds * SECOND, seconds * SECOND)
  const { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long } = usage.cache_creation
  return [usage.input_tokens, short, long, usage.cache_read_input_tokens]
}

describe('prompt cache', () => {
  it('[V31] vectors 1–6: writes, reads, refresh, expiry, lookback and runs', () => {
    const cache = createCache({ counter: counting(2000) })
    expect(fields(cache, request({ messages: users(1) }), 0)).toEqual([0, 4000, 0, 0])
    expect(fields(cache, request({ messages: users(3) }), 60)).toEqual([0, 2000, 0, 4000])
    expect(fields(cache, request({ messages: users(3) }), 359)).toEqual([0, 0, 0, 6000])
    expect(fields(cache, request({ messages: users(3) }), 700)).toEqual([0, 6000, 0, 0])
    const runs = [
      ...users(3),
      { role: 'assistant' as const, content: calls(12) },
      { role: 'user' as const, content: results(11) },
    ]
    expect(fields(cache, request({ messages: runs }), 705)).toEqual([0, 23_000, 0, 6000])
    // Vectors 5 and 6 both follow 4, so 5 has a cache of its own.
    const other = createCache({ counter: counting(2000) })
    expect(fields(other, request({ messages: users(3) }), 700)).toEqual([0, 6000, 0, 0])
    expect(fields(other, request({ messages: users(26) }), 710)).toEqual([0, 26_000, 0, 3000])
  })

  it('[V31] twenty positions are looked at, the mark itself being the first', () => {
    for (const [entry, mark, read] of [
      [10, 15, true],
      [15, 35, false],
      [16, 35, true],
    ] as const) {
      const cache = createCache({ counter: counting(2000) })
      const bare = { system: [text('system')] }
      fields(cache, request({ messages: users(entry), more: bare }), 0)
      const hit = fields(cache, request({ messages: users(mark), more: bare }), 1)[3]
      expect([entry, mark, hit]).toEqual([entry, mark, read ? 3000 + entry * 1000 : 0])
    }
  })

  it('[V31] vectors 7–9: mixed lifetimes, a changed tool choice, a changed tool', () => {
    const cache = createCache({ counter: counting(2000) })
    const parts = { messages: users(2), systemTtl: '1h' as const }
    expect(fields(cache, request(parts), 0)).toEqual([0, 2000, 3000, 0])
    expect(fields(cache, request({ ...parts, more: { tool_choice: { type: 'none' } } }), 10)).toEqual([
      0, 2000, 0, 3000,
    ])
    const changed = { tools: [{ ...tool, description: 'Reads a file.' }] }
    expect(fields(cache, request({ ...parts, more: changed }), 20)).toEqual([0, 2000, 3000, 0])
  })

  it('[V31] vector 10: a prefix below the minimum is not cached', () => {
    const cache = createCache({ counter: { ...counting(900), tool: () => 0 } })
    const short = request({ messages: users(1), markLast: false })
    expect(fields(cache, short, 0)).toEqual([1900, 0, 0, 0])
    expect(fields(cache, short, 1)).toEqual([1900, 0, 0, 0])
  })

  it('[V32] an entry is readable only once the writing response has begun', () => {
    const cache = createCache({ counter: counting(2000) })
    const wire = request({ messages: users(1) })
    expect(cache.account(wire, 0, 5000).cache_read_input_tokens).toBe(0)
    expect(cache.account(wire, 4000, 9000).cache_read_input_tokens).toBe(0)
    expect(cache.account(wire, 5000, 5001).cache_read_input_tokens).toBe(4000)
  })

  it('[V32] a request whose response never began writes nothing', () => {
    const cache = createCache({ counter: counting(2000) })
    const wire = request({ messages: users(1) })
    const model = simulatedModels.find((each) => each.id === wire.model)
    expect(model && cache.open(wire, model, 0).usage.cache_creation_input_tokens).toBe(4000)
    expect(fields(cache, wire, 1)).toEqual([0, 4000, 0, 0])
  })

  it('[V33] a read refreshes with the lifetime of the entry, not of the mark', () => {
    const cache = createCache({ counter: counting(2000) })
    const hour = request({
      messages: users(1),
      systemTtl: '1h',
      more: { cache_control: { type: 'ephemeral', ttl: '1h' } },
      markLast: false,
    })
    const short = request({ messages: users(1), systemTtl: '5m' })
    expect(fields(cache, hour, 0)).toEqual([0, 0, 4000, 0])
    expect(fields(cache, short, 1800)).toEqual([0, 0, 0, 4000])
    expect(fields(cache, short, 1800 + 3599)).toEqual([0, 0, 0, 4000])
    expect(fields(cache, short, 1800 + 3599 + 3600)).toEqual([0, 4000, 0, 0])
  })

  it('[V34] what changes below loses only what lies after it', () => {
    const base = { messages: users(2), systemTtl: '1h' as const }
    const image: WireBlock = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
    const table: readonly (readonly [string, Partial<WireRequest>, number])[] = [
      ['nothing', {}, 5000],
      [
        'max_tokens, metadata, stop_sequences, stream',
        { max_tokens: 5, metadata: { user_id: 'u' }, stop_sequences: ['x'], stream: true },
        5000,
      ],
      ['an explicit default effort', { output_config: { effort: 'high' } }, 5000],
      ['a deferred tool added', { tools: [tool, { ...tool, name: 'later', defer_loading: true }] }, 5000],
      ['effort', { output_config: { effort: 'low' } }, 3000],
      ['thinking', { thinking: { type: 'disabled' } }, 3000],
      ['parallel tool use', { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }, 3000],
      [
        'an image',
        { messages: [{ role: 'user', content: [...texts(0, 1), text('block 1'), { ...image, ...mark() }] }] },
        3000,
      ],
      ['speed', { speed: 'fast' }, 0],
      ['model', { model: 'claude-opus-4-8' }, 0],
      ['tool order', { tools: [{ ...tool, name: 'first' }, tool] }, 0],
    ]
    for (const [name, more, read] of table) {
      const cache = createCache({ counter: counting(2000) })
      fields(cache, request(base), 0)
      expect([name, fields(cache, request({ ...base, more }), 1)[3]]).toEqual([name, read])
    }
    const marked = createCache({ counter: counting(2000) })
    const withToolMark = (more: Partial<WireRequest>) =>
      request({ ...base, more: { tools: [{ ...tool, ...mark('1h') }], ...more } })
    fields(marked, withToolMark({}), 0)
    const newSystem = { system: [{ ...text('system'), text: 'another', ...mark('1h') }] }
    expect(createRead(marked, withToolMark({ speed: 'fast' }))).toBe(0)
    expect(createRead(marked, withToolMark(newSystem))).toBe(0)
  })

  it('[V34] tools stay cached when only the system changes, if the prefix is long enough', () => {
    const cache = createCache({ counter: { ...counting(2000), tool: () => 2000 } })
    const parts = { messages: users(1), more: { tools: [{ ...tool, ...mark() }] } }
    fields(cache, request(parts), 0)
    const system = [{ ...text('another'), ...mark() }]
    expect(createRead(cache, request({ ...parts, more: { ...parts.more, system } }))).toBe(2000)
    expect(createRead(cache, request({ ...parts, more: { ...parts.more, speed: 'fast' } }))).toBe(2000)
  })

  it('[V35] old thinking is stripped at the next user turn where the model does not keep it', () => {
    const thought: WireBlock = { type: 'thinking', thinking: 'hm', signature: 's' }
    const first = [
      ...users(1),
      { role: 'assistant' as const, content: [thought, ...calls(1)] },
      { role: 'user' as const, content: results(1) },
    ]
    const next = [
      ...first,
      { role: 'assistant' as const, content: texts(50, 1) },
      { role: 'user' as const, content: texts(60, 1) },
    ]
    for (const [model, read] of [
      ['claude-sonnet-5', 7000],
      ['claude-sonnet-4-5', 3000],
    ] as const) {
      const cache = createCache({ counter: counting(2000) })
      fields(cache, request({ messages: first, more: { model } }), 0)
      expect(createRead(cache, request({ messages: next, more: { model } }))).toBe(read)
    }
  })

  it('[V36] a top-level mark stands on the last block that can carry one', () => {
    const cache = createCache({ counter: counting(2000) })
    const automatic = request({
      messages: users(2),
      markLast: false,
      more: { cache_control: { type: 'ephemeral' } },
    })
    expect(fields(cache, automatic, 0)).toEqual([0, 5000, 0, 0])
    expect(fields(cache, request({ messages: users(3) }), 1)).toEqual([0, 1000, 0, 5000])
  })

  it('[V37] deleted content is not counted while the deletion is sent, and counts again without it', () => {
    const messages = [
      ...users(1),
      { role: 'assistant' as const, content: calls(2) },
      {
        role: 'user' as const,
        content: results(2).map((each, index) => ({ ...each, cache_reference: `r${index}` })),
      },
    ]
    const longer = [
      ...messages,
      { role: 'assistant' as const, content: texts(50, 1) },
      { role: 'user' as const, content: texts(60, 1) },
    ]
    const cache = createCache({ counter: counting(2000) })
    const edits = { cache_edits: [{ type: 'delete' as const, cache_reference: 'r0' }] }
    expect(fields(cache, request({ messages }), 0)).toEqual([0, 8000, 0, 0])
    const deleted = cache.account(request({ messages: longer, more: edits }), 1000, 1000)
    expect(deleted).toMatchObject({
      cache_read_input_tokens: 7000,
      cache_creation_input_tokens: 2000,
      cache_deleted_input_tokens: 1000,
    })
    expect(cache.account(request({ messages: longer, more: edits }), 2000, 2000)).toMatchObject({
      cache_read_input_tokens: 9000,
      cache_deleted_input_tokens: 1000,
    })
    const forgotten = cache.account(request({ messages: longer }), 3000, 3000)
    expect(forgotten).toMatchObject({ cache_read_input_tokens: 8000, cache_creation_input_tokens: 2000 })
    expect(forgotten.cache_deleted_input_tokens).toBeUndefined()
  })

  it('[V38] the fields add up to the count, whatever is sent before', () => {
    const block = fc.oneof(
      fc.string({ minLength: 1, maxLength: 5000 }).map(text),
      fc
        .integer({ min: 0, max: 30 })
        .map((index): WireBlock => ({ type: 'tool_use', id: `t${index}`, name: 'read', input: { index } })),
    )
    const marked = fc
      .tuple(block, fc.option(fc.constantFrom<'5m' | '1h'>('5m', '1h'), { freq: 3 }))
      .map(([each, ttl]) => (ttl === null ? each : { ...each, ...mark(ttl) }))
    const wire = fc.record({
      messages: fc.array(
        fc.record({
          role: fc.constantFrom<'user' | 'assistant'>('user', 'assistant'),
          content: fc.array(marked, { minLength: 1, maxLength: 30 }),
        }),
        { minLength: 1, maxLength: 5 },
      ),
      model: fc.constantFrom('claude-opus-5', 'claude-haiku-4-5'),
      max_tokens: fc.constant(10),
    })
    fc.assert(
      fc.property(fc.array(fc.tuple(wire, fc.nat(400)), { minLength: 1, maxLength: 6 }), (requests) => {
        const cache = createCache()
        let now = 0
        for (const [each, seconds] of requests) {
          now += seconds * SECOND
          const model = simulatedModels.find((candidate) => candidate.id === each.model)
          const usage = cache.account(each, now, now)
          const { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long } = usage.cache_creation
          expect(short + long).toBe(usage.cache_creation_input_tokens)
          expect(
            Math.min(usage.input_tokens, short, long, usage.cache_read_input_tokens),
          ).toBeGreaterThanOrEqual(0)
          expect(usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens).toBe(
            model && cache.count(each, model),
          )
          expect(cache.account(each, now, now).cache_creation_input_tokens).toBe(0)
        }
      }),
      { numRuns: 60 },
    )
  })
})

function createRead(cache: PromptCache, wire: WireRequest): number {
  return fields(cache, wire, 1)[3] ?? -1
}
