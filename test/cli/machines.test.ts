// Machines that are not like the one this was written on: each works, or says in one sentence what is missing and what to do.
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clipboardPicture } from '../../src/cli/screen/input.ts'
import { startByPs } from '../../src/disk/processes.ts'
import { findProgram } from '../../src/disk/programs.ts'
import { call, type Simulator } from '../../src/simulator/index.ts'
import { sessionId } from '../../src/transcript/ids.ts'
import { openWorkspace, server, type Ended, type Workspace } from './pal.ts'

/** The command in a shell of the machine's own; `$PAL` is the command. */
async function inShell(at: Workspace, line: string): Promise<Ended> {
  const child = spawn('bash', ['-c', line], {
    cwd: at.project,
    env: { ...at.environment, PAL: `${process.execPath} ${at.file}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, out, err }
}

const works = (...words: readonly string[]): boolean => {
  try {
    execFileSync(words[0]!, words.slice(1), { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const canSetUser = works('setpriv', '--reuid', '54321', '--regid', '54321', '--clear-groups', 'true')
const canMount = works('bwrap', '--dev-bind', '/', '/', '--tmpfs', '/proc', 'true')
if (!canSetUser) console.log('skipped: this machine lets nobody become another user (setpriv)')
if (!canMount) console.log('skipped: this machine has no bubblewrap that works')

const isSentence = (err: string): void => {
  expect(err).toMatch(/^pal: [^\n]+\n$/)
  expect(err).not.toMatch(/\n\s+at |Error:/)
}

/** Readable by everybody, the command too, so that another user can start it. */
async function opened(at: Workspace): Promise<Workspace> {
  for (const folder of [join(at.home, '..'), at.home, at.project]) chmodSync(folder, 0o777)
  const copy = join(at.home, 'pal')
  await cp(dirname(at.file), copy, { recursive: true })
  chmodSync(copy, 0o755)
  return { ...at, file: join(copy, basename(at.file)) }
}

describe('a start on', () => {
  it('[G63] Windows ends at once and names WSL; only the version is told', async () => {
    const at = await openWorkspace()
    const shim = join(at.home, 'windows.cjs')
    writeFileSync(shim, "Object.defineProperty(process, 'platform', { value: 'win32' })\n")
    const environment = { NODE_OPTIONS: `--require ${shim}` }
    for (const words of [['-p', 'hi'], ['doctor'], ['sessions', '--json'], ['--help']]) {
      const { code, out, err } = await at.pal(words, { environment })
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).toMatch(/^pal: Windows is not supported yet\. Run pal inside WSL/)
      isSentence(err)
    }
    expect((await at.pal(['--version'], { environment })).code).toBe(0)
    // Nothing was made.
    expect(works('test', '-e', at.state)).toBe(false)
  })

  it('[G64] a folder that is gone is said in one sentence', async () => {
    const at = await openWorkspace()
    for (const words of ['doctor', 'sessions', '-p hi']) {
      const { code, err } = await inShell(at, `mkdir gone; cd gone; rmdir ../gone; $PAL ${words}`)
      expect(code).toBe(1)
      isSentence(err)
      expect(err).toMatch(/working folder is gone.*Change to another folder/)
    }
  })

  it('[G64] a file in place of a folder to work in is refused, and nothing is kept for it', async () => {
    const at = await openWorkspace()
    writeFileSync(join(at.project, 'file'), 'text')
    for (const words of [
      ['sessions', '--cwd', 'file'],
      ['-p', '--offline', '--cwd', 'file', 'hi'],
    ]) {
      const { code, err } = await at.pal(words)
      expect([code, err]).toEqual([
        2,
        expect.stringMatching(/there is no folder to work in: .*file is no folder\n$/),
      ])
    }
    expect(existsSync(at.state)).toBe(false)
    const shown = await at.pal(['inspect', '--from', 'file'])
    expect([shown.code, shown.err]).toEqual([2, expect.stringContaining('there is no folder')])
  })

  it.skipIf(!canSetUser)(
    '[G64] a user id without a name and without HOME is said, and PALIMPSEST_HOME is enough',
    async () => {
      const { access } = await server(['fine'])
      const at = await opened(await openWorkspace(access))
      const bare = 'setpriv --reuid 54321 --regid 54321 --clear-groups env -u HOME'
      for (const words of ['doctor', 'sessions', '-p hi']) {
        const { code, err } = await inShell(at, `${bare} $PAL ${words}`)
        expect(code).toBe(1)
        isSentence(err)
        expect(err).toMatch(/no home folder: .*54321.*Set HOME .*PALIMPSEST_HOME/)
      }
      const own = join(at.home, 'own')
      expect(await inShell(at, `${bare} PALIMPSEST_HOME=${own} $PAL -p hi`)).toMatchObject({
        code: 0,
        out: 'fine\n',
      })
      expect((await inShell(at, `${bare} PALIMPSEST_HOME=${own} $PAL doctor`)).out).not.toContain('BAD')
    },
  )

  it.skipIf(!canMount)('[G64] a machine without /proc works', async () => {
    const { access } = await server([[call('Write', { file_path: 'a.txt', content: 'x' })], 'fine', 'more'])
    const at = await openWorkspace(access)
    const box = 'bwrap --dev-bind / / --tmpfs /proc'
    expect(await inShell(at, `${box} $PAL -p --allow Write hi`)).toMatchObject({ code: 0, out: 'fine\n' })
    expect((await inShell(at, 'cat a.txt')).out).toBe('x')
    expect(await inShell(at, `${box} $PAL -p --continue hi`)).toMatchObject({ code: 0, out: 'more\n' })
    expect((await inShell(at, `${box} $PAL doctor`)).out).toMatch(/note {2}\/proc: missing/)
  })
})

/** A PATH with these programs of the machine and no other. */
function programsOnly(at: Workspace, ...names: readonly string[]): string {
  const bin = join(at.home, `bin-${names.join('-')}`)
  mkdirSync(bin)
  for (const name of names) symlinkSync(findProgram(name, process.env['PATH'], [])!, join(bin, name))
  return bin
}

describe('a machine', () => {
  it('[G64] without bash says so to the person, to the model and in the doctor; the demo does not pretend', async () => {
    const { access, simulator } = await server([[call('Bash', { command: 'echo hi' })], 'no bash'])
    const at = await openWorkspace(access)
    const environment = { PATH: programsOnly(at, 'git') }
    const { code, err } = await at.pal(['-p', '--allow', 'Bash', 'run it'], { environment })
    expect(code).toBe(0)
    expect(err).toMatch(/^pal: the agent cannot run commands: bash is not on the PATH/)
    expect(JSON.stringify(simulator.log.last()?.body)).toContain(
      'The command was not run: bash is not on the PATH',
    )
    const doctor = await at.pal(['doctor'], { environment })
    expect(doctor.code).toBe(1)
    expect(doctor.out).toMatch(/BAD {3}bash: not found[^\n]*\n[^\n]*install bash/)
    const demo = await at.pal(['demo'], { environment })
    expect(demo).toMatchObject({ code: 1, out: '' })
    expect(demo.err).toContain('bash is not on the PATH')
  })

  it('[G64] without git works, and the doctor notes it', async () => {
    const { access } = await server(['fine'])
    const at = await openWorkspace(access)
    const environment = { PATH: programsOnly(at, 'bash') }
    expect(await at.pal(['-p', 'hi'], { environment })).toEqual({ code: 0, out: 'fine\n', err: '' })
    expect((await at.pal(['doctor'], { environment })).out).toContain('note  git: not found')
  })

  it('[G64] without a folder for temporary files says so', async () => {
    const { access } = await server([])
    const at = await openWorkspace(access)
    const environment = { TMPDIR: join(at.home, 'nowhere') }
    const demo = await at.pal(['demo'], { environment })
    expect(demo.code).toBe(1)
    expect(demo.err).toMatch(/nowhere.*Set TMPDIR to a folder you can write to/)
    expect(demo.err).not.toMatch(/\n\s+at /)
    expect((await at.pal(['doctor'], { environment })).out).toMatch(
      /BAD {3}temporary files: [^\n]*\n[^\n]*set TMPDIR/,
    )
  })

  it.skipIf(!canSetUser)('[G64] whose home is not the user’s names PALIMPSEST_HOME', async () => {
    const { access } = await server(['fine'])
    const at = await opened(await openWorkspace(access))
    const { code, err } = await inShell(
      at,
      'HOME=/ setpriv --reuid 54321 --regid 54321 --clear-groups $PAL -p hi',
    )
    expect(code).toBe(1)
    expect(err).not.toMatch(/\n\s+at |Error:/)
    expect(err).toMatch(/cannot be written to \(\/: no permission\).*PALIMPSEST_HOME/)
  })

  it('[G64] with another locale or a proxy is told what pal does', async () => {
    const at = await openWorkspace()
    const environment = { LANG: 'de_DE.ISO-8859-1', HTTPS_PROXY: 'http://127.0.0.1:9' }
    const { out } = await at.pal(['doctor'], { environment })
    expect(out).toMatch(/note {2}locale: de_DE\.ISO-8859-1: pal reads and writes UTF-8/)
    expect(out).toMatch(/note {2}proxy: HTTPS_PROXY is set, and pal does not use it/)
  })

  it('[G64] with ripgrep on the PATH alone uses it, and not one that does not start', async () => {
    const at = await openWorkspace()
    // Away from the packages.
    await cp(dirname(at.file), join(at.home, 'pal'), { recursive: true })
    const bin = programsOnly(at, 'bash')
    const doctor = async (): Promise<string> =>
      (await inShell({ ...at, file: join(at.home, 'pal', 'pal.js') }, `PATH=${bin} $PAL doctor`)).out
    writeFileSync(join(bin, 'rg'), '#!/bin/sh\nexit 127\n', { mode: 0o755 })
    expect(await doctor()).toContain('note  ripgrep: not found')
    writeFileSync(join(bin, 'rg'), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
    expect(await doctor()).toContain(`ok    ripgrep: ${bin}/rg`)
  })
})

describe('for those who embed it', () => {
  it('[S40] on Windows the store of files refuses and names WSL', async () => {
    const platform = Object.getOwnPropertyDescriptor(process, 'platform')!
    Object.defineProperty(process, 'platform', { ...platform, value: 'win32' })
    try {
      const { fileStore } = await import('../../src/stores/index.ts')
      const leased = await fileStore({ root: join(tmpdir(), 'pal-never-made') }).lease(sessionId('one'))
      expect(leased).toMatchObject({ ok: false, failure: { code: 'unsupported' } })
      expect(JSON.stringify(leased)).toContain('WSL')
    } finally {
      Object.defineProperty(process, 'platform', platform)
    }
    expect(existsSync(join(tmpdir(), 'pal-never-made'))).toBe(false)
  })

  it('[S41] without /proc a process is told from another by when it started, as ps says', async () => {
    const sleeper = spawn('sleep', ['60'], { stdio: 'ignore' })
    try {
      const [own, other] = [await startByPs(process.pid), await startByPs(sleeper.pid!)]
      expect(own).toMatch(/\d{4}$/)
      expect(await startByPs(process.pid)).toBe(own)
      expect(other).not.toBe(own)
    } finally {
      sleeper.kill()
    }
  })

  it('[G64] a picture is pasted on macOS through osascript', async () => {
    const bin = await mkdtemp(join(tmpdir(), 'pal-osascript-'))
    const bytes = '89504E470D0A1A0A00FF'
    writeFileSync(join(bin, 'osascript'), `#!/bin/sh\nprintf '«data PNGf${bytes}»\\n'\n`, { mode: 0o755 })
    const pasted = await clipboardPicture({ PATH: bin })
    await rm(bin, { recursive: true })
    expect(pasted).toMatchObject({ ok: true })
    if (!pasted.ok) return
    expect((await readFile(pasted.path)).toString('hex').toUpperCase()).toBe(bytes)
    await rm(dirname(pasted.path), { recursive: true })
  })
})

describe('Latin-1', () => {
  const saidTo = (simulator: Simulator): string => JSON.stringify(simulator.log.last()?.body)

  it('[G69] on standard input is read and said; UTF-16 too, and what is no text is refused', async () => {
    const { access, simulator } = await server(['a', 'b'])
    const at = await openWorkspace(access)
    const latin = await inShell(at, "printf 'gr\\374\\337e' | $PAL -p read")
    expect(latin).toMatchObject({ code: 0, out: 'a\n' })
    expect(latin.err).toContain('read as Latin-1')
    expect(saidTo(simulator)).toContain('grüße')
    const wide = await inShell(at, "printf '\\377\\376h\\000i\\000' | $PAL -p read")
    expect(wide.err).toContain('read as UTF-16')
    expect(saidTo(simulator)).toContain('>\\nhi')
    const binary = await inShell(at, "printf '\\211PNG\\000\\001' | $PAL -p read")
    expect(binary.code).toBe(2)
    expect(binary.err).toMatch(/not text; put it into a file/)
  })

  it('[G69] in the name of the working folder or of HOME is said in one sentence, and nothing is kept elsewhere', async () => {
    const at = await openWorkspace()
    const name = "$(printf 'gr\\xf6sse')"
    for (const words of ['doctor', 'sessions', '-p --offline hi']) {
      const { code, err } = await inShell(at, `mkdir -p ${name}; cd ${name}; $PAL ${words}`)
      expect(code).toBe(2)
      isSentence(err)
      expect(err).toMatch(/working folder has bytes that are not UTF-8.*Rename it/)
    }
    const home = await inShell(at, `mkdir -p "$HOME"/${name}; HOME="$HOME"/${name} $PAL -p --offline hi`)
    expect(home.code).toBe(1)
    isSentence(home.err)
    expect(home.err).toMatch(/home folder has bytes that are not UTF-8.*Set HOME/)
    expect(works('test', '-e', join(at.home, 'gr\uFFFDsse'))).toBe(false)
  })

  it('[G69] in arguments and lines is said', async () => {
    const { access } = await server(['a', 'b'])
    const at = await openWorkspace(access)
    const { code, err } = await inShell(at, '$PAL -p "$(printf \'gr\\374n\')"')
    expect(code).toBe(0)
    expect(err).toContain('the prompt contains bytes that are not UTF-8')
    const lines = await inShell(at, "printf 'gr\\374n\\n' | $PAL")
    expect(lines.err.split('bytes that are not UTF-8').length).toBe(2)
  })

  it('[G69] in names of files is named by Glob, not left out', async () => {
    const { access, simulator } = await server([[call('Glob', { pattern: '*' })], 'seen'])
    const at = await openWorkspace(access)
    await inShell(at, 'touch plain.txt "$(printf \'gr\\374n.txt\')"')
    await at.pal(['-p', 'list'])
    expect(saidTo(simulator)).toContain('1 more with names that are not UTF-8')
    expect(saidTo(simulator)).toContain('gr\uFFFDn.txt')
  })
})
