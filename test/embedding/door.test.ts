// The front door as a program meets it that was written without our types: wrong options, stored ids, hooks as functions.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  createEngine,
  createPreset,
  hooks,
  inMemoryStore,
  tool,
  type EngineOptions,
  type PresetOptions,
} from '../../src/index.ts'
import { call } from '../../src/simulator/index.ts'
import type { ForkSpec } from '../../src/engine/ports.ts'
import { collect, modelId, simulated, turn } from '../e2e/simulated.ts'

const store = inMemoryStore()
const look = tool({ name: 'look', description: 'Looks.', input: z.object({}), run: () => 'seen' })

describe('createPreset', () => {
  it.each([
    [undefined, /`home` is missing: .*\.palimpsest/],
    [{ home: '/h' }, /`project` is missing: what projectOf/],
    [{ home: '/h', project: {} }, /`settings` is missing: an object/],
    [{ home: '/h', project: {}, settings: {} }, /`environment` is missing: .*process\.env/],
  ])('[EM2] names the option that is missing: %o', (options, says) => {
    const make = () => createPreset(options as unknown as PresetOptions)
    expect(make).toThrow(says)
    expect(make).toThrow(expect.objectContaining({ name: 'EngineError', code: 'bad-options' }) as Error)
  })
})

describe('createEngine', () => {
  it.each([
    [undefined, /`store` is missing.*fileStore/],
    [{}, /`store` is missing/],
    [{ store: {} }, /`store` is not a store: it has no lease\(\)/],
    [{ store }, /`modelId` is missing/],
    [{ store, modelId: '' }, /`modelId` is missing/],
    [{ store, modelId, model: {} }, /`model` is not a model.*anthropicModel/],
    [{ store, modelId, layers: [{ name: 'mine', propose() {} }] }, /layer "mine" has no decide\(\)/],
    [{ store, modelId, tools: [{ name: 'x' }] }, /tool undefined has no spec, parse or run; tool\(/],
    [
      {
        store,
        modelId,
        model: { stream: () => [] },
        tools: [{ spec: { name: 'files.read' }, parse: () => null, run: () => null }],
      },
      /no API takes the name of the tool "files\.read": up to 64 letters, digits, _ and -/,
    ],
    [{ store, modelId, model: { stream: () => [] }, tools: [look, look] }, /two tools are called "look"/],
    [{ store, modelId, tools: { look } }, /`tools` is not a list/],
    [{ store, modelId, window: Number('') }, /`window` is 0; it takes a number of tokens above 0/],
    [
      { store, modelId, caps: { dollars: Number('5 $') } },
      /`caps\.dollars` is NaN; it takes a number of dollars/,
    ],
    [{ store, modelId, caps: { tokens: -1 } }, /`caps\.tokens` is -1/],
    [{ store, modelId, maxRounds: '3' }, /`maxRounds` is 3; it takes a number above 0/],
    [{ store, modelId, thrift: 7 }, /`thrift` is 7; it takes a number from 0 to 1/],
    [{ store, modelId, thrift: null }, /`thrift` is null; it takes a number from 0 to 1/],
  ])('[EM2] names what is missing or wrong in %j', (options, why) => {
    const make = () => createEngine(options as EngineOptions)
    expect(make).toThrow(why)
    expect(make).toThrow(expect.objectContaining({ name: 'EngineError', code: 'bad-options' }) as Error)
  })
})

describe('what is handed to a session', () => {
  it('[EM10] a prompt, a model or a fork that cannot be meant is refused by its name, and nothing is written', async () => {
    const { model, simulator } = await simulated(['fine'])
    const session = await createEngine({ store: inMemoryStore(), modelId, model }).open()
    const wrongBlocks = [
      { type: 'text' },
      { type: 'image' },
      anImage,
      { type: 'tool_result', tool_use_id: 'a', content: 'x' },
    ].map((block) => [block])
    for (const wrong of [
      null,
      undefined,
      5,
      { role: 'user' },
      [{ text: 'no type' }],
      [null],
      ...wrongBlocks,
    ]) {
      const events = await collect(session.send(wrong as unknown as string))
      expect(events).toEqual([
        expect.objectContaining({
          type: 'turn-end',
          failure: { code: 'bad-options', message: expect.stringContaining('the prompt must be a text') },
        }),
      ])
      for (const verb of ['say', 'queue'] as const)
        await expect(session[verb](wrong as unknown as string)).rejects.toMatchObject({ code: 'bad-options' })
    }
    for (const wrong of ['', ' ', undefined])
      await expect(session.setModel(wrong as string)).rejects.toMatchObject({
        code: 'bad-options',
        message: expect.stringContaining("setModel needs the model's name"),
      })
    const forked = await session.fork({ purpose: 'side', prompt: 'look' } as unknown as ForkSpec)
    expect(forked).toMatchObject({ outcome: 'failed', failure: { code: 'bad-options' } })
    expect(forked.failure!.message).toContain('`directive`')
    const bad = { name: 'EngineError', code: 'bad-options' }
    await expect(session.attach('mode', undefined as never)).rejects.toMatchObject(bad)
    await expect(session.attachFiles('a.ts' as never)).rejects.toMatchObject(bad)
    await expect(session.attachFiles([5 as never])).rejects.toMatchObject(bad)
    expect(() => session.switchPrice(5 as never)).toThrow(expect.objectContaining(bad) as Error)
    expect(await session.spawn({} as never)).toMatchObject({ ok: false, failure: { code: 'bad-options' } })
    await expect(session.undo(99)).rejects.toThrow(/^there is no edit #99 to undo$/)
    expect(simulator.log.requests).toEqual([])
    expect((await turn(session.send('hello'))).outcome).toBe('done')
    await session.close()
  })
})

const aResponse = (...content: readonly object[]) => ({
  id: 'msg_1',
  model: modelId,
  content: content as readonly { type: string }[],
  stop_reason: 'tool_use',
  usage: { input_tokens: 10, output_tokens: 5 },
})
const anImage = { type: 'image', source: { type: 'base64', data: 'AA==' } }

describe('what stands for a result', () => {
  it('[EM10] that is none is refused by the call’s name, nothing is written, and the call waits for another', async () => {
    const session = await createEngine({ store: inMemoryStore(), modelId }).open()
    await session.say('look')
    await session.request()
    for (const odd of [
      { type: 'text', text: [null] },
      { type: 'tool_use', id: 'a', input: {} },
    ])
      expect(
        await session.receive(aResponse(odd)).then(
          () => null,
          ({ code }: { code?: string }) => code ?? 'none',
        ),
        JSON.stringify(odd),
      ).toBe('no-message')
    await session.receive(aResponse({ type: 'tool_use', id: 'a', name: 'look', input: {} }))
    for (const wrong of [undefined, null, 5, {}, { ok: true }, { content: 'text' }, [anImage], [null]])
      await expect(session.result('a', wrong as never), JSON.stringify(wrong)).rejects.toMatchObject({
        name: 'EngineError',
        code: 'bad-options',
        message: expect.stringContaining('the result of the call a was not written: '),
      })
    expect(session.openCalls().map(({ id }) => id)).toEqual(['a'])
    await session.result('a', { content: [{ type: 'text', text: 'seen' }] } as never)
    expect(JSON.stringify((await session.request()).messages)).toContain('seen')
    await session.close()
  })

  it('[EM1] of a tool without our types is an error of its call, which says what a result is', async () => {
    const { model, simulator } = await simulated([
      ['nothing', 'odd', 'facts', 'throws', 'plain', 'unread'].map((name) => call(name, {})),
      'done',
    ])
    const made = (name: string, run: () => unknown, parse: unknown = null) => ({
      spec: { name, description: name, input_schema: { type: 'object', properties: {} } },
      policy: { readOnly: true, results: 'keep', maxResultChars: null },
      parse: (input: object) => (parse === null ? { ok: true, input } : (parse as () => unknown)()),
      run: async () => Promise.resolve(run()),
    })
    const fails = (): never => {
      throw new Error('fell over')
    }
    const tools = [
      made('nothing', () => undefined),
      tool({ name: 'odd', description: 'Odd.', input: z.object({}), run: () => ({ rows: 3 }) as never }),
      made('facts', () => ({ content: [], isError: false, facts: [null] })),
      made('throws', fails),
      made('plain', () => 'plain text'),
      made('unread', () => 'never', fails),
    ] as NonNullable<EngineOptions['tools']>
    const session = await createEngine({ store: inMemoryStore(), modelId, model, tools }).open()
    const ended = await turn(session.send('go'))
    expect([ended.outcome, ended.failure]).toEqual(['done', null])
    const said = Object.fromEntries(
      ended.events.flatMap((event) =>
        event.type === 'tool-end' ? [[event.name, [event.isError, event.text]]] : [],
      ),
    )
    expect(said).toEqual({
      nothing: [true, expect.stringContaining('nothing gave no result: it is neither a text nor')],
      odd: [true, expect.stringContaining('odd gave no result: it is neither a text nor')],
      facts: [true, expect.stringContaining('no list of facts')],
      throws: [true, expect.stringContaining('fell over')],
      plain: [false, 'plain text'],
      unread: [true, expect.stringContaining('fell over')],
    })
    expect(simulator.log.requests.length).toBe(2)
    await session.close()
  })
})

describe('ids', () => {
  it('[EM3] [E8] a session is opened again by the plain text of its id, and edits are undone by plain numbers', async () => {
    const { model } = await simulated(['one', 'two'])
    const engine = createEngine({ store: inMemoryStore(), modelId, model, system: 'Be careful.' })
    const first = await engine.open()
    await turn(first.send('hello'))
    const stored: string = JSON.parse(JSON.stringify({ id: first.id })).id
    await first.close()
    const again = await engine.open(stored)
    await turn(again.send('more'))
    expect(again.view().messages.length).toBe(4)
    const place: number = 2
    // The start is before the system prompt.
    const toStart = await again.rewind(0).then(
      () => null,
      ({ code }: { code: string }) => code,
    )
    expect(toStart).toBe('no-such-entry')
    await again.rewind(place)
    expect(again.view().messages.length).toBeLessThan(4)
    for (const wrong of [-1, 1.5, Number.NaN, 1e9])
      await expect(again.undo(wrong)).rejects.toMatchObject({ name: 'EngineError' })
    await again.close()
    await expect(engine.open('../elsewhere')).rejects.toMatchObject({ name: 'EngineError' })
  })
})

describe('hooks as functions', () => {
  it('[EM4] each moment is told with fields of its own; an answer blocks or adds', async () => {
    const { model, simulator } = await simulated([[call('look', { at: 'x' })], 'done'])
    const seen: string[] = []
    const look = tool({
      name: 'look',
      description: 'Looks.',
      input: z.object({ at: z.string() }),
      run: () => 'never',
    })
    const engine = createEngine({
      store: inMemoryStore(),
      modelId,
      model,
      tools: [look],
      hooks: hooks({
        UserPromptSubmit: ({ prompt }) => ({ context: `was asked: ${JSON.stringify(prompt)}` }),
        PreToolUse: ({ tool: name, input }) => ({
          block: `${name} at ${String(input['at'])} is not for today`,
        }),
        Stop: ({ session, outcome }) => void seen.push(`${session.length > 0} ${outcome}`),
      }),
    })
    const session = await engine.open()
    await collect(session.send('go'))
    const sent = JSON.stringify(simulator.log.requests.at(-1)!.body)
    expect(sent).toContain('was asked: \\"go\\"')
    expect(sent).toContain('look at x is not for today')
    expect(seen).toEqual(['true done'])
    await session.close()
  })

  it('[EM4] a moment that never comes is refused, since its judge would judge nothing', () => {
    const misspelt = { PreTool: () => ({ block: 'no' }) } as unknown as Parameters<typeof hooks>[0]
    expect(() => hooks(misspelt)).toThrow(/there is no moment "PreTool"; there are .*PreToolUse/)
  })

  it('[EM4] one that throws is shown, and blocks the call it was to judge', async () => {
    const { model, simulator } = await simulated([[call('look', {})], 'done'])
    const ran: string[] = []
    const look = tool({
      name: 'look',
      description: 'Looks.',
      input: z.object({}),
      run: () => String(ran.push('look')),
    })
    const fail = (): never => {
      throw new Error('the check fell over')
    }
    const engine = createEngine({
      store: inMemoryStore(),
      modelId,
      model,
      tools: [look],
      hooks: hooks({ PreToolUse: fail, Stop: fail }),
    })
    const session = await engine.open()
    const events = await collect(session.send('go'))
    expect(ran).toEqual([])
    expect(JSON.stringify(simulator.log.requests.at(-1)!.body)).toContain('the PreToolUse hook failed')
    const notices = events.flatMap((event) => (event.type === 'notice' ? [event.message] : []))
    expect(notices).toEqual(
      expect.arrayContaining([
        expect.stringContaining('the PreToolUse hook failed: the check fell over'),
        expect.stringContaining('the Stop hook failed'),
      ]),
    )
    await session.close()
  })
})
