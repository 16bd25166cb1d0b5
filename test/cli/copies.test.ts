// Sessions out of a project and into another, through a folder and through a database: the same bytes, and nothing overwritten.
import { appendFile, cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call, text } from '../../src/simulator/index.ts'
import { fileStore } from '../../src/stores/index.ts'
import { entryFrom } from '../../src/testing/store-steps.ts'
import { seq, sessionId } from '../../src/transcript/ids.ts'
import { startServer, skipReason } from '../postgres/server.ts'
import { later, modelId } from '../e2e/simulated.ts'
import { openWorkspace, server, until, type Workspace } from './pal.ts'

const big = 'seq 1 30000'

async function scene(
  turns: number,
  more: Readonly<Record<string, string>> = {},
  answers: readonly string[] = [],
) {
  const steps = Array.from({ length: turns }, () => [[call('Bash', { command: big })], [text('done')]]).flat()
  const { access } = await server([...steps, ...answers])
  const at = await openWorkspace({
    ...access,
    PALIMPSEST_MODEL: modelId,
    PALIMPSEST_ALLOW: 'Bash(seq *)',
    ...more,
  })
  return at
}

async function rootOf({ state }: Workspace): Promise<string> {
  const [slug] = await readdir(join(state, 'projects'))
  return join(state, 'projects', slug!, 'sessions')
}

/** Lines and blobs of every session below a folder. */
async function bytesIn(root: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const session of await readdir(root)) {
    found[session] = await readFile(join(root, session, 'transcript.jsonl'), 'utf8')
    for (const blob of await readdir(join(root, session, 'tool-results')).catch(() => []))
      found[`${session}/${blob}`] = await readFile(join(root, session, 'tool-results', blob), 'base64')
  }
  return found
}

describe('sessions that are copied', () => {
  it('[TE43] are the same bytes elsewhere and back, and run again only what is new is taken', async () => {
    const at = await scene(2)
    expect((await at.pal(['-p', 'one'])).code).toBe(0)
    const folder = join(at.home, 'exported')
    const first = await at.pal(['sessions', 'export', '--all', '--to', folder, '--json'])
    expect(first.err).toBe('')
    const report = JSON.parse(first.out) as {
      entries: number
      blobs: number
      sessions: { refused: string | null }[]
    }
    expect(report.entries).toBeGreaterThan(5)
    expect(report.blobs).toBeGreaterThan(0)
    const own = await bytesIn(await rootOf(at))
    expect(await bytesIn(folder)).toEqual(own)
    expect(
      JSON.parse((await at.pal(['sessions', 'export', '--all', '--to', folder, '--json'])).out),
    ).toMatchObject({ entries: 0, blobs: 0 })
    expect((await at.pal(['-p', '--continue', 'two'])).code).toBe(0)
    expect((await at.pal(['sessions', 'export', '--to', folder])).out).toMatch(/entries and 1 blobs were new/)
    const grown = await bytesIn(await rootOf(at))
    expect(await bytesIn(folder)).toEqual(grown)

    const other = await scene(1)
    await mkdir(join(other.state, 'projects'), { recursive: true })
    const imported = await other.pal(['sessions', 'import', folder])
    expect(imported).toMatchObject({ code: 0, err: '' })
    expect(await bytesIn(await rootOf(other))).toEqual(grown)
    // It goes on there as any session does.
    expect((await other.pal(['-p', '--continue', 'three'])).code).toBe(0)
    // What has gone on is not the beginning of what is in the folder any more, and stays as it is.
    expect((await other.pal(['sessions', 'import', folder])).code).toBe(1)
  })

  it('[TE43] are refused with words where they are damaged, others, or not there', async () => {
    const at = await scene(2)
    expect((await at.pal(['-p', 'one'])).code).toBe(0)
    const [session] = await readdir(await rootOf(at))
    const line = join(await rootOf(at), session!, 'transcript.jsonl')
    const good = await readFile(line, 'utf8')
    await writeFile(line, good.replace('"seq":3', '"seq":x'))
    const damaged = await at.pal(['sessions', 'export', '--to', join(at.home, 'x')])
    expect(damaged.code).toBe(1)
    expect(damaged.err).toContain('is damaged and cannot be copied whole')
    expect(await readdir(at.home)).not.toContain('x')
    await writeFile(line, good)

    const folder = join(at.home, 'y')
    expect((await at.pal(['sessions', 'export', '--to', folder])).code).toBe(0)
    const theirs = join(folder, session!, 'transcript.jsonl')
    const before = (await readFile(theirs, 'utf8')).replace(/^(.*"seq":2,.*)$/m, (one) => one)
    // The same id with another end: neither side is touched.
    expect((await at.pal(['-p', '--continue', 'two'])).code).toBe(0)
    const stranger = join(at.home, 'z')
    await cp(folder, stranger, { recursive: true })
    await appendFile(
      join(stranger, session!, 'transcript.jsonl'),
      `${good
        .split('\n')
        .at(-2)!
        .replace(/"seq":\d+/, `"seq":${good.split('\n').length - 1}`)
        .replace(/,"crc":"[0-9a-f]+"/, '')}\n`,
    )
    const refused = await at.pal(['sessions', 'export', '--to', stranger])
    expect(refused.code).toBe(1)
    expect(refused.err).toMatch(/there is another session|says something else/)
    expect(await readFile(theirs, 'utf8')).toBe(before)
    const missing = await at.pal(['sessions', 'import', join(at.home, 'nowhere')])
    expect(missing.code).toBe(4)
    expect(missing.err).toContain('nowhere')
    expect((await at.pal(['sessions', 'export'])).code).toBe(2)
    expect((await at.pal(['sessions', 'export', '--to', 'a', '--otlp', 'b.json'])).code).toBe(2)
  })

  it('[TE43] leave no folder behind where a kept result cannot be read, and are not written into a folder without a name', async () => {
    const at = await scene(1)
    expect((await at.pal(['-p', 'one'])).code).toBe(0)
    const [session] = await readdir(await rootOf(at))
    const results = join(await rootOf(at), session!, 'tool-results')
    const [kept] = await readdir(results)
    await rm(join(results, kept!))
    await symlink('nowhere', join(results, kept!))
    const refused = await at.pal(['sessions', 'export', '--to', join(at.home, 'new')])
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('links are not followed')])
    expect(await readdir(at.home)).not.toContain('new')
    const nameless = await at.pal(['sessions', 'export', '--to', ''])
    expect([nameless.code, nameless.err]).toEqual([
      2,
      expect.stringContaining('--to needs the name of a folder'),
    ])
    expect(await readdir(at.project)).toEqual([])
  })

  it('[TE43] come with what they stand on; a copy that was killed goes on', async () => {
    const at = await scene(6)
    expect((await at.pal(['-p', 'one'])).code).toBe(0)
    const [parent] = await readdir(await rootOf(at))
    expect((await at.pal(['-p', '--continue', '--fork-session', 'two'])).code).toBe(0)
    const folder = join(at.home, 'killed')
    const running = await at.start(['sessions', 'export', '--to', folder])
    await until(
      async () => (await readdir(folder).catch(() => [])).length > 0 || running.child.exitCode !== null,
      'the copy to begin',
    )
    running.child.kill('SIGKILL')
    await running.ended
    expect((await at.pal(['sessions', 'export', '--to', folder])).code).toBe(0)
    const all = await bytesIn(folder)
    expect(all).toEqual(await bytesIn(await rootOf(at)))
    expect(Object.keys(all)).toContain(parent)
  })

  /** So many answers with names of their own, behind one another. */
  const reports = Array.from(
    { length: 8 },
    (_, n) => `${'word '.repeat(6000)}\nsee src/part_${n}.ts and total_${n}`,
  )
  const asked = async ({ pal }: Workspace, from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n++)
      expect((await pal(['-p', ...(n === 0 ? [] : ['--continue']), `what of total_${n}?`])).code).toBe(0)
  }
  const compacted = async (at: Workspace): Promise<readonly unknown[]> => {
    expect((await at.pal(['compact'])).code).toBe(0)
    const lines = Object.entries(await bytesIn(await rootOf(at))).flatMap(([name, file]) =>
      name.includes('/') ? [] : file.trim().split('\n'),
    )
    const facts = lines.map((line) => (JSON.parse(line) as { fact: { type: string; edits?: unknown } }).fact)
    return facts.filter(({ type }) => type === 'boundary').map(({ edits }) => edits)
  }

  it('[TE43] [O44] go on elsewhere from what a boundary had counted, as they would have here', async () => {
    const { access } = await server(reports)
    const at = await openWorkspace({ ...access, PALIMPSEST_MODEL: modelId, PALIMPSEST_WINDOW: '200000' })
    await asked(at, 0, 4)
    const [first] = await compacted(at)
    expect(JSON.stringify(first)).toContain('"counted":{')
    await asked(at, 4, 8)
    const folder = join(at.home, 'exported')
    expect((await at.pal(['sessions', 'export', '--all', '--to', folder])).code).toBe(0)
    const other = await openWorkspace({ ...access, PALIMPSEST_MODEL: modelId, PALIMPSEST_WINDOW: '200000' })
    await mkdir(join(other.state, 'projects'), { recursive: true })
    expect((await other.pal(['sessions', 'import', folder])).code).toBe(0)
    const here = await compacted(at)
    expect(await compacted(other)).toEqual(here)
    expect(here).toHaveLength(2)
    expect(JSON.stringify(here[1])).toContain('"answers":8')
  })

  it.skipIf(skipReason !== null)(
    '[TE43] [O44] go into the database of a fleet and back, byte for byte, and go on as they would have',
    async () => {
      const postgres = await startServer()
      later(() => postgres.stop())
      const database = { PAL_DATABASE_URL: postgres.url('postgres'), PAL_TENANT: 'acme' }
      const at = await scene(1, { PALIMPSEST_WINDOW: '200000' }, reports)
      expect((await at.pal(['fleet', 'migrate'], { environment: database })).code).toBe(0)
      expect((await at.pal(['-p', 'one'])).code).toBe(0)
      await asked(at, 1, 5)
      expect(JSON.stringify(await compacted(at))).toContain('"counted":{')
      await asked(at, 5, 7)
      const sent = await at.pal(['sessions', 'export', '--all', '--to', 'postgres'], {
        environment: database,
      })
      expect(sent).toMatchObject({ code: 0, err: '' })
      const other = await scene(1, { PALIMPSEST_WINDOW: '200000' })
      const back = await other.pal(['sessions', 'import', 'postgres'], { environment: database })
      expect(back).toMatchObject({ code: 0, err: '' })
      expect(await bytesIn(await rootOf(other))).toEqual(await bytesIn(await rootOf(at)))
      expect(await compacted(other)).toEqual(await compacted(at))
      const none = await at.pal(['sessions', 'export', '--to', 'postgres'])
      expect(none.code).toBe(2)
      expect(none.err).toContain('PAL_DATABASE_URL')
    },
  )

  it.skipIf(skipReason !== null)(
    '[DB6] [FL20] in the database of a fleet they cost what they had cost, each fork once, and no budget of today pays for it',
    async () => {
      const postgres = await startServer()
      later(() => postgres.stop())
      const environment = { PAL_DATABASE_URL: postgres.url('postgres'), PAL_TENANT: 'acme' }
      const at = await openWorkspace()
      expect((await at.pal(['-p', 'hello', '--offline'])).code).toBe(0)
      const root = await rootOf(at)
      const [session] = await readdir(root)
      const usage = { input: 1_000_000, cacheRead: 0, cacheWrite: 0, output: 0 }
      const answer = {
        type: 'assistant-message',
        messageId: 'm',
        stop: 'end_turn',
        content: [{ type: 'text', text: 'y' }],
        usage,
      }
      const end = { type: 'fork-end', purpose: 'notes', outcome: 'done', text: 't' }
      const start = { type: 'session-start', purpose: 'notes', startedBy: 'long' }
      const write = async (id: string, facts: readonly object[]): Promise<void> => {
        const store = fileStore({ root })
        const leased = await store.lease(sessionId(id))
        if (!leased.ok) throw new Error('taken')
        const entries = facts.map((fact, place) =>
          entryFrom(
            JSON.stringify({
              v: 1,
              seq: place,
              uuid: `${id}-${place}`,
              parent: null,
              at: 1_700_000_000_000,
              fact,
            }),
          ),
        )
        expect(await store.append(leased.lease, entries, seq(0), 'now')).toEqual({ ok: true })
        await store.release(leased.lease)
      }
      await write('long', [
        { type: 'session-start', session: 'long', purpose: 'main' },
        { ...answer, model: 'claude-sonnet-4-6' },
        { ...end, child: 'kept', spent: { tokens: 1_000_000, dollars: 3 } },
        { ...end, child: 'gone', spent: { tokens: 5, dollars: 25 } },
      ])
      await write('kept', [
        { ...start, session: 'kept' },
        { ...answer, model: 'claude-sonnet-4-6' },
      ])
      const inFleet = async (...words: string[]): Promise<unknown> => {
        const ended = await at.pal([...words, '--json'], { environment })
        expect(ended.err).toBe('')
        return JSON.parse(ended.out)
      }
      await inFleet('fleet', 'migrate')
      await inFleet('fleet', 'budget', 'tenant', '--cap', '10')
      await inFleet('sessions', 'export', 'long', session!, '--to', 'postgres')
      expect(await inFleet('fleet', 'budget')).toMatchObject([{ cap: 10, spent: 0 }])
      const rows = (await inFleet('fleet', 'list')) as readonly { session: string }[]
      const of = (id: string) => rows.find((row) => row.session === id)
      expect(of('long')).toMatchObject({ usd: 28, answers: 2, unpriced: 0 })
      expect(of('kept')).toMatchObject({ usd: 3, answers: 1, unpriced: 0 })
      // A budget of the time in which it was paid counts it.
      const then = ['--from', '2023-11-01', '--to', '2023-12-01']
      expect(await inFleet('fleet', 'budget', 'tenant', '--cap', '10', ...then)).toMatchObject([
        { from: '2023-11-01', spent: 31 },
        { spent: 0 },
      ])
    },
  )
})
