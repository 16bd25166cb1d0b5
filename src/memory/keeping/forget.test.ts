import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folder } from '../../../test/memory/folder.ts'
import { from, fromTool, keeperIn, memoryText } from '../../../test/memory/memories.ts'
import type { Provenance } from '../memory.ts'
import { applyWrite } from './apply.ts'
import { forget } from './forget.ts'
import type { Keeper } from './keeper.ts'
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
