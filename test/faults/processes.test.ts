import * as node from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { machineProcesses } from '../../src/disk/processes.ts'
import { fileStore } from '../../src/stores/index.ts'
import { noteEntry } from '../../src/testing/store-steps.ts'
import { exited, linesOf, program, type Program } from './child.ts'
import { hookedFileSystem } from './hooked-fs.ts'
import { append, lease, places, reading, storeFolder, session, type StoreFolder } from './store-folder.ts'

describe('other processes', () => {
  let writer: Program
  let at: StoreFolder
  beforeAll(async () => {
    writer = await program('writer-child.ts')
  })
  afterAll(() => writer.remove())
  beforeEach(async () => {
    at = await storeFolder()
  })
  afterEach(() => at.end())

  /** A store to which every owner seems dead. */
  const robber = () => at.store({ machine: { processes: { ...machineProcesses, look: async () => null } } })

  it('[T1] killed at any moment, small entries and large: every acknowledged entry is read again', async () => {
    const plan = [200, 200, 200, 100_000, 100_000, 100_000, 100_000, 3_000_000, 3_000_000, 3_000_000]
    for (const [round, bytes] of plan.entries()) {
      const child = writer.run('write', at.root, String(bytes))
      let last = -1
      // After one to seven entries, and then somewhere in what is being written.
      const most = 1 + ((round * 5) % 7)
      let own = 0
      for await (const said of linesOf(child)) {
        last = Number(said.slice('ack '.length))
        if (++own === most) setTimeout(() => child.kill('SIGKILL'), (round * 37) % 60)
      }
      expect(own).toBeGreaterThanOrEqual(most)
      await exited(child)
      const store = at.store()
      const { lease: held, next } = await lease(store)
      const found = await reading(store.read(session))
      expect(last).toBeGreaterThanOrEqual(0)
      expect(found.places).toEqual(places(0, next! - 1))
      expect(next! - 1).toBeGreaterThanOrEqual(last)
      expect(found.damage).toEqual([])
      await store.release(held)
    }
  })

  it('[T2] eight processes take turns: no place is taken twice, none is missing', async () => {
    const children = Array.from({ length: 8 }, () => writer.run('contend', at.root, '8'))
    const acks: number[] = []
    await Promise.all(
      children.map(async (child) => {
        for await (const said of linesOf(child)) acks.push(Number(said.slice('ack '.length)))
        expect(await exited(child)).toBe(0)
      }),
    )
    expect(acks.sort((a, b) => a - b)).toEqual(places(0, 63))
    expect(await reading(at.store().read(session))).toMatchObject({ places: places(0, 63), damage: [] })
  })

  it('[T2] a paused owner holds and is named; robbed all the same, it is fenced when it wakes', async () => {
    const child = writer.run('hold', at.root)
    const lines = linesOf(child)[Symbol.asyncIterator]()
    const tell = async (): Promise<string> => (
      child.stdin!.write('go\n'),
      (await lines.next()).value as string
    )
    expect((await lines.next()).value).toBe('held')
    expect(await tell()).toBe('ok')
    child.kill('SIGSTOP')
    const store = at.store()
    expect(await store.lease(session)).toMatchObject({
      ok: false,
      why: 'taken',
      owner: { who: expect.stringContaining(`process ${child.pid} on `) as string },
    })
    const thief = robber()
    const { lease: held, next } = await lease(thief)
    expect([held.epoch, next]).toEqual([2, 1])
    expect(await append(thief, held, [noteEntry(1, 'ours')])).toBe('ok')
    child.kill('SIGCONT')
    expect(await tell()).toBe('fenced')
    expect(await append(thief, held, [noteEntry(2, 'ours')])).toBe('ok')
    expect(await reading(store.read(session))).toMatchObject({ places: places(0, 2), damage: [] })
    child.stdin!.end()
    await exited(child)
    await thief.release(held)
    expect((await lease(store)).lease.epoch).toBe(3)
  })

  it('[T2] what a robbed writer lets fall late is never acknowledged, and the new writer notices', async () => {
    let wake = (): void => undefined
    let isWriting = (): void => undefined
    const paused = new Promise<void>((resolve) => (isWriting = resolve))
    let isArmed = false
    const fs = hookedFileSystem(machineFileSystem, {
      before: async (call) => {
        if (!isArmed || call.name !== 'write' || !call.path.endsWith('.jsonl')) return
        isArmed = false
        isWriting()
        await new Promise<void>((resolve) => (wake = resolve))
      },
    })
    const old = fileStore({ root: at.root, fsync: 'none', machine: { fs } })
    const { lease: stale } = await lease(old)
    expect(await append(old, stale, [noteEntry(0, 'both saw it')])).toBe('ok')
    isArmed = true
    const late = append(old, stale, [noteEntry(1, 'late')])
    await paused
    const store = robber()
    const { lease: held } = await lease(store)
    expect(await append(store, held, [noteEntry(1, 'ours')])).toBe('ok')
    wake()
    expect(await late).toBe('fenced')
    expect(await append(store, held, [noteEntry(2, 'more')])).toBe('changed-outside')
    await store.release(held)
    const again = await lease(store)
    expect(again.next).toBe(2)
    expect(await append(store, again.lease, [noteEntry(2, 'more')])).toBe('ok')
    const { entries, damage } = await reading(store.read(session))
    expect(entries).toEqual([noteEntry(0, 'both saw it'), noteEntry(1, 'ours'), noteEntry(2, 'more')])
    expect(damage.map((each) => each.what)).toEqual(['entry number 1 occurs a second time'])
  })

  it('[T2] a transcript that was removed, replaced or cut under the writer is noticed before a word is lost', async () => {
    const attacks = [
      () => node.unlink(at.transcript),
      () => node.rename(at.transcript, `${at.transcript}.bak`),
      () => node.truncate(at.transcript, 10),
      () => node.appendFile(at.transcript, 'echo\n'),
      () => node.rm(at.folder, { recursive: true }),
    ]
    const outcomes: string[] = []
    for (const attack of attacks) {
      await node.rm(at.root, { recursive: true, force: true })
      const store = at.store()
      const { lease: held } = await lease(store)
      expect(await append(store, held, [noteEntry(0, 'x')])).toBe('ok')
      await attack()
      outcomes.push(await append(store, held, [noteEntry(1, 'x')]))
    }
    expect(outcomes).toEqual([
      'changed-outside',
      'changed-outside',
      'changed-outside',
      'changed-outside',
      'fenced',
    ])
  })

  it('[T2] a lock left empty or garbled does not keep the session shut for ever', async () => {
    await node.mkdir(join(at.folder, 'lock'), { recursive: true })
    for (const body of ['', '\0'.repeat(100), '{"pid":']) {
      await node.writeFile(join(at.folder, 'lock', '1'), body)
      expect(await at.store().lease(session)).toMatchObject({ ok: false, why: 'taken' })
      const clock = { now: () => Date.now() + 31_000 }
      const store = at.store({ machine: { clock } })
      const { lease: held } = await lease(store)
      expect(held.epoch).toBe(2)
      await node.rm(join(at.folder, 'lock'), { recursive: true })
      await node.mkdir(join(at.folder, 'lock'))
    }
  })

  it('[A10] a link planted at any path we make is refused, and nothing is written through it', async () => {
    const outside = join(at.root, '..', 'outside')
    const plant = {
      session: async () => node.symlink(outside, at.folder),
      transcript: async () => (
        await node.mkdir(at.folder),
        await node.symlink(join(outside, 'victim'), at.transcript)
      ),
      lock: async () => (await node.mkdir(at.folder), await node.symlink(outside, join(at.folder, 'lock'))),
      blobs: async () => (
        await node.mkdir(at.folder),
        await node.symlink(outside, join(at.folder, 'tool-results'))
      ),
      blob: async () => {
        await node.mkdir(join(at.folder, 'tool-results'), { recursive: true })
        await node.symlink(join(outside, 'victim'), join(at.folder, 'tool-results', 'b.txt'))
      },
      damage: async () => {
        await at.write(Buffer.from('{"v":1,"torn'))
        await node.symlink(outside, join(at.folder, 'damage'))
      },
      checkpoint: async () => {
        await node.mkdir(at.folder)
        await node.symlink(join(outside, 'victim'), join(at.folder, 'checkpoint.json'))
      },
      hardlink: async () => (
        await node.mkdir(at.folder),
        await node.link(join(outside, 'victim'), at.transcript)
      ),
    }
    for (const [name, planted] of Object.entries(plant)) {
      await node.rm(at.root, { recursive: true, force: true })
      await node.rm(outside, { recursive: true, force: true })
      await node.mkdir(at.root)
      await node.mkdir(outside)
      await node.writeFile(join(outside, 'victim'), 'untouched')
      await planted()
      const store = at.store()
      const held = await store.lease(session)
      const outcomes = [held.ok]
      if (held.ok) {
        outcomes.push((await store.append(held.lease, [noteEntry(0, 'x')], 0 as never, 'now')).ok)
        outcomes.push((await store.putBlob(held.lease, 'b', Buffer.from('blob'))).ok)
        await store.putCheckpoint(held.lease, { version: 1, upTo: 0 as never, state: 1, needs: [] })
        await store.getCheckpoint(session)
        await store.release(held.lease)
      }
      // A checkpoint is replaced by rename, which takes the place of the link; so is a transcript with a second name.
      expect([name, outcomes.every(Boolean)]).toEqual([name, name === 'checkpoint' || name === 'hardlink'])
      expect([name, await node.readdir(outside)]).toEqual([name, ['victim']])
      expect([name, await node.readFile(join(outside, 'victim'), 'utf8')]).toEqual([name, 'untouched'])
    }
  })
})
