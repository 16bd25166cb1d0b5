// The same session in files, in memory and in Postgres looks the same; the last through a role that may only read.
import { writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeChunk } from '../../src/inspector/columns.ts'
import { Inspection } from '../../src/inspector/inspection.ts'
import type { RequestChunk, SessionList } from '../../src/inspector/protocol.ts'
import { startServer as startInspector } from '../../src/inspector/server/server.ts'
import { modelTable } from '../../src/model/models.ts'
import { postgresStore } from '../../src/postgres/index.ts'
import { call } from '../../src/simulator/index.ts'
import { copySession } from '../../src/stores/copy.ts'
import { inMemoryStore } from '../../src/stores/index.ts'
import { sessionId } from '../../src/transcript/ids.ts'
import { openWorkspace, server, type Workspace } from '../cli/pal.ts'
import { freshDatabase, skipReason, startServer, type Server } from '../postgres/server.ts'
import { clientOf, inspecting, type Client } from './client.ts'
import { sessionsOf } from './opened.ts'

async function talked(): Promise<Workspace> {
  const { access } = await server([
    [call('Read', { file_path: 'notes.txt' })],
    'It says hello.',
    'It still says hello.',
  ])
  const at = await openWorkspace({ ...access, PALIMPSEST_EXTRACTION: 'off' })
  await writeFile(join(at.project, 'notes.txt'), 'hello\n'.repeat(300))
  await at.pal(['-p', 'read the notes'])
  await at.pal(['-p', '--continue', 'and now?'])
  return at
}

/** Everything the page would ask of a session, but when and how large its files are. */
async function looked(client: Pick<Client, 'get' | 'raw'>, session: string): Promise<unknown> {
  const { get, raw } = client
  const { sessions } = await get<SessionList>('/api/sessions')
  expect(sessions.map((row) => row.session)).toContain(session)
  const own = `/api/s/${session}`
  const { bytes: _, modifiedAt: __, ...head } = await get<Record<string, unknown>>(own)
  const requests = await get<RequestChunk>(`${own}/requests`)
  expect(requests.seq.length).toBe(3)
  const { bytes: ___, ...index } = decodeChunk((await raw({ path: `${own}/index` })).bytes)!
  const rest: unknown[] = []
  for (const place of requests.seq) rest.push(await get(`${own}/request/${place}`))
  for (const path of ['edits', 'breaks', 'agents', 'lines?from=0&to=400', 'block/2/0', 'find?text=hello'])
    rest.push(await get(`${own}/${path}`))
  expect(rest[2]).toMatchObject({ isExact: true })
  return { head, requests, index, rest }
}

async function mainOf({ get }: Pick<Client, 'get'>): Promise<string> {
  const { sessions } = await get<SessionList>('/api/sessions')
  return sessions.find(({ purpose }) => purpose === 'main')!.session
}

describe('the inspector over any store', () => {
  it('[IN11] a session in memory looks as it does in files', async () => {
    const at = await talked()
    const files = await inspecting(at)
    const session = await mainOf(files)
    const memory = inMemoryStore()
    const copied = await copySession(sessionsOf(at), memory, sessionId(session))
    expect(copied).toMatchObject({ ok: true })
    const inspection = new Inspection({
      store: memory,
      scope: '',
      place: null,
      settings: { models: modelTable(), model: 'claude-sonnet-5' },
    })
    const shown = { inspection, replays: null, assets: new Map(), about: { version: '0', session: null } }
    const running = await startInspector({ ...shown, host: '127.0.0.1', port: 0 })
    try {
      const inMemory = clientOf(running.port, running.token)
      expect(await looked(inMemory, session)).toEqual(await looked(files, session))
      expect((await inMemory.post(`/api/s/${session}/undo`, { target: 3, head: 3 })).status).toBe(403)
    } finally {
      await running.stop()
    }
  })

  it('[IN11] a folder that is not there is said so', async () => {
    const at = await talked()
    // Without a server, so that it ends in any case.
    const { code, out, err } = await at.pal(['inspect', '--from', 'nosuch', '--export', 'page.html'])
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain('there is no folder')
    expect(err).toContain('nosuch')
  })

  describe.skipIf(skipReason !== null)('Postgres', () => {
    let database: Server
    beforeAll(async () => {
      database = await startServer()
    })
    afterAll(() => database.stop())

    it('[IN11] a session in Postgres, through the role that reads, looks as it does in files and cannot be changed', async () => {
      const at = await talked()
      const { url, readerUrl } = await freshDatabase(database, ['default'])
      const files = await inspecting(at)
      const session = await mainOf(files)
      const { code, err } = await at.pal(['sessions', 'export', session, '--to', 'postgres'], {
        environment: { PAL_DATABASE_URL: url },
      })
      expect(err).toBe('')
      expect(code).toBe(0)
      const reading = {
        start: (words: readonly string[]) =>
          at.start(words, { environment: { PAL_DATABASE_URL: readerUrl } }),
      }
      const postgres = await inspecting(reading, ['--from', 'postgres'])
      const worker = postgresStore({ url, tenant: 'default' })
      const leased = await worker.lease(sessionId(session))
      if (!leased.ok) throw new Error('taken')
      const { sessions } = await postgres.get<SessionList>('/api/sessions')
      expect(sessions.map(({ owner }) => owner)).toContain(`process ${process.pid} on ${hostname()}`)
      await worker.release(leased.lease)
      await worker.close()
      expect(await looked(postgres, session)).toEqual(await looked(files, session))
      expect((await postgres.post(`/api/s/${session}/undo`, { target: 3, head: 3 })).status).toBe(403)
      expect(await postgres.stop()).toBe(0)
    })
  })
})
