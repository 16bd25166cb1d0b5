// What the pages say of commands holds where nothing was kept yet: no home folder, no session, no settings.
import { describe, expect, it } from 'vitest'
import { openWorkspace } from './pal.ts'

describe('on a machine where nothing was kept yet', () => {
  it('[H34] pal config sets what it is given', async () => {
    const { pal } = await openWorkspace()
    const { code, err } = await pal(['config', 'thrift', '0.3'])
    expect([code, err]).toEqual([0, ''])
    expect((await pal(['config', 'thrift'])).out).toContain('0.3')
  })

  it('[H34] pal agents shows the agent types', async () => {
    const { pal } = await openWorkspace()
    expect((await pal(['agents'])).out).toContain('general')
    const { code, out } = await pal(['agents', '--json'])
    expect(code).toBe(0)
    const shown = JSON.parse(out) as { session: unknown; types: { name: string }[] }
    expect(shown.session).toBe(null)
    expect(shown.types.map(({ name }) => name)).toContain('explore')
  })

  it.each([
    ['doctor'],
    ['sessions'],
    ['memory'],
    ['memory', '--why'],
    ['permissions'],
    ['permissions', 'why', 'Bash(git push)'],
    ['trust', '--list'],
    ['stats'],
  ])('[H34] pal %s %s ends without a stack trace', async (...words) => {
    const { pal } = await openWorkspace()
    const { code, out, err } = await pal(words)
    expect(code, err).toBeLessThan(2)
    expect(`${out}${err}`).not.toMatch(/^ {4}at /m)
  })
})
