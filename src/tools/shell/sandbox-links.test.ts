// Links in a project, with the real bubblewrap: a mount follows links, so a guard laid through one would open what it
// leads to. Without bubblewrap these are left out with a line that says so.
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../disk/fs.ts'
import { createSandbox } from './sandbox.ts'

// Not below a temporary folder: the wall gives commands other temporary folders.
const packages = realpathSync(join(import.meta.dirname, '..', '..', '..', 'node_modules'))
const base = realpathSync(mkdtempSync(join(packages, '.sandbox-links-')))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const works = spawnSync('bwrap', ['--ro-bind', '/', '/', 'true']).status === 0
if (!works) console.warn('bubblewrap does not work here: the tests of links in the sandbox are left out')

/** A project with a repository, beside it another folder that holds one, a home with a key, and an editor's settings. */
function ground(name: string) {
  const at = join(base, name)
  const [project, other, home, editor] = ['project', 'other', 'home', 'editor'].map((part) =>
    join(at, part),
  ) as [string, string, string, string]
  for (const folder of [project, join(other, '.git', 'worktrees', 'w'), join(home, '.ssh'), editor])
    mkdirSync(folder, { recursive: true })
  spawnSync('git', ['init', '-q', project])
  writeFileSync(join(other, '.git', 'HEAD'), 'ref: refs/heads/main\n')
  writeFileSync(join(other, '.git', 'worktrees', 'w', 'gitdir'), 'x\n')
  writeFileSync(join(home, '.ssh', 'id'), 'KEY')
  writeFileSync(join(editor, 'settings.json'), '{}')
  const sandbox = createSandbox({
    fs: machineFileSystem,
    mode: 'require',
    network: false,
    root: project,
    writable: [],
    home,
    hidden: [],
    state: join(at, 'state'),
  })
  const run = async (command: string): Promise<string> => {
    const wall = await sandbox.around(project)
    if (!wall.ok) throw new Error(wall.why)
    const [program, ...words] = [...wall.before, 'bash', '-c', command]
    const { stdout, stderr } = spawnSync(program!, words, { encoding: 'utf8' })
    await wall.end()
    return `${stdout}${stderr}${sandbox.notices().join('\n')}`
  }
  return { project, other, home, editor, run }
}

describe.skipIf(!works)('links in a project (needs bubblewrap)', () => {
  it('[PM90] a link in the place of something guarded opens nothing outside of the project', async () => {
    const { project, other, editor, run } = ground('opens')
    symlinkSync('../editor', join(project, '.vscode'))
    symlinkSync('../other', join(project, 'sub'))
    mkdirSync(join(project, '.git', 'worktrees'))
    symlinkSync('../../../other/.git/worktrees/w', join(project, '.git', 'worktrees', 'w'))
    writeFileSync(join(project, '.gitmodules'), '[submodule "s"]\n\tpath = sub\n\turl = x\n')
    const namesThere = () =>
      [other, editor].map((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted())
    const before = namesThere()
    const said = await run(
      'for f in ../editor/x .vscode/x ../other/x sub/x sub/.git/x ../other/.git/worktrees/w/x; do echo x > $f; done; echo x > mine',
    )
    // Where the clone lies below the temporary folder, what is outside is not even there.
    expect(said.match(/Read-only file system|No such file or directory/g)).toHaveLength(6)
    expect(namesThere()).toEqual(before)
    expect(readFileSync(join(project, 'mine'), 'utf8')).toBe('x\n')
  })

  it('[PM90] a link to keys does not bring them back', async () => {
    const { project, run } = ground('keys')
    symlinkSync('../home/.ssh', join(project, '.palimpsest'))
    expect(await run('cat .palimpsest/id ../home/.ssh/id')).not.toContain('KEY')
  })

  it('[PM90] a link that a command lays makes nothing outside be renamed', async () => {
    const { project, editor, run } = ground('renames')
    expect(await run('ln -s ../editor .vscode')).toContain('.vscode is now')
    expect(readdirSync(editor)).toEqual(['settings.json'])
    expect(readdirSync(project).toSorted()).toEqual(['.git', '.vscode.blocked'])
  })

  it('[PM65] a repository behind a link or a pointer in the project is guarded where it lies', async () => {
    for (const kind of ['link', 'pointer']) {
      const { project, run } = ground(kind)
      spawnSync('mv', [join(project, '.git'), join(project, 'kept')])
      if (kind === 'link') symlinkSync('kept', join(project, '.git'))
      else writeFileSync(join(project, '.git'), 'gitdir: kept\n')
      const said = await run(
        'echo x > kept/hooks/pre-commit; echo x >> kept/config; echo x > kept/free; cp -r kept g2; rm -rf .git; mv g2 .git',
      )
      expect(said.match(/hooks\/pre-commit: Read-only|config: Read-only/g), kind).toHaveLength(2)
      expect(existsSync(join(project, 'kept', 'free')), kind).toBe(true)
      expect(existsSync(join(project, 'kept', 'hooks', 'pre-commit')), kind).toBe(false)
      if (kind === 'link') expect(readlinkSync(join(project, '.git'))).toBe('kept')
      else expect(readFileSync(join(project, '.git'), 'utf8')).toBe('gitdir: kept\n')
    }
  })
})
