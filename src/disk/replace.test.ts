import { randomUUID } from 'node:crypto'
import * as node from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hookedFileSystem, systemError } from '../../test/faults/hooked-fs.ts'
import { machineFileSystem as fs } from './fs.ts'
import { replaceFile } from './replace.ts'
import { foldName, safeName } from './safe-name.ts'

const options = { mode: 0o600, unique: () => randomUUID(), blockBytes: 4096 }

describe('replace', () => {
  let folder = ''
  let path = ''
  beforeEach(async () => {
    folder = await node.mkdtemp(join(tmpdir(), 'pal-replace-'))
    path = join(folder, 'file')
    await node.writeFile(path, 'old')
  })
  afterEach(() => node.rm(folder, { recursive: true }))

  it('[S19] whichever call fails, the file holds the old bytes or the new, and no part of them', async () => {
    const seen = new Set<string>()
    for (let step = 1; step <= 12; step++) {
      await node.writeFile(path, 'old')
      const failing = hookedFileSystem(fs, {
        before: (call) => {
          if (call.number === step) throw systemError('EIO')
        },
      })
      const outcome = await replaceFile(failing, path, Buffer.from('new bytes'), options)
      const now = await node.readFile(path, 'utf8')
      expect([step, now]).toEqual([
        step,
        outcome.ok ? 'new bytes' : expect.stringMatching(/^(old|new bytes)$/),
      ])
      expect([step, await node.readdir(folder)]).toEqual([step, ['file']])
      seen.add(`${outcome.ok} ${now}`)
    }
    expect(seen).toEqual(new Set(['false old', 'false new bytes', 'true new bytes']))
  })

  it('[S19] readers meet whole files only while one is being replaced', async () => {
    const [a, b] = ['a', 'b'].map((letter) => letter.repeat(200_000))
    await node.writeFile(path, a!)
    const state = { isDone: false }
    const writer = (async () => {
      for (let round = 0; round < 40; round++)
        await replaceFile(fs, path, Buffer.from(round % 2 ? a! : b!), options)
      state.isDone = true
    })()
    let reads = 0
    while (!state.isDone || reads === 0) {
      const text = await node.readFile(path, 'utf8')
      expect(text === a || text === b).toBe(true)
      reads++
    }
    await writer
  })

  it('[S19] a name that is taken is refused when asked, and the bytes stay', async () => {
    const outcome = await replaceFile(fs, path, Buffer.from('new'), { ...options, existing: 'refuse' })
    expect(outcome).toMatchObject({ ok: false, failure: { code: 'exists' } })
    expect(await node.readFile(path, 'utf8')).toBe('old')
    expect(await node.readdir(folder)).toEqual(['file'])
  })
})

describe('names', () => {
  it('[A15] an id from outside becomes a name that stays in its folder, its own or a hash', () => {
    const bad = [
      '../../x',
      '/abs',
      '..',
      '.',
      '',
      'a\0b',
      'x'.repeat(129),
      'a／b',
      '\u202egpj',
      'nul',
      'CON',
      'com1',
      'a b',
      'a.txt',
    ]
    const names = bad.map(safeName)
    for (const name of names) expect(name).toMatch(/^sha256-[0-9a-f]{64}$/)
    expect(new Set(names).size).toBe(bad.length)
    expect(names.map(safeName)).toEqual(names)
    for (const good of ['toolu_01AbC-x', 'x'.repeat(128), 'console']) expect(safeName(good)).toBe(good)
  })

  it('[A13] names that a careless file system takes for one fold alike', () => {
    for (const twin of ['.ClAuDe', '.claude.', '.claude ', '.claude::$DATA'])
      expect(foldName(twin)).toBe('.claude')
    expect(foldName('cafe\u0301')).toBe(foldName('CAFÉ'))
    expect(foldName('.claudes')).not.toBe('.claude')
  })
})
