// Endpoints that do less than they are asked: they leave out part of a prompt, refuse a feature, or do not know an option.
import { expect, it } from 'vitest'
import { createEngine, inMemoryStore, type EngineOptions, type Session } from '../../src/index.ts'
import { call } from '../../src/simulator/index.ts'
import { modelId, refusals, simulated, tool, turn, words, type SimulatedApi } from './simulated.ts'
import { countingModel } from './counting-model.ts'

async function opened(api: SimulatedApi, options: Partial<EngineOptions> = {}): Promise<Session> {
  return createEngine({ store: inMemoryStore(), modelId, model: api.model, ...options }).open()
}

const lastBody = ({ simulator }: SimulatedApi): string => JSON.stringify(simulator.log.requests.at(-1)!.body)

it('[D19] a server that counts less than before, with no edit between, is named with both numbers and is no anchor', async () => {
  const model = countingModel([900_000, 901_000, 902_000, 275_000, 276_000])
  const session = await createEngine({ store: inMemoryStore(), modelId, model }).open()
  for (const word of ['one', 'two', 'three']) await turn(session.send(word))
  const cut = await turn(session.send('four'))
  const notice = cut.events.find((event) => event.type === 'notice' && event.code === 'left-out')
  expect(notice).toMatchObject({
    message: expect.stringMatching(/90\d,\d{3} tokens were sent.*counted 275,000/) as string,
  })
  expect(cut.notices).not.toContain('cache-break')
  expect(session.view().tokens).toBeGreaterThan(900_000)
  const again = await turn(session.send('five'))
  expect(session.view().tokens).toBeGreaterThan(900_000)
  expect(again.notices).not.toContain('left-out')
})

it('[D19] a compaction between explains a smaller count', async () => {
  const model = countingModel([90_000, 91_000, 20_000])
  const session = await createEngine({ store: inMemoryStore(), modelId, model }).open()
  for (let index = 0; index < 2; index++) await turn(session.send(words(3000, `alpha${index}`)))
  await session.compact()
  const after = await turn(session.send('on'))
  expect(after.notices).not.toContain('left-out')
  expect(session.view().tokens).toBeLessThan(30_000)
})

it('[E35] a feature that the endpoint refuses is left out from then on and said once', async () => {
  const message = 'context_management: Extra inputs are not permitted'
  const fault = { kind: 'status', status: 400, type: 'invalid_request_error', message } as const
  const asks = ({ body }: { body: unknown }): boolean => JSON.stringify(body).includes('context_management')
  const api = await simulated(['one', 'two'], { faults: [{ at: asks, fault }] })
  const store = inMemoryStore()
  const session = await opened(api, { store, nativeClearing: true, tools: [tool('look', () => 'x')] })
  const first = await turn(session.send('go'))
  expect(first.outcome).toBe('done')
  expect(first.notices.filter((code) => code === 'option-left-out').length).toBe(1)
  const id = session.id
  await session.close()
  const again = await createEngine({ store, modelId, model: api.model, nativeClearing: true }).open(id)
  const second = await turn(again.send('on'))
  expect(second.outcome).toBe('done')
  expect(second.notices).not.toContain('option-left-out')
  expect(refusals(api)).toEqual([message])
})

it('[E35] an endpoint that refuses breakpoints of the cache is asked without them, also after a resume', async () => {
  const message = 'tools.0.cache_control: Extra inputs are not permitted'
  const fault = { kind: 'status', status: 400, type: 'invalid_request_error', message } as const
  const asks = ({ body }: { body: unknown }): boolean => JSON.stringify(body).includes('cache_control')
  const api = await simulated(['one', 'two', 'three'], { faults: [{ at: asks, fault }] })
  const store = inMemoryStore()
  const session = await opened(api, { store, tools: [tool('look', () => 'x')] })
  const first = await turn(session.send('go'))
  expect(first.outcome).toBe('done')
  expect(first.notices).toEqual(['option-left-out'])
  expect((await turn(session.send('on'))).notices).toEqual([])
  const id = session.id
  await session.close()
  const again = await createEngine({ store, modelId, model: api.model }).open(id)
  const second = await turn(again.send('and on'))
  expect({ outcome: second.outcome, notices: second.notices }).toEqual({ outcome: 'done', notices: [] })
  expect(refusals(api)).toEqual([message])
})

it('[E35] an endpoint that refuses to cache for an hour is asked for five minutes, once said, also after a resume', async () => {
  const message = 'system.0.cache_control.ephemeral.ttl: Extra inputs are not permitted'
  const fault = { kind: 'status', status: 400, type: 'invalid_request_error', message } as const
  const asks = ({ body }: { body: unknown }): boolean => JSON.stringify(body).includes('"ttl":"1h"')
  const api = await simulated(['one', 'two', 'three'], { faults: [{ at: asks, fault }] })
  const store = inMemoryStore()
  const options = { store, modelId, model: api.model, cacheLifetime: '1h', system: words(3000) } as const
  const session = await createEngine(options).open()
  const first = await turn(session.send('go'))
  expect({ outcome: first.outcome, notices: first.notices }).toEqual({
    outcome: 'done',
    notices: ['option-left-out'],
  })
  expect(first.events).toContainEqual(
    expect.objectContaining({ message: expect.stringContaining('cached for five minutes from now on') }),
  )
  expect((await turn(session.send('on'))).notices).toEqual([])
  expect(lastBody(api)).toContain('"cache_control":{"type":"ephemeral"}')
  await session.close()
  const again = await createEngine(options).open(session.id)
  expect(await turn(again.send('and on'))).toMatchObject({ outcome: 'done', notices: [] })
  expect(lastBody(api)).toContain('"cache_control":{"type":"ephemeral"}')
  expect(again.view().lastUsage!.cacheRead).toBeGreaterThan(1000)
  expect(refusals(api)).toEqual([message])
})

it('[E35] one that refuses breakpoints of any lifetime is asked without them in the end', async () => {
  const message = 'cache_control is not supported'
  const fault = { kind: 'status', status: 400, type: 'invalid_request_error', message } as const
  const asks = ({ body }: { body: unknown }): boolean => JSON.stringify(body).includes('cache_control')
  const api = await simulated(['one', 'two'], { faults: [{ at: asks, fault }] })
  const session = await opened(api, { cacheLifetime: '1h' })
  expect(await turn(session.send('go'))).toMatchObject({ outcome: 'done' })
  expect(await turn(session.send('on'))).toMatchObject({ outcome: 'done', notices: [] })
  expect(refusals(api).length).toBe(2)
})

it('[E36] a switch of the model keeps only the options it knows, and says which it leaves out', async () => {
  const api = await simulated(['one', 'two', 'three'])
  const session = await opened(api, { thinking: { type: 'adaptive' }, effort: 'high' })
  expect((await turn(session.send('go'))).outcome).toBe('done')
  expect(lastBody(api)).toContain('"adaptive"')
  await session.setModel('claude-haiku-4-5')
  const ended = await turn(session.send('on'))
  expect(ended.outcome).toBe('done')
  expect(ended.notices.filter((code) => code === 'option-left-out').length).toBe(2)
  expect(lastBody(api)).not.toContain('"adaptive"')
  await session.setModel(modelId)
  expect((await turn(session.send('back'))).notices).not.toContain('option-left-out')
  expect(lastBody(api)).toContain('"adaptive"')
  expect(refusals(api)).toEqual([])
})

it('[E37] a session opened in another folder tells the model so, once for each change', async () => {
  const api = await simulated(['one', 'two', 'three', [call('look', {})], 'four'])
  const store = inMemoryStore()
  const open = (cwd: string, id?: Session['id']) =>
    createEngine({ store, modelId, model: api.model, cwd }).open(id)
  const session = await open('/proj')
  await turn(session.send('go'))
  expect(lastBody(api)).not.toContain('working folder is now')
  await session.close()
  const sub = await open('/proj/sub', session.id)
  await turn(sub.send('on'))
  await turn(sub.send('and on'))
  expect(lastBody(api).match(/The working folder is now \/proj\/sub; it was \/proj\./g)?.length).toBe(1)
  expect(refusals(api)).toEqual([])
})
