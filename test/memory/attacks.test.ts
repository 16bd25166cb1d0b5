// Memories under attack: hostile names, texts and inputs, folders that go away.
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { memoryToolHandlers, type MemoryToolHandlers } from '../../src/memory/serving/memory-tool.ts'
import { folder } from './folder.ts'
import { from, keeperIn, memoryText, unsynced } from './memories.ts'

type Loose = Readonly<Record<keyof MemoryToolHandlers, (input: object) => Promise<unknown>>>

const names = [
  '',
  '/',
  '..',
  '.',
  './ok.md',
  '../secret.md',
  '%2e%2e/secret.md',
  '..%2fsecret.md',
  '..\\secret.md',
  'link.md',
  'folder/x.md',
  'folder',
  'MEMORY.md',
  'memory.md',
  'MEMORY',
  'Memory.MD',
  'logs',
  'logs/x.md',
  'CON',
  'nul.txt',
  'a\0b',
  'a\nb',
  'a\u202Eb.md',
  'a\u200Bb.md',
  'ok.md ',
  'ok.md.',
  'OK.md',
  'ok.MD',
  'оk.md',
  'ｏk.md',
  'café.md',
  'cafe\u0301.md',
  'ß.md',
  'SS.md',
  'İ.md',
  'a'.repeat(300),
  '漢'.repeat(100),
  '😀.md',
  '\ud800.md',
  '-rf',
  '~',
  '~root',
  '$HOME',
  '`id`',
  'a:b',
  'a|b',
  'a*b',
  'a?b',
  '"q"',
  '<x>',
  'a／b',
  'a∕b',
  '．．／secret',
  'ledger.jsonl',
  '.pal-x.tmp',
  '.git',
  '__proto__',
  'toString.md',
  '..;/secret.md',
  '....//secret.md',
  'file:///etc/passwd',
  '\\\\host\\share',
  'C:\\x',
  'ok.md/../../secret.md',
]
const paths: readonly unknown[] = [
  ...Array.from({ length: 25 }, (_, n) => `/memories/${'../'.repeat(n + 1)}secret.md`),
  ...names.map((name) => `/memories/${name}`),
  '/etc/passwd',
  'memories/ok.md',
  '/Memories/ok.md',
  '/memories',
  '//memories/ok.md',
  '/memories/../memories/ok.md',
  '',
  '/',
  '~/memories/ok.md',
  '/memoriesX/ok.md',
  '/proc/self/environ',
  '/dev/stdin',
  'ok.md',
  undefined,
  null,
  42,
  Number.NaN,
  true,
  {},
  [],
  ['/memories/ok.md'],
  { path: 'x' },
  () => 'x',
  10n,
  Symbol('x'),
]

it('[MS9] a hundred hostile paths and inputs of any kind are answered in words, and lead nowhere else', async () => {
  const base = await folder()
  const keeper = keeperIn(base, { fs: unsynced })
  const tool = memoryToolHandlers(keeper) as unknown as Loose
  await writeFile(join(base, 'secret.md'), 'OUTSIDE')
  await mkdir(join(base, 'other'))
  await writeFile(join(base, 'other', 'x.md'), 'OUTSIDE')
  expect(await tool.create({ path: '/memories/ok.md', file_text: 'fine' })).toContain('created')
  await symlink(join(base, 'secret.md'), join(keeper.place.root, 'link.md'))
  await symlink(join(base, 'other'), join(keeper.place.root, 'folder'))
  expect(paths.length).toBeGreaterThanOrEqual(100)
  const inputs = paths.flatMap((path) => [
    ['view', { path }] as const,
    ['create', { path, file_text: 'evil' }] as const,
    ['str_replace', { path, old_str: 'e', new_str: 'E' }] as const,
    ['insert', { path, insert_line: 0, insert_text: 'x' }] as const,
    ['rename', { old_path: path, new_path: '/memories/renamed.md' }] as const,
    ['delete', { path }] as const,
  ])
  const odd = [undefined, null, 5, {}, []].flatMap((value) => [
    ['create', { path: '/memories/new.md', file_text: value }] as const,
    ['str_replace', { path: '/memories/ok.md', old_str: value, new_str: 'x' }] as const,
    ['insert', { path: '/memories/ok.md', insert_line: value, insert_text: 'x' }] as const,
    ['insert', { path: '/memories/ok.md', insert_line: 0, insert_text: value }] as const,
    ['view', { path: '/memories/ok.md', view_range: [value, value] }] as const,
  ])
  for (const [name, input] of [...inputs, ...odd]) {
    const said = await tool[name](input).catch((error: unknown) => error)
    expect(typeof said, name).toBe('string')
    expect(said).not.toContain('OUTSIDE')
  }
  expect((await readdir(base)).toSorted()).toEqual(['memory', 'memory-state', 'other', 'secret.md'])
  expect(await readFile(join(base, 'secret.md'), 'utf8')).toBe('OUTSIDE')
  expect(await readFile(join(base, 'other', 'x.md'), 'utf8')).toBe('OUTSIDE')
  const listed = await keeper.list(1000)
  expect(listed.ok && listed.memories.filter(({ standing }) => standing === 'open')).toEqual([])
})

it('[ME89] folders that are taken away under a running keeper are made again, and what it knew of them is gone', async () => {
  const base = await folder()
  const keeper = keeperIn(base, { fs: unsynced })
  const save = (file: string) => keeper.save({ file, text: memoryText(file) }, from(), { via: 'session' })
  expect(await save('a.md')).toMatchObject({ applied: { kind: 'written' } })
  await rm(keeper.place.root, { recursive: true })
  expect(await keeper.list()).toMatchObject({ ok: true, memories: [] })
  expect(await save('b.md')).toMatchObject({ applied: { kind: 'written' } })
  await rm(keeper.place.state, { recursive: true })
  // Nobody vouches for what is there any more.
  expect(await keeper.list()).toMatchObject({ memories: [{ file: 'b.md', standing: 'held' }] })
  expect(await save('c.md')).toMatchObject({ applied: { kind: 'written', version: 1 } })
  await rm(base, { recursive: true })
  expect(await keeper.search('anything', 5, new AbortController().signal)).toMatchObject({
    ok: true,
    hits: [],
  })
  expect(await save('d.md')).toMatchObject({ applied: { kind: 'written' } })
  expect(await keeper.search('text of d.md', 5, new AbortController().signal)).toMatchObject({
    hits: [{ memory: { file: 'd.md' } }],
  })
})
