import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadSettings, type SettingsSources } from './load.ts'
import { keys } from './schema.ts'

const places = {
  user: '/home/u/.palimpsest/settings.json',
  project: '/repo/.palimpsest/settings.json',
  local: '/repo/.palimpsest/settings.local.json',
  managed: '/etc/palimpsest/settings.json',
} as const

/** Files in memory, and which of them were read. */
function sources(files: Readonly<Record<string, string>>, more: Partial<SettingsSources> = {}) {
  const read: string[] = []
  const given: SettingsSources = {
    files: {
      read: (path) => {
        read.push(path)
        return Promise.resolve({ ok: true, text: files[path] ?? null })
      },
      readOfProject: (path) => {
        read.push(path)
        return Promise.resolve({ ok: true, text: files[path] ?? null })
      },
    },
    home: '/home/u/.palimpsest',
    project: '/repo',
    managed: places.managed,
    environment: {},
    flags: {},
    ...more,
  }
  return { given, read }
}

describe('settings', () => {
  it('[G11] the nearer scope wins, key by key', async () => {
    const { given } = sources(
      {
        [places.user]: '{"model": "a", "window": 1, "effort": "low", "maxCost": 1, "sync": "full"}',
        [places.project]: '{"model": "b", "window": 2, "effort": "high", "maxCost": 2}',
        [places.local]: '{"model": "c", "window": 3, "effort": "max"}',
      },
      { environment: { PALIMPSEST_MODEL: 'd', PALIMPSEST_WINDOW: '4' }, flags: { model: 'e' } },
    )
    const { settings, from, problems } = await loadSettings(given)
    expect(settings).toEqual({ model: 'e', window: 4, effort: 'max', maxCost: 2, sync: 'full' })
    expect(Object.fromEntries(from)).toEqual({
      model: 'flag',
      window: 'environment',
      effort: 'local',
      maxCost: 'project',
      sync: 'user',
    })
    expect(problems).toEqual([])
  })

  it('[G10] of a project nothing counts that its reader does not let through', async () => {
    const files = { [places.project]: '{"model": "b"}', [places.local]: 'broken' }
    const { given } = sources(files)
    const closed = { ...given.files, readOfProject: () => Promise.resolve({ ok: true, text: null } as const) }
    const loaded = await loadSettings({ ...given, files: closed })
    expect(loaded).toMatchObject({ settings: {}, problems: [] })
    expect((await loadSettings(given)).settings).toEqual({ model: 'b' })
  })

  it('[G10] whatever a project writes, it never decides where data goes or what runs', async () => {
    const names = [
      ...Object.keys(keys),
      'baseURL',
      'base_url',
      'env',
      'ENV',
      'hook',
      'memoryDir',
      'autoMemoryDirectory',
      'apiKey',
      'proxy',
    ]
    const value = fc.oneof(fc.webUrl(), fc.string(), fc.nat(), fc.constant({ Stop: [{ command: 'x' }] }))
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.constantFrom(...names), value), async (written) => {
        const { given } = sources({
          [places.project]: JSON.stringify(written),
          [places.local]: JSON.stringify(written),
        })
        const { settings, problems } = await loadSettings(given)
        expect(settings.baseUrl).toBeUndefined()
        expect(settings.hooks).toBeUndefined()
        // What does not count is said, and nothing is both.
        for (const key of Object.keys(written))
          expect(key in settings).toBe(!problems.some((problem) => problem.key?.split('.')[0] === key))
      }),
    )
  })

  it('[G19] a bad value costs its key, and the message names file, key and what is expected', async () => {
    const text = '{"model": "a", "window": -5, "colour": "red", "hooks": {"Stop": [{"cmd": "x"}]}}'
    const { settings, problems } = await loadSettings(sources({ [places.user]: text }).given)
    expect(settings).toEqual({ model: 'a' })
    expect(problems.map(({ file, key }) => [file, key])).toEqual([
      [places.user, 'window'],
      [places.user, 'colour'],
      [places.user, 'hooks.Stop.0.command'],
    ])
    expect(problems[0]?.message).toContain('a whole number of tokens above 0')
    expect(problems[1]?.message).toContain('maxOutputTokens')
  })

  it('[G19] a key of an earlier version says what became of it', async () => {
    const text = '{"model": "a", "collapse": true}'
    const { settings, problems } = await loadSettings(sources({ [places.user]: text }).given)
    expect(settings).toEqual({ model: 'a' })
    expect(problems.map(({ key, message }) => [key, message.slice(0, 24)])).toEqual([
      ['collapse', 'is no longer a setting: '],
    ])
  })

  it('[G19] a file that is no object counts for nothing and says so', async () => {
    for (const text of ['', '[1]', 'null', '{"a": }', '"text"']) {
      const { settings, problems } = await loadSettings(sources({ [places.user]: text }).given)
      expect(settings).toEqual({})
      expect(problems).toMatchObject([{ file: places.user, key: null }])
    }
    expect((await loadSettings(sources({ [places.user]: '\uFEFF{"model": "a"}' }).given)).settings).toEqual({
      model: 'a',
    })
  })

  it('[G81] where what may forbid is not understood, every call is asked about', async () => {
    const closed = [{ list: 'ask', text: '*' }]
    const held = ['', '{"deny": ["Bash(rm *)",]}', '{"deny": "Bash(rm *)"}', '{"deny": ["Bash(rm *)", 5]}']
    const more = ['{"ask": {}}', '{"hooks": {"PreToolUse": "x"}}', '{"sandbox": "required"}', '[]']
    for (const text of [...held, ...more])
      for (const path of [places.user, places.managed]) {
        const { rules, problems } = await loadSettings(sources({ [path]: text }).given)
        expect(rules, text).toMatchObject(closed)
        expect(problems[0]?.message, text).toContain('every call is asked about')
      }
    const unreadable = sources({}).given
    const read = () => Promise.resolve({ ok: false, why: 'it is a link' } as const)
    const blind = { ...unreadable, managed: undefined, files: { ...unreadable.files, read } }
    expect((await loadSettings(blind)).rules).toMatchObject(closed)
    const environment = { PALIMPSEST_SANDBOX: 'required' }
    expect((await loadSettings(sources({}, { environment }).given)).rules).toMatchObject(closed)
    // What holds nothing back closes nothing, nor does what a project has that nobody could read.
    for (const text of ['{"model": 5}', '{"allow": 5}', '{"colour": "red"}', '{}'])
      expect((await loadSettings(sources({ [places.user]: text }).given)).rules, text).toEqual([])
    const files = { ...unreadable.files, readOfProject: read }
    expect((await loadSettings({ ...unreadable, files })).rules).toEqual([])
  })

  it('[G25] a threshold is tokens or a part, and a switch is on or off', async () => {
    const load = async (environment: Record<string, string>) =>
      await loadSettings(sources({}, { environment }).given)
    expect((await load({ PALIMPSEST_THRESHOLD: '90000' })).settings).toEqual({ threshold: 90_000 })
    expect((await load({ PALIMPSEST_THRESHOLD: '62.5%' })).settings).toEqual({ threshold: '62.5%' })
    expect((await load({ PALIMPSEST_SNIP: 'off', PALIMPSEST_BUDGET: 'true' })).settings).toEqual({
      snip: false,
      budget: true,
    })
    for (const text of ['0', '-5', '0%', '101%', '80 %', 'much', '%'])
      expect((await load({ PALIMPSEST_THRESHOLD: text })).problems).toMatchObject([
        { key: 'PALIMPSEST_THRESHOLD' },
      ])
    expect((await load({ PALIMPSEST_SNIP: 'maybe' })).problems).toMatchObject([{ key: 'PALIMPSEST_SNIP' }])
    const models = '{"models": [{"id": "m", "threshold": "50%"}]}'
    expect((await loadSettings(sources({ [places.user]: models }).given)).problems).toEqual([])
  })

  it('[G19] a variable that does not fit is named', async () => {
    const environment = {
      PALIMPSEST_WINDOW: 'wide',
      PALIMPSEST_ALLOW: 'Edit, Bash',
      PALIMPSEST_THINKING: '2048',
    }
    const { settings, problems } = await loadSettings(sources({}, { environment }).given)
    expect(settings).toEqual({ allow: ['Edit', 'Bash'], thinking: 2048 })
    expect(problems).toMatchObject([{ file: 'environment', key: 'PALIMPSEST_WINDOW' }])
  })

  it('[PM27] rules are gathered from everywhere with who gave them, and nothing takes one back', async () => {
    const { given } = sources(
      {
        [places.user]: '{"deny": ["Bash(rm *)"], "allow": ["Edit"]}',
        [places.project]: '{"deny": [], "allow": ["Bash(npm test)"]}',
        [places.local]: '{"allow": []}',
        '/managed.json': '{"deny": ["WebFetch"], "model": "managed"}',
      },
      {
        managed: '/managed.json',
        environment: { PALIMPSEST_ASK: 'Bash(git push *, or so), mcp__s' },
        flags: { allow: ['Bash'], model: 'flag' },
      },
    )
    const { settings, rules } = await loadSettings(given)
    expect(settings).toEqual({
      model: 'managed',
      allow: ['Edit', 'Bash(npm test)', 'Bash'],
      ask: ['Bash(git push *, or so)', 'mcp__s'],
      deny: ['Bash(rm *)', 'WebFetch'],
    })
    expect(rules.filter(({ list }) => list === 'deny')).toEqual([
      { list: 'deny', text: 'Bash(rm *)', source: 'user' },
      { list: 'deny', text: 'WebFetch', source: 'managed' },
    ])
    const closed = { ...given.files, readOfProject: () => Promise.resolve({ ok: true, text: null } as const) }
    const untrusted = await loadSettings({ ...given, files: closed })
    expect(untrusted.rules.some(({ source }) => source === 'project')).toBe(false)
  })

  it('[PM27] bypass counts only as a flag, and a project may only tighten the mode', async () => {
    const mode = async (file: string, value: string, more: Partial<SettingsSources> = {}) =>
      (await loadSettings(sources({ [file]: JSON.stringify({ permissionMode: value }) }, more).given))
        .settings.permissionMode
    for (const file of Object.values(places)) expect(await mode(file, 'bypass')).toBeUndefined()
    expect(await mode('', '', { environment: { PALIMPSEST_PERMISSION_MODE: 'bypass' } })).toBeUndefined()
    expect(await mode('', '', { flags: { permissionMode: 'bypass' } })).toBe('bypass')
    expect(await mode(places.user, 'acceptEdits')).toBe('acceptEdits')
    expect(await mode(places.project, 'acceptEdits')).toBeUndefined()
    expect(await mode(places.local, 'acceptEdits')).toBeUndefined()
    expect(await mode(places.project, 'plan')).toBe('plan')
    for (const key of ['sandbox', 'sandboxNetwork', 'sandboxWrite'])
      expect(
        (await loadSettings(sources({ [places.local]: JSON.stringify({ [key]: 'off' }) }).given)).problems[0]
          ?.message,
      ).toContain('may not be set by a project')
  })
})
