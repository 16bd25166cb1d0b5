import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { folder } from '../../test/memory/folder.ts'
import { machineFileSystem } from '../disk/fs.ts'
import { isInside } from '../disk/under-root.ts'
import { sharedRoot, agentPlaceAt, memoryPlaces, rootRefusal, type PlaceSources } from './place.ts'

const sources: PlaceSources = {
  home: '/home/u/.palimpsest',
  userHome: '/home/u',
  slug: 'app-0123',
  projectRoot: '/home/dev/app',
  environment: {},
}
const git = async (cwd: string, ...words: string[]) =>
  await promisify(execFile)('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.test', ...words], { cwd })

describe('the place of memories', () => {
  it('[ME50] is below the home, moved by environment, then by settings, and off where a remote machine names none', () => {
    const root = (over: Partial<PlaceSources>) => {
      const placed = memoryPlaces({ ...sources, ...over })
      return placed.ok ? placed.places.project.root : placed.why
    }
    expect(root({})).toBe('/home/u/.palimpsest/projects/app-0123/memory')
    expect(root({ directory: '~/notes/memory' })).toBe('/home/u/notes/memory')
    const environment = { PALIMPSEST_MEMORY_DIRECTORY: '/data/memory' }
    expect(root({ directory: '~/notes/memory', environment })).toBe('/data/memory')
    expect(root({ environment: { PALIMPSEST_REMOTE: '1' } })).toMatch(/memory is off/)
    const remote = { PALIMPSEST_REMOTE: '1', PALIMPSEST_REMOTE_MEMORY_DIRECTORY: '/mnt/memory' }
    expect(root({ environment: remote })).toBe('/mnt/memory/projects/app-0123/memory')
  })

  it('[ME51] is refused where it is relative, near the root, a drive, another machine, or not plain', () => {
    for (const path of [
      'memory',
      './memory',
      '/',
      '/data',
      'C:\\',
      'C:/',
      '//host/share/x',
      '\\\\host\\x',
      '/a/../..',
      '/a/b/../c',
      '/a/./b',
      '/a/b\0',
      '/home/u',
      '',
    ])
      expect(rootRefusal(path, '/home/u'), path).not.toBe(null)
    expect(rootRefusal('/data/memory', '/home/u')).toBe(null)
    expect(memoryPlaces({ ...sources, directory: '../..' })).toMatchObject({ ok: false })
  })

  it('[ME52] never holds what is known about memories, in any scope', () => {
    const placed = memoryPlaces(sources)
    if (!placed.ok) throw new Error(placed.why)
    const agent = agentPlaceAt(sources.home, '/home/dev/app/.palimpsest/agent-memory/reviewer')
    for (const { root, state } of [...Object.values(placed.places), agent]) {
      expect(isInside(root, state)).toBe(false)
      expect(isInside(sources.projectRoot, state)).toBe(false)
    }
  })
})

describe('worktrees', () => {
  it('[ME53] of one repository share their root, and a file that only claims it does not', async () => {
    const base = await folder()
    const repo = join(base, 'repo')
    await mkdir(repo)
    await git(repo, 'init', '-q')
    await git(repo, 'commit', '-q', '--allow-empty', '-m', 'x')
    await git(repo, 'worktree', 'add', '-q', join(base, 'tree'))
    expect(await sharedRoot(machineFileSystem, repo)).toBe(repo)
    expect(await sharedRoot(machineFileSystem, join(base, 'tree'))).toBe(repo)
    const evil = join(base, 'evil')
    await mkdir(evil)
    for (const claim of [join(repo, '.git', 'worktrees', 'tree'), join(repo, '.git'), '../tree/.git']) {
      await writeFile(join(evil, '.git'), `gitdir: ${claim}\n`)
      expect(await sharedRoot(machineFileSystem, evil)).toBe(evil)
    }
    // One of its own making that names the other repository as its common folder.
    await mkdir(join(evil, 'own', 'worktrees', 'x'), { recursive: true })
    await writeFile(join(evil, '.git'), 'gitdir: own/worktrees/x\n')
    await writeFile(join(evil, 'own', 'worktrees', 'x', 'commondir'), join(repo, '.git'))
    await writeFile(join(evil, 'own', 'worktrees', 'x', 'gitdir'), join(evil, '.git'))
    expect(await sharedRoot(machineFileSystem, evil)).toBe(evil)
    await rm(join(base, 'tree'), { recursive: true })
    expect(await sharedRoot(machineFileSystem, repo)).toBe(repo)
  })
})
