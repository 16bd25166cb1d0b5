// What only the page shows together: memories with versions and origins and what they were saved from, agents as a tree, the provider's
// word on a cache break, a pin set and released, and the same session under two policies.
import { describe, expect, it } from 'vitest'
import type {
  AgentNode,
  BlockDetail,
  MemoryList,
  RequestDetail,
  SessionList,
} from '../../src/inspector/protocol.ts'
import { ruleModel } from '../../src/simulator/index.ts'
import type { Fact } from '../../src/transcript/fact.ts'
import { seq, sessionId } from '../../src/transcript/ids.ts'
import { openWorkspace, server, until } from '../cli/pal.ts'
import { browserPath, faults, inspecting, opened, written } from './opened.ts'

const start = (session: string, purpose = 'main'): Fact => ({
  type: 'session-start',
  session: sessionId(session),
  purpose,
})
const said = (text: string): Fact => ({
  type: 'user-message',
  content: [{ type: 'text', text }],
  origin: 'typed',
})
/** A request and its answer, for 3 dollars a million of input. */
const asked = (upTo: number, input: number, source = 'main'): readonly Fact[] => [
  {
    type: 'request-sent',
    source,
    model: 'claude-sonnet-5',
    upTo: seq(upTo),
    hash: 'h',
    tokens: input,
    marks: [],
  },
  {
    type: 'assistant-message',
    content: [{ type: 'text', text: 'done' }],
    messageId: `msg_${upTo}`,
    stop: 'end_turn',
    model: 'claude-sonnet-5',
    usage: { input, cacheRead: 0, cacheWrite: 0, output: 0 },
  },
]
const began = (child: string, label: string): Fact => ({
  type: 'agent-start',
  child: sessionId(child),
  label,
  agent: 'explorer',
  mode: 'background',
})
const ended = (child: string, text: string): Fact => ({
  type: 'fork-end',
  child: sessionId(child),
  purpose: 'explorer',
  outcome: 'done',
  text,
  spent: { tokens: 1000, dollars: 0.5 },
})

describe.skipIf(browserPath === null)('shown together (skipped where no chromium is)', () => {
  it('[PG18] [IN10] memories with their versions, origins and what they were saved from', async () => {
    const { access } = await server([], { answerer: ruleModel() })
    const at = await openWorkspace({ ...access, PALIMPSEST_EXTRACTION: 'on' })
    await at.pal(['-p', 'Remember that the staging server is called pelican.'])
    await at.pal(['-p', 'Remember that the staging server is called pelican, and it is in Oslo.'])
    const { url, get } = await inspecting(at)
    const { sessions } = await get<SessionList>('/api/sessions')
    const [newest, older] = sessions.filter(({ purpose }) => purpose === 'main')
    const { stores } = await get<MemoryList>('/api/memory')
    const [memory] = stores.flatMap(({ memories }) => memories)
    expect(memory).toMatchObject({ versions: 2, origin: { session: newest!.session } })
    const block = await get<BlockDetail>(`/api/s/${older!.session}/block/2/0`)
    expect(block.memories).toMatchObject([{ file: memory!.file }])
    const open = await opened(url)
    const { page } = open
    await open.go('#/m')
    await page.locator('.memories a', { hasText: 'pelican' }).first().click()
    await page.locator('.detail .slider', { hasText: 'version 2 of 2' }).waitFor()
    await page.locator('.detail ins, .detail .is', { hasText: 'Oslo' }).first().waitFor()
    expect(await page.locator('.detail a[href^="#/s/"]').first().getAttribute('href')).toContain(
      newest!.session,
    )
    await page.locator('.detail input[type=range]').fill('0')
    await page.locator('.detail .slider', { hasText: 'version 1 of 2' }).waitFor()
    expect(await page.locator('.detail a[href^="#/s/"]').nth(1).getAttribute('href')).toContain(
      older!.session,
    )
    expect(await page.locator('.detail article').textContent()).not.toContain('Oslo.')
    // From the words it was saved from to the memory.
    await open.go(`#/s/${older!.session}/e/2/0`)
    await page.locator('.detail', { hasText: 'Memories saved from this stretch' }).waitFor()
    await page.locator('.detail a[href^="#/m/"]').click()
    await page.locator('.detail .slider').waitFor()
    expect(await faults(open)).toEqual([])
  })

  it('[PG19] [X19] agents as a tree with their cost alone and with those below, and the word of the provider on a break', async () => {
    const at = await openWorkspace()
    await written(at, 'grandchild', [
      start('grandchild', 'explorer'),
      said('look closer'),
      ...asked(1, 1_000_000),
    ])
    await written(at, 'child', [
      start('child', 'explorer'),
      said('look'),
      ...asked(1, 2_000_000),
      began('grandchild', 'a closer look'),
      ended('grandchild', 'nothing there'),
    ])
    await written(at, 'parent', [
      start('parent'),
      said('find it'),
      ...asked(1, 3_000_000),
      began('child', 'the first look'),
      began('gone', 'who left nothing'),
      ended('child', 'found **nothing**'),
      ...asked(6, 1000, 'summary'),
      ...asked(6, 1_000_000),
      {
        type: 'cache-break',
        source: 'main',
        causes: [{ kind: 'tools', added: ['Bash'], removed: [], changed: [], isReordered: false, chars: 40 }],
        tokens: 900_000,
        cost: 2.7,
        provider: 'system_changed',
        providerTokens: 899_000,
      },
    ])
    const { url, get } = await inspecting(at)
    const { root } = await get<{ readonly root: AgentNode }>('/api/s/parent/agents')
    const own = (node: AgentNode): number => node.totals!.dollars
    const [child, gone] = root.children
    const [grandchild] = child!.children
    expect(root.dollarsWithChildren).toBeCloseTo(own(root) + own(child!) + own(grandchild!), 9)
    expect(child!.dollarsWithChildren).toBeCloseTo(own(child!) + own(grandchild!), 9)
    expect(own(child!)).toBeGreaterThan(own(grandchild!))
    expect(gone).toMatchObject({ isHere: false, state: 'running' })
    // Held against the request before of the same source, not against whatever came between.
    const last = await get<RequestDetail>('/api/s/parent/request/9')
    expect(last).toMatchObject({ source: 'main', against: { seq: 2, number: 1 } })
    const open = await opened(url)
    const { page } = open
    await open.go('#/s/parent/a')
    const inner = page.locator('.tree > li > ul > li > ul > li', { hasText: 'a closer look' })
    await inner.waitFor()
    await page.locator('.agent', { hasText: 'its transcript is not in this store' }).waitFor()
    await page.locator('.agent summary').first().click()
    await page.getByText('found **nothing**').waitFor()
    await inner.locator('a').click()
    await page.locator('.row .preview', { hasText: 'look closer' }).waitFor()
    await open.go('#/s/parent/k')
    const found = page.locator('.break', {
      hasText: 'the provider says: the system prompt changed (899000 tokens)',
    })
    await found.waitFor()
    await found.getByText('we see a change of the tools, the provider one of the system prompt').waitFor()
    const { out } = await at.pal(['cost', 'parent'])
    expect(out.replace(/\s+/gu, ' ')).toContain(
      'the provider says: the system prompt changed (899000 tokens) (we see a change of the tools, the provider one of the system prompt)',
    )
    expect(await faults(open)).toEqual([])
  })

  it('[PG16] [PG20] a pin set and released from the page is in the session, and two policies are held against each other', async () => {
    const { access } = await server(['It says hello.', 'Bye.'])
    const at = await openWorkspace({ ...access, PALIMPSEST_EXTRACTION: 'off' })
    await at.pal(['-p', 'read the notes'])
    await at.pal(['-p', '--continue', 'good bye'])
    const { url, get } = await inspecting(at)
    const { session } = (await get<SessionList>('/api/sessions')).sessions.find(
      ({ purpose }) => purpose === 'main',
    )!
    const facts = async (): Promise<readonly string[]> => {
      const { lines } = await get<{ readonly lines: readonly { readonly line: string }[] }>(
        `/api/s/${session}/lines?from=0&to=400`,
      )
      return lines.map(({ line }) => (JSON.parse(line) as { readonly fact: Fact }).fact.type)
    }
    const open = await opened(url)
    const { page } = open
    await open.go(`#/s/${session}`)
    await page.locator('.row', { hasText: 'read the notes' }).first().click()
    for (const [button, fact, state] of [
      ['pin', 'pin', 'pinned'],
      ['release the pin', 'release', 'not pinned'],
    ] as const) {
      await page.getByRole('button', { name: button, exact: true }).click()
      await page.locator('dialog button.main').click()
      await page.locator('dialog .good', { hasText: 'Done' }).waitFor()
      await page.locator('dialog').getByRole('button', { name: 'close' }).click()
      await page.locator('.block-screen .facts span').getByText(state, { exact: true }).waitFor()
      expect((await facts()).at(-1)).toBe(fact)
    }
    await open.go(`#/s/${session}/cmp/none/standard`)
    await page.locator('.policies h3', { hasText: 'Difference' }).waitFor()
    expect(await page.locator('.policies .chart').count()).toBe(2)
    expect(await page.locator('.policies .problem').count()).toBe(0)
    await open.go(`#/s/${session}/cmp/none/standard/2`)
    await page.locator('.policies table').waitFor()
    await until(async () => (await page.locator('.policies table td').count()) > 6, 'both requests')
    expect(await faults(open)).toEqual([])
  })
})
