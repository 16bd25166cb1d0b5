// Transcripts are hostile and the page can undo: whatever stands in any text of any fact, nothing of it runs and nothing
// leaves.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { factProblem } from '../../src/transcript/codec.ts'
import { slugOf } from '../../src/preset/project.ts'
import type { Fact } from '../../src/transcript/fact.ts'
import { sessionId } from '../../src/transcript/ids.ts'
import { openWorkspace, until } from '../cli/pal.ts'
import {
  browserPath,
  comes,
  faults,
  inspecting,
  opened,
  sessionsFolder,
  written,
  type Opened,
} from './opened.ts'
import { hostileFacts, hostileKinds, payloads } from './hostile.ts'

/** Elements that only a payload would make, and what one would leave behind. */
const traces = `({
  ran: 'ran' in window,
  elements: document.querySelectorAll('img[src="x"], iframe, object, embed, base, link[href*="evil"], meta[http-equiv], svg[onload], script:not([src])').length,
  handlers: [...document.querySelectorAll('*')].filter((one) => one.getAttributeNames().some((name) => name.startsWith('on'))).length,
  links: [...document.querySelectorAll('a')].filter((one) => !(one.getAttribute('href') ?? '').startsWith('#')).map((one) => one.getAttribute('href')),
})`

async function isClean(open: Opened, what: string): Promise<void> {
  expect
    .soft(await open.page.evaluate(traces), what)
    .toEqual({ ran: false, elements: 0, handlers: 0, links: [] })
  // A browser notes every answer above 400 by itself; the page says it in words.
  const noted = (line: string): boolean => line.includes('the server responded with a status of 404')
  expect
    .soft(
      (await faults(open)).filter((line) => !noted(line)),
      what,
    )
    .toEqual([])
}

describe.skipIf(browserPath === null)('hostile sessions (skipped where no chromium is)', () => {
  it('[PG17] payloads in every text of every fact are shown as text, on every screen, and the policy of the page would let none run', async () => {
    const workspace = await openWorkspace()
    const facts = hostileFacts()
    expect(facts.flatMap((fact) => factProblem(fact) ?? [])).toEqual([])
    await written(workspace, 'hostile', facts)
    const memory = join(workspace.state, 'projects', slugOf(workspace.project), 'memory')
    await mkdir(memory, { recursive: true })
    await writeFile(
      join(memory, 'img onerror=1.md'),
      `---\nname: ${payloads[1]}\ndescription: ${payloads[0]}\n---\n${payloads.join('\n')}\n`,
    )
    const { url } = await inspecting(workspace)
    const open = await opened(url)
    const { page } = open
    await page.locator('.session-rows li a').first().waitFor()
    await isClean(open, 'sessions')
    await open.go('#/s/hostile')
    await page.locator('.row').first().waitFor()
    await page.getByText('window.ran=1').first().waitFor()
    await isClean(open, 'window')
    for (const [place, fact] of facts.entries()) {
      const to =
        fact.type === 'request-sent' ? 'r' : fact.type === 'view-edit' || fact.type === 'boundary' ? 'x' : 'e'
      await open.go(`#/s/hostile/${to}/${place}${to === 'e' ? '/0' : ''}`)
      await page.locator('.detail h2, .detail .problem').first().waitFor()
      await page.locator('.detail .waiting').first().waitFor({ state: 'detached' })
      for (const summary of await page.locator('.detail summary').all()) await summary.click()
      await isClean(open, `${fact.type} at ${place}`)
    }
    for (const [fragment, shows] of [
      [`#/s/hostile/x/${facts.length - 1}`, '.recorded .needed, .recorded .empty, .recorded .problem'],
      ['#/s/hostile/k', '.break'],
      ['#/s/hostile/a', '.tree .agent'],
      ['#/s/hostile/r/3/diff', '.request h2, .problem'],
      ['#/s/hostile/r/24/raw', '.request h2, .problem'],
      [`#/s/hostile/cmp/${encodeURIComponent(payloads[1])}/standard`, '.choices select'],
      ['#/m', '.memory h2'],
      [`#/s/${encodeURIComponent(payloads[0])}`, '.problem'],
    ] as const) {
      await open.go(fragment)
      await page.locator(shows).first().waitFor()
      await page.locator('.waiting').first().waitFor({ state: 'detached' })
      await isClean(open, fragment)
    }
    await open.go('#/s/hostile/e/2/0')
    await page.locator('.block-screen h2').waitFor()
    await page.keyboard.press('/')
    await page.locator('input:focus').waitFor()
    await page.keyboard.type('window.ran')
    await page.locator('.hits a').first().waitFor()
    await isClean(open, 'find')
    // Were one to slip in, the policy of the page would not let it run.
    const held = (await page.evaluate(`(() => {
      const tried = {}
      const attempt = (name, work) => { try { work(); tried[name] = 'done' } catch { tried[name] = 'refused' } }
      attempt('innerHTML', () => { document.createElement('p').innerHTML = '<b>x</b>' })
      attempt('script text', () => { const one = document.createElement('script'); one.textContent = 'window.ran = 1'; document.body.append(one) })
      attempt('policy', () => trustedTypes.createPolicy('x', {}))
      attempt('srcdoc', () => { document.createElement('iframe').srcdoc = 'x' })
      return tried
    })()`)) as Record<string, string>
    expect(held).toEqual({
      innerHTML: 'refused',
      'script text': 'refused',
      policy: 'refused',
      srcdoc: 'refused',
    })
    expect(await page.evaluate("'ran' in window")).toBe(false)
  })

  it('[PG17] [PG15] facts of kinds that nobody knows, whatever they are called and however many, are rows like others', async () => {
    const workspace = await openWorkspace()
    const first = hostileFacts().slice(0, 5)
    await written(workspace, 'odd', first, hostileKinds)
    const { url, chunks } = await inspecting(workspace)
    for (const { kind, kinds } of await chunks('odd'))
      expect([...kind].filter((one) => kinds[one] === undefined)).toEqual([])
    const open = await opened(url)
    const { page } = open
    await open.go('#/s/odd')
    // The list opens at its end, and stays there when the chart takes its room.
    await page.locator('.legend b').first().waitFor()
    const last = page.locator('.row .preview', { hasText: `word ${hostileKinds.length - 1}` })
    expect(await comes(last)).toBe(true)
    const end = async (): Promise<number> => {
      const box = await last.boundingBox()
      return box === null ? Infinity : box.y + box.height
    }
    await until(async () => (await end()) <= 800, 'the last row within the window')
    await isClean(open, 'the last rows')
    await page.keyboard.press('Home')
    for (const kind of ['constructor', 'toString'])
      expect(await comes(page.locator('.row .kind', { hasText: kind })), kind).toBe(true)
    // The order of what is read is not turned by a name.
    const row = page.locator('.row', { hasText: 'word 0' }).first()
    expect(await row.locator('.kind').textContent()).toContain('RLO')
    await isClean(open, 'the first rows')
    for (const at of [0, 1, 2, 5, hostileKinds.length - 1]) {
      await open.go(`#/s/odd/e/${first.length + at}/0`)
      await page.locator('.detail', { hasText: `word ${at}` }).waitFor()
      await isClean(open, hostileKinds[at]!)
    }
    expect(await page.locator('body').textContent()).not.toContain('NaN')
  })

  it('[IN21] a session that is cut, replaced or deleted while its page is open is shown as it is', async () => {
    const workspace = await openWorkspace()
    const talk = (...words: readonly string[]): readonly Fact[] => [
      { type: 'session-start', session: sessionId('talk'), purpose: 'main' },
      ...words.map((text): Fact => ({
        type: 'user-message',
        content: [{ type: 'text', text }],
        origin: 'typed',
      })),
    ]
    await written(workspace, 'talk', talk('one', 'two', 'three', 'four'))
    await written(workspace, 'other', talk('uno', 'due', 'tre', 'quattro', 'cinque', 'sei'))
    const fileOf = (session: string): string => join(sessionsFolder(workspace), session, 'transcript.jsonl')
    const { url } = await inspecting(workspace)
    const open = await opened(url)
    const { page } = open
    const row = (words: string) => page.locator('.row .preview', { hasText: words })
    const rows = (): Promise<readonly string[]> => page.locator('.row .preview').allTextContents()
    await open.go('#/s/talk')
    await row('four').waitFor()
    const whole = await readFile(fileOf('talk'), 'utf8')
    await writeFile(fileOf('talk'), `${whole.split('\n').slice(0, 3).join('\n')}\n`)
    expect(await comes(row('four'), 'detached')).toBe(true)
    expect(await comes(row('two'))).toBe(true)
    expect(await rows()).toEqual(['main', 'one', 'two'])
    await writeFile(fileOf('talk'), await readFile(fileOf('other')))
    expect(await comes(row('sei'))).toBe(true)
    expect(await rows()).toEqual(['main', 'uno', 'due', 'tre', 'quattro', 'cinque', 'sei'])
    await rm(dirname(fileOf('talk')), { recursive: true })
    expect(await comes(page.locator('.problem', { hasText: 'there is no such session' }))).toBe(true)
    expect(await comes(row('sei'), 'detached')).toBe(true)
    await isClean(open, 'a session that is gone')
  })

  it('[PG2] marks stand where characters are that nobody sees', async () => {
    const workspace = await openWorkspace()
    await written(workspace, 'hostile', [
      hostileFacts()[0]!,
      {
        type: 'user-message',
        content: [{ type: 'text', text: 'pay \u202Eeciohc\u202C now\u200B' }],
        origin: 'typed',
      },
    ])
    const { url } = await inspecting(workspace)
    const open = await opened(url)
    await open.go('#/s/hostile/e/1/0')
    await open.page.locator('.block .mark').first().waitFor()
    expect(await open.page.locator('.block .mark').allTextContents()).toEqual(['RLO', 'PDF', 'ZWSP'])
  })
})
