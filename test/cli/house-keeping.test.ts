// Sessions are deleted by hand and by limits, and what crashes left is collected; everything else stays.
import { mkdir, readFile, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openWorkspace, server, until, type Workspace } from './pal.ts'

interface Row {
  readonly session: string
  readonly purpose: string | null
}

const day = 24 * 3600
const said = async (at: Workspace, ...words: string[]): Promise<string> => {
  const { out } = await at.pal(['-p', '--output-format', 'json', ...words])
  return (JSON.parse(out) as { session: string }).session
}
const listed = async (at: Workspace): Promise<string[]> =>
  (JSON.parse((await at.pal(['sessions', '--json', '--all'])).out) as Row[])
    .map(({ session }) => session)
    .sort()

async function folderOf(at: Workspace): Promise<string> {
  const projects = join(at.state, 'projects')
  return join(projects, (await readdir(projects))[0]!)
}

async function aged(at: Workspace, session: string, days: number): Promise<void> {
  const when = Date.now() / 1000 - days * day
  await utimes(join(await folderOf(at), 'sessions', session, 'transcript.jsonl'), when, when)
}

/** Another `pal` that has the session open, and how to end it. */
async function holding(at: Workspace, session: string): Promise<() => Promise<unknown>> {
  const { child, ended } = await at.start(['--lines', '--resume', session], { isOpen: true })
  const lock = join(await folderOf(at), 'sessions', session, 'lock')
  await until(async () => {
    for (const name of await readdir(lock))
      if (/^\d+$/.test(name) && (await readFile(join(lock, name), 'utf8')).includes('"pid"')) return true
    return false
  })
  return () => {
    child.stdin?.end()
    return ended
  }
}

describe('pal sessions delete', () => {
  it('[G65] deletes by the beginning of an id, after a question, and shows what would go first', async () => {
    const { access } = await server(['1', '2'])
    const at = await openWorkspace(access)
    const [one, two] = [await said(at, 'first'), await said(at, 'second')]
    const dry = await at.pal(['sessions', 'delete', one, '--dry-run'])
    expect(dry).toMatchObject({ code: 0, err: '' })
    expect(dry.out).toMatch(/first[\s\S]*would be deleted/)
    // Nobody can be asked.
    const unasked = await at.pal(['sessions', 'delete', one])
    expect({ code: unasked.code, left: await listed(at) }).toEqual({ code: 2, left: [one, two].sort() })
    expect(unasked.err).toContain('--yes')
    const json = await at.pal(['sessions', 'delete', one, '--yes', '--json'])
    expect(JSON.parse(json.out)).toMatchObject({ deleted: true, sessions: [{ session: one }] })
    expect(await listed(at)).toEqual([two])
    expect((await at.pal(['sessions', 'delete', one, '--yes'])).code).toBe(4)
  })

  it('[G65] asks at a terminal: only a yes deletes', async () => {
    const { access } = await server(['1'])
    const at = await openWorkspace(access)
    const one = await said(at, 'first')
    for (const [answer, code, left] of [
      ['n', 1, [one]],
      ['', 1, [one]],
      ['perhaps', 1, [one]],
      ['y', 0, []],
    ] as const) {
      const { child, ended } = await at.start(['sessions', 'delete', one], { inTerminal: true, isOpen: true })
      let shown = ''
      child.stdout?.on('data', (text: string) => (shown += text))
      await until(() => shown.includes('[y/N]'), 'the question')
      child.stdin?.write(`${answer}\n`)
      const end = await ended
      child.stdin?.end()
      expect([answer, end.code, await listed(at)]).toEqual([answer, code, left])
      expect(end.out).toContain(code === 0 ? 'deleted' : 'nothing was deleted')
    }
  })

  it('[G65] a session that others begin with stays until they are named or taken along', async () => {
    const { access } = await server(['1', '2', '3'])
    const at = await openWorkspace(access)
    const one = await said(at, 'first')
    const branch = await said(at, '--resume', one, '--fork-session', 'aside')
    const refused = await at.pal(['sessions', 'delete', one, '--yes'])
    expect({ code: refused.code, left: await listed(at) }).toEqual({ code: 1, left: [one, branch].sort() })
    expect(refused.err).toContain(branch)
    expect((await at.pal(['sessions', 'delete', one, '--yes', '--with-branches'])).code).toBe(0)
    expect(await listed(at)).toEqual([])
  })

  it('[G65] makes room on a disk that is full, where no lock can be written, and spares what is open', async () => {
    const { access } = await server(['1', '2'])
    const at = await openWorkspace(access)
    const [one, two] = [await said(at, 'first'), await said(at, 'second')]
    const held = await holding(at, two)
    const environment = {
      NODE_OPTIONS: `--require ${join(import.meta.dirname, 'failing-disk.cjs')}`,
      PAL_FAIL_WRITE: '.',
      PAL_FAIL_COUNT: '1000000',
    }
    expect((await at.pal(['-p', 'full'], { environment })).code).toBe(1)
    expect(await at.pal(['sessions', 'delete', one, '--yes'], { environment })).toMatchObject({
      code: 0,
      err: '',
    })
    expect((await at.pal(['sessions', 'delete', two, '--yes'], { environment })).code).not.toBe(0)
    expect(await listed(at)).toEqual([two])
    await held()
  })
})

describe('pal sessions prune', () => {
  it('[G66] shows what is too old, deletes it only when told, and never the newest', async () => {
    const { access } = await server(['1', '2', '3'])
    const at = await openWorkspace(access)
    const [old, middle, newest] = [await said(at, 'old'), await said(at, 'middle'), await said(at, 'newest')]
    await aged(at, old, 40)
    await aged(at, middle, 10)
    await aged(at, newest, 9)
    const dry = await at.pal(['sessions', 'prune', '--days', '30'])
    expect(dry.out).toMatch(/1 sessions older than 30 days.*would be deleted/)
    expect(await listed(at)).toEqual([old, middle, newest].sort())
    const done = await at.pal(['sessions', 'prune', '--days', '30', '--delete', '--json'])
    expect(JSON.parse(done.out)).toMatchObject({ deleted: true, sessions: [{ session: old }] })
    expect(await listed(at)).toEqual([middle, newest].sort())
    await at.pal(['sessions', 'prune', '--days', '1', '--delete'])
    expect(await listed(at)).toEqual([newest])
  })

  it('[G66] one that is being written stays with what stands on it, the others go, and both are said', async () => {
    const { access } = await server(['1', '2', '3', '4', '5'])
    const at = await openWorkspace(access)
    const names = ['one', 'two', 'three']
    const sessions: string[] = []
    for (const name of names) sessions.push(await said(at, name))
    const [one, two, three] = sessions as [string, string, string]
    const branch = await said(at, '--resume', two, '--fork-session', 'aside')
    const newest = await said(at, 'newest')
    const held = await holding(at, two)
    for (const session of [one, two, three, branch]) await aged(at, session, 40)
    const done = await at.pal(['sessions', 'prune', '--days', '30', '--delete'])
    expect(done.out).toMatch(/2 sessions older than 30 days.*: deleted/)
    expect(done.out).not.toContain(two)
    expect(done.err).toMatch(new RegExp(`${two}, ${branch}: kept, it or a fork of it is open`))
    expect({ code: done.code, left: await listed(at) }).toEqual({
      code: 0,
      left: [two, branch, newest].sort(),
    })
    await held()
  })

  it('[G66] a limit by size takes the oldest until the rest fits', async () => {
    const { access } = await server(['1', '2', '3'])
    const at = await openWorkspace(access)
    const [old, middle, newest] = [await said(at, 'old'), await said(at, 'middle'), await said(at, 'newest')]
    for (const [index, session] of [old, middle, newest].entries()) {
      const results = join(await folderOf(at), 'sessions', session, 'tool-results')
      await mkdir(results, { recursive: true })
      await writeFile(join(results, 'big.txt'), Buffer.alloc(2 * 1024 * 1024))
      await aged(at, session, 5 - index)
    }
    await at.pal(['sessions', 'prune', '--megabytes', '5', '--delete'])
    expect(await listed(at)).toEqual([middle, newest].sort())
  })

  it('[G66] limits of the settings delete nothing until their dry run was confirmed, then once a day', async () => {
    const { access } = await server(['1', '2', '3', '4', '5'])
    const at = await openWorkspace({ ...access, PALIMPSEST_KEEP_SESSION_DAYS: '30' })
    const old = await said(at, 'old')
    await aged(at, old, 40)
    const stale = async (): Promise<void> => {
      const file = join(await folderOf(at), 'retention.json')
      const kept = JSON.parse(await readFile(file, 'utf8')) as object
      await writeFile(file, JSON.stringify({ ...kept, at: 0 }))
    }
    await stale()
    const told = await at.pal(['-p', 'two'])
    expect(told.err).toContain('pal sessions prune shows what it would delete')
    expect(await listed(at)).toContain(old)
    await at.pal(['sessions', 'prune', '--delete'])
    expect(await listed(at)).not.toContain(old)
    const next = await said(at, 'three')
    await aged(at, next, 31)
    expect((await at.pal(['-p', 'four'])).err).toBe('')
    await stale()
    expect((await at.pal(['-p', 'five'])).err).toContain(
      '1 sessions beyond the limits in your settings were deleted',
    )
    expect(await listed(at)).not.toContain(next)
  })

  it('[G67] leftovers of crashes are collected when they are old, and nothing else is', async () => {
    const { access } = await server(['1'])
    const at = await openWorkspace(access)
    const session = await said(at, 'here')
    const folder = await folderOf(at)
    const hours = Date.now() / 1000 - 2 * 3600
    const left = [join(folder, '.pal-x.tmp'), join(folder, 'sessions', session, '.pal-y.tmp')]
    const young = join(folder, '.pal-young.tmp')
    for (const file of [...left, young]) await writeFile(file, 'x')
    const empty = join(folder, 'sessions', 'empty-one')
    await mkdir(join(empty, 'lock'), { recursive: true })
    // A fork that was killed before its first answer, and one of an agent, which its session may wake again.
    const start = (await readFile(join(folder, 'sessions', session, 'transcript.jsonl'), 'utf8')).split(
      '\n',
    )[0]!
    for (const [name, purpose] of [
      ['cut-one', 'memory-extraction'],
      ['agent-one', 'agent'],
    ] as const) {
      const { crc: _, ...entry } = JSON.parse(start) as { crc: string }
      const line = JSON.stringify(entry).replaceAll(session, name).replace('"main"', `"${purpose}"`)
      await mkdir(join(folder, 'sessions', name))
      const file = join(folder, 'sessions', name, 'transcript.jsonl')
      await writeFile(file, `${line}\n`)
      await utimes(file, hours, hours)
    }
    for (const path of [...left, empty]) await utimes(path, hours, hours)
    const shown = await at.pal(['sessions', 'prune'])
    expect(shown.out).toContain('4 leftovers of crashes: would be deleted')
    await at.pal(['sessions', 'prune', '--delete'])
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual(['.pal-young.tmp'])
    expect((await readdir(join(folder, 'sessions'))).sort()).toEqual([session, 'agent-one'].sort())
    expect(await readdir(join(folder, 'sessions', session))).not.toContain('.pal-y.tmp')
  })
})
