// A command in the sandbox that puts a repository of its own where git enters by itself: what the user's git does next,
// outside, must not run what that repository names. Real bubblewrap and real git; left out with a line without them.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { ToolEnv } from '../../src/tools/index.ts'
import { toolsDoor } from '../doors.ts'
import { until } from '../until.ts'

const { bashTool, createJobs, createReadFiles, createSandbox, machineFileSystem } = await toolsDoor()

const base = realpathSync(mkdtempSync(join(tmpdir(), 'pal-gitlinks-')))
const [home, mark, evil] = ['home', 'MARK', 'evil'].map((name) => join(base, name)) as [
  string,
  string,
  string,
]
mkdirSync(home)
writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = n\n\temail = n@x\n[init]\n\tdefaultBranch = main\n')
writeFileSync(evil, `#!/bin/sh\necho ran >> ${mark}\n/bin/cat 2>/dev/null\nexit 0\n`)
chmodSync(evil, 0o755)
// The home is not there behind the wall, so the name is in the environment.
const environment = {
  PATH: process.env['PATH'] ?? '',
  HOME: home,
  GIT_AUTHOR_NAME: 'n',
  GIT_AUTHOR_EMAIL: 'n@x',
  GIT_COMMITTER_NAME: 'n',
  GIT_COMMITTER_EMAIL: 'n@x',
}
const git = (cwd: string, ...words: readonly string[]): string =>
  execFileSync('git', ['-c', 'protocol.file.allow=always', ...words], {
    cwd,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  }).toString()
const jobs = createJobs()
afterAll(async () => {
  await jobs.close()
  rmSync(base, { recursive: true, force: true })
})

let count = 0
/** A repository with a commit. */
function repository(at = join(base, `r${++count}`)): string {
  mkdirSync(at, { recursive: true })
  git(at, 'init', '-q')
  writeFileSync(join(at, 'a.txt'), 'one\n')
  git(at, 'add', 'a.txt')
  git(at, 'commit', '-qm', 'first')
  return at
}

const wallOf = (root: string, writable: readonly string[] = []) =>
  createSandbox({
    fs: machineFileSystem,
    mode: 'require',
    network: false,
    root,
    writable,
    home,
    hidden: [],
    state: join(base, 'state'),
    path: environment.PATH,
  })

async function run(
  root: string,
  command: string,
  { sandbox = wallOf(root), background = undefined as true | undefined, runs = jobs } = {},
): Promise<string> {
  const env: ToolEnv = {
    cwd: root,
    callId: 'c',
    readFiles: createReadFiles(),
    spill: null,
    expand: async () => ({ ok: false, why: '' }),
    isShown: () => true,
    report: () => {},
    now: () => 0,
  }
  const bash = bashTool({ environment, jobs: runs, sandbox })
  const input = { command, timeout: undefined, background }
  const { content } = await bash.run(input, env, new AbortController().signal)
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
}

/** What the user does next, outside of the wall; true where a program of the trap ran. */
function isSprung(root: string): boolean {
  rmSync(mark, { force: true })
  for (const words of [['status'], ['diff'], ['diff', 'HEAD']])
    spawnSync('git', words, { cwd: root, env: environment })
  return existsSync(mark)
}

const gitlinksIn = (root: string): readonly string[] => {
  const { stdout } = spawnSync('git', ['ls-files', '--stage'], { cwd: root, env: environment })
  return [...stdout.toString().matchAll(/^160000 .*\t(.*)$/gm)].map(([, path]) => path!)
}

const works = spawnSync('bwrap', ['--ro-bind', '/', '/', 'true']).status === 0
if (!works) console.warn('bubblewrap does not work here: the tests of gitlinks are left out')

const acting = (at: string): string =>
  `git -C ${at} config core.fsmonitor ${evil}; git -C ${at} config diff.external ${evil}; git -C ${at} config filter.f.clean ${evil}; echo '*.txt filter=f' > ${at}/.gitattributes`
const made = (at: string): string =>
  `git init -q ${at}; (cd ${at}; echo x > a.txt; git add a.txt; git commit -qm x); echo y >> ${at}/a.txt; ${acting(at)}`

/** Each with what is there before, if anything. */
const plants: Readonly<Record<string, { before?: (root: string) => void; command: string }>> = {
  'a new repository is added': { command: `${made('sub')}; git add sub` },
  'deep in the tree': { command: `${made('x/y/sub')}; git add x/y/sub` },
  'into the index by its number': {
    command: `${made('sub')}; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub`,
  },
  'into an index that is split': {
    command: `${made('sub')}; git update-index --split-index; git add sub; git update-index --split-index`,
  },
  'its .git is a link': { command: `${made('sub')}; mv sub/.git g; ln -s ../g sub/.git; git add sub` },
  'its .git is a pointer into the tree': {
    command: `${made('sub')}; mv sub/.git g; echo 'gitdir: ../g' > sub/.git; git add sub`,
  },
  'it is committed as well': { command: `${made('sub')}; git add sub; git commit -qm sub` },
  'as a submodule': {
    command: `${made('sub')}; git add sub; printf '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n' > .gitmodules; git add .gitmodules`,
  },
  'a repository that was there is added and changed': {
    before: (root) => void repository(join(root, 'sub')),
    command: `echo y >> sub/a.txt; ${acting('sub')}; git add sub`,
  },
  'one that is in the index, without a line in .gitmodules, is changed': {
    before: (root) => {
      repository(join(root, 'sub'))
      git(root, 'add', 'sub')
    },
    command: `echo y >> sub/a.txt; ${acting('sub')}; mv sub/.git sub/g; cp -r sub/g sub/.git; ${acting('sub')}; mv sub s2; cp -r s2 sub; ${acting('sub')}`,
  },
  'one beside another in the same folder is changed': {
    before: (root) => {
      for (const name of ['deep/s1', 'deep/s2', 'deep/s3']) repository(join(root, name))
      git(root, 'add', 'deep')
    },
    command: `for s in deep/s1 deep/s2 deep/s3; do echo y >> $s/a.txt; git config -f $s/.git/config core.fsmonitor ${evil}; done`,
  },
  'a folder in the index that was empty is filled': {
    before: (root) => {
      mkdirSync(join(root, 'sub'))
      git(root, 'update-index', '--add', '--cacheinfo', `160000,${git(root, 'rev-parse', 'HEAD').trim()},sub`)
    },
    command: made('sub'),
  },
  'inside of one that is in the index': {
    before: (root) => {
      repository(join(root, 'sub'))
      git(root, 'add', 'sub')
    },
    command: `${made('sub/in')}; git -C sub add in`,
  },
  'inside of a submodule': {
    before: (root) => {
      const inner = repository()
      const outer = repository()
      git(outer, 'submodule', 'add', '-q', inner, 'in')
      git(outer, 'commit', '-qm', 'in')
      git(root, 'submodule', 'add', '-q', outer, 'sub')
      git(root, 'submodule', 'update', '-q', '--init', '--recursive')
    },
    command: `cp -r .git/modules/sub/modules/in g; git config -f g/config core.fsmonitor ${evil}; git config -f g/config --unset core.worktree; rm -f sub/in/.git; echo "gitdir: $PWD/g" > sub/in/.git; mv sub/in sub/x; mkdir sub/in; echo "gitdir: $PWD/g" > sub/in/.git`,
  },
  'the repository itself is a link to another place in the tree': {
    before: (root) => {
      renameSync(join(root, '.git'), join(root, 'g'))
      execFileSync('ln', ['-s', 'g', join(root, '.git')])
    },
    command: `cp -r g g2; for g in g g2; do printf '[core]\n\tfsmonitor = ${evil}\n' >> $g/config; done; rm .git; ln -s g2 .git`,
  },
}

describe.skipIf(!works)('repositories that git enters by itself (needs bubblewrap)', () => {
  for (const [name, { before, command }] of Object.entries(plants))
    it(`[PM100] the user's git runs nothing of it: ${name}`, async () => {
      // Else the trick is none and proves nothing.
      const control = repository()
      before?.(control)
      spawnSync('bash', ['-c', command], { cwd: control, env: environment })
      expect(isSprung(control)).toBe(true)
      const root = repository()
      before?.(root)
      await run(root, command)
      expect(isSprung(root)).toBe(false)
      // The command could do what it wanted, up to what the wall keeps.
      expect(gitlinksIn(root)).toEqual(gitlinksIn(control))
    })

  it('[PM100] what was blocked is said with what to do, and counts again once the user renamed it back', async () => {
    const root = repository()
    const said = await run(root, `${made('sub')}; git add sub`)
    expect(said).toContain(`${join(root, 'sub', '.git')} is now ${join(root, 'sub', '.git.blocked')}`)
    expect(said).toMatch(
      /look at its config and hooks and rename it back, or take it out of the index: git rm --cached sub/,
    )
    expect(await run(root, 'echo next')).toBe('next')
    renameSync(join(root, 'sub', '.git.blocked'), join(root, 'sub', '.git'))
    expect(await run(root, 'echo next')).toBe('next')
    expect(existsSync(join(root, 'sub', '.git'))).toBe(true)
  })

  it('[PM100] submodules of the user and commands that add none are left alone', async () => {
    const root = repository()
    git(root, 'submodule', 'add', '-q', repository(), 'mod')
    repository(join(root, 'own'))
    git(root, 'add', '-A')
    git(root, 'commit', '-qm', 'both')
    repository(join(root, 'clone'))
    const said = await run(
      root,
      'echo two >> a.txt && git commit -qam two && git -C own log --oneline | wc -l',
    )
    expect(said).toBe('1')
    const status = git(root, 'status', '--short')
    expect(status).toBe('?? clone/\n')
    for (const name of ['mod', 'own', 'clone']) expect(existsSync(join(root, name, '.git'))).toBe(true)
    // In a folder that nobody has filled yet, while a command runs.
    const other = repository()
    git(other, 'clone', '-q', root, 'copy')
    const copy = join(other, 'copy')
    const sandbox = wallOf(copy)
    const own = createJobs()
    await run(copy, 'sleep 600', { sandbox, background: true, runs: own })
    git(copy, 'submodule', 'update', '-q', '--init', 'mod')
    expect(await run(copy, 'echo next', { sandbox })).toBe('next')
    await own.close()
    expect(existsSync(join(copy, 'mod', '.git'))).toBe(true)
  })

  it('[PM100] nothing outside of the project is renamed, whatever the index and the links say', async () => {
    const outside = repository()
    const root = repository()
    const id = git(root, 'rev-parse', 'HEAD').trim()
    await run(
      root,
      `ln -s ${outside} link; ln -s ${base} all; mkdir -p .git/worktrees/w
      for p in link all/${outside.slice(base.length + 1)}; do printf '160000 ${id} 0\t%s\n' $p; done | git update-index --index-info
      git update-index --add --cacheinfo 160000,${id},zzzzz && sed -i "s,zzzzz,../${outside.slice(base.length + 1)}," .git/index
      echo ${outside}/.git > .git/worktrees/w/gitdir; cp .git/index .git/worktrees/w/index; echo ../.. > .git/worktrees/w/commondir; cp .git/HEAD .git/worktrees/w/HEAD`,
    )
    expect(existsSync(join(outside, '.git'))).toBe(true)
    const folder = join(base, 'editor')
    mkdirSync(folder)
    writeFileSync(join(folder, 'tasks.json'), '{}')
    await run(root, `ln -s ${folder} .vscode`)
    expect(readFileSync(join(folder, 'tasks.json'), 'utf8')).toBe('{}')
    expect(existsSync(join(root, '.vscode'))).toBe(false)
  })

  it('[PM100] what a job in the background adds is blocked at the next command and at its end', async () => {
    const root = repository()
    const sandbox = wallOf(root)
    const own = createJobs()
    await run(root, `${made('sub')}; git add sub; echo > ready; sleep 600`, {
      sandbox,
      background: true,
      runs: own,
    })
    await until(() => existsSync(join(root, 'ready')), 'the job to have added it')
    expect(await run(root, 'echo next', { sandbox })).toContain('.git.blocked')
    expect(isSprung(root)).toBe(false)
    await own.close()
    const other = repository()
    const later = createJobs()
    const wall = wallOf(other)
    await run(other, `${made('sub')}; git add sub; echo > ready; sleep 600`, {
      sandbox: wall,
      background: true,
      runs: later,
    })
    await until(() => existsSync(join(other, 'ready')), 'the job to have added it')
    await later.close()
    expect(isSprung(other)).toBe(false)
    expect(await run(other, 'echo next', { sandbox: wall })).toContain('.git.blocked')
  })

  it('[PM100] an agent in a worktree adds none to the index it came from', async () => {
    const root = repository()
    repository(join(root, 'sub'))
    const linked = join(base, 'linked')
    git(root, 'worktree', 'add', '-q', linked)
    writeFileSync(join(root, 'sub', '.git', 'config'), `[core]\n\tfsmonitor = ${evil}\n`)
    const id = git(root, 'rev-parse', 'HEAD').trim()
    const command = `GIT_DIR=${root}/.git GIT_WORK_TREE=$PWD git update-index --add --cacheinfo 160000,${id},sub; ${made('mine')}; git add mine`
    const said = await run(linked, command, { sandbox: wallOf(linked, [join(root, '.git')]) })
    expect(said.match(/is now/g)).toHaveLength(2)
    expect(isSprung(root)).toBe(false)
    expect(isSprung(linked)).toBe(false)
  })
})
