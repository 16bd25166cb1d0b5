// What the inspector's page takes of a browser: bytes, processor time of its main thread to open sessions of many entries,
// to draw a frame while scrolling, and to show what is appended. Beside it the same rows as plain elements, in the same run.
// Processor time of the thread, not the clock: other programs on the machine do not count.
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { browserPath, openBrowser } from '../test/lab/browser.ts'
import { serveMade, type MadeServer } from './inspect-page-data.ts'

const goals = {
  firstBytes: 110 * 1024,
  allBytes: 150 * 1024,
  openMs: 400,
  frameMs: 8,
  appendMs: 300,
} as const
const frames = 150
const plainRows = 10_000
/** `--quick` leaves the million out. */
const isQuick = process.argv.includes('--quick')

if (browserPath === null) {
  process.stderr.write('no chromium is installed: the page cannot be measured\n')
  process.exit(2)
}
const folder = await mkdtemp(join(tmpdir(), 'pal-inspect-page-'))
const { bundlePage } = (await import(pathToFileURL(join(process.cwd(), 'scripts', 'bundle.mjs')).href)) as {
  bundlePage: (folder: string) => Promise<unknown>
}
const lines: (readonly [what: string, value: string, goal: string])[] = []
const failed: string[] = []
const line = (what: string, value: number, unit: string, most?: number): void => {
  const isOver = most !== undefined && value > most
  if (isOver) failed.push(what)
  lines.push([
    what,
    `${value.toLocaleString('en-US', { maximumFractionDigits: 1 })} ${unit}`,
    most === undefined ? '' : `${isOver ? 'over' : 'goal'} ≤ ${most.toLocaleString('en-US')}`,
  ])
}

try {
  await bundlePage(folder)
  sizes()
  const browser = await openBrowser()
  try {
    for (const count of isQuick ? [100_000] : [100_000, 1_000_000]) await measured(browser, count)
    await plain(browser)
  } finally {
    await browser.close()
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
const width = Math.max(...lines.map(([what]) => what.length))
for (const [what, value, goal] of lines)
  process.stdout.write(`${what.padEnd(width)}  ${value.padStart(12)}  ${goal}\n`)
if (failed.length > 0) {
  process.stderr.write(`over its goal: ${failed.join('; ')}\n`)
  process.exit(1)
}

function sizes(): void {
  const packed = (names: readonly string[]): number =>
    names.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name)), { level: 9 }).length, 0)
  const files = readdirSync(folder).filter((name) => name !== 'export.js')
  line(
    'first page, compressed',
    packed(files.filter((name) => !name.startsWith('prism'))),
    'bytes',
    goals.firstBytes,
  )
  line('all of it, compressed', packed(files), 'bytes', goals.allBytes)
  line('the page in an export, compressed', packed(['export.js', 'page.css']), 'bytes')
}

async function metric(cdp: CDPSession, wanted: string): Promise<number> {
  const { metrics } = await cdp.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === wanted)?.value ?? 0
}

/** Processor time of the page's thread so far, in ms. */
async function spent(cdp: CDPSession): Promise<number> {
  return (await metric(cdp, 'TaskDuration')) * 1000
}

async function newPage(browser: Browser): Promise<{ readonly page: Page; readonly cdp: CDPSession }> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' })
  return { page, cdp }
}

async function measured(browser: Browser, count: number): Promise<void> {
  const server = await serveMade(folder, count)
  const { page, cdp } = await newPage(browser)
  const name = `${count.toLocaleString('en-US')} entries`
  try {
    const start = await spent(cdp)
    await page.goto(`${server.url}&/s/big`)
    await page.locator('.row .preview', { hasText: 'says something' }).first().waitFor()
    line(
      `${name}: open, first rows seen`,
      (await spent(cdp)) - start,
      'ms CPU',
      count === 100_000 ? goals.openMs : undefined,
    )
    // All chunks have come when nothing is said to be loading any more.
    while (await page.locator('.filters', { hasText: 'still loading' }).count()) await page.waitForTimeout(50)
    await page.waitForTimeout(300)
    line(
      `${name}: open, whole index there`,
      (await spent(cdp)) - start,
      'ms CPU',
      count === 100_000 ? goals.openMs : undefined,
    )
    line(
      `${name}: elements`,
      (await page.evaluate('document.querySelectorAll("*").length')) as number,
      'elements',
    )
    line(`${name}: heap`, (await heap(cdp)) / 1e6, 'MB')
    const wheel = await scrolled(page, cdp, 'list.scrollTop -= 90')
    line(`${name}: frame while scrolling, p95`, wheel, 'ms CPU', goals.frameMs)
    line(
      `${name}: frame after a jump, p95`,
      await scrolled(page, cdp, 'list.scrollTop = list.scrollHeight * Math.random()'),
      'ms CPU',
    )
    await appended(page, cdp, server, name)
  } finally {
    await page.close()
    await server.stop()
  }
}

async function heap(cdp: CDPSession): Promise<number> {
  await cdp.send('HeapProfiler.collectGarbage')
  return metric(cdp, 'JSHeapUsedSize')
}

/**
 * The ninety-fifth of a hundred frames, each after one step. On a machine that is slow the text of rows comes while it is scrolled and
 * is drawn in a frame of its own: such a step counts by the frames it drew.
 */
async function scrolled(page: Page, cdp: CDPSession, step: string): Promise<number> {
  const each: number[] = []
  for (let frame = 0; frame < frames; frame++) {
    const [before, drawn] = [await spent(cdp), await metric(cdp, 'LayoutCount')]
    await page.evaluate(
      `new Promise((done) => { const list = document.querySelector('.list'); ${step}; requestAnimationFrame(() => requestAnimationFrame(done)) })`,
    )
    const cost = (await spent(cdp)) - before
    each.push(cost / Math.max(1, (await metric(cdp, 'LayoutCount')) - drawn))
  }
  return each.toSorted((a, b) => a - b)[Math.floor(frames * 0.95)]!
}

async function appended(page: Page, cdp: CDPSession, server: MadeServer, name: string): Promise<void> {
  await page.evaluate(
    '(() => { const list = document.querySelector(".list"); list.scrollTop = list.scrollHeight })()',
  )
  await page.waitForTimeout(300)
  const [waits, costs]: [number[], number[]] = [[], []]
  for (let time = 0; time < 12; time++) {
    const from = server.session.head + 1
    server.session.grow(3)
    const [cpu, start] = [await spent(cdp), performance.now()]
    server.tell(from)
    await page.locator(`.row[data-row="${server.session.head}"] .kind`).waitFor()
    waits.push(performance.now() - start)
    costs.push((await spent(cdp)) - cpu)
  }
  const middle = (values: readonly number[]): number =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
  line(`${name}: an append seen after, median by the clock`, middle(waits), 'ms', goals.appendMs)
  line(`${name}: an append, median`, middle(costs), 'ms CPU')
}

/** The baseline: every row an element from the beginning, as pages do that have no list of their own. */
async function plain(browser: Browser): Promise<void> {
  const { page, cdp } = await newPage(browser)
  await page.setContent(
    '<style>.r{display:grid;grid-template-columns:64px 1fr 76px 104px 84px 96px}</style><div class="list" style="height:700px;overflow:auto"></div>',
  )
  const start = await spent(cdp)
  await page.evaluate(`(() => {
    const list = document.querySelector('.list')
    for (let at = 0; at < ${plainRows}; at++) {
      const row = document.createElement('div')
      row.className = 'r'
      for (const text of [at, 'entry ' + at + ' says something of the usual length, as most of them do', 4000, 'in context', '$0.0300', '12 requests']) {
        const cell = document.createElement('span')
        cell.textContent = text
        row.append(cell)
      }
      list.append(row)
    }
  })()`)
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  line(
    `baseline, ${plainRows.toLocaleString('en-US')} rows as plain elements: open`,
    (await spent(cdp)) - start,
    'ms CPU',
  )
  line('baseline: frame while scrolling, p95', await scrolled(page, cdp, 'list.scrollTop += 90'), 'ms CPU')
  line(
    'baseline: elements',
    (await page.evaluate('document.querySelectorAll("*").length')) as number,
    'elements',
  )
}
