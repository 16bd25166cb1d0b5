// Machines that are not like the one this was written on: each works, or says in one sentence what is missing and what to do.
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call } from '../../src/simulator/index.ts'
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

/** Readable by everybody, so that another user can start there. */
function opened(at: Workspace): void {
  for (const folder of [join(at.home, '..'), at.home, at.project]) chmodSync(folder, 0o777)
  chmodSync(dirname(at.file), 0o755)
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

  it.skipIf(!canSetUser)(
    '[G64] a user id without a name and without HOME is said, and PALIMPSEST_HOME is enough',
    async () => {
      const { access } = await server(['fine'])
      const at = await openWorkspace(access)
      opened(at)
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
    expect((await inShell(at, `${box} $PAL doctor`)).out).toMatch(/note {2}\/proc: not there/)
  })
})
