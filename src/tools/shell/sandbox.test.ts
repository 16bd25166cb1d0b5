// Commands behind the wall, with the real bubblewrap; without it these are left out with a line that says so.
import { spawn, spawnSync } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../disk/fs.ts'
import { createReadFiles } from '../files/read-files.ts'
import type { ToolEnv, ToolOutcome } from '../tool.ts'
import { bashTool } from './bash.ts'
import { createJobs } from './jobs.ts'
import { createPlaceholders, wordsNaming } from './placeholders.ts'
import { createSandbox, type SandboxOptions } from './sandbox.ts'
import { until } from '../../../test/until.ts'

// Not below a temporary folder where there is another place: the wall gives commands other temporary folders.
const packages = realpathSync(join(import.meta.dirname, '..', '..', '..', 'node_modules'))
const hiddenFolders = [realpathSync(tmpdir()), '/tmp', '/var/tmp', '/run']
const isShown = (folder: string) =>
  !hiddenFolders.some((hidden) => folder === hidden || folder.startsWith(`${hidden}/`))
const ground = [packages, realpathSync(homedir()), '/var/lib', '/opt'].find(
  (folder) => isShown(folder) && isWritable(folder),
)
const base = realpathSync(mkdtempSync(join(ground ?? packages, '.sandbox-')))
const [project, home, state] = ['project', 'home', 'home/.palimpsest'].map((name) => join(base, name)) as [
  string,
  string,
  string,
]
for (const folder of [project, state, join(home, '.ssh'), join(project, '.git', 'hooks')])
  mkdirSync(folder, { recursive: true })
writeFileSync(join(home, '.ssh', 'id_rsa'), 'KEY')
writeFileSync(join(home, '.netrc'), 'KEY')
writeFileSync(join(state, 'credentials.json'), 'KEY')
writeFileSync(join(project, '.git', 'config'), '[core]\n')
writeFileSync(join(project, 'here.txt'), 'here')

const options: SandboxOptions = {
  fs: machineFileSystem,
  mode: 'require',
  network: false,
  root: project,
  writable: [],
  home,
  hidden: [state],
  state: join(state, 'sandbox'),
}
const env: ToolEnv = {
  cwd: project,
  callId: 'call_1',
  readFiles: createReadFiles(),
  spill: null,
  expand: async () => ({ ok: false, why: 'nothing here' }),
  isShown: () => true,
  report: () => {},
  now: () => 0,
}
const jobs = createJobs()
afterAll(async () => {
  await jobs.close()
  rmSync(base, { recursive: true, force: true })
})
const textOf = (outcome: ToolOutcome) =>
  outcome.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
const run = async (command: string, over: Partial<SandboxOptions> = {}, timeout?: number, cwd = project) => {
  const environment = { PATH: process.env['PATH'], HOME: home }
  const bash = bashTool({ environment, jobs, sandbox: createSandbox({ ...options, ...over }) })
  const outcome = await bash.run(
    { command, timeout, background: undefined },
    { ...env, cwd },
    new AbortController().signal,
  )
  return { text: textOf(outcome), isError: outcome.isError }
}

const works = spawnSync('bwrap', ['--ro-bind', '/', '/', 'true']).status === 0
if (!works) console.warn('bubblewrap does not work here: the tests of the sandbox are left out')

describe.skipIf(!works)('the sandbox (needs bubblewrap)', () => {
  it('[PM20] a command writes in the project and nowhere else', async () => {
    expect(await run('echo x > made.txt && cat made.txt here.txt')).toEqual({
      text: 'x\nhere',
      isError: false,
    })
    expect(readFileSync(join(project, 'made.txt'), 'utf8')).toBe('x\n')
    const outside = await run(`echo x > ${join(base, 'outside.txt')}`)
    expect(outside.isError).toBe(true)
    if (ground !== undefined)
      expect(outside.text).toMatch(/Read-only file system[\s\S]*\[it ran in the sandbox/)
    expect(existsSync(join(base, 'outside.txt'))).toBe(false)
    await run(
      `echo x > ${join(tmpdir(), 'pal-sandbox-canary')}; echo x > ${join(homedir(), 'pal-sandbox-canary')}`,
    )
    expect(existsSync(join(tmpdir(), 'pal-sandbox-canary'))).toBe(false)
    expect(existsSync(join(homedir(), 'pal-sandbox-canary'))).toBe(false)
  })

  it('[PM20] hooks, the git configuration and our settings stay as they are, also where there are none yet', async () => {
    const planted = await run(
      'echo x > .git/hooks/pre-commit; echo x >> .git/config; mkdir -p .palimpsest; echo {} > .palimpsest/settings.json; mv .palimpsest p; ls -a',
    )
    expect(planted.text).toContain('Read-only file system')
    expect(readdirSync(join(project, '.git', 'hooks'))).toEqual([])
    expect(readFileSync(join(project, '.git', 'config'), 'utf8')).toBe('[core]\n')
    // Nothing is left of the cover either.
    expect(readdirSync(project).toSorted()).toEqual(['.git', 'here.txt', 'made.txt'])
  })

  it('[PM20] a repository elsewhere can be made writable for a worktree, its hooks and configuration apart', async () => {
    const git = join(base, 'main', '.git')
    mkdirSync(join(git, 'hooks'), { recursive: true })
    writeFileSync(join(git, 'config'), '[core]\n')
    await run(`echo x > ${git}/object; echo x > ${git}/hooks/pre-commit; echo x >> ${git}/config`, {
      writable: [git],
    })
    expect(readdirSync(git).toSorted()).toEqual(['config', 'hooks', 'object'])
    expect(readdirSync(join(git, 'hooks'))).toEqual([])
    expect(readFileSync(join(git, 'config'), 'utf8')).toBe('[core]\n')
  })

  it('[PM21] keys, our own folder and the temporary files of others are not there', async () => {
    writeFileSync(join(tmpdir(), `pal-sandbox-${process.pid}`), 'KEY')
    const { text } = await run(
      `cat ~/.ssh/id_rsa ~/.netrc ~/.palimpsest/credentials.json ${join(tmpdir(), `pal-sandbox-${process.pid}`)}; ls -A ~/.ssh ~/.palimpsest; ls /run`,
    )
    rmSync(join(tmpdir(), `pal-sandbox-${process.pid}`))
    expect(text).not.toContain('KEY')
  })

  it('[PM108] keys are hidden where links of the home lead, and no link of it keeps commands from running', async () => {
    const other = join(base, 'linked-home')
    mkdirSync(join(other, 'dots', 'ssh'), { recursive: true })
    mkdirSync(join(other, '.cargo'))
    for (const name of ['dots/npmrc', 'dots/ssh/id_rsa', '.cargo/credentials.toml', '.vault-token'])
      writeFileSync(join(other, name), 'KEY')
    writeFileSync(join(other, 'own.pem'), 'CERTIFICATE')
    symlinkSync(join(other, 'dots', 'npmrc'), join(other, '.npmrc'))
    symlinkSync(join(other, 'dots', 'ssh'), join(other, '.ssh'))
    symlinkSync('nowhere', join(other, '.netrc'))
    symlinkSync(project, join(base, 'opened'))
    const { text } = await run(
      `cd ${other}; cat .npmrc dots/npmrc .ssh/id_rsa dots/ssh/id_rsa .cargo/* .vault-token own.pem; echo ran`,
      { home: other, writable: [join(base, 'opened')] },
    )
    expect(text).toContain('ran')
    expect(text).toContain('CERTIFICATE')
    expect(text).not.toContain('KEY')
    // The folder that such a link leads to may be the project itself.
    const own = { home: other, root: join(other, 'dots') }
    expect((await run(`cat ${join(other, 'dots', 'npmrc')}`, own, undefined, own.root)).text).toContain('KEY')
  })

  it('[PM107] no program outside can be had by its socket, wherever it lies; those of the project are its own', async () => {
    const at = join(home, '.engine')
    mkdirSync(at)
    const heard: string[] = []
    const listening = [join(at, 'e.sock'), join(project, 'p.sock')].map(async (path) => {
      const server = createServer((socket) => {
        heard.push(path)
        socket.end('reached')
      })
      await new Promise<void>((resolve) => server.listen(path, resolve))
      return server
    })
    const servers = await Promise.all(listening)
    // Behind a link too: what counts is where it really lies.
    symlinkSync(at, join(home, 'other'))
    const open = (path: string) =>
      `${quoted(process.execPath)} -e "require('net').connect('${path}').on('data', (d) => console.log(String(d))).on('error', (e) => console.log(e.code))"`
    const paths = [join(at, 'e.sock'), join(home, 'other', 'e.sock')]
    for (const path of paths) {
      const { text } = await run(open(path))
      expect([path, text.includes('reached')]).toEqual([path, false])
    }
    expect(heard).toEqual([])
    expect((await run(open(join(project, 'p.sock')))).text).toContain('reached')
    expect((await run(open(paths[0]!), { writable: [at] })).text).toContain('reached')
    for (const server of servers) server.close()
  })

  it('[PM22] there is no network unless it is allowed', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections++
      socket.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const reach = `exec 3<>/dev/tcp/127.0.0.1/${port} && echo reached`
    expect((await run(reach)).text).not.toContain('reached')
    expect(connections).toBe(0)
    expect((await run(reach, { network: true })).text).toContain('reached')
    await run(reach, { mode: 'off' })
    expect(connections).toBe(2)
    server.close()
  })

  it('[PM23] what left the group ends with the command all the same', async () => {
    // Seen from outside by its argument, since its number in there is another.
    const mark = `6${process.pid}7`
    const lives = () => spawnSync('pgrep', ['-f', `sleep ${mark}`]).status === 0
    await run(`setsid sleep ${mark} > /dev/null 2>&1 & sleep 0.2; echo done`)
    await until(() => !lives(), 'it to be gone')
    const timed = await run(`setsid sleep ${mark}`, {}, 300)
    expect(timed.text).toContain('[stopped: it took longer than 0.3 s')
    await until(() => !lives(), 'it to be gone')
  })
})

const quoted = (word: string): string => `'${word}'`

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** A repository with a commit, as git makes it. */
function repository(name: string): string {
  const at = join(base, name)
  mkdirSync(at)
  git(at, 'init', '-q', '-b', 'main')
  git(at, 'config', 'user.email', 'n@x')
  git(at, 'config', 'user.name', 'n')
  writeFileSync(join(at, 'a.txt'), 'one\n')
  git(at, 'add', '-A')
  git(at, 'commit', '-qm', 'first')
  return at
}
/** Where a command has broken the repository, git must not find the one that these tests lie in. */
const git = (cwd: string, ...words: readonly string[]): string =>
  spawnSync('git', words, {
    cwd,
    env: { PATH: process.env['PATH'], HOME: home, GIT_CEILING_DIRECTORIES: base },
  }).stdout.toString()
/** Every name below a folder, with what it is. */
const namesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.parentPath.includes('objects') && !entry.parentPath.includes('logs'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted()

describe.skipIf(!works)('what runs later (needs bubblewrap)', () => {
  const mark = join(base, 'MARK')
  const evil = join(base, 'evil')
  writeFileSync(evil, `#!/bin/sh\necho ran >> ${mark}\n`)
  chmodSync(evil, 0o755)
  const config = `[core]\\n\\tfsmonitor = ${evil}\\n`
  /** What the user does next, outside. */
  const goOn = (at: string) => {
    for (const words of [['status'], ['diff'], ['add', '-A'], ['commit', '-qm', 'next'], ['log', '-p']])
      git(at, ...words)
  }
  const plants: readonly string[] = [
    `mv .git .old && cp -r .old .git && printf '${config}' >> .git/config`,
    `cp -r .git g2 && printf '${config}' >> g2/config && echo ../g2 > .git/commondir`,
    `cp -r .git g2 && printf '${config}' >> g2/config && rm -rf .git && echo 'gitdir: g2' > .git`,
    `cp -r .git g2 && printf '${config}' >> g2/config && mv .git .old; ln -s g2 .git`,
    `mkdir -p .git/hooks && cp ${evil} .git/hooks/pre-commit && cp ${evil} .git/hooks/post-index-change`,
    `rm -rf .git/hooks; mkdir .git/hooks; cp ${evil} .git/hooks/pre-commit`,
    `printf '${config}' >> .git/config; printf '${config}' > .git/config.worktree; git config core.fsmonitor ${evil}`,
    `git config --file .git/x core.fsmonitor ${evil} && mv .git/x .git/config`,
    `mkdir -p .git/info; echo '* filter=f' > .git/info/attributes; git config filter.f.clean ${evil}`,
    `ln -sf ${evil} .git/hooks/pre-commit; ln -sfn $PWD .git/hooks; cp ${evil} pre-commit`,
  ]

  it('[PM65] nothing that git obeys can be planted, moved or made, and nothing of the wall stays', async () => {
    for (const [nr, plant] of plants.entries()) {
      const at = repository(`later${nr}`)
      if (nr % 2 === 0) rmSync(join(at, '.git', 'hooks'), { recursive: true })
      const before = namesIn(join(at, '.git'))
      await run(plant, { root: at }, undefined, at)
      const made = namesIn(join(at, '.git')).filter((name) => !before.includes(name))
      expect(
        made.filter((name) => /hooks|config|commondir|info|modules/.test(name)),
        plant,
      ).toEqual([])
      goOn(at)
      expect(existsSync(mark), plant).toBe(false)
    }
  })

  it('[PM65] the same holds for submodules and for worktrees of the repository', async () => {
    const at = repository('with-modules')
    const other = repository('other')
    git(at, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', other, 'deep/sub')
    git(at, 'commit', '-qm', 'module')
    git(at, 'worktree', 'add', '-q', join(base, 'linked'), '-b', 'side')
    await run(
      `printf '${config}' >> .git/modules/deep/sub/config; cp -r .git/modules/deep/sub g3; printf '${config}' >> g3/config
      rm -f deep/sub/.git; echo "gitdir: $PWD/g3" > deep/sub/.git; mv deep deep2; mkdir -p deep/sub; echo "gitdir: $PWD/g3" > deep/sub/.git
      cp -r .git g4; printf '${config}' >> g4/config; echo $PWD/g4 > .git/worktrees/linked/commondir; mv .git/worktrees/linked .git/worktrees/x`,
      { root: at },
      undefined,
      at,
    )
    goOn(at)
    goOn(join(at, 'deep', 'sub'))
    goOn(join(base, 'linked'))
    expect(existsSync(mark)).toBe(false)
  })

  it('[PM66] a folder without a repository stays one, and is left as it was', async () => {
    const at = join(base, 'bare-folder')
    mkdirSync(at)
    cpSync(join(repository('lender'), '.git'), join(at, 'g2'), { recursive: true })
    const { text } = await run(
      `printf '${config}' >> g2/config; echo 'gitdir: g2' > .git; cp -r g2/. .git/; mkdir .palimpsest; echo {} > .palimpsest/settings.json; ls -A`,
      { root: at },
      undefined,
      at,
    )
    expect(text).toContain('Read-only file system')
    expect(readdirSync(at)).toEqual(['g2'])
  })

  it('[PM66] what is missing and would be obeyed later is set aside, what is there cannot be changed', async () => {
    const at = repository('settings')
    mkdirSync(join(at, '.vscode'))
    for (const name of ['AGENTS.md', '.envrc', '.vscode/tasks.json']) writeFileSync(join(at, name), 'mine')
    const { text } = await run(
      'echo x > .mcp.json; mkdir .claude; for f in AGENTS.md .envrc .vscode/tasks.json; do echo x > $f; rm -f $f; mv $f y && rm -f y; rm -f y; done; mv .vscode v2; echo x > CLAUDE.md',
      { root: at },
      undefined,
      at,
    )
    expect(text).toMatch(/\[the sandbox: a command made a file that others obey later; .*\.mcp\.json is now/)
    for (const name of ['AGENTS.md', '.envrc', '.vscode/tasks.json'])
      expect(readFileSync(join(at, name), 'utf8')).toBe('mine')
    expect(readdirSync(at).toSorted()).toEqual(
      [
        '.claude.blocked',
        '.envrc',
        '.git',
        '.mcp.json.blocked',
        '.vscode',
        'AGENTS.md',
        'CLAUDE.md.blocked',
        'a.txt',
      ].toSorted(),
    )
  })

  it('[PM67] git adds, commits, branches, merges, stashes and rebases inside', async () => {
    const at = repository('working')
    const { text, isError } = await run(
      [
        'git checkout -q -b side && echo two >> a.txt && git add -A && git commit -qm two',
        'git checkout -q main && echo b > b.txt && git add -A && git commit -qm b',
        'echo c >> b.txt && git stash -q && git stash pop -q && git checkout -q -- b.txt',
        'git branch third && git merge -q --no-edit side && git checkout -q third && git rebase -q main',
        'git tag v1 && git branch -d side && git log --oneline | wc -l && git status --short',
      ].join(' && '),
      { root: at },
      undefined,
      at,
    )
    // Deleting a branch also wants to change the configuration; git says that it could not, and goes on.
    expect([text.trim().split('\n').at(-1), isError]).toEqual(['4', false])
    expect(git(at, 'status', '--short')).toBe('')
    expect(readdirSync(join(at, '.git'))).not.toContain('commondir')
  })

  it('[PM68] what a process that was killed left is taken away at the next start', async () => {
    const at = repository('killed')
    const sandbox = join(state, 'killed')
    // Held by a process that is gone.
    const gone = spawnSync('true').pid
    const held = await createPlaceholders(sandbox).hold(
      [
        { path: join(at, '.git', 'commondir'), text: '.\n' },
        { path: join(at, '.git', 'modules'), text: null },
      ],
      { absent: [], links: [], places: [], known: [] },
    )
    expect(held.paths).toHaveLength(2)
    // One that was killed while the wall was being set up leaves its command running.
    const words = [
      '--ro-bind',
      '/',
      '/',
      '--proc',
      '/proc',
      '--unshare-pid',
      ...wordsNaming(held.id),
      'sleep',
      '600',
    ]
    const survivor = spawn('bwrap', words, { stdio: 'ignore' })
    expect(git(at, 'log', '--oneline')).toContain('first')
    const [note] = readdirSync(sandbox)
    const written = readFileSync(join(sandbox, note!), 'utf8')
    writeFileSync(join(sandbox, note!), written.replace(/"pid":\d+/, `"pid":${gone}`))
    expect((await run('echo x', { root: at, state: sandbox }, undefined, at)).text).toBe('x')
    expect(readdirSync(join(at, '.git'))).not.toContain('commondir')
    expect(readdirSync(join(at, '.git'))).not.toContain('modules')
    expect(readdirSync(sandbox)).toEqual([])
    const still = spawnSync('pgrep', ['-f', held.id]).stdout.toString()
    survivor.kill('SIGKILL')
    expect(still).toBe('')
  })
})

describe('without a sandbox', () => {
  it('[PM24] `require` refuses to run, `auto` runs, and both know why', async () => {
    const program = join(base, 'no-such-program')
    expect((await run('echo x', { program })).text).toMatch(
      /^The command was not run: the settings require the sandbox/,
    )
    expect(await run('echo x', { program, mode: 'auto' })).toEqual({ text: 'x', isError: false })
    expect(await createSandbox({ ...options, program }).state()).toContain('is not installed')
    expect(await createSandbox({ ...options, mode: 'off' }).state()).toBe('it is switched off')
  })
})
