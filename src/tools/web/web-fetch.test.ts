import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { createReadFiles } from '../files/read-files.ts'
import type { ToolEnv, ToolOutcome } from '../tool.ts'
import { isPublicAddress } from './http-get.ts'
import { pageText } from './page-text.ts'
import { webFetchTool } from './web-fetch.ts'
import { growthOf, mostGrowth } from '../../../test/until.ts'

// Many members in one stream: 200 MB when unpacked.
const bomb = Buffer.concat(Array.from({ length: 200 }, () => gzipSync(Buffer.alloc(1024 * 1024, 97))))
const pages: Record<string, RequestListener> = {
  '/page': (_request, response) =>
    response
      .setHeader('content-type', 'text/html; charset=utf-8')
      .end(
        '<title>Hi &amp; bye</title><body><h1>Head</h1><script>evil()</script><p>One <b>two</b>\n three <a href="https://example.com/x">link</a></p><ul><li>a<li>b</ul><pre>  code\n    in</pre></body>',
      ),
  '/json': (_request, response) => response.setHeader('content-type', 'application/json').end('{"a": 1}'),
  '/png': (_request, response) => response.setHeader('content-type', 'image/png').end('xx'),
  '/away': (_request, response) => response.writeHead(302, { location: '/json' }).end(),
  '/loop': (_request, response) => response.writeHead(302, { location: '/loop' }).end(),
  '/inside': (_request, response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
  '/other': (_request, response) =>
    response.writeHead(302, { location: `http://localhost:${port}/json` }).end(),
  '/file': (_request, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  '/missing': (_request, response) =>
    response.writeHead(404, { 'content-type': 'text/plain' }).end('not here'),
  '/bomb': (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end(bomb),
  '/latin': (_request, response) =>
    response.setHeader('content-type', 'text/plain; charset=iso-8859-1').end(Buffer.from([0xe9, 0x74, 0xe9])),
  '/echo': (request, response) =>
    response.setHeader('content-type', 'text/plain').end(JSON.stringify(request.headers)),
  '/slow': () => {},
}
const server = createServer((request, response) =>
  (pages[request.url ?? ''] ?? pages['/missing'])!(request, response),
)
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const env: ToolEnv = {
  cwd: '/',
  callId: 'c',
  readFiles: createReadFiles(),
  spill: null,
  expand: async () => ({ ok: false, why: '' }),
  isShown: () => false,
  report: () => {},
  now: () => 0,
}
const textOf = (outcome: ToolOutcome) =>
  outcome.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
const never = new AbortController().signal
const local = webFetchTool({ allowHosts: [`127.0.0.1:${port}`, `localhost:${port}`] })
const get = (path: string, signal = never) =>
  local.run({ url: `http://127.0.0.1:${port}${path}` }, env, signal)

describe('WebFetch', () => {
  it('[B40] gives a page as text, other text as it is, and refuses the rest', async () => {
    expect(textOf(await get('/page'))).toBe(
      'Hi & bye\n\n# Head\n\nOne two three link (https://example.com/x)\n\n- a\n- b\n\n  code\n    in',
    )
    expect(textOf(await get('/json'))).toBe('{"a": 1}')
    expect(textOf(await get('/latin'))).toBe('été')
    expect((await get('/png')).isError).toBe(true)
    const missing = await get('/missing')
    expect([missing.isError, textOf(missing)]).toEqual([true, '[status 404]\nnot here'])
  })

  it('[B41] follows redirects within bounds and checks each of them', async () => {
    expect(textOf(await get('/away'))).toBe(`[from http://127.0.0.1:${port}/json]\n{"a": 1}`)
    expect(textOf(await get('/loop'))).toMatch(/more than 5 redirects/)
    expect(textOf(await get('/inside'))).toMatch(/169\.254\.169\.254 is not an address of the public web/)
    expect(textOf(await get('/file'))).toMatch(/only http and https/)
    // Which hosts may be asked is decided by the call, so that another host needs a call of its own.
    expect(textOf(await get('/other'))).toMatch(/leads on to http:\/\/localhost:\d+\/json \(call WebFetch/)
  })

  it.each([
    'http://127.0.0.1/',
    'http://localhost/',
    'http://[::1]/',
    'http://0x7f.1/',
    'http://2130706433/',
    'http://[::ffff:10.0.0.1]/',
    'http://10.1.2.3/',
    'http://169.254.169.254/',
    'http://[fd00::1]/',
    'http://0/',
  ])('[B42] %s is not the public web', async (url) => {
    const done = await webFetchTool().run({ url }, env, never)
    expect(done.isError).toBe(true)
    expect(textOf(done)).toMatch(/not an address of the public web/)
  })

  it('[B42] a name that points inside is refused when the connection is made', async () => {
    const lookup = ((_name: string, _options: object, done: (error: null, found: object[]) => void) =>
      done(null, [{ address: '127.0.0.1', family: 4 }])) as never
    const done = await webFetchTool({ lookup }).run(
      { url: `http://rebound.example:${port}/json` },
      env,
      never,
    )
    expect(textOf(done)).toMatch(/127\.0\.0\.1 is not an address of the public web/)
    const allowed = await webFetchTool({ lookup, allowHosts: ['rebound.example'] }).run(
      { url: `http://rebound.example:${port}/json` },
      env,
      never,
    )
    expect(textOf(allowed)).toBe('{"a": 1}')
  })

  it.each([
    'ftp://example.com/',
    'file:///etc/passwd',
    'http://user:pass@example.com/',
    'no url',
    `https://example.com/${'x'.repeat(3000)}`,
    'http://a.evil\0.ok.com/',
  ])('[B42] %s is refused before anything is sent', async (url) => {
    expect((await webFetchTool().run({ url }, env, never)).isError).toBe(true)
  })

  it('[B43] unpacks no more than the cap, and sends nothing of ours', async () => {
    const before = process.memoryUsage().rss
    const bomb = textOf(await get('/bomb'))
    expect(bomb).toMatch(/^\[cut at 5242880 bytes\]\na+$/)
    expect(bomb.length).toBeLessThan(5_300_000)
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024)
    expect(Object.keys(JSON.parse(textOf(await get('/echo')))).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ])
  })

  it('[B43] an abort ends it at once', async () => {
    const abort = new AbortController()
    const running = get('/slow', abort.signal)
    setTimeout(() => abort.abort(), 50)
    expect(textOf(await running)).toBe('[interrupted]')
  })

  it('[B42] knows public addresses', () => {
    for (const address of ['8.8.8.8', '1.1.1.1', '2606:4700::1111'])
      expect(isPublicAddress(address)).toBe(true)
    for (const address of [
      '100.64.0.1',
      '192.168.1.1',
      '224.0.0.1',
      '255.255.255.255',
      '::',
      '::1',
      'fe80::1',
      'fc00::1',
      '2002:7f00:1::',
      '64:ff9b::7f00:1',
      '::ffff:8.8.8.8',
      'name',
    ])
      expect(isPublicAddress(address)).toBe(false)
  })

  it('[B44] no page makes the conversion slow', () => {
    for (const seed of ['<script>', '<', '<!--', '<a href=', '&#', '<pre>', '</', ' \t', '<svg ', '&amp']) {
      const growth = growthOf(25_000, (times) => pageText(seed.repeat(times)))
      expect(growth, seed).toBeLessThan(mostGrowth)
    }
  })
})
