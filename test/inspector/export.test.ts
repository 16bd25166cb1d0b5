// One session as one file: opened from the disk it shows its screens, asks nobody, and holds no secret unless it was asked for.
import { appendFile, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { Fact } from '../../src/transcript/fact.ts'
import { call } from '../../src/simulator/index.ts'
import { openWorkspace, server, type Workspace } from '../cli/pal.ts'
import { browserPath, faults, opened, sessionsFolder, written, type Opened } from './opened.ts'
import { hostileFacts, payloads } from './hostile.ts'

/** Made here, so that no scanner finds a key in this file. */
const canary = ['sk-', 'ant-api03-', 'Zq7'.repeat(30)].join('')
const password = ['tele', 'phone', '-9x'].join('')

/** Everything a file holds, its packs opened. */
async function insideOf(file: string): Promise<string> {
  const html = await readFile(file, 'utf8')
  const packs = [...html.matchAll(/<script type="text\/plain" id="pal-export-\d+">([^<]*)</gu)]
  expect(packs.length).toBeGreaterThan(1)
  return html + packs.map(([, pack]) => inflateRawSync(Buffer.from(pack!, 'base64')).toString()).join('\n')
}

async function exported(workspace: Workspace, words: readonly string[], name: string): Promise<string> {
  const file = join(workspace.home, name)
  const { code, out, err } = await workspace.pal(['inspect', ...words, '--export', file, '--json'])
  expect(err).toBe('')
  expect(code).toBe(0)
  const said = JSON.parse(out) as { readonly file: string; readonly bytes: number }
  expect(said).toMatchObject({ file, bytes: (await stat(file)).size })
  return file
}

/** Goes to an address and waits for what must come. */
async function seen(open: Opened, fragment: string, shows: string): Promise<void> {
  await open.go(fragment)
  await open.page.locator(shows).first().waitFor()
  expect.soft(await open.page.locator('.problem').allTextContents(), fragment).toEqual([])
}

describe('an exported session', () => {
  it('[IN8] holds no secret that stood in any text of it, under any name; with --raw it does, and says so', async () => {
    const workspace = await openWorkspace()
    const facts: readonly Fact[] = [
      ...hostileFacts(),
      { type: 'user-message', content: [{ type: 'text', text: `use ${canary} please` }], origin: 'typed' },
      {
        type: 'assistant-message',
        content: [
          {
            type: 'tool_use',
            id: 'toolu_login',
            name: 'Login',
            input: { [canary]: 1, user: 'me', password, header: [`Bearer ${canary}`] },
          },
        ],
        messageId: 'msg_1',
        stop: 'tool_use',
        model: 'claude-sonnet-5',
        provider: 'anthropic',
      } as Fact,
    ]
    await written(workspace, 'hostile', facts)
    const clean = await insideOf(await exported(workspace, ['hostile'], 'clean.html'))
    for (const secret of [canary, canary.slice(0, 40), password]) expect(clean).not.toContain(secret)
    expect(clean).toMatch(/\[secret:/u)
    const raw = await insideOf(await exported(workspace, ['hostile', '--raw'], 'raw.html'))
    for (const secret of [canary, password]) expect(raw).toContain(secret)
    const refused = await workspace.pal(['inspect', 'hostile', '--raw', '--no-open'])
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('--raw goes with --export') })
  })

  it('[IN8] a secret of its own in every text of every fact, in kinds nobody knows and in damaged lines: none is in the file', async () => {
    const workspace = await openWorkspace()
    const made: string[] = []
    const secret = (): string => {
      const one = ['sk-', 'ant-api03-', `${made.length + 1000}`, 'Zq7x'.repeat(20)].join('')
      made.push(one)
      return one
    }
    const kinds = [secret(), secret()]
    await written(workspace, 'full', hostileFacts(secret), kinds)
    const short = ['hun', 'ter2', 'horse'].join('')
    const file = join(sessionsFolder(workspace), 'full', 'transcript.jsonl')
    await appendFile(file, `{"v":1,"password":${short}}\n{"v":1,"text":${secret()}}\n`)
    const clean = await insideOf(await exported(workspace, ['full'], 'full.html'))
    expect(made.length).toBeGreaterThan(120)
    const left = [...made, ...made.map((one) => one.slice(0, 24))].filter((one) => clean.includes(one))
    expect(left).toEqual([])
    for (let length = 6; length <= short.length; length++) expect(clean).not.toContain(short.slice(0, length))
    expect(clean).toContain('not JSON')
    // With them it would have been found.
    const raw = await insideOf(await exported(workspace, ['full', '--raw'], 'full-raw.html'))
    expect(made.filter((one) => raw.includes(one)).length).toBeGreaterThan(110)
    expect(raw).toContain(short.slice(0, 7))
  })

  it.skipIf(browserPath === null)(
    '[IN9] opened from the disk it shows every screen, with the proof, and nothing leaves (skipped where no chromium is)',
    async () => {
      const { access } = await server([
        [call('Read', { file_path: 'notes.txt' })],
        'It says hello.',
        'It still says hello.',
      ])
      const workspace = await openWorkspace(access)
      await writeFile(join(workspace.project, 'notes.txt'), 'hello\n'.repeat(200))
      await workspace.pal(['-p', 'read the notes'])
      await workspace.pal(['-p', '--continue', 'and now?'])
      const open = await opened(pathToFileURL(await exported(workspace, [], 'talk.html')).href)
      const { page } = open
      await page.locator('.row .preview', { hasText: 'read the notes' }).first().waitFor()
      await page.getByText('0 secrets redacted').waitFor()
      const session = /#\/s\/([^/]+)/u.exec((await page.evaluate('location.hash')) as string)![1]!
      const at = `#/s/${session}`
      await page.locator('.row', { hasText: 'hello' }).first().click()
      await page.locator('.life li').first().waitFor()
      const requests = await page.locator('.row', { hasText: 'request' }).count()
      expect(requests).toBeGreaterThan(2)
      await page.keyboard.press('Escape')
      await page.keyboard.press('Home')
      await page.locator('.row.active').waitFor()
      await page.keyboard.press('J')
      await page.locator('.proof.good').waitFor()
      await page.keyboard.press('J')
      await page.locator('h2', { hasText: '#2' }).waitFor()
      await page.keyboard.press('d')
      await page.locator('.request .good').first().waitFor()
      await seen(open, `${at}/k`, '.breaks h2')
      await seen(open, `${at}/a`, '.tree .agent')
      await seen(open, '#/', '.session-rows li')
      await seen(open, at, '.row .preview')
      await page.keyboard.press('/')
      await page.locator('input:focus').waitFor()
      await page.keyboard.type('still says')
      await page.locator('.hits a').first().click()
      await page.locator('.block-screen h2').waitFor()
      expect(await page.getByRole('button', { name: 'pin' }).count()).toBe(0)
      expect(await page.getByRole('link', { name: 'Policies' }).count()).toBe(0)
      await page.locator('.request, .block-screen').first().waitFor()
      expect(await faults(open)).toEqual([])
    },
  )

  it.skipIf(browserPath === null)(
    '[IN9] [PG17] payloads in it are text there too (skipped where no chromium is)',
    async () => {
      const workspace = await openWorkspace()
      await written(workspace, 'hostile', hostileFacts())
      const file = await exported(workspace, ['hostile'], 'hostile.html')
      const open = await opened(pathToFileURL(file).href)
      const { page } = open
      await page.getByText('window.ran=1').first().waitFor()
      for (const [fragment, shows] of [
        ['/e/2/0', '.life li'],
        ['/x/11', '.edit .after pre'],
        ['/x/12', '.edit .after pre'],
        ['/k', '.break'],
        ['/a', '.tree .agent'],
        [`/e/5/0`, '.life li'],
      ] as const)
        await seen(open, `#/s/hostile${fragment}`, shows)
      await open.go('#/s/hostile/r/3')
      await page.locator('.request h2, .problem').first().waitFor()
      expect(
        await page.evaluate(
          "({ ran: 'ran' in window, made: document.querySelectorAll('img[src=\"x\"], iframe, base, svg[onload]').length })",
        ),
      ).toEqual({ ran: false, made: 0 })
      expect(payloads.length).toBeGreaterThan(10)
      expect(await faults(open)).toEqual([])
    },
  )
})
