// Who must not get in, and what must not be answered: the server against other pages, other names and other clients.
import { connect } from 'node:net'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Inspection } from '../../src/inspector/inspection.ts'
import { startServer, type InspectorServer } from '../../src/inspector/server/server.ts'
import { modelTable } from '../../src/model/models.ts'
import { fileStore } from '../../src/stores/index.ts'
import { Pen } from '../../src/testing/builders.ts'
import { seq, sessionId } from '../../src/transcript/ids.ts'
import type { Fact } from '../../src/transcript/fact.ts'
import { clientOf, type Client } from './client.ts'

const id = '0199aaaa-0000-7000-8000-000000000001'
let folder: string
let server: InspectorServer
let client: Client

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pal-inspector-'))
  await writeFile(join(folder, 'secret.txt'), 'not for you')
  const store = fileStore({ root: join(folder, 'sessions') })
  const taken = await store.lease(sessionId(id))
  if (!taken.ok) throw new Error('no lease')
  const pen = new Pen()
  const facts: Fact[] = [
    { type: 'session-start', session: sessionId(id), purpose: 'main' },
    { type: 'instructions-set', sections: [], tools: [] },
    { type: 'user-message', content: [{ type: 'text', text: 'hello there' }], origin: 'typed' },
  ]
  await store.append(
    taken.lease,
    facts.map((fact) => pen.write(fact)),
    seq(0),
    'now',
  )
  await store.release(taken.lease)
  const settings = { models: modelTable(), model: 'claude-sonnet-4-6' }
  const changes = { change: () => Promise.reject(new Error('nothing may reach this')) }
  server = await startServer({
    inspection: new Inspection({ store, scope: folder, place: null, settings, changes }),
    replays: null,
    assets: new Map([['/', { type: 'text/html', bytes: Buffer.from('<!doctype html>') }]]),
    about: { version: '0', session: null },
    host: '127.0.0.1',
    port: 0,
  })
  client = clientOf(server.port, server.token)
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

const routes = [
  '/api/about',
  '/api/sessions',
  '/api/memory',
  '/api/policies',
  '/api/live',
  ...['', '/index', '/requests', '/lines?from=0&to=2', '/carried?from=0&to=2', '/find?text=hello'].map(
    (route) => `/api/s/${id}${route}`,
  ),
  ...['/request/3', '/block/2/0', '/edits', '/edit/2', '/breaks', '/agents', '/blob/x'].map(
    (route) => `/api/s/${id}${route}`,
  ),
]

describe('the server of the inspector', () => {
  it('[IN6] refuses every route without the token, with a wrong one and with a part of it', async () => {
    for (const path of routes)
      for (const authorization of [
        '',
        'Bearer ',
        'Bearer x',
        `Bearer ${client.token.slice(1)}`,
        `Basic ${client.token}`,
      ]) {
        const { status, bytes } = await client.raw({ path, withToken: false, headers: { authorization } })
        expect([path, status]).toEqual([path, 401])
        expect(JSON.parse(bytes.toString())).toEqual({ problem: 'not allowed' })
      }
    const inQuery = await client.raw({ path: `/api/about?t=${client.token}`, withToken: false })
    expect(inQuery.status).toBe(401)
  })

  it('[IN6] refuses other names for this machine, other origins and other sites, on every path, the page included', async () => {
    const port = client.port
    const wrong: Record<string, string>[] = [
      { host: 'evil.example' },
      { host: `evil.example:${port}` },
      { host: '127.0.0.1' },
      { host: `127.0.0.1:${port + 1}` },
      { host: `127.0.0.1.evil.example:${port}` },
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { origin: `https://127.0.0.1:${port}` },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]
    for (const headers of wrong)
      for (const path of ['/', ...routes]) {
        const { status } = await client.raw({ path, headers })
        expect([JSON.stringify(headers), path, status]).toEqual([JSON.stringify(headers), path, 403])
      }
  })

  it('[IN6] every answer carries the policy and nothing that lets others read it', async () => {
    for (const path of ['/', '/nothing', ...routes.filter((route) => route !== '/api/live')]) {
      const { headers } = await client.raw({ path })
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      )
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cache-control': 'no-store',
      })
      for (const name of Object.keys(headers)) expect(name).not.toMatch(/^access-control|^set-cookie/u)
    }
  })

  it('[IN6] nothing changes by a GET, by a form, or by a body that is no JSON or too large', async () => {
    const path = `/api/s/${id}/undo`
    const body = JSON.stringify({ target: 2, head: 2 })
    expect((await client.raw({ path })).status).toBe(404)
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      '',
    ])
      expect(
        (await client.raw({ path, method: 'POST', headers: { 'content-type': type }, body })).status,
      ).toBe(415)
    const json = { 'content-type': 'application/json' }
    expect((await client.raw({ path, method: 'POST', headers: json, body, withToken: false })).status).toBe(
      401,
    )
    expect((await client.raw({ path, method: 'POST', headers: json, body: '{' })).status).toBe(400)
    expect((await client.raw({ path, method: 'POST', headers: json, body: '[]' })).status).toBe(400)
    expect(
      (await client.raw({ path, method: 'POST', headers: json, body: '{"target":-1,"head":2}' })).status,
    ).toBe(400)
    const large = JSON.stringify({ target: 2, head: 2, more: 'x'.repeat(100_000) })
    expect((await client.raw({ path, method: 'POST', headers: json, body: large })).status).toBe(413)
    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'PATCH'])
      expect((await client.raw({ path, method })).status).toBe(405)
  })

  it('[IN6] no id leads out of the store', async () => {
    const names = [
      '..',
      '../..',
      '../secret.txt',
      `${id}/../..`,
      '/etc/passwd',
      '.',
      '%00',
      'a'.repeat(3000),
      '\u202e',
    ]
    for (const name of names) {
      const part = encodeURIComponent(name)
      for (const path of [
        `/api/s/${part}`,
        `/api/s/${part}/lines?from=0&to=9`,
        `/api/s/${id}/blob/${part}`,
      ]) {
        const { status, bytes } = await client.raw({ path })
        expect([path, status >= 400 && status < 500]).toEqual([path, true])
        expect(bytes.toString()).not.toContain('not for you')
      }
    }
    for (const path of [
      '/../secret.txt',
      '/%2e%2e/secret.txt',
      '//secret.txt',
      '/api/s/%ff',
      '/api/s/%/lines',
    ])
      expect((await client.raw({ path })).status).toBeGreaterThanOrEqual(400)
  })

  it('[IN6] ranges that are none are refused and huge ones are bounded', async () => {
    const lines = `/api/s/${id}/lines`
    for (const query of [
      '',
      '?from=0',
      '?from=-1&to=2',
      '?from=a&to=2',
      '?from=2&to=1',
      '?from=1e9&to=2',
      '?from=0&to=99999999999999999999',
    ])
      expect([query, (await client.raw({ path: lines + query })).status]).toEqual([query, 400])
    const all = await client.get<{ lines: unknown[] }>(`${lines}?from=0&to=999999999999`)
    expect(all.lines).toHaveLength(3)
    const chunk = await client.raw({ path: `/api/s/${id}/index?count=999999999&before=999999999` })
    expect(chunk.status).toBe(200)
  })

  it('[IN6] a client that stops in the middle of its request holds up nobody', async () => {
    const slow = Array.from({ length: 10 }, () => connect(client.port, '127.0.0.1'))
    for (const socket of slow) socket.write('GET /api/about HTTP/1.1\r\nHost: 127.0.0.1')
    expect((await client.raw({ path: '/api/about' })).status).toBe(200)
    for (const socket of slow) socket.destroy()
  })
})
