// Own sessions of other programs, in a home made for the test.
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { OwnBill } from '../../src/lab/own/bill.ts'
import { findOwn, placesIn } from '../../src/lab/own/find.ts'
import { openWorkspace } from '../cli/pal.ts'

const usage = (read: number, written: number) => ({
  input_tokens: 3,
  cache_read_input_tokens: read,
  cache_creation_input_tokens: written,
  output_tokens: 90,
})

/** Claude Code: two rounds, of which the second lost the cache after a pause. */
const claudeLines = (pauseMinutes: number): string => {
  const at = (minutes: number): string => new Date(Date.UTC(2026, 7, 1, 10, minutes)).toISOString()
  const common = { isSidechain: false, sessionId: 's1', version: '2.1.200', cwd: '/proj' }
  const page = 'export const total = compute(3) // amount\n'.repeat(200)
  const assistant = (uuid: string, parentUuid: string, minutes: number, content: object, counts: object) => ({
    ...common,
    type: 'assistant',
    uuid,
    parentUuid,
    timestamp: at(minutes),
    message: {
      id: `m-${uuid}`,
      role: 'assistant',
      model: 'claude-opus-5',
      content: [content],
      usage: counts,
    },
  })
  const user = (uuid: string, parentUuid: string | null, minutes: number, content: unknown) => ({
    ...common,
    type: 'user',
    uuid,
    parentUuid,
    timestamp: at(minutes),
    message: { role: 'user', content },
  })
  return [
    user('u1', null, 0, 'Make it right.'),
    assistant(
      'a1',
      'u1',
      1,
      { type: 'tool_use', id: 't1', name: 'Read', input: { file_path: '/proj/a.ts' } },
      usage(0, 20_000),
    ),
    user('u2', 'a1', 1 + pauseMinutes, [{ type: 'tool_result', tool_use_id: 't1', content: page }]),
    assistant('a2', 'u2', 2 + pauseMinutes, { type: 'text', text: 'Done.' }, usage(0, 24_000)),
  ]
    .map((line) => JSON.stringify(line))
    .join('\n')
}

async function homeWith(home: string): Promise<string> {
  const project = join(home, '.claude', 'projects', '-proj')
  await mkdir(join(project, 's1', 'subagents'), { recursive: true })
  await writeFile(join(project, 's1.jsonl'), claudeLines(30))
  await writeFile(join(project, 'old.jsonl'), claudeLines(0))
  await utimes(join(project, 'old.jsonl'), new Date('2020-01-01'), new Date('2020-01-01'))
  await writeFile(join(project, 's1', 'subagents', 'agent-1.jsonl'), '{}')
  await writeFile(join(project, 'broken.jsonl'), 'no recording')
  return project
}

describe('own sessions', () => {
  it('[LB12] are looked for where the environment says the programs keep them', () => {
    const environment = { CLAUDE_CONFIG_DIR: '/a, /b', CODEX_HOME: '/c' }
    const folders = placesIn({ userHome: '/home/me', environment }).map(({ folder }) => folder)
    expect(folders).toEqual(
      ['/a/projects', '/b/projects', '/c/sessions', '/home/me/.pi/agent/sessions'].map((path) => join(path)),
    )
  })

  it('[LB12] are found newest first, and what is passed over is counted with its reason', async () => {
    const { home } = await openWorkspace()
    const project = await homeWith(home)
    const homes = { userHome: home, environment: {} }
    const all = await findOwn(homes, {})
    expect(all.sessions.map(({ path }) => path).at(-1)).toBe(join(project, 'old.jsonl'))
    expect(all.passedOver).toEqual([{ why: 'transcripts of sub-agents', count: 1 }])
    expect(all.missing.length).toBeGreaterThan(0)
    const some = await findOwn(homes, { since: Date.UTC(2021, 0, 1), limit: 1 })
    expect(some.sessions.length).toBe(1)
    expect(some.passedOver).toEqual([
      { why: 'older than asked for', count: 1 },
      { why: 'transcripts of sub-agents', count: 1 },
      { why: 'beyond the limit', count: 1 },
    ])
  })

  it('[LB13] pal replay without a path says what was paid, what ours would have cost and where the cache broke, and writes nothing there', async () => {
    const { pal, home } = await openWorkspace()
    const empty = await pal(['replay'])
    expect([empty.code, empty.err]).toEqual([1, expect.stringContaining('no session of Claude Code')])
    const project = await homeWith(home)
    const before = await stateOf(project)
    const { code, out } = await pal(['replay', '--since', '2021-01-01'])
    expect(code).toBe(0)
    // 3 + 1.25 × 20,000 and 3 + 1.25 × 24,000 at five dollars a million, twice 90 put out at 25.
    const paid = (5 * (6 + 1.25 * 44_000) + 25 * 180) / 1_000_000
    expect(out).toMatch(/^paid \$0\.28; with our policy \$0\.\d\d \(.\d+ %\)/)
    expect(out).toMatch(/claude-code +1 +2 +\$0\.28/)
    expect(out).toMatch(/claude-code +a pause +1 +20,000/)
    expect(out).toContain('1 older than asked for')
    expect(out).toContain('broken.jsonl')
    expect(await stateOf(project)).toEqual(before)
    const json = JSON.parse((await pal(['replay', '--own', '--json', '--since', '2021-01-01'])).out) as {
      bill: OwnBill
    }
    expect(json.bill.programs.length).toBe(1)
    expect(json.bill.paid).toBeCloseTo(paid, 9)
    expect((await pal(['replay', '--own', '--since', 'soon'])).code).toBe(2)
    // An answer to nothing cannot be played: what was paid for it is on neither side.
    const [, answer] = claudeLines(30).split('\n')
    await writeFile(join(project, 'cut.jsonl'), answer!.replaceAll('"s1"', '"s2"').replaceAll('m-a1', 'm-b1'))
    const cut = await pal(['replay', '--since', '2021-01-01'])
    expect(cut.out).toMatch(/^paid \$0\.28; with our policy \$0\.\d\d \(.\d+ %\)/)
    expect(cut.out).toContain('1 of 2 sessions are in the money')
    expect((await pal(['replay', '--own', '--sample'])).code).toBe(2)
  })
})

it('[J25] a session that its program copied into a second file is paid and played once', async () => {
  const { pal, home } = await openWorkspace()
  const project = join(home, '.claude', 'projects', '-proj')
  await mkdir(project, { recursive: true })
  const billNow = async (): Promise<OwnBill> =>
    (JSON.parse((await pal(['replay', '--own', '--json'])).out) as { bill: OwnBill }).bill
  await writeFile(join(project, 's1.jsonl'), claudeLines(30))
  const once = await billNow()
  // A copy of all of it, and one that goes on.
  const more = claudeLines(30).replaceAll('a2', 'a9').replaceAll('u2', 'u9')
  await writeFile(join(project, 's2.jsonl'), claudeLines(30))
  expect(await billNow()).toEqual(once)
  await writeFile(join(project, 's2.jsonl'), more)
  const both = await billNow()
  expect(both.programs[0]).toMatchObject({ requests: 3, counted: 2 })
  expect(both.paid).toBeCloseTo(once.paid + (5 * (3 + 1.25 * 24_000) + 25 * 90) / 1_000_000, 9)
})

async function stateOf(folder: string): Promise<readonly unknown[]> {
  const names = (await readdir(folder, { recursive: true })).sort()
  return Promise.all(
    names.map(async (name) => {
      const info = await stat(join(folder, name))
      return [name, info.mtimeMs, info.isFile() ? await readFile(join(folder, name), 'utf8') : '']
    }),
  )
}
