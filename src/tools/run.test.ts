import { setTimeout as pause } from 'node:timers/promises'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ToolUseBlock } from '../transcript/content.ts'
import { expandTool } from './context.ts'
import { createReadFiles } from './files/read-files.ts'
import { choice, flag, inputShape, list, object, optional, text, whole } from './input.ts'
import { failed, headOf, succeeded, tailOf } from './outcome.ts'
import { runCalls, wasInterrupted, type RunOptions } from './run.ts'
import { taskListTool } from './plan.ts'
import type { Tool, ToolEnv, ToolOutcome } from './tool.ts'

const env: ToolEnv = {
  cwd: '/',
  callId: 'c',
  readFiles: createReadFiles(),
  spill: null,
  expand: async (ref, offset, limit) =>
    ref === 'r1'
      ? { ok: true, text: 'abcdefghij'.slice(offset, offset + limit), total: 10 }
      : { ok: false, why: 'no such reference' },
  isShown: () => false,
  report: () => {},
  now: () => 0,
}
const shape = inputShape({ ms: optional(whole('Wait', 0)), say: optional(text('Text')) })
const never = new AbortController().signal

const log: string[] = []
const tool = (
  name: string,
  readOnly: boolean,
  act?: (signal: AbortSignal) => Promise<ToolOutcome>,
): Tool => ({
  spec: { name, description: '', input_schema: shape.schema },
  policy: { readOnly, results: 'keep', maxResultChars: null },
  parse: (input) => shape.parse(input),
  async run(input, _env, signal) {
    log.push(`${name} starts`)
    if (act !== undefined) return await act(signal)
    await pause(Number(input['ms'] ?? 0), undefined, { signal }).catch(() => {})
    log.push(`${name} ends`)
    return signal.aborted
      ? failed('[interrupted]')
      : succeeded(typeof input['say'] === 'string' ? input['say'] : 'done')
  },
})
const tools = [
  tool('Look', true),
  tool('Peek', true),
  tool('Change', false),
  tool('Throws', true, async () => {
    throw new Error('a bug')
  }),
  tool('Deaf', false, () => new Promise(() => {})),
]
const call = (id: string, name: string, input: Record<string, unknown> = {}): ToolUseBlock => ({
  type: 'tool_use',
  id,
  name,
  input,
})
const all = async (calls: readonly ToolUseBlock[], more: Partial<RunOptions> = {}) => {
  const out: Record<string, string> = {}
  const errors: string[] = []
  for await (const { call: one, outcome } of runCalls(calls, {
    tools,
    env: () => env,
    signal: never,
    ...more,
  })) {
    const first = outcome.content[0]!
    out[one.id] = first.type === 'text' ? first.text : ''
    if (outcome.isError) errors.push(one.id)
  }
  return { out, errors }
}

describe('running the calls of a response', () => {
  it('[B10] read-only calls run side by side and each result comes as it ends', async () => {
    log.length = 0
    const { out } = await all([call('1', 'Look', { ms: 120 }), call('2', 'Peek', { ms: 10 })])
    expect(Object.keys(out).sort()).toEqual(['1', '2'])
    expect(log).toEqual(['Look starts', 'Peek starts', 'Peek ends', 'Look ends'])
  })

  it('[B10] many at once raise no warning of a leak', async () => {
    const warnings: string[] = []
    const heard = (warning: Error): void => void warnings.push(warning.name)
    process.on('warning', heard)
    await all(
      Array.from({ length: 20 }, (_, index) => call(`${index}`, 'Look', { ms: 20 })),
      { parallel: 20 },
    )
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', heard)
    expect(warnings).toEqual([])
  })

  it('[B10] no more than the given number run at once', async () => {
    log.length = 0
    await all([call('1', 'Look', { ms: 20 }), call('2', 'Look'), call('3', 'Look')], { parallel: 1 })
    expect(log).toEqual(Array.from({ length: 3 }, () => ['Look starts', 'Look ends']).flat())
  })

  it('[B11] a call that changes something waits for those before it and holds back those behind it', async () => {
    log.length = 0
    await all([call('1', 'Look', { ms: 50 }), call('2', 'Change', { ms: 20 }), call('3', 'Peek')])
    expect(log).toEqual([
      'Look starts',
      'Look ends',
      'Change starts',
      'Change ends',
      'Peek starts',
      'Peek ends',
    ])
  })

  it('[B12] what cannot run gets an error that helps', async () => {
    const { out, errors } = await all([
      call('1', 'Nothing'),
      call('2', 'Look', { ms: 'soon' }),
      call('3', 'Look', { mms: 1 }),
      call('4', 'Throws'),
      { ...call('5', 'Look'), broken: '{"ms": 1' },
    ])
    expect(errors.sort()).toEqual(['1', '2', '3', '4', '5'])
    expect(out['1']).toMatch(/no tool "Nothing".*Look, Peek, Change/)
    expect(out['2']).toMatch(/`ms` must be a whole number, not text/)
    expect(out['3']).toMatch(/no `mms`; the fields are ms, say/)
    expect(out['4']).toMatch(/a bug/)
    expect(out['5']).toMatch(/not whole JSON/)
  })

  it('[B13] a refusal is a result, asked for in order and once for each call', async () => {
    const asked: string[] = []
    const mayRun: RunOptions['mayRun'] = async ({ id }) => {
      asked.push(id)
      await pause(id === '1' ? 30 : 0)
      return id === '2' ? { ok: false, why: 'not here' } : { ok: true }
    }
    const { out, errors } = await all([call('1', 'Look'), call('2', 'Peek'), call('3', 'Change')], { mayRun })
    expect([asked, out['2'], errors]).toEqual([['1', '2', '3'], 'not here', ['2']])
    const broken = await all([call('1', 'Look')], { mayRun: () => Promise.reject(new Error('gone')) })
    expect(broken.out['1']).toMatch(/could not be found out: gone/)
  })

  it('[B14] after an abort every unfinished call is answered, also when a tool does not listen', async () => {
    const abort = new AbortController()
    const ran: string[] = []
    const calls = [call('1', 'Peek'), call('2', 'Look', { ms: 5000 }), call('3', 'Deaf'), call('4', 'Change')]
    for await (const { call: one, outcome } of runCalls(calls, {
      tools,
      env: () => env,
      signal: abort.signal,
      abortGraceMs: 100,
    })) {
      ran.push(`${one.id} ${wasInterrupted(outcome) ? 'interrupted' : 'done'}`)
      if (one.id === '1') abort.abort()
    }
    expect(ran).toEqual(['1 done', '2 interrupted', '3 interrupted', '4 interrupted'])
    const deaf = new AbortController()
    const begun = tool('Deaf', false, () => {
      setImmediate(() => deaf.abort())
      return new Promise(() => {})
    })
    const { out } = await all([call('1', 'Deaf'), call('2', 'Change')], {
      tools: [...tools.filter(({ spec }) => spec.name !== 'Deaf'), begun],
      signal: deaf.signal,
      abortGraceMs: 50,
    })
    expect(out['1']).toMatch(/^\[interrupted\].*may still take effect/)
    expect(out['2']).toMatch(/^\[interrupted\].*not started/)
  })

  it('[B14] whoever stops listening stops what runs', async () => {
    let aborted = false
    const watch = tool(
      'Watch',
      true,
      (signal) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve(((aborted = true), succeeded('')))),
        ),
    )
    for await (const _ran of runCalls([call('1', 'Look'), call('2', 'Watch')], {
      tools: [...tools, watch],
      env: () => env,
      signal: never,
    }))
      break
    expect(aborted).toBe(true)
  })

  it('[B15] results are redacted and never empty', async () => {
    const { out } = await all([
      call('1', 'Look', { say: `key ${['sk', 'ant', 'api03'].join('-')}-${'a7Kx2Qm9Zt'.repeat(6)}` }),
      call('2', 'Look', { say: '' }),
    ])
    expect(out['1']).toMatch(/^key \[secret:anthropic-key:\d+\]$/)
    expect(out['2']).toBe('(no output)')
  })

  it('[B16] every call gets exactly one result, for any calls and any moment of abort', async () => {
    const one = fc.record({
      name: fc.constantFrom('Look', 'Peek', 'Change', 'Throws', 'Unknown'),
      ms: fc.integer({ min: 0, max: 5 }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(one, { maxLength: 8 }),
        fc.integer({ min: 0, max: 20 }),
        async (wanted, at) => {
          const abort = new AbortController()
          const timer = setTimeout(() => abort.abort(), at)
          const seen: string[] = []
          const calls = wanted.map(({ name, ms }, index) => call(String(index), name, { ms }))
          for await (const ran of runCalls(calls, {
            tools,
            env: () => env,
            signal: abort.signal,
            abortGraceMs: 20,
          }))
            seen.push(ran.call.id)
          clearTimeout(timer)
          expect(seen.sort()).toEqual(calls.map(({ id }) => id).sort())
        },
      ),
      { numRuns: 100 },
    )
  })
})

describe('input', () => {
  const fields = inputShape({
    name: text('Name', 5),
    many: optional(whole('Many', 1, 9)),
    on: optional(flag('On')),
    way: optional(choice('Way', ['a', 'b'])),
    items: optional(list('Items', object({ x: whole('X', 0) }), 2)),
  })
  it('[B17] the schema says what the check asks for', () => {
    expect(fields.schema).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Name' },
        many: { type: 'integer', description: 'Many', minimum: 1, maximum: 9 },
        on: { type: 'boolean', description: 'On' },
        way: { type: 'string', description: 'Way', enum: ['a', 'b'] },
        items: {
          type: 'array',
          description: 'Items',
          maxItems: 2,
          items: {
            type: 'object',
            properties: { x: { type: 'integer', description: 'X', minimum: 0 } },
            required: ['x'],
          },
        },
      },
      required: ['name'],
    })
  })
  it.each([
    [{ name: 'ok' }, { name: 'ok' }],
    [
      { name: 'ok', many: '3', on: 'true', way: null },
      { name: 'ok', many: 3, on: true },
    ],
    [{}, '`name` is missing'],
    [{ name: 1 }, '`name` must be text, not a number'],
    [{ name: 'too long' }, 'longer than 5'],
    [{ name: 'ok', many: 10 }, '`many` is 10, but must be from 1 to 9'],
    [{ name: 'ok', many: 1.5 }, '`many` must be a whole number'],
    [{ name: 'ok', way: 'c' }, '`way` must be one of a, b'],
    [{ name: 'ok', items: [{ x: 1 }, {}] }, '`items[1].x` is missing'],
    [{ name: 'ok', constructor: 1 }, 'no `constructor`'],
    [JSON.parse('{"name":"ok","__proto__":{}}'), 'no `__proto__`'],
  ] as const)('[B17] %j', (input, expected) => {
    const parsed = fields.parse(input)
    if (typeof expected === 'string')
      expect(parsed).toEqual({ ok: false, why: expect.stringContaining(expected) })
    else expect(parsed).toEqual({ ok: true, input: expected })
  })
})

describe('small tools', () => {
  const textOf = (outcome: ToolOutcome) =>
    outcome.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  it('[B18] Expand gives a bounded page and the way on', async () => {
    const expand = expandTool()
    expect(textOf(await expand.run({ ref: 'r1', offset: undefined, limit: undefined }, env, never))).toBe(
      'abcdefghij',
    )
    expect(textOf(await expand.run({ ref: 'r1', offset: 2, limit: 3 }, env, never))).toBe(
      'cde\n[characters 2 to 5 of 10; go on with offset 5]',
    )
    expect((await expand.run({ ref: 'r2', offset: 0, limit: 3 }, env, never)).isError).toBe(true)
    expect(expand.parse({ ref: 'r1', limit: 1_000_000 }).ok).toBe(false)
  })
  it('[B19] TaskList echoes the whole list, and refuses two active tasks', async () => {
    const tasks = taskListTool()
    expect(
      textOf(
        await tasks.run(
          {
            tasks: [
              { title: 'one', state: 'done' },
              { title: 'two\nlines', state: 'active' },
            ],
          },
          env,
          never,
        ),
      ),
    ).toBe('[x] 1. one\n[>] 2. two lines\n1 of 2 done')
    expect(
      (
        await tasks.run(
          {
            tasks: [
              { title: 'a', state: 'active' },
              { title: 'b', state: 'active' },
            ],
          },
          env,
          never,
        )
      ).isError,
    ).toBe(true)
    expect(tasks.parse({ tasks: [{ title: 'a', state: 'later' }] }).ok).toBe(false)
  })
  it('[B9] a cut never leaves half of a character', () => {
    fc.assert(
      fc.property(
        fc
          .array(fc.constantFrom('a', 'é', '日', '😀', '👩‍🚀'), { maxLength: 8 })
          .map((parts) => parts.join('')),
        fc.integer({ min: 0, max: 20 }),
        (whole, chars) => {
          for (const part of [headOf(whole, chars), tailOf(whole, chars)]) {
            expect(part.length).toBeLessThanOrEqual(chars)
            expect(Buffer.from(part).toString()).toBe(part)
          }
        },
      ),
    )
  })
})
