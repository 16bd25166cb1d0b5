// A lock seen from other name spaces and machines: a process number means nothing there, and the name of the host can change.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { machineFileSystem, type FileSystem } from '../../src/disk/fs.ts'
import { machineProcesses } from '../../src/disk/processes.ts'
import type { Store } from '../../src/transcript/store.ts'
import { exited, linesOf, program, type Program } from './child.ts'
import { until } from '../until.ts'
import { lease, session, storeFolder, type StoreFolder } from './store-folder.ts'

const works = (...args: readonly string[]): boolean => {
  try {
    execFileSync('unshare', [...args, 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const hostNamed = ['--user', '--map-root-user', '--uts']
const numbered = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc']
const canName = works(...hostNamed)
const canNumber = works(...numbered)
if (!canName || !canNumber) console.log('name spaces: unshare is not allowed here; these tests are skipped')

/** The epoch under which the session could be taken, or who has it. */
async function takenBy(store: Store): Promise<unknown> {
  const outcome = await store.lease(session)
  if (!outcome.ok) return outcome
  await store.release(outcome.lease)
  return outcome.lease.epoch
}

describe('a lock and other name spaces', () => {
  let writer: Program
  let at: StoreFolder
  const children: ChildProcess[] = []
  beforeAll(async () => {
    writer = await program('writer-child.ts')
  })
  afterAll(() => writer.remove())
  beforeEach(async () => {
    at = await storeFolder()
  })
  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill('SIGKILL')
      await exited(child)
    }
    await at.end()
  })

  /** A holder of the session behind `unshare`, with the lines it says. */
  const holder = async (...before: readonly string[]) => {
    const child = spawn('unshare', [...before, process.execPath, writer.file, 'hold', at.root], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    children.push(child)
    const lines = linesOf(child)[Symbol.asyncIterator]()
    expect((await lines.next()).value).toBe('held')
    return { child, lines }
  }

  it.runIf(canName)('[T14] a dead holder is known after the host has changed its name', async () => {
    const { child } = await holder(...hostNamed, 'sh', '-c', 'hostname other; exec "$@"', 'sh')
    const taken = await at.store().lease(session)
    expect(taken).toMatchObject({
      ok: false,
      why: 'taken',
      owner: { who: expect.stringContaining(' on other') as string },
    })
    child.kill('SIGKILL')
    await exited(child)
    expect(await takenBy(at.store())).toBe(2)
  })

  it.runIf(canNumber)(
    '[T14] a living holder in another name space of numbers is not robbed, a dead one is',
    async () => {
      const { child, lines } = await holder(...numbered)
      expect(await at.store().lease(session)).toMatchObject({ ok: false, why: 'taken' })
      child.stdin!.write('go\n')
      expect((await lines.next()).value).toBe('ok')
      child.kill('SIGKILL')
      // The first of the numbers dies with the one that made them.
      for await (const line of { [Symbol.asyncIterator]: () => lines }) expect(line).toBe('')
      expect(await takenBy(at.store())).toBe(2)
    },
  )

  it.runIf(canNumber)(
    '[T14] and the other way round: from inside, the holder outside is not robbed',
    async () => {
      const { lease: held } = await lease(at.store())
      expect(held.epoch).toBe(1)
      const child = spawn('unshare', [...numbered, process.execPath, writer.file, 'take', at.root], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      children.push(child)
      const { value } = await linesOf(child)[Symbol.asyncIterator]().next()
      expect(value).toBe('taken')
    },
  )

  it('[T14] a living holder on another machine of the same name is not robbed on a shared disk, a dead one is, and one that slept is fenced', async () => {
    const beacons = { ...machineProcesses.beacons, isLocal: () => Promise.resolve(false) }
    // The lock itself was taken an hour ago.
    const fs: FileSystem = {
      ...machineFileSystem,
      open: async (path, how, mode) => {
        const file = await machineFileSystem.open(path, how, mode)
        const old = async () => ({ ...(await file.stat()), modifiedMs: Date.now() - hour })
        return /\/lock\/\d+$/.test(path) ? { ...file, stat: old } : file
      },
    }
    const store = at.store({ machine: { fs, processes: { ...machineProcesses, beacons } } })
    const held = async () => {
      const child = spawn(process.execPath, [writer.file, 'hold', at.root], {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: { ...process.env, PAL_TEST_MACHINE: 'another-run' },
      })
      children.push(child)
      const lines = linesOf(child)[Symbol.asyncIterator]()
      expect((await lines.next()).value).toBe('held')
      return { child, lines }
    }
    /** As if nothing had come from there for an hour. */
    const silent = async (epoch: number): Promise<void> => {
      const then = new Date(Date.now() - hour)
      await utimes(join(at.folder, 'lock', `beat-${epoch}`), then, then)
    }
    const beatAt = async (epoch: number): Promise<number> =>
      (await stat(join(at.folder, 'lock', `beat-${epoch}`)).catch(() => null))?.mtimeMs ?? 0

    const living = await held()
    await until(async () => (await beatAt(1)) > 0)
    await silent(1)
    await until(async () => (await beatAt(1)) > Date.now() - hour / 2)
    expect(await store.lease(session)).toMatchObject({ ok: false, why: 'taken' })
    living.child.stdin!.write('go\n')
    expect((await living.lines.next()).value).toBe('ok')

    living.child.kill('SIGKILL')
    await exited(living.child)
    expect(await store.lease(session)).toMatchObject({ ok: false, why: 'taken' })
    await silent(1)
    expect(await takenBy(store)).toBe(2)

    const asleep = await held()
    await until(async () => (await beatAt(3)) > 0)
    asleep.child.kill('SIGSTOP')
    await until(() => Promise.resolve(isStopped(asleep.child.pid!)))
    await silent(3)
    expect(await takenBy(store)).toBe(4)
    asleep.child.kill('SIGCONT')
    asleep.child.stdin!.write('go\n')
    expect((await asleep.lines.next()).value).toBe('fenced')
  })
})

const hour = 3_600_000
const isStopped = (pid: number): boolean =>
  execFileSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' })
    .trim()
    .startsWith('T')
