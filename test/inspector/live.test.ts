// The page while `pal` works: what is appended appears, an undo from the page reaches the running conversation, and a
// session that moved on refuses with what came.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { openWorkspace, server, until, type Running } from '../cli/pal.ts'
import { findings } from './axe.ts'
import { browserPath, faults, inspecting, opened } from './opened.ts'

const alone = { PALIMPSEST_NOTES: 'off', PALIMPSEST_EXTRACTION: 'off', PALIMPSEST_MODEL_SUMMARY: 'off' }

/** A conversation in lines that a test goes on with, against a model that says something long. */
async function conversing() {
  const { access, simulator } = await server(Array.from({ length: 12 }, () => 'word '.repeat(9000)))
  const workspace = await openWorkspace({ ...access, ...alone, PALIMPSEST_WINDOW: '200000' })
  const running = await workspace.start(['--lines'], { isOpen: true, inTerminal: true })
  const seen = textOf(running)
  await until(() => seen().includes('> '), 'the prompt')
  const say = async (words: string): Promise<void> => {
    const before = seen().length
    running.child.stdin?.write(`${words}\n`)
    await until(
      () =>
        /> ?$/.test(
          seen()
            .slice(before + words.length)
            .trimEnd(),
        ),
      `the prompt after ${words}`,
    )
  }
  return { workspace, simulator, running, seen, say }
}

function textOf({ child }: Running): () => string {
  let text = ''
  child.stdout?.on('data', (more: string) => (text += more))
  return () => text
}

const hashOf = (page: Page): Promise<string> => page.evaluate('location.hash') as Promise<string>

describe.skipIf(browserPath === null)('a live session (skipped where no chromium is)', () => {
  it('[PG11] [PG15] [PG16] appends appear, and an undo from the page is done by the conversation that runs', async () => {
    const { workspace, simulator, say, seen } = await conversing()
    await say('build the parser')
    const { url } = await inspecting(workspace)
    const open = await opened(url)
    const { page } = open
    await page.locator('.session-rows li a').first().click()
    await page.locator('.bar .dot.live').waitFor()
    await page.getByText('build the parser').first().waitFor()
    const rows = async (): Promise<number> =>
      Number(await page.locator('[role=grid]').getAttribute('aria-rowcount'))
    const before = await rows()
    await say('now the printer')
    await until(async () => (await rows()) > before, 'the new rows')
    await page.locator('.row .preview', { hasText: 'now the printer' }).first().waitFor()
    await say('now the tests')
    await say('/compact')
    await page.locator('.row', { hasText: 'autocompact' }).first().click()
    await page.locator('.edit h2').waitFor()
    await page.getByRole('button', { name: 'undo' }).click()
    await page.getByText(/session is open in process/).waitFor()
    expect(await findings(page)).toEqual([])
    await page.locator('dialog button.main').click()
    await page.locator('dialog [role=status]').waitFor()
    // It is done between turns: at the prompt at once, or with the next line.
    await say('and?')
    await page.locator('dialog .good', { hasText: 'Done' }).waitFor()
    await page.locator('dialog').getByRole('button', { name: 'close' }).click()
    await page.locator('.edit .facts', { hasText: 'undone' }).waitFor()
    // A prompt may also be that of the line which says what the page did: what must come is waited for.
    await say('/edits')
    await until(() => seen().includes('undone'), 'the edit as undone')
    await say('once more')
    const lastBody = (): string => JSON.stringify(simulator.log.last()?.body)
    await until(() => lastBody().includes('once more'), 'the last request')
    const body = lastBody()
    expect(body.split('word '.repeat(9000)).length - 1).toBeGreaterThanOrEqual(3)
    expect(await faults(open)).toEqual([])
  })

  it('[PG16] a session that moved on refuses an undo and says what came; nothing happens without a yes', async () => {
    const { workspace, say } = await conversing()
    for (const words of ['one', 'two', 'three', '/compact']) await say(words)
    const { url } = await inspecting(workspace)
    const open = await opened(url)
    const { page } = open
    // The page hears nothing of what comes: its last place grows old.
    await page.route('**/api/live*', (route) =>
      route.fulfill({ status: 200, contentType: 'text/event-stream', body: '' }),
    )
    await page.locator('.session-rows li a').first().click()
    await page.locator('.row', { hasText: 'autocompact' }).first().click()
    const posts: string[] = []
    page.on('request', (request) => request.method() === 'POST' && posts.push(request.url()))
    await page.getByRole('button', { name: 'undo' }).click()
    await page.locator('dialog').getByRole('button', { name: 'cancel' }).click()
    expect(posts).toEqual([])
    await page.route(/\/api\/s\/[^/]+$/, (route) => route.abort())
    await say('four')
    await page.keyboard.press('u')
    await page.locator('dialog button.main').click()
    await page.getByText(/has moved on to entry/).waitFor()
    expect(await page.locator('dialog .problem li').count()).toBeGreaterThan(0)
    expect(await hashOf(page)).toMatch(/\/x\/\d+$/)
    expect(posts.length).toBe(1)
    const { out } = await workspace.pal(['edits', '--json'])
    expect(JSON.parse(out)).toMatchObject({
      edits: expect.arrayContaining([expect.objectContaining({ layer: 'autocompact', state: 'live' })]),
    })
  })

  it('[PG12] the token leaves the address at once, goes with every question and stands in no link', async () => {
    const { access } = await server(['hello'])
    const workspace = await openWorkspace({ ...access, ...alone })
    await workspace.pal(['-p', 'hi'])
    const { url } = await inspecting(workspace)
    const token = /#t=(.+)$/.exec(url)![1]!
    const open = await opened('about:blank')
    const asked: { readonly url: string; readonly bearer: string | undefined }[] = []
    open.page.on('request', (request) => {
      if (request.url().includes('/api/'))
        asked.push({ url: request.url(), bearer: request.headers()['authorization'] })
    })
    await open.page.goto(url)
    await open.page.locator('.session-rows li a').first().click()
    await open.page.locator('.row').first().waitFor()
    expect(await open.page.evaluate('location.href')).not.toContain(token)
    await until(() => asked.length > 5, 'six questions of the page')
    for (const { url: to, bearer } of asked) {
      expect(to).not.toContain(token)
      expect(bearer).toBe(`Bearer ${token}`)
    }
    expect(await open.page.evaluate('document.documentElement.outerHTML')).not.toContain(token)
    // A reload finds it again; another tab, which has none, is refused in words.
    await open.page.reload()
    await open.page.locator('.row').first().waitFor()
    const other = await opened(url.replace(/#.*$/, ''))
    await other.page.getByText('does not accept this page’s token').first().waitFor()
  })
})
