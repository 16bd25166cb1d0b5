import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../disk/fs.ts'
import { keptRules } from './kept-rules.ts'

let base = ''
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'pal-kept-')))
  mkdirSync(join(base, 'home'))
  mkdirSync(join(base, 'project'))
})
afterEach(() => rmSync(base, { recursive: true }))
const keeping = (project: string | null = join(base, 'project')) => {
  let count = 0
  return keptRules(machineFileSystem, { home: join(base, 'home'), project }, () => `u${count++}`)
}
const json = (...path: string[]) => JSON.parse(readFileSync(join(base, ...path), 'utf8')) as unknown

describe('rules that shall last', () => {
  it('[PM28] are added to the file of their scope, once, and everything else in it stays', async () => {
    writeFileSync(join(base, 'home', 'settings.json'), '{"model": "m", "allow": ["Edit"], "own": [1]}')
    const { rules, scopes } = keeping()
    expect(scopes).toEqual(['local', 'user'])
    expect(await rules('user', 'allow', ['Bash(npm test)', 'Edit'])).toEqual({ ok: true })
    expect(json('home', 'settings.json')).toEqual({ model: 'm', allow: ['Edit', 'Bash(npm test)'], own: [1] })
    expect(await rules('local', 'allow', ['Bash(a "b")'])).toEqual({ ok: true })
    expect(json('project', '.palimpsest', 'settings.local.json')).toEqual({ allow: ['Bash(a "b")'] })
  })

  it('[PM28] leave a broken file as it is, and are not kept for a folder without trust', async () => {
    writeFileSync(join(base, 'home', 'settings.json'), '{"allow": "Edit"')
    expect(await keeping().rules('user', 'allow', ['Edit'])).toMatchObject({ ok: false })
    expect(readFileSync(join(base, 'home', 'settings.json'), 'utf8')).toBe('{"allow": "Edit"')
    expect(keeping(null).scopes).toEqual(['user'])
    expect(await keeping(null).rules('local', 'allow', ['Edit'])).toMatchObject({ ok: false })
  })

  it('[PM28] never go through a link that leads out of the project', async () => {
    symlinkSync(join(base, 'home'), join(base, 'project', '.palimpsest'))
    expect(await keeping().rules('local', 'allow', ['Bash'])).toMatchObject({ ok: false })
  })
})
