import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { filesUnder } from './tree.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pal-tree-')))
// Node cannot name what lies as deep as here.
afterAll(() => void execFileSync('rm', ['-rf', folder]))

describe('the files below a folder', () => {
  it('[LB26] each folder is entered once, however many links lead back to it, by its own name where it has one', async () => {
    const root = join(folder, 'loops')
    mkdirSync(join(root, 'project'), { recursive: true })
    mkdirSync(join(folder, 'elsewhere'))
    writeFileSync(join(root, 'project', 'a.jsonl'), '')
    writeFileSync(join(folder, 'elsewhere', 'b.jsonl'), '')
    symlinkSync(join(root, 'project'), join(root, 'again'))
    symlinkSync(join(folder, 'elsewhere'), join(root, 'moved'))
    symlinkSync('nowhere', join(root, 'gone.jsonl'))
    // Two links to the folder they are in name twice as many places at each step down.
    for (const name of ['loop', 'other']) symlinkSync('.', join(root, name))
    expect(await filesUnder(root)).toEqual({
      names: ['gone.jsonl', join('moved', 'b.jsonl'), join('project', 'a.jsonl')],
      unread: [],
    })
    expect(await filesUnder(join(root, 'nowhere'))).toBe(null)
  })

  it('[LB26] a folder that cannot be entered is named and costs itself alone', async () => {
    const root = join(folder, 'closed')
    mkdirSync(root)
    writeFileSync(join(root, 'a.jsonl'), '')
    // No system opens a path as long as this, whoever asks: it can only be put together.
    const half = Array.from({ length: 12 }, () => 'x'.repeat(200)).join('/')
    for (const name of ['head', 'tail']) mkdirSync(join(root, name, half), { recursive: true })
    renameSync(join(root, 'tail'), join(root, 'head', half, 'tail'))
    const tree = await filesUnder(root)
    expect(tree?.names).toEqual(['a.jsonl'])
    expect(tree?.unread).toEqual([{ folder: expect.stringContaining(root) as string, why: 'ENAMETOOLONG' }])
  })
})
