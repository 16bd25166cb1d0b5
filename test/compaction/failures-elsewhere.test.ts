// Further fixtures of the compaction step as it failed elsewhere: those that need a provider, a disk or a summariser.
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { modelSummary } from '../../src/forks/summary/model-summary.ts'
import { createEngine, inMemoryStore } from '../../src/index.ts'
import { standardLayers } from '../../src/projection/layers/index.ts'
import { call, jobOf } from '../../src/simulator/index.ts'
import { said } from '../../src/testing/builders.ts'
import { machineFileSystem, standardTools } from '../../src/tools/index.ts'
import { factsOf, folder, later, modelId, ofType, refusals, simulated, turn } from '../e2e/simulated.ts'
import { reopened, smallModel, turnOf, work } from './sessions.ts'

const window = 30_000

it('[O14] E9: an overloaded provider keeps nobody from compacting: the next turn is not stuck', async () => {
  const overloaded = { kind: 'status', status: 529, type: 'overloaded_error', message: 'Overloaded' } as const
  const scene = await simulated(['on it', 'and on'], {
    models: smallModel(window),
    faults: [1, 2].map((at) => ({ at, fault: overloaded })),
  })
  const { session, store } = await reopened(turnOf('build the parser', 40), { model: scene.model, window })
  expect((await turn(session.send('go on'))).outcome).toBe('failed')
  for (const input of ['again', 'and again']) expect((await turn(session.send(input))).outcome).toBe('done')
  expect(ofType(await factsOf(store, session.id), 'boundary').length).toBe(1)
  expect(session.view().tokens).toBeLessThan(window)
  expect(refusals(scene).filter((message) => !message.includes('Overloaded'))).toEqual([])
})

it('[O18] E10: a stream cut in the middle of the summary, three times, leaves every entry and a session that goes on', async () => {
  const isSummary = ({ body }: { readonly body: unknown }): boolean => jobOf(body as never) === 'summary'
  const scene = await simulated(['on it', 'and on'], {
    models: smallModel(window),
    faults: [{ at: isSummary, fault: { kind: 'cut', afterEvents: 3 } }],
  })
  const { session, store } = await reopened(turnOf('build the parser', 40), {
    model: scene.model,
    window,
    summariser: modelSummary(),
  })
  const before = await factsOf(store, session.id)
  const ended = await turn(session.send('go on'))
  expect(ended.outcome).toBe('done')
  const facts = await factsOf(store, session.id)
  expect(JSON.stringify(facts.slice(0, before.length))).toBe(JSON.stringify(before))
  expect(ofType(facts, 'boundary')).toMatchObject([{ source: 'extractive' }])
  const body = JSON.stringify(scene.simulator.log.requests.at(-1)?.body)
  for (const wish of ['build the parser', 'go on']) expect(body).toContain(wish)
})

it('[RS18] E14: what looks like a mention of a file in a summary loads nothing', async () => {
  const root = await folder()
  await writeFile(join(root, 'secret.txt'), 'CONTENT-OF-THE-FILE')
  const standard = standardTools({
    roots: [root],
    fs: machineFileSystem,
    environment: {},
    unique: () => randomUUID(),
  })
  later(() => standard.close())
  const scene = await simulated(['on it'])
  const text = `We looked at @secret.txt and @${join(root, 'secret.txt')}. ${'Then it was done. '.repeat(20)}`
  const summariser = {
    summarise: () => Promise.resolve({ ok: true as const, text, stop: 'end_turn', hasCalls: false }),
  }
  const { session } = await reopened(turnOf('build the parser', 30), {
    model: scene.model,
    summariser,
    tools: standard.tools,
    cwd: root,
  })
  await session.compact()
  await turn(session.send('go on'))
  const body = JSON.stringify(scene.simulator.log.requests.at(-1)?.body)
  expect(body).toContain('@secret.txt')
  expect(body).not.toContain('CONTENT-OF-THE-FILE')
})

it('[RS18] E21: the call for a summary carries the headers of every other, and the heavy turn at work is in its scope', async () => {
  const scene = await simulated(['first', 'on it', 'and on'])
  const { session, store } = await reopened([said('one heavy turn'), ...work(30)], {
    model: scene.model,
    summariser: modelSummary(),
    thrift: 0.4,
  })
  await turn(session.send('hello'))
  const size = session.view().tokens
  const done = await session.compact()
  expect(done.tokensAfter).toBeLessThan(0.8 * size)
  const [boundary] = ofType(await factsOf(store, session.id), 'boundary')
  expect(boundary!.messagesSummarised).toBeGreaterThan(30)
  const { requests } = scene.simulator.log
  const own = new Set(['content-length', 'x-palimpsest-source', 'x-stainless-retry-count'])
  const namesOf = (headers: Readonly<Record<string, string>>) =>
    Object.entries(headers).filter(([name]) => !own.has(name))
  const summary = requests.find(({ body }) => jobOf(body as never) === 'summary')
  expect(namesOf(summary!.headers)).toEqual(namesOf(requests[0]!.headers))
})

it('[RS18] E22: an instruction file that the model has read is not attached beside the instructions', async () => {
  const root = await folder()
  await writeFile(join(root, 'AGENTS.md'), 'RULE-OF-THE-HOUSE: no tabs\n')
  const standard = standardTools({
    roots: [root],
    fs: machineFileSystem,
    environment: {},
    unique: () => randomUUID(),
  })
  later(() => standard.close())
  const scene = await simulated([
    [call('Read', { file_path: 'AGENTS.md' })],
    'It is long. '.repeat(6000),
    'ok',
  ])
  const session = await createEngine({
    store: inMemoryStore(),
    modelId,
    model: scene.model,
    tools: standard.tools,
    cwd: root,
    reminder: 'RULE-OF-THE-HOUSE: no tabs',
    layers: standardLayers({ budget: false, microcompact: false }),
  }).open()
  await turn(session.send('look at the rules'))
  await session.compact()
  await turn(session.send('go on'))
  const body = JSON.stringify(scene.simulator.log.requests.at(-1)?.body)
  expect(body.match(/RULE-OF-THE-HOUSE/g)?.length).toBe(1)
})
