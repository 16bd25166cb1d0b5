// What a refusal says with numbers is known from then on, and what cannot be kept or sent costs itself and nothing else.
import { describe, expect, it } from 'vitest'
import { createEngine, inMemoryStore, type EngineOptions, type Session } from '../../src/index.ts'
import { call, type ScheduledFault } from '../../src/simulator/index.ts'
import type { Tool } from '../../src/tools/tool.ts'
import type { UserBlock } from '../../src/transcript/content.ts'
import type { Store } from '../../src/transcript/store.ts'
import { factsOf, modelId, ofType, refusals, simulated, turn, type SimulatedApi } from '../e2e/simulated.ts'
import { imageBlock, largePng, png } from '../media-bytes.ts'

const open = (api: SimulatedApi, store: Store, options: Partial<EngineOptions> = {}, id?: Session['id']) =>
  createEngine({ store, modelId, model: api.model, ...options }).open(id)

const bodyText = (body: unknown): string => JSON.stringify(body)
const imagesIn = (body: unknown): number => bodyText(body).match(/"type":"image"/g)?.length ?? 0
const lastImages = ({ simulator }: SimulatedApi): number => imagesIn(simulator.log.requests.at(-1)!.body)
const refusing = (isTooMuch: (body: unknown) => boolean, message: string, status = 400): ScheduledFault => ({
  at: ({ body }: { body: unknown }) => isTooMuch(body),
  fault: { kind: 'status', status, type: 'invalid_request_error', message },
})
const pictures = (count: number, from: number): UserBlock[] => [
  { type: 'text', text: `pictures from ${from}` },
  ...Array.from({ length: count }, (_, index) => imageBlock(png(30, 30, from + index))),
]
const answers = (count: number): string[] => Array.from({ length: count }, (_, index) => `answer ${index}`)

describe('limits that a refusal names', () => {
  it('[E38] hold for the session, after a resume too, and not for another model', async () => {
    const message = 'messages: Too much media: 0 document pages + 6 images > 4'
    const faults = [refusing((body) => imagesIn(body) > 4, message)]
    const api = await simulated(answers(12), { faults })
    const store = inMemoryStore()
    const session = await open(api, store)
    for (const from of [0, 10]) expect((await turn(session.send(pictures(3, from)))).outcome).toBe('done')
    expect(refusals(api).length).toBe(1)
    expect(ofType(await factsOf(store, session.id), 'media-learned')).toMatchObject([
      { limits: { count: 4 } },
    ])
    for (const from of [20, 30]) expect((await turn(session.send(pictures(3, from)))).outcome).toBe('done')
    await session.close()
    const again = await open(api, store, {}, session.id)
    expect((await turn(again.send(pictures(3, 40)))).outcome).toBe('done')
    expect(lastImages(api)).toBeGreaterThanOrEqual(3)
    expect(refusals(api).length).toBe(1)
    await again.setModel('claude-opus-4-6')
    for (const from of [50, 60]) expect((await turn(again.send(pictures(3, from)))).outcome).toBe('done')
    expect(refusals(api).length).toBe(2)
  })

  it('[E38] a size that is named takes all pictures above it at once, and later ones before they are sent', async () => {
    const most = 100_000
    const message = `messages.0.content.1.image.source.base64: image exceeds 100 KB maximum: 200000 bytes > ${most} bytes`
    const isTooMuch = (body: unknown): boolean => /"data":"[^"]{100001,}"/.test(bodyText(body))
    const api = await simulated(answers(4), { faults: [refusing(isTooMuch, message)] })
    const session = await open(api, inMemoryStore())
    const large = (seed: number): UserBlock => imageBlock(largePng(50, 50, 150_000, seed))
    const first = [{ type: 'text', text: 'three' } as const, large(1), imageBlock(png(30, 30)), large(2)]
    expect((await turn(session.send(first))).outcome).toBe('done')
    expect(lastImages(api)).toBe(1)
    expect((await turn(session.send([{ type: 'text', text: 'one more' }, large(3)]))).outcome).toBe('done')
    expect(refusals(api).length).toBe(1)
    expect(bodyText(api.simulator.log.requests.at(-1)!.body)).toContain('images above 73 KB are refused')
  })

  it('[E38] a size of requests that is named is kept to, words first', async () => {
    const most = 400_000
    const isTooMuch = (body: unknown): boolean => bodyText(body).length > most
    const faults = [refusing(isTooMuch, `request too large: the maximum is ${most} bytes`, 413)]
    const api = await simulated(answers(6), { faults })
    const store = inMemoryStore()
    const session = await open(api, store)
    const large = (seed: number): UserBlock => imageBlock(largePng(50, 50, 150_000, seed))
    for (const seed of [1, 2, 3, 4, 5])
      expect((await turn(session.send([{ type: 'text', text: `WORD${seed}` }, large(seed)]))).outcome).toBe(
        'done',
      )
    expect(refusals(api).length).toBe(1)
    const sent = bodyText(api.simulator.log.requests.at(-1)!.body)
    for (const seed of [1, 2, 3, 4, 5]) expect(sent).toContain(`WORD${seed}`)
    expect(ofType(await factsOf(store, session.id), 'media-learned')).toMatchObject([
      { limits: { requestBytes: most } },
    ])
  })
})

describe('media that must go', () => {
  it('[E30] go though they are pinned: the pin is released, which is said', async () => {
    const faults = [
      refusing((body) => imagesIn(body) > 1, 'messages: Too much media: 0 document pages + 2 images > 1'),
    ]
    const api = await simulated(answers(3), { faults })
    const store = inMemoryStore()
    const session = await open(api, store)
    await turn(session.send(pictures(1, 0)))
    const place = (await factsOf(store, session.id)).findIndex(({ type }) => type === 'user-message')
    const pin = await session.pin({ seq: session.view().messages.at(0)!.from, block: 1 })
    const ended = await turn(session.send(pictures(1, 10)))
    expect(ended.outcome).toBe('done')
    expect(ended.notices).toContain('hold-released')
    expect(lastImages(api)).toBe(1)
    const sent = bodyText(api.simulator.log.requests.at(-1)!.body)
    expect(sent).toContain(`Expand {\\"ref\\": \\"${place}.1\\"}`)
    expect(sent).toContain(png(30, 30, 10).toString('base64'))
    const released = ofType(await factsOf(store, session.id), 'release')
    expect(released).toMatchObject([{ target: pin.seq }])
    expect(session.view().pins).toEqual([])
  })
})

describe('what can be kept nowhere', () => {
  const shows = (content: readonly UserBlock[]): Tool => ({
    spec: { name: 'Shot', description: 'shoots', input_schema: { type: 'object', properties: {} } },
    policy: { readOnly: true, results: 'keep', maxResultChars: null },
    parse: (input) => ({ ok: true, input }),
    run: () => Promise.resolve({ content, isError: false }),
  })
  // Larger than a record as base64, and larger than the room for what is kept beside the session.
  const huge = (): UserBlock => imageBlock(largePng(60, 60, 13_000_000))

  it('[E34] as a result is an error of its call, and the turn goes on', async () => {
    const api = await simulated([[call('Shot', {}, 'shot')], 'well', 'on'])
    const store = inMemoryStore({ spillQuotaBytes: 1000 })
    const session = await open(api, store, { tools: [shows([huge()])] })
    const ended = await turn(session.send('look'))
    expect(ended.outcome).toBe('done')
    const [result] = ofType(await factsOf(store, session.id), 'tool-result')
    expect(result).toMatchObject({ call: 'shot', isError: true })
    expect(bodyText(result!.content)).toMatch(/could not be written down: .*Ask for less of it/)
    expect((await turn(session.send('and on'))).outcome).toBe('done')
    expect(refusals(api)).toEqual([])
  })

  it('[E34] as a message ends that turn with the reason, and the next one works', async () => {
    const api = await simulated(['on'])
    const session = await open(api, inMemoryStore({ spillQuotaBytes: 1000 }))
    const ended = await turn(session.send([{ type: 'text', text: 'look' }, huge()]))
    expect(ended).toMatchObject({ outcome: 'failed', failure: { code: 'too-large' } })
    expect((await turn(session.send('without it'))).outcome).toBe('done')
    expect(refusals(api)).toEqual([])
  })
})
