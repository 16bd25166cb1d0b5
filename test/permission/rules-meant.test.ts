// Rules as people write them, through the public door: one that denies and is void without a word is worse than none.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { toolsDoor } from '../doors.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'pal-rules-meant-')))
afterAll(() => rmSync(base, { recursive: true }))
const [root, worktree] = [join(base, 'project'), join(base, 'worktree')]
for (const folder of ['project/secrets/deep', 'project/src', 'worktree/secrets', 'home'])
  mkdirSync(join(base, folder), { recursive: true })
const decomposed = 'src/a\u0308.txt'
for (const file of [
  'project/secrets/x',
  'project/secrets/deep/y',
  'worktree/secrets/x',
  `project/${decomposed}`,
])
  writeFileSync(join(base, file), 'text\n')

type Call = readonly [name: string, input: Readonly<Record<string, unknown>>]
const read = (file_path: string): Call => ['Read', { file_path }]
const bash = (command: string): Call => ['Bash', { command }]

/** In the mode that lifts every question, so that nothing but a rule can deny. */
const permissionFor = async (...rules: readonly string[]) => {
  const { createPermission } = await toolsDoor()
  return createPermission({
    fs: machineFileSystem,
    root,
    cwd: root,
    home: join(base, 'home'),
    mode: 'bypass',
    rules: rules.map((text) => {
      const [list = '', ...rest] = text.split(' ')
      return { list: list as 'deny', text: rest.join(' '), source: 'user' }
    }),
  })
}
const kindsOf = async (rule: string, calls: readonly Call[]) => {
  const permission = await permissionFor(rule)
  const kinds: string[] = []
  for (const [name, input] of calls) kinds.push((await permission.judge({ name, input }, false)).kind)
  return kinds
}
const denied = (calls: readonly unknown[]) => calls.map(() => 'deny')

describe('rules mean what they say', () => {
  it('[PM91] one that denies a folder denies all that is in it', async () => {
    const calls = [
      read('secrets/x'),
      read('secrets/deep/y'),
      bash('cat secrets/deep/y'),
      read('src/../secrets/x'),
    ]
    for (const rule of [
      'Read(secrets)',
      'Read(secrets/)',
      'Read(./secrets)',
      'Read(**/secrets)',
      'Read(sec*ts)',
    ])
      expect(await kindsOf(`deny ${rule}`, calls), rule).toEqual(denied(calls))
    // A star at the end is one step, and a rule that allows says no more than it says.
    expect(await kindsOf('deny Read(secrets/*)', [read('secrets/x'), read('secrets/deep/y')])).toEqual([
      'deny',
      'allow',
    ])
  })

  it('[PM91] one that denies holds however a letter with a mark is written', async () => {
    const calls = [read(decomposed), bash(`cat ${decomposed}`)]
    expect(await kindsOf('deny Read(src/\u00E4.txt)', calls)).toEqual(denied(calls))
  })

  it('[PM91] what is denied in a project is denied to an agent in a worktree of it, there and here', async () => {
    const permission = (await permissionFor('deny Read(secrets/**)', 'deny Edit(secrets/**)')).at({
      root: worktree,
      cwd: worktree,
    })
    const calls: readonly Call[] = [
      read('secrets/x'),
      read(join(root, 'secrets/x')),
      ['Write', { file_path: join(root, 'secrets/new'), content: '' }],
      bash(`cat ${root}/secrets/x`),
    ]
    for (const [name, input] of calls)
      expect((await permission.judge({ name, input }, false)).kind, JSON.stringify(input)).toBe('deny')
  })

  it('[PM91] one for tools of servers knows them as they are called: odd letters, long names, stars', async () => {
    const long = `mcp__srv__${'a'.repeat(80)}`
    const cases: readonly (readonly [rule: string, tool: string])[] = [
      ['mcp__srv__get_*', 'mcp__srv__get_issue'],
      ['mcp__srv__*_delete', 'mcp__srv__file_delete'],
      ['mcp__srv__*', 'mcp__srv__any'],
      ['mcp__*', 'mcp__srv__any'],
      ['mcp__srv__', 'mcp__srv__any'],
      ['mcp__srv__read.file', 'mcp__srv__read_file'],
      ['mcp__srv__read file', 'mcp__srv__read_file'],
      [long, long.slice(0, 64)],
    ]
    for (const [rule, tool] of cases) {
      expect(await kindsOf(`deny ${rule}`, [[tool, {}]]), rule).toEqual(['deny'])
      expect(await kindsOf(`deny ${rule}`, [['mcp_srv', {}]]), rule).toEqual(['allow'])
    }
    for (const tool of ['mcp__srv__set_issue', 'mcp__srv2__get_issue'])
      expect(await kindsOf('deny mcp__srv__get_*', [[tool, {}]]), tool).toEqual(['allow'])
  })

  it('[PM91] one in another case, with a variable or with ! is not void: it counts, for its whole tool where it is not understood', async () => {
    const cases: readonly (readonly [rule: string, call: Call])[] = [
      ['bash', bash('true')],
      ['BASH(rm *)', bash('rm x')],
      ['read(secrets/**)', read('secrets/x')],
      ['*', read('src/a.txt')],
      ['Read($HOME/x)', read('src/a.txt')],
      ['Read(~other/x)', read('src/a.txt')],
      ['Read(!src/**)', read('src/a.txt')],
    ]
    for (const [rule, call] of cases) expect(await kindsOf(`deny ${rule}`, [call]), rule).toEqual(['deny'])
    const { problems } = await permissionFor(
      'deny Read($HOME/x)',
      'deny Read(~other/x)',
      'deny Read(!a)',
      'allow *',
    )
    expect(problems).toHaveLength(4)
  })
})
