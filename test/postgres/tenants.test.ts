// The wall between tenants, over every function of the database: whatever one tenant names of another, it hears nothing that it would
// not hear of what does not exist, and changes nothing. The list is the database's own, so a new function is in it by itself.
import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresMemories } from '../../src/postgres/index.ts'
import { makeToken } from '../../src/postgres/tokens.ts'
import { connect } from '../../src/postgres/connection.ts'
import { tenantTables } from '../../src/postgres/schema/tables.ts'
import { noteEntry, stored } from '../../src/testing/store-steps.ts'
import { seq, sessionId } from '../../src/transcript/ids.ts'
import { fleetOn, type TestFleet } from '../fleet/fleet.ts'
import { freshDatabase, skipReason, sql, startServer, type Server, type TestDatabase } from './server.ts'

const canary = 'CANARY-4c1f'
/** Nothing is renewed while it is looked at. */
const still = { leaseMs: 3_600_000, renewMs: 3_600_000 }
const today = { from: '2020-01-01', to: '2100-01-01' }

interface Verb {
  readonly name: string
  readonly parameters: readonly { readonly name: string; readonly type: string }[]
}

describe.skipIf(skipReason !== null)('tenants', () => {
  let server: Server
  let database: TestDatabase
  let acme: TestFleet
  let verbs: readonly Verb[]
  /** What one might guess or have seen: the values of the other tenant's rows, by the name of the parameter. */
  let known: Readonly<Record<string, unknown>>
  const open: { close(): Promise<void> }[] = []
  beforeAll(async () => {
    server = await startServer()
    database = await freshDatabase(server, ['acme', 'globex'])
    acme = fleetOn(database.url, still)
    open.push(acme)
    known = await filled(acme, database)
    verbs = await verbsOf(database)
  })
  afterAll(async () => {
    for (const each of open) await each.close()
    await server.stop()
  })

  const call = async (url: string, { name, parameters }: Verb, values: Readonly<Record<string, unknown>>) => {
    const list = parameters.map(({ type }, at) => `$${at + 1}::${type}`).join(', ')
    const given = parameters.map((parameter) => {
      if (!(parameter.name in values)) throw new Error(`no value for ${parameter.name} of ${name}`)
      return values[parameter.name]
    })
    return sql(url, `select * from pal.${name}(${list}) as said`, given).catch(
      (error: Error) => error.message,
    )
  }
  /** Everything of a tenant, as the one who owns the server sees it. */
  const rowsOf = async (tenant: string): Promise<string> => {
    const all: unknown[] = []
    for (const table of tenantTables)
      all.push(
        await sql(database.adminUrl, `select t::text from pal.${table} t where tenant = $1 order by 1`, [
          tenant,
        ]),
      )
    return JSON.stringify(all)
  }

  it('[DB1] no function tells a tenant anything of another, or changes it, whatever is named and in whatever order', async () => {
    expect(verbs.length).toBeGreaterThan(35)
    const before = await rowsOf('acme')
    expect(before).toContain(canary)
    const called = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([...verbs], { minLength: 12 }), async (some) => {
        for (const verb of some) {
          called.add(verb.name)
          const said = JSON.stringify(await call(database.url, verb, { ...known, p_tenant: 'globex' }))
          expect(said, verb.name).not.toContain(canary)
        }
        expect(await rowsOf('acme')).toBe(before)
      }),
      { numRuns: 4 },
    )
    for (const verb of verbs) {
      called.add(verb.name)
      const said = JSON.stringify(await call(database.url, verb, { ...known, p_tenant: 'globex' }))
      expect(said, verb.name).not.toContain(canary)
    }
    expect(await rowsOf('acme')).toBe(before)
    expect(called.size).toBe(new Set(verbs.map(({ name }) => name)).size)
  })

  it('[DB1] what another tenant has cannot be told from what nobody has', async () => {
    const fresh = await freshDatabase(server, ['acme', 'globex'])
    const there = fleetOn(fresh.url, still)
    open.push(there)
    const values = await filled(there, fresh)
    const bare = await freshDatabase(server, ['acme', 'globex'])
    // Times are those of the moment.
    const smooth = (said: unknown): string =>
      JSON.stringify(said)
        .replaceAll(/\d{10,}(?:\.\d+)?|[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\d[^"]*/g, 'T')
        .replaceAll(/"(oldest|waitedMs|wantedFor)":"?-?\d+"?/g, '"$1":"T"')
    for (const verb of await verbsOf(fresh)) {
      const given = { ...values, p_tenant: 'globex' }
      expect(smooth(await call(fresh.url, verb, given)), verb.name).toBe(
        smooth(await call(bare.url, verb, given)),
      )
    }
  })

  it('[DB1] the role of the application reaches no row of another tenant past the functions either', async () => {
    const connection = connect({ url: database.url })
    open.push(connection)
    for (const table of tenantTables) {
      const seen = await connection.alone(async (client) => {
        await client.query("select set_config('app.tenant', 'globex', false)")
        const rows = await client.query(`select * from pal.${table} where tenant = 'acme'`)
        const written = await client
          .query(`update pal.${table} set tenant = tenant where tenant = 'acme'`)
          .then(
            ({ rowCount }) => rowCount,
            () => 0,
          )
        const removed = await client.query(`delete from pal.${table} where tenant = 'acme'`).then(
          ({ rowCount }) => rowCount,
          () => 0,
        )
        return [rows.rowCount, written, removed]
      })
      expect(seen, table).toEqual({ ok: true, value: [0, 0, 0] })
    }
  })
})

/** A row of this tenant in every table, each with the canary, and the values by which they are named. */
async function filled(
  fleet: TestFleet,
  { adminUrl }: TestDatabase,
): Promise<Readonly<Record<string, unknown>>> {
  const { store, queue, budgets, connection } = fleet
  const session = 'hers'
  await queue.send({ session, id: 'i1', kind: 'input', body: canary, team: canary, project: canary })
  await queue.send({ session, id: 'm1', kind: 'mail', body: canary })
  const claimed = await queue.claim(
    { host: canary, pid: 1 },
    600_000,
    '00000000-0000-4000-8000-000000000001',
    1,
  )
  if (!claimed.ok) throw new Error(claimed.failure.message)
  const [{ epoch, token, n }] = claimed.claimed as [(typeof claimed.claimed)[0]]
  const lease = { session: sessionId(session), epoch, token }
  store.adopt(lease, null, performance.now())
  await stored(store, lease, [noteEntry(0, canary)], 0)
  await store.putBlob(lease, 'blob', Buffer.from(canary))
  await store.putCheckpoint(lease, { version: 1, upTo: seq(0), state: { canary }, needs: [] })
  await queue.ask({ session, token }, 'q1', canary, canary)
  await queue.putCard(session, canary)
  await budgets.set({ scope: 'team', name: canary, ...today, cap: 5 })
  await budgets.reserve(lease, 'r1', 1)
  const memories = postgresMemories({ connection, tenant: 'acme', scope: 'team', place: 'site' })
  const text = `---\nname: a\ndescription: ${canary}\ntype: project\n---\n${canary}\n`
  const by = { kind: 'user', trust: 'user', session: null, message: null, from: [], at: 1 } as const
  await memories.save({ file: 'a.md', text }, by, { via: 'session' })
  await sql(
    adminUrl,
    `insert into pal.spend (tenant, session, answer, root, team, model, input, cache_read, cache_write, output, usd)
       values ('acme', $1, 0, $1, $2, 'm', 1, 0, 0, 1, 0.5)`,
    [session, canary],
  )
  await sql(adminUrl, "insert into pal.received values ('acme', $1, 'i0', 0)", [session])
  const owner = connect({ url: adminUrl })
  const made = await makeToken(owner, 'acme', canary)
  await owner.close()
  if (!made.ok) throw new Error(made.failure.message)
  const shared = createHash('sha256').update(canary).digest('hex')
  return {
    p_id: session,
    p_session: session,
    p_ids: [session],
    p_input: 'i1',
    p_token: token,
    p_tokens: [token],
    p_epoch: epoch,
    p_seen: n,
    p_question: 'q1',
    p_answer: 'allow',
    p_request: 'r1',
    p_scope: 'team',
    p_name: 'other',
    p_file: 'a.md',
    p_place: 'site',
    p_at: 1,
    p_seq: 0,
    p_from: '2020-01-01',
    p_to: '2100-01-01',
    p_lines: ['{}'],
    p_bytes: 3,
    p_again: true,
    p_about: '{}',
    p_answers: null,
    p_received: JSON.stringify([{ id: 'i1', seq: 1 }]),
    p_back: false,
    p_rows: 100,
    p_offset: 0,
    p_length: 100,
    p_sha256: shared,
    p_data: Buffer.from('x'),
    p_quota: 1000,
    p_up_to: 0,
    p_body: 'x',
    p_owner: '{}',
    p_ttl: '1 hour',
    p_most: 10,
    p_kind: 'input',
    p_trace: null,
    p_team: null,
    p_project: null,
    p_why: 'x',
    p_retry: '1 second',
    p_tool: 'x',
    p_cap: 1,
    p_usd: 1,
    p_before: 100,
    p_begun: true,
    p_only: session,
    p_unpark: true,
    p_label: 'x',
    p_standing: 'open',
    p_origin: '{}',
    p_via: 'x',
    p_expected: null,
    p_stale: '1 hour',
    p_done: true,
    p_changes: JSON.stringify([{ file: 'a.md', kind: 'removed', origin: '{}', expected: 1 }]),
  }
}

/** Every function that names a tenant; those that take rows of a table are helpers of these. */
async function verbsOf({ adminUrl }: TestDatabase): Promise<readonly Verb[]> {
  const rows = await sql(
    adminUrl,
    `select p.proname as name, p.proargnames[1:p.pronargs] as names,
        array(select format_type(t, null) from unnest(p.proargtypes) with ordinality u(t, o) order by o) as types
       from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'pal' order by 1`,
  )
  return rows
    .map(({ name, names, types }) => ({
      name: name as string,
      parameters: ((names ?? []) as string[]).map((each, at) => ({
        name: each,
        type: (types as string[])[at]!,
      })),
    }))
    .filter(({ parameters }) => parameters.some((parameter) => parameter.name === 'p_tenant'))
}
