// `pal fleet` as a team uses it: real processes, a real database, a simulated model.
import { get } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call } from '../../src/simulator/index.ts'
import type { Answerer } from '../../src/simulator/index.ts'
import { openWorkspace, server as simulator, until, type Ended, type Workspace } from '../cli/pal.ts'
import { entryFrom, noteEntry } from '../../src/testing/store-steps.ts'
import { encode } from '../../src/transcript/codec.ts'
import { seq, sessionId } from '../../src/transcript/ids.ts'
import { fleetOn } from './fleet.ts'
import { freshDatabase, skipReason, sql, startServer, type Server } from '../postgres/server.ts'

const answerer: Answerer = {
  answer({ request }) {
    const text = JSON.stringify(request.messages.at(-1))
    if (text.includes('environment') && !text.includes('tool_result'))
      return { content: [call('Bash', { command: 'env; echo hello > made.txt' })], stop_reason: 'tool_use' }
    if (text.includes('It is allowed'))
      return { content: [call('Bash', { command: 'env; echo hello > made.txt' })], stop_reason: 'tool_use' }
    return { content: [{ type: 'text', text: 'Done as asked.' }], stop_reason: 'end_turn' }
  },
}

/** The answer to a request that names this host. */
const statusFor = (url: string, host: string, token: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const headers = { host, authorization: `Bearer ${token}` }
    get(`${url}/v1/sessions`, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).once('error', reject)
  })

describe.skipIf(skipReason !== null)('pal fleet', () => {
  let server: Server
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.stop())

  it('[FL13] from an empty database to an answer: migrate, send, worker, question, answer, show, budget, doctor', async () => {
    const database = await freshDatabase(server, [])
    const { access } = await simulator([], { answerer })
    const at: Workspace = await openWorkspace({ PAL_DATABASE_URL: database.url, ...access })
    const pal = (...words: string[]): Promise<Ended> => at.pal(['fleet', ...words])
    const asOwner = { environment: { PAL_DATABASE_URL: database.adminUrl } }
    // The login of the application may not migrate.
    expect((await pal('migrate')).code).toBe(1)
    const migrated = await at.pal(['fleet', 'migrate', '--json'], asOwner)
    expect(JSON.parse(migrated.out)).toMatchObject({ tenants: ['default'] })
    expect((await pal('list')).out).toContain('No sessions')
    const sent = await pal('send', 'new', 'look at the environment')
    expect(sent).toMatchObject({ code: 0 })
    const session = sent.out.trim()
    expect((await pal('send', session, '   ')).code).toBe(2)
    const running = await at.start(['fleet', 'worker', '--sessions', '2'])
    await until(async () => (await pal('list')).out.includes('parked: question'), 'the question')
    const shown = JSON.parse((await pal('show', session, '--json')).out) as {
      questions: { id: string; body: string }[]
    }
    const [question] = shown.questions
    expect(question!.body).toContain('echo hello')
    expect((await pal('answer', session, 'nonesuch', 'allow')).code).toBe(4)
    expect((await pal('answer', session, question!.id, 'maybe')).code).toBe(2)
    expect((await pal('answer', session, question!.id, 'allow')).out).toBe('Answered\n')
    expect((await pal('drain', '--seconds', '100')).code).toBe(0)
    const after = await pal('show', session)
    expect(after.out).toMatch(/: idle\n/)
    expect(after.out).toContain('assistant-message Done as asked.')
    const lines = await sql(database.adminUrl, "select line from pal.entry where line like '%HOME=%'")
    expect(lines.length).toBeGreaterThan(0)
    // Neither the address of the database nor the key of the provider is in what the command saw.
    expect(JSON.stringify(lines)).not.toMatch(/PAL_DATABASE_URL|ANTHROPIC|postgres:/)
    expect((await pal('budget', 'team', 'core', '--cap', '50')).out).toMatch(/team\s+core.*\$50\.00/)
    expect((await pal('budget', 'team')).code).toBe(2)
    expect((await pal('budget', 'team', 'core', '--cap', 'much')).code).toBe(2)
    expect((await pal('budget', 'team', 'core', '--cap', '1', '--from', 'monday')).err).toContain(
      'is not a day',
    )
    expect((await pal('park', session, 'for', 'now')).out).toBe('Parked\n')
    expect((await pal('list')).out).toContain('by an operator: for now')
    expect((await pal('unpark', session)).code).toBe(0)
    expect((await pal('unpark', session)).code).toBe(4)
    const doctor = await pal('doctor')
    expect(doctor).toMatchObject({ code: 0 })
    expect(doctor.out).toMatch(/wall\s+ok\s+forced on every table/)
    running.child.kill('SIGTERM')
    expect(await running.ended).toMatchObject({
      code: 0,
      err: expect.stringContaining('every session was released') as string,
    })
  })

  it('[FL13] a worker says what is wrong with the database before it asks for a key', async () => {
    const { url, adminUrl, readerUrl } = await freshDatabase(server)
    await sql(adminUrl, 'create role nobody login')
    const at: Workspace = await openWorkspace({ PAL_TENANT: 'acme' })
    const worker = async (address: string | undefined, more = {}): Promise<string> => {
      const environment = { ...(address === undefined ? {} : { PAL_DATABASE_URL: address }), ...more }
      const { code, err } = await at.pal(['fleet', 'worker'], { environment })
      expect(code).not.toBe(0)
      return err
    }
    expect(await worker(undefined)).toContain('no database is named')
    expect(await worker('mysql://db')).toContain('must begin with postgres://')
    expect(await worker(server.url('nonesuch'))).toContain('create it, or correct PAL_DATABASE_URL')
    expect(await worker(server.url('postgres'))).toContain('run: pal fleet migrate')
    expect(await worker(url.replace('app@', 'nobody@'))).toContain('this login needs the role pal_app')
    expect(await worker(readerUrl)).toContain('this login may only read')
    expect(await worker(url, { PAL_TENANT: 'globex' })).toContain('there is no tenant globex')
    const missing = await worker(url)
    expect(missing).toContain('ANTHROPIC_API_KEY')
    expect(missing).not.toContain('database')
    const doctor = (address: string, tenant: string): Promise<Ended> =>
      at.pal(['fleet', 'doctor', '--tenant', tenant], { environment: { PAL_DATABASE_URL: address } })
    expect((await doctor(url, 'globex')).out).toMatch(/database\s+failed\s+there is no tenant globex/)
    expect((await doctor(readerUrl, 'acme')).out).toMatch(/role\s+ok\s+.*it only reads/)
  })

  it('[FL18] prune: old sessions are counted, then removed with their agents; what waits, is parked, being written or newer stays', async () => {
    const database = await freshDatabase(server)
    const fleet = fleetOn(database.url)
    const at: Workspace = await openWorkspace({ PAL_DATABASE_URL: database.url, PAL_TENANT: 'acme' })
    for (const name of ['old', 'waits', 'parked', 'held', 'new', 'parent', 'child']) {
      const leased = await fleet.store.lease(sessionId(name))
      if (!leased.ok) throw new Error('taken')
      const done = await fleet.store.append(leased.lease, [noteEntry(0, `words of ${name}`)], seq(0), 'now')
      expect(done.ok).toBe(true)
      if (name !== 'held') await fleet.store.release(leased.lease)
    }
    await sql(database.adminUrl, "update pal.session set root = 'parent' where id = 'child'")
    await sql(
      database.adminUrl,
      "update pal.session set changed = now() - interval '40 days' where id not in ('new', 'child')",
    )
    await fleet.queue.send({ session: 'waits', id: '1', kind: 'input', body: 'x' })
    await fleet.queue.park('parked', 'for now')
    const prune = (...words: string[]): Promise<Ended> => at.pal(['fleet', 'prune', ...words])
    expect((await prune()).code).toBe(2)
    expect((await prune('--days', '30')).out).toMatch(/^1 session, \d+ bytes, .*--delete\n$/)
    expect(JSON.parse((await prune('--days', '30', '--delete', '--json')).out)).toMatchObject({
      removed: ['old'],
    })
    await sql(
      database.adminUrl,
      "update pal.session set changed = now() - interval '40 days' where id = 'child'",
    )
    expect((await prune('--days', '30', '--delete')).out).toBe('2 sessions removed for good\n')
    const left = await sql(database.adminUrl, 'select id from pal.session order by 1')
    expect(left.map(({ id }) => id)).toEqual(['held', 'new', 'parked', 'waits'])
    for (const gone of ['old', 'parent', 'child'])
      expect(await sql(database.adminUrl, 'select * from pal.entry where session = $1', [gone])).toEqual([])
    await fleet.close()
  })

  it('[FL20] what sessions cost says which answers were counted by size and which have no known price', async () => {
    const database = await freshDatabase(server)
    const fleet = fleetOn(database.url)
    const at: Workspace = await openWorkspace({ PAL_DATABASE_URL: database.url, PAL_TENANT: 'acme' })
    const usage = { input: 1_000_000, cacheRead: 0, cacheWrite: 0, output: 0 }
    const answers: Readonly<Record<string, readonly (readonly [model: string, estimated?: true])[]>> = {
      whole: [['claude-sonnet-4-6']],
      mixed: [['claude-sonnet-4-6', true], ['claude-sonnet-4-6'], ['nobody-knows']],
      strange: [['nobody-knows']],
    }
    for (const [name, all] of Object.entries(answers)) {
      const leased = await fleet.store.lease(sessionId(name))
      if (!leased.ok) throw new Error('taken')
      const entries = all.map(([model, estimated], index) => {
        const { uuid, ...place } = JSON.parse(encode(noteEntry(index, ''))) as { uuid: string }
        const counts = estimated === true ? { ...usage, estimated } : usage
        const fact = { type: 'assistant-message', content: [], messageId: uuid, stop: null, model }
        return entryFrom(JSON.stringify({ ...place, uuid, fact: { ...fact, usage: counts } }))
      })
      expect((await fleet.store.append(leased.lease, entries, seq(0), 'now')).ok).toBe(true)
      await fleet.store.release(leased.lease)
    }
    const rows = await sql(
      database.adminUrl,
      'select session, usd, estimated from pal.spend order by 1, answer',
    )
    expect(rows.map((row) => [row['session'], row['usd'] === null, row['estimated']])).toEqual([
      ['mixed', false, true],
      ['mixed', false, false],
      ['mixed', true, false],
      ['strange', true, false],
      ['whole', false, false],
    ])
    const list = (await at.pal(['fleet', 'list'])).out
    expect(list).toMatch(/whole .* \$3\.00\s/)
    expect(list).toMatch(/mixed .* \$6\.00 \+ 1 unpriced/)
    expect(list).toMatch(/strange .* \$0\.0000 \+ 1 unpriced/)
    expect(list).toMatch(/all .* \$9\.00 \+ 2 unpriced/)
    expect(list).toContain('did not say what 1 of 5 answers took')
    const shown = (await at.pal(['fleet', 'show', 'strange'])).out
    expect(shown).toContain('$0.0000 + 1 unpriced spent')
    expect(shown).not.toContain('did not say')
    await fleet.close()
  })

  it('[FL13] without an address, with a wrong one, or before the migration it says what to do', async () => {
    const at = await openWorkspace({ ANTHROPIC_API_KEY: 'k' })
    const run = (url: string, ...words: string[]): Promise<Ended> =>
      at.pal(['fleet', ...words], { environment: { PAL_DATABASE_URL: url } })
    expect(await at.pal(['fleet', 'list'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('set PAL_DATABASE_URL=postgres://') as string,
    })
    expect(await run('mysql://x', 'list')).toMatchObject({ code: 2 })
    const dead = await run('postgres://me:geheim@127.0.0.1:1/x', 'list')
    expect(dead).toMatchObject({ code: 1, err: expect.stringContaining('cannot be reached') as string })
    expect(dead.err).not.toContain('geheim')
    const name = `empty${process.pid}`
    await sql(server.url('postgres'), `create database ${name}`)
    for (const words of [['list'], ['worker'], ['doctor'], ['send', 'new', 'x']])
      expect(await run(server.url(name), ...words), words[0]).toMatchObject({ code: 1 })
    expect((await run(server.url(name), 'worker')).err).toContain('run: pal fleet migrate')
    expect(await run(server.url(name), 'list', '--tenant', 'a b')).toMatchObject({ code: 2 })
  })

  it('[FL12] over HTTP: a token for each tenant, no pages of others, input once, entries as they come, answers', async () => {
    const database = await freshDatabase(server, ['acme', 'globex'])
    const at = await openWorkspace({ PAL_DATABASE_URL: database.url })
    const owner = { environment: { PAL_DATABASE_URL: database.adminUrl } }
    const tokenOf = async (tenant: string): Promise<string> =>
      (await at.pal(['fleet', 'token', 'ci', '--tenant', tenant], owner)).out.trim()
    const [mine, theirs] = [await tokenOf('acme'), await tokenOf('globex')]
    expect(mine).toMatch(/^pal_\S{20,}$/)
    // The application can neither make nor list tokens.
    expect((await at.pal(['fleet', 'token', 'x', '--tenant', 'acme'])).code).toBe(1)
    const running = await at.start(['fleet', 'serve'])
    let url = ''
    running.child.stdout!.on('data', (text: string) => (url += text))
    await until(() => url.endsWith('\n'), 'the address')
    url = url.trim()
    const ask = (path: string, token: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`${url}${path}`, {
        ...init,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          ...(init.headers as object),
        },
      })
    const post = (path: string, token: string, body: unknown): Promise<Response> =>
      ask(path, token, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) })
    expect((await fetch(`${url}/v1/sessions`)).status).toBe(401)
    expect((await ask('/v1/sessions', 'pal_wrong')).status).toBe(401)
    expect((await ask('/v1/sessions', mine, { headers: { origin: 'http://evil.example' } })).status).toBe(403)
    expect((await ask('/v1/sessions', mine, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(
      403,
    )
    expect((await ask('/v1/sessions/a/input', mine)).status).toBe(405)
    expect((await ask('/v2/x', mine)).status).toBe(404)
    expect((await post('/v1/sessions/a/input', mine, '{')).status).toBe(413)
    expect((await post('/v1/sessions/a/input', mine, { text: '' })).status).toBe(400)
    expect((await post('/v1/sessions/a/input', mine, { text: 'x'.repeat(2_000_000) })).status).toBe(413)
    expect(
      (
        await ask('/v1/sessions/a/input', mine, {
          method: 'POST',
          body: '{}',
          headers: { 'content-type': 'text/plain' },
        })
      ).status,
    ).toBe(415)
    const stream = await ask('/v1/sessions/a/events', mine)
    expect((await post('/v1/sessions/a/input', mine, { text: 'hello', id: 'k1' })).status).toBe(202)
    expect((await post('/v1/sessions/a/input', mine, { text: 'hello', id: 'k1' })).status).toBe(200)
    expect(await (await ask('/v1/sessions', theirs)).json()).toEqual({ sessions: [] })
    expect((await ask('/v1/sessions/a', theirs)).status).toBe(404)
    const { access } = await simulator([], { answerer })
    await at.start(['fleet', 'worker', '--tenant', 'acme'], { environment: access })
    let heard = ''
    const reader = stream.body!.getReader()
    await until(async () => {
      const part = await reader.read()
      heard += new TextDecoder().decode(part.value)
      return heard.includes('"turn-end"')
    }, 'the turn to end')
    await reader.cancel()
    expect(heard).toContain('Done as asked.')
    const ids = [...heard.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
    expect(ids).toEqual(ids.map((_, place) => place))
    const again = await ask('/v1/sessions/a/events', mine, {
      headers: { 'last-event-id': String(ids.at(-2)) },
    })
    const first = await again.body!.getReader().read()
    expect(new TextDecoder().decode(first.value)).toMatch(new RegExp(`^id: ${ids.at(-1)}\\n`))
    expect((await post('/v1/sessions/a/answer', mine, { question: 'q', answer: 'allow' })).status).toBe(404)
    // Whoever found another name for this address is a page of somebody else.
    expect(await statusFor(url, 'evil.example', mine)).toBe(403)
    expect(await statusFor(url, new URL(url).host, mine)).toBe(200)
    // A question of a session is answered here too, by its own tenant alone.
    await post('/v1/sessions/b/input', mine, { text: 'look at the environment' })
    const shown = async () =>
      (await (await ask('/v1/sessions/b', mine)).json()) as {
        owner: unknown
        wantedFor: unknown
        questions: { id: string }[]
      }
    await until(async () => (await shown()).questions.length > 0, 'the question')
    const [{ id: question }] = (await shown()).questions as [{ id: string }]
    expect((await post('/v1/sessions/b/answer', theirs, { question, answer: 'allow' })).status).toBe(404)
    expect((await post('/v1/sessions/b/answer', mine, { question, answer: 'allow' })).status).toBe(200)
    expect((await post('/v1/sessions/b/answer', mine, { question, answer: 'deny' })).status).toBe(409)
    await until(async () => {
      const { owner: holder, wantedFor } = await shown()
      return holder === null && wantedFor === null
    }, 'the call to have run')
    const ran = await sql(
      database.adminUrl,
      "select line from pal.entry where session = 'b' and line like '%HOME=%'",
    )
    expect(ran.length).toBe(1)
    expect((await post('/v1/sessions/a/answer', mine, { question: 'q', answer: 'perhaps' })).status).toBe(400)
    expect((await at.pal(['fleet', 'token', 'ci', '--tenant', 'acme', '--remove'], owner)).code).toBe(0)
    expect((await ask('/v1/sessions', mine)).status).toBe(401)
  })
})
