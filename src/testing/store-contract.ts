// What every store must do, as cases that any test runner can run: each throws when the store breaks its promise.
//
//   for (const item of storeContract) it(`[${item.rule}] ${item.title}`, () => item.run(makeStore))
//
// `makeStore` gives a store over an empty place. What only files can suffer (torn lines, other processes) is not here.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { encode } from '../transcript/codec.ts'
import type { StoredEntry } from '../transcript/fact.ts'
import { seq, sessionId, type Seq } from '../transcript/ids.ts'
import { storeWith, type Lease, type Store } from '../transcript/store.ts'
import { listingCases } from './store-listing-contract.ts'
import {
  checkpointAt,
  codeOf,
  readEntries,
  entryFrom,
  failing,
  failureCode,
  inParts,
  itemsOf,
  leased,
  namesOf,
  noteEntry,
  notes,
  released,
  stored,
  type ContractCase,
} from './store-steps.ts'

export type { ContractCase }

const main = sessionId('session-one')

/** The case, leaving no lease behind however it ends: a lease may hold files open. */
const leavingNothingOpen = (item: ContractCase): ContractCase => ({
  ...item,
  run: async (makeStore) => {
    const releases: (() => Promise<unknown>)[] = []
    try {
      await item.run(async () => {
        const store = await makeStore()
        const lease: Store['lease'] = async (session) => {
          const outcome = await store.lease(session)
          if (outcome.ok) releases.push(() => store.release(outcome.lease))
          return outcome
        }
        return storeWith(store, { lease })
      })
    } finally {
      for (const release of releases) await release()
    }
  },
})

/** A case of a new store whose one session is leased. */
const onMain =
  (run: (store: Store, lease: Lease) => Promise<void>): ContractCase['run'] =>
  async (makeStore) => {
    const store = await makeStore()
    await run(store, (await leased(store, main)).lease)
  }

const cases: readonly ContractCase[] = [
  {
    rule: 'S2',
    title: 'what was appended is read back in order, whole, and again by a second reading',
    run: async (makeStore) => {
      const store = await makeStore()
      const { lease, next } = await leased(store, main)
      assert.equal(next, null)
      await stored(store, lease, notes(0, 2), 0)
      await stored(store, lease, notes(3, 3), 3)
      assert.deepEqual(await readEntries(store.read(main)), notes(0, 3))
      assert.deepEqual(await readEntries(store.read(main)), notes(0, 3))
      await released(store, lease)
      assert.equal((await leased(store, main)).next, 4)
    },
  },
  {
    rule: 'S2',
    title: 'ranges hold both ends, and a range that lies elsewhere is empty',
    run: onMain(async (store, lease) => {
      await stored(store, lease, notes(0, 9), 0)
      const places = async (range: { from?: Seq; to?: Seq }): Promise<number[]> =>
        (await readEntries(store.read(main, range))).map((entry) => entry.seq)
      assert.deepEqual(await places({ from: seq(3), to: seq(5) }), [3, 4, 5])
      assert.deepEqual(await places({ from: seq(8) }), [8, 9])
      assert.deepEqual(await places({ to: seq(1) }), [0, 1])
      assert.deepEqual(await places({ from: seq(4), to: seq(4) }), [4])
      assert.deepEqual(await places({ from: seq(10) }), [])
      assert.deepEqual(await places({ from: seq(5), to: seq(4) }), [])
    }),
  },
  {
    rule: 'S3',
    title: 'reading back gives the newest first, from the end or from before a place',
    run: onMain(async (store, lease) => {
      await stored(store, lease, notes(0, 5), 0)
      const back = async (before?: Seq): Promise<number[]> =>
        (await readEntries(store.readBack(main, before))).map((entry) => entry.seq)
      assert.deepEqual(await back(), [5, 4, 3, 2, 1, 0])
      assert.deepEqual(await back(seq(3)), [2, 1, 0])
      assert.deepEqual(await back(seq(0)), [])
      assert.deepEqual(await back(seq(99)), [5, 4, 3, 2, 1, 0])
    }),
  },
  {
    rule: 'S4',
    title: 'an empty session takes any first place and goes on counting from there',
    run: onMain(async (store, lease) => {
      await stored(store, lease, notes(40, 42), 40)
      assert.deepEqual(await readEntries(store.read(main)), notes(40, 42))
      assert.deepEqual(await readEntries(store.read(main, { from: seq(0), to: seq(41) })), notes(40, 41))
      await released(store, lease)
      assert.equal((await leased(store, main)).next, 43)
    }),
  },
  {
    rule: 'T2',
    title: 'a taken place is refused with the next free one, and nothing of the append is kept',
    run: onMain(async (store, lease) => {
      await stored(store, lease, notes(0, 1), 0)
      for (const wrong of [0, 1, 3]) {
        const outcome = await store.append(lease, notes(wrong, wrong + 1), seq(wrong), 'now')
        assert.deepEqual(outcome, { ok: false, why: 'seq-taken', next: 2 })
      }
      const crooked = await store.append(lease, [...notes(2, 2), ...notes(4, 4)], seq(2), 'now')
      assert.equal(!crooked.ok && crooked.why === 'failed' && crooked.failure.code, 'bad-entry')
      assert.deepEqual(await readEntries(store.read(main)), notes(0, 1))
      await stored(store, lease, notes(2, 2), 2)
    }),
  },
  {
    rule: 'T2',
    title: 'a session has one writer; the second is told who it is, and epochs grow',
    run: async (makeStore) => {
      const store = await makeStore()
      const first = await leased(store, main)
      const second = await store.lease(main)
      assert.ok(!second.ok && second.why === 'taken')
      assert.ok(second.owner.who !== '' && second.owner.since > 0)
      assert.equal((await store.lease(sessionId('another'))).ok, true)
      await released(store, first.lease)
      assert.ok((await leased(store, main)).lease.epoch > first.lease.epoch)
    },
  },
  {
    rule: 'T2',
    title: 'a lease that was given back is fenced, whatever it tries',
    run: async (makeStore) => {
      const store = await makeStore()
      const { lease: old } = await leased(store, main)
      await stored(store, old, notes(0, 0), 0)
      await released(store, old)
      const early = await store.append(old, notes(1, 1), seq(1), 'now')
      assert.deepEqual(early, { ok: false, why: 'fenced', owner: null })
      const { lease } = await leased(store, main)
      const late = await store.append(old, notes(1, 1), seq(1), 'now')
      assert.ok(!late.ok && late.why === 'fenced' && late.owner !== null && late.owner.who !== '')
      assert.equal((await store.putBlob(old, 'x', Buffer.from('x'))).ok, false)
      assert.equal((await store.putCheckpoint(old, checkpointAt(0))).ok, false)
      assert.equal((await store.sync(old)).ok, false)
      await released(store, old)
      await stored(store, lease, notes(1, 1), 1)
      assert.deepEqual(await readEntries(store.read(main)), notes(0, 1))
    },
  },
  {
    rule: 'S5',
    title: 'text of any script, line separators and control characters come back as they were',
    run: onMain(async (store, lease) => {
      const texts = [
        '修复登录',
        '👩‍👩‍👧 🔥',
        'a\u2028b\u2029c',
        'line\nfeed\r\n',
        '\0\u0001\u001b[31m',
        '\ud83d alone',
        '"},"crc":"00000000"}',
        '',
      ]
      const entries = texts.map((text, index) => noteEntry(index, text))
      await stored(store, lease, entries, 0)
      assert.deepEqual(await readEntries(store.read(main)), entries)
      assert.deepEqual(await readEntries(store.readBack(main)), [...entries].reverse())
    }),
  },
  {
    rule: 'T3',
    title: 'an entry of an unknown kind comes back byte for byte, from one store into another',
    run: async (makeStore) => {
      const lines = [
        '{"v":1,"seq":0,"uuid":"u","parent":null,"at":1,"fact":{"type":"from-tomorrow","x":[1.0,1e3]}}',
        '{"v":7,"seq":1,"z":"\\u0041 ä","nested":{"crc":"x"}}',
        '{ "v":1,"seq":2,"uuid":"u","parent":null,"at":1,"fact":{"type":"view-edit","layer":"l","asked":"user","why":"w","tokensFreed":1,"edits":[{"kind":"new"}]} }',
      ]
      let entries: StoredEntry[] = lines.map(entryFrom)
      for (let round = 0; round < 2; round++) {
        const store = await makeStore()
        const { lease } = await leased(store, main)
        await stored(store, lease, entries, 0)
        entries = await readEntries(store.read(main))
        assert.deepEqual(entries.map(encode), lines)
      }
    },
  },
  {
    rule: 'S7',
    title: 'an entry that is too long is refused by name and the session goes on',
    run: onMain(async (store, lease) => {
      const outcome = await store.append(lease, [noteEntry(0, 'x'.repeat(17 * 1024 * 1024))], seq(0), 'none')
      assert.equal(!outcome.ok && outcome.why === 'failed' && outcome.failure.code, 'too-large')
      await stored(store, lease, notes(0, 0), 0)
    }),
  },
  {
    rule: 'S8',
    title: 'a missing session is one failure, and an empty append changes nothing',
    run: async (makeStore) => {
      const store = await makeStore()
      for (const reading of [store.read(main), store.readBack(main)]) {
        assert.deepEqual((await itemsOf(reading)).map(failureCode), ['no-such-session'])
      }
      assert.equal(await store.getCheckpoint(main), null)
      assert.equal(codeOf(await store.getBlob(main, 'x')), 'not-found')
      assert.equal(codeOf(await store.remove(main)), 'no-such-session')
      const { lease } = await leased(store, main)
      assert.deepEqual(await store.append(lease, [], seq(0), 'now'), { ok: true })
      assert.deepEqual(await namesOf(store), [])
    },
  },
  {
    rule: 'S9',
    title: 'a blob is kept once, whole, under a safe name, and read in parts',
    run: onMain(async (store, lease) => {
      const bytes = Buffer.from('grüße 🔥 '.repeat(1000))
      const names = ['toolu_01AbC', '../../escape', '/etc/passwd', 'nul', 'a\0b', 'x'.repeat(300), '‮evil', '']
      const blobs = new Set<string>()
      for (const name of names) {
        const put = await store.putBlob(lease, name, inParts(bytes))
        assert.ok(put.ok, name)
        assert.match(put.blob, /^[A-Za-z0-9_-]{1,128}$/)
        assert.equal(put.bytes, bytes.byteLength)
        assert.equal(put.sha256, createHash('sha256').update(bytes).digest('hex'))
        blobs.add(put.blob)
        const got = await store.getBlob(main, put.blob)
        assert.ok(got.ok && Buffer.from(got.bytes).equals(bytes))
      }
      assert.equal(blobs.size, names.length)
      assert.deepEqual(await store.blobs(main), { ok: true, names: [...blobs].sort() })
      assert.deepEqual(await store.blobs(sessionId('none')), { ok: true, names: [] })
      const part = await store.getBlob(main, 'toolu_01AbC', { offset: 3, length: 5 })
      assert.ok(
        part.ok && part.total === bytes.byteLength && Buffer.from(part.bytes).equals(bytes.subarray(3, 8)),
      )
      const past = await store.getBlob(main, 'toolu_01AbC', { offset: bytes.byteLength + 9, length: 5 })
      assert.ok(past.ok && past.bytes.byteLength === 0)
      assert.equal((await store.putBlob(lease, 'toolu_01AbC', bytes)).ok, true)
      assert.equal(codeOf(await store.putBlob(lease, 'toolu_01AbC', Buffer.from('other'))), 'exists')
      assert.equal(codeOf(await store.putBlob(lease, 'broken', failing())), 'source-failed')
      assert.equal(codeOf(await store.getBlob(main, 'broken')), 'not-found')
    }),
  },
  {
    rule: 'S10',
    title: 'the newest checkpoint comes back as it was, and one that covers what is not written is refused',
    run: onMain(async (store, lease) => {
      assert.equal(codeOf(await store.putCheckpoint(lease, checkpointAt(0))), 'not-found')
      await stored(store, lease, notes(0, 9), 0)
      assert.equal(codeOf(await store.putCheckpoint(lease, checkpointAt(10))), 'not-found')
      for (const place of [9, 4]) {
        assert.equal((await store.putCheckpoint(lease, checkpointAt(place))).ok, true)
        assert.deepEqual(await store.getCheckpoint(main), checkpointAt(place))
      }
      await stored(store, lease, notes(10, 12), 10)
      assert.deepEqual(await store.getCheckpoint(main), checkpointAt(4))
    }),
  },
  ...listingCases,
  {
    rule: 'S12',
    title: 'appends made at once are stored one after another, each with the outcome it deserves',
    run: onMain(async (store, lease) => {
      const outcomes = await Promise.all(
        Array.from({ length: 30 }, (_, place) =>
          store.append(
            lease,
            [noteEntry(place, 'at once')],
            seq(place),
            (['now', 'soon', 'none'] as const)[place % 3]!,
          ),
        ),
      )
      assert.ok(outcomes.every((outcome) => outcome.ok))
      assert.equal((await store.sync(lease)).ok, true)
      assert.equal((await readEntries(store.read(main))).length, 30)
    }),
  },
]

/** What every store must do, as cases for any test runner. */
export const storeContract: readonly ContractCase[] = cases.map(leavingNothingOpen)
