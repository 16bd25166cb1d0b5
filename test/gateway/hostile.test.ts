// The gateway attacked: odd and hostile requests, upstreams that misbehave, clients that go away, keys where none should be.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { LineFile } from '../../src/gateway/segments.ts'
import { EventText } from '../../src/gateway/hearing.ts'
import { defaults } from '../../src/settings/defaults.ts'
import { fileStore } from '../../src/stores/index.ts'
import { isKnown, type Fact } from '../../src/transcript/fact.ts'
import { until } from '../until.ts'
import {
  answers,
  asking,
  calls,
  gives,
  messageOf,
  replies,
  says,
  speak,
  startUpstream,
  type Upstream,
} from './upstream.ts'
import { lines, newWorld, send, type World } from './world.ts'

let world: World
const running: Upstream[] = []
beforeEach(() => {
  world = newWorld()
})
afterEach(async () => {
  await world.end()
  for (const each of running.splice(0)) await each.stop()
})
async function upstream(handler: Parameters<typeof startUpstream>[0]): Promise<Upstream> {
  const made = await startUpstream(handler)
  running.push(made)
  return made
}
const good = () => upstream((_asked, response) => answers(response, messageOf('ok')))

async function factsIn(folder: string): Promise<readonly (readonly Fact[])[]> {
  const store = fileStore({ root: join(folder, 'sessions') })
  const sessions: Fact[][] = []
  for await (const info of store.list()) {
    if (!info.ok) continue
    const facts: Fact[] = []
    for await (const item of store.read(info.session))
      if (item.kind === 'entry' && isKnown(item.entry)) facts.push(item.entry.fact)
    sessions.push(facts)
  }
  return sessions
}

describe('where a request goes', () => {
  it('[GW20] keeps the path of an upstream that has one, and does not say its version twice', async () => {
    const behind = await good()
    const plain = await world.gateway(`${behind.url}/proxy/anthropic/`)
    await send(`${plain.url}/v1/messages?beta=true`, asking([says('a')]))
    const versioned = await world.gateway(`${behind.url}/api/v1`)
    await send(`${versioned.url}/v1/chat/completions`, '{}')
    expect(behind.got.map(({ path }) => path)).toEqual([
      '/proxy/anthropic/v1/messages?beta=true',
      '/api/v1/chat/completions',
    ])
  })

  it('[GW21] sends what no wire knows to the vendor whose credential it carries, and to no other', async () => {
    const [anthropic, openai, google] = [await good(), await good(), await good()]
    const { url } = await world.gateway(anthropic.url, {
      upstreams: {
        anthropic: new URL(anthropic.url),
        'openai-chat': new URL(openai.url),
        'openai-responses': new URL(openai.url),
        gemini: new URL(google.url),
      },
    })
    const ask = (path: string, headers: Record<string, string>) =>
      speak(
        url,
        `GET ${path} HTTP/1.1\r\nhost: ${new URL(url).host}\r\nconnection: close\r\n${Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join('')}\r\n`,
        '\r\n\r\n',
      )
    await ask('/v1/models', { authorization: 'Bearer sk-openai' })
    await ask('/v1/models', { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' })
    await ask('/v1/models', { authorization: 'Bearer oauth', 'anthropic-version': '2023-06-01' })
    await ask('/v1/files', { 'x-goog-api-key': 'g' })
    await ask('/v1beta/models?key=g', {})
    await ask('/v1/responses/resp_1', { authorization: 'Bearer sk-openai' })
    expect([anthropic, openai, google].map(({ got }) => got.length)).toEqual([2, 2, 2])
  })

  it('[GW12] serves odd requests or refuses them in words, and lives on', async () => {
    const behind = await good()
    const { url } = await world.gateway(behind.url)
    const { host } = new URL(url)
    const head = `host: ${host}\r\nconnection: close\r\n`
    for (const line of [
      'GET // HTTP/1.1',
      'GET /[ HTTP/1.1',
      'OPTIONS * HTTP/1.1',
      'OPTIONS /v1/messages HTTP/1.1',
      'HEAD /v1/models HTTP/1.1',
      'GET /v1/responses HTTP/1.1\r\nupgrade: websocket\r\nsec-websocket-key: x',
      `GET /v1/models HTTP/1.1\r\nx-long: ${'x'.repeat(30_000)}`,
      'DELETE /v1/files/f HTTP/1.1',
      'PRI * HTTP/2.0',
    ]) {
      const heard = await speak(url, `${line}\r\n${head}\r\n`)
      expect(heard.slice(0, 9), line.slice(0, 60)).toBe('HTTP/1.1 ')
      expect(heard, line.slice(0, 60)).not.toMatch(/^HTTP\/1.1 (?:431|502)/u)
    }
    const smuggled = await speak(
      url,
      `POST /v1/messages HTTP/1.1\r\n${head}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n`,
    )
    expect(smuggled).toMatch(/^HTTP\/1.1 400/u)
    expect((await send(`${url}/v1/messages`, asking([says('still there?')]))).status).toBe(200)
  })

  it('[GW12] takes a body in whatever pieces it comes', async () => {
    const behind = await good()
    const { url } = await world.gateway(behind.url, { level: 'watch' })
    const body = asking([says('héllo 😀')])
    const bytes = Buffer.from(body)
    const { port, host } = new URL(url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(
      `POST /v1/messages HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    )
    for (const byte of bytes) {
      socket.write(`1\r\n`)
      socket.write(Buffer.from([byte]))
      socket.write('\r\n')
    }
    socket.write('0\r\n\r\n')
    await new Promise((resolve) => socket.once('data', resolve))
    socket.destroy()
    expect(behind.got[0]!.body).toBe(body)
  })
})

describe('who may not speak', () => {
  it('[GW8] a token that is not ours, a page that asks without an origin, another port or name', async () => {
    const behind = await good()
    const { url } = await world.gateway(behind.url)
    const { port } = new URL(url)
    expect((await send(`${url}/token/wrong-token/v1/messages`, '{}')).status).toBe(401)
    const foreign: Readonly<Record<string, string>>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'null' },
      { origin: `https://127.0.0.1:${port}` },
      { host: '127.0.0.1' },
      { host: `127.0.0.1:${Number(port) + 1}` },
      { host: `evil.example:${port}` },
      { host: `127.0.0.1:${port}.evil.example` },
    ]
    for (const headers of foreign)
      expect((await send(`${url}/v1/models`, '', headers, 'GET')).status, JSON.stringify(headers)).toBe(403)
    expect(behind.got).toHaveLength(0)
    expect((await send(`${url}/token/secret-token/v1/messages`, asking([says('a')]))).status).toBe(200)
    expect(behind.got[0]!.path).toBe('/v1/messages')
  })

  it('[GW8] beyond this machine nothing without the token; on IPv6 the same as on IPv4', async () => {
    const behind = await good()
    const wide = await world.gateway(behind.url, { listen: { host: '0.0.0.0', port: 0 } })
    const here = wide.url.replace('0.0.0.0', '127.0.0.1')
    expect((await send(`${here}/v1/messages`, asking([says('a')]))).status).toBe(401)
    expect((await send(`${here}/`, '', {}, 'GET')).status).toBe(401)
    expect(
      (await send(`${here}/v1/messages`, asking([says('a')]), { 'x-palimpsest-token': 'secret-token' }))
        .status,
    ).toBe(200)
    const six = await world.gateway(behind.url, { listen: { host: '::1', port: 0 } }).catch(() => null)
    if (six === null) return
    expect((await send(`${six.url}/v1/messages`, asking([says('a')]))).status).toBe(200)
    expect((await send(`${six.url}/v1/messages`, '{}', { host: 'evil.example' })).status).toBe(403)
  })
})

describe('a token that is empty', () => {
  it('[GW8] opens nothing', async () => {
    const behind = await good()
    const { url } = await world.gateway(behind.url, { listen: { host: '0.0.0.0', port: 0 }, token: '' })
    const here = url.replace('0.0.0.0', '127.0.0.1')
    for (const path of ['/palimpsest/status', '/v1/models'])
      expect((await send(`${here}${path}`, '', { 'x-palimpsest-token': '' }, 'GET')).status, path).toBe(401)
    expect(behind.got).toHaveLength(0)
  })
})

describe('an answer that is large', () => {
  const limits = { ...defaults.gateway, bodyBytes: 100_000 }
  const packed = (text: string): Buffer => gzipSync(text)
  const tooLong = (chars: number): string =>
    JSON.stringify({
      type: 'error',
      error: { type: 'invalid_request_error', message: `prompt is too long: ${' '.repeat(chars)}` },
    })

  it('[GW36] an event of many pieces is put together once, however it is cut', () => {
    const events: unknown[] = []
    const text = new EventText((event) => void events.push(event))
    const picture = 'x'.repeat(400_000)
    const said = `data: {"a":1}\r\n\r\ndata: ${JSON.stringify({ picture })}\n\ndata: {"b":2}\n\ndata: {"c":3}`
    const exec = vi.spyOn(RegExp.prototype, 'exec')
    for (let at = 0; at < said.length; at += 500) text.push(said.slice(at, at + 500))
    text.end()
    // How much is looked through for the line that ends an event.
    const { calls: done, contexts } = exec.mock
    const looked = done
      .filter((_, at) => (contexts[at] as RegExp).source === String.raw`\r?\n\r?\n`)
      .reduce((sum, [piece]) => sum + piece.length, 0)
    exec.mockRestore()
    expect(events).toEqual([{ a: 1 }, { picture }, { b: 2 }, { c: 3 }])
    expect(looked).toBeLessThan(10 * said.length)
    const cut: unknown[] = []
    const slowly = new EventText((event) => void cut.push(event))
    for (const letter of 'data: {"a":1}\r\n\r\ndata: {"b":2}\n\n\ndata: {"c":3}\r\n\n') slowly.push(letter)
    expect(cut).toEqual([{ a: 1 }, { b: 2 }, { c: 3 }])
  })

  it('[GW36] what unpacks to more than is read is relayed as it is, and nothing is made of it', async () => {
    const bytes = [packed(messageOf('y'.repeat(1_000_000))), packed(messageOf('small'))]
    const behind = await upstream(({ number }, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      response.end(bytes[number - 1])
    })
    const gateway = await world.gateway(behind.url, { limits })
    const { url } = gateway
    for (const [at, sent] of bytes.entries()) {
      const got = await fetch(`${url}/v1/messages`, {
        method: 'POST',
        body: asking([says(`ask ${at}`)]),
        headers: { 'content-type': 'application/json', 'x-api-key': 'k' },
      })
      expect(await got.text()).toBe(gunzipSync(sent).toString())
    }
    await gateway.stop()
    const said = (await factsIn(world.folder)).flat().filter(({ type }) => type === 'assistant-message')
    expect(said).toMatchObject([{ content: [{ text: 'small' }] }])
  })

  it('[GW36] a refusal that is more than any is, packed or not, passes as it comes', async () => {
    const small = tooLong(1)
    const large = tooLong(4 * limits.bodyBytes)
    const behind = await upstream(({ incoming }, response) => {
      const body = incoming.headers['x-large'] === '1' ? large : small
      const encoding = incoming.headers['x-packed'] === '1' ? { 'content-encoding': 'gzip' } : {}
      response.writeHead(400, { 'content-type': 'application/json', ...encoding })
      response.end('content-encoding' in encoding ? packed(body) : body)
    })
    const { url } = await world.gateway(behind.url, { limits, level: 'compact' })
    const turns = Array.from({ length: 12 }, (_, at) => [calls(`c${at}`), gives(`c${at}`, lines(5000, at))])
    const body = asking([says('go'), ...turns.flat(), replies('so'), says('on')])
    const ask = async (isLarge: string, isPacked: string): Promise<readonly [string, number]> => {
      const before = behind.got.length
      const headers = { 'x-large': isLarge, 'x-packed': isPacked, 'x-api-key': 'k' }
      const got = await fetch(`${url}/v1/messages`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
      })
      return [await got.text(), behind.got.length - before]
    }
    expect(await ask('1', '0')).toEqual([large, 1])
    expect(await ask('1', '1')).toEqual([large, 1])
    // What can be understood is answered by a compaction.
    expect(await ask('0', '1')).toEqual([small, 2])
  })
})

describe('an upstream that misbehaves', () => {
  it('[GW12] a kept connection that it closed is no failure: the request goes out again on another', async () => {
    let isFirst = true
    const behind = await upstream(({ incoming, number }, response) => {
      // As a server does that closes idle connections just when the next request comes.
      if (number === 2 && isFirst) {
        isFirst = false
        incoming.socket.destroy()
        return
      }
      answers(response, messageOf('ok'))
    })
    const { url } = await world.gateway(behind.url)
    const body = asking([says('a')])
    expect((await send(`${url}/v1/messages`, body)).status).toBe(200)
    expect((await send(`${url}/v1/messages`, body)).status).toBe(200)
    expect(behind.got).toHaveLength(3)
  })

  it('[GW12] where it closed every kept connection the request goes out on a new one', async () => {
    const used = new WeakSet()
    const waiting: (() => void)[] = []
    const together = 4
    const behind = await upstream(({ incoming, number }, response) => {
      if (used.has(incoming.socket)) return void incoming.socket.destroy()
      used.add(incoming.socket)
      if (number > together) return answers(response, messageOf('ok'))
      waiting.push(() => answers(response, messageOf('ok')))
      if (number === together) for (const go of waiting) go()
    })
    const { url } = await world.gateway(behind.url)
    const ask = async (at: number) => (await send(`${url}/v1/messages`, asking([says(`go ${at}`)]))).status
    const many = Array.from({ length: together }, (_, at) => at)
    expect(await Promise.all(many.map((at) => ask(at)))).toEqual(many.map(() => 200))
    // None of the kept ones takes another request.
    expect(await ask(together)).toBe(200)
    expect(behind.got).toHaveLength(together + 2)
  })

  it('[GW17] gone for the second try: the client gets its first word', async () => {
    const refusal = JSON.stringify({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 250000 tokens > 200000 maximum' },
    })
    const behind = await upstream(({ number, incoming }, response) =>
      number === 1 ? answers(response, refusal, 400) : void incoming.socket.destroy(),
    )
    const { url } = await world.gateway(behind.url, { level: 'compact' })
    const turns = Array.from({ length: 12 }, (_, at) => [calls(`c${at}`), gives(`c${at}`, lines(9000, at))])
    const reply = await send(
      `${url}/v1/messages`,
      asking([says('go'), ...turns.flat(), replies('so'), says('on')]),
    )
    expect(reply).toMatchObject({ status: 400, body: refusal })
    expect(behind.got.length).toBeGreaterThan(1)
  })

  it('[GW6] gone for the original: the client gets the refusal', async () => {
    const refusal = '{"type":"error","error":{"type":"invalid_request_error","message":"no"}}'
    const behind = await upstream(({ number, incoming }, response) =>
      number === 1 ? answers(response, refusal, 400) : void incoming.socket.destroy(),
    )
    const { url } = await world.gateway(behind.url)
    const reply = await send(
      `${url}/v1/messages`,
      asking([says('go'), calls('a'), gives('a', lines(40_000, 1))]),
    )
    expect(reply).toMatchObject({ status: 400, body: refusal })
  })

  it('[GW12] hangs: a client that gives up ends the request there too, and nothing is said of it', async () => {
    const behind = await upstream(() => undefined)
    const { url } = await world.gateway(behind.url)
    const { port, host } = new URL(url)
    const body = asking([says('a')])
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(
      `POST /v1/messages HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    await until(() => behind.got.length === 1)
    socket.destroy()
    await until(() => behind.open() === 0, 'the connection upstream to end')
    expect(world.lines).toEqual([])
  })
})

describe('a long silence', () => {
  it.each([
    ['\n\n', 1],
    ['\r\n\r\n', 1],
    ['\n\n', 100],
  ])(
    '[GW22] a stream that ends its events with %j in pieces of %d bytes is told to live, never inside an event',
    async (blank, size) => {
      const event = `event: message_start${blank.slice(blank.length / 2)}data: {"type":"message_start"}${blank}`
      let body = ''
      const behind = await upstream((_asked, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (let at = 0; at < event.length; at += size) response.write(event.slice(at, at + size))
        const goOn = (): void => {
          response.write('data: {"ty')
          setTimeout(() => response.end(`pe":"ping"}${blank}`), 300)
        }
        // Without a sign of life it goes on too, and what is expected below says so.
        void until(() => body.includes('event: ping')).then(goOn, goOn)
      })
      const gateway = await world.gateway(behind.url, {
        limits: { ...defaults.gateway, pingMs: 40 },
      })
      await send(`${gateway.url}/v1/messages`, asking([says('a')]), {}, 'POST', (piece) => (body += piece))
      expect(body).toContain('event: ping')
      expect(body.endsWith(`data: {"type":"ping"}${blank}`)).toBe(true)
    },
  )
})

describe('what is remembered', () => {
  it('[GW9] several readers at once of one file miss nothing that others append', async () => {
    const path = join(world.folder, 'lines.jsonl')
    const [mine, theirs] = await Promise.all([
      LineFile.open(machineFileSystem, path),
      LineFile.open(machineFileSystem, path),
    ])
    if (!mine.ok || !theirs.ok) throw new Error('the file cannot be opened')
    const seen: number[] = []
    for (let round = 0; round < 20; round++) {
      await theirs.file.append([{ round }], false)
      const found = await Promise.all([mine.file.added(), mine.file.added(), mine.file.added()])
      seen.push(...found.flat().map((record) => record['round'] as number))
    }
    expect(seen).toEqual(Array.from({ length: 20 }, (_, round) => round))
    await mine.file.close()
    await theirs.file.close()
  })

  it('[GW9] a rewind is a branch, also where the client names its session, and no compaction by the client', async () => {
    const behind = await good()
    const gateway = await world.gateway(behind.url)
    const headers = { 'x-claude-code-session-id': 'one' }
    const first = [says('go'), replies('ok'), says('second'), replies('ok'), says('third')]
    const sessions: unknown[] = []
    for (const turns of [
      first.slice(0, 1),
      first.slice(0, 3),
      first,
      [...first.slice(0, 2), says('another way')],
    ])
      sessions.push(
        (await send(`${gateway.url}/v1/messages`, asking(turns), headers)).headers['x-palimpsest-session'],
      )
    expect(new Set(sessions.slice(0, 3)).size).toBe(1)
    expect(sessions[3]).not.toBe(sessions[0])
    await gateway.stop()
    const facts = (await factsIn(world.folder)).flat()
    expect(facts.filter((fact) => fact.type === 'view-edit' && fact.layer === 'client')).toEqual([])
  })

  it('[GW3] a gateway that watches sends the bytes of the client, whatever another has shortened before', async () => {
    const behind = await good()
    const body = asking([says('go'), calls('a'), gives('a', lines(40_000, 1))])
    const trims = await world.gateway(behind.url)
    await send(`${trims.url}/v1/messages`, body)
    await trims.stop()
    const watches = await world.gateway(behind.url, { level: 'watch' })
    await send(`${watches.url}/v1/messages`, body)
    expect(behind.got[0]!.body.length).toBeLessThan(12_000)
    expect(behind.got[1]!.body).toBe(body)
  })

  it('[GW25] a result that repeats one behind a summary is sent, and not a name of what is gone', async () => {
    const refusal = JSON.stringify({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 250000 tokens > 200000 maximum' },
    })
    let hasRefused = false
    const behind = await upstream(({ body }, response) => {
      const isLong = body.includes('result 11') && !body.includes('earlier part that was compacted')
      if (isLong) hasRefused = true
      if (isLong) answers(response, refusal, 400)
      else answers(response, messageOf('ok'))
    })
    const { url } = await world.gateway(behind.url, { level: 'compact' })
    const list = [says('go')]
    for (let at = 0; at < 12; at++) {
      await send(`${url}/v1/messages`, asking(list))
      list.push(calls(`c${at}`), gives(`c${at}`, lines(9000, at)))
    }
    await send(`${url}/v1/messages`, asking(list))
    expect(hasRefused).toBe(true)
    // Again the very first result, which is behind the summary now, and the newest, which is not.
    list.push(calls('d'), gives('d', lines(9000, 0)), calls('e'), gives('e', lines(9000, 11)))
    await send(`${url}/v1/messages`, asking(list.slice(0, -2)))
    await send(`${url}/v1/messages`, asking(list))
    const last = behind.got.at(-1)!.body
    expect(last).toContain('earlier part that was compacted')
    expect(last).toContain('line 100 of result 0:')
    expect(last).toContain('as that of call c11 above')
    expect(last).not.toContain('as that of call c0 above')
  })

  it('[GW13] a folder that could not be made is tried again', async () => {
    const file = join(world.folder, 'gateway')
    writeFileSync(file, 'a file stands here')
    const behind = await good()
    const { url } = await world.gateway(behind.url)
    const body = asking([says('go'), calls('a'), gives('a', lines(40_000, 1))])
    await send(`${url}/v1/messages`, body)
    expect(behind.got[0]!.body).toBe(body)
    rmSync(file)
    await send(`${url}/v1/messages`, body)
    expect(behind.got[1]!.body.length).toBeLessThan(12_000)
  })

  it('[GW23] counting what a request would take never compacts', async () => {
    const behind = await upstream(({ incoming }, response) =>
      incoming.url!.includes('count_tokens')
        ? answers(response, '{"input_tokens":5}')
        : answers(response, messageOf('ok', { cache_creation_input_tokens: 190_000 })),
    )
    const gateway = await world.gateway(behind.url, { level: 'compact' })
    const turns = Array.from({ length: 40 }, (_, at) => [
      calls(`c${at}`),
      gives(`c${at}`, lines(9000, at)),
    ]).flat()
    const list = [says('go'), ...turns, replies('done')]
    for (let round = 0; round < 6; round++)
      await send(`${gateway.url}/v1/messages`, asking(list.slice(0, 3 + 2 * round)))
    const counted = await send(`${gateway.url}/v1/messages/count_tokens`, asking([...list, says('and now?')]))
    expect(counted.body).toBe('{"input_tokens":5}')
    const records = readdirSync(world.folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /edits-\d+\.jsonl$/u.test(name))
      .map((name) => readFileSync(join(world.folder, name), 'utf8'))
    expect(records).toHaveLength(1)
    expect(records.join('')).not.toContain('"boundary"')
  })
})

describe('keys', () => {
  it('[GW7] the key of a request that stands in a result is in no file, shortened or not', async () => {
    const key = 'my-own-key-of-no-known-form-8c1f'
    const behind = await good()
    const gateway = await world.gateway(behind.url)
    const text = `ANTHROPIC_API_KEY=${key}\n${lines(40_000, 1)}\nagain ${key}`
    const headers = { 'x-api-key': key }
    await send(
      `${gateway.url}/v1/messages`,
      asking([says(`use ${key}`), calls('a'), gives('a', text)]),
      headers,
    )
    await send(
      `${gateway.url}/v1/messages`,
      asking([says(`use ${key}`), calls('a'), gives('a', text), calls('b'), gives('b', `small ${key}`)]),
      headers,
    )
    await gateway.stop()
    const files = readdirSync(world.folder, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    )
    expect(files.length).toBeGreaterThan(3)
    for (const file of files)
      expect(readFileSync(join(file.parentPath, file.name), 'utf8'), file.name).not.toContain(key)
    // What is forwarded whole is forwarded as it is.
    expect(behind.got[1]!.body).toContain(`small ${key}`)
    expect(world.lines.join('\n')).not.toContain(key)
  })
})

describe('many at once', () => {
  it('[GW24] two answers under way in one conversation are both recorded, and nothing is lost', async () => {
    const behind = await upstream(
      (_asked, response) => void setTimeout(() => answers(response, messageOf('ok')), 50),
    )
    const gateway = await world.gateway(behind.url)
    // Large enough that what is decided about them is written to the disk while others come.
    const list = [says('go'), replies('ok'), gives('a', lines(40_000, 1))]
    await send(`${gateway.url}/v1/messages`, asking(list.slice(0, 1)))
    await Promise.all([
      send(`${gateway.url}/v1/messages`, asking(list)),
      send(`${gateway.url}/v1/messages`, asking(list)),
      send(`${gateway.url}/v1/messages`, asking(list)),
    ])
    await send(`${gateway.url}/v1/messages`, asking([...list, replies('ok'), says('third')]))
    await gateway.stop()
    expect(world.lines).toEqual([])
    const facts = (await factsIn(world.folder)).flat()
    expect(facts.filter(({ type }) => type === 'assistant-message')).toHaveLength(5)
    expect(facts.filter((fact) => JSON.stringify(fact).includes('third'))).toHaveLength(1)
  })

  it('[GW24] 64 clients at once, each with its own conversation of its own key, get their own answers', async () => {
    const behind = await upstream(({ body }, response) => {
      const said = /client-\d+/u.exec(body)?.[0] ?? ''
      setTimeout(() => answers(response, messageOf(said)), Math.random() * 20)
    })
    const gateway = await world.gateway(behind.url)
    await Promise.all(
      Array.from({ length: 64 }, async (_, at) => {
        const list = [says(`client-${at}`)]
        for (let round = 0; round < 4; round++) {
          const reply = await send(`${gateway.url}/v1/messages`, asking(list), {
            'x-api-key': `key-${at % 8}`,
          })
          expect(reply.status).toBe(200)
          expect(reply.body).toContain(`"client-${at}"`)
          list.push(calls(`c${round}`), gives(`c${round}`, `client-${at} ${lines(20_000, at)}`))
        }
      }),
    )
    await gateway.stop()
    expect(gateway.savings.all.requests).toBe(256)
    const sessions = await factsIn(world.folder)
    expect(sessions).toHaveLength(64)
    for (const facts of sessions) expect(new Set(JSON.stringify(facts).match(/client-\d+/gu)).size).toBe(1)
    expect(world.lines).toEqual([])
  })
})
