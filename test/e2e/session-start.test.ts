// SessionStart over HTTP: when it fires, what becomes of what it says, and what a failing one does.
import { describe, expect, it } from 'vitest'
import { commandHooks } from '../../src/engine/hook-commands.ts'
import type { HookAnswer, HookName, Hooks } from '../../src/engine/hooks.ts'
import { createEngine, hooks, inMemoryStore, type EngineOptions, type LiveEvent } from '../../src/index.ts'
import { standardLayers } from '../../src/projection/layers/index.ts'
import { call } from '../../src/simulator/index.ts'
import { turnOf, written } from '../compaction/sessions.ts'
import { factsOf, folder, modelId, ofType, refusals, simulated, tool, turn, words } from './simulated.ts'

const silent: HookAnswer = { context: null, block: null, failures: [] }

/** Hooks of the test's own, and the moments they were asked at. */
function watching(answer: (name: HookName, source: unknown) => Partial<HookAnswer>) {
  const moments: string[] = []
  const own: Hooks = {
    fire: (name, payload) => {
      const source = 'source' in payload ? payload.source : undefined
      if (name === 'SessionStart') moments.push(`${name} ${String(source)}`)
      if ('trigger' in payload) moments.push(`${name} ${payload.trigger}`)
      return Promise.resolve({ ...silent, ...answer(name, source) })
    },
  }
  return { hooks: own, moments }
}
const greeting = (name: HookName, source: unknown): Partial<HookAnswer> =>
  name === 'SessionStart' ? { context: `greeting at ${String(source)}` } : {}

const attachmentsOf = (facts: Awaited<ReturnType<typeof factsOf>>): string[] =>
  ofType(facts, 'attachment').map(({ content }) => JSON.stringify(content))

describe('InstructionsLoaded', () => {
  it('[G33] tells once what a new session begins with', async () => {
    const { model } = await simulated(['one', 'two'])
    const told: unknown[] = []
    const own = hooks({ InstructionsLoaded: (payload) => void told.push(payload) })
    const tools = [tool('look', () => 'seen')]
    const engine = createEngine({
      store: inMemoryStore(),
      modelId,
      model,
      hooks: own,
      tools,
      system: 'Be brief.',
    })
    const session = await engine.open()
    await turn(session.send('first'))
    await turn(session.send('second'))
    const sections = [{ name: 'system', chars: 9 }]
    expect(told).toEqual([{ session: session.id, sections, tools: ['look'], reminderChars: 0 }])
  })
})

describe('InstructionsLoaded after a compaction', () => {
  it('[G45] tells again what is read again, changed or not', async () => {
    const { model } = await simulated(['one', 'two'])
    const told: number[] = []
    const own = hooks({ InstructionsLoaded: ({ reminderChars }) => void told.push(reminderChars) })
    const texts = ['a', 'a', 'abc']
    const reminder = { load: async () => ({ text: texts.shift() ?? null, notices: [] }) }
    const engine = createEngine({ store: inMemoryStore(), modelId, model, hooks: own, reminder })
    const session = await engine.adopt(turnOf('build the parser', 12), 'test')
    await session.compact()
    await turn(session.send(`more ${words(4000)}`))
    await session.compact()
    expect(told).toEqual([1, 1, 3])
  })
})

describe('SessionStart', () => {
  it('[G28] fires once for each opening, and what it says goes along with the next input', async () => {
    const steps = [[call('look', {})], 'one', 'two', 'three', 'four']
    const scene = await simulated(steps)
    const { hooks, moments } = watching(greeting)
    const store = inMemoryStore()
    const engine = createEngine({
      store,
      modelId,
      model: scene.model,
      hooks,
      tools: [tool('look', () => 'seen')],
    })
    const session = await engine.open()
    expect(attachmentsOf(await factsOf(store, session.id))).toEqual([])
    expect(session.unfinished()).toBe(false)
    await turn(session.send('first'))
    await turn(session.send('second'))
    await session.close()
    const again = await engine.open(session.id)
    await turn(again.send('third'))
    const branch = await engine.branch(session.id)
    await turn(branch.send('fourth'))
    expect(moments).toEqual(['SessionStart startup', 'SessionStart resume', 'SessionStart fork'])
    const bodies = scene.simulator.log.requests.map(({ body }) => JSON.stringify(body))
    const counts = bodies.map((body) => body.split('greeting at').length - 1)
    expect(counts).toEqual([1, 1, 1, 2, 3])
    expect(bodies[0]).toMatch(/first.*greeting at startup/)
    expect(refusals(scene)).toEqual([])
  })

  it('[G28] one that fails is shown and ignored, to a listener or with the first turn', async () => {
    const scene = await simulated(['one', 'two'])
    const { hooks } = watching((name) =>
      name === 'SessionStart' ? { failures: ['it broke'], block: 'do not' } : {},
    )
    const options = { store: inMemoryStore(), modelId, model: scene.model, hooks }
    const session = await createEngine(options).open()
    const { outcome, notices } = await turn(session.send('hi'))
    expect({ outcome, notices }).toEqual({ outcome: 'done', notices: ['hook-failed', 'veto-ignored'] })
    expect((await turn(session.send('again'))).notices).toEqual([])
    const heard: LiveEvent[] = []
    await createEngine({ ...options, listen: (event) => heard.push(event) }).open()
    expect(heard).toMatchObject([{ code: 'hook-failed', message: 'it broke' }, { code: 'veto-ignored' }])
  })

  it('[G28] as a command says what the session is told, within the limits of a result', async () => {
    const scene = await simulated(['one'])
    const store = inMemoryStore()
    const command = `node -e 'process.stdin.on("data", (d) => console.log(JSON.parse(d).source + " " + "x".repeat(60000)))'`
    const hooks = commandHooks(
      { SessionStart: [{ command }, { command: 'exit 3' }] },
      { cwd: await folder(), environment: { PATH: process.env['PATH'] ?? '' } },
    )
    const session = await createEngine({ store, modelId, model: scene.model, hooks }).open()
    expect((await turn(session.send('hi'))).notices).toEqual(['hook-failed'])
    const [said] = attachmentsOf(await factsOf(store, session.id))
    expect(said).toMatch(/startup x+/)
    expect(said!.length).toBeLessThan(60_000)
  })
})

describe('after a compaction', () => {
  async function compacting(answer: Parameters<typeof watching>[0], options: Partial<EngineOptions> = {}) {
    const scene = await simulated(['one', 'two', 'three'])
    const past = await written(turnOf('build the parser', 30))
    const { hooks, moments } = watching(answer)
    const engine = createEngine({ ...options, store: past.store, modelId, model: scene.model, hooks })
    return { scene, moments, session: await engine.open(past.session) }
  }

  it('[G28] by hand it fires again, and the next request carries what it says', async () => {
    const { scene, moments, session } = await compacting(greeting)
    await turn(session.send('go on'))
    await session.compact()
    expect(moments).toEqual([
      'SessionStart resume',
      'PreCompact manual',
      'PostCompact manual',
      'SessionStart compact',
    ])
    await turn(session.send(words(10)))
    await turn(session.send('more'))
    const last = JSON.stringify(scene.simulator.log.last()?.body)
    expect(last.split('greeting at compact').length).toBe(2)
    expect(moments.length).toBe(4)
  })

  it('[G28] by itself too, in the very request it made room for; a veto keeps both away', async () => {
    const small = { threshold: 15_000, layers: standardLayers({ microcompact: false }) }
    const { scene, moments, session } = await compacting(greeting, small)
    expect((await turn(session.send('go on'))).outcome).toBe('done')
    expect(moments).toContain('SessionStart compact')
    expect(JSON.stringify(scene.simulator.log.requests[0]?.body)).toContain('greeting at compact')
    const vetoed = await compacting((name) => (name === 'PreCompact' ? { block: 'not now' } : {}), small)
    const ended = await turn(vetoed.session.send('go on'))
    expect(ended).toMatchObject({ outcome: 'done', notices: ['not-compacted'] })
    expect(vetoed.moments).toEqual(['SessionStart resume', 'PreCompact auto'])
  })
})
