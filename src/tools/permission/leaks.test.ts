// What is let run unasked shows nothing that must be asked about: readers times ways to name a file, judged, and those
// let through run by a real shell behind bubblewrap, in a folder with keys in it and links that lead out of it.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { behindWall, hasWall } from '../../../test/permission/wall.ts'
import { machineFileSystem } from '../../disk/fs.ts'
import { judgeCommand } from './judge-command.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'pal-leaks-')))
const root = join(base, 'project')
const home = join(base, 'home')
for (const folder of [
  join(root, 'src/api/deep'),
  join(root, 'docs/old'),
  join(root, 'options/deep'),
  join(root, 'keys'),
  join(root, 'sites/x.org'),
  join(root, 'next.js/app.ts'),
  join(root, 'node_modules/pkg/test'),
  join(root, 'brought/back'),
  join(home, '.ssh'),
])
  mkdirSync(folder, { recursive: true })
for (const name of ['a', 'b', 'src/a.ts', 'options/-R']) writeFileSync(join(root, name), 'x\n')
for (const path of [
  join(root, '.env'),
  join(root, 'src/api/deep/.env'),
  join(root, 'keys/id_rsa'),
  join(root, 'sites/x.org/.env'),
  join(root, 'next.js/app.ts/.env'),
  join(root, 'node_modules/pkg/.env.local'),
  join(root, 'brought/back/.envrc'),
  join(root, 'brought/back/.env~'),
  join(base, 'outside'),
  join(home, '.ssh', 'id_rsa'),
])
  writeFileSync(path, 'KEYWORD\n')
writeFileSync(join(root, 'brought/.ignore'), '!.env*\n')
symlinkSync('../outside', join(root, 'link'))
symlinkSync('..', join(root, 'up'))
symlinkSync('../outside', join(root, 'n1'))
symlinkSync('../outside', join(root, 'back\\slash'))
symlinkSync('../../../outside', join(root, 'options/deep/link'))
afterAll(() => rmSync(base, { recursive: true }))

const readers = [
  'cat',
  'cat --',
  'cat <',
  'head -5',
  'grep K',
  'grep -e K',
  'grep -r K',
  'sed -n p',
  'sed -n --expression=p',
  'cut -c1-',
  'sort',
  'uniq',
  'diff a',
  'rg K',
  'rg --hidden K',
  'jq -R .',
  'paste a',
  'cd .. && cat',
  'cd up && cat',
  'cd src && cat',
  'cd options && grep K',
  'cd keys && cat',
  'false; cat',
  'grep -r -A 5 K',
  'grep --directories recurse K',
  'diff -N docs',
  'strings',
  'hexdump -c',
  'git grep --no-index K',
  'rg -A 5 K',
  "rg -g '.e*' K",
  'tr a b <',
]
const named = [
  'a',
  '.',
  'src',
  'src/api/',
  'docs',
  '.env',
  '../outside',
  'link',
  'l*',
  '?ink',
  'li[n]k',
  '[[:alpha:]]ink',
  '[!a]ink',
  'up/outside',
  'u*/outside',
  '*/outside',
  '.e*',
  '.[e]nv',
  '~/.ssh/id_rsa',
  '~/.s*/*',
  '..//outside',
  'src/../../outside',
  '"link"',
  'li\\nk',
  "$'link'",
  '{a,link}',
  '$PWD/link',
  '~+/link',
  '*',
  './*',
  '.*',
  'up',
  'a link',
  '"$(echo link)"',
  '@(link)',
  '../o*',
  '',
  'n$?',
  '"n$?"',
  "'back\\slash'",
  'back*',
  '@../outside',
  '-f../outside a',
  'keys',
  'sites',
  'next.js',
  'node_modules',
  'brought',
  'brought/back',
]

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

describe.skipIf(!hasWall)('what is let run (needs bubblewrap)', () => {
  it('[PM30] [PM85] shows no file that holds keys and none from outside the project, however it is named', async () => {
    const place = { fs: machineFileSystem, root, cwd: root, home }
    const through: string[] = []
    for (const reader of readers)
      for (const name of named)
        if (
          (await judgeCommand(`${reader} ${name}`, { allow: [], ask: [], deny: [] }, place)).kind === 'allow'
        )
          through.push(`${reader} ${name}`)
    const shows = (commands: readonly string[]) => {
      const lines = commands.map(
        (command, at) =>
          `timeout 5 bash -c ${quote(command)} < /dev/null 2>&1 | grep -aq KEYWORD && echo ${at}`,
      )
      const run = spawnSync('bwrap', [...behindWall, '--chdir', root, 'bash', '-s'], {
        input: lines.join('\n'),
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: home },
      })
      return run.stdout.split('\n').flatMap((line) => (line === '' ? [] : [commands[Number(line)]]))
    }
    expect(through.length).toBeGreaterThan(30)
    expect(shows(through)).toEqual([])
    // The shell would have shown them.
    expect(shows(['cat link', 'cat ls', 'grep -r K'])).toEqual(['cat link', 'grep -r K'])
  })
})
