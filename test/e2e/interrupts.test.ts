// What an interrupt leaves behind is whole: mid-stream, mid-tool, in the middle of a call's arguments; and what was
// typed meanwhile is neither lost nor said twice.
import { describe, expect, it } from 'vitest'
import { createEngine, fileStore, inMemoryStore, type EngineOptions } from '../../src/index.ts'
import { call, text } from '../../src/simulator/index.ts'
import { until } from '../until.ts'
import { factsOf, folder, modelId, ofType, refusals, simulated, tool, turn, words } from './simulated.ts'

const texts = (content: readonly { readonly type: string }[]): string =>
  content.map((block) => ('text' in block ? String(block.text) : '')).join('')

describe('an interrupt', () => {
  it('[E5] mid-stream keeps what had come, and the session goes on after a resume', async () => {
    const scene = await simulated([[text(words(200)), call('look', { at: 1 })], 'welcome back'], {
      faults: [{ at: 1, fault: { kind: 'slow', delayMs: 15 } }],
    })
    const ran: unknown[] = []
    const look = tool('look', (input) => (ran.push(input), 'seen'))
    const store = fileStore({ root: await folder() })
    const options: EngineOptions = { store, modelId, model: scene.model, tools: [look] }
    const session = await createEngine(options).open()
    const abort = new AbortController()
    const watched = (async function* () {
      for await (const event of session.send('tell me', abort.signal)) {
        if (event.type === 'text-delta') abort.abort()
        yield event
      }
    })()
    expect((await turn(watched)).outcome).toBe('aborted')
    await session.close()
    const facts = await factsOf(store, session.id)
    expect(ofType(facts, 'assistant-message')[0]?.partial).toBe(true)
    expect(facts.at(-1)).toMatchObject({ type: 'turn-end', outcome: 'aborted' })
    const again = await createEngine(options).open(session.id)
    expect((await turn(again.send('go on'))).outcome).toBe('done')
    expect(ran).toEqual([])
    expect(refusals(scene)).toEqual([])
    await again.close()
  })

  it('[E5] mid-tool answers every call once, tells the tool to stop, and ends the turn', async () => {
    const scene = await simulated([[call('wait', {}), call('wait', {}), call('never', {})], 'fine'])
    const abort = new AbortController()
    let [begun, stopped] = [0, 0]
    const wait = tool('wait', async (_, signal) => {
      if (++begun === 2) setImmediate(() => abort.abort())
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      stopped++
      return 'told to stop'
    })
    const never = tool('never', () => 'ran', false)
    const store = inMemoryStore()
    const session = await createEngine({ store, modelId, model: scene.model, tools: [wait, never] }).open()
    expect((await turn(session.send('wait', abort.signal))).outcome).toBe('aborted')
    expect(stopped).toBe(2)
    const results = ofType(await factsOf(store, session.id), 'tool-result')
    expect(results.map((result) => texts(result.content))).toEqual([
      'told to stop',
      'told to stop',
      expect.stringMatching(/interrupted/) as string,
    ])
    expect((await turn(session.send('and now?'))).outcome).toBe('done')
    expect(refusals(scene)).toEqual([])
  })

  it('[E5] before the first byte leaves an ended turn and nothing else', async () => {
    const scene = await simulated(['never said', 'hello'], { faults: [{ at: 1, fault: { kind: 'hang' } }] })
    const store = inMemoryStore()
    const session = await createEngine({ store, modelId, model: scene.model }).open()
    const abort = new AbortController()
    const asked = turn(session.send('hi', abort.signal))
    await until(() => scene.simulator.log.requests.length === 1, 'the request to arrive')
    abort.abort()
    expect((await asked).outcome).toBe('aborted')
    expect(ofType(await factsOf(store, session.id), 'assistant-message')).toEqual([])
    expect((await turn(session.send('hi again'))).outcome).toBe('done')
    expect(refusals(scene)).toEqual([])
  })
})

describe('a call whose arguments were cut', () => {
  const argument = { path: words(300), code: 'x' }

  it('[E3] by a broken stream is kept as it came, answered, and never run', async () => {
    // Ended, not torn: of what a torn connection brought, the network may drop what was not read yet, and then it is asked again.
    const scene = await simulated([[call('write', argument)], 'again?'], {
      faults: [{ at: 1, fault: { kind: 'cut', afterEvents: 6, clean: true } }],
    })
    const ran: unknown[] = []
    const write = tool('write', (input) => (ran.push(input), 'written'), false)
    const store = inMemoryStore()
    const session = await createEngine({ store, modelId, model: scene.model, tools: [write] }).open()
    const first = await turn(session.send('write it'))
    expect(first.outcome).toBe('failed')
    expect(first.failure?.code).toMatch(/network|cut-short/)
    const facts = await factsOf(store, session.id)
    const [answer] = ofType(facts, 'assistant-message')
    expect(answer?.partial).toBe(true)
    expect(answer?.content.at(-1)).toMatchObject({ type: 'tool_use', input: {} })
    expect(texts(ofType(facts, 'tool-result')[0]!.content)).toMatch(/was not run/)
    expect((await turn(session.send('once more'))).outcome).toBe('done')
    expect(ran).toEqual([])
    expect(refusals(scene)).toEqual([])
  })

  it('[E3] by the output limit is answered and the model is asked again, even where the rest is valid JSON', async () => {
    const scene = await simulated([
      { content: [call('write', { path: 'a.txt' })], stop_reason: 'max_tokens' },
      [call('write', { path: 'a.txt', code: 'x' })],
      'done',
    ])
    const ran: unknown[] = []
    const write = tool('write', (input) => (ran.push(input), 'written'), false)
    const session = await createEngine({
      store: inMemoryStore(),
      modelId,
      model: scene.model,
      tools: [write],
    }).open()
    expect((await turn(session.send('write it'))).outcome).toBe('done')
    expect(ran).toEqual([{ path: 'a.txt', code: 'x' }])
    expect(refusals(scene)).toEqual([])
  })
})

describe('queued input', () => {
  it('[E6] is durable when acknowledged and delivered once, in order, at the next round', async () => {
    const scene = await simulated([[call('look', {})], 'and that?', 'all answered'])
    const store = fileStore({ root: await folder() })
    const look = tool('look', async () => {
      await session.queue('also this')
      await session.queue('and that')
      return 'seen'
    })
    const session = await createEngine({ store, modelId, model: scene.model, tools: [look] }).open()
    expect((await turn(session.send('look'))).outcome).toBe('done')
    const inputs = ofType(await factsOf(store, session.id), 'user-message')
    expect(inputs.map((input) => texts(input.content))).toEqual(['look', 'also this', 'and that'])
    expect(inputs.map((input) => input.origin)).toEqual(['typed', 'queued', 'queued'])
    expect(refusals(scene)).toEqual([])
    await session.close()
  })

  it('[E6] survives a process that ended before it could be delivered, and comes before what is said next', async () => {
    const scene = await simulated(['one', 'two'])
    const root = await folder()
    const options: EngineOptions = { store: fileStore({ root }), modelId, model: scene.model }
    const session = await createEngine(options).open()
    await turn(session.send('first'))
    await session.queue('typed while busy')
    await session.queue('and another')
    await session.close()
    const again = await createEngine({ ...options, store: fileStore({ root }) }).open(session.id)
    await turn(again.send('after the resume'))
    const inputs = ofType(await factsOf(options.store, session.id), 'user-message')
    expect(inputs.map((input) => texts(input.content))).toEqual([
      'first',
      'typed while busy',
      'and another',
      'after the resume',
    ])
    expect(refusals(scene)).toEqual([])
    await again.close()
  })

  it('[E6] while the last answer comes in is answered in the same turn', async () => {
    const scene = await simulated(['a slow answer in several words', 'to the second'], { eventDelayMs: 10 })
    const session = await createEngine({ store: inMemoryStore(), modelId, model: scene.model }).open()
    const watched = (async function* () {
      let isQueued = false
      for await (const event of session.send('one')) {
        if (event.type === 'text-delta' && !isQueued) {
          isQueued = true
          await session.queue('two')
        }
        yield event
      }
    })()
    const { events } = await turn(watched)
    expect(events.filter((event) => event.type === 'answer-end').length).toBe(2)
  })
})
