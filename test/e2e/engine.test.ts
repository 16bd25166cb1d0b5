// The engine over real HTTP against the simulator, with real files and real tools.
import Anthropic from '@anthropic-ai/sdk'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import type { LiveEvent } from '../../src/engine/live.ts'
import { anthropicModel } from '../../src/model/anthropic.ts'
import { createSimulator } from '../../src/simulator/index.ts'
import { call, scripted, text } from '../../src/simulator/answers/index.ts'
import { inMemoryStore } from '../../src/stores/index.ts'
import { machineFileSystem, standardTools } from '../../src/tools/index.ts'
import { systemClock } from '../../src/transcript/ids.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function simulated(steps: Parameters<typeof scripted>[0]) {
  const simulator = createSimulator({ answerer: scripted(steps) })
  const { url } = await simulator.start()
  cleanups.push(() => simulator.stop())
  const model = anthropicModel({ apiKey: 'test', baseUrl: url, clock: systemClock, random: Math.random })
  return { simulator, url, model }
}

async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'pal-'))
  cleanups.push(() => rm(path, { recursive: true }))
  const { tools, close } = standardTools({
    roots: [path],
    fs: machineFileSystem,
    environment: process.env,
    unique: () => randomUUID(),
  })
  cleanups.push(close)
  return { path, tools }
}

async function collect(events: AsyncIterable<LiveEvent>): Promise<LiveEvent[]> {
  const all: LiveEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

describe('the engine', () => {
  it('[N1] runs a turn with real tools over HTTP and leaves a whole transcript', async () => {
    const { path, tools } = await folder()
    await writeFile(join(path, 'greeting.txt'), 'hello\n')
    const { model, simulator } = await simulated([
      [text('reading'), call('Read', { file_path: join(path, 'greeting.txt') })],
      [call('Edit', { file_path: join(path, 'greeting.txt'), old_string: 'hello', new_string: 'good day' })],
      'done',
    ])
    const engine = createEngine({
      store: inMemoryStore(),
      model,
      modelId: 'claude-sonnet-4-6',
      tools,
      cwd: path,
      system: 'You edit files.',
    })
    const session = await engine.open()
    const events = await collect(session.send('make it polite'))
    expect(events.at(-1)).toEqual({ type: 'turn-end', outcome: 'done', failure: null })
    expect(await readFile(join(path, 'greeting.txt'), 'utf8')).toBe('good day\n')
    expect(simulator.log.requests.map((request) => request.error)).toEqual([null, null, null])
    await session.close()
  })

  it('[N1] four verbs with the official client keep the caller in charge', async () => {
    const { url } = await simulated([[call('add', { a: 1, b: 2 })], 'three'])
    const client = new Anthropic({ apiKey: 'test', baseURL: url })
    const engine = createEngine({ store: inMemoryStore(), modelId: 'claude-sonnet-4-6' })
    const session = await engine.open()
    await session.say('what is 1 + 2?')
    do {
      const request = await session.request()
      const response = await client.messages.create(request)
      await session.receive(response)
      for (const open of session.openCalls()) await session.result(open.id, '3')
    } while (session.unfinished())
    expect(session.view().messages.length).toBe(4)
    await session.close()
  })
})
