import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openWorkspace } from './pal.ts'

const fixtures = resolve(import.meta.dirname, '..', 'fixtures', 'companion')

describe('pal companion audit', () => {
  it('[CO13] shows what each compaction kept and lost, in words or as JSON, by path, by id, or of the newest session', async () => {
    const { pal, state } = await openWorkspace()
    const home = join(state, '..')
    const place = join(home, '.claude', 'projects', '-shop')
    mkdirSync(place, { recursive: true })
    cpSync(join(fixtures, 'claude-code-2.1.325.jsonl'), join(place, 'd3247ad1.jsonl'))
    const text = await pal(['companion', 'audit', join(place, 'd3247ad1.jsonl')])
    expect(text.code).toBe(0)
    expect(text.out).toMatch(
      /claude-code 2\.1\.325, session d3247ad1[\s\S]*0 of 3[\s\S]*3 of 3 \(\+\d+ tokens\)/,
    )
    expect(text.out).toContain('you said: Build the parser; never touch legacy.')
    const json = await pal(['companion', 'audit', join(place, 'd3247ad1.jsonl'), '--json'])
    expect(JSON.parse(json.out)).toMatchObject({
      version: 1,
      compactions: [{ messages: { found: 3, kept: 0 } }],
    })
    expect((await pal(['companion', 'audit', 'zzzz'])).code).toBe(4)
    const broken = join(home, 'broken.jsonl')
    writeFileSync(broken, 'not a session\n')
    const refused = await pal(['companion', 'audit', broken])
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('broken.jsonl')])
  })

  it('[CO12] what a hostile session holds neither steers the terminal nor leaks', async () => {
    const { pal, home } = await openWorkspace()
    const key = ['sk', 'ant', 'api03', 'A1b2C3d4'.repeat(11), 'AA'].join('-')
    const evil = '\u001B[2J\u001B]0;owned\u0007\u202E\u009B31m'
    const line = (over: object): string =>
      JSON.stringify({
        parentUuid: null,
        isSidechain: false,
        sessionId: `s${evil}`,
        version: `2${evil}`,
        cwd: `/x${evil}`,
        ...over,
      })
    const path = join(home, 'hostile.jsonl')
    writeFileSync(
      path,
      [
        line({ type: 'user', uuid: '1', message: { role: 'user', content: `never ${evil} use ${key}` } }),
        line({
          type: 'user',
          uuid: '2',
          isCompactSummary: true,
          message: { role: 'user', content: `a summary ${evil}` },
        }),
        `{"torn ${evil}`,
        '',
      ].join('\n'),
    )
    for (const flags of [[], ['--json']]) {
      const { out, err, code } = await pal(['companion', 'audit', path, ...flags])
      expect(code).toBe(0)
      // oxlint-disable-next-line no-control-regex
      expect(out + err).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E]/)
      expect(out + err).not.toContain(key)
      expect(out).toContain('[secret:')
    }
  })
})
