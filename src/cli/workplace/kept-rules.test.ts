import {
  lstatSync,
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
import { gateOf, actingFile } from '../trust/gate.ts'
import { readTrust, writeTrust } from '../trust/pins.ts'
import { loadSettings } from '../../settings/load.ts'
import { settingsFiles } from './files.ts'
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
  const unique = () => `u${count++}`
  const home = join(base, 'home')
  const place = { fs: machineFileSystem, home, root: join(base, 'project'), slug: 'project', unique }
  const trust = { gate: gateOf({ standing: 'this run', files: [] }), place }
  return keptRules(machineFileSystem, { home, project, trust }, unique)
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

  it('[G82] the user’s settings may be a link: they are read and written where it leads, and it stays a link', async () => {
    const [kept, link] = [join(base, 'dotfiles.json'), join(base, 'home', 'settings.json')]
    writeFileSync(kept, '{"deny": ["Bash(rm *)"]}')
    symlinkSync('../dotfiles.json', link)
    const files = settingsFiles(machineFileSystem, gateOf({ standing: 'unknown', files: [] }))
    const load = () =>
      loadSettings({ files, home: join(base, 'home'), project: base, environment: {}, flags: {} })
    expect(await load()).toMatchObject({ rules: [{ list: 'deny', text: 'Bash(rm *)' }], problems: [] })
    expect(await keeping().rules('user', 'allow', ['Edit'])).toEqual({ ok: true })
    expect(json('dotfiles.json')).toEqual({ deny: ['Bash(rm *)'], allow: ['Edit'] })
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    rmSync(kept)
    expect((await load()).rules).toMatchObject([{ list: 'ask', text: '*' }])
  })

  it('[G10] of a trusted project’s file that changed since, what denies or asks counts, and nothing else', async () => {
    const path = join(base, 'project', '.palimpsest', 'settings.json')
    mkdirSync(join(path, '..'))
    const before = '{"deny": ["Bash(rm *)"], "allow": ["Edit"]}'
    const pinned = actingFile('settings', path, new TextEncoder().encode(before))
    writeFileSync(path, '{"deny": ["Bash(rm *)", "Bash(dd *)"], "ask": 5, "allow": ["Bash"], "model": "m"}')
    const rulesIn = async (standing: 'trusted' | 'unknown', files: readonly (typeof pinned)[]) => {
      const given = settingsFiles(machineFileSystem, gateOf({ standing, files }))
      const project = join(base, 'project')
      return loadSettings({ files: given, home: join(base, 'home'), project, environment: {}, flags: {} })
    }
    const held = ['Bash(rm *)', 'Bash(dd *)'].map((text) => ({ list: 'deny', text, source: 'project' }))
    for (const files of [[pinned], []])
      expect(await rulesIn('trusted', files)).toMatchObject({
        rules: held,
        settings: { deny: expect.anything() },
      })
    expect((await rulesIn('trusted', [pinned])).settings).not.toHaveProperty('model')
    expect((await rulesIn('unknown', [])).rules).toEqual([])
    const says = gateOf({ standing: 'trusted', files: [] }).refusal('settings', path, new Uint8Array())
    expect(says).toContain('counts only where it denies or asks: it is new since you trusted this folder')
  })

  it('[PM28] leave a broken file as it is, and are not kept for a folder without trust', async () => {
    writeFileSync(join(base, 'home', 'settings.json'), '{"allow": "Edit"')
    expect(await keeping().rules('user', 'allow', ['Edit'])).toMatchObject({ ok: false })
    expect(readFileSync(join(base, 'home', 'settings.json'), 'utf8')).toBe('{"allow": "Edit"')
    expect(keeping(null).scopes).toEqual(['user'])
    expect(await keeping(null).rules('local', 'allow', ['Edit'])).toMatchObject({ ok: false })
  })

  it('[PM76] are approved in the same step, and never together with content nobody approved', async () => {
    const path = join(base, 'project', '.palimpsest', 'settings.local.json')
    const place = {
      fs: machineFileSystem,
      home: join(base, 'home'),
      root: join(base, 'project'),
      slug: 'project',
      unique: () => String(Math.random()),
    }
    await writeTrust(place, { answer: 'yes', files: [], refused: [] })
    const trust = { gate: gateOf(await readTrust(place)), place }
    const { rules } = keptRules(machineFileSystem, { ...place, project: place.root, trust }, place.unique)
    expect(await rules('local', 'allow', ['Edit'])).toEqual({ ok: true })
    expect(await rules('local', 'allow', ['Bash(npm test)'])).toEqual({ ok: true })
    const { files } = await readTrust(place)
    expect(files.map(({ text }) => text)).toEqual([readFileSync(path, 'utf8')])
    const planted = '{"allow": ["Edit", "Bash(npm test)", "Bash"]}'
    writeFileSync(path, planted)
    expect(await rules('local', 'allow', ['Write'])).toMatchObject({ ok: false })
    expect(readFileSync(path, 'utf8')).toBe(planted)
    expect((await readTrust(place)).files).toEqual(files)
  })

  it('[PM28] never go through a link that leads out of the project', async () => {
    symlinkSync(join(base, 'home'), join(base, 'project', '.palimpsest'))
    expect(await keeping().rules('local', 'allow', ['Bash'])).toMatchObject({ ok: false })
  })
})
