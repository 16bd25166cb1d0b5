// `palimpsest/fit` where there is no Node: bundled for a browser, run in a realm that has only what every browser has; and the
// package as it is shipped, imported by a page in a real browser.
import { execFileSync } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import { readFile, mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, normalize, resolve } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { beforeAll, describe, expect, it } from 'vitest'
import { fitBundle, type FitBundle } from '../../bench/fit-bundle.ts'
import { fit, type FitOptions, type FitOutcome, type FitState } from '../../src/fit/index.ts'
import type { WireName } from '../../src/model/model.ts'
import { browserPath, openBrowser } from '../lab/browser.ts'
import { inWords, linesOf, models, wires, type Step } from './lists.ts'

const root = resolve(import.meta.dirname, '../..')
/** What a page pays for it. Larger than this somebody has pulled in what does not belong. */
const mostBytes = 400_000

const steps: Step[] = [{ kind: 'prompt', text: 'Do the task, Größe 大きい 🙂.' }]
for (let at = 0; at < 12; at++) {
  const call = { id: `c${at}`, name: 'read', input: { at } }
  steps.push(
    { kind: 'answer', text: `Step ${at}.`, calls: [call], reasons: at % 2 === 0 },
    { kind: 'result', call, text: linesOf(at % 5, 9000) },
  )
}

/** A whole conversation, each call with the state of the one before: what it was asked, and what Node gives. */
function conversationOf(wire: WireName): {
  readonly asked: readonly string[]
  readonly given: readonly string[]
  readonly compactions: number
} {
  const options: FitOptions = { wire, model: models[wire], window: 14_000, store: false }
  const asked: string[] = []
  const given: string[] = []
  let state: FitState | null = null
  let compactions = 0
  for (let rounds = 1; rounds <= 12; rounds++) {
    const list = inWords(wire, steps.slice(0, 1 + 2 * rounds))
    const here: FitOutcome<unknown> = fit(list, { ...options, state })
    asked.push(JSON.stringify({ list, options: { ...options, state } }))
    given.push(JSON.stringify(here))
    if (!here.ok) throw new Error(here.message)
    compactions += here.report.boundary?.isNew === true ? 1 : 0
    state = here.state
  }
  return { asked, given, compactions }
}

describe('in a browser', () => {
  let bundle: FitBundle
  beforeAll(async () => {
    bundle = await fitBundle()
  })

  it('[FI7] asks for no part of Node, and is small', () => {
    expect(bundle.packages.filter((file) => !file.includes('node_modules/zod/'))).toEqual([])
    expect(bundle.text).not.toMatch(/from"node:|require\("node:|\bBuffer\b|process\.(?:env|version)/u)
    expect(bundle.bytes).toBeLessThan(mostBytes)
  })

  it.each(wires)('[FI7] gives the bytes that Node gives on %s', (wire) => {
    // Only what every browser has, and nothing of Node.
    const page = createContext({ TextEncoder, TextDecoder, structuredClone })
    runInContext(bundle.text, page)
    runInContext(
      'function answer(given) { const { list, options } = JSON.parse(given); return JSON.stringify(palimpsest.fit(list, options)) }',
      page,
    )
    const { asked, given, compactions } = conversationOf(wire)
    const answer = (page as { answer: (given: string) => string }).answer
    expect(asked.map(answer)).toEqual(given)
    expect(compactions).toBeGreaterThan(0)
  })
})

/** The folder of a package, to a page. */
async function served(folder: string): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname
    if (path === '/') {
      response.setHeader('content-type', 'text/html')
      response.end('<!doctype html><title>fit</title><link rel="icon" href="data:,">')
      return
    }
    readFile(join(folder, normalize(path))).then(
      (bytes) => response.setHeader('content-type', 'text/javascript').end(bytes),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

describe.skipIf(browserPath === null)('in Chromium (skipped where there is none)', () => {
  it('[FI7] the package as it is shipped is imported by a page and gives the bytes that Node gives on every wire', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pal-fit-'))
    execFileSync(process.execPath, [join(root, 'scripts', 'bundle.mjs'), folder], { stdio: 'ignore' })
    const { server, url } = await served(folder)
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      const said: string[] = []
      page.on('console', (message) => said.push(message.text()))
      page.on('pageerror', (error) => said.push(String(error)))
      page.on('response', (response) => void (response.ok() || said.push(response.url())))
      await page.goto(`${url}/`)
      await page.addScriptTag({
        type: 'module',
        content: `import { fit } from '/fit/index.js'
          window.answer = (given) => { const { list, options } = JSON.parse(given); return JSON.stringify(fit(list, options)) }`,
      })
      await page.waitForFunction('typeof window.answer === "function"')
      for (const wire of wires) {
        const { asked, given } = conversationOf(wire)
        const there = await page.evaluate(
          (all) =>
            all.map((each) => (globalThis as object as { answer: (given: string) => string }).answer(each)),
          [...asked],
        )
        expect(there).toEqual(given)
      }
      expect(said).toEqual([])
    } finally {
      await browser.close()
      server.close()
      await rm(folder, { recursive: true, force: true })
    }
  })
})
