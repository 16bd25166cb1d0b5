import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { machineFileSystem } from '../disk/fs.ts'
import { projectOf, slugOf } from './project.ts'

describe('the project of a folder', () => {
  it('[G21] is the git root by its real path, else the folder itself', async () => {
    const base = await realpath(await mkdtemp(join(tmpdir(), 'pal-project-')))
    onTestFinished(() => rm(base, { recursive: true, force: true }))
    await mkdir(join(base, 'repo', 'deep', 'er'), { recursive: true })
    await mkdir(join(base, 'repo', '.git'))
    await symlink(join(base, 'repo', 'deep'), join(base, 'link'))
    const found = async (path: string) => await projectOf(machineFileSystem, path)
    const deep = await found(join(base, 'repo', 'deep', 'er'))
    expect(deep).toMatchObject({ project: { root: join(base, 'repo'), isGit: true } })
    expect(await found(join(base, 'link', 'er'))).toEqual(deep)
    expect(await found(base)).toMatchObject({ project: { root: base, cwd: base, isGit: false } })
    expect(await found(join(base, 'nowhere'))).toMatchObject({ ok: false, failure: { code: 'not-found' } })
  })

  it('[G21] two roots never share a slug, and a slug is a plain name', () => {
    const paths = [
      '/a/my_app',
      '/a/my-app',
      '/a/my.app',
      '/b/my-app',
      `/${'x'.repeat(300)}/a`,
      `/${'x'.repeat(300)}/b`,
    ]
    expect(new Set(paths.map(slugOf)).size).toBe(paths.length)
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(slugOf(`/${a}`)).toMatch(/^[A-Za-z0-9-]{16,57}$/)
        if (a.isWellFormed() && b.isWellFormed()) expect(slugOf(`/${a}`) === slugOf(`/${b}`)).toBe(a === b)
      }),
    )
  })
})
