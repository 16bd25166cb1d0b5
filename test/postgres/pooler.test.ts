// The contract through a pooler that hands each transaction to another connection: no state of a connection may be relied on.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { postgresStore, type PostgresStore } from '../../src/postgres/index.ts'
import { storeContract } from '../../src/testing/store-contract.ts'
import { until } from '../until.ts'
import { freePort } from '../free-port.ts'
import { freshDatabase, skipReason, sql, startServer, type Server } from './server.ts'

const found = spawnSync('sh', ['-c', 'PATH="$PATH:/usr/sbin" command -v pgbouncer'], {
  encoding: 'utf8',
}).stdout.trim()
const why = skipReason ?? (found === '' ? 'pgbouncer is not installed' : null)
if (why !== null) process.stderr.write(`tests through a pooler are skipped: ${why}\n`)

describe.skipIf(why !== null)('sessions in Postgres behind a pooler in transaction mode', () => {
  let server: Server
  let pooler: ChildProcess
  let folder: string
  let port: number
  const stores: PostgresStore[] = []
  beforeAll(async () => {
    server = await startServer()
    // Makes the login that is used below.
    await freshDatabase(server)
    folder = await mkdtemp(join(tmpdir(), 'pal-pooler-'))
    await chmod(folder, 0o755)
    port = await freePort()
    await writeFile(join(folder, 'users.txt'), '"app" ""\n')
    await writeFile(
      join(folder, 'pgbouncer.ini'),
      `[databases]\n* = host=127.0.0.1 port=${server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = trust\nauth_file = ${join(folder, 'users.txt')}\npool_mode = transaction\ndefault_pool_size = 3\n`,
    )
    const as = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    pooler = spawn(found, [join(folder, 'pgbouncer.ini')], { ...as, stdio: 'ignore' })
    await until(
      () =>
        sql(`postgres://app@127.0.0.1:${port}/postgres`, 'select 1').then(
          () => true,
          () => pooler.exitCode !== null,
        ),
      'the pooler',
    )
  })
  afterAll(async () => {
    for (const store of stores) await store.close()
    pooler.kill('SIGKILL')
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const make = async (): Promise<PostgresStore> => {
    const { url } = await freshDatabase(server)
    const store = postgresStore({ url: url.replace(`:${server.port}/`, `:${port}/`), tenant: 'acme' })
    stores.push(store)
    return store
  }
  for (const item of storeContract) it(`[${item.rule}] ${item.title}`, () => item.run(make))
})
