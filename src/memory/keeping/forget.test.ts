import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folder } from '../../../test/memory/folder.ts'
import { from, fromTool, keeperIn, memoryText } from '../../../test/memory/memories.ts'
import { readMemoryText } from '../format/frontmatter.ts'
import type { Provenance } from '../memory.ts'
import { applyWrite } from './apply.ts'
import { commit, finishSet, undoSet } from './change-sets.ts'
import { forget } from './forget.ts'
import { keepVersion, type Keeper } from './keeper.ts'
import { revert } from './revert.ts'

async function save(keeper: Keeper, file: string, text: string, by: Provenance = from()) {
  const done = await applyWrite(keeper, [{ file, text }], by, { via: 'session' })
  if (!done.ok) throw new Error(done.failure.message)
  return done.applied[0]!
}
async function bytesBelow(path: string): Promise<string> {
  const names = await readdir(path, { recursive: true })
  const texts = await Promise.all(
    names.map(async (name) => {
      const whole = join(path, name)
      return (await stat(whole)).isFile() ? `${name}\n${await readFile(whole, 'utf8')}` : name
    }),
  )
  return texts.join('\n')
}

describe('forgetting', () => {
  it('[ME12] leaves no byte of a memory: file, versions, records, index, what was put aside', async () => {
    const base = await folder()
    const keeper = keeperIn(base)
    const secret = 'The wedding of Zacharias is on the fourth of July.'
    await save(keeper, 'wedding.md', memoryText('wedding', { description: secret, body: secret }))
    await save(keeper, 'wedding.md', memoryText('wedding', { body: `${secret} In Rome.` }))
    await save(keeper, 'rule.md', memoryText('rule', { type: 'feedback', body: secret }), fromTool())
    await save(keeper, 'other.md', memoryText('other'))
    await writeFile(join(keeper.place.root, 'MEMORY.md'), `- [x](wedding.md) — ${secret}\n`)
    await save(keeper, 'other.md', memoryText('other', { body: 'more' }))
    expect(await bytesBelow(base)).toMatch(/Zacharias/)
    expect(await forget(keeper, { file: 'rule.md' })).toMatchObject({ ok: true })
    expect(await forget(keeper, { file: 'wedding.md' })).toMatchObject({ ok: true, removed: ['wedding.md'] })
    const left = await bytesBelow(base)
    expect(left).not.toMatch(/Zacharias|wedding/)
    expect(left).toContain('other.md')
    expect(
      await save(
        keeper,
        'again.md',
        memoryText('w', { body: 'the WEDDING of Zacharias, is on the fourth of July' }),
      ),
    ).toMatchObject({
      kind: 'refused',
      code: 'forgotten',
    })
  })

  it('[ME90] leaves no word in change sets, in what was seen in the project and in what a dead writer began', async () => {
    const base = await folder()
    const keeper = keeperIn(base)
    const { root, state } = keeper.place
    const secret = 'Zacharias signs with src/ring.ts on port 4711.'
    await save(keeper, 'ring.md', memoryText('ring', { description: secret, body: secret }))
    await save(keeper, 'other.md', memoryText('other', { body: 'The port of other is 8080.' }))
    await mkdir(join(root, 'deep'))
    await save(keeper, 'deep/c.md', memoryText('c'))
    const joined = memoryText('joined', { description: secret, body: secret })
    const made = await applyWrite(
      keeper,
      [
        { file: 'joined.md', text: joined, by: from() },
        { file: 'ring.md', text: null, by: from({ from: ['joined.md'] }) },
      ],
      from(),
      { via: 'dream', set: { id: 'set-1', report: [`left out: ${secret}`] } },
    )
    expect(made.ok).toBe(true)
    const seen = { 'path:src/ring.ts': 1, 'value:zacharia,port=4711': 2, 'value:port=8080': 3 }
    await writeFile(join(state, 'claims.json'), JSON.stringify({ v: 1, seen }))
    for (const begun of [
      join(root, '.pal-1.tmp'),
      join(root, 'deep', '.pal-2.tmp'),
      join(state, '.pal-3.tmp'),
    ])
      await writeFile(begun, secret)
    expect(await forget(keeper, { file: 'joined.md' })).toMatchObject({ ok: true, removed: ['joined.md'] })
    expect(await bytesBelow(base)).not.toMatch(/Zacharia|zacharia|ring\.ts|ring\.md|joined|4711/)
    expect(JSON.parse(await readFile(join(state, 'claims.json'), 'utf8'))).toEqual({
      v: 1,
      seen: { 'value:port=8080': 3 },
    })
    expect(await undoSet(keeper, 'set-2')).toMatchObject({
      ok: false,
      failure: { message: expect.stringContaining('was forgotten since') as string },
    })
  })

  it('[ME91] finishes a set that was broken off first, and one whose texts were forgotten holds up nobody', async () => {
    for (const isForgottenFirst of [false, true]) {
      const base = await folder()
      const keeper = keeperIn(base)
      await save(keeper, 'a.md', memoryText('a'))
      const text = memoryText('joined')
      const kept = await keepVersion(keeper, text)
      if (!kept.ok) throw new Error(kept.failure.message)
      await keeper.ledger.refresh()
      const [head, by] = [readMemoryText(text).head, from()]
      await commit(keeper, {
        id: 'set-1',
        at: 1,
        via: 'dream',
        undoes: null,
        report: [],
        changes: [{ file: 'joined.md', before: null, after: kept.sha, head, by }],
      })
      if (isForgottenFirst) await rm(join(keeper.place.state, 'versions', kept.sha!))
      expect(await forget(keeper, { file: 'a.md' })).toMatchObject({ ok: true, removed: ['a.md'] })
      expect(await finishSet(keeperIn(base))).toEqual({ ok: true, set: null })
      expect(await readdir(keeper.place.root)).toEqual(
        isForgottenFirst ? expect.not.arrayContaining(['joined.md']) : ['MEMORY.md', 'joined.md'],
      )
    }
  })

  it('[ME13] of a session takes back what it changed, with what was built on it, and keeps what was before', async () => {
    const keeper = keeperIn(await folder())
    const version = (body: string) => memoryText('a', { body })
    await save(keeper, 'a.md', version('before'), from({ session: 'good' }))
    await save(keeper, 'a.md', version('poisoned'), from({ session: 'bad' }))
    await save(keeper, 'a.md', version('poisoned and more'), from({ session: 'later' }))
    await save(keeper, 'b.md', memoryText('b'), from({ session: 'bad' }))
    const done = await forget(keeper, { session: 'bad' })
    expect(done).toMatchObject({ ok: true, removed: ['b.md'], wentBack: [{ file: 'a.md', to: 1, lost: 1 }] })
    expect(await readFile(join(keeper.place.root, 'a.md'), 'utf8')).toBe(version('before'))
    expect(await save(keeper, 'c.md', memoryText('c'), from({ session: 'bad' }))).toMatchObject({
      code: 'forgotten',
    })
    expect(await save(keeper, 'c.md', memoryText('c'), from({ session: 'good' }))).toMatchObject({
      kind: 'written',
    })
  })

  it('[ME14] of a source takes what came from it, not what the user said while it was open', async () => {
    const keeper = keeperIn(await folder())
    const page = ['WebFetch', 'https://evil.test/page']
    await save(keeper, 'fact.md', memoryText('fact'), fromTool({ kind: 'web', from: page }))
    await save(keeper, 'said.md', memoryText('said'), from({ from: page }))
    expect(await forget(keeper, { source: 'evil.test' })).toMatchObject({ ok: true, removed: ['fact.md'] })
    expect(
      await save(keeper, 'new.md', memoryText('new'), fromTool({ from: ['https://evil.test/other'] })),
    ).toMatchObject({
      code: 'forgotten',
    })
  })

  it('[ME15] every write can be taken back, and taking back is a version too (15.3)', async () => {
    const keeper = keeperIn(await folder())
    const text = (body: string) => memoryText('a', { body })
    await save(keeper, 'a.md', text('one'))
    await save(keeper, 'a.md', text('two'))
    expect(await revert(keeper, 'a.md')).toMatchObject({ ok: true, to: 1 })
    expect(await readFile(join(keeper.place.root, 'a.md'), 'utf8')).toBe(text('one'))
    expect(await revert(keeper, 'a.md', 2)).toMatchObject({ ok: true, version: 4 })
    expect(await readFile(join(keeper.place.root, 'a.md'), 'utf8')).toBe(text('two'))
    await save(keeper, 'b.md', memoryText('b'))
    expect(await revert(keeper, 'b.md')).toMatchObject({ ok: true, to: null })
    await expect(stat(join(keeper.place.root, 'b.md'))).rejects.toThrow('ENOENT')
    expect(await revert(keeper, 'a.md', 99)).toMatchObject({ ok: false })
  })
})
