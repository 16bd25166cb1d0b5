// The lifetime of cache marks is decided at the first request of a session, and a silent overflow is said.
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import type { LiveEvent } from '../../src/engine/live.ts'
import { scriptedMessage, scriptedModel } from '../../src/model/scripted.ts'
import { inMemoryStore } from '../../src/stores/index.ts'
import type { WireRequest } from '../../src/model/wire.ts'

const marksIn = (body: string): string[] =>
  [...body.matchAll(/"cache_control":(\{[^}]*\})/g)].map((match) => match[1]!)
async function all(events: AsyncIterable<LiveEvent>): Promise<LiveEvent[]> {
  const list: LiveEvent[] = []
  for await (const event of events) list.push(event)
  return list
}

describe('lifetimes', () => {
  it('[C11] a session keeps the lifetime of its first request, whatever is chosen when it is opened again', async () => {
    const store = inMemoryStore()
    const modelId = 'claude-sonnet-4-6'
    const first = scriptedModel([scriptedMessage('one')])
    const session = await createEngine({ store, modelId, model: first, cacheLifetime: '1h' }).open()
    await all(session.send('hello'))
    await session.close()
    const second = scriptedModel([scriptedMessage('two')])
    const again = await createEngine({ store, modelId, model: second, cacheLifetime: '5m' }).open(session.id)
    await all(again.send('and now'))
    await again.close()
    for (const { requests } of [first, second]) {
      expect(marksIn(requests[0]!.body)).toEqual(['{"type":"ephemeral","ttl":"1h"}'])
    }
  })

  it('[C11] the long lifetime is for the sources it was meant for: a fork for notes gets the short one', async () => {
    const model = scriptedModel([scriptedMessage('one'), scriptedMessage('noted')])
    const engine = createEngine({
      store: inMemoryStore(),
      modelId: 'claude-sonnet-4-6',
      model,
      cacheLifetime: '1h',
    })
    const session = await engine.open()
    await all(session.send('hello'))
    await session.fork({ purpose: 'notes', directive: 'note it', writesCache: true })
    await session.close()
    const [main, notes] = model.requests.map(({ body }) => marksIn(body)[0])
    expect([main, notes]).toEqual(['{"type":"ephemeral","ttl":"1h"}', '{"type":"ephemeral"}'])
    expect((JSON.parse(model.requests[0]!.body) as WireRequest).messages).toHaveLength(1)
  })
})

describe('silent overflow', () => {
  it('[D3] a prompt that the server cut without a word is noticed', async () => {
    const usage = { input: 900, cacheRead: 0, cacheWrite: 0, output: 5 }
    const model = scriptedModel([scriptedMessage('hm', { usage })])
    const session = await createEngine({ store: inMemoryStore(), modelId: 'a-local-model', model }).open()
    const events = await all(session.send('word '.repeat(20_000)))
    const notice = events.find((event) => event.type === 'notice' && event.code === 'silent-overflow')
    expect(notice).toMatchObject({ message: expect.stringContaining('the server counted 900') as string })
    await session.close()
  })
})
