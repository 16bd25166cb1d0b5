// Threshold and switches, from the settings through the preset to what is sent.
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createEngine, modelTable, type EngineOptions, type Store } from '../../src/index.ts'
import { standardLayers } from '../../src/projection/layers/index.ts'
import type { Settings } from '../../src/settings/schema.ts'
import { createPreset, type Preset } from '../../src/preset.ts'
import { projectOf } from '../../src/preset/project.ts'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { call } from '../../src/simulator/index.ts'
import { turnOf, written } from '../compaction/sessions.ts'
import {
  factsOf,
  folder,
  modelId,
  ofType,
  simulated,
  turn,
  words,
  type SimulatedApi,
} from '../e2e/simulated.ts'

async function presetIn(path: string, scene: SimulatedApi, settings: Settings, store?: Store) {
  const found = await projectOf(machineFileSystem, path)
  if (!found.ok) throw new Error(found.failure.message)
  const preset = createPreset({
    project: found.project,
    home: join(path, 'home'),
    settings: { model: modelId, ...settings },
    environment: {},
    model: scene.model,
    store,
  })
  open.push(preset)
  return preset
}

// Before their folders are removed.
const open: Preset[] = []
afterEach(async () => {
  for (const preset of open.splice(0)) await preset.close()
})

describe('the threshold', () => {
  /** Layers that have spoken about a session of some 60,000 tokens, when it goes on at once. */
  async function spoken(options: Partial<EngineOptions>): Promise<readonly string[]> {
    const past = await written(turnOf('build the parser', 30))
    const layers = standardLayers({ microcompact: false })
    const engine = createEngine({ modelId, window: 200_000, layers, ...options, store: past.store })
    const session = await engine.open(past.session)
    await session.say('and now?')
    await session.request()
    const rows = await session.edits()
    await session.close()
    return rows.map((row) => row.layer)
  }

  it('[G25] lowers where reductions begin, in tokens, as a part, or for one model', async () => {
    expect(await spoken({})).toEqual([])
    expect(await spoken({ threshold: 20_000 })).not.toEqual([])
    expect(await spoken({ threshold: '10%' })).not.toEqual([])
    expect(await spoken({ threshold: 500_000 })).toEqual([])
    const models = modelTable([{ id: modelId, threshold: '10%' }])
    expect(await spoken({ models })).not.toEqual([])
    expect(await spoken({ models, threshold: 150_000 })).not.toEqual([])
    expect(await spoken({ models: modelTable([{ id: 'other', threshold: '10%' }]) })).toEqual([])
  })

  it('[G25] that is none is refused with the reason', async () => {
    for (const threshold of [0, -1, Number.NaN, '0%' as const])
      await expect(spoken({ threshold })).rejects.toMatchObject({
        code: 'no-room',
        message: expect.stringMatching(/threshold/) as string,
      })
  })
})

describe('the switches', () => {
  const message = 'prompt is too long: 9000 tokens > 8000 maximum'
  const fault = { kind: 'status', status: 400, type: 'invalid_request_error', message } as const

  /** A long talk that the provider once finds too long: what was removed, and the tools that were offered. */
  async function play(settings: Settings) {
    const path = await folder()
    const steps = Array.from({ length: 8 }, () => words(900))
    const scene = await simulated(steps, { faults: [{ at: ({ number }) => number === 5, fault }] })
    const preset = await presetIn(path, scene, settings)
    const session = await preset.engine.open()
    let failure: string | undefined
    for (let count = 0; count < 5; count++) failure = (await turn(session.send(words(900)))).failure?.code
    const rows = await session.edits()
    const body = scene.simulator.log.requests[0]!.body as { tools: { name: string }[] }
    await session.close()
    await preset.close()
    return { layers: rows.map((row) => row.layer), tools: body.tools.map((one) => one.name), failure }
  }

  it('[G26] one turns all automatic removal off, the recovery from an overflow included', async () => {
    const on = await play({})
    expect(on).toMatchObject({ layers: ['autocompact'], failure: undefined })
    expect(on.tools).toContain('Snip')
    const off = await play({ automaticRemoval: false, autocompact: true, snip: true, nativeClearing: true })
    expect(off).toMatchObject({ layers: [], failure: 'overflow' })
    expect(off.tools).not.toContain('Snip')
  })

  it('[G26] each layer has its own', async () => {
    const path = await folder()
    const scene = await simulated([])
    const namesOf = async (settings: Settings) => {
      const past = await written(turnOf('build the parser', 30))
      const preset = await presetIn(path, scene, { threshold: 20_000, ...settings }, past.store)
      const session = await preset.engine.open(past.session)
      await session.say('and now?')
      await session.request()
      const rows = await session.edits()
      await session.close()
      return [...new Set(rows.map((row) => row.layer))]
    }
    expect(await namesOf({ autocompact: false })).toEqual(['microcompact'])
    expect(await namesOf({ microcompact: false })).toEqual(['autocompact'])
    expect(await namesOf({ microcompact: false, autocompact: false })).toEqual([])
    expect(await namesOf({ pressureClearing: true, thrift: 0.4 })).toEqual(['microcompact'])
  })

  it('[Z21] what may happen to the results of a tool is set in the settings', async () => {
    const path = await folder()
    const scene = await simulated([])
    const namesOf = async (toolPolicies: Settings['toolPolicies']) => {
      const past = await written(turnOf('build the parser', 30))
      const settings = { threshold: 20_000, autocompact: false, toolPolicies }
      const preset = await presetIn(path, scene, settings, past.store)
      const session = await preset.engine.open(past.session)
      await session.say('and now?')
      await session.request().catch(() => null)
      const rows = await session.edits()
      await session.close()
      return rows.map((row) => row.layer)
    }
    const keep = { results: 'keep' } as const
    expect(await namesOf({ Glob: keep })).toEqual(['microcompact'])
    expect(await namesOf({ Read: keep, Bash: keep, Edit: keep })).toEqual([])
  })

  it('[G27] a session keeps the tools it began with, and they run', async () => {
    const path = await folder()
    const scene = await simulated([
      'one',
      [call('Snip', { ids: ['nobody'], reason: 'done' })],
      'three',
      'four',
    ])
    const first = await presetIn(path, scene, {})
    const session = await first.engine.open()
    await turn(session.send('first'))
    await session.close()
    const second = await presetIn(path, scene, { snip: false }, first.store)
    const again = await second.engine.open(session.id)
    await turn(again.send('second'))
    await again.close()
    const result = ofType(await factsOf(first.store, session.id), 'tool-result')[0]
    expect(JSON.stringify(result?.content)).toMatch(/nobody/)
    expect(JSON.stringify(result?.content)).not.toMatch(/no tool/i)
    const toolsOf = (index: number) =>
      JSON.stringify((scene.simulator.log.requests[index]!.body as { tools: unknown }).tools)
    expect(toolsOf(2)).toBe(toolsOf(0))
    const third = await second.engine.open()
    await turn(third.send('third'))
    await third.close()
    expect(toolsOf(3)).not.toContain('"Snip"')
  })
})
