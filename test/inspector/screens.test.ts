// Every screen of the inspector's page in a real browser, on the largest recorded session played through the engine.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { corpusFiles, corpusFolder } from '../shared-data.ts'
import type { Source } from '../../src/lab/source.ts'
import { openWorkspace, until, type Workspace } from '../cli/pal.ts'
import { isKnown } from '../../src/transcript/fact.ts'
import { sessionId } from '../../src/transcript/ids.ts'
import { findings } from './axe.ts'
import {
  browserPath,
  comes,
  faults,
  inspecting,
  opened,
  playedInto,
  sessionsOf,
  widerThanWindow,
  type Opened,
} from './opened.ts'

/** The recording with the most bytes, and a made-up one where there are none; with a window that it fills several times. */
function largest(): { readonly source: Source; readonly window: number } {
  const sizes = corpusFiles.map((name) => {
    const path = join(corpusFolder, name)
    return { path, bytes: statSync(path).size }
  })
  const most = sizes.toSorted((a, b) => b.bytes - a.bytes)[0]
  if (most !== undefined) return { source: { kind: 'file', path: most.path }, window: 120_000 }
  process.stderr.write('no recorded sessions are at hand: a made-up one is shown instead\n')
  return { source: { kind: 'sample', index: 1 }, window: 40_000 }
}

/** A screen: its address, what must come, and what it is called. */
interface Screen {
  readonly name: string
  readonly fragment: string
  readonly shows: string
}

describe.skipIf(browserPath === null)('the screens (skipped where no chromium is)', () => {
  let workspace: Workspace
  let session: string
  const around = { open: null as Opened | null }
  const page = (): Page => around.open!.page
  const shown = (what: string): Promise<void> => page().locator(what).first().waitFor({ timeout: 60_000 })

  it('[PG10] [PG11] [PG13] every screen of the largest recorded session, in both themes and three widths', async () => {
    workspace = await openWorkspace()
    const { source, window } = largest()
    session = await playedInto(workspace, source, window)
    const { url } = await inspecting(workspace)
    around.open = await opened(url)
    await shown('.session-rows li')
    await around.open.go(`#/s/${session}`)
    await shown('.row[data-row]')
    await shown('.legend b')
    const screens = await screensOf()
    for (const screen of screens) await lookAt(screen)
    await linksLead(screens)
    await keysWork()
    await findWorks()
    expect(await faults(around.open)).toEqual([])
  })

  async function screensOf(): Promise<readonly Screen[]> {
    const rows = (await page().evaluate(
      `fetch('/api/s/${session}/requests?before=1e9&count=5000', { headers: { Authorization: 'Bearer ' + sessionStorage.getItem('pal-inspect-token') } }).then((answer) => answer.json())`,
    )) as { seq: number[] }
    const { edits } = (await page().evaluate(
      `fetch('/api/s/${session}/edits', { headers: { Authorization: 'Bearer ' + sessionStorage.getItem('pal-inspect-token') } }).then((answer) => answer.json())`,
    )) as { edits: { seq: number; kind: string }[] }
    const request = rows.seq[Math.floor(rows.seq.length / 2)]!
    const compaction = edits.find(({ kind }) => kind === 'compaction') ?? edits[0]!
    const at = `#/s/${session}`
    return [
      { name: 'sessions', fragment: '#/', shows: '.session-rows li' },
      { name: 'window', fragment: at, shows: '.row .preview' },
      { name: 'request', fragment: `${at}/r/${request}`, shows: '.proof.good' },
      { name: 'difference', fragment: `${at}/r/${request}/diff`, shows: '.request .good, .difference' },
      { name: 'raw', fragment: `${at}/r/${request}/raw`, shows: '.raw pre' },
      { name: 'block', fragment: `${at}/e/${request - 1}/0`, shows: '.life li' },
      { name: 'edit', fragment: `${at}/x/${compaction.seq}`, shows: '.edit .after pre' },
      { name: 'breaks', fragment: `${at}/k`, shows: '.breaks h2' },
      { name: 'agents', fragment: `${at}/a`, shows: '.tree .agent' },
      { name: 'policies', fragment: `${at}/cmp/none/standard`, shows: '.choices select' },
      { name: 'memory', fragment: '#/m', shows: '.memory h2' },
    ]
  }

  async function lookAt({ name, fragment, shows }: Screen): Promise<void> {
    await around.open!.go(fragment)
    await shown(shows)
    expect.soft(await page().evaluate('location.hash'), name).toBe(fragment)
    expect.soft(await findings(page()), name).toEqual([])
    expect.soft(await page().locator('.problem').allTextContents(), name).toEqual([])
    // In the dark what may be another is what is seen on what.
    await page().emulateMedia({ colorScheme: 'dark' })
    expect.soft(await findings(page(), ['color-contrast']), `${name} in the dark`).toEqual([])
    await page().emulateMedia({ colorScheme: 'light' })
    for (const width of [360, 820, 1920, 1280]) {
      await page().setViewportSize({ width, height: 800 })
      await shown(shows)
      expect.soft(await widerThanWindow(page()), `${name} at ${width}`).toBeLessThanOrEqual(0)
      // Narrow, other things stand there and others are out of reach.
      if (width === 360) expect.soft(await findings(page()), `${name} at ${width}`).toEqual([])
    }
  }

  /** A link that was kept leads there in a page that knows nothing yet. */
  async function linksLead(screens: readonly Screen[]): Promise<void> {
    for (const { name, fragment, shows } of screens) {
      await around.open!.go(fragment)
      await page().reload()
      expect.soft(await comes(page().locator(shows)), name).toBe(true)
      expect.soft(await page().evaluate('location.hash'), name).toBe(fragment)
    }
  }

  /** What stands over a screen is without findings too. */
  async function overlayIsClean(name: string): Promise<void> {
    expect.soft(await findings(page()), name).toEqual([])
    await page().emulateMedia({ colorScheme: 'dark' })
    expect.soft(await findings(page(), ['color-contrast']), `${name} in the dark`).toEqual([])
    await page().emulateMedia({ colorScheme: 'light' })
  }

  /** Keys lead through entries, requests and edits; back leads back. */
  async function keysWork(): Promise<void> {
    const hash = async (): Promise<string> => (await page().evaluate('location.hash')) as string
    await around.open!.go(`#/s/${session}`)
    await shown('.row .preview')
    await page().keyboard.press('Home')
    await page().locator('.row.active').waitFor()
    await page().keyboard.press(']')
    await shown('.edit h2')
    const first = await hash()
    await page().keyboard.press(']')
    await until(async () => (await hash()) !== first)
    await page().keyboard.press('[')
    await until(async () => (await hash()) === first)
    await page().keyboard.press('J')
    await shown('.request h2')
    await page().keyboard.press('d')
    await until(async () => (await hash()).endsWith('/diff'), 'the difference')
    await page().goBack()
    await until(async () => !(await hash()).endsWith('/diff'), 'the request again')
    await page().keyboard.press('?')
    await shown('dialog .keys')
    await overlayIsClean('the keys')
    await page().keyboard.press('Escape')
    await page().locator('dialog').waitFor({ state: 'detached' })
    const said = await firstSaid()
    await page().keyboard.press('g')
    await page().locator('input:focus').waitFor()
    await overlayIsClean('going to an entry')
    await page().keyboard.type(String(said))
    await page().keyboard.press('Enter')
    await until(async () => (await hash()).includes(`/e/${said}/`), `the block of entry ${said}`)
    await page().keyboard.press('Escape')
    await until(async () => !/\/e\//.test(await hash()))
  }

  /** Where the person first speaks. */
  async function firstSaid(): Promise<number> {
    for await (const item of sessionsOf(workspace).read(sessionId(session)))
      if (item.kind === 'entry' && isKnown(item.entry) && item.entry.fact.type === 'user-message')
        return item.entry.seq
    throw new Error('nobody speaks in that session')
  }

  /** What no row shows is found, and opened at its block. */
  async function findWorks(): Promise<void> {
    await page().keyboard.press('/')
    await page().locator('input:focus').waitFor()
    await page().keyboard.type('e')
    await page().locator('.hits a').first().waitFor()
    await overlayIsClean('find')
    await page().locator('.hits a').last().click()
    await shown('.block-screen h2')
    await page().keyboard.press('/')
    await page().locator('input:focus').waitFor()
    await page().keyboard.type('no text that was ever said \u0000')
    await page().getByText('everything searched').waitFor({ timeout: 60_000 })
    expect(await page().locator('.hits a').count()).toBe(0)
    await page().keyboard.press('Escape')
  }
})
