import { execFileSync } from 'node:child_process'
import * as node from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { fileStore } from '../../src/stores/index.ts'
import { noteEntry } from '../../src/testing/store-steps.ts'
import { seq } from '../../src/transcript/ids.ts'
import { hookedFileSystem, systemError, type Call, type Hooks } from './hooked-fs.ts'
import { powerModel } from './power.ts'
import { append, lease, places, reading, storeFolder, session, type StoreFolder } from './store-folder.ts'
import { until } from '../until.ts'

describe('a failing disk', () => {
  let at: StoreFolder
  beforeEach(async () => {
    at = await storeFolder()
  })
  afterEach(() => at.end())

  const withHooks = (hooks: Hooks, fsync: 'full' | 'batch' | 'none' = 'batch') =>
    at.store({ fsync, machine: { fs: hookedFileSystem(machineFileSystem, hooks) } })

  /** Everything a store does; gives back what was acknowledged and the failures that were told. */
  const work = async (hooks: Hooks) => {
    const store = withHooks(hooks)
    const acked: number[] = []
    const told: string[] = []
    const note = (result: { ok: boolean; failure?: { code: string } }): void => {
      if (!result.ok) told.push(result.failure?.code ?? 'failed')
    }
    const first = await store.lease(session)
    note(first as never)
    if (!first.ok) return { acked, told, blob: false }
    let blob = false
    for (let place = (first.next ?? 0) as number, left = 3; left > 0; left--) {
      const outcome = await store.append(
        first.lease,
        [noteEntry(place, 'a'), noteEntry(place + 1, 'b')],
        seq(place),
        'now',
      )
      note(outcome as never)
      if (outcome.ok) acked.push(place, place + 1)
      if (outcome.ok) place += 2
    }
    const put = await store.putBlob(first.lease, 'big', Buffer.alloc(1000, 'x'))
    note(put)
    blob = put.ok
    if (acked.length > 0)
      note(await store.putCheckpoint(first.lease, { version: 1, upTo: seq(acked[0]!), state: 1, needs: [] }))
    note(await store.release(first.lease))
    return { acked, told, blob }
  }

  it('[E1] whichever call fails: nothing throws, nothing acknowledged is lost, the failure is told, no file stays open', async () => {
    const silent: Call[] = []
    let most = 0
    await work({ before: (call) => void (most = call.number) })
    expect(most).toBeGreaterThan(60)
    let openFiles = 0
    for (const persistent of [false, true]) {
      for (let step = 1; step <= most; step += persistent ? 3 : 1) {
        await node.rm(at.root, { recursive: true, force: true })
        let failed: Call | null = null
        const code = ['ENOSPC', 'EIO', 'EROFS'][step % 3]!
        const { acked, told, blob } = await work({
          before: (call) => {
            if (persistent ? call.number < step : call.number !== step) return
            failed ??= call
            throw systemError(code)
          },
          open: (change) => void (openFiles += change),
        })
        expect([step, openFiles]).toEqual([step, 0])
        if (told.length === 0 && failed !== null) silent.push(failed)
        const clean = at.store()
        const found = await reading(clean.read(session))
        expect([step, found.places]).toEqual([step, expect.arrayContaining(acked)])
        expect([step, found.damage]).toEqual([step, []])
        expect((await clean.getBlob(session, 'big')).ok || !blob).toBe(true)
        // A lock that could not be given back is held by this very process; another machine would find it dead.
        await node.rm(join(at.folder, 'lock'), { recursive: true, force: true })
        const again = await lease(clean)
        const next = again.next ?? seq(0)
        expect(await append(clean, again.lease, [noteEntry(next, 'on')])).toBe('ok')
        expect((await reading(clean.read(session))).places).toEqual(places(0, next))
        await clean.release(again.lease)
      }
    }
    // Only clearing away may fail in silence (a leftover costs a few bytes and hides nothing), looking again at a lock,
    // which is taken anew, and what helps only after damage: the copy of the first line, which is read for it, and the
    // next free place that is left with the lock.
    const isHelp = ({ name, path }: Call): boolean =>
      path.endsWith('/first-line') ||
      path.startsWith('/proc/self/fd/') ||
      (path.endsWith('/transcript.jsonl') && (name === 'stat' || name === 'read'))
    expect(
      silent.filter((call) => call.name !== 'unlink' && !call.path.endsWith('/lock') && !isHelp(call)),
    ).toEqual([])
  })

  it('[T1] a short or refused write is rolled back before anything else, and told', async () => {
    for (const full of ['short', 'refused'] as const) {
      let armed = false
      const store = withHooks({
        before: (call) => {
          if (armed && full === 'refused' && call.name === 'write') throw systemError('ENOSPC')
        },
        take: (call, bytes) => (armed && call.path.endsWith('.jsonl') ? Math.floor(bytes / 2) : bytes),
      })
      const { lease: held, next } = await lease(store)
      const first = next ?? 0
      expect(await append(store, held, [noteEntry(first, 'kept')])).toBe('ok')
      const good = await at.bytes()
      armed = true
      const batch = [noteEntry(first + 1, 'lost'), noteEntry(first + 2, 'lost too')]
      expect(await append(store, held, batch)).toBe('disk-full')
      expect(await at.bytes()).toEqual(good)
      armed = false
      expect(await append(store, held, batch)).toBe('ok')
      expect(await reading(store.read(session))).toMatchObject({ places: places(0, first + 2), damage: [] })
      await store.release(held)
    }
  })

  it('[T1] when the roll back fails too, the next entry begins on a line of its own and is read', async () => {
    let armed = true
    const store = withHooks({
      before: (call) => {
        if (call.name === 'truncate') throw systemError('EIO')
      },
      take: (call, bytes) => (armed && call.path.endsWith('.jsonl') ? 30 : bytes),
    })
    const { lease: held } = await lease(store)
    expect(await append(store, held, [noteEntry(0, 'torn')])).toBe('disk-full')
    armed = false
    expect(await append(store, held, [noteEntry(0, 'whole')])).toBe('ok')
    const { entries, damage } = await reading(store.read(session))
    expect([entries, damage.length]).toEqual([[noteEntry(0, 'whole')], 1])
  })

  it('[T1] whole entries of a refused append that cannot be cut off block the session rather than take a place', async () => {
    let isBad = true
    const store = withHooks({
      before: (call) => {
        if (isBad && call.name === 'truncate') throw systemError('EIO')
      },
      take: (call, bytes) => (isBad && call.path.endsWith('.jsonl') && bytes > 200 ? bytes - 10 : bytes),
    })
    const { lease: held } = await lease(store)
    expect(await append(store, held, [noteEntry(0, 'refused'), noteEntry(1, 'refused')])).toBe('disk-full')
    expect(await append(store, held, [noteEntry(0, 'kept')])).toBe('io-error')
    isBad = false
    expect(await append(store, held, [noteEntry(0, 'kept')])).toBe('ok')
    expect((await reading(store.read(session))).entries).toEqual([noteEntry(0, 'kept')])
  })

  it('[S15] a failed sync is never tried again into success: the session is degraded until it is opened again', async () => {
    for (const policy of ['batch', 'full'] as const) {
      let syncs = 0
      const store = withHooks(
        {
          before: (call) => {
            if (call.name === 'datasync' && ++syncs === 2) throw systemError('EIO')
          },
        },
        policy,
      )
      const { lease: held, next } = await lease(store)
      const first = next ?? 0
      expect(await append(store, held, [noteEntry(first, 'safe')], 'now')).toBe('ok')
      expect(await append(store, held, [noteEntry(first + 1, 'unsafe')], 'now')).toBe('io-error')
      expect(await append(store, held, [noteEntry(first + 2, 'refused')], 'none')).toBe('io-error')
      expect((await store.sync(held)).ok).toBe(false)
      const old = (await node.stat(at.transcript)).ino
      await store.release(held)
      const again = await lease(store)
      expect((await node.stat(at.transcript)).ino).not.toBe(old)
      expect(again.next).toBe(first + 2)
      expect(await append(store, again.lease, [noteEntry(first + 2, 'on')], 'now')).toBe('ok')
      expect(syncs).toBe(3)
      await store.release(again.lease)
    }
  })

  it('[S15] a sync that fails in the background is told to whoever comes next', async () => {
    const runs: (() => void)[] = []
    const hooks: Hooks = {
      before: (call) => {
        if (call.name === 'datasync') throw systemError('EIO')
      },
    }
    const fs = hookedFileSystem(machineFileSystem, hooks)
    const later = (_: number, run: () => void) => (runs.push(run), () => undefined)
    const store = fileStore({ root: at.root, fsync: 'batch', machine: { fs, later } })
    const { lease: held } = await lease(store)
    expect(await append(store, held, [noteEntry(0, 'x')], 'soon')).toBe('ok')
    expect(runs.length).toBe(1)
    runs[0]!()
    expect((await store.sync(held)).ok).toBe(false)
    expect(await append(store, held, [noteEntry(1, 'x')], 'soon')).toBe('io-error')
  })

  it('[S15] who waits while a sync fails is told so, even if the next one would succeed', async () => {
    const runs: (() => void)[] = []
    let fail = (): void => undefined
    let [syncs, writes] = [0, 0]
    let begun = (): void => undefined
    const hasBegun = new Promise<void>((resolve) => (begun = resolve))
    const fs = hookedFileSystem(machineFileSystem, {
      before: async (call) => {
        if (!call.path.endsWith('transcript.jsonl')) return
        if (call.name === 'write') writes++
        if (call.name !== 'datasync' || ++syncs > 1) return
        begun()
        await new Promise((_, reject) => (fail = () => reject(systemError('EIO'))))
      },
    })
    const later = (_: number, run: () => void) => (runs.push(run), () => undefined)
    const store = fileStore({ root: at.root, fsync: 'batch', machine: { fs, later } })
    const { lease: held } = await lease(store)
    expect(await append(store, held, [noteEntry(0, 'x')], 'soon')).toBe('ok')
    runs[0]!()
    const waiting = append(store, held, [noteEntry(1, 'x')], 'now')
    await hasBegun
    // Written, and now it waits for the sync that is under way.
    await until(() => writes === 2, 'the second entry to be written')
    fail()
    expect([await waiting, syncs]).toEqual(['io-error', 1])
  })

  it('[E1] a read-only disk is a failure with its name, for writing and for listing', async () => {
    const { lease: held } = await lease(at.store())
    await append(at.store(), held, [noteEntry(0, 'x')])
    const store = withHooks({
      before: (call) => {
        if (/^(open-create|open-append|write|rename|link|makeFolder)/.test(call.name))
          throw systemError('EROFS')
      },
    })
    expect(await store.lease(session)).toMatchObject({
      ok: false,
      why: 'failed',
      failure: { code: 'read-only' },
    })
    const unreadable = withHooks({
      before: (call) => {
        if (call.name === 'names') throw systemError('EACCES')
      },
    })
    const listed = []
    for await (const each of unreadable.list()) listed.push(each)
    expect(listed).toMatchObject([{ ok: false, failure: { code: 'no-access' } }])
  })

  it('[S16] power cut at any moment: what was acknowledged at `now` or `full` is there, and the rest is no damage', async () => {
    for (const policy of ['batch', 'full', 'none'] as const) {
      const power = powerModel(machineFileSystem)
      await node.rm(at.root, { recursive: true, force: true })
      const base = join(at.root, '..')
      const runs: (() => void)[] = []
      const later = (_: number, run: () => void) => (runs.push(run), () => undefined)
      const store = fileStore({ root: at.root, fsync: policy, machine: { fs: power.fs, later } })
      const { lease: held } = await lease(store)
      const durable: number[] = []
      let round = 0
      const check = async (): Promise<void> => {
        const into = join(base, `${policy}-${round++}`)
        await power.cut(base, into)
        const after = fileStore({ root: join(into, 'root'), fsync: 'none' })
        const found = await reading(after.read(session))
        if (durable.length > 0) expect([round, found.failed]).toEqual([round, null])
        expect([round, found.places]).toEqual([round, expect.arrayContaining(durable)])
        expect(found.damage).toEqual([])
        const again = await after.lease(session)
        expect(again.ok || again.why === 'taken').toBe(true)
        if (again.ok) await after.release(again.lease)
      }
      await check()
      for (let place = 0; place < 6; place++) {
        const durability = place % 3 === 2 ? 'now' : 'soon'
        expect(await append(store, held, [noteEntry(place, 'x'.repeat(5000))], durability)).toBe('ok')
        if (policy === 'full' || (policy === 'batch' && durability === 'now'))
          durable.push(...places(0, place))
        await check()
      }
      for (const run of runs) run()
      expect((await store.sync(held)).ok).toBe(true)
      durable.push(...places(0, 5))
      await check()
      expect((await store.putBlob(held, 'b', Buffer.from('blob'))).ok).toBe(true)
      const into = join(base, `${policy}-blob`)
      await power.cut(base, into)
      const got = await fileStore({ root: join(into, 'root') }).getBlob(session, 'b')
      expect(got.ok && Buffer.from(got.bytes).toString()).toBe('blob')
      await store.release(held)
    }
  })

  it('[S17] spilling past the quota is refused by name, leaves nothing behind, and counts what was there before', async () => {
    const store = at.store({ spillQuotaBytes: 1000 })
    const { lease: held } = await lease(store)
    expect((await store.putBlob(held, 'one', Buffer.alloc(600))).ok).toBe(true)
    expect(await store.putBlob(held, 'two', Buffer.alloc(600))).toMatchObject({ failure: { code: 'quota' } })
    expect((await store.putBlob(held, 'three', Buffer.alloc(400))).ok).toBe(true)
    expect((await node.readdir(join(at.folder, 'tool-results'))).sort()).toEqual(['one.txt', 'three.txt'])
    await store.release(held)
    const { lease: later } = await lease(store)
    expect(await store.putBlob(later, 'four', Buffer.alloc(1))).toMatchObject({ failure: { code: 'quota' } })
  })

  it('[S18] everything is readable by its owner only, and removing a session leaves nothing', async () => {
    const store = at.store()
    const { lease: held } = await lease(store)
    await append(store, held, [noteEntry(0, 'x')])
    await store.putBlob(held, 'blob', Buffer.from('x'))
    await store.putCheckpoint(held, { version: 1, upTo: seq(0), state: 1, needs: [] })
    await store.release(held)
    await node.appendFile(at.transcript, '{"v":1,"torn')
    const again = await lease(store)
    expect(again.damage.length).toBe(1)
    const modes = execFileSync('find', [at.folder, '-printf', '%y %m\n'], { encoding: 'utf8' })
      .trim()
      .split('\n')
    expect(new Set(modes)).toEqual(new Set(['d 700', 'f 600', 's 600']))
    const other = at.store()
    expect(await other.remove(session)).toMatchObject({ ok: false, failure: { code: 'session-open' } })
    await node.symlink('/etc', join(at.folder, 'tool-results', 'link'))
    expect((await store.remove(session)).ok).toBe(true)
    expect(await node.readdir(at.root)).toEqual([])
    expect((await node.readdir('/etc')).length).toBeGreaterThan(0)
  })
})
