// What cannot be looked at is neither empty nor missing, and a link says nothing of what it leads to.
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openWorkspace } from './pal.ts'

describe('a state folder', () => {
  it('[G14] that cannot be looked at is not called empty', async () => {
    const { pal, home } = await openWorkspace()
    const loop = join(home, 'loop')
    symlinkSync('loop', loop)
    for (const words of [['sessions'], ['stats']]) {
      const { code, out, err } = await pal(words, { environment: { PALIMPSEST_HOME: loop } })
      expect([words[0], code, out]).toEqual([words[0], 1, ''])
      expect(err).toMatch(/listing .* failed: ELOOP/)
    }
    const usage = await pal(['usage'], { environment: { PALIMPSEST_HOME: loop } })
    expect([usage.code, usage.err]).toEqual([
      1,
      expect.stringMatching(/not counted: listing .* failed: ELOOP/),
    ])
  })

  it('[G14] in which one session cannot be looked at lists the others and finds them by their ids', async () => {
    const { pal, state } = await openWorkspace()
    await pal(['-p', '--offline', 'hello'])
    const projects = join(state, 'projects')
    const sessions = join(projects, readdirSync(projects)[0]!, 'sessions')
    const [id] = readdirSync(sessions)
    symlinkSync('other', join(sessions, 'other'))
    const listed = await pal(['sessions'])
    expect([listed.code, listed.out]).toEqual([1, expect.stringContaining('hello')])
    expect(listed.err).toMatch(/cannot be listed: listing other failed: .* Make that readable/)
    for (const named of [id!, id!.slice(-8)])
      expect((await pal(['-p', '--offline', '--resume', named, 'on'])).code).toBe(0)
    expect((await pal(['-p', '--offline', '--resume', 'unknown1', 'on'])).err).toContain('cannot be listed')
  })

  it('[PM79] behind a link is judged by what the link leads to', async () => {
    const { pal, state, home } = await openWorkspace()
    const real = join(home, 'kept')
    mkdirSync(real)
    chmodSync(real, 0o700)
    symlinkSync('kept', state)
    expect((await pal(['-p', '--offline', 'hello'])).err).not.toContain('can be written to by others')
    chmodSync(real, 0o777)
    expect((await pal(['-p', '--offline', 'hello'])).err).toContain(`${state} can be written to by others`)
    expect(existsSync(join(real, 'projects'))).toBe(true)
  })
})

it('[TE12] a rule that names no tool is said when it is set', async () => {
  const { pal } = await openWorkspace()
  const { code, out, err } = await pal(['config', 'deny', '["Bsh(rm *)"]'])
  expect([code, out]).toEqual([0, expect.stringContaining('deny is ["Bsh(rm *)"] in your settings')])
  expect(err).toContain('names no tool and denies nothing. Did you mean Bash?')
})
