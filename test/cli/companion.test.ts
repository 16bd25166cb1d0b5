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
})
