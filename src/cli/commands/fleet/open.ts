// What every command of the fleet begins with: the address of the database, which stands in the environment alone so that it is
// in no list of processes and in no file of a project, and the tenant.
import { refused, type Failure, type Result } from '../../../disk/failure.ts'
import { connect, Budgets, Queue, type Connection } from '../../../postgres/index.ts'
import { isTenantName, schemaNumber } from '../../../postgres/migrate.ts'
import { complain, exits, fail, refuse, type Exit, type Refusal } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { safeJson } from '../../terminal/safe-text.ts'

export interface FleetFlags {
  readonly tenant?: string | undefined
  readonly json?: boolean | undefined
}

export interface OpenedFleet {
  readonly ok: true
  readonly connection: Connection
  readonly queue: Queue
  readonly budgets: Budgets
  readonly tenant: string
}

export const defaultTenant = 'default'
/** A person waits for these commands; a worker has more patience. */
const patienceMs = 3_000

export function openFleet(io: Io, flags: FleetFlags, patience = patienceMs): OpenedFleet | Refusal {
  const url = io.environment['PAL_DATABASE_URL'] ?? ''
  if (url === '')
    return refuse(
      exits.usage,
      'no database is named: set PAL_DATABASE_URL=postgres://user:password@host:port/database (docs/fleet.md)',
    )
  if (!/^postgres(?:ql)?:\/\//u.test(url))
    return refuse(exits.usage, 'PAL_DATABASE_URL must begin with postgres:// and name a database')
  const tenant = flags.tenant ?? io.environment['PAL_TENANT'] ?? defaultTenant
  if (!isTenantName(tenant))
    return refuse(
      exits.usage,
      `${JSON.stringify(tenant)} is not a tenant name: letters, digits, - and _, at most 64`,
    )
  const connection = connect({ url, patienceMs: patience })
  return {
    ok: true,
    connection,
    tenant,
    queue: new Queue(connection, tenant),
    budgets: new Budgets(connection, tenant),
  }
}

/** Opens, does it, closes. */
export async function withFleet(
  io: Io,
  flags: FleetFlags,
  work: (fleet: OpenedFleet) => Promise<Exit>,
  patience?: number,
): Promise<Exit> {
  const fleet = openFleet(io, flags, patience)
  if (!fleet.ok) return complain(io, fleet)
  try {
    return await work(fleet)
  } finally {
    await fleet.connection.close()
  }
}

export const failedWith = (io: Io, { code, message }: Failure): Exit =>
  fail(io, code === 'not-found' || code === 'no-such-session' ? exits.session : exits.failed, message)

export const json = (io: Io, value: unknown): Exit => {
  io.out(`${safeJson(value, 2)}\n`)
  return exits.done
}

// ---- what is asked of a database before anything else: that it can be reached, was prepared by this version, has the tenant, and
// that this login may do what the command needs ----

export interface Readiness {
  readonly number: number
  readonly writes: boolean
}

/** Null: whatever tenant. */
export async function readiness(
  connection: Connection,
  tenant: string | null,
  needs: 'reads' | 'writes',
): Promise<Result<Readiness>> {
  const found = await connection.query('select pal.readiness($1) as said', [tenant])
  if (!found.ok) return found
  const { number, tenant: hasTenant, writes } = found.rows[0]!['said'] as Readiness & { tenant: boolean }
  if (number > schemaNumber)
    return refused(
      'unknown-format',
      `the database is of a newer version (step ${number}, this one knows ${schemaNumber}); update pal`,
    )
  if (number < schemaNumber)
    return refused('unknown-format', 'the database is of an older version; run: pal fleet migrate')
  if (tenant !== null && !hasTenant)
    return refused(
      'not-found',
      `there is no tenant ${tenant} in this database; check PAL_TENANT, or run: pal fleet migrate --tenant ${tenant}`,
    )
  if (needs === 'writes' && !writes)
    return refused(
      'no-access',
      'this login may only read; use one that has the role of the application: grant pal_app to LOGIN',
    )
  return { ok: true, number, writes }
}
