// What is typed during a compaction: durable before it is acknowledged and delivered once, whatever becomes of
// the compaction and of the process.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createEngine, fileStore } from '../../src/index.ts'
import { exited, linesOf, program, type Program } from '../faults/child.ts'
import { factsOf, folder, modelId, ofType, refusals, simulated, turn } from '../e2e/simulated.ts'
import { reopened, turnOf } from './sessions.ts'

let child: Program
beforeAll(async () => {
  child = await program('../compaction/compacting-child.ts')
})
afterAll(() => child.remove())

const input = 'TYPED-MEANWHILE'

it('[E6] a kill during the compaction: the acknowledged input is there, once, and the session as it was', async () => {
  const root = await folder()
  const store = fileStore({ root })
  const { session } = await reopened(turnOf('build the parser', 20), { store })
  const before = JSON.stringify([...session.view().messages])
  await session.close()
  const running = child.run(root, session.id, input)
  for await (const line of linesOf(running)) {
    expect(line).toBe(`queued ${input}`)
    running.kill('SIGKILL')
  }
  await exited(running)
  const scene = await simulated(['on it', 'and on'])
  const engine = createEngine({ store, modelId, model: scene.model })
  const again = await engine.open(session.id)
  expect(JSON.stringify([...again.view().messages])).toBe(before)
  expect((await turn(again.goOn())).outcome).toBe('done')
  await turn(again.send('next'))
  for (const { body } of scene.simulator.log.requests)
    expect(JSON.stringify(body).split(input).length - 1).toBe(1)
  expect(ofType(await factsOf(store, session.id), 'boundary')).toEqual([])
  expect(refusals(scene)).toEqual([])
  await again.close()
})

it.each([
  ['succeeds', { ok: true, text: 'An account of the work. '.repeat(20), stop: 'end_turn', hasCalls: false }],
  ['fails', { ok: false, why: 'no luck', isAborted: false }],
  ['is stopped', { ok: false, why: 'stopped', isAborted: true }],
] as const)(
  '[E6] a compaction that %s: several inputs come after it, once each and in order',
  async (_, answer) => {
    const scene = await simulated(['on it'])
    let resolve = (): void => undefined
    const gate = new Promise<void>((done) => (resolve = done))
    const summariser = { summarise: () => gate.then(() => answer) }
    const { session } = await reopened(turnOf('build the parser', 20), { model: scene.model, summariser })
    const compacting = session.compact().catch(() => null)
    await session.queue('FIRST-TYPED')
    await session.queue('SECOND-TYPED')
    resolve()
    await compacting
    await turn(session.goOn())
    const body = JSON.stringify(scene.simulator.log.requests.at(-1)?.body)
    for (const text of ['FIRST-TYPED', 'SECOND-TYPED']) expect(body.split(text).length - 1).toBe(1)
    expect(body.indexOf('FIRST-TYPED')).toBeLessThan(body.indexOf('SECOND-TYPED'))
    expect(refusals(scene)).toEqual([])
  },
)
