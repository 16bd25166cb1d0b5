// A folder from an archive with a repository in it that wants its programs run: each trick with a program that leaves a
// mark, real git, no sandbox, nobody asked. Each trick is first shown to work on plain git.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { PermissionOptions, ToolEnv } from '../../src/tools/index.ts'
import { toolsDoor } from '../doors.ts'

const { bashTool, createJobs, createPermission, createReadFiles, machineFileSystem, runCalls } =
  await toolsDoor()

const base = realpathSync(mkdtempSync(join(tmpdir(), 'pal-hostile-git-')))
const home = join(base, 'home')
mkdirSync(home)
writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = n\n\temail = n@x\n[init]\n\tdefaultBranch = main\n')
const environment = { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8' }
const git = (cwd: string, ...words: readonly string[]) =>
  execFileSync('git', ['-c', 'core.hooksPath=/dev/null', '-c', 'protocol.file.allow=always', ...words], {
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
interface Trap {
  readonly root: string
  readonly git: string
  readonly mark: string
  readonly evil: string
  config(text: string, file?: string): void
}

/** A repository with a commit, a changed file and a program that leaves a mark and else does nothing. */
function repository(): Trap {
  const root = join(base, `r${++count}`)
  const mark = join(base, `MARK${count}`)
  const evil = join(base, `evil${count}`)
  mkdirSync(join(root, 'd'), { recursive: true })
  writeFileSync(evil, `#!/bin/sh\necho ran >> ${mark}\n/bin/cat 2>/dev/null\nexit 0\n`)
  chmodSync(evil, 0o755)
  git(root, 'init', '-q')
  writeFileSync(join(root, 'a.txt'), 'one\n')
  writeFileSync(join(root, 'd', 'b.txt'), 'one\n')
  writeFileSync(join(root, '.gitattributes'), '*.txt filter=f diff=d\n')
  git(root, 'add', '-A')
  git(root, 'commit', '-qm', 'first')
  writeFileSync(join(root, 'a.txt'), 'one\ntwo\n')
  const folder = join(root, '.git')
  return {
    root,
    mark,
    evil,
    git: folder,
    config: (text, file = 'config') =>
      writeFileSync(
        join(folder, file),
        `${existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : ''}${text}\n`,
      ),
  }
}

const looks = [
  'git status',
  'git diff',
  'git diff --stat HEAD',
  'git describe --always --dirty',
  'git log -p -3',
  'git show',
  'git blame a.txt',
  'git stash list',
  'git grep one',
  'git branch -a',
  'git ls-files -m',
  'git -C d status --short',
  'git -C d log -p -2',
  'cd d && git status && git diff',
  'git log --oneline | head -2',
]

/** How each command ended: run unasked, or asked about. */
async function lookAround(
  root: string,
  commands: readonly string[] = looks,
  variables: Readonly<Record<string, string>> = environment,
  rules: PermissionOptions['rules'] = [],
) {
  const permission = createPermission({
    fs: machineFileSystem,
    root,
    cwd: root,
    home,
    rules,
    mode: 'default',
  })
  const tools = [bashTool({ environment: variables, jobs })]
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
  const calls = commands.map((command, at) => ({
    type: 'tool_use' as const,
    id: `c${at}`,
    name: 'Bash',
    input: { command },
  }))
  const ends: { command: string; ran: boolean; text: string }[] = []
  const running = runCalls(calls, {
    tools,
    env: () => env,
    signal: new AbortController().signal,
    mayRun: permission.mayRun,
  })
  for await (const { call, outcome } of running) {
    const text = outcome.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
    ends.push({ command: String(call.input['command']), ran: !text.startsWith('Bash was denied'), text })
  }
  return ends
}

/** Git notes what it saw of a file; with another time it has to look at it again, however fast it all went. */
function touch(root: string): void {
  for (const name of ['a.txt', 'd/b.txt'])
    if (existsSync(join(root, name))) utimesSync(join(root, name), ++count, count)
}

/** As the user's own terminal would run them. */
function plainly(root: string): void {
  for (const command of looks)
    spawnSync('bash', ['-c', command], {
      cwd: root,
      stdio: 'ignore',
      timeout: 60_000,
      env: { ...environment, GIT_OPTIONAL_LOCKS: '0' },
    })
}

const program = (trap: Trap) =>
  `[core]\n\tfsmonitor = ${trap.evil}\n[diff]\n\texternal = ${trap.evil}\n[filter "f"]\n\tclean = ${trap.evil}`
const submodule = (trap: Trap, name: string): string => {
  const other = repository()
  git(trap.root, 'submodule', 'add', '-q', other.root, name)
  git(trap.root, 'commit', '-qm', 'module')
  const inside = join(trap.root, name)
  writeFileSync(join(inside, 'a.txt'), 'other\n')
  return inside
}

const traps: Readonly<Record<string, (trap: Trap) => void>> = {
  'a hook that runs when the index changes': ({ git: folder, evil }) =>
    cpSync(evil, join(folder, 'hooks', 'post-index-change')),
  'an external diff behind a comment that ends with a backslash': (trap) =>
    trap.config(`[diff]\n\t# \\\n\texternal = ${trap.evil}`),
  'the same behind a value': (trap) => trap.config(`[diff]\n\tcontext = 3 # \\\n\texternal = ${trap.evil}`),
  'a program that watches files': (trap) => trap.config(`[core]\n\tfsmonitor = ${trap.evil}`),
  'a filter': (trap) => trap.config(`[filter "f"]\n\tclean = ${trap.evil}\n\trequired = true`),
  'a filter that is a process': (trap) => trap.config(`[filter "f"]\n\tprocess = ${trap.evil}`),
  'a diff driver': (trap) => trap.config(`[diff "d"]\n\tcommand = ${trap.evil}`),
  'a text conversion': (trap) => trap.config(`[diff "d"]\n\ttextconv = ${trap.evil}\n\tcachetextconv = true`),
  'attributes beside the repository': (trap) => {
    writeFileSync(join(trap.git, 'info', 'attributes'), '* diff=x\n')
    trap.config(`[diff "x"]\n\ttextconv = ${trap.evil}`)
  },
  'an included file': (trap) => {
    writeFileSync(join(trap.root, 'inc'), program(trap))
    trap.config('[include]\n\tpath = ../inc')
  },
  'a file included on a condition': (trap) => {
    writeFileSync(join(trap.root, 'inc'), program(trap))
    trap.config('[includeIf "onbranch:main"]\n\tpath = ../inc')
  },
  'the configuration of a worktree': (trap) => {
    trap.config('[extensions]\n\tworktreeConfig = true\n[core]\n\trepositoryformatversion = 1')
    trap.config(program(trap), 'config.worktree')
  },
  'folders of hooks': (trap) => {
    mkdirSync(join(trap.root, 'h'))
    cpSync(trap.evil, join(trap.root, 'h', 'post-index-change'))
    trap.config('[core]\n\thooksPath = h')
  },
  signatures: (trap) => {
    trap.config(`[log]\n\tshowSignature = true\n[gpg]\n\tprogram = ${trap.evil}`)
    const body = git(trap.root, 'cat-file', 'commit', 'HEAD').replace(
      '\n\n',
      '\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n',
    )
    writeFileSync(join(base, 'commit'), body)
    git(
      trap.root,
      'reset',
      '-q',
      '--soft',
      git(trap.root, 'hash-object', '-t', 'commit', '-w', join(base, 'commit')).trim(),
    )
  },
  'a missing object of a partial clone': (trap) => {
    trap.config(
      `[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = o\n[remote "o"]\n\turl = ext::touch ${trap.mark}\n\tpromisor = true\n[protocol "ext"]\n\tallow = always`,
    )
    const id = git(trap.root, 'rev-parse', 'HEAD:a.txt').trim()
    rmSync(join(trap.git, 'objects', id.slice(0, 2), id.slice(2)))
  },
  'a submodule': (trap) => {
    submodule(trap, 'sub')
    trap.config(program(trap), join('modules', 'sub', 'config'))
  },
  'a submodule that asks to be looked into': (trap) => {
    submodule(trap, 'sub')
    trap.config(program(trap), join('modules', 'sub', 'config'))
    writeFileSync(
      join(trap.root, '.gitmodules'),
      '[submodule "sub"]\n\tpath = sub\n\turl = ../x\n\tignore = none\n[submodule]\n\trecurse = true\n',
    )
    trap.config(
      '[status]\n\tsubmoduleSummary = true\n[diff]\n\tsubmodule = diff\n[submodule]\n\trecurse = true',
    )
  },
  'a submodule with its own .git folder': (trap) => {
    const other = repository()
    cpSync(other.root, join(trap.root, 'own'), { recursive: true })
    git(trap.root, 'add', 'own')
    writeFileSync(join(trap.root, 'own', '.git', 'config'), program(trap))
  },
  'a pointer over two lines': (trap) => {
    cpSync(trap.git, join(trap.root, '.gx'), { recursive: true })
    cpSync(trap.git, join(trap.root, '.gx\nE'), { recursive: true })
    writeFileSync(join(trap.root, '.gx\nE', 'config'), program(trap))
    rmSync(trap.git, { recursive: true })
    writeFileSync(trap.git, 'gitdir: .gx\nE')
  },
  'a pointer to a folder of the tree': (trap) => {
    cpSync(trap.git, join(trap.root, 'docs'), { recursive: true })
    rmSync(trap.git, { recursive: true })
    writeFileSync(trap.git, 'gitdir: docs\n')
    writeFileSync(join(trap.root, 'docs', 'config'), program(trap))
  },
  'a common folder over two lines': (trap) => {
    cpSync(trap.git, join(trap.root, 'c'), { recursive: true })
    cpSync(trap.git, join(trap.root, 'c\nE'), { recursive: true })
    writeFileSync(join(trap.root, 'c\nE', 'config'), program(trap))
    writeFileSync(join(trap.git, 'commondir'), '../c\nE')
  },
  'a common folder with a blank behind its name': (trap) => {
    cpSync(trap.git, join(trap.root, 'c'), { recursive: true })
    cpSync(trap.git, join(trap.root, 'c '), { recursive: true })
    writeFileSync(join(trap.root, 'c ', 'config'), program(trap))
    writeFileSync(join(trap.git, 'commondir'), '../c \n')
  },
  'a common folder': (trap) => {
    cpSync(trap.git, join(trap.root, 'c'), { recursive: true })
    writeFileSync(join(trap.root, 'c', 'config'), program(trap))
    writeFileSync(join(trap.git, 'commondir'), '../c\n')
  },
  'a linked configuration': (trap) => {
    writeFileSync(join(trap.root, 'evil-config'), program(trap))
    rmSync(join(trap.git, 'config'))
    symlinkSync('../evil-config', join(trap.git, 'config'))
  },
  'a linked repository': (trap) => {
    trap.config(program(trap))
    cpSync(trap.git, join(trap.root, 'g'), { recursive: true })
    rmSync(trap.git, { recursive: true })
    symlinkSync('g', trap.git)
  },
  'a repository in a folder below': (trap) => {
    const other = repository()
    cpSync(other.root, join(trap.root, 'd'), { recursive: true })
    writeFileSync(join(trap.root, 'd', '.git', 'config'), program(trap))
  },
  'a bare repository in the tree': (trap) => {
    cpSync(trap.git, join(trap.root, 'd'), { recursive: true })
    writeFileSync(join(trap.root, 'd', 'info', 'attributes'), '* diff=x\n')
    writeFileSync(
      join(trap.root, 'd', 'config'),
      `[core]\n\tbare = true\n[diff "x"]\n\ttextconv = ${trap.evil}\n`,
    )
  },
  'an index with an extension for watching': (trap) => {
    trap.config(`[core]\n\tfsmonitor = ${trap.evil}\n\tsplitIndex = true\n\tuntrackedCache = true`)
    git(
      trap.root,
      '-c',
      `core.fsmonitor=true`,
      'update-index',
      '--split-index',
      '--untracked-cache',
      '--fsmonitor',
    )
  },
}

describe('a repository that wants its programs run', () => {
  for (const [name, set] of Object.entries(traps))
    it(`[PM60] git runs none of them unasked: ${name}`, async () => {
      const trap = repository()
      set(trap)
      touch(trap.root)
      plainly(trap.root)
      // Else the trick is none and proves nothing.
      expect(existsSync(trap.mark)).toBe(true)
      rmSync(trap.mark)
      touch(trap.root)
      await lookAround(trap.root)
      expect(existsSync(trap.mark)).toBe(false)
    })

  it('[PM61] what git shows is right all the same, and what it left out is said where it failed', async () => {
    const trap = repository()
    trap.config(`${program(trap)}\n[remote "origin"]\n\turl = https://x.org/r.git\n[core]\n\tabbrev = 12`)
    cpSync(trap.evil, join(trap.git, 'hooks', 'post-index-change'))
    git(trap.root, '-c', 'core.fsmonitor=false', '-c', 'diff.external=', 'tag', 'v1')
    writeFileSync(join(trap.root, 'new.txt'), 'new')
    writeFileSync(join(trap.git, 'info', 'exclude'), 'unseen\n')
    writeFileSync(join(trap.root, 'unseen'), '')
    const commands = [
      'git status --short',
      'git diff',
      'git remote -v',
      'git log --oneline',
      'git show nowhere',
    ]
    const [status, diff, remote, log, nowhere] = await lookAround(trap.root, commands)
    expect(status?.text).toBe(' M a.txt\n?? new.txt')
    expect(diff?.text).toContain('+two')
    expect(remote?.text).toContain('https://x.org/r.git (fetch)')
    expect(log?.text).toMatch(/^[0-9a-f]{12} first$/)
    expect(nowhere?.text).toMatch(
      /unknown revision[\s\S]*without these settings of the repository: core\.fsmonitor/,
    )
    const submodules = repository()
    submodule(submodules, 'sub')
    const [both] = await lookAround(submodules.root, ['git status --short'])
    expect(both).toEqual({ command: 'git status --short', ran: true, text: ' M a.txt' })
  })

  it('[PM61] worktrees and their repository are looked at unasked, and the branches are the real ones', async () => {
    const trap = repository()
    const other = join(base, 'linked')
    git(trap.root, 'worktree', 'add', '-q', '-b', 'side', other)
    trap.config(program(trap))
    const [branch, status] = await lookAround(other, ['git branch --show-current', 'git status --short'])
    expect([branch?.text, status?.ran]).toEqual(['side', true])
    expect(existsSync(trap.mark)).toBe(false)
  })

  it('[PM62] the repository of somebody else is not shown because a pointer or a link leads there', async () => {
    const secret = repository()
    writeFileSync(join(secret.root, 'a.txt'), 'SECRET\n')
    git(secret.root, 'commit', '-qam', 'SECRET')
    const borrow = (at: string, alternates: string) => {
      cpSync(secret.git, join(at, '.git'), { recursive: true })
      rmSync(join(at, '.git', 'objects'), { recursive: true })
      mkdirSync(join(at, '.git', 'objects', 'info'), { recursive: true })
      writeFileSync(join(at, '.git', 'objects', 'info', 'alternates'), alternates)
      expect(git(at, 'log', '--oneline')).toContain('SECRET')
    }
    const lures: readonly ((at: string) => void)[] = [
      (at) => writeFileSync(join(at, '.git'), `gitdir: ${secret.git}\n`),
      (at) => symlinkSync(secret.git, join(at, '.git')),
      (at) => {
        mkdirSync(join(at, '.git'))
        cpSync(join(secret.git, 'HEAD'), join(at, '.git', 'HEAD'))
        for (const name of ['objects', 'refs']) symlinkSync(join(secret.git, name), join(at, '.git', name))
      },
      (at) => borrow(at, `${secret.git}/objects\n`),
      (at) => borrow(at, `"${secret.git}/objects"\n`),
      (at) => {
        mkdirSync(join(at, 'mid', 'info'), { recursive: true })
        writeFileSync(join(at, 'mid', 'info', 'alternates'), `${secret.git}/objects\n`)
        borrow(at, '../../mid\n')
      },
      (at) => {
        git(at, 'init', '-q')
        writeFileSync(join(at, '.git', 'commondir'), secret.git)
      },
      (at) => {
        git(at, 'init', '-q')
        git(at, 'config', 'core.worktree', secret.root)
        cpSync(join(secret.git, 'index'), join(at, '.git', 'index'))
      },
    ]
    const file = join(base, 'private.txt')
    writeFileSync(file, 'SECRET\n')
    const named = repository()
    named.config(`[blame]\n\tignoreRevsFile = ${file}`)
    expect((await lookAround(named.root, ['git blame a.txt']))[0]?.text).not.toContain('SECRET')
    for (const [nr, lure] of lures.entries()) {
      const at = join(base, `lure${nr}`)
      mkdirSync(at)
      lure(at)
      const ends = await lookAround(at, ['git log -p', 'git diff', 'git show', 'git log --all --oneline'])
      expect(ends.map(({ text }) => text).join('\n'), `lure ${nr}`).not.toContain('SECRET\n')
      expect(ends.map(({ text }) => text).join('\n'), `lure ${nr}`).not.toMatch(/ SECRET$/m)
    }
  })

  it('[PM61] git beside a command that a rule allows, or in two repositories at once, is asked about', async () => {
    const trap = repository()
    const other = repository()
    cpSync(other.root, join(trap.root, 'd'), { recursive: true })
    const permission = createPermission({
      fs: machineFileSystem,
      root: trap.root,
      cwd: trap.root,
      home,
      rules: [{ list: 'allow', text: 'Bash(mkdir *)', source: 'flag' }],
      mode: 'default',
    })
    const kind = async (command: string) =>
      (await permission.judge({ name: 'Bash', input: { command } }, false)).kind
    expect(await kind('git status')).toBe('allow')
    expect(await kind('git -C d status')).toBe('allow')
    expect(await kind('mkdir -p d && git status')).toBe('ask')
    expect(await kind('git status && git -C d status')).toBe('ask')
  })

  it('[PM63] a read-only command takes no program from the project and no variable that starts one', async () => {
    const trap = repository()
    const bin = join(trap.root, 'node_modules', '.bin')
    mkdirSync(bin, { recursive: true })
    for (const name of ['ls', 'git', 'bash', 'cat', 'bwrap']) cpSync(trap.evil, join(bin, name))
    symlinkSync(bin, join(base, 'bin-link'))
    const dirty = {
      ...environment,
      PATH: `${bin}:${join(base, 'bin-link')}:.:${environment.PATH}`,
      GIT_EXTERNAL_DIFF: trap.evil,
      GIT_SSH_COMMAND: trap.evil,
      RIPGREP_CONFIG_PATH: join(trap.root, 'rgrc'),
      LESSOPEN: `|${trap.evil} %s`,
    }
    writeFileSync(join(trap.root, 'rgrc'), `--pre=${trap.evil}\n`)
    await lookAround(trap.root, ['ls', 'git diff', 'cat a.txt', 'rg one a.txt', 'git status'], dirty)
    expect(existsSync(trap.mark)).toBe(false)
  })

  it('[PM63] npm that lists packages writes nothing where the .npmrc of the project says', async () => {
    const trap = repository()
    const times = join(base, 'times')
    mkdirSync(times)
    writeFileSync(join(trap.root, 'package.json'), '{"name": "own", "version": "1.2.3"}')
    writeFileSync(join(trap.root, '.npmrc'), `timing=true\nlogs-dir=${times}\nlogs-max=5\ncache=${times}\n`)
    const [listed] = await lookAround(trap.root, ['npm ls'])
    expect(listed).toMatchObject({ ran: true, text: expect.stringContaining('own@1.2.3') as string })
    expect(readdirSync(times)).toEqual([])
  })

  it('[PM103] a read-only part beside one that a rule allows takes no program from the project', async () => {
    const trap = repository()
    const bin = join(trap.root, 'node_modules', '.bin')
    mkdirSync(bin, { recursive: true })
    writeFileSync(join(bin, 'own-tool'), '#!/bin/sh\necho own $MINE\n')
    chmodSync(join(bin, 'own-tool'), 0o755)
    writeFileSync(join(trap.root, 'rgrc'), `--pre=${trap.evil}\n`)
    const rules = [
      { list: 'allow', text: 'Bash(mkdir *)', source: 'flag' },
      { list: 'allow', text: 'Bash(own-tool)', source: 'flag' },
    ] as const
    const dirty = {
      ...environment,
      PATH: `${bin}:${environment.PATH}`,
      RIPGREP_CONFIG_PATH: join(trap.root, 'rgrc'),
      MINE: 'mine',
    }
    const [own] = await lookAround(trap.root, ['own-tool | head -1'], dirty, rules)
    expect(own?.text).toBe('own mine')
    for (const name of ['ls', 'head', 'cat', 'wc']) cpSync(trap.evil, join(bin, name))
    const commands = [
      'mkdir -p m && ls',
      'mkdir -p n | head -1',
      'mkdir -p o; cat a.txt | wc -l',
      'mkdir -p p && rg one a.txt',
    ]
    const ends = await lookAround(trap.root, commands, dirty, rules)
    expect(ends.map(({ ran }) => ran)).toEqual([true, true, true, true])
    expect(ends[0]?.text).toContain('a.txt')
    expect(existsSync(trap.mark)).toBe(false)
  })

  it('[PM104] what would name the folder that stands in for the repository is asked about, and no more', async () => {
    const trap = repository()
    const printing = ['git worktree list', 'git rev-parse --git-common-dir', 'git rev-parse --git-path hooks']
    const ends = await lookAround(trap.root, [
      ...printing,
      'git rev-parse --show-toplevel',
      'git rev-parse --git-dir',
    ])
    expect(ends.map(({ ran }) => ran)).toEqual([false, false, false, true, true])
    expect(ends[3]?.text).toBe(trap.root)
    for (const { text } of await lookAround(trap.root)) expect(text).not.toContain('pal-git-')
    // As it is while a command runs in the sandbox.
    writeFileSync(join(trap.git, 'commondir'), '.\n')
    expect((await lookAround(trap.root, ['git status --short']))[0]).toMatchObject({
      ran: true,
      text: ' M a.txt',
    })
  })

  it('[PM64] a git command that a person allowed runs with the hooks and settings of the repository', async () => {
    const trap = repository()
    cpSync(trap.evil, join(trap.git, 'hooks', 'pre-commit'))
    const ends = await lookAround(trap.root, ['git commit -qam second && git log --oneline'], environment, [
      { list: 'allow', text: 'Bash(git commit *)', source: 'flag' },
      { list: 'allow', text: 'Bash(git log *)', source: 'flag' },
    ])
    expect(ends[0]?.text).toContain('second')
    expect(existsSync(trap.mark)).toBe(true)
  })
})
