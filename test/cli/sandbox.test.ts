import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call } from '../../src/simulator/index.ts'
import { findProgram } from '../../src/disk/programs.ts'
import { openWorkspace, server, type Workspace } from './pal.ts'
import { until } from '../until.ts'

const works = spawnSync('bwrap', ['--ro-bind', '/', '/', 'true']).status === 0
if (!works) console.warn('bubblewrap does not work here: the tests of the sandbox are left out')

const git = ({ project, environment }: Workspace, ...words: readonly string[]) =>
  spawnSync('git', ['-c', 'user.name=n', '-c', 'user.email=n@x', ...words], {
    cwd: project,
    env: environment,
  })

/** A workspace with a repository and temporary files of its own. */
async function deskWith(access: Record<string, string>): Promise<Workspace & { readonly temporary: string }> {
  const plain = await openWorkspace()
  const temporary = join(plain.home, 'tmp')
  mkdirSync(temporary)
  const environment = { ...plain.environment, ...access, TMPDIR: temporary }
  const at = { ...plain, environment, temporary }
  git(at, 'init', '-q')
  git(at, 'commit', '-q', '--allow-empty', '-m', 'first')
  const start: Workspace['start'] = (words, options = {}) =>
    plain.start(words, { ...options, environment: { ...environment, ...options.environment } })
  return { ...at, start, pal: async (words, options) => (await start(words, options)).ended }
}

/** Starts a prompt and kills it, with no chance to clean up, once a command of it has made this file. */
async function killedAt(at: Workspace, words: readonly string[], isReady: () => boolean): Promise<void> {
  const { child, ended } = await at.start(['-p', ...words])
  await until(isReady, words.join(' '))
  child.kill('SIGKILL')
  await ended
}

describe.skipIf(!works)('a run that was killed (needs bubblewrap)', () => {
  it('[PM101] nothing of its wall stays after the next start, and what its command made is blocked before it acts', async () => {
    const evil =
      'git init -q sub && cd sub && git -c user.name=n -c user.email=n@x commit -q --allow-empty -m x'
    const { access } = await server([
      [
        call('Bash', {
          command: `(${evil}) && git config -f sub/.git/config core.fsmonitor "$PWD/evil" && printf '#!/bin/sh\\necho ran >> "%s/MARK"\\n' "$PWD" > evil && chmod +x evil && git add sub && echo '{}' > .mcp.json && echo > ready && sleep 600`,
        }),
      ],
      'went on',
    ])
    const at = await deskWith(access)
    const before = readdirSync(join(at.project, '.git')).toSorted()
    await killedAt(at, ['--allow', 'Bash', 'plant'], () => existsSync(join(at.project, 'ready')))
    // What a clean end would have taken away.
    expect(existsSync(join(at.project, '.palimpsest'))).toBe(true)
    expect(existsSync(join(at.project, 'sub', '.git'))).toBe(true)
    git(at, 'status')
    expect(existsSync(join(at.project, 'MARK'))).toBe(true)
    rmSync(join(at.project, 'MARK'))
    const next = await at.pal(['-p', 'go on'])
    expect(next).toMatchObject({ code: 0, out: 'went on\n' })
    expect(next.err).toMatch(
      /left over from a run that was killed: .*\.mcp\.json is now .*\.mcp\.json\.blocked/,
    )
    expect(next.err).toMatch(/sub\/\.git is now .*sub\/\.git\.blocked/)
    // It was gone before the folder was looked at for what would act.
    expect(next.err).not.toMatch(/\.mcp\.json is (?:new|not)/)
    expect(readdirSync(at.project).toSorted()).toEqual(['.git', '.mcp.json.blocked', 'evil', 'ready', 'sub'])
    expect(readdirSync(join(at.project, '.git')).toSorted()).toEqual(before)
    expect(readdirSync(join(at.state, 'sandbox'))).toEqual([])
    git(at, 'status')
    git(at, 'diff')
    expect(existsSync(join(at.project, 'MARK'))).toBe(false)
  })

  it('[PM101] the temporary folder of git that ran unasked is removed, that of a living run is not', async () => {
    const { access, simulator } = await server([
      [call('Bash', { command: 'git status; sleep 600', timeout: 600_000 })],
      [call('Bash', { command: 'git log --oneline; sleep 600', timeout: 600_000 })],
      'went on',
    ])
    const at = await deskWith(access)
    const folders = () => readdirSync(at.temporary).filter((name) => name.startsWith('pal-git-'))
    // Those in place of a repository; others are there while an index is read.
    const shields = () => folders().filter((name) => existsSync(join(at.temporary, name, 'programs', 'git')))
    const living = await at.start(['-p', 'look'])
    // Before its first request the session looks at the repository itself, behind a stand-in that is gone again.
    await until(() => simulator.log.requests.length > 0 && shields().length === 1, 'the first stand-in')
    const [kept] = shields()
    await killedAt(at, ['look'], () => simulator.log.requests.length === 2 && shields().length === 2)
    expect(shields()).toHaveLength(2)
    expect(await at.pal(['-p', 'go on'])).toMatchObject({ code: 0 })
    expect(folders().filter((name) => name.split('-')[2] !== kept?.split('-')[2])).toEqual([])
    expect(shields()).toEqual([kept])
    living.child.kill('SIGINT')
    await living.ended
    expect(folders()).toEqual([])
  })
})

describe.skipIf(process.platform !== 'linux')('without a sandbox', () => {
  it('[PM102] the start of a conversation and the doctor say so, and what follows from it', async () => {
    const { access } = await server([])
    const at = await openWorkspace(access)
    const bin = join(at.home, 'bin')
    mkdirSync(bin)
    for (const name of ['bash', 'sh', 'git', 'script', 'stty'])
      symlinkSync(findProgram(name, process.env['PATH'], []) ?? '/nowhere', join(bin, name))
    const words =
      'no sandbox (bubblewrap (bwrap) is not installed): a command that is allowed can do whatever you can'
    const environment = { PATH: bin }
    const lines = await at.pal([], { input: '/exit\n', environment })
    expect(lines.err).toContain(`pal: ${words}\n`)
    const off = await at.pal([], { input: '/exit\n', environment: { PATH: bin, PALIMPSEST_SANDBOX: 'off' } })
    expect(off.err).not.toContain('no sandbox')
    const doctor = await at.pal(['doctor'], { environment })
    expect(doctor.out).toContain(words)
    expect(doctor.out).toContain('install bubblewrap (bwrap)')
    const required = await at.pal(['doctor'], { environment: { PATH: bin, PALIMPSEST_SANDBOX: 'require' } })
    expect(required.out).toContain('no command runs: bubblewrap (bwrap) is not installed')
    expect(required.code).not.toBe(0)
    // Behind a terminal the screen says it.
    const screen = await at.start([], {
      inTerminal: true,
      isOpen: true,
      environment: { ...environment, TERM: 'xterm' },
    })
    let seen = ''
    screen.child.stdout?.on('data', (text: string) => (seen += text))
    await until(() => seen.includes('no sandbox (bubblewrap'), 'the line on the screen')
    screen.child.stdin?.write('\u0004')
    screen.child.kill()
  })
})
