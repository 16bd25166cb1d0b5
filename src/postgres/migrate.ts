// Brings a database to the state this version works on. Safe to run at any time and by several at once: one lock and one
// transaction, in which each step is written down; roles are made only where they are missing.
import type { PoolClient } from 'pg'
import { refused, type Result } from '../disk/failure.ts'
import type { Connection } from './connection.ts'
import { budgetFunctions } from './schema/budget-functions.ts'
import { fleetFunctions, mailFunctions } from './schema/fleet-functions.ts'
import { memoryFunctions } from './schema/memory-functions.ts'
import { storeFunctions } from './schema/store-functions.ts'
import { upkeepFunctions } from './schema/upkeep-functions.ts'
import {
  begunColumns,
  cardTable,
  consolidationTable,
  dueTable,
  estimatedColumn,
  sumColumn,
  tables,
  walls,
} from './schema/tables.ts'

/** A step that was released is never changed: what is to be different is a new step. */
interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
}

const migrations: readonly Migration[] = [
  { number: 1, name: 'tables and the wall between tenants', sql: `${tables}\n${walls}` },
  { number: 2, name: 'when a wish is looked at has a table of its own', sql: dueTable },
  { number: 3, name: 'names that sessions are written to by', sql: cardTable },
  { number: 4, name: 'work that was begun goes first', sql: begunColumns },
  { number: 5, name: 'what was received has a sum', sql: sumColumn },
  { number: 6, name: 'memories of a place are put in order by one at a time', sql: consolidationTable },
  { number: 7, name: 'answers that were counted by size are marked', sql: estimatedColumn },
]

/** Functions hold no data: they are made anew at every migration, as this version has them. */
const functions = [
  storeFunctions,
  fleetFunctions,
  mailFunctions,
  upkeepFunctions,
  budgetFunctions,
  memoryFunctions,
].join('\n')

/** The newest step that this version knows. */
export const schemaNumber = migrations.at(-1)!.number

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
