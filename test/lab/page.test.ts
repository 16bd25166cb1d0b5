// The page of a replay in a real browser: it draws, answers to the mouse, and runs nothing that a recording says.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { playAll, type Outcome } from '../../src/lab/batch.ts'
import { pageOf } from '../../src/lab/page/page.ts'
import { kindOf, policyNamed } from '../../src/lab/policies/list.ts'
import { reportOf } from '../../src/lab/report.ts'
import { sampleSources } from '../../src/lab/source.ts'
import { browserPath, openBrowser } from './browser.ts'

const names = ['append-only', 'hindsight', 'bag-of-words', 'pi', 'standard']
const hostile = '</script><script>window.ran=1</script><img src=x onerror="window.ran=1">'

async function madePage(): Promise<string> {
  const chosen = names.map((name) => ({ ...policyNamed(name)! }))
  const options = {
    policies: chosen,
    window: 40_000,
    model: 'claude-sonnet-5',
    timelines: ['append-only', 'standard'],
  }
  const outcomes: Outcome[] = []
  for await (const outcome of playAll(sampleSources.slice(0, 2), options)) outcomes.push(outcome)
  const losses = [{ step: 3, tokens: 9000, cause: hostile as 'a pause', pauseMs: 1 }]
  const first = outcomes.find((outcome) => outcome.kind === 'played')!
  outcomes.unshift({
    kind: 'recorded',
    file: 0,
    client: hostile,
    figures: first.replayed.figures['1h'],
    losses,
  })
  const spoiled = outcomes.map((outcome): Outcome => {
    if (outcome.kind !== 'played') return outcome
    const timeline = outcome.replayed.timeline?.map((moment) => ({
      ...moment,
      changes: moment.changes.map((change) => ({ ...change, layer: hostile, why: hostile })),
    }))
    const name = `${outcome.replayed.name} ${hostile}`
    return {
      ...outcome,
      replayed: { ...outcome.replayed, name, client: hostile, problems: [hostile], timeline },
    }
  })
  const report = reportOf(spoiled, names, { window: 40_000, model: hostile })
  return pageOf(
    report,
    chosen.map((policy) => ({ name: policy.name, about: hostile, kind: kindOf(policy) })),
  )
}

describe.skipIf(browserPath === null)('the page of a replay (skipped where no chromium is)', () => {
  let browser: Browser
  let folder: string
  let html: string
  beforeAll(async () => {
    browser = await openBrowser()
    folder = await mkdtemp(join(tmpdir(), 'pal-page-'))
    html = await madePage()
    await writeFile(join(folder, 'page.html'), html)
  })
  afterAll(async () => {
    await browser.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function opened(
    scheme: 'light' | 'dark' = 'light',
  ): Promise<{ readonly page: Page; readonly said: string[] }> {
    const page = await browser.newPage({ colorScheme: scheme, viewport: { width: 1100, height: 900 } })
    const said: string[] = []
    page.on('console', (message) => said.push(message.text()))
    page.on('pageerror', (error) => said.push(String(error)))
    page.on('request', (request) => request.url().startsWith('file:') || said.push(request.url()))
    await page.goto(pathToFileURL(join(folder, 'page.html')).href)
    return { page, said }
  }

  it('[LB7] draws cost against what is kept, a table, and the window over time, and asks for nothing', async () => {
    const { page, said } = await opened()
    expect(await page.locator('#picture circle').count()).toBe(names.length)
    expect(await page.locator('#all tbody tr').count()).toBe(names.length)
    expect(await page.locator('#window polygon').count()).toBe(6)
    expect(await page.locator('#window .change').count()).toBeGreaterThan(0)
    expect(await page.locator('#window .break').count()).toBeGreaterThan(0)
    await page.locator('select[aria-label="session"]').selectOption('0')
    const paid = page.locator('#session tr', { hasText: 'as it was' })
    expect((await paid.textContent()) ?? '').toMatch(/^as it was\$\d+\.\d\d\$\d+\.\d\d\d+\.\d\d/)
    expect(said).toEqual([])
  })

  it('[LB25] begins with money: what was paid, what it would have been and why, then the sessions, and explains each column', async () => {
    const { page } = await opened()
    expect(await page.locator('h1').textContent()).toMatch(
      /^Paid \$\d+\.\d\d; with our policy \$\d+\.\d\d \([−+]\d+ %\)$/,
    )
    const headings = await page.locator('h2').allTextContents()
    expect(headings.slice(0, 3)).toEqual(['Why', 'Sessions', 'Policies'])
    expect(await page.locator('#sessions tbody tr').count()).toBe(2)
    const titles = page.locator('#all th')
    for (let at = 0; at < (await titles.count()); at++)
      expect((await titles.nth(at).getAttribute('title')) ?? '').not.toBe('')
    expect(await page.locator('#columns dt').count()).toBe((await titles.count()) - 1)
    expect(headings.join()).not.toMatch(/tuned on|held out/)
  })

  it('[LB7] answers to pointing, clicking and choosing', async () => {
    const { page, said } = await opened()
    await page.locator('#picture circle[data-policy=pi]').hover()
    expect(await page.locator('#pointed').textContent()).toContain('pi: ')
    await page.locator('#all tr[data-policy=standard]').click()
    expect(await page.locator('#picture circle.chosen').getAttribute('data-policy')).toBe('standard')
    await page.locator('#glass').scrollIntoViewIfNeeded()
    const box = (await page.locator('#glass').boundingBox())!
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
    const middle = await page.locator('#moment').textContent()
    expect(middle).toMatch(/^request \d+, 2026-.*read .*written/s)
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
    await page.mouse.move(box.x + 5, box.y + box.height / 2)
    expect(await page.locator('#moment').textContent()).toBe(middle)
    await page.locator('select[aria-label="policy"]').selectOption('append-only')
    expect(await page.locator('#window .change').count()).toBe(0)
    await page.locator('select[aria-label="kept"]').selectOption('words')
    await page.locator('select[aria-label="cache lifetime"]').selectOption('5m')
    expect(await page.locator('#picture circle').count()).toBe(names.length)
    expect(said).toEqual([])
  })

  it('[LB8] shows hostile words as words and runs none of them', async () => {
    const { page, said } = await opened('dark')
    expect(await page.evaluate("'ran' in window")).toBe(false)
    expect(await page.locator('img').count()).toBe(0)
    expect(await page.locator('script').count()).toBe(2)
    await page.locator('select[aria-label="session"]').selectOption('0')
    expect(await page.locator('#losses').textContent()).toContain(hostile)
    expect(await page.locator('select[aria-label="session"] option').first().textContent()).toContain(hostile)
    // Were one to slip in, the page's own rules would not let it run.
    await page.evaluate(`
      const script = document.createElement('script')
      script.textContent = 'window.ran = 1'
      document.body.append(script)
    `)
    expect(await page.evaluate("'ran' in window")).toBe(false)
    expect(said.filter((line) => !line.includes('Content Security Policy'))).toEqual([])
  })

  it('[LB7] is one file that names no other', () => {
    expect(html).not.toMatch(/\b(?:src|href)\s*=\s*["']?(?!x )/)
    expect(html.match(/https?:\/\/[^\s'"]+/g)).toEqual(['http://www.w3.org/2000/svg'])
  })
})
