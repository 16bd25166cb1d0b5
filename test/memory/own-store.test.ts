// A store of somebody else's in place of the folders: everything a session does with memories goes through the port.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { consolidate } from '../../src/forks/memory/consolidation/consolidate.ts'
import { call, ruleModel } from '../../src/simulator/index.ts'
import { modelId, simulated, turn } from '../e2e/simulated.ts'
import { until } from '../until.ts'
import { expectConsolidated, fill, filesOf, workspaceOver } from '../dream/other-store.ts'
import { mapStore } from './map-store.ts'
import { from, memoryText } from './memories.ts'
import { lastRequest, openWorkspace, read, write } from './workspace.ts'

const heron = memoryText('heron', {
  description: 'The heron server is deployed on fridays',
  body: 'The heron server is deployed on fridays.',
})
const quiet = { model: modelId, recallModel: 'off', notes: false, agents: false } as const

describe('a store of memories of the caller', () => {
  it('[ME68] keeps what the conversation saves, and a later session is told, recalls, reads, changes and finds it', async () => {
    const store = mapStore()
    const over = { memoryStores: [store], settings: { ...quiet, diary: true } }
    const first = await openWorkspace(() => [[write('/memories/heron.md', heron)], 'saved'], over)
    const [said] = await first.say('Remember: The heron server is deployed on fridays')
    expect(said).toMatch(/^Saved heron\.md/)
    expect(await store.read('heron.md')).toMatchObject({
      ok: true,
      memory: { standing: 'open', provenance: { kind: 'user', trust: 'user' } },
    })
    expect(JSON.stringify(first.scene.simulator.log.requests[0]!.body)).toContain('/memories (this project)')
    const second = await openWorkspace(
      () => [
        [read('/memories/heron.md')],
        [
          call('Edit', {
            file_path: '/memories/heron.md',
            old_string: 'on fridays.',
            new_string: 'on mondays.',
          }),
        ],
        [call('SearchMemory', { query: 'heron deployed' })],
        'done',
      ],
      { ...over, base: first.base },
    )
    const results = await second.say('When is the heron server deployed? It is on mondays now.')
    const begun = JSON.stringify(second.scene.simulator.log.requests[0]!.body)
    expect(begun).toContain('- [heron](heron.md) — The heron server is deployed on fridays')
    expect(lastRequest(second)).toMatch(/<memory path=\\"\/memories\/heron\.md\\"/u)
    expect(results[0]).toContain('The heron server is deployed on fridays.')
    expect(results[1]).toMatch(/^Saved heron\.md/)
    expect(results[2]).toContain('heron.md')
    expect(await store.read('heron.md')).toMatchObject({
      ok: true,
      text: expect.stringContaining('on mondays.') as string,
    })
    expect(first.events).toContainEqual(expect.objectContaining({ code: 'memory-stores' }))
    // Nothing of it lies in a folder.
    await expect(readdir(second.memories)).rejects.toThrow('ENOENT')
    await expect(readdir(join(second.home, 'memory'))).rejects.toThrow('ENOENT')
  })

  it('[ME68] what is only data is found by a search and stands in no index; with memory off nobody asks the store', async () => {
    const store = mapStore()
    await store.save(
      { file: 'page.md', text: memoryText('page', { body: 'The page says heron.' }) },
      from({ kind: 'tool', trust: 'data' }),
      { via: 'session' },
    )
    const on = await openWorkspace(() => [[call('SearchMemory', { query: 'heron page' })], 'ok'], {
      memoryStores: [store],
      settings: quiet,
    })
    const [found] = await on.say('What does the heron page say about it?')
    expect(found).toContain('page.md')
    expect(JSON.stringify(on.scene.simulator.log.requests[0]!.body)).not.toContain('page.md')
    const asked: string[] = []
    const watched = new Proxy(store, {
      get: (target, name) => (asked.push(String(name)), Reflect.get(target, name)) as unknown,
    })
    const off = await openWorkspace(() => ['ok'], {
      memoryStores: [watched],
      settings: { ...quiet, memory: false },
    })
    await off.say('What does the heron page say about it?')
    expect(asked).toEqual([])
  })

  it('[ME68] keeps what is extracted from a conversation', async () => {
    const store = mapStore()
    const rules = await simulated([], { answerer: ruleModel() })
    const at = await openWorkspace(() => [], {
      memoryStores: [store],
      settings: quiet,
      interactive: true,
      model: rules.model,
    })
    await at.say('Remember that we always deploy the heron server on fridays.')
    const kept = async () => {
      const listed = await store.list()
      return listed.ok ? listed.memories : []
    }
    await until(async () => (await kept()).length > 0, 'a memory to be extracted')
    expect((await kept())[0]).toMatchObject({ provenance: { trust: 'user' }, standing: 'open' })
    expect(at.preset.memoryJobs.list.looks().map(({ kind }) => kind)).toEqual(['extraction'])
  })

  it('[ME68] [ME78] is consolidated through the port: shown, made whole, by one at a time, and then in order', () =>
    expectConsolidated(mapStore()))

  it('[ME78] what a consolidation changed is told though its end cannot be written down', async () => {
    const store = mapStore()
    const failure = { code: 'io-error', message: 'the database is gone' } as const
    const end = () => Promise.resolve({ ok: false, failure } as const)
    const begin = () => Promise.resolve({ ok: true, begun: { end } } as const)
    const failing = { ...store, sets: { ...store.sets, begin } }
    const { preset } = await workspaceOver(failing)
    await fill(failing)
    const session = await preset.engine.open()
    const { list, options } = preset.memoryJobs
    const job = list.start('dream', session.id, Date.now())
    const how = { isDry: false, isAsked: true }
    expect(await consolidate(options, failing, session, job, how)).toMatchObject({
      kind: 'changed',
      report: ['retired old.md: new.md replaces it', 'the next one has to wait: the database is gone'],
    })
    expect(await filesOf(store)).toEqual(['new.md', 'page.md'])
    expect(job.look().state).toBe('completed')
    await session.close()
  })

  it('[ME68] [DR27] is consolidated by itself after five sessions, and says nothing of an undo it does not have', async () => {
    const store = mapStore()
    // The sessions are looked through every ten minutes at most.
    let ahead = 0
    const { preset, events } = await workspaceOver(store, { now: () => Date.now() + ahead })
    await fill(store)
    for (const words of ['one', 'two', 'three', 'four', 'five']) {
      ahead += 11 * 60 * 1000
      const session = await preset.engine.open()
      events.push(...(await turn(session.send(words))).events)
      await preset.memoryJobs.watcher?.settled()
      await session.close()
    }
    expect(await filesOf(store)).toEqual(['new.md', 'page.md'])
    const done = events.flatMap((event) =>
      event.type === 'notice' && event.code === 'consolidation-done' ? [event.message] : [],
    )
    expect(done).toEqual([expect.stringMatching(/3 read, 0 changed, 1 retired, \d+ tokens$/u) as string])
  })

  it('[ME68] without change sets is not consolidated, and whoever asks for that hears it', async () => {
    const { sets: _, ...plain } = mapStore()
    const at = await openWorkspace(() => ['ok'], {
      memoryStores: [plain],
      settings: { ...quiet, dream: true },
    })
    await at.say('hello')
    const said = at.events.flatMap((event) => (event.type === 'notice' ? [event.message] : []))
    expect(said).toContain(
      'consolidation needs a store of memories that makes change sets: with the stores given it is off',
    )
  })
})
