// What keeps a fleet going. `pal fleet doctor`: whether the database is as this version needs it, and what waits too long; `pal
// fleet migrate` makes it so. Tokens, the server that asks for them, and budgets.
import { errorText } from '../../../disk/failure.ts'
import {
  makeToken,
  migrate,
  removeTokens,
  type Connection,
  type BudgetScope,
} from '../../../postgres/index.ts'
import { exits, fail, type Exit } from '../../exit-codes.ts'
import { interrupted, type Io } from '../../terminal/io.ts'
import { safeLine } from '../../terminal/safe-text.ts'
import { table, whole, dollars, wraps, right } from '../../terminal/tables.ts'
import { defaultTenant, failedWith, json, withFleet, readiness, type FleetFlags } from './open.ts'

export const fleetMigrate = (io: Io, flags: FleetFlags): Promise<Exit> =>
  withFleet(io, flags, async ({ connection, tenant }) => {
    const done = await migrate(connection, [tenant])
    if (!done.ok) return failedWith(io, done.failure)
    const { steps, number, tenants } = done
    if (flags.json === true) return json(io, { steps, number, tenants })
    for (const step of steps) io.out(`step ${step}\n`)
    io.out(`The database is ready (step ${number}). Tenants: ${tenants.join(', ')}\n`)
    if (steps.length > 0)
      io.out(
        'Give your login the role of the application: grant pal_app to LOGIN; and to a reader: grant pal_reader to LOGIN\n',
      )
    return exits.done
  })

export const fleetToken = (
  io: Io,
  label: string,
  flags: FleetFlags & { readonly remove?: boolean | undefined },
): Promise<Exit> =>
  withFleet(io, flags, async ({ connection, tenant }) => {
    if (flags.remove === true) {
      const gone = await removeTokens(connection, tenant, label)
      if (!gone.ok) return failedWith(io, gone.failure)
      if (flags.json === true) return json(io, { removed: gone.count })
      io.out(`${whole(gone.count)} removed\n`)
      return gone.count > 0 ? exits.done : exits.failed
    }
    const made = await makeToken(connection, tenant, label)
    if (!made.ok) return failedWith(io, made.failure)
    if (flags.json === true) return json(io, { tenant, label, token: made.token })
    io.out(`${made.token}\n`)
    io.err('pal: it is shown once; the database keeps only its hash\n')
    return exits.done
  })

type Check = readonly [name: string, state: 'ok' | 'warning' | 'failed', said: string]

/** A wish older than this means that there are too few workers, or none. */
const longWantedMs = 60_000

export const fleetDoctor = (io: Io, flags: FleetFlags): Promise<Exit> =>
  withFleet(io, flags, async ({ connection, queue, tenant }) => {
    const checks: Check[] = []
    const ready = await readiness(connection, tenant, 'reads')
    checks.push([
      'database',
      ready.ok ? 'ok' : 'failed',
      ready.ok ? `ready (step ${ready.number})` : ready.failure.message,
    ])
    if (ready.ok) {
      checks.push(...(await serverChecks(connection, ready.writes)))
      const found = await queue.rows()
      if (!found.ok) checks.push(['sessions', 'failed', found.failure.message])
      else {
        const { rows } = found
        const parked = rows.filter((row) => row.parked !== null).length
        const oldest = Math.max(
          0,
          ...rows.map(({ owner, wantedFor }) => (owner === null ? (wantedFor ?? 0) : 0)),
        )
        checks.push(['sessions', 'ok', `${whole(rows.length)} of tenant ${tenant}`])
        checks.push([
          'waiting',
          oldest > longWantedMs ? 'warning' : 'ok',
          oldest === 0
            ? 'no input waits'
            : `the oldest waits for ${whole(Math.round(oldest / 1000))} s; start workers: pal fleet worker`,
        ])
        checks.push([
          'parked',
          parked > 0 ? 'warning' : 'ok',
          parked === 0 ? 'none' : `${whole(parked)}; pal fleet list says why`,
        ])
      }
      checks.push(await staleReservations(connection, tenant))
    }
    const isFailed = checks.some(([, state]) => state === 'failed')
    if (flags.json === true)
      json(
        io,
        checks.map(([name, state, said]) => ({ name, state, said })),
      )
    else
      io.out(
        table(
          ['check', 'state', wraps('what')],
          checks.map((row) => [...row]),
          io.columns,
        ),
      )
    return isFailed ? exits.failed : exits.done
  })

async function serverChecks(connection: Connection, writes: boolean): Promise<readonly Check[]> {
  const found = await connection.query(
    `select current_setting('server_version') as version, current_setting('synchronous_commit') as sync,
       current_setting('data_checksums') as checksums,
       (select rolbypassrls or rolsuper from pg_roles where rolname = current_user) as passes,
       (select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'pal' and c.relkind = 'r'
          and c.relname <> 'migration' and not (c.relrowsecurity and c.relforcerowsecurity)) as open`,
    [],
  )
  if (!found.ok) return [['server', 'failed', found.failure.message]]
  const { version, sync, checksums, passes, open } = found.rows[0]!
  return [
    ['server', 'ok', `PostgreSQL ${safeLine(String(version))}`],
    [
      'durability',
      sync === 'off' ? 'failed' : 'ok',
      sync === 'off'
        ? 'synchronous_commit is off: acknowledged entries can be lost; set it to on'
        : `synchronous_commit is ${String(sync)}`,
    ],
    [
      'checksums',
      checksums === 'on' ? 'ok' : 'warning',
      checksums === 'on' ? 'on' : 'off: damage of the disk is not noticed (initdb --data-checksums)',
    ],
    roleCheck(passes === true, writes),
    [
      'wall',
      Number(open) === 0 ? 'ok' : 'failed',
      Number(open) === 0
        ? 'forced on every table'
        : `missing on ${String(open)} tables; run: pal fleet migrate`,
    ],
  ]
}

function roleCheck(passes: boolean, writes: boolean): Check {
  if (passes)
    return [
      'role',
      'warning',
      'this login passes the wall between tenants; give workers one with pal_app alone',
    ]
  const said = 'the wall between tenants holds for this login'
  return ['role', 'ok', writes ? said : `${said}; it only reads, so workers and senders need another`]
}

async function staleReservations(connection: Connection, tenant: string): Promise<Check> {
  const found = await connection.query('select pal.stale_reservations($1) as n', [tenant])
  if (!found.ok) return ['reservations', 'failed', found.failure.message]
  const n = Number(found.rows[0]!['n'])
  return [
    'reservations',
    n === 0 ? 'ok' : 'warning',
    n === 0
      ? 'none left over'
      : `${whole(n)} of sessions that nobody holds; they are freed at their next claim`,
  ]
}

export interface ListenFlags extends FleetFlags {
  readonly port?: number | undefined
  readonly listen?: string | undefined
}

export const fleetServe = (io: Io, flags: ListenFlags): Promise<Exit> =>
  // A token says whose each request is.
  withFleet(io, { tenant: defaultTenant }, async ({ connection }) => {
    const ready = await readiness(connection, null, 'writes')
    if (!ready.ok) return failedWith(io, ready.failure)
    const { startFleetServer } = await import('../../../fleet/index.ts')
    const started = await startFleetServer({
      connection,
      host: flags.listen ?? '127.0.0.1',
      port: flags.port ?? 0,
    }).then((server) => server, errorText)
    if (typeof started === 'string')
      return fail(io, exits.failed, `the server cannot listen (${started}); choose another --port`)
    io.out(`${started.url}\n`)
    io.err('pal: every request needs a token: pal fleet token LABEL. Press Ctrl-C to stop\n')
    await interrupted(io)
    await started.stop()
    return exits.done
  })

// ---- `pal fleet budget`: what may be spent, by whom, until when ----

export interface BudgetFlags extends FleetFlags {
  readonly cap?: number | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly remove?: boolean | undefined
}

const day = /^\d{4}-\d{2}-\d{2}$/u

export const fleetBudget = (
  io: Io,
  scope: BudgetScope | undefined,
  name: string | undefined,
  flags: BudgetFlags,
): Promise<Exit> =>
  withFleet(io, flags, async ({ budgets }) => {
    if (scope !== undefined && scope !== 'tenant' && (name ?? '') === '')
      return fail(
        io,
        exits.usage,
        `name the ${scope === 'tree' ? 'session' : scope}: pal fleet budget ${scope} NAME --cap DOLLARS`,
      )
    if (scope !== undefined && flags.remove === true) {
      const removed = await budgets.remove(scope, name ?? '')
      if (!removed.ok) return failedWith(io, removed.failure)
      if (!removed.isFound)
        return fail(io, exits.failed, 'there is no such budget today; pal fleet budget lists them')
    } else if (scope !== undefined) {
      if (flags.cap === undefined) return fail(io, exits.usage, 'how much: --cap DOLLARS, or --remove')
      const period = periodOf(flags)
      const wrong = [period.from, period.to].find((text) => !day.test(text) || Number.isNaN(Date.parse(text)))
      if (wrong !== undefined) return fail(io, exits.usage, `${wrong} is not a day; expected 2026-11-01`)
      const set = await budgets.set({ scope, name: name ?? '', cap: flags.cap, ...period })
      if (!set.ok) return failedWith(io, set.failure)
    }
    const found = await budgets.rows()
    if (!found.ok) return failedWith(io, found.failure)
    if (flags.json === true) return json(io, found.budgets)
    if (found.budgets.length === 0)
      io.out('No budgets: nothing is refused. Set one: pal fleet budget team NAME --cap 50\n')
    else
      io.out(
        table(
          ['scope', 'name', 'from', 'until', right('cap'), right('spent'), right('reserved')],
          found.budgets.map((row) => [
            row.scope,
            row.name,
            row.from,
            row.to,
            dollars(row.cap),
            dollars(row.spent),
            dollars(row.reserved),
          ]),
          io.columns,
        ),
      )
    return exits.done
  })

/** This month where nothing else is said. */
function periodOf({ from, to }: BudgetFlags): { readonly from: string; readonly to: string } {
  const now = new Date()
  const first = (months: number): string =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1)).toISOString().slice(0, 10)
  return { from: from ?? first(0), to: to ?? first(1) }
}
