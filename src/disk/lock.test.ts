import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import * as node from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hookedFileSystem, systemError } from '../../test/faults/hooked-fs.ts'
import { until } from '../../test/until.ts'
import { machineFileSystem } from './fs.ts'
import { holds, lockOwner, releaseLock, takeLock, type Lock, type LockOptions } from './lock.ts'
import { machineProcesses } from './processes.ts'

const options: LockOptions = {
  fs: machineFileSystem,
  processes: machineProcesses,
  now: () => Date.now(),
  unique: () => randomUUID(),
  unreadableMs: 30_000,
  beatMs: 15_000,
  maxBytes: 4096,
  tries: 50,
}

describe('lock', () => {
  let folder = ''
  let path = ''
  beforeEach(async () => {
    folder = await node.mkdtemp(join(tmpdir(), 'pal-lock-'))
    path = join(folder, 'lock')
  })
  afterEach(() => node.rm(folder, { recursive: true }))

  const taken = async (with_: LockOptions = options): Promise<Lock> => {
    const outcome = await takeLock(path, with_)
    if (!outcome.ok) throw new Error(JSON.stringify(outcome))
    return outcome.lock
  }
  const plant = async (changes: object): Promise<void> => {
    const self = await machineProcesses.self()
    await node.rm(path, { recursive: true, force: true })
    await node.mkdir(path)
    await node.writeFile(join(path, '7'), JSON.stringify({ ...self, token: 'planted', since: 1, ...changes }))
  }

  it('[T2] a held lock names its owner, a released one is taken with a higher epoch', async () => {
    const first = await taken()
    expect(first.epoch).toBe(1)
    const second = await takeLock(path, options)
    expect(second).toMatchObject({ ok: false, why: 'taken', owner: { pid: process.pid } })
    expect(await holds(first, machineFileSystem)).toBe(true)
    expect(await releaseLock(first, options)).toEqual({ ok: true, released: true })
    expect(await holds(first, machineFileSystem)).toBe(false)
    expect(await lockOwner(path, options)).toEqual({ ok: true, owner: null })
    expect((await taken()).epoch).toBe(2)
    expect(await node.readdir(path)).toEqual(['1', '2', 'beacon-2'])
  })

  it('[T2] only the owner releases', async () => {
    const first = await taken()
    await node.unlink(join(path, '1'))
    const second = await taken()
    expect(await releaseLock(first, options)).toEqual({ ok: true, released: false })
    expect(await holds(first, machineFileSystem)).toBe(false)
    expect(await holds(second, machineFileSystem)).toBe(true)
  })

  it('[T2] a reused process number, an earlier boot and a dead process do not hold a lock', async () => {
    const dead = spawn('true')
    await new Promise((resolve) => dead.once('exit', resolve))
    for (const changes of [{ start: '1' }, { boot: 'another' }, { pid: dead.pid }]) {
      await plant(changes)
      expect((await taken()).epoch).toBe(8)
    }
  })

  it.runIf(process.platform === 'linux')('[T2] a zombie does not hold a lock', async () => {
    // The shell becomes a sleep that never collects its finished child, which ends with our end of its input.
    const parent = spawn('sh', ['-c', 'exec 3<&0; cat <&3 >/dev/null & echo $!; exec sleep 600 3<&-'])
    const pid = Number(
      await new Promise<string>((resolve) => parent.stdout.once('data', (data) => resolve(String(data)))),
    )
    const start = (await machineProcesses.look(pid))!.start
    await plant({ pid, start })
    const told = (what: string, of: number): string =>
      execFileSync('ps', ['-o', `${what}=`, '-p', String(of)], { encoding: 'utf8' }).trim()
    const nameOf = (of: number): string => told('comm', of)
    const stateOf = (of: number): string => told('state', of)
    await until(() => nameOf(parent.pid!) === 'sleep', 'the shell to have become a sleep')
    parent.stdin.end()
    await until(() => stateOf(pid).startsWith('Z'), 'the child to have ended')
    expect(() => process.kill(pid, 0)).not.toThrow()
    expect((await taken()).epoch).toBe(8)
    parent.kill('SIGKILL')
  })

  /** A disk that other machines use too. */
  const shared: LockOptions = {
    ...options,
    processes: {
      ...machineProcesses,
      beacons: { ...machineProcesses.beacons, isLocal: () => Promise.resolve(false) },
    },
  }
  const aged = async (name: string, ms: number): Promise<void> => {
    const when = new Date(Date.now() - ms)
    await node.utimes(join(path, name), when, when)
  }
  const minutes = 60_000

  it('[T2] an owner on another machine holds while it gives signs of life, whatever the clock here says', async () => {
    for (const elsewhere of [
      { host: 'elsewhere', boot: 'another', machine: 'another', pid: 1 },
      // Two machines with one name: the name says nothing.
      { boot: 'another', machine: 'another', pid: 1 },
      // And images that were copied have the same number.
      { boot: 'another', pid: 1 },
      // A container that tells no run.
      { boot: null, space: null, machine: null, pid: 1, start: '1' },
    ]) {
      await plant({ ...elsewhere, beat: 15_000 })
      for (const skew of [-60 * minutes, 0, 60 * minutes])
        expect(await takeLock(path, { ...shared, now: () => Date.now() + skew })).toMatchObject({
          why: 'taken',
          owner: { pid: 1, freeAt: expect.any(Number) as number },
        })
      await aged('7', 60 * minutes)
      await node.writeFile(join(path, 'beat-7'), '')
      expect(await takeLock(path, shared)).toMatchObject({ why: 'taken', owner: { pid: 1 } })
      await aged('beat-7', 4 * minutes)
      expect(await takeLock(path, shared)).toMatchObject({ why: 'taken' })
      await aged('beat-7', 6 * minutes)
      expect(await lockOwner(path, shared)).toEqual({ ok: true, owner: null })
      const lock = await taken(shared)
      expect([lock.epoch, (await node.readdir(path)).includes('beat-7')]).toEqual([8, false])
      await releaseLock(lock, shared)
    }
  })

  it('[T2] an owner of an earlier version gives no signs of life, and its age breaks nothing', async () => {
    await plant({ host: 'elsewhere', boot: 'another', pid: 1 })
    await aged('7', 1000 * minutes)
    expect(await takeLock(path, shared)).toMatchObject({ why: 'taken', owner: { host: 'elsewhere' } })
  })

  it('[T2] a lock that is held for long gives signs of life, and none once it is given back', async () => {
    const beats: (() => void)[] = []
    let isStopped = false
    const repeat = (ms: number, run: () => void): (() => void) => {
      expect(ms).toBe(15_000)
      beats.push(run)
      return () => (isStopped = true)
    }
    const lock = await taken({ ...options, processes: { ...machineProcesses, repeat } })
    expect(await node.readdir(path)).not.toContain('beat-1')
    // Its size changes with each one, so that the disk itself sets the time.
    for (const size of [1, 0, 1]) {
      await until(async () => {
        const stat = await node.stat(join(path, 'beat-1')).catch(() => null)
        if (stat?.size === size) return true
        // One that comes while the last is under way is left out.
        beats[0]!()
        return false
      }, `a beat of ${size} bytes`)
    }
    expect(await releaseLock(lock, options)).toEqual({ ok: true, released: true })
    expect([isStopped, await node.readdir(path)]).toEqual([true, ['1']])
  })

  it('[T14] an owner of before this machine was started is dead on a disk of its own, whatever the host was called', async () => {
    expect(await machineProcesses.beacons.isLocal(tmpdir())).toBe(true)
    await plant({ host: 'elsewhere', boot: 'another', pid: process.pid })
    expect((await taken()).epoch).toBe(8)
  })

  it('[T14] a host that changed its name is still the same machine', async () => {
    await plant({ host: 'elsewhere' })
    expect(await takeLock(path, options)).toMatchObject({ why: 'taken', owner: { pid: process.pid } })
    await plant({ host: 'elsewhere', start: '1' })
    expect((await taken()).epoch).toBe(8)
  })

  it('[T14] an owner in another name space that left no beacon is not robbed', async () => {
    await plant({ space: 'pid:[1]', pid: 1, start: '1' })
    expect(await takeLock(path, options)).toMatchObject({ why: 'taken' })
  })

  it('[T2] a disk that is full to the last byte does not keep a lock from being given back', async () => {
    const full = hookedFileSystem(machineFileSystem, {
      before: (call) => {
        if (/^(open-create|write|rename|link)$/.test(call.name)) throw systemError('ENOSPC')
      },
    })
    const lock = await taken()
    expect(await releaseLock(lock, { ...options, fs: full })).toMatchObject({ ok: true, released: true })
    expect(await takeLock(path, options)).toMatchObject({ ok: true, lock: { epoch: 2 } })
  })

  it('[T2] an empty or garbled lock holds for a while and is then stale', async () => {
    for (const body of ['', '\0\0\0', '{"host":', '[]', 'null', '{"host":1}']) {
      await node.mkdir(path)
      await node.writeFile(join(path, '3'), body)
      expect(await takeLock(path, options)).toMatchObject({ why: 'taken', owner: { host: 'unknown' } })
      const later = { ...options, now: () => Date.now() + 31_000 }
      const lock = await taken(later)
      expect(await holds(lock, machineFileSystem)).toBe(true)
      expect(lock.epoch).toBe(4)
      await node.rm(path, { recursive: true })
    }
  })

  it('[T2] a taker that fails or dies at any step leaves a lock that can be taken, and the epoch never falls', async () => {
    await plant({ start: '1' })
    let epoch = 7
    let failures = 0
    const dead = {
      ...machineProcesses,
      self: async () => ({ ...(await machineProcesses.self()), start: '1' }),
    }
    for (const dies of [true, false]) {
      for (let step = 1; step <= 20; step++) {
        const failing = hookedFileSystem(machineFileSystem, {
          before: (call) => {
            if (dies ? call.number >= step : call.number === step) throw systemError('EIO')
          },
        })
        const outcome = await takeLock(path, {
          ...options,
          fs: failing,
          processes: dies ? dead : machineProcesses,
        })
        if (!outcome.ok) failures++
        const next = outcome.ok && !dies ? outcome.lock : await taken()
        expect(next.epoch).toBeGreaterThan(epoch)
        epoch = next.epoch
        await releaseLock(next, options)
      }
    }
    expect(failures).toBeGreaterThan(8)
  })

  it('[E1] a folder that cannot be written to is a failure with a name', async () => {
    const full = hookedFileSystem(machineFileSystem, {
      before: (call) => {
        if (call.name === 'open-create') throw systemError('EROFS')
      },
    })
    expect(await takeLock(path, { ...options, fs: full })).toMatchObject({
      why: 'failed',
      failure: { code: 'read-only' },
    })
  })

  it('[A10] a link planted at the lock is refused and its target untouched', async () => {
    const victim = join(folder, 'victim')
    await node.writeFile(victim, 'keep')
    await node.mkdir(join(folder, 'elsewhere'))
    await node.symlink(join(folder, 'elsewhere'), path)
    expect(await takeLock(path, options)).toMatchObject({ why: 'failed', failure: { code: 'symlink' } })
    await node.unlink(path)
    await node.mkdir(path)
    await node.symlink(victim, join(path, '1'))
    expect(await takeLock(path, options)).toMatchObject({ why: 'failed', failure: { code: 'symlink' } })
    expect(await node.readFile(victim, 'utf8')).toBe('keep')
    expect(await node.readdir(join(folder, 'elsewhere'))).toEqual([])
  })

  it('[T2] of many that try at once one holds', async () => {
    await plant({ start: '1' })
    let holding = 0
    let most = 0
    let count = 0
    const worker = async (): Promise<void> => {
      for (let round = 0; round < 6;) {
        const outcome = await takeLock(path, options)
        if (!outcome.ok) {
          expect(outcome.why === 'failed' ? outcome.failure.code : 'busy').toBe('busy')
          await new Promise((resolve) => setTimeout(resolve, 1))
          continue
        }
        most = Math.max(most, ++holding)
        await new Promise((resolve) => setTimeout(resolve, 1))
        holding--
        count++
        expect(await releaseLock(outcome.lock, options)).toEqual({ ok: true, released: true })
        round++
      }
    }
    await Promise.all(Array.from({ length: 6 }, worker))
    expect([most, count]).toEqual([1, 36])
    expect((await taken()).epoch).toBe(8 + 36)
  })
})
