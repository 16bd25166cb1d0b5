// The front door as a program meets it that was written without our types: wrong options, stored ids, hooks as functions.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createEngine, hooks, inMemoryStore, tool, type EngineOptions } from '../../src/index.ts'
import { call } from '../../src/simulator/index.ts'
import { collect, modelId, simulated, turn } from '../e2e/simulated.ts'

const store = inMemoryStore()

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
  ])('[EM2] names what is missing or wrong in %j', (options, why) => {
    const make = () => createEngine(options as EngineOptions)
    expect(make).toThrow(why)
    expect(make).toThrow(expect.objectContaining({ name: 'EngineError', code: 'bad-options' }) as Error)
  })
})

describe('ids', () => {
  it('[EM3] a session is opened again by the plain text of its id, and edits are undone by plain numbers', async () => {
    const { model } = await simulated(['one', 'two'])
    const engine = createEngine({ store: inMemoryStore(), modelId, model })
    const first = await engine.open()
    await turn(first.send('hello'))
    const stored: string = JSON.parse(JSON.stringify({ id: first.id })).id
    await first.close()
    const again = await engine.open(stored)
    await turn(again.send('more'))
    expect(again.view().messages.length).toBe(4)
    const place: number = 2
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
