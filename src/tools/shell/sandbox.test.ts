// Commands behind the wall, with the real bubblewrap; without it these are left out with a line that says so.
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../disk/fs.ts'
import { createReadFiles } from '../files/read-files.ts'
import type { ToolEnv, ToolOutcome } from '../tool.ts'
import { bashTool } from './bash.ts'
import { createJobs } from './jobs.ts'
import { createSandbox, type SandboxOptions } from './sandbox.ts'

// Not below the temporary folder, where the repository may lie: the wall gives commands another one.
const packages = realpathSync(join(import.meta.dirname, '..', '..', '..', 'node_modules'))
const isBelowTemporary = packages.startsWith(`${realpathSync(tmpdir())}/`)
const base = realpathSync(mkdtempSync(join(isBelowTemporary ? homedir() : packages, '.sandbox-')))
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
const run = async (command: string, over: Partial<SandboxOptions> = {}, timeout?: number) => {
  const environment = { PATH: process.env['PATH'], HOME: home }
  const bash = bashTool({ environment, jobs, sandbox: createSandbox({ ...options, ...over }) })
  const outcome = await bash.run(
    { command, timeout, background: undefined },
    env,
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
    expect(await goneSoon(lives)).toBe(true)
    const timed = await run(`setsid sleep ${mark}`, {}, 300)
    expect(timed.text).toContain('[stopped: it took longer than 0.3 s]')
    expect(await goneSoon(lives)).toBe(true)
  })
})

async function goneSoon(lives: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 100 && lives(); tries++) await pause(20)
  return !lives()
}

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
