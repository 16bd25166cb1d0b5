// The documentation as a site: no link leads nowhere, and a real browser opens its pages without a complaint or a request
// to anybody else.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { browserPath, openBrowser } from '../lab/browser.ts'

const root = resolve(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'pal-site-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Built {
  readonly files: ReadonlyMap<string, string | null>
  readonly problems: readonly string[]
}
const { siteOf } = (await import(pathToFileURL(join(root, 'scripts', 'docs.mjs')).href)) as {
  siteOf: (folder?: string) => Built
}

describe('the documentation site', () => {
  it('[H51] every link of every page leads somewhere, and the index names every page', () => {
    expect(siteOf().problems).toEqual([])
  })

  it('[H51] a dead link, a wrong heading and a page that nobody names are found', () => {
    const copy = join(folder, 'copy')
    for (const name of ['docs', 'examples', ...readdirSync(root).filter((each) => each.endsWith('.md'))])
      cpSync(join(root, name), join(copy, name), { recursive: true })
    for (const name of ['src', 'test', 'bench', 'evals', 'scripts', 'package.json'])
      cpSync(join(root, name), join(copy, name), { recursive: true })
    expect(siteOf(copy).problems).toEqual([])
    const page = join(copy, 'docs', 'view.md')
    writeFileSync(
      page,
      `${readFileSync(page, 'utf8')}\n[a](gone.md) [b](layers.md#no-such-part) [c](../src)\n`,
    )
    writeFileSync(join(copy, 'docs', 'lonely.md'), '# Lonely\n')
    expect(siteOf(copy).problems).toEqual([
      'docs/view.md: gone.md leads nowhere',
      'docs/view.md: layers.md#no-such-part names no heading of docs/layers.md',
      'docs/lonely.md is not in the index docs/README.md',
    ])
  })

  it('[H51] text of a page never becomes markup of the site', () => {
    const { files } = siteOf()
    for (const [path, text] of files)
      if (path.endsWith('.html'))
        expect([path, /<script|<iframe|\son\w+=/i.test(text ?? '')]).toEqual([path, false])
  })

  it.skipIf(browserPath === null)(
    '[H51] opens in a browser from the disk, light and dark, wide and narrow (skipped where no chromium is)',
    async () => {
      const out = join(folder, 'site')
      const built = spawnSync(process.execPath, [join(root, 'scripts', 'docs.mjs'), out], {
        encoding: 'utf8',
      })
      expect([built.stderr, built.status]).toEqual(['', 0])
      const browser = await openBrowser()
      const said: string[] = []
      for (const [colorScheme, width] of [
        ['light', 1200],
        ['dark', 400],
      ] as const) {
        const page = await browser.newPage({ colorScheme, viewport: { width, height: 900 } })
        page.on('console', (message) => said.push(message.text()))
        page.on('pageerror', (error) => said.push(String(error)))
        page.on('request', (request) => void (request.url().startsWith('file:') || said.push(request.url())))
        for (const name of [
          'index.html',
          'docs/index.html',
          'docs/api/palimpsest.html',
          'docs/terminal.html',
        ]) {
          await page.goto(pathToFileURL(join(out, name)).href)
          expect(await page.locator('main h1').count()).toBe(1)
          // The style sheet was taken: without it the menu would stand on a transparent page of one column.
          expect(await page.evaluate('getComputedStyle(document.body).display')).toBe('grid')
          expect(
            await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
          ).toBeLessThanOrEqual(0)
          const broken =
            '[...document.images].filter((image) => !image.complete || image.naturalWidth === 0).length'
          expect([name, await page.evaluate(broken)]).toEqual([name, 0])
        }
        await page.goto(pathToFileURL(join(out, 'index.html')).href)
        await page.locator('nav a', { hasText: 'Embedding' }).click()
        await page.locator('main h1', { hasText: /^Embedding$/ }).waitFor()
        expect(await page.locator('nav [aria-current]').textContent()).toBe('Embedding')
        await page.close()
      }
      await browser.close()
      expect(said).toEqual([])
    },
  )
})
