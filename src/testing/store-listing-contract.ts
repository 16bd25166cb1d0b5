// The cases of the store contract that ask which sessions there are and who writes them.
import assert from 'node:assert/strict'
import { seq, sessionId, type SessionId } from '../transcript/ids.ts'
import type { Lease } from '../transcript/store.ts'
import {
  checkpointAt,
  codeOf,
  leased,
  namesOf,
  notes,
  released,
  stored,
  type ContractCase,
} from './store-steps.ts'

export const listingCases: readonly ContractCase[] = [
  {
    rule: 'S11',
    title: 'sessions are listed newest first with their size, and removing one leaves nothing of it',
    run: async (makeStore) => {
      const store = await makeStore()
      const leases = new Map<SessionId, Lease>()
      for (const name of ['first', 'second', 'third'].map(sessionId)) {
        const { lease } = await leased(store, name)
        await stored(store, lease, notes(0, 1), 0)
        leases.set(name, lease)
        await new Promise((resolve) => setTimeout(resolve, 15))
      }
      await stored(store, leases.get(sessionId('first'))!, notes(2, 2), 2)
      assert.deepEqual(await namesOf(store), ['first', 'third', 'second'])
      await store.putBlob(leases.get(sessionId('third'))!, 'blob', Buffer.from('x'))
      await store.putCheckpoint(leases.get(sessionId('third'))!, checkpointAt(1))
      assert.equal((await store.remove(sessionId('third'))).ok, true)
      assert.deepEqual(await namesOf(store), ['first', 'second'])
      assert.equal(await store.getCheckpoint(sessionId('third')), null)
      assert.equal(codeOf(await store.getBlob(sessionId('third'), 'blob')), 'not-found')
      const late = await store.append(leases.get(sessionId('third'))!, notes(2, 2), seq(2), 'now')
      assert.ok(!late.ok && late.why === 'fenced')
      assert.equal((await leased(store, sessionId('third'))).next, null)
    },
  },
  {
    rule: 'S11',
    title:
      'of one session that is named only its own line is listed, and none where there is no such session',
    run: async (makeStore) => {
      const store = await makeStore()
      for (const name of ['first', 'second'].map(sessionId))
        await stored(store, (await leased(store, name)).lease, notes(0, 1), 0)
      assert.deepEqual(await namesOf(store, sessionId('first')), ['first'])
      for (const none of ['fir', '', '.', '../first', 'first/', 'second\0'])
        assert.deepEqual(await namesOf(store, sessionId(none)), [], none)
    },
  },
  {
    rule: 'S42',
    title: 'who writes is told of those sessions that are asked about and that somebody writes',
    run: async (makeStore) => {
      const store = await makeStore()
      const [written, free, other] = ['written', 'free', 'other'].map(sessionId) as [
        SessionId,
        SessionId,
        SessionId,
      ]
      const { lease } = await leased(store, written)
      await released(store, (await leased(store, free)).lease)
      await leased(store, other)
      const owners = await store.owners([written, free, sessionId('none')])
      assert.deepEqual([...owners.keys()], [written])
      const taken = await store.lease(written)
      assert.ok(!taken.ok && taken.why === 'taken')
      assert.equal(owners.get(written)?.who, taken.owner.who)
      assert.equal(owners.get(written)?.since, taken.owner.since)
      assert.deepEqual(await store.owners([]), new Map())
      await released(store, lease)
      assert.deepEqual(await store.owners([written]), new Map())
    },
  },
]
