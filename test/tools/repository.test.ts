import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { repositoryOf } from '../../src/tools/git/repository.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'pal-repository-')))
afterAll(() => rmSync(base, { recursive: true }))

function repository(name: string): string {
  execFileSync('git', ['init', '-q', join(base, name)])
  return join(base, name)
}

describe('the repository of a folder', () => {
  it.each(['', 'objects', 'objects/info'])(
    '[PM62] is asked about when .git/%s cannot be listed',
    async (part) => {
      const root = repository(`closed-${part.replace('/', '-')}`)
      const closed = join(root, '.git', part)
      const entries = async (path: string) => {
        if (path === closed || `${path}/` === closed)
          throw Object.assign(new Error('denied'), { code: 'EACCES' })
        return machineFileSystem.entries(path)
      }
      expect(await repositoryOf(machineFileSystem, root, root)).toMatchObject({ ok: true })
      expect(await repositoryOf({ ...machineFileSystem, entries }, root, root)).toMatchObject({ ok: false })
    },
  )

  it.each(['refs', 'Refs', 'config', 'r\u200Defs'])(
    '[PM62] is asked about when %j in it is a link',
    async (name) => {
      const root = repository(`linked-${encodeURIComponent(name)}`)
      const plain = join(root, '.git', name.replace('\u200D', '').toLowerCase())
      renameSync(plain, join(root, 'elsewhere'))
      symlinkSync(join(root, 'elsewhere'), join(root, '.git', name))
      expect(await repositoryOf(machineFileSystem, root, root)).toEqual({
        ok: false,
        why: `${join(root, '.git', name)} is a link`,
      })
    },
  )
})
