import { randomUUID } from 'node:crypto'
import * as node from 'node:fs/promises'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hookedFileSystem } from '../../test/faults/hooked-fs.ts'
import { machineFileSystem as fs } from './fs.ts'
import { folderUnder, isInside, locateUnder, openUnder, removeUnder, writeUnder } from './under-root.ts'

const options = { mode: 0o600, unique: () => randomUUID() }
const bytes = (text: string): Uint8Array => Buffer.from(text)

describe('under-root', () => {
  let base = ''
  let root = ''
  beforeEach(async () => {
    base = await node.realpath(await node.mkdtemp(join(tmpdir(), 'pal-under-')))
    root = join(base, 'proj')
    await node.mkdir(root)
    await node.mkdir(join(base, 'proj-evil'))
    await node.writeFile(join(base, 'secret'), 'secret')
    await node.writeFile(join(root, 'plain'), 'plain')
  })
  afterEach(() => node.rm(base, { recursive: true }))

  const codeOfRead = async (name: string, gate = {}): Promise<string> => {
    const opened = await openUnder(fs, root, name, gate)
    if (!opened.ok) return opened.failure.code
    await opened.file.close()
    return 'opened'
  }
  const codeOfWrite = async (name: string, extra = {}): Promise<string> => {
    const written = await writeUnder(fs, root, name, bytes('new'), { ...options, ...extra })
    return written.ok ? 'written' : written.failure.code
  }

  it('[M2] a sibling whose name begins like the root is outside', () => {
    expect(isInside('/a/proj', '/a/proj-evil')).toBe(false)
    expect(isInside('/a/proj', '/a/proj/x')).toBe(true)
    expect(isInside('/a/proj', '/a/proj/..x')).toBe(true)
    expect(isInside('/a/proj', '/a')).toBe(false)
  })

  it('[M2] traversal, absolute paths, siblings and NUL are refused for reading and writing', async () => {
    const names = ['../secret', join(base, 'secret'), '../proj-evil/x', 'a/../../secret', '/etc/passwd', '..']
    for (const name of names) {
      expect([name, await codeOfRead(name)]).toEqual([name, 'outside'])
      expect([name, await codeOfWrite(name, { makeFolders: 0o700 })]).toEqual([name, 'outside'])
    }
    expect(await codeOfRead('pl\0ain')).toBe('bad-name')
    expect(await codeOfWrite('.')).toBe('not-a-file')
    expect(await node.readdir(join(base, 'proj-evil'))).toEqual([])
  })

  it('[M2] a link at the last step or as a parent never leads outside', async () => {
    await node.symlink(join(base, 'secret'), join(root, 'link'))
    await node.symlink(base, join(root, 'up'))
    expect(await codeOfRead('link')).toBe('symlink')
    expect(await codeOfRead('link', { links: 'inside' })).toBe('outside')
    expect(await codeOfWrite('link')).toBe('symlink')
    expect(await codeOfWrite('link', { links: 'inside' })).toBe('outside')
    expect(await codeOfRead('up/secret')).toBe('outside')
    expect(await codeOfWrite('up/fresh', { makeFolders: 0o700 })).toBe('outside')
    expect(await node.readFile(join(base, 'secret'), 'utf8')).toBe('secret')
    const located = await locateUnder(fs, root, 'up/new/file')
    expect(located.ok ? '' : located.failure.code).toBe('outside')
  })

  it('[M2] a link that stays under the root is followed when asked', async () => {
    await node.symlink('plain', join(root, 'alias'))
    expect(await codeOfRead('alias')).toBe('symlink')
    expect(await codeOfRead('alias', { links: 'inside' })).toBe('opened')
    expect(await codeOfWrite('alias', { links: 'inside' })).toBe('written')
    expect(await node.readFile(join(root, 'plain'), 'utf8')).toBe('new')
    expect((await node.lstat(join(root, 'alias'))).isSymbolicLink()).toBe(true)
  })

  it('[M2] a file with a second name is not written to, and is read only when asked', async () => {
    await node.link(join(base, 'secret'), join(root, 'hard'))
    expect(await codeOfWrite('hard')).toBe('hardlink')
    expect(await codeOfRead('hard')).toBe('hardlink')
    expect(await codeOfRead('hard', { hardLinks: 'allow' })).toBe('opened')
    expect(await node.readFile(join(base, 'secret'), 'utf8')).toBe('secret')
  })

  it('[M2] folders and pipes are not files, and opening a pipe does not wait', async () => {
    await node.mkdir(join(root, 'dir'))
    execFileSync('mkfifo', [join(root, 'pipe')])
    expect(await codeOfRead('dir')).toBe('not-a-file')
    expect(await codeOfRead('pipe')).toBe('not-a-file')
    expect(await codeOfWrite('dir')).toBe('not-a-file')
    expect(await codeOfRead('absent')).toBe('not-found')
    expect(await codeOfRead('absent/too')).toBe('not-found')
  })

  it('[M2] a write makes folders when told, keeps or sets the mode, and notices a changed file', async () => {
    expect(await codeOfWrite('a/b/c')).toBe('not-found')
    expect(await codeOfWrite('a/b/c', { makeFolders: 0o700 })).toBe('written')
    expect((await node.stat(join(root, 'a/b'))).mode & 0o777).toBe(0o700)
    expect((await node.stat(join(root, 'a/b/c'))).mode & 0o777).toBe(0o600)
    await node.chmod(join(root, 'plain'), 0o755)
    const seen = await fs.stat(join(root, 'plain'))
    expect(await codeOfWrite('plain', { seen: seen.mark, keepMode: true })).toBe('written')
    expect((await node.stat(join(root, 'plain'))).mode & 0o777).toBe(0o755)
    expect(await codeOfWrite('plain', { seen: seen.mark })).toBe('changed')
    expect(await codeOfWrite('plain', { seen: null })).toBe('changed')
    expect(await codeOfWrite('fresh', { seen: null })).toBe('written')
    expect((await node.readdir(root)).filter((name) => name.startsWith('.'))).toEqual([])
  })

  it('[M2] removing takes the link and not its target', async () => {
    await node.symlink(join(base, 'secret'), join(root, 'link'))
    expect((await removeUnder(fs, root, 'link')).ok).toBe(true)
    expect(await node.readFile(join(base, 'secret'), 'utf8')).toBe('secret')
    const folder = await folderUnder(fs, root, 'kept/here', 0o700)
    expect(folder.ok && folder.path).toBe(join(root, 'kept/here'))
    if (folder.ok) await folder.folder.close()
    const gone = await removeUnder(fs, root, '../secret')
    expect(gone.ok ? '' : gone.failure.code).toBe('outside')
  })

  it('[M2] a parent swapped for a link before any single step never lets a byte out or a secret in', async () => {
    const target = join(base, 'proj-evil')
    const inner = join(root, 'inner')
    for (const place of [inner, target]) await node.mkdir(join(place, 'deep'), { recursive: true })
    await node.writeFile(join(inner, 'deep/file'), 'ours')
    await node.writeFile(join(target, 'deep/file'), 'theirs')
    const seen = { outside: 0, written: 0, read: 0 }
    for (let step = 1; step <= 20; step++) {
      const swapping = hookedFileSystem(fs, {
        before: async (call) => {
          if (call.number !== step) return
          await node.rename(inner, join(root, 'aside'))
          await node.symlink(target, inner)
        },
      })
      const restore = async (): Promise<void> => {
        if (!(await node.lstat(inner)).isSymbolicLink()) return
        await node.unlink(inner)
        await node.rename(join(root, 'aside'), inner)
      }
      const opened = await openUnder(swapping, root, 'inner/deep/file')
      if (opened.ok) {
        const into = Buffer.alloc(10)
        expect(into.toString('utf8', 0, await opened.file.read(into, 0))).toBe('ours')
        await opened.file.close()
        seen.read++
      } else if (opened.failure.code === 'outside') seen.outside++
      await restore()
      const again = hookedFileSystem(swapping, {})
      const written = await writeUnder(again, root, 'inner/deep/file', bytes('ours'), options)
      if (written.ok) seen.written++
      else if (written.failure.code === 'outside') seen.outside++
      await restore()
      expect(await node.readdir(join(target, 'deep'))).toEqual(['file'])
      expect(await node.readFile(join(target, 'deep/file'), 'utf8')).toBe('theirs')
    }
    expect(seen.outside).toBeGreaterThan(0)
    expect(seen.written).toBeGreaterThan(5)
    expect(seen.read).toBeGreaterThan(5)
  })
})
