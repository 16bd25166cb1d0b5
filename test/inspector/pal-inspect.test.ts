import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { entryFlags } from '../../src/inspector/columns.ts'
import type {
  BlockDetail,
  RequestChunk,
  RequestDetail,
  SessionHead,
  SessionList,
} from '../../src/inspector/protocol.ts'
import { call } from '../../src/simulator/index.ts'
import type { Fact, Usage } from '../../src/transcript/fact.ts'
import { seq, sessionId } from '../../src/transcript/ids.ts'
import { figuresJson } from '../../src/transcript/json.ts'
import { openWorkspace, server } from '../cli/pal.ts'
import { agreement } from './agreement.ts'
import { inspecting } from './client.ts'
import { written } from './opened.ts'

async function talked() {
  const { access, simulator } = await server([
    [call('Glob', { pattern: '*' }), call('Read', { file_path: 'notes.txt' })],
    'It says hello.',
    'Bye.',
  ])
  const at = await openWorkspace(access)
  await writeFile(join(at.project, 'notes.txt'), 'hello\n'.repeat(200))
  await at.pal(['-p', 'read the notes'])
  await at.pal(['-p', '--continue', 'good bye'])
  return { ...at, simulator }
}

/** Every file below a folder with its bytes and when it was written. */
async function snapshot(folder: string): Promise<Readonly<Record<string, string>>> {
  const files: Record<string, string> = {}
  for (const name of (await readdir(folder, { recursive: true })).toSorted()) {
    const path = join(folder, name)
    const info = await stat(path)
    files[name] = `${info.mtimeMs} ${info.isFile() ? (await readFile(path)).toString('base64') : ''}`
  }
  return files
}

describe('pal inspect', () => {
  it('[IN25] an answer that the server did not count is in the sums as we counted it, marked, and broke nothing', async () => {
    const at = await openWorkspace()
    const model = 'claude-sonnet-5'
    const asked = (upTo: number, usage: Partial<Usage>): readonly Fact[] => [
      { type: 'request-sent', source: 'main', model, upTo: seq(upTo), hash: 'h', tokens: 1, marks: [] },
      {
        type: 'assistant-message',
        content: [{ type: 'text', text: 'done' }],
        messageId: `chatcmpl-${upTo}`,
        stop: 'end_turn',
        model,
        usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 10, ...usage },
      },
    ]
    const facts = (estimated: Partial<Usage>): readonly Fact[] => [
      { type: 'session-start', session: sessionId('x'), purpose: 'main' },
      { type: 'user-message', content: [{ type: 'text', text: 'go' }], origin: 'typed' },
      ...asked(1, { cacheRead: 50_000, cacheWrite: 1000 }),
      { type: 'view-edit', layer: 'prune', asked: 'automatic', edits: [], why: 'old', tokensFreed: 1000 },
      ...asked(3, { input: 50_000, ...estimated }),
      ...asked(3, { cacheRead: 49_000, cacheWrite: 1000 }),
    ]
    await written(at, 'counted', facts({}))
    await written(at, 'sized', facts({ estimated: true }))
    const { get, stop } = await inspecting(at)
    const { sessions } = await get<SessionList>('/api/sessions')
    const sums = (id: string) => sessions.find(({ session }) => session === id)!.figures
    expect(sums('sized')).toEqual({ ...sums('counted'), estimated: 1 })
    expect(sums('counted')).toMatchObject({ requests: 3, input: 50_000, estimated: 0 })
    expect(await get<SessionHead>('/api/s/sized')).toMatchObject({ totals: { estimated: 1 } })
    for (const [place, isEstimated] of [
      [2, false],
      [5, true],
    ] as const)
      expect(await get<RequestDetail>(`/api/s/sized/request/${place}`)).toMatchObject({
        usage: { isEstimated },
      })
    const realised = async (id: string): Promise<number> =>
      (await get<{ edits: readonly { realised: number }[] }>(`/api/s/${id}/edits`)).edits[0]!.realised
    expect(await realised('counted')).toBeLessThan(-0.05)
    expect(await realised('sized')).toBeGreaterThan(-0.01)
    await stop()
  })

  it('[IN12] beyond this machine it listens with TLS alone, and then answers by it with its token', async () => {
    const at = await openWorkspace()
    const refused = await at.pal(['inspect', '--no-open', '--host', '0.0.0.0'])
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('--tls-cert') })
    const [cert, key] = [join(at.home, 'cert.pem'), join(at.home, 'key.pem')]
    const made = spawnSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-keyout',
        key,
        '-out',
        cert,
        '-days',
        '2',
        '-subj',
        '/CN=127.0.0.1',
      ],
      { encoding: 'utf8' },
    )
    if (made.status !== 0) return process.stderr.write('no openssl is installed: TLS is not tried\n')
    const { port, token, stop } = await inspecting(at, ['--tls-cert', cert, '--tls-key', key])
    const status = (headers: Readonly<Record<string, string>>): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const ca = readFileSync(cert)
        request(
          { host: '127.0.0.1', port, path: '/api/about', ca, checkServerIdentity: () => undefined, headers },
          (answer) => {
            answer.resume()
            resolve(answer.statusCode)
          },
        )
          .on('error', reject)
          .end()
      })
    expect(await status({ authorization: `Bearer ${token}` })).toBe(200)
    expect(await status({})).toBe(401)
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
    return expect(await stop()).toBe(0)
  })

  it('[IN2] its figures are those of pal cost, pal context and the provider, to the token', async () => {
    const at = await talked()
    const { get, stop } = await inspecting(at)
    const { sessions } = await get<SessionList>('/api/sessions')
    const main = sessions.find(({ purpose }) => purpose === 'main')!
    const head = await get<SessionHead>(`/api/s/${main.session}`)
    const cost = JSON.parse((await at.pal(['cost', '--json'])).out) as { total: Record<string, number> }
    const { input, cacheRead, cacheWrite, output, requests, dollars, unpriced, estimated } = cost.total
    expect(JSON.parse(figuresJson(head.totals))).toEqual({
      requests,
      input,
      read: cacheRead,
      written: cacheWrite,
      output,
      dollars,
      unpriced,
      estimated,
    })
    const chunk = await get<RequestChunk>(`/api/s/${main.session}/requests`)
    const billed = at.simulator.log.requests.filter(({ body }) => (body as { stream?: boolean }).stream)
    expect(chunk.input).toEqual(billed.map(({ usage }) => usage?.input_tokens))
    expect(chunk.read).toEqual(billed.map(({ usage }) => usage?.cache_read_input_tokens))
    expect(chunk.written).toEqual(billed.map(({ usage }) => usage?.cache_creation_input_tokens))
    for (const [row, byHolder] of chunk.byHolder.entries())
      expect(byHolder.reduce((sum, tokens) => sum + tokens, 0)).toBe(chunk.tokens[row])
    const context = JSON.parse((await at.pal(['context', '--json'])).out) as RequestDetail
    const detail = await get<RequestDetail>(`/api/s/${main.session}/request/${chunk.seq.at(-1)}`)
    expect(detail.tokens).toBe(context.tokens)
    expect(detail.sources).toEqual(context.sources)
    expect(detail.pieces.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(detail.tokens)
    expect(await stop()).toBe(0)
  })

  it('[IN2] on a replay with compactions every meter says what the simulator charged, request by request', async () => {
    const at = await openWorkspace()
    const agreed = await agreement({ kind: 'sample', index: 0 }, 40_000, {
      ...at,
      pal: async (words) => (await at.pal(words)).out,
      inspected: async (work) => {
        const { get, stop } = await inspecting(at)
        const answer = await work(get)
        await stop()
        return answer
      },
    })
    expect(agreed.differences).toEqual([])
    expect(agreed.requests).toBeGreaterThan(20)
  })

  it('[IN3] every request is composed again with the hash it was sent with, and its body has the bytes that were sent', async () => {
    const at = await talked()
    const { get, raw } = await inspecting(at)
    const { sessions } = await get<SessionList>('/api/sessions')
    const { session } = sessions.find(({ purpose }) => purpose === 'main')!
    const { seq } = await get<RequestChunk>(`/api/s/${session}/requests`)
    expect(seq.length).toBe(3)
    for (const [row, place] of seq.entries()) {
      const detail = await get<RequestDetail>(`/api/s/${session}/request/${place}`)
      expect(detail).toMatchObject({ seq: place, number: row + 1, isExact: true, inexact: null })
      expect(detail.composedHash).toBe(detail.hash)
      const body = JSON.parse(
        (await raw({ path: `/api/s/${session}/request/${place}/body` })).bytes.toString(),
      )
      const { messages, tools, system } = at.simulator.log.requests[row]!.body as Record<string, unknown>
      expect(body).toMatchObject({ messages, tools, system })
    }
    const last = await get<RequestDetail>(`/api/s/${session}/request/${seq[2]}?against=${seq[0]}`)
    expect(last.against).toMatchObject({ seq: seq[0], number: 1, where: null })
    expect(last.against!.common).toBeGreaterThan(1000)
  })

  it('[IN4] looking writes nothing into a session, however often', async () => {
    const at = await talked()
    const folder = join(at.state, 'projects')
    const before = await snapshot(folder)
    const { get, chunks, stop } = await inspecting(at)
    const { sessions } = await get<SessionList>('/api/sessions')
    for (const { session } of sessions) {
      const { head } = await get<SessionHead>(`/api/s/${session}`)
      await chunks(session)
      const { seq } = await get<RequestChunk>(`/api/s/${session}/requests`)
      for (const place of seq) await get(`/api/s/${session}/request/${place}`)
      for (const path of [
        'edits',
        'breaks',
        'agents',
        `lines?from=0&to=${head}`,
        'find?text=hello',
        `carried?from=0&to=${head}`,
      ])
        await get(`/api/s/${session}/${path}`)
    }
    await get('/api/memory')
    await get('/api/policies')
    await stop()
    expect(await snapshot(folder)).toEqual(before)
  })

  it('[IN5] the index says of each entry what the view shows of it, and a block knows who carried it', async () => {
    const at = await talked()
    const { get, chunks } = await inspecting(at)
    const { sessions } = await get<SessionList>('/api/sessions')
    const { session } = sessions.find(({ purpose }) => purpose === 'main')!
    const [newest, ...older] = await chunks(session, 4)
    expect(older.length).toBeGreaterThan(2)
    expect(newest!.to).toBe(newest!.head)
    const all = await chunks(session)
    const { kind, kinds, flags, tokens, label, labels, from } = all[0]!
    const result = [...kind].findIndex(
      (one, row) => kinds[one] === 'tool-result' && labels[label[row]!] === 'Read',
    )
    expect(flags[result]).toBe(entryFlags.visible)
    const block = await get<BlockDetail>(`/api/s/${session}/block/${from + result}/0`)
    expect(block.tokens).toBe(tokens[result])
    expect(block.intervals).toHaveLength(1)
    expect(block.intervals[0]).toMatchObject({ state: 'whole', until: null, requests: { first: 2, last: 3 } })
    expect(block.total).toMatchObject({ requests: 2, unpriced: 0 })
    expect(block.total.dollars).toBeGreaterThan(0)
    expect(block.born.asked?.text).toBe('read the notes')
  })
})
