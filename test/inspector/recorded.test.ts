// A compaction that another program made, beside ours: an imported session shows the figures that `pal replay --compactions --show`
// gives for the file it came from.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RecordedAnswer } from '../../src/inspector/protocol.ts'
import type { ShownCompaction } from '../../src/lab/index.ts'
import { isKnown, type Entry } from '../../src/transcript/fact.ts'
import { sessionId } from '../../src/transcript/ids.ts'
import { openWorkspace, type Workspace } from '../cli/pal.ts'
import { corpusFiles, corpusFolder } from '../shared-data.ts'
import { findings } from './axe.ts'
import type { Client } from './client.ts'
import { payloads } from './hostile.ts'
import { browserPath, faults, inspecting, opened, sessionsOf, widerThanWindow } from './opened.ts'

/** A session of Claude Code with one compaction, in which every text is hostile. */
function hostileFile(): string {
  const at = '2026-01-05T10:00:00.000Z'
  const base = { sessionId: 's', version: '2.1.7', cwd: '/work', timestamp: at, isSidechain: false }
  const line = (type: string, uuid: string, parentUuid: string | null, more: object): string =>
    JSON.stringify({ ...base, type, uuid, parentUuid, ...more })
  const user = (uuid: string, parent: string | null, content: unknown, more: object = {}): string =>
    line('user', uuid, parent, { message: { role: 'user', content }, ...more })
  const answer = (uuid: string, parent: string, content: readonly object[]): string =>
    line('assistant', uuid, parent, {
      message: {
        id: `msg_${uuid}`,
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content,
        stop_reason: 'end_turn',
        usage: { input_tokens: 10, output_tokens: 5 },
      },
    })
  const summary = `They ask for ${payloads.join('\n')}. ${'It goes on and on. '.repeat(40)}`
  const command = 'grep -rn total_of_rows src/ledger_table.ts'
  return [
    user('u1', null, `first ${payloads[0]} in src/ledger_table.ts\n${payloads.join('\n')}`),
    answer('a1', 'u1', [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command } }]),
    user('r1', 'a1', [
      {
        type: 'tool_result',
        tool_use_id: 't1',
        content: `<img src=x onerror="window.ran=1"> total_of_rows port 48123 ${payloads[1]}`,
      },
    ]),
    answer('a2', 'r1', [{ type: 'text', text: 'It is there.' }]),
    line('system', 'c1', null, { subtype: 'compact_boundary', logicalParentUuid: 'a2' }),
    user('cs', 'c1', summary, { isCompactSummary: true }),
    user('u2', 'cs', 'go on'),
    answer('a3', 'u2', [
      {
        type: 'tool_use',
        id: 't2',
        name: 'Bash',
        input: { command: 'open 48123 && edit src/ledger_table.ts' },
      },
    ]),
    user('r2', 'a3', [{ type: 'tool_result', tool_use_id: 't2', content: 'done' }]),
    answer('a4', 'r2', [{ type: 'text', text: 'Done.' }]),
    '',
  ].join('\n')
}

/** Imports a file and gives its session with the places of its recorded compactions. */
async function imported(
  at: Workspace,
  file: string,
): Promise<{ session: string; places: readonly number[] }> {
  const { code, out, err } = await at.pal(['import', file, '--json'])
  expect([code, err]).toEqual([0, ''])
  const { session } = JSON.parse(out) as { readonly session: string }
  const entries: Entry[] = []
  for await (const item of sessionsOf(at).read(sessionId(session)))
    if (item.kind === 'entry' && isKnown(item.entry)) entries.push(item.entry)
  const places = entries.filter(({ fact }) => fact.type === 'compaction-recorded').map(({ seq }) => seq)
  return { session, places }
}

async function recordedAt(client: Client, session: string, at: number): Promise<RecordedAnswer> {
  for (;;) {
    const { status, body } = await client.post(`/api/s/${session}/recorded`, { at })
    expect(status).toBe(200)
    const answer = body as RecordedAnswer
    if (answer.state !== 'running') return answer
  }
}

/** The figures of a file, as the command prints them. */
async function shownBy(at: Workspace, file: string, number: number): Promise<ShownCompaction> {
  const { out } = await at.pal(['replay', file, '--compactions', '--show', String(number), '--json'])
  return JSON.parse(out) as ShownCompaction
}

async function sameFigures(at: Workspace, file: string): Promise<number> {
  const { session, places } = await imported(at, file)
  const client = await inspecting(at)
  for (const [index, place] of places.entries()) {
    const { vendor, ours, needed, words } = await shownBy(at, file, index + 1)
    const { recorded, problem } = await recordedAt(client, session, place)
    expect(problem).toBeNull()
    expect(recorded).toMatchObject({ words, needed })
    expect(recorded).toMatchObject({ vendor, ours })
  }
  await client.stop()
  return places.length
}

describe('a compaction that another program made', () => {
  it('[IN20] has the figures of `pal replay --compactions --show`', async () => {
    const at = await openWorkspace()
    const file = join(at.home, 'talk.jsonl')
    await writeFile(file, hostileFile())
    expect(await sameFigures(at, file)).toBe(1)
  })

  for (const [client, name] of [
    ['Claude Code', 'cc-cli-6113e91967.jsonl.gz'],
    ['Codex, sealed', 'codex-mise-50efdba9.jsonl.gz'],
    ['pi', 'pi-pi-mono-215f90ff.jsonl.gz'],
  ] as const)
    it.skipIf(!corpusFiles.includes(name))(
      `[IN20] has those figures for a recorded session of ${client} (skipped without recorded sessions)`,
      async () => {
        const at = await openWorkspace()
        expect(await sameFigures(at, join(corpusFolder, name))).toBeGreaterThan(0)
      },
    )

  it.skipIf(browserPath === null)(
    '[PG22] [PG17] stands beside ours on the page, with what each kept and lost; its texts scroll, and nothing of them runs (skipped where no chromium is)',
    async () => {
      const at = await openWorkspace()
      const file = join(at.home, 'talk.jsonl')
      await writeFile(file, hostileFile())
      const { session, places } = await imported(at, file)
      const client = await inspecting(at)
      const before = JSON.stringify(await client.get(`/api/s/${session}`))
      const { needed } = await shownBy(at, file, 1)
      const lost = needed.filter(({ vendor }) => vendor === 'no').length
      expect([needed.length > 1, lost > 0]).toEqual([true, true])
      const open = await opened(client.url)
      const { page } = open
      // By the row of its entry, and by its address.
      await open.go(`#/s/${session}`)
      await page.locator('.row', { hasText: 'recorded compaction' }).click()
      await page.locator('.recorded .needed li').first().waitFor()
      expect(await page.evaluate('location.hash')).toBe(`#/s/${session}/x/${places[0]}`)
      expect(await page.locator('.recorded .needed li').count()).toBe(needed.length)
      expect(await page.locator('.needed li > span:nth-of-type(1).bad').count()).toBe(lost)
      const vendor = page.locator('.recorded .sides section').first()
      await vendor.getByText(`${needed.length - lost} of ${needed.length} details kept`).waitFor()
      expect(await vendor.locator('pre').textContent()).toContain('</title></style></textarea><iframe')
      const tops = await Promise.all(
        [0, 1].map(async (at) => (await page.locator('.recorded .sides section').nth(at).boundingBox())?.y),
      )
      expect(tops[0]).toBe(tops[1])
      await page.setViewportSize({ width: 360, height: 400 })
      expect(await vendor.locator('.scrolled').evaluate((box) => box.scrollHeight > box.clientHeight)).toBe(
        true,
      )
      expect(await widerThanWindow(page)).toBeLessThanOrEqual(0)
      for (const scheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: scheme })
        expect(await findings(page)).toEqual([])
      }
      expect(
        await page.evaluate(
          "({ ran: 'ran' in window, made: document.querySelectorAll('img[src=\"x\"], iframe, base, svg[onload]').length })",
        ),
      ).toEqual({ ran: false, made: 0 })
      expect(await faults(open)).toEqual([])
      expect(JSON.stringify(await client.get(`/api/s/${session}`))).toBe(before)
      // A place at which none is recorded, and what is no place.
      expect(await recordedAt(client, session, 1)).toMatchObject({ state: 'failed', recorded: null })
      for (const wrong of [-1, 1.5, '1', null])
        expect((await client.post(`/api/s/${session}/recorded`, { at: wrong })).status).toBe(400)
    },
  )
})
