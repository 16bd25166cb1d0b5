import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { firstLook } from '../../src/companion/first-look.ts'
import { modelTable } from '../../src/model/models.ts'
import { openWorkspace } from './pal.ts'

const fixtures = resolve(import.meta.dirname, '..', 'fixtures', 'companion')

/** Every name below a folder with its bytes and its time. */
const printOf = (folder: string): string => {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  const hash = createHash('sha256')
  for (const name of names) {
    const info = statSync(join(folder, name))
    hash.update(`${name} ${info.mode} ${info.mtimeMs}\n`)
    if (info.isFile()) hash.update(readFileSync(join(folder, name)))
  }
  return hash.digest('hex')
}

/** As if it had been written today, whenever the test runs. */
const fresh = (text: string): string =>
  text.replaceAll('2026-11-16T', `${new Date().toISOString().slice(0, 10)}T`)

function fill(home: string): void {
  const place = join(home, '.claude', 'projects', '-shop')
  mkdirSync(place, { recursive: true })
  writeFileSync(
    join(place, 'd3247ad1.jsonl'),
    fresh(readFileSync(join(fixtures, 'claude-code-2.1.325.jsonl'), 'utf8')),
  )
}

describe('pal in a home with sessions of other agents and no key', () => {
  it('[CO15] says first what they cost, what cache breaks cost, what compactions lost and which commands help, and writes nothing', async () => {
    const { pal, home } = await openWorkspace()
    fill(home)
    const before = printOf(home)
    for (const mode of [0o755, 0o555]) {
      chmodSync(home, mode)
      const print = mode === 0o755 ? before : printOf(home)
      const { out, err, code } = await pal([])
      expect(out).toMatch(/^Your last 30 days with claude-code: \d+ requests in 1 session files/)
      expect(out).toMatch(
        /cost\s+\$\d[\s\S]*cache breaks\s+\$[\s\S]*compactions\s+1; of 3 messages of yours before them 0 stayed/,
      )
      for (const command of ['pal usage', 'pal companion audit', 'pal gateway'])
        expect(out).toContain(command)
      expect(err).toContain('no API key')
      expect(code).toBe(1)
      expect(printOf(home)).toBe(print)
    }
    chmodSync(home, 0o755)
  })

  it('[CO15] says nothing of it with a key, for a script, or where nobody was at work', async () => {
    const { pal, home } = await openWorkspace()
    expect((await pal([])).out).not.toContain('Your last 30 days')
    fill(home)
    expect((await pal(['-p', 'hi'])).out).toBe('')
    const withKey = await pal([], { environment: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' }, input: '' })
    expect(withKey.out).not.toContain('Your last 30 days')
  })

  it('[CO16] reads the newest files first, ends when its time is over, and counts what it left out', async () => {
    const { home } = await openWorkspace()
    const place = join(home, '.claude', 'projects', '-shop')
    mkdirSync(place, { recursive: true })
    const text = fresh(readFileSync(join(fixtures, 'claude-code-2.1.325.jsonl'), 'utf8'))
    for (let index = 0; index < 5; index++) {
      const path = join(place, `s${index}.jsonl`)
      writeFileSync(path, text.replaceAll('d3247ad1', `d324700${index}`).replaceAll('"msg_', `"msg_${index}`))
      utimesSync(path, new Date(), new Date(Date.now() - index * 60_000))
    }
    const homes = { userHome: home, environment: {} }
    const all = await firstLook(homes, { models: modelTable(), now: Date.now })
    expect(all).toMatchObject({ read: 5, found: 5, programs: ['claude-code'] })
    expect(all!.compactions).toHaveLength(5)
    // A clock that stands still until two files are read.
    const start = Date.now()
    let late = 0
    const some = await firstLook(homes, {
      models: modelTable(),
      now: () => start + late,
      onProgress: (read) => void (late = read >= 2 ? 60_000 : 0),
    })
    expect(some).toMatchObject({ read: 2, found: 5 })
    expect(some!.compactions.map(({ session }) => session.slice(0, 8)).sort()).toEqual([
      'd3247000',
      'd3247001',
    ])
  })
})
