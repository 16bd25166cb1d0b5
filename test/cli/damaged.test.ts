// Sessions whose files were damaged, through the command: they are named, opened, and lose the lines that were hit.
import { cp, link, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openWorkspace, server, type Workspace } from './pal.ts'

async function folders(at: Workspace): Promise<string> {
  const projects = join(at.state, 'projects')
  const [project] = await readdir(projects)
  return join(projects, project!, 'sessions')
}

/** Flips a bit in a line of a transcript, counted from 0. */
async function flip(file: string, line: number): Promise<void> {
  const lines = (await readFile(file, 'utf8')).split('\n')
  const bytes = Buffer.from(lines[line]!)
  bytes[30]! ^= 1
  lines[line] = bytes.toString('latin1')
  await writeFile(file, lines.join('\n'))
}

const words = (body: unknown): string => JSON.stringify(body ?? '')

describe('a damaged session', () => {
  it('[E22] is the one that is gone on with, and is named: its first line flipped or gone, with a copy of it and without', async () => {
    const { access, simulator } = await server(['one', 'two', ...Array.from({ length: 8 }, () => 'on')])
    const at = await openWorkspace(access)
    await at.pal(['-p', 'OLD words'])
    await at.pal(['-p', 'NEW words'])
    const sessions = await folders(at)
    const all = await readdir(sessions)
    const texts = await Promise.all(all.map((id) => readFile(join(sessions, id, 'transcript.jsonl'), 'utf8')))
    const newer = all[texts.findIndex((text) => text.includes('NEW words'))]!
    const file = join(sessions, newer, 'transcript.jsonl')
    const kept = await readFile(file)
    for (const hasCopy of [true, false])
      for (const isGone of [true, false]) {
        await writeFile(file, isGone ? kept.subarray(kept.indexOf(0x0a) + 1) : kept)
        if (!isGone) await flip(file, 0)
        if (!hasCopy) await rm(join(sessions, newer, 'first-line'), { force: true })
        const { code, err } = await at.pal(['-p', '-c', 'and on'])
        expect([hasCopy, isGone, code, err]).toEqual([hasCopy, isGone, 0, expect.stringContaining(newer)])
        expect(err).toContain('is damaged')
        expect(words(simulator.log.last()?.body)).toContain('NEW words')
        expect(words(simulator.log.last()?.body)).not.toContain('OLD words')
        const forked = await at.pal(['-p', '-r', newer, '--fork-session', 'apart'])
        expect([forked.code, forked.err]).toEqual([0, expect.not.stringContaining('is damaged')])
        expect(words(simulator.log.last()?.body)).toContain('NEW words')
        // The fork is newer, and not what the next round is about.
        for (const id of await readdir(sessions))
          if (!all.includes(id)) await rm(join(sessions, id), { recursive: true })
      }
  })

  it('[E22] that holds nothing readable is named, and no other is taken in its place', async () => {
    const { access } = await server(['one', 'two'])
    const at = await openWorkspace(access)
    await at.pal(['-p', 'OLD words'])
    const sessions = await folders(at)
    const [older] = await readdir(sessions)
    await at.pal(['-p', 'NEW words'])
    const newer = (await readdir(sessions)).find((id) => id !== older)!
    await rm(join(sessions, newer, 'first-line'), { force: true })
    await writeFile(join(sessions, newer, 'transcript.jsonl'), 'garbage\n')
    const { code, err } = await at.pal(['-p', '-c', 'on'])
    expect([code, err]).toEqual([4, expect.stringContaining(newer)])
  })

  it('[E23] whose instructions are lost gets prompt and tools anew', async () => {
    const { access, simulator } = await server(['one', 'two', 'three'])
    const at = await openWorkspace(access)
    await at.pal(['-p', 'first'])
    const before = simulator.log.last()?.body as { tools?: unknown[]; system?: unknown }
    const sessions = await folders(at)
    const [id] = await readdir(sessions)
    await flip(join(sessions, id!, 'transcript.jsonl'), 1)
    for (const args of [
      ['-r', id!, '--fork-session'],
      ['-r', id!],
    ]) {
      const { code, err } = await at.pal(['-p', ...args, 'second'])
      expect([code, err]).toEqual([0, expect.stringContaining('transcript.jsonl:2')])
      const after = simulator.log.last()?.body as typeof before
      expect(after.tools?.length).toBe(before.tools?.length)
      expect(words(after.system).length).toBeGreaterThan(1000)
      expect(words(after)).toContain('could not be read from disk')
    }
  })

  it('[E50] is said once, whatever was hit; the doctor and the list of sessions go on naming it', async () => {
    const { access } = await server(Array.from({ length: 6 }, () => 'on'))
    const at = await openWorkspace(access)
    await at.pal(['-p', 'first words'])
    const sessions = await folders(at)
    const [id] = await readdir(sessions)
    const file = join(sessions, id!, 'transcript.jsonl')
    const saysDamage = async (): Promise<boolean> => {
      const { code, err } = await at.pal(['-p', '-c', 'and on'])
      expect(code).toBe(0)
      return err.includes('transcript.jsonl')
    }
    // A line that is lost, and one that is nobody's and costs nothing.
    await flip(file, 2)
    expect([await saysDamage(), await saysDamage()]).toEqual([true, false])
    const lines = (await readFile(file, 'utf8')).split('\n')
    await writeFile(file, [...lines.slice(0, 2), 'nobody wrote this', ...lines.slice(2)].join('\n'))
    await rm(join(sessions, id!, 'checkpoint.json'), { force: true })
    expect([await saysDamage(), await saysDamage()]).toEqual([true, false])
    const [doctor, list] = [await at.pal(['doctor']), await at.pal(['sessions'])]
    expect([doctor.code, doctor.out]).toEqual([1, expect.stringMatching(/BAD .*transcript\.jsonl:\d/)])
    expect([list.code, list.out]).toEqual([0, expect.stringContaining('(damaged: pal doctor)')])
  })

  it('[E22] a fork whose first line and its copy are lost is not taken for the newest session', async () => {
    const { access, simulator } = await server(['one', 'two', 'three'])
    const at = await openWorkspace(access)
    await at.pal(['-p', 'OLD words'])
    const sessions = await folders(at)
    const [id] = await readdir(sessions)
    // As a fork lies there: its own start, its own requests, and places that go on from the other's.
    const lines = (await readFile(join(sessions, id!, 'transcript.jsonl'), 'utf8')).trimEnd().split('\n')
    const fork = join(sessions, 'fork-of-it')
    await mkdir(fork)
    const facts = lines.map((line) => JSON.parse(line) as { seq: number; fact: Record<string, unknown> })
    const forked = facts
      .slice(1)
      .filter(({ fact }) => fact['type'] !== 'session-start')
      .map(({ fact, ...entry }, index) => {
        const { crc: _, ...rest } = entry as Record<string, unknown>
        const own = fact['type'] === 'request-sent' ? { ...fact, source: 'summary' } : fact
        return JSON.stringify({ ...rest, seq: 40 + index, fact: own })
      })
    await writeFile(join(fork, 'transcript.jsonl'), `${forked.join('\n')}\n`)
    const { code, err } = await at.pal(['-p', '-c', 'and on'])
    expect([code, err]).toEqual([0, expect.not.stringContaining('fork-of-it')])
    expect(words(simulator.log.last()?.body)).toContain('OLD words')
    expect((await at.pal(['sessions'])).out).not.toContain('fork-of-it')
  })

  it('[S32] a state folder copied by links is read and written, and the other copy stays as it was', async () => {
    const { access, simulator } = await server(['one', 'two'])
    const at = await openWorkspace(access)
    await at.pal(['-p', 'first words'])
    const sessions = await folders(at)
    const [id] = await readdir(sessions)
    const file = join(sessions, id!, 'transcript.jsonl')
    const twin = join(at.home, 'twin.jsonl')
    await cp(file, join(at.home, 'as-it-was'))
    await link(file, twin)
    const { code, err } = await at.pal(['-p', '-c', 'more'])
    expect([code, err]).toEqual([0, expect.not.stringContaining('second name')])
    expect(words(simulator.log.last()?.body)).toContain('first words')
    expect(await readFile(twin, 'utf8')).toBe(await readFile(join(at.home, 'as-it-was'), 'utf8'))
    expect(await readFile(file, 'utf8')).toContain('more')
  })
})
