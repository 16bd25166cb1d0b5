// What only a store in a database promises: the wall between tenants, fencing across processes, answers that were lost,
// migrations, and that nothing is left of what was removed.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, connect as connectTo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { connect, migrate, postgresStore, Queue, type PostgresStore } from '../../src/postgres/index.ts'
import { withoutSecrets } from '../../src/postgres/connection.ts'
import { makeToken, tenantOf } from '../../src/postgres/tokens.ts'
import { tenantTables } from '../../src/postgres/schema/tables.ts'
import { copySession } from '../../src/stores/copy.ts'
import { fileStore } from '../../src/stores/index.ts'
import {
  entryFrom,
  itemsOf,
  leased,
  noteEntry,
  notes,
  readEntries,
  released,
  stored,
} from '../../src/testing/store-steps.ts'
import { encode } from '../../src/transcript/codec.ts'
import { seq, sessionId } from '../../src/transcript/ids.ts'
import { until } from '../until.ts'
import {
  endLeases,
  freshDatabase,
  skipReason,
  sql,
  startServer,
  type Server,
  type TestDatabase,
} from './server.ts'

const main = sessionId('session-one')

describe.skipIf(skipReason !== null)('a store in Postgres', () => {
  let server: Server
  const open: { close(): Promise<void> }[] = []
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(async () => {
    for (const each of open) await each.close()
    await server.stop()
  })
  const storeOn = (
    { url }: Pick<TestDatabase, 'url'>,
    more: Partial<Parameters<typeof postgresStore>[0]> = {},
  ): PostgresStore => {
    const store = postgresStore({ url, tenant: 'acme', ...more })
    open.push(store)
    return store
  }

  it('[DB6] an answer is stored whatever its counts are: sums are whole numbers, the line is as it came', async () => {
    const database = await freshDatabase(server)
    const store = storeOn(database)
    const { lease } = await leased(store, main)
    const usage = { input: 12.5, cacheRead: 1e300, cacheWrite: -3, output: 7 }
    const fact = { type: 'assistant-message', content: [], messageId: 'm', stop: null, model: 'x', usage }
    const place = { v: 1, seq: 0, uuid: '00000000-0000-7000-8000-000000000000', parent: null, at: 1 }
    const entry = entryFrom(JSON.stringify({ ...place, fact }))
    await stored(store, lease, [entry], 0)
    expect(await readEntries(store.read(main))).toEqual([entry])
    const rows = await sql(database.adminUrl, 'select input, cache_read, cache_write, output from pal.spend')
    expect(rows.map((row) => Object.values(row).map(Number))).toEqual([[13, Number.MAX_SAFE_INTEGER, 0, 7]])
  })

  it('[DB1] a tenant sees, lists, leases, reads and removes nothing of another, whatever it names', async () => {
    const database = await freshDatabase(server, ['acme', 'globex'])
    const mine = storeOn(database)
    const theirs = storeOn(database, { tenant: 'globex' })
    const { lease } = await leased(mine, main)
    await stored(mine, lease, notes(0, 3), 0)
    await mine.putBlob(lease, 'blob', Buffer.from('secret'))
    await mine.putCheckpoint(lease, { version: 1, upTo: seq(1), state: {}, needs: [] })
    const listed: unknown[] = []
    for await (const info of theirs.list()) listed.push(info)
    expect(listed).toEqual([])
    expect(await itemsOf(theirs.read(main))).toMatchObject([{ kind: 'failed' }])
    expect(await itemsOf(theirs.readBack(main))).toMatchObject([{ kind: 'failed' }])
    expect(await theirs.getBlob(main, 'blob')).toMatchObject({ failure: { code: 'not-found' } })
    expect(await theirs.blobs(main)).toMatchObject({ names: [] })
    expect(await theirs.getCheckpoint(main)).toBe(null)
    expect(await theirs.remove(main)).toMatchObject({ failure: { code: 'no-such-session' } })
    expect(await theirs.append(lease, notes(4, 4), seq(4), 'now')).toMatchObject({
      why: 'fenced',
      owner: null,
    })
    expect((await theirs.putBlob(lease, 'x', Buffer.from('x'))).ok).toBe(false)
    expect((await theirs.sync(lease)).ok).toBe(false)
    await theirs.release(lease)
    // Its own session of that name is another one.
    const own = await leased(theirs, main)
    expect(own.next).toBe(null)
    await stored(mine, lease, notes(4, 4), 4)
  })

  it('[DB1] without a tenant, or with an empty one left by a rollback, the application sees no row of any table', async () => {
    const { url } = await freshDatabase(server)
    const store = storeOn({ url })
    const { lease } = await leased(store, main)
    await stored(store, lease, notes(0, 0), 0)
    const connection = connect({ url })
    open.push(connection)
    for (const table of [...tenantTables, 'tenant']) {
      const rows = await connection.alone(async (client) => {
        const before = await client.query(`select * from pal.${table}`)
        await client.query('begin')
        await client.query("select set_config('app.tenant', 'acme', true)")
        await client.query('rollback')
        const after = await client.query(`select * from pal.${table}`)
        return [...before.rows, ...after.rows] as unknown[]
      })
      expect(rows, table).toEqual({ ok: true, value: [] })
    }
    const foreign = await connection.alone(async (client) => {
      await client.query("select set_config('app.tenant', 'acme', false)")
      await client.query("insert into pal.session (tenant, id) values ('globex', 'x')")
    })
    expect(foreign).toMatchObject({ ok: false, failure: { code: 'no-access' } })
    expect(await storeOn({ url }, { tenant: 'nobody' }).lease(main)).toMatchObject({
      failure: { code: 'not-found', message: expect.stringContaining('no such tenant') as string },
    })
  })

  it('[DB1] the role that reads cannot write, and sees one tenant', async () => {
    const database = await freshDatabase(server)
    const store = storeOn(database)
    const { lease } = await leased(store, main)
    await stored(store, lease, notes(0, 1), 0)
    const reader = storeOn({ url: database.readerUrl })
    expect(await readEntries(reader.read(main))).toEqual(notes(0, 1))
    expect(await reader.lease(sessionId('other'))).toMatchObject({ failure: { code: 'no-access' } })
    expect(await reader.append(lease, notes(2, 2), seq(2), 'now')).toMatchObject({
      failure: { code: 'no-access' },
    })
  })

  it('[DB2] a writer whose lease ended and was taken is fenced in everything, and is told by whom', async () => {
    const database = await freshDatabase(server)
    const slow = storeOn(database, { leaseMs: 3_600_000, renewMs: 3_600_000 })
    const { lease: old } = await leased(slow, main)
    await stored(slow, old, notes(0, 0), 0)
    const other = storeOn(database)
    const early = await other.lease(main)
    expect(early).toMatchObject({
      why: 'taken',
      owner: {
        who: expect.stringContaining(`process ${process.pid} on `) as string,
        freeAt: expect.any(Number) as number,
      },
    })
    await endLeases(database.adminUrl)
    expect((await other.lease(main)).ok).toBe(true)
    expect(await slow.append(old, notes(1, 1), seq(1), 'now')).toMatchObject({
      why: 'fenced',
      owner: { who: expect.stringContaining(`process ${process.pid} on `) as string },
    })
    expect((await slow.putBlob(old, 'x', Buffer.from('x'))).ok).toBe(false)
    expect((await slow.putCheckpoint(old, { version: 1, upTo: seq(0), state: 1, needs: [] })).ok).toBe(false)
    expect((await slow.sync(old)).ok).toBe(false)
    expect(slow.leasedUntil(old)).toBe(null)
    expect((await readEntries(other.read(main))).length).toBe(1)
  })

  it('[DB2] a lease is renewed while it is held, and its end is judged from before the question was sent', async () => {
    const database = await freshDatabase(server)
    const leaseMs = 120_000
    const store = storeOn(database, { leaseMs, renewMs: 100 })
    const before = performance.now()
    const { lease } = await leased(store, main)
    const first = store.leasedUntil(lease)!
    expect(first).toBeLessThanOrEqual(performance.now() + leaseMs)
    expect(first).toBeGreaterThanOrEqual(before + leaseMs)
    const end = async () =>
      (await sql(database.adminUrl, 'select lease_until from pal.session'))[0]!['lease_until'] as Date
    const firstEnd = await end()
    await until(() => store.leasedUntil(lease)! > first + 500, 'a renewal')
    expect((await end()).getTime()).toBeGreaterThan(firstEnd.getTime())
    expect(await storeOn(database).lease(main)).toMatchObject({ ok: false, why: 'taken' })
    await stored(store, lease, notes(0, 0), 0)
  })

  it('[DB2] a holder whose machine slept, or whose clock was set back, does not take its lease for longer than it is', async () => {
    const database = await freshDatabase(server)
    const store = storeOn(database, { leaseMs: 60_000, renewMs: 3_600_000 })
    const { lease } = await leased(store, main)
    const left = (): number => store.leasedUntil(lease)! - performance.now()
    const now = Date.now()
    vi.useFakeTimers({ toFake: ['Date'] })
    open.push({ close: async () => void vi.useRealTimers() })
    // While a machine sleeps its steady clock stands still.
    vi.setSystemTime(now + 120_000)
    expect(left()).toBeLessThan(0)
    vi.setSystemTime(now - 86_400_000)
    expect(left()).toBeGreaterThan(0)
    expect(left()).toBeLessThanOrEqual(60_000)
    vi.useRealTimers()
  })

  it('[DB2] a token of before a restored backup is unknown: the same epoch does not help', async () => {
    const database = await freshDatabase(server)
    const store = storeOn(database)
    const { lease } = await leased(store, main)
    await stored(store, lease, notes(0, 0), 0)
    await sql(database.adminUrl, 'update pal.session set token = gen_random_uuid()')
    expect(await store.append(lease, notes(1, 1), seq(1), 'now')).toMatchObject({ why: 'fenced' })
  })

  it('[DB3] an append whose answer was lost is known by its lines; another line at that place is not', async () => {
    const database = await freshDatabase(server)
    const proxy = await droppingProxy(server.port)
    open.push(proxy)
    const url = database.url.replace(`:${server.port}/`, `:${proxy.port}/`)
    const store = storeOn({ url })
    const { lease } = await leased(store, main)
    for (let place = 0; place < 8; place++) {
      if (place % 2 === 1) proxy.dropNextAnswer()
      expect(await store.append(lease, notes(place, place), seq(place), 'now')).toEqual({ ok: true })
    }
    expect(proxy.dropped()).toBe(4)
    expect(await readEntries(store.read(main))).toEqual(notes(0, 7))
    const other = await store.append(lease, [noteEntry(7, 'another')], seq(7), 'now')
    expect(other).toEqual({ ok: false, why: 'seq-taken', next: 8 })
  })

  it('[DB3] a connection to a server that has become one that only reads is not kept: who writes now is found', async () => {
    const database = await freshDatabase(server)
    const name = database.url.split('/').at(-1)!
    const store = storeOn(database, { connections: 1, patienceMs: 0 })
    await sql(database.adminUrl, `alter database ${name} set default_transaction_read_only = on`)
    expect(await store.lease(main)).toMatchObject({
      why: 'failed',
      failure: { code: 'network', message: expect.stringContaining('only reads') as string },
    })
    await sql(server.url('postgres'), `alter database ${name} reset default_transaction_read_only`)
    expect(await store.lease(main)).toMatchObject({ ok: true })
  })

  it('[DB3] a token whose answer was lost is made once, and known', async () => {
    const { adminUrl } = await freshDatabase(server)
    const proxy = await droppingProxy(server.port, 'pal.add_token')
    const connection = connect({ url: adminUrl.replace(`:${server.port}/`, `:${proxy.port}/`) })
    open.push(connection, proxy)
    proxy.dropNextAnswer()
    const made = await makeToken(connection, 'acme', 'lab')
    expect(proxy.dropped()).toBe(1)
    expect(made.ok && (await tenantOf(connection, made.token))).toEqual({ ok: true, tenant: 'acme' })
    expect(await sql(adminUrl, 'select label from pal.access_token')).toEqual([{ label: 'lab' }])
  })

  it('[DB3] a server that is killed and comes back is waited for, and nothing acknowledged is lost', async () => {
    const database = await freshDatabase(server)
    const store = storeOn(database)
    const { lease } = await leased(store, main)
    const appends = (async () => {
      for (let place = 0; place < 60; place++) {
        const done = await store.append(lease, notes(place, place), seq(place), 'now')
        expect(done).toEqual({ ok: true })
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    })()
    await new Promise((resolve) => setTimeout(resolve, 200))
    await server.crash()
    await appends
    expect(await readEntries(store.read(main))).toEqual(notes(0, 59))
  })

  it('[DB4] migrations run again change nothing, and many at once do each step once', async () => {
    const database = await freshDatabase(server, [])
    const again = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const connection = connect({ url: database.adminUrl })
        open.push(connection)
        return migrate(connection, ['acme'])
      }),
    )
    for (const done of again) expect(done).toMatchObject({ ok: true, steps: [], tenants: ['acme'] })
    const connection = connect({ url: database.adminUrl })
    open.push(connection)
    expect(await migrate(connection, ['a b'])).toMatchObject({ failure: { code: 'bad-name' } })
    await sql(database.adminUrl, "insert into pal.migration (number, name) values (9999, 'from tomorrow')")
    expect(await migrate(connection)).toMatchObject({
      failure: { code: 'unknown-format', message: expect.stringContaining('newer version') as string },
    })
  })

  it('[DB4] a database of the first version is brought up to this one with what waits in it', async () => {
    const database = await freshDatabase(server, ['acme', 'globex'])
    const connection = connect({ url: database.url })
    open.push(connection)
    const queues = ['acme', 'globex'].map((tenant) => new Queue(connection, tenant))
    for (const queue of queues) await queue.send({ session: 's', id: '1', kind: 'input', body: 'x' })
    await queues[0]!.send({ session: 'parked', id: '1', kind: 'input', body: 'x' })
    await queues[0]!.park('parked', 'for now')
    // As the first version left it.
    await sql(database.adminUrl, 'drop table pal.due, pal.card, pal.consolidation')
    await sql(
      database.adminUrl,
      `alter table pal.wanted drop column begun; alter table pal.received drop column sum;
       alter table pal.spend drop column estimated`,
    )
    await sql(database.adminUrl, 'create index wanted_at on pal.wanted (tenant, at)')
    await sql(
      database.adminUrl,
      "create function pal.look_at(text, text, timestamptz, boolean default false) returns void language sql as ''",
    )
    await sql(database.adminUrl, 'delete from pal.migration where number > 1')
    const owner = connect({ url: database.adminUrl })
    open.push(owner)
    const done = await migrate(owner)
    if (!done.ok) throw new Error(done.failure.message)
    expect(done.steps.map((step) => step.split(' ')[0])).toEqual(['2', '3', '4', '5', '6', '7'])
    for (const queue of queues)
      expect(await queue.claim({ host: 'h', pid: 1 }, 30_000, randomUUID(), 5)).toMatchObject({
        claimed: [{ session: 's' }],
      })
    expect(await queues[0]!.unpark('parked')).toEqual({ ok: true, isFound: true })
    expect(await queues[0]!.claim({ host: 'h', pid: 1 }, 30_000, randomUUID(), 5)).toMatchObject({
      claimed: [{ session: 'parked' }],
    })
  })

  it('[DB4] every table that holds rows of tenants is walled, also for its owner', async () => {
    const { adminUrl } = await freshDatabase(server)
    const rows = await sql(
      adminUrl,
      `select relname as name, relrowsecurity as walled, relforcerowsecurity as forced from pg_class c
         join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'pal' and c.relkind = 'r' order by 1`,
    )
    const open = rows.filter(({ walled, forced }) => walled !== true || forced !== true)
    expect(open.map(({ name }) => name)).toEqual(['migration'])
    expect(rows.map(({ name }) => name)).toEqual([...tenantTables, 'migration', 'tenant'].sort())
  })

  it('[DB5] removing a session leaves no byte of it in any table; one that another process holds stays', async () => {
    const database = await freshDatabase(server)
    const store = storeOn(database)
    const { lease } = await leased(store, main)
    const word = 'zebra-7f31'
    await stored(store, lease, [noteEntry(0, word)], 0)
    await store.putBlob(lease, 'blob', Buffer.from(word))
    await store.putCheckpoint(lease, { version: 1, upTo: seq(0), state: { word }, needs: [] })
    expect(await storeOn(database).remove(main)).toMatchObject({ failure: { code: 'session-open' } })
    expect(await store.remove(main)).toEqual({ ok: true })
    for (const table of tenantTables) {
      const rows = await sql(database.adminUrl, `select t::text as row from pal.${table} t`)
      expect(rows, table).toEqual([])
    }
  })

  it('[DB6] a session goes from files to Postgres and back byte for byte, and later only what came since', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pal-copy-'))
    const files = fileStore({ root: join(folder, 'a') })
    const back = fileStore({ root: join(folder, 'b') })
    const database = storeOn(await freshDatabase(server))
    const { lease } = await leased(files, main)
    const lines = [
      '{"v":7,"seq":40,"z":"\\u0041 ä","x":[1.0,1e3],"nested":{"crc":"x","x":1,"x":2}}',
      '{ "v":1,"seq":41,"uuid":"u","parent":null,"at":1,"fact":{"type":"from-tomorrow","t":"\\u0000\\ud83d"} }',
    ]
    await stored(files, lease, lines.map(entryFrom), 40)
    await stored(
      files,
      lease,
      Array.from({ length: 450 }, (_, at) => noteEntry(42 + at, `\0\ud83d ${at}`)),
      42,
    )
    const binary = Buffer.from(Array.from({ length: 70_000 }, (_, at) => at % 256))
    const put = await files.putBlob(lease, 'toolu_1', binary)
    expect(put.ok).toBe(true)
    expect(await copySession(files, database, main)).toEqual({ ok: true, entries: 452, blobs: 1 })
    expect(await copySession(files, database, main)).toEqual({ ok: true, entries: 0, blobs: 0 })
    await stored(files, lease, [noteEntry(492, 'later')], 492)
    expect(await copySession(files, database, main)).toEqual({ ok: true, entries: 1, blobs: 0 })
    expect(await copySession(database, back, main)).toEqual({ ok: true, entries: 453, blobs: 1 })
    const first = (await readEntries(files.read(main))).map(encode)
    expect((await readEntries(database.read(main))).map(encode)).toEqual(first)
    expect((await readEntries(back.read(main))).map(encode)).toEqual(first)
    const blob = await back.getBlob(main, 'toolu_1')
    expect(blob.ok && Buffer.from(blob.bytes).equals(binary)).toBe(true)
    const other = await leased(back, sessionId('other'))
    await stored(back, other.lease, notes(0, 2), 0)
    await copySession(back, database, sessionId('other'))
    await stored(back, other.lease, notes(3, 3), 3)
    const held = await leased(database, sessionId('other'))
    await stored(database, held.lease, [noteEntry(3, 'something else')], 3)
    await database.release(held.lease)
    expect(await copySession(back, database, sessionId('other'))).toMatchObject({
      failure: { code: 'exists' },
    })
    await released(files, lease)
    await released(back, other.lease)
    await files.release(lease)
    await back.release(other.lease)
    await rm(folder, { recursive: true })
  })

  it('[DB6] any text of any line comes back as it was', async () => {
    const store = storeOn(await freshDatabase(server))
    let n = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'binary', maxLength: 200 }), { minLength: 1, maxLength: 12 }),
        async (texts) => {
          const session = sessionId(`random-${n++}`)
          const { lease } = await leased(store, session)
          const entries = texts.map((text, at) => noteEntry(at, text))
          await stored(store, lease, entries, 0)
          expect((await readEntries(store.read(session))).map(encode)).toEqual(entries.map(encode))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('[DB7] what fails is named with what to do, and no password is shown', async () => {
    const { url, adminUrl } = await freshDatabase(server)
    const wrong = async (address: string, code: string, words: RegExp): Promise<void> => {
      const store = storeOn({ url: address }, { patienceMs: 200 })
      const outcome = await store.lease(main)
      expect(outcome).toMatchObject({ ok: false, why: 'failed', failure: { code } })
      const text = JSON.stringify(outcome)
      expect(text).toMatch(words)
      expect(text).not.toContain('geheim')
    }
    await wrong('postgres://app:geheim@127.0.0.1:1/x', 'network', /cannot be reached.*PAL_DATABASE_URL/)
    await wrong(url.replace(/\/[^/]*$/, '/nowhere'), 'not-found', /does not exist/)
    await wrong(url.replace('app@', 'stranger:geheim@'), 'no-access', /refused the login/)
    const name = `bare${process.pid}`
    await sql(adminUrl, `create database ${name}`)
    await wrong(adminUrl.replace(/\/[^/]*$/, `/${name}`), 'unknown-format', /pal fleet migrate/)
    const hasty = connect({ url, answerMs: 50, patienceMs: 0 })
    open.push(hasty)
    expect(await hasty.query('select pg_sleep(2)', [])).toMatchObject({
      failure: { code: 'network', message: expect.stringContaining('did not answer in time') as string },
    })
    expect(withoutSecrets('at postgres://me:geheim@host/db failed')).toBe('at postgres://me:…@host/db failed')
  })
})

/** Passes bytes on; asked to, it lets the next statement through and cuts the connection before its answer. */
async function droppingProxy(port: number, verb = 'pal.append') {
  let armed = false
  let dropped = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connectTo(port, '127.0.0.1')
    let isDropping = false
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
    client.on('data', (bytes) => {
      if (armed && bytes.includes(verb)) {
        armed = false
        isDropping = true
      }
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (!isDropping) return void client.write(bytes)
      // The answer has come, so it was carried out.
      dropped++
      client.destroy()
      upstream.destroy()
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    dropNextAnswer: () => void (armed = true),
    dropped: () => dropped,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
