// A worker as a process of its own, with a collector that listens.
import { expect, it } from 'vitest'
import { openWorkspace, server as simulator, until } from '../cli/pal.ts'
import { later, modelId } from '../e2e/simulated.ts'
import { freshDatabase, skipReason, sql, startServer } from '../postgres/server.ts'
import { collector, patient } from '../telemetry/collector.ts'
import type { Answerer } from '../../src/simulator/index.ts'

const answerer: Answerer = {
  answer: () => ({ content: [{ type: 'text', text: 'Yes.' }], stop_reason: 'end_turn' }),
}

it.skipIf(skipReason !== null)(
  '[TM15] what a worker sends adds up to what the database counted; waits, parked sessions and the oldest input are told, no session is',
  async () => {
    const postgres = await startServer()
    later(() => postgres.stop())
    const database = await freshDatabase(postgres)
    const { access } = await simulator([], { answerer })
    const heard = await collector()
    const environment = { PAL_DATABASE_URL: database.url, PAL_TENANT: 'acme', PALIMPSEST_MODEL: modelId }
    const at = await openWorkspace({ ...environment, ...access })
    const pal = (...words: string[]) => at.pal(['fleet', ...words])
    expect((await pal('send', 'set-aside', 'hello')).code).toBe(0)
    expect((await pal('park', 'set-aside')).code).toBe(0)
    for (const session of ['one', 'two', 'two']) expect((await pal('send', session, 'hello')).code).toBe(0)
    const worker = await at.start(['fleet', 'worker', '--json'], {
      environment: { ...patient, OTEL_EXPORTER_OTLP_ENDPOINT: heard.url },
    })
    expect((await pal('drain', '--seconds', '60')).code).toBe(0)
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toMatchObject({ code: 0 })
    await until(() => heard.points().length > 0, 'metrics')
    const of = (name: string) => heard.points().filter((point) => point.name === name)
    expect(of('palimpsest.store.queue.wait').map(({ count }) => count)).toEqual([2])
    expect(of('palimpsest.sessions.parked').map(({ value }) => value)).toEqual([1])
    expect(of('palimpsest.inbox.age').map(({ value }) => value)).toEqual([0])
    const [spent] = await sql(
      database.adminUrl,
      'select sum(input)::int as input, sum(cache_read)::int as read, sum(cache_write)::int as write, sum(output)::int as output from pal.spend',
    )
    const told: Record<string, number> = { input: 0, read: 0, write: 0, output: 0 }
    for (const { attributes, value } of of('palimpsest.request.tokens'))
      for (const kind of Object.keys(told)) if (Object.values(attributes).includes(kind)) told[kind]! += value
    expect(told).toEqual(spent)
    expect(heard.spans().filter(({ name }) => name.startsWith('chat ')).length).toBe(3)
    expect(JSON.stringify(heard.points())).not.toMatch(/set-aside|"two"/)
  },
)
