// Messages and memories of sessions that workers on different machines have: both lie in the database alone.
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { fleetMail, presetEngine, runWorker } from '../../src/fleet/index.ts'
import { postgresMemories } from '../../src/postgres/index.ts'
import { projectOf } from '../../src/preset/project.ts'
import { call, createSimulator, type Answerer } from '../../src/simulator/index.ts'
import { sessionId } from '../../src/transcript/ids.ts'
import { freshDatabase, skipReason, startServer, type Server, type TestDatabase } from '../postgres/server.ts'
import { until } from '../until.ts'
import { fleetModel, fleetOn, type TestFleet } from './fleet.ts'
import { factsOf, isIdle, said, send } from './steps.ts'

const note = '/memories/site/plan.md'
const memory = '---\nname: plan\ndescription: what comes first\ntype: project\n---\nThe boats come first.\n'

/** One writes to the other and saves a memory; the other says what it was told. */
const talking: Answerer = {
  answer({ request }) {
    const last = JSON.stringify(request.messages.at(-1))
    const say = (text: string) => ({
      content: [{ type: 'text' as const, text }],
      stop_reason: 'end_turn' as const,
    })
    if (last.includes('tool_result')) return say('Done.')
    if (last.includes('tell the other'))
      return {
        content: [
          call('SendMessage', { to: 'session:bob', message: 'Look at the boats.', summary: 'boats' }),
        ],
        stop_reason: 'tool_use',
      }
    if (last.includes('keep in mind'))
      return { content: [call('Write', { file_path: note, content: memory })], stop_reason: 'tool_use' }
    if (last.includes('Look at the boats.')) return say('I heard of the boats.')
    return say('Yes.')
  },
}

describe.skipIf(skipReason !== null)('mail and memories of a fleet', () => {
  let server: Server
  const later: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    server = await startServer()
  })
  afterEach(async () => {
    for (const end of later.splice(0).reverse()) await end()
  })
  afterAll(() => server.stop())

  /** A worker with the whole agent, as on a machine of its own: nothing of another's folders is in its. */
  const machine = async (
    database: TestDatabase,
    url: string,
  ): Promise<{ fleet: TestFleet; home: string }> => {
    const fleet = fleetOn(database.url)
    const folder = await mkdtemp(join(tmpdir(), 'pal-machine-'))
    const home = join(folder, 'home')
    for (const name of [home, join(folder, 'work')]) await mkdir(name)
    const found = await projectOf(machineFileSystem, join(folder, 'work'))
    if (!found.ok) throw new Error(found.failure.message)
    const stop = new AbortController()
    const openEngine = presetEngine({
      ...fleet,
      memories: ({ project }) => [
        postgresMemories({ ...fleet, tenant: 'acme', scope: 'team', place: project ?? 'shared' }),
      ],
      preset: {
        project: found.project,
        home,
        settings: { model: fleetModel, teammates: true, allow: ['SendMessage', 'Write'] },
        environment: { PATH: process.env['PATH'], HOME: home },
        model: { apiKey: 'test', baseUrl: url },
      },
    })
    const done = runWorker({ ...fleet, openEngine, pollMs: 20, sessions: 1 }, stop.signal)
    later.push(async () => {
      stop.abort()
      await done
      await fleet.close()
      await rm(folder, { recursive: true, force: true, maxRetries: 10 })
    })
    return { fleet, home }
  }
  const simulated = async (): Promise<string> => {
    const simulator = createSimulator({ answerer: talking })
    later.push(() => simulator.stop())
    return (await simulator.start()).url
  }

  it('[FL16] a message reaches a session that nobody worked on, once, with its id; nothing of it lies in a folder', async () => {
    const database = await freshDatabase(server)
    const url = await simulated()
    const { fleet, home } = await machine(database, url)
    const other = await machine(database, url)
    await send(fleet, 'bob', '1', 'hello')
    await until(() => isIdle(fleet, 'bob'), 'bob to be idle')
    await send(fleet, 'ann', '1', 'tell the other')
    await until(
      async () => said(await factsOf(fleet, 'bob')).includes('I heard of the boats.'),
      'bob to hear',
    )
    for (const session of ['ann', 'bob']) await until(() => isIdle(fleet, session), `${session} to be idle`)
    const mail = (await factsOf(fleet, 'bob')).filter(
      (fact) => fact.type === 'attachment' && JSON.stringify(fact.content).includes('Look at the boats.'),
    )
    expect(mail).toEqual([expect.objectContaining({ id: expect.any(String) as string })])
    for (const folder of [home, other.home])
      expect((await readdir(folder, { recursive: true })).filter((path) => /\bmail\b/.test(path))).toEqual([])
  })

  it('[FL16] one who lives is found by name, one who is gone is not; too much is refused, and what nobody can read is set aside', async () => {
    const database = await freshDatabase(server, ['acme', 'globex'])
    const fleet = fleetOn(database.url)
    later.push(() => fleet.close())
    const mail = fleetMail(fleet.queue)
    const leased = await fleet.store.lease(sessionId('ann'))
    if (!leased.ok) throw new Error('taken')
    const opened = await mail.open({ name: 'main-ann', session: 'ann' })
    if (!opened.ok) throw new Error(opened.failure.message)
    expect(await mail.living()).toEqual({ cards: [{ name: 'main-ann', session: 'ann' }], failures: [] })
    const strangers = fleetOn(database.url, { tenant: 'globex' })
    later.push(() => strangers.close())
    expect(await fleetMail(strangers.queue).living()).toEqual({ cards: [], failures: [] })
    expect(await fleetMail(strangers.queue).boxOf('ann')).toMatchObject({ failure: { code: 'not-found' } })
    const message = (id: string, text: string) =>
      ({
        id,
        from: { name: 'b', session: 'b' },
        to: 'ann',
        kind: 'message',
        summary: 's',
        text,
        at: 1,
      }) as const
    expect(await opened.box.post(message('m1', 'x'.repeat(70_000)))).toMatchObject({
      failure: { code: 'too-large' },
    })
    for (const id of ['m2', 'm3', 'm2']) expect(await opened.box.post(message(id, id))).toEqual({ ok: true })
    await fleet.queue.send({ session: 'ann', id: 'bad', kind: 'mail', body: 'not a message' })
    expect(await opened.box.waiting()).toEqual({ ok: true, count: 3 })
    const taken = await opened.box.take()
    expect(taken.messages.map(({ message: { id } }) => id)).toEqual(['m2', 'm3'])
    expect(taken.failures).toMatchObject([{ code: 'poison' }])
    expect(await opened.box.acted(['m2', 'm3'])).toEqual({ ok: true })
    expect(await opened.box.post(message('m2', 'again'))).toEqual({ ok: true })
    expect(await opened.box.waiting()).toEqual({ ok: true, count: 0 })
    await fleet.store.release(leased.lease)
    expect(await mail.living()).toEqual({ cards: [], failures: [] })
    expect((await mail.boxOf('ann')).ok).toBe(true)
    expect(await mail.boxOf('nobody')).toMatchObject({ failure: { code: 'not-found' } })
  })

  it('[FL17] what one machine remembers another recalls: memories of a worker lie in the database, by project', async () => {
    const database = await freshDatabase(server)
    const url = await simulated()
    const { fleet, home } = await machine(database, url)
    await fleet.queue.send({ session: 'ann', id: '1', kind: 'input', body: 'keep in mind', project: 'site' })
    await until(() => isIdle(fleet, 'ann'), 'ann to be idle')
    const memories = (place: string) => postgresMemories({ ...fleet, tenant: 'acme', scope: 'team', place })
    expect(await memories('site').read('plan.md')).toMatchObject({ ok: true, text: memory })
    expect(await memories('shared').list()).toMatchObject({ total: 0 })
    const found = await readdir(home, { recursive: true }).catch(() => [])
    expect(found.filter((path) => path.endsWith('plan.md'))).toEqual([])
  })
})
