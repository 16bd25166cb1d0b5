// The server as a stranger would treat it who has got hold of a token, and sessions whose files change under it: no route but ours,
// no range beyond the end, no page that reads nothing, and never the index of a session that is not there any more.
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { spawn } from 'node:child_process'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Inspection } from '../../src/inspector/inspection.ts'
import type { BlockDetail, SessionHead, SessionList } from '../../src/inspector/protocol.ts'
import { Live } from '../../src/inspector/server/live.ts'
import { startServer, type InspectorServer } from '../../src/inspector/server/server.ts'
import { modelTable } from '../../src/model/models.ts'
import { fileStore } from '../../src/stores/index.ts'
import { Pen } from '../../src/testing/builders.ts'
import type { Fact } from '../../src/transcript/fact.ts'
import { seq, sessionId, systemIds } from '../../src/transcript/ids.ts'
import { openWorkspace, server as simulated, type Ended, type Running, type Workspace } from '../cli/pal.ts'
import { slugOf } from '../../src/preset/project.ts'
import { until } from '../until.ts'
import { clientOf, inspecting, type Client } from './client.ts'
import { hostileFacts } from './hostile.ts'
import { written as hostileIn } from './opened.ts'

let folder: string
let server: InspectorServer
let client: Client
let inspection: Inspection
/** What the server said on the terminal: nothing it should have. */
let told: string[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pal-attack-'))
  told = []
  const settings = { models: modelTable(), model: 'claude-sonnet-4-6' }
  const store = fileStore({ root: join(folder, 'sessions') })
  inspection = new Inspection({ store, scope: folder, place: null, settings, changes: null })
  server = await startServer({
    inspection,
    replays: null,
    assets: new Map([['/', { type: 'text/html', bytes: Buffer.from('<!doctype html>') }]]),
    about: { version: '0', session: null },
    host: '127.0.0.1',
    port: 0,
    tell: (line) => told.push(line),
  })
  client = clientOf(server.port, server.token)
})
afterEach(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

const fileOf = (session: string): string => join(folder, 'sessions', session, 'transcript.jsonl')

/** Writes a session in which these words are said. */
async function written(session: string, words: readonly string[]): Promise<string> {
  const store = fileStore({ root: join(folder, 'sessions') })
  const taken = await store.lease(sessionId(session))
  if (!taken.ok) throw new Error('no lease')
  // Two sessions have no entry in common.
  const pen = new Pen({ ids: systemIds() })
  const facts: readonly Fact[] = [
    { type: 'session-start', session: sessionId(session), purpose: 'main' },
    ...words.map((text): Fact => ({
      type: 'user-message',
      content: [{ type: 'text', text }],
      origin: 'typed',
    })),
  ]
  const entries = facts.map((fact) => pen.write(fact))
  const outcome = await store.append(taken.lease, entries, seq(0), 'now')
  if (!outcome.ok) throw new Error(outcome.why)
  await store.release(taken.lease)
  return readFile(fileOf(session), 'utf8')
}

const headOf = (session: string): Promise<SessionHead> => client.get<SessionHead>(`/api/s/${session}`)
const labelAt = async (session: string, place: number): Promise<string | null> =>
  (await client.get<BlockDetail>(`/api/s/${session}/block/${place}/0`)).label

describe('a stranger with a token', () => {
  it('[IN6] names that every object has are no routes, and nothing of them reaches the terminal', async () => {
    await written('talk', ['one'])
    const names = ['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty', 'prototype']
    const headers = { 'content-type': 'application/json' }
    const body = '{"target":1,"head":1,"policy":"constructor","at":1}'
    for (const name of names) {
      for (const path of [
        `/api/${name}`,
        `/api/s/talk/${name}`,
        `/api/s/${name}`,
        `/api/s/talk/request/${name}`,
      ])
        expect([path, (await client.raw({ path })).status]).toEqual([path, 404])
      const posted = await client.raw({ path: `/api/s/talk/${name}`, method: 'POST', headers, body })
      expect([name, posted.status]).toEqual([name, 404])
    }
    const polluted = '{"__proto__":{"target":1,"head":1},"constructor":{"prototype":{"head":1}}}'
    expect(
      (await client.raw({ path: '/api/s/talk/undo', method: 'POST', headers, body: polluted })).status,
    ).toBe(400)
    expect(told).toEqual([])
  })

  it('[IN6] what lies beyond the end is empty or not there, whatever range is asked for', async () => {
    await written('talk', ['one', 'two'])
    const far = 999_999_999_999_999
    const range = { range: `bytes=${far}-` }
    const status = async (path: string): Promise<number> =>
      (await client.raw({ path, headers: range })).status
    expect(await client.get(`/api/s/talk/lines?from=${far}&to=${far}`)).toEqual({
      lines: [],
      next: null,
      damage: [],
    })
    expect(await client.get(`/api/s/talk/carried?from=0&to=${far}`)).toMatchObject({ from: 0, to: 2 })
    expect(await client.get(`/api/s/talk/carried?from=${far}&to=${far}`)).toMatchObject({
      requests: [],
      dollars: [],
    })
    expect(await client.get(`/api/s/talk/find?text=one&before=0`)).toEqual({ hits: [], before: null })
    expect(await client.get(`/api/s/talk/requests?before=0`)).toMatchObject({ seq: [], before: null })
    for (const path of ['index?before=0', `index?before=${far}&count=0`, `lines?from=0&to=${far}`])
      expect([path, await status(`/api/s/talk/${path}`)]).toEqual([path, 200])
    for (const path of [
      `request/${far}`,
      `block/${far}/0`,
      `block/1/${far}`,
      `edit/${far}`,
      `blob/x?offset=${far}`,
    ])
      expect([path, await status(`/api/s/talk/${path}`)]).toEqual([path, 404])
    // Ranges of HTTP are not served: the whole answer comes, and says so.
    expect(await status('/')).toBe(200)
    expect(told).toEqual([])
  })

  it('[IN6] a page that reads nothing is let go; one that reads hears everything', async () => {
    const live = new Live(inspection)
    const listening = createServer((_, response) => live.open(response, null))
    await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
    const { port } = listening.address() as AddressInfo
    const heard = { bytes: 0 }
    const reading = get({ port, host: '127.0.0.1' }, (answer) =>
      answer.on('data', (piece: Buffer) => (heard.bytes += piece.length)),
    )
    const stuck = get({ port, host: '127.0.0.1' }, (answer) => answer.pause())
    for (const request of [reading, stuck]) request.on('error', () => undefined)
    await until(() => live.pages === 2, 'both pages')
    const session = 's'.repeat(8000)
    let sent = 0
    while (live.pages === 2 && sent < 200_000_000) {
      live.tell({ type: 'replaced', session })
      sent += session.length
      await turn()
    }
    expect(live.pages).toBe(1)
    await until(() => heard.bytes >= sent, 'all that was said')
    live.close()
    reading.destroy()
    stuck.destroy()
    await new Promise((resolve) => listening.close(resolve))
  })
})

describe('a session that changes under the inspector', () => {
  it('[IN21] cut, it is shown as short as it is; replaced, as the one that lies there; and pages are told', async () => {
    const whole = await written('talk', ['one', 'two', 'three', 'four'])
    await written('other', ['uno', 'due', 'tre', 'quattro', 'cinque', 'sei'])
    expect(await headOf('talk')).toMatchObject({ head: 4, title: 'one' })
    const live = await client.live('talk')
    await writeFile(fileOf('talk'), `${whole.split('\n').slice(0, 3).join('\n')}\n`)
    expect(await headOf('talk')).toMatchObject({ head: 2, title: 'one' })
    await until(() => live.events.some(({ type }) => type === 'replaced'), 'the event')
    await cp(fileOf('other'), fileOf('talk'))
    expect(await headOf('talk')).toMatchObject({ head: 6, title: 'uno' })
    expect(await labelAt('talk', 4)).toBe('quattro')
    // Back as it was: longer than what was cut, shorter than what was there.
    await writeFile(fileOf('talk'), whole)
    expect(await headOf('talk')).toMatchObject({ head: 4, title: 'one' })
    expect(await labelAt('talk', 4)).toBe('four')
    live.close()
    expect(told).toEqual([])
  })

  it('[IN21] half a line, nothing, or what is no session is said; back again it is shown again', async () => {
    const whole = await written('talk', ['one', 'two', 'three'])
    expect(await headOf('talk')).toMatchObject({ head: 3 })
    await writeFile(fileOf('talk'), whole.slice(0, -40))
    expect(await headOf('talk')).toMatchObject({
      head: 2,
      damage: expect.stringContaining('cut short') as string,
    })
    for (const broken of ['', '\0'.repeat(4000), 'no line of ours\n'.repeat(50)]) {
      await writeFile(fileOf('talk'), broken)
      // Its first line has a copy of its own.
      expect(await headOf('talk')).toMatchObject({ head: 0, title: '', damage: expect.any(String) as string })
      for (const path of ['', '/index', '/lines?from=0&to=9'])
        expect((await client.raw({ path: `/api/s/talk${path}` })).bytes.toString()).not.toContain('three')
      expect((await client.raw({ path: '/api/s/talk/block/1/0' })).status).toBe(404)
    }
    await writeFile(fileOf('talk'), whole)
    expect(await headOf('talk')).toMatchObject({ head: 3, title: 'one' })
    expect(told).toEqual([])
  })

  it('[IN21] deleted, or with the whole store gone, nothing is shown of it and nobody falls', async () => {
    await written('talk', ['one'])
    await written('other', ['uno'])
    const live = await client.live(null)
    await headOf('talk')
    await rm(join(folder, 'sessions', 'talk'), { recursive: true })
    expect((await client.raw({ path: '/api/s/talk' })).status).toBe(404)
    expect((await client.raw({ path: '/api/s/talk/index' })).status).toBe(404)
    // A folder where the file should be.
    await mkdir(fileOf('talk'), { recursive: true })
    const { sessions } = await client.get<SessionList>('/api/sessions')
    expect(sessions.map(({ session }) => session)).toContain('other')
    await rename(join(folder, 'sessions'), join(folder, 'away'))
    await writeFile(join(folder, 'sessions'), 'a file in its place')
    expect(await client.get('/api/sessions')).toMatchObject({ sessions: [] })
    await rm(join(folder, 'sessions'))
    await rename(join(folder, 'away'), join(folder, 'sessions'))
    expect(await headOf('other')).toMatchObject({ title: 'uno' })
    live.close()
    expect(told).toEqual([])
  })

  it('[G1] commands about a session in which every text is hostile write nothing that a terminal acts on', async () => {
    const at = await openWorkspace()
    const acting = ['\u001B', '\u009B', '\u202E', '\u0007']
    await hostileIn(
      at,
      'hostile',
      hostileFacts(() => `${acting.join('[2J')}gpj`),
    )
    for (const command of ['cost', 'edits', 'context', 'messages', 'agents', 'sessions', 'stats']) {
      const words = command === 'sessions' || command === 'stats' ? [command] : [command, 'hostile']
      const { out, err } = await at.pal(words)
      expect
        .soft(
          acting.filter((one) => (out + err).includes(one)),
          command,
        )
        .toEqual([])
    }
  })

  it('[IN22] two tabs that undo the same at once: it is undone once, and the other is told', async () => {
    const at = await compacted()
    const tabs = await inspecting(at)
    const { session, wish } = await undoIn(tabs)
    const answers = await Promise.all([1, 2, 3].map(() => tabs.post(`/api/s/${session}/undo`, wish)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const { status, body } of answers.filter((one) => one.status !== 200)) {
      expect([409, 422, 503]).toContain(status)
      expect(body).toMatchObject({ problem: expect.stringMatching(/\w/u) as string })
    }
    const lines = await tabs.raw({ path: `/api/s/${session}/lines?from=0&to=400` })
    expect(lines.bytes.toString().split('\\"type\\":\\"undo\\"').length - 1).toBe(1)
  })

  it('[IN23] where nothing can be written any more it shows everything, and a change is refused in words', async () => {
    const at = await compacted()
    // No file takes a byte more: index, lock, transcript.
    const start = async (words: readonly string[]): Promise<Running> => {
      const command = `trap '' XFSZ; ulimit -f 0; exec "$0" "$@"`
      const child = spawn('bash', ['-c', command, process.execPath, at.file, ...words], {
        cwd: at.project,
        env: at.environment,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      child.stdout.setEncoding('utf8')
      const ended = new Promise<Ended>((resolve) =>
        child.once('close', (code) => resolve({ code, out: '', err: '' })),
      )
      return { child, ended }
    }
    const full = await inspecting({ start })
    const { session, wish } = await undoIn(full)
    const file = join(at.state, 'projects', slugOf(at.project), 'sessions', session, 'transcript.jsonl')
    const before = await readFile(file, 'utf8')
    for (let asked = 0; asked < 2; asked++) {
      const { status, body } = await full.post(`/api/s/${session}/undo`, wish)
      expect(status).toBeGreaterThanOrEqual(400)
      expect(body).toMatchObject({ problem: expect.stringMatching(/\w/u) as string })
    }
    for (const path of ['', '/edits', '/requests', '/breaks', '/lines?from=0&to=9'])
      expect([path, (await full.raw({ path: `/api/s/${session}${path}` })).status]).toEqual([path, 200])
    expect(await readFile(file, 'utf8')).toBe(before)
    expect(await full.stop()).toBe(0)
    // With room again the same is done.
    const again = await inspecting(at)
    const asked = await undoIn(again)
    expect((await again.post(`/api/s/${session}/undo`, asked.wish)).status).toBe(200)
  })
})

/** A workspace with a session of three turns that was compacted. */
async function compacted(): Promise<Workspace> {
  const { access } = await simulated(Array.from({ length: 4 }, () => 'word '.repeat(4000)))
  const at = await openWorkspace({
    ...access,
    PALIMPSEST_EXTRACTION: 'off',
    PALIMPSEST_MODEL_SUMMARY: 'off',
  })
  await at.pal(['-p', 'one'])
  for (const words of ['two', 'three']) await at.pal(['-p', '--continue', words])
  expect((await at.pal(['compact'])).code).toBe(0)
  return at
}

/** What its page would send to undo that. */
async function undoIn({ get: ask }: Client) {
  const { sessions } = await ask<SessionList>('/api/sessions')
  const { session } = sessions.find(({ purpose }) => purpose === 'main')!
  const { edits } = await ask<{ readonly edits: readonly { readonly seq: number }[] }>(
    `/api/s/${session}/edits`,
  )
  const { head } = await ask<SessionHead>(`/api/s/${session}`)
  return { session, wish: { target: edits.at(-1)!.seq, head } }
}
