// The pictures in docs/inspector.md: a made-up session, played through the engine, as `pal inspect` shows it in a real
// browser. `npm run screens` makes them anew, or this one alone: `npm run screens:inspect`.
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { policyNamed } from '../src/lab/policies/list.ts'
import { prepareReplay, replay } from '../src/lab/replay.ts'
import { load } from '../src/lab/source.ts'
import { slugOf } from '../src/preset/project.ts'
import { fileStore } from '../src/stores/index.ts'
import { browserPath, openBrowser } from '../test/lab/browser.ts'

const size = { width: 1120, height: 700 }
const root = process.cwd()
if (browserPath === null) {
  process.stderr.write('no chromium is installed: no pictures can be made\n')
  process.exit(2)
}
const folder = await realpath(await mkdtemp(join(tmpdir(), 'pal-inspect-screens-')))
const [home, project] = [join(folder, 'home'), join(folder, 'shop')]
await mkdir(home)
await mkdir(project)

/** The session that is shown: always the same one. */
async function play(): Promise<string> {
  const imported = await load({ kind: 'sample', index: 1 })
  if (!imported.ok) throw new Error(imported.failure.message)
  const place = join(home, '.palimpsest', 'projects', slugOf(project), 'sessions')
  const store = fileStore({ root: place, fsync: 'none' })
  const policy = { ...policyNamed('standard')! }
  await replay(prepareReplay(imported.recording), { policy, window: 40_000, model: 'claude-sonnet-5', store })
  for await (const info of store.list()) if (info.ok) return info.session
  throw new Error('no session was written')
}

const bundler = (await import(pathToFileURL(join(root, 'scripts', 'bundle.mjs')).href)) as {
  bundle: (folder: string) => Promise<void>
}
const built = join(root, 'node_modules', '.cache', 'pal-inspect-screens')
await bundler.bundle(built)
const session = await play()
const child = spawn(process.execPath, [join(built, 'pal.js'), 'inspect', '--json', '--no-open'], {
  cwd: project,
  env: { PATH: process.env['PATH'], HOME: home },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const browser = await openBrowser()
try {
  const url = await new Promise<string>((done) =>
    child.stdout
      .setEncoding('utf8')
      .once('data', (text: string) => done((JSON.parse(text) as { url: string }).url)),
  )
  const page = await browser.newPage({ viewport: size, colorScheme: 'light' })
  await page.goto(`${url}&/s/${session}`)
  await page.locator('.row .preview').first().waitFor()
  await keep(page, 'window')
  await page.locator('[role=grid]').focus()
  await page.keyboard.press('Home')
  await page.keyboard.press(']')
  await page.locator('.edit .after pre').first().waitFor()
  await keep(page, 'compaction')
  await page.keyboard.press('J')
  await page.locator('.proof').waitFor()
  await keep(page, 'request')
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.evaluate(`location.hash = '#/s/${session}/cmp/none/standard'`)
  await page.locator('.policies .chart').nth(1).waitFor({ timeout: 240_000 })
  await keep(page, 'policies')
} finally {
  await browser.close()
  child.kill('SIGINT')
  await rm(folder, { recursive: true, force: true })
}

async function keep(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(800)
  const path = resolve(root, 'docs', 'screens', `inspect-${name}.png`)
  await page.screenshot({ path })
  process.stdout.write(`docs/screens/inspect-${name}.png\n`)
}
