// Small guards of the engine that no larger scene depends on: each fails by itself when it is taken out.
import { describe, expect, it } from 'vitest'
import type { Model, ModelEvent, ModelMessage } from '../model/model.ts'
import { scriptedMessage } from '../model/scripted.ts'
import type { TokenRates } from '../projection/economy.ts'
import type { Layer } from '../projection/layer.ts'
import { inMemoryStore } from '../stores/index.ts'
import { countingIds, fixedClock } from '../testing/builders.ts'
import type { Tool } from '../tools/tool.ts'
import type { AssistantBlock } from '../transcript/content.ts'
import type { Usage } from '../transcript/fact.ts'
import { createEngine } from './engine.ts'
import type { LiveEvent } from './live.ts'
import type { EngineOptions } from './options.ts'
import type { Session } from './session.ts'

type Step =
  | 'refuses-reasoning'
  | {
      readonly content: readonly AssistantBlock[]
      readonly usage?: Partial<Usage>
      /** What the server says it did to the prompt. */
      readonly inputTransformations?: ModelMessage['inputTransformations']
    }

const thought = (text: string): AssistantBlock => ({
  type: 'thinking',
  thinking: text,
  signature: `sig-${text}`,
})
const text = (words: string): AssistantBlock => ({ type: 'text', text: words })

function modelOf(steps: readonly Step[]): { readonly model: Model; readonly bodies: string[] } {
  const bodies: string[] = []
  let next = 0
  const model: Model = {
    async *stream({ body }): AsyncGenerator<ModelEvent> {
      bodies.push(body)
      const step = steps[next++] ?? { content: [text('end')] }
      if (step === 'refuses-reasoning') {
        const failure = { code: 'reasoning-invalid', message: 'Invalid signature', status: 400 } as const
        yield { type: 'failed', failure, partial: null }
        return
      }
      const plain = scriptedMessage('')
      const stop = step.content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn'
      const usage = {
        input: Math.ceil(body.length / 4),
        cacheRead: 0,
        cacheWrite: 0,
        output: 5,
        ...step.usage,
      }
      const { content, inputTransformations = [] } = step
      yield {
        type: 'end',
        message: { ...plain, messageId: `msg_${next}`, content, stop, usage, inputTransformations },
      }
    },
  }
  return { model, bodies }
}

const open = (options: Partial<EngineOptions>): Promise<Session> =>
  createEngine({
    store: inMemoryStore(),
    modelId: 'local',
    clock: fixedClock(),
    ids: countingIds(),
    thinking: { type: 'adaptive' },
    ...options,
  }).open()

async function events(turn: AsyncIterable<LiveEvent>): Promise<readonly LiveEvent[]> {
  const all: LiveEvent[] = []
  for await (const event of turn) all.push(event)
  return all
}

const hasReasoning = (body: string): boolean => body.includes('"type":"thinking","thinking"')

describe('refused reasoning', () => {
  it('[E9] is not sent again by a fork, nor after a resume', async () => {
    const { model, bodies } = modelOf([{ content: [thought('a'), text('one')] }, 'refuses-reasoning'])
    const store = inMemoryStore()
    const session = await open({ store, model })
    await events(session.send('first'))
    await events(session.send('second'))
    await session.fork({ purpose: 'probe', directive: 'say it' })
    await session.close()
    const again = await createEngine({
      store,
      model,
      modelId: 'local',
      thinking: { type: 'adaptive' },
      ids: countingIds(1),
    }).open(session.id)
    await events(again.send('third'))
    expect(bodies.map(hasReasoning)).toEqual([false, true, false, false, false])
  })
})

describe('the rates that layers decide by', () => {
  const ratesWith = async (cacheLifetime: '5m' | '1h' | null): Promise<TokenRates | null> => {
    let rates: TokenRates | null = null
    const layer: Layer = {
      name: 'looks',
      decide: (_view, budget) => {
        rates = budget.rates
        return null
      },
    }
    const { model } = modelOf([])
    const session = await open({ model, layers: [layer], modelId: 'claude-sonnet-4-6', cacheLifetime })
    await events(session.send('hello'))
    return rates
  }

  it('[E14] are those of the lifetime that is really asked for, and of plain input where nothing is cached', async () => {
    expect((await ratesWith('5m'))?.write).toBeCloseTo(3.75 / 1e6, 12)
    expect((await ratesWith('1h'))?.write).toBeCloseTo(6 / 1e6, 12)
    expect((await ratesWith(null))?.write).toBeCloseTo(3 / 1e6, 12)
  })
})

describe('the gate of results', () => {
  it('[Z1] lets a result of exactly the limit pass whole, and one character more does not', async () => {
    const limit = 500
    const sized = (name: string, chars: number): Tool => ({
      spec: { name, description: name, input_schema: { type: 'object', properties: {} } },
      policy: { readOnly: true, results: 'keep', maxResultChars: limit },
      parse: (input) => ({ ok: true, input }),
      run: async () => ({ content: [{ type: 'text', text: 'x'.repeat(chars) }], isError: false }),
    })
    const call = (id: string, name: string): AssistantBlock => ({ type: 'tool_use', id, name, input: {} })
    const { model, bodies } = modelOf([{ content: [call('a', 'Fits'), call('b', 'Larger')] }])
    const session = await open({ model, tools: [sized('Fits', limit), sized('Larger', limit + 1)] })
    await events(session.send('go'))
    expect(bodies[1]).toContain(`"content":"${'x'.repeat(limit)}"`)
    expect(bodies[1]!.match(/<persisted-output ref=\\"\w+\\" bytes/g)).toHaveLength(1)
    expect(bodies[1]).toContain(` bytes=\\"${limit + 1}\\"`)
  })
})

describe('a window learned from what a server counted', () => {
  const noticed = async (
    counts: readonly number[],
    inputTransformations: ModelMessage['inputTransformations'] = [],
  ): Promise<readonly string[]> => {
    const { model } = modelOf(
      counts.map((input) => ({ content: [text('so')], usage: { input }, inputTransformations })),
    )
    const session = await open({ model, layers: [] })
    const codes: string[] = []
    for (const _ of counts)
      for (const event of await events(session.send('lorem ipsum '.repeat(3000))))
        if (event.type === 'notice') codes.push(event.code)
    return codes
  }

  it('[E15] is not believed where the same server has taken a larger prompt before', async () => {
    // A smaller count after a larger one is named, and teaches no window.
    expect(await noticed([9000, 3000])).toEqual(['left-out'])
    // Where the server said that it changed the prompt, a smaller count is nothing to name, and teaches none either.
    expect(await noticed([9000, 3000], [{ type: 'summarized' }])).toEqual([])
    // The first count is far below what was sent, and nothing larger was ever taken.
    expect(await noticed([3000])).toEqual(['silent-overflow'])
  })

  it('[E15] is still known after a resume, and forgotten with the model it was learned of', async () => {
    const { model } = modelOf([{ content: [text('so')], usage: { input: 3000 } }])
    const store = inMemoryStore()
    const options = { store, model, layers: [], ids: countingIds(), maxOutputTokens: 500 }
    const session = await open(options)
    await events(session.send('lorem ipsum '.repeat(3000)))
    await session.close()
    const again = await createEngine({ ...options, modelId: 'local' }).open(session.id)
    const failed = (await events(again.send('and more'))).at(-1)
    expect(failed).toMatchObject({ type: 'turn-end', failure: { code: 'overflow' } })
    await again.setModel('local-of-another-kind')
    expect((await events(again.send('and more'))).at(-1)).toMatchObject({ outcome: 'done' })
  })
})

describe('the code of a failure', () => {
  it('[E18] tells a session that is open elsewhere from a range that an undo restored', async () => {
    const store = inMemoryStore()
    const { model } = modelOf([])
    const session = await open({ store, model })
    const again = createEngine({ store, model, modelId: 'local' }).open(session.id)
    await expect(again).rejects.toMatchObject({ code: 'session-open' })
    const missing = createEngine({ store, model, modelId: 'local' }).open(
      '01890000-0000-7000-8000-000000000000',
    )
    await expect(missing).rejects.toMatchObject({ code: 'no-such-session' })
  })
})
