// `pal fleet doctor`: whether the database is as this version needs it, and what waits too long. `pal fleet migrate` makes it so.
import { errorText } from '../../../disk/failure.ts'
import { makeToken, migrate, removeTokens, type Connection } from '../../../postgres/index.ts'
import { complain, exits, refuse, type Exit } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { safeLine } from '../../terminal/safe-text.ts'
import { table, whole } from '../../terminal/tables.ts'
import { defaultTenant, failedWith, json, withFleet, type FleetFlags } from './open.ts'
import { readiness } from './readiness.ts'

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
          [{ title: 'check' }, { title: 'state' }, { title: 'what', wraps: true }],
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
      return complain(
        io,
        refuse(exits.failed, `the server cannot listen (${started}); choose another --port`),
      )
    io.out(`${started.url}\n`)
    io.err('pal: every request needs a token: pal fleet token LABEL. Press Ctrl-C to stop\n')
    await new Promise<void>((resolve) => {
      const stop = io.onInterrupt(() => {
        stop()
        resolve()
      })
      process.once('SIGTERM', () => resolve())
    })
    await started.stop()
    return exits.done
  })
