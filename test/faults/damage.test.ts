import * as node from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { frame } from '../../src/stores/files/line-frame.ts'
import { noteEntry } from '../../src/testing/store-steps.ts'
import { encode } from '../../src/transcript/codec.ts'
import { seq } from '../../src/transcript/ids.ts'
import { hookedFileSystem } from './hooked-fs.ts'
import { append, lease, places, reading, storeFolder, session, type StoreFolder } from './store-folder.ts'

const line = (place: number, text = `entry ${place}`): Buffer => frame(encode(noteEntry(place, text)))!
const bare = (place: number, text = `entry ${place}`): Buffer =>
  Buffer.from(`${encode(noteEntry(place, text))}\n`)
const lines = (from: number, to: number): Buffer[] => places(from, to).map((place) => line(place))

describe('damaged transcripts', () => {
  let at: StoreFolder
  beforeEach(async () => {
    at = await storeFolder()
  })
  afterEach(() => at.end())

  /** A folder in which nobody has written yet: what a release leaves beside a transcript belongs to that one. */
  const anew = async (): Promise<void> => {
    await at.end()
    at = await storeFolder()
  }
  const read = () => reading(at.store().read(session))
  const readBack = () => reading(at.store().readBack(session))

  it('[T1] a file cut at any byte gives every whole entry, keeps the cut bytes, and takes the next append', async () => {
    const records = [line(0), line(1, 'zweite 🔥 ünf'), line(2)]
    const file = Buffer.concat(records)
    const ends = records.map((_, index) => Buffer.concat(records.slice(0, index + 1)).byteLength)
    for (let cut = 0; cut <= file.byteLength; cut++) {
      await anew()
      await at.write(file.subarray(0, cut))
      // Without its line feed an entry is whole all the same: the checksum says so.
      const whole = ends.filter((end) => cut >= end - 1).length
      const store = at.store()
      const { lease: held, next, damage } = await lease(store)
      expect([cut, next]).toEqual([cut, whole === 0 ? null : whole])
      const isTorn = cut > 0 && !ends.includes(cut)
      expect(damage.length).toBe(isTorn ? 1 : 0)
      const kept = damage[0]?.done.match(/kept in (.+)$/)?.[1]
      if (kept !== undefined) {
        const aside = await node.readFile(join(at.folder, kept))
        expect(aside).toEqual(file.subarray(damage[0]!.at, cut))
      }
      expect(await append(store, held, [noteEntry(whole, 'after')])).toBe('ok')
      await store.release(held)
      const fresh = line(whole, 'after')
      expect([cut, (await at.bytes()).at(-fresh.byteLength - 1)]).toEqual([
        cut,
        whole === 0 ? undefined : 0x0a,
      ])
      const after = await read()
      expect([cut, after.places, after.damage]).toEqual([cut, places(0, whole), []])
    }
  })

  it('[T1] any single flipped bit costs at most one entry, and the loss is reported', async () => {
    const texts = ['', 'x', '日本語 🔥', 'J*J*J* "quoted" \\ {"v":1,"seq":3}', 'y'.repeat(300)]
    const records = places(0, 39).map((place) => line(place, texts[place % texts.length]))
    const file = Buffer.concat(records)
    let lossless = 0
    const check = async (offset: number, bit: number): Promise<void> => {
      const flipped = Buffer.from(file)
      flipped[offset]! ^= 1 << bit
      await at.write(flipped)
      for (const each of [await read(), await readBack()]) {
        const missing = places(0, 39).filter((place) => !each.places.includes(place))
        expect(missing.length).toBeLessThanOrEqual(1)
        expect(each.damage.length).toBeGreaterThan(0)
        const isEdge = missing[0] === 0 || missing[0] === 39
        if (missing.length === 1 && !isEdge) {
          expect(
            each.damage.some((damage) => damage.lost?.from === missing[0] && damage.lost?.to === missing[0]),
          ).toBe(true)
        }
        if (missing.length === 0) lossless++
        for (const entry of each.entries)
          expect('fact' in entry && frame(encode(entry))).toEqual(records[entry.seq])
      }
    }
    await fc.assert(fc.asyncProperty(fc.nat({ max: file.byteLength - 1 }), fc.nat({ max: 7 }), check), {
      numRuns: 1000,
      seed: 7,
    })
    // The line feeds are few, so random offsets rarely meet one.
    let end = -1
    for (const record of records) {
      end += record.byteLength
      for (const bit of [0, 3, 5]) await check(end, bit)
    }
    expect(lossless).toBeGreaterThan(100)
  })

  it('[T1] a flipped bit in the last entry does not take the place before it, and the next append is read', async () => {
    const records = lines(0, 4)
    const file = Buffer.concat(records)
    const lastAt = file.byteLength - records[4]!.byteLength
    for (let offset = lastAt; offset < file.byteLength; offset++) {
      const flipped = Buffer.from(file)
      flipped[offset]! ^= 1 << (offset % 8)
      await anew()
      await at.write(flipped)
      const store = at.store()
      const { lease: held, next } = await lease(store)
      expect([4, 5]).toContain(next)
      expect(await append(store, held, [noteEntry(next!, 'after')])).toBe('ok')
      await store.release(held)
      expect((await read()).places).toEqual(places(0, next!))
    }
  })

  it('[S21] a run of zero bytes in the middle costs what it replaced and no more', async () => {
    for (const zeros of [200, 700, 300_000]) {
      const hole = Buffer.alloc(zeros)
      await at.write(Buffer.concat([...lines(0, 2), hole, ...lines(3, 5)]))
      expect((await read()).places).toEqual(places(0, 5))
      await at.write(
        Buffer.concat([...lines(0, 2), line(3).subarray(0, 40), hole, Buffer.from('\n'), ...lines(4, 5)]),
      )
      const { places: found, damage } = await read()
      expect(found).toEqual([0, 1, 2, 4, 5])
      expect(damage).toMatchObject([{ where: 'transcript.jsonl:4', lost: { from: 3, to: 3 } }])
      expect((await readBack()).places).toEqual([5, 4, 2, 1, 0])
    }
  })

  it('[S22] a cut line in the middle is one loss, and the lines after it stand', async () => {
    const cut = Buffer.concat([line(1).subarray(0, 25), Buffer.from('\n')])
    await at.write(Buffer.concat([line(0), cut, ...lines(2, 4)]))
    const { places: found, damage } = await read()
    expect(found).toEqual([0, 2, 3, 4])
    expect(damage).toMatchObject([
      { where: 'transcript.jsonl:2', at: line(0).byteLength, lost: { from: 1, to: 1 } },
    ])
    const { next } = await lease(at.store())
    expect(next).toBe(5)
  })

  it('[S23] two entries on one line, and a cut one before a whole one, with and without checksums', async () => {
    const glued = (...parts: Buffer[]): Buffer => Buffer.concat(parts)
    const open = (record: Buffer): Buffer => record.subarray(0, -1)
    await at.write(glued(line(0), open(line(1)), line(2), line(3).subarray(0, 50), line(4), line(5)))
    expect(await read()).toMatchObject({ places: [0, 1, 2, 4, 5], damage: [{ lost: { from: 3, to: 3 } }] })
    await at.write(glued(bare(0), open(bare(1)), bare(2), bare(3).subarray(0, 50), bare(4), bare(5)))
    expect((await read()).places).toEqual([0, 1, 2, 4, 5])
    expect((await readBack()).places).toEqual([5, 4, 2, 1, 0])
  })

  it('[S24] after a torn tail the next entry survives', async () => {
    await at.write(Buffer.concat([...lines(0, 3), line(4).subarray(0, 60)]))
    const store = at.store()
    const { lease: held, next, damage } = await lease(store)
    expect([next, damage.length]).toEqual([4, 1])
    expect(await append(store, held, [noteEntry(4, 'again')])).toBe('ok')
    expect(await read()).toMatchObject({ places: places(0, 4), damage: [] })
    const aside = await node.readdir(join(at.folder, 'damage'))
    expect(aside.length).toBe(1)
  })

  it('[S25] parents that dangle, are shared or lie elsewhere hide no entry; order is the order of the file', async () => {
    const parents = ['gone', 'entry-0', 'entry-0', 'sidechain', 'summary text', 'entry-9', 'entry-6']
    const records = parents.map((parent, place) => {
      const entry = { ...noteEntry(place, 'x'), parent: parent as never, at: 1000 - place }
      return frame(encode(entry))!
    })
    await at.write(Buffer.concat(records))
    expect(await read()).toMatchObject({ places: places(0, 6), damage: [] })
  })

  it('[S26] a line longer than any that is written is passed over in bounded memory', async () => {
    const handle = await node.open(await made(at), 'w')
    await handle.write(Buffer.concat(lines(0, 1)))
    const part = Buffer.alloc(1024 * 1024, 'x')
    for (let count = 0; count < 256; count++) await handle.write(part)
    await handle.write(Buffer.concat([Buffer.from('\n'), ...lines(2, 3)]))
    await handle.close()
    const before = process.memoryUsage().rss
    const forward = await read()
    const back = await readBack()
    expect(process.memoryUsage().rss - before).toBeLessThan(120 * 1024 * 1024)
    expect([forward.places, back.places]).toEqual([places(0, 3), [3, 2, 1, 0]])
    expect([forward.damage.length, back.damage.length]).toEqual([1, 1])
    expect(forward.damage[0]).toMatchObject({ where: 'transcript.jsonl:3' })
  })

  it('[S26] a transcript of 24 GB is opened, read back and continued at its end', async () => {
    await at.write(Buffer.concat(lines(0, 1)))
    const bytes = 24 * 1024 ** 3
    await node.truncate(at.transcript, bytes)
    await node.appendFile(at.transcript, Buffer.concat([Buffer.from('\n'), ...lines(3, 900)]))
    const store = at.store()
    const { lease: held, next } = await lease(store)
    expect(next).toBe(901)
    expect(await append(store, held, [noteEntry(901, 'on')])).toBe('ok')
    const newest: number[] = []
    for await (const item of store.readBack(session)) {
      if (item.kind === 'entry') newest.push(item.entry.seq)
      if (newest.length === 500) break
    }
    expect(newest).toEqual(places(402, 901).reverse())
  })

  it('[S27] of a place taken twice the first counts, the second is reported, and the next is free for certain', async () => {
    await at.write(Buffer.concat([...lines(0, 7), line(6, 'other'), line(7, 'other'), line(8)]))
    const { entries, damage } = await read()
    expect(entries.map((entry) => frame(encode(entry as never)))).toEqual(lines(0, 8))
    expect(damage.map((each) => each.what)).toEqual(
      [6, 7].map((place) => `entry number ${place} occurs a second time`),
    )
    await at.write(Buffer.concat([...lines(0, 9), line(6, 'other')]))
    expect((await lease(at.store())).next).toBe(10)
  })

  it('[S28] an acknowledged entry stands in the file at once', async () => {
    const store = at.store()
    const { lease: held } = await lease(store)
    for (let place = 0; place < 20; place++) {
      expect(await append(store, held, [noteEntry(place, 'typed while busy')], 'now')).toBe('ok')
      expect((await read()).places.at(-1)).toBe(place)
    }
  })

  it('[S13] lines without checksum are read and said once; carriage returns do no harm', async () => {
    await at.write(Buffer.concat([bare(0), bare(1), line(2), bare(3)]))
    const { places: found, damage } = await read()
    expect(found).toEqual(places(0, 3))
    expect(damage.map((each) => each.where)).toEqual(['transcript.jsonl:1'])
    const crlf = Buffer.from(Buffer.concat(lines(0, 3)).toString().replaceAll('\n', '\r\n'))
    await at.write(crlf)
    expect(await read()).toMatchObject({ places: places(0, 3), damage: [] })
    const { lease: held, next } = await lease(at.store())
    expect([next, held.epoch]).toEqual([4, 1])
  })

  it('[S29] a line without checksum hides none that has one, wherever it claims to stand', async () => {
    for (const place of [400, 2 ** 53 - 2]) {
      for (const at_ of [0, 6, 22]) {
        const planted = [...lines(0, 21)]
        planted.splice(at_, 0, bare(place, 'planted'))
        await at.write(Buffer.concat(planted))
        // What stands first may be any place; there is nothing to judge it by but what follows.
        expect([place, at_, (await read()).places]).toEqual([place, at_, places(0, 21)])
        expect([place, at_, (await readBack()).places.toReversed()]).toEqual([place, at_, places(0, 21)])
        const store = at.store()
        const { lease: held, next } = await lease(store)
        expect([place, at_, next]).toEqual([place, at_, 22])
        expect(await append(store, held, [noteEntry(22, 'on')])).toBe('ok')
        await store.release(held)
        expect((await read()).places).toEqual(places(0, 22))
        await node.rm(at.folder, { recursive: true })
      }
    }
    await at.write(Buffer.concat([...lines(0, 4), bare(5, 'planted'), line(5), ...lines(6, 8)]))
    const { entries } = await read()
    expect(entries.map((entry) => frame(encode(entry as never)))).toEqual(lines(0, 8))
  })

  it('[S30] lines that changed places or stand twice cost at most themselves, in every direction and range', async () => {
    for (const [from, to] of [
      [0, 12],
      [3, 20],
      [7, 8],
      [19, 39],
    ] as const) {
      const swapped = lines(0, 39)
      ;[swapped[from], swapped[to]] = [swapped[to]!, swapped[from]!]
      await at.write(Buffer.concat(swapped))
      const hit = new Set<number>([from, to])
      const others = places(0, 39).filter((place) => !hit.has(place))
      for (const each of [await read(), await readBack()]) {
        expect([from, to, each.places]).toEqual([from, to, expect.arrayContaining(others)])
        expect(each.damage.length).toBeGreaterThan(0)
      }
      const range = { from: seq(5), to: seq(30) }
      const inRange = (await reading(at.store().read(session, range))).places
      expect([from, to, inRange]).toEqual([
        from,
        to,
        expect.arrayContaining(others.filter((n) => n >= 5 && n <= 30)),
      ])
      const back = (await reading(at.store().readBack(session, seq(11)))).places
      expect([from, to, back]).toEqual([from, to, expect.arrayContaining(others.filter((n) => n < 11))])
    }
  })

  it('[S31] the first line is read from its copy, and an end that is missing is known', async () => {
    const store = at.store()
    const { lease: held } = await lease(store)
    for (const place of places(0, 9)) expect(await append(store, held, [noteEntry(place, 'x')])).toBe('ok')
    await store.release(held)
    const whole = await at.bytes()
    const all = whole.toString('utf8').split('\n')
    const first = Buffer.from(whole)
    first[20]! ^= 1
    for (const bytes of [first, Buffer.from(all.slice(1).join('\n'))]) {
      await node.writeFile(at.transcript, bytes)
      expect((await read()).places).toEqual(places(0, 9))
      expect((await readBack()).places.toReversed()).toEqual(places(0, 9))
      expect((await read()).damage.map((each) => each.what)).toContain('the first line cannot be read')
    }
    await node.writeFile(at.transcript, `${all.slice(0, 7).join('\n')}\n`)
    const again = await lease(at.store())
    expect(again.next).toBe(10)
  })

  it('[S14] ranges are right across damage', async () => {
    const records = places(0, 3999).map((place) => line(place, 'z'.repeat(900)))
    for (const bad of [100, 1999, 2000, 2001, 3990]) records[bad]![50]! ^= 1
    await at.write(Buffer.concat(records))
    const store = at.store()
    const whole = (await read()).places
    for (const [from, to] of [
      [0, 3],
      [99, 101],
      [1990, 2010],
      [3500, 3600],
      [3988, 3999],
      [2000, 2000],
    ] as const) {
      const expected = whole.filter((place) => place >= from && place <= to)
      expect((await reading(store.read(session, { from: seq(from), to: seq(to) }))).places).toEqual(expected)
      const back = await reading(store.readBack(session, seq(to + 1)))
      expect(back.places.slice(0, expected.length)).toEqual([...expected].reverse())
    }
  })

  it('[S14] a place is found without reading what lies before it', async () => {
    const count = 40_000
    await at.write(Buffer.concat(places(0, count - 1).map((place) => line(place, 'z'.repeat(900)))))
    let reads = 0
    const before = (call: { name: string }): void => void (call.name === 'read' && reads++)
    const store = at.store({ machine: { fs: hookedFileSystem(machineFileSystem, { before }) } })
    const range = { from: seq(count - 300), to: seq(count - 200) }
    expect((await reading(store.read(session, range))).places).toEqual(places(range.from, range.to))
    const { next } = await lease(store)
    expect(next).toBe(count)
    // Of the 160 blocks that a reading from the start would take.
    expect(reads).toBeLessThan(30)
  })

  it('[S14] the search never passes the place it looks for', async () => {
    const records = places(0, 39).map((place) => line(place, 'z'.repeat(100_000)))
    await at.write(Buffer.concat(records))
    for (const place of places(0, 39)) {
      const found = await reading(at.store().read(session, { from: seq(place) }))
      expect(found.places).toEqual(places(place, 39))
      const before = await reading(at.store().readBack(session, seq(place)))
      expect(before.places).toEqual(places(0, place - 1).reverse())
    }
  })

  it('[S10] a checkpoint is believed only while its entry stands as it did', async () => {
    const store = at.store()
    const { lease: held } = await lease(store)
    await append(
      store,
      held,
      places(0, 9).map((place) => noteEntry(place, 'x')),
    )
    const checkpoint = { version: 1, upTo: seq(6), state: { a: 1 }, needs: [] }
    expect((await store.putCheckpoint(held, checkpoint)).ok).toBe(true)
    await store.release(held)
    const good = await at.bytes()
    const size = line(0, 'x').byteLength
    expect(await at.store().getCheckpoint(session)).toEqual(checkpoint)
    await at.write(good.subarray(0, 7 * size - 1))
    expect(await at.store().getCheckpoint(session)).toBe(null)
    const changed = Buffer.from(good)
    line(6, 'y').copy(changed, 6 * size)
    await at.write(changed)
    expect(await at.store().getCheckpoint(session)).toBe(null)
    await at.write(good)
    const path = join(at.folder, 'checkpoint.json')
    const stored = await node.readFile(path)
    expect(await at.store().getCheckpoint(session)).toEqual(checkpoint)
    for (let offset = 0; offset < stored.byteLength; offset += 3) {
      const flipped = Buffer.from(stored)
      flipped[offset]! ^= 4
      await node.writeFile(path, flipped)
      expect([offset, await at.store().getCheckpoint(session)]).toEqual([offset, null])
    }
  })
})

async function made(at: StoreFolder): Promise<string> {
  await at.write(Buffer.alloc(0))
  return at.transcript
}
