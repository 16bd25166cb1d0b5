import * as node from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { machineFileSystem as fs, makeFolders } from './fs.ts'

it('[S20] folders that cannot be made are a failure at once, also below a link that leads nowhere', async () => {
  const folder = await node.mkdtemp(join(tmpdir(), 'pal-folders-'))
  await makeFolders(fs, join(folder, 'a', 'b', 'c'), 0o700)
  await makeFolders(fs, join(folder, 'a', 'b', 'c'), 0o700)
  expect((await node.stat(join(folder, 'a', 'b', 'c'))).isDirectory()).toBe(true)
  await node.symlink(join(folder, 'gone'), join(folder, 'link'))
  let tries = 0
  const bounded = {
    ...fs,
    makeFolder: (path: string, mode: number) => {
      tries += 1
      if (tries > 20) throw new Error('it goes on for ever')
      return fs.makeFolder(path, mode)
    },
  }
  await expect(makeFolders(bounded, join(folder, 'link', 'a', 'b'), 0o700)).rejects.toMatchObject({
    code: 'ENOENT',
  })
  await node.rm(folder, { recursive: true })
})
