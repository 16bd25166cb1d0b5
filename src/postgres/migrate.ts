// Brings a database to the state this version works on. Safe to run at any time and by several at once: one lock and one
// transaction, in which each step is written down; roles are made only where they are missing.
import type { PoolClient } from 'pg'
import { refused, type Result } from '../disk/failure.ts'
import type { Connection } from './connection.ts'
import { functions, migrations, schemaNumber } from './schema/migrations.ts'

export interface Migrated {
  /** Steps that were carried out now. */
  readonly steps: readonly string[]
  readonly number: number
  readonly tenants: readonly string[]
}

const lockKey = 7_161_051
const roles = ['pal_owner', 'pal_app', 'pal_reader'] as const

/** Tenants that are named are made; those that are there stay. */
export async function migrate(
  connection: Connection,
  tenants: readonly string[] = [],
): Promise<Result<Migrated>> {
  const wrong = tenants.find((name) => !isTenantName(name))
  if (wrong !== undefined)
    return refused(
      'bad-name',
      `${JSON.stringify(wrong)} is no name of a tenant: letters, digits, - and _, at most 64`,
    )
  const done = await connection.alone((client) => inTransaction(client, () => carriedOut(client, tenants)))
  if (!done.ok) return done
  if (typeof done.value === 'string') return refused('unknown-format', done.value)
  return { ok: true, ...done.value }
}

export const isTenantName = (name: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(name)

async function carriedOut(client: PoolClient, tenants: readonly string[]): Promise<Migrated | string> {
  await client.query('select pg_advisory_xact_lock($1)', [lockKey])
  await client.query("set local lock_timeout = '3s'")
  for (const role of roles)
    await client.query(
      `do $$ begin create role ${role} nologin; exception when duplicate_object or unique_violation then null; end $$`,
    )
  await client.query('grant pal_owner to current_user')
  await client.query('create schema if not exists pal authorization pal_owner')
  await client.query('set local role pal_owner')
  await client.query(
    `create table if not exists pal.migration (number int primary key, name text not null,
       at timestamptz not null default clock_timestamp())`,
  )
  const { rows } = await client.query<{ number: number }>('select number from pal.migration')
  const there = new Set(rows.map(({ number }) => number))
  const newest = Math.max(0, ...there)
  if (newest > schemaNumber)
    return `this database was made by a newer version (step ${newest}, this one knows ${schemaNumber}); update palimpsest`
  const steps: string[] = []
  for (const { number, name, sql } of migrations) {
    if (there.has(number)) continue
    await client.query(sql)
    await client.query('insert into pal.migration (number, name) values ($1, $2)', [number, name])
    steps.push(`${number} ${name}`)
  }
  await client.query(functions)
  await client.query('revoke execute on all functions in schema pal from public')
  await client.query('grant execute on all functions in schema pal to pal_app, pal_reader')
  for (const tenant of tenants) {
    await client.query("select set_config('app.tenant', $1, true)", [tenant])
    await client.query('insert into pal.tenant (name) values ($1) on conflict do nothing', [tenant])
  }
  const { rows: names } = await client.query<{ name: string }>('select name from pal.tenant order by name')
  return { steps, number: schemaNumber, tenants: names.map(({ name }) => name) }
}

async function inTransaction<T>(client: PoolClient, work: () => Promise<T>): Promise<T> {
  await client.query('begin')
  try {
    const value = await work()
    await client.query('commit')
    return value
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}
