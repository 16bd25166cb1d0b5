// `pal inspect` as people start it, with its page in a real browser. Everything the page says, asks for or is refused is
// kept, so that a test can say that there was nothing.
import { join } from 'node:path'
import type { Browser, Locator, Page, ViewportSize } from 'playwright-core'
import { afterAll } from 'vitest'
import { policyNamed } from '../../src/lab/policies/list.ts'
import { prepareReplay, replayOnce } from '../../src/lab/replay.ts'
import { load, type Source } from '../../src/lab/source.ts'
import { slugOf } from '../../src/preset/project.ts'
import { fileStore } from '../../src/stores/index.ts'
import type { Fact, StoredEntry } from '../../src/transcript/fact.ts'
import { seq, sessionId, systemIds } from '../../src/transcript/ids.ts'
import type { Store } from '../../src/transcript/store.ts'
import { openBrowser } from '../lab/browser.ts'
import type { Workspace } from '../cli/pal.ts'
import { mostMs, until } from '../until.ts'

export { browserPath } from '../lab/browser.ts'
export { inspecting } from './client.ts'

let browser: Promise<Browser> | null = null
afterAll(async () => {
  await (await browser)?.close()
  browser = null
})

/** The sessions of a workspace's project, as the command finds them. */
export const sessionsOf = (workspace: Workspace): Store =>
  fileStore({ root: sessionsFolder(workspace), fsync: 'none' })
export const sessionsFolder = ({ state, project }: Workspace): string =>
  join(state, 'projects', slugOf(project), 'sessions')

/** Plays a recording through the real engine into the workspace, under our policy; gives back its session. */
export async function playedInto(workspace: Workspace, source: Source, window: number): Promise<string> {
  const imported = await load(source)
  if (!imported.ok) throw new Error(imported.failure.message)
  const store = sessionsOf(workspace)
  const policy = { ...policyNamed('standard')! }
  const played = await replayOnce(prepareReplay(imported.recording), {
    policy,
    window,
    model: 'claude-sonnet-5',
    store,
  })
  if (played.figures.requests === 0) throw new Error('nothing was played')
  for await (const info of store.list()) if (info.ok) return info.session
  throw new Error('no session was written')
}

/** Writes facts as a session of the workspace, and behind them one of each of these kinds, which nobody knows. */
export async function written(
  workspace: Workspace,
  id: string,
  facts: readonly Fact[],
  kinds: readonly string[] = [],
): Promise<void> {
  const store = sessionsOf(workspace)
  const lease = await store.lease(sessionId(id))
  if (!lease.ok) throw new Error('the session is taken')
  const ids = systemIds()
  const unknown = kinds.map((kind, at): StoredEntry => {
    const place = { seq: seq(facts.length + at), uuid: ids.uuid() }
    const fact = { type: kind, text: `word ${at}`, constructor: 1 }
    const raw = JSON.stringify({ v: 1, ...place, parent: null, at: 1e300, fact })
    return { ...place, unknown: kind, changesView: false, raw }
  })
  const entries = facts.map((fact, at) => ({
    v: 1 as const,
    seq: seq(at),
    uuid: ids.uuid(),
    parent: null,
    at: 1_763_200_000_000 + at * 1000,
    fact,
  }))
  const outcome = await store.append(lease.lease, [...entries, ...unknown], seq(0), 'now')
  if (!outcome.ok) throw new Error(JSON.stringify(outcome))
  await store.release(lease.lease)
}

/** Whether something comes to be seen, or goes: what does not is for an assertion to say. */
export const comes = (what: Locator, state: 'visible' | 'detached' = 'visible'): Promise<boolean> =>
  what
    .first()
    .waitFor({ state })
    .then(
      () => true,
      () => false,
    )

/** Pixels by which the page is wider than its window, once it has been drawn anew for it. */
export async function widerThanWindow(page: Page): Promise<number> {
  const over = (): Promise<number> =>
    page.evaluate('document.documentElement.scrollWidth - innerWidth') as Promise<number>
  await until(async () => (await over()) <= 0).catch(() => undefined)
  return over()
}

export interface Opened {
  readonly page: Page
  /** Lines of the console, errors, violations of the policy, and requests that went elsewhere. */
  readonly wrong: string[]
  /** Goes to an address within the page. */
  go(fragment: string): Promise<void>
}

export async function opened(
  url: string,
  {
    viewport = { width: 1280, height: 800 },
    scheme = 'light' as 'light' | 'dark',
  }: {
    readonly viewport?: ViewportSize
    readonly scheme?: 'light' | 'dark'
  } = {},
): Promise<Opened> {
  browser ??= openBrowser()
  const page = await (await browser).newPage({ viewport, colorScheme: scheme })
  // Against hanging, not a measure of speed.
  page.setDefaultTimeout(mostMs)
  const wrong: string[] = []
  page.on('console', (message) => wrong.push(`console: ${message.text()}`))
  page.on('pageerror', (error) => wrong.push(`error: ${String(error)}`))
  page.on('dialog', (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  const origin = url.startsWith('file:') ? 'file:' : new URL(url).origin
  page.on('request', (request) => {
    const to = request.url()
    if (!to.startsWith(origin) && !to.startsWith('blob:') && !to.startsWith('data:'))
      wrong.push(`request: ${to}`)
  })
  await page.addInitScript(`
    window.violations = []
    document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective + ' ' + event.blockedURI))
  `)
  await page.goto(url)
  return {
    page,
    wrong,
    go: async (fragment) => {
      await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`)
    },
  }
}

/** What went wrong so far, violations of the policy with it. */
export async function faults({ page, wrong }: Opened): Promise<readonly string[]> {
  return [...wrong, ...((await page.evaluate('window.violations')) as string[])]
}
