// Caps, room, pins, undo, rewind and models: what is refused is refused before the call, with the numbers.
import { describe, expect, it } from 'vitest'
import { createEngine, inMemoryStore, type EngineOptions, type Session } from '../../src/index.ts'
import { call, text, thinking } from '../../src/simulator/index.ts'
import { defaults } from '../../src/settings/defaults.ts'
import type { Entry } from '../../src/transcript/fact.ts'
import type { Seq } from '../../src/transcript/ids.ts'
import { modelId, refusals, simulated, tool, turn, words, type SimulatedApi } from './simulated.ts'

async function opened(scene: SimulatedApi, options: Partial<EngineOptions> = {}): Promise<Session> {
  return createEngine({ store: inMemoryStore(), modelId, model: scene.model, ...options }).open()
}

/** The place of the nth message's first entry. */
const placeOf = (session: Session, message: number): Seq => session.view().messages.at(message)!.from

describe('caps', () => {
  it('[E7] in tokens are checked before the call, cache reads included', async () => {
    const scene = await simulated(['one', 'two', 'three'])
    const session = await opened(scene, { caps: { tokens: 2000 } })
    expect((await turn(session.send(words(600)))).outcome).toBe('done')
    const { failure } = await turn(session.send(words(600)))
    expect(failure).toMatchObject({ code: 'cap', message: expect.stringMatching(/tokens.*2,000/) as string })
    expect(scene.simulator.log.requests.length).toBe(1)
  })

  it('[E7] in money are checked before the call and name what is spent', async () => {
    const scene = await simulated(['one', 'two'])
    const session = await opened(scene, { caps: { dollars: 0.01 } })
    expect((await turn(session.send(words(1000)))).outcome).toBe('done')
    expect(session.spent().dollars).toBeGreaterThan(0)
    const { failure } = await turn(session.send(words(20_000)))
    expect(failure).toMatchObject({
      code: 'cap',
      message: expect.stringMatching(/\$0\.\d+ are spent, and the cap is \$0\.01/) as string,
    })
    expect(scene.simulator.log.requests.length).toBe(1)
  })

  it('[E7] in money are refused where no price is known', async () => {
    const scene = await simulated(['one'])
    const session = await opened(scene, { modelId: 'somebody-elses-model', caps: { dollars: 1 } })
    expect((await turn(session.send('hi'))).failure?.message).toMatch(
      /price of somebody-elses-model is not known/,
    )
  })

  it('[E7] hold for a session with all its forks', async () => {
    const scene = await simulated(['one', 'from the fork', 'two'])
    const session = await opened(scene, { caps: { tokens: 3000 } })
    await turn(session.send(words(900)))
    const before = session.spent()
    expect((await session.fork({ purpose: 'agent', directive: 'do it' })).outcome).toBe('done')
    expect(session.spent().forkTokens).toBeGreaterThan(before.input)
    const { failure } = await turn(session.send('more'))
    expect(failure?.code).toBe('cap')
    const refused = await session.fork({ purpose: 'agent', directive: 'once more' })
    expect(refused).toMatchObject({ outcome: 'failed', failure: { code: 'cap' } })
    expect(scene.simulator.log.requests.length).toBe(2)
  })
})

describe('room', () => {
  it('[L2] what does not fit is never sent; the failure carries the numbers', async () => {
    const scene = await simulated(['one'])
    const session = await opened(scene, { window: 4000, layers: [] })
    const { failure } = await turn(session.send(words(6000)))
    expect(failure?.code).toBe('overflow')
    expect(failure?.message).toMatch(/\d+,\d{3} tokens, but only 3,200 of the 4,000/)
    expect(scene.simulator.log.requests).toEqual([])
  })

  it('[L2] an overflow that only the provider knows of ends the turn with its numbers and teaches the window', async () => {
    const message = 'prompt is too long: 9000 tokens > 8000 maximum'
    const fault = { kind: 'status', status: 400, type: 'invalid_request_error', message } as const
    // Compacted and asked once more, then it is shown.
    const scene = await simulated(['one'], { faults: [{ at: (request) => request.number <= 2, fault }] })
    const session = await opened(scene, { modelId: 'somebody-elses-model', layers: [] })
    const first = await turn(session.send(words(8000)))
    expect(first.failure).toMatchObject({
      code: 'overflow',
      message: expect.stringMatching(/9000.*8000/) as string,
    })
    const second = await turn(session.send(words(8000)))
    expect(second.failure?.message).toMatch(/8,000 token window/)
    expect(scene.simulator.log.requests.length).toBe(2)
  })

  it('[U1] pins are refused above their share of the room, with the numbers', async () => {
    const scene = await simulated(['one', 'two', 'three'])
    const session = await opened(scene, { window: 10_000 })
    await turn(session.send(words(900, 'alpha')))
    await turn(session.send(words(900, 'omega')))
    const pinned = await session.pin({ seq: placeOf(session, 0) })
    await expect(session.pin({ seq: placeOf(session, 2) })).rejects.toMatchObject({
      code: 'pins-full',
      message: expect.stringMatching(
        /would take about \d,\d{3} tokens.*pins may take \d,\d{3} of the \d,\d{3}/,
      ) as string,
    })
    await session.release(pinned.seq)
    await session.pin({ seq: placeOf(session, 2) })
    expect(defaults.view.pinShare).toBe(0.2)
  })

  it('[P4] undo is refused with the numbers when the view would not fit, and works when it does', async () => {
    const scene = await simulated(['one', 'two', 'three'])
    const store = inMemoryStore()
    const options: EngineOptions = { store, modelId, model: scene.model, window: 9000 }
    const engine = createEngine({
      ...options,
      layers: [
        {
          name: 'test',
          decide: (view) =>
            view.messages.length < 3 || view.messages.at(0)!.parts[0]!.by !== null
              ? null
              : {
                  kind: 'edit',
                  edits: [
                    {
                      kind: 'summary',
                      from: view.messages.at(0)!.from,
                      to: view.messages.at(1)!.to,
                      text: 'they spoke',
                      ref: '0',
                      keep: [{ at: { seq: view.messages.at(0)!.from, block: 0 }, head: 10, tail: 10 }],
                    },
                  ],
                  why: 'a test',
                  tokensFreed: 4500,
                },
        },
      ],
    })
    const session = await engine.open()
    await turn(session.send(words(2500)))
    await turn(session.send('short'))
    const edit = (await entries(store, session)).find((entry) => entry.fact.type === 'view-edit')!
    expect((await turn(session.send(words(2500)))).outcome).toBe('done')
    await expect(session.undo(edit.seq)).rejects.toMatchObject({
      code: 'no-room',
      message: expect.stringMatching(/about \d+,\d{3} tokens, and 7,200 fit/) as string,
    })
    await session.rewind(session.view().messages.at(1)!.to)
    await session.undo(edit.seq)
    expect(session.view().messages.at(0)!.parts[0]!.by).toBe(null)
    expect(refusals(scene)).toEqual([])
  })
})

describe('rewind and models', () => {
  it('[E8] rewind forgets what came after, keeps what was paid, and the next request is accepted', async () => {
    const scene = await simulated(['one', [call('look', {})], 'two', 'three'])
    const session = await opened(scene, { tools: [tool('look', () => 'seen')] })
    await turn(session.send('first'))
    const before = session.view().messages.length
    const place = session.view().messages.last()!.to
    await turn(session.send('second'))
    const spent = session.spent()
    await session.rewind(place)
    expect(session.view().messages.length).toBe(before)
    expect(session.spent()).toEqual(spent)
    expect((await turn(session.send('another second'))).outcome).toBe('done')
    expect(refusals(scene)).toEqual([])
  })

  it('[E8] a model switch holds for the session, also after a resume and in forks', async () => {
    const scene = await simulated(['one', 'two', 'three', 'four'])
    const store = inMemoryStore()
    const options: EngineOptions = { store, modelId, model: scene.model }
    const session = await createEngine(options).open()
    await turn(session.send('first'))
    await session.setModel('claude-opus-4-6')
    await turn(session.send('second'))
    await session.fork({ purpose: 'agent', directive: 'third' })
    await session.close()
    const again = await createEngine(options).open(session.id)
    await turn(again.send('fourth'))
    expect(scene.simulator.log.requests.map((request) => request.model)).toEqual([
      modelId,
      'claude-opus-4-6',
      'claude-opus-4-6',
      'claude-opus-4-6',
    ])
    expect(refusals(scene)).toEqual([])
  })

  it('[E9] refused reasoning is left out once and for all, and the next refusal is shown', async () => {
    const invalid = (times: number, at: number) => ({
      at,
      times,
      fault: {
        kind: 'status' as const,
        status: 400,
        type: 'invalid_request_error',
        message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
      },
    })
    const scene = await simulated([[thinking('hm'), text('one')], 'two', 'three', 'four'], {
      faults: [invalid(1, 2), invalid(2, 5)],
    })
    const session = await opened(scene, { thinking: { type: 'adaptive' } })
    await turn(session.send('first'))
    const second = await turn(session.send('second'))
    expect(second.outcome).toBe('done')
    expect(second.notices).toEqual(['reasoning-dropped'])
    const hasReasoning = scene.simulator.log.requests.map((request) =>
      JSON.stringify(request.body).includes('"type":"thinking"'),
    )
    expect(hasReasoning).toEqual([false, true, false])
    expect((await turn(session.send('third'))).notices).toEqual([])
    const fourth = await turn(session.send('fourth'))
    expect(fourth.failure?.code).toBe('reasoning-invalid')
    expect(fourth.notices).toEqual(['reasoning-dropped'])
  })
})

async function entries(store: EngineOptions['store'], session: Session): Promise<Entry[]> {
  const all: Entry[] = []
  for await (const item of store.read(session.id))
    if (item.kind === 'entry' && 'fact' in item.entry) all.push(item.entry)
  return all
}
