import { describe, expect, it } from 'vitest'
import { inMemoryStore } from '../stores/in-memory.ts'
import { answered, call, result, said, start } from '../testing/builders.ts'
import { countingIds, fixedClock, fixedSession } from '../testing/builders.ts'
import type { Entry, Fact, StoredEntry } from './fact.ts'
import { emptyTail, step } from './grammar.ts'
import { lineageOf, readLine } from './lineage.ts'
import { seq } from './ids.ts'
import type { AppendOutcome, Store } from './store.ts'
import { Transcript } from './transcript.ts'

const clock = fixedClock()
async function opened(store: Store = inMemoryStore(), id = 1, first = 0) {
  const session = fixedSession(id)
  const leased = await store.lease(session)
  if (!leased.ok) throw new Error('no lease')
  const taken: Entry[] = []
  let tail = emptyTail(seq(first))
  const follower = {
    tail: () => tail,
    prepare: () => Promise.resolve(null),
    refuse: () => null,
    take: (entry: StoredEntry) => {
      tail = step(tail, entry)
      taken.push(entry as Entry)
    },
  }
  const ports = { store, clock, ids: countingIds(id) }
  return {
    store,
    session,
    taken,
    transcript: new Transcript(ports, leased.lease, follower),
  }
}
const facts = async (store: Store, session = fixedSession()): Promise<Fact['type'][]> => {
  const types: Fact['type'][] = []
  for await (const item of store.read(session))
    if (item.kind === 'entry' && 'fact' in item.entry) types.push(item.entry.fact.type)
  return types
}

describe('the transcript', () => {
  it('[T2] facts said at once get places one after the other, without gaps', async () => {
    const { transcript, taken } = await opened()
    await transcript.append([start()])
    await Promise.all(Array.from({ length: 50 }, (_, index) => transcript.append([said(`${index}`)])))
    expect(taken.map((entry) => entry.seq)).toEqual(Array.from({ length: 51 }, (_, index) => index))
    expect(taken.slice(1).every((entry, index) => entry.parent === taken[index]!.uuid)).toBe(true)
  })

  it('[T1] nothing is taken as said before the store has it', async () => {
    const store = inMemoryStore()
    const full: AppendOutcome = {
      ok: false,
      why: 'failed',
      failure: { code: 'disk-full', message: 'the disk is full' },
    }
    const failing = new Proxy(store, {
      get: (target, name: keyof Store) =>
        name === 'append' ? () => Promise.resolve(full) : target[name].bind(target),
    })
    const { transcript, taken } = await opened(failing)
    expect(await transcript.append([start()])).toEqual({
      ok: false,
      failure: { code: 'disk-full', message: 'the disk is full' },
    })
    expect(taken).toEqual([])
    expect(transcript.tail.next).toBe(0)
  })

  it('[T6] all of the facts or none: one refused fact stops its batch', async () => {
    const { transcript, store } = await opened()
    await transcript.append([start()])
    expect(await transcript.append([said('a'), result('nobody')])).toMatchObject({
      ok: false,
      failure: { code: 'call-unknown' },
    })
    expect(await facts(store)).toEqual(['session-start'])
  })

  it('[T5] what is no fact is refused with its reason', async () => {
    const { transcript } = await opened()
    const bad: Fact = JSON.parse('{"type":"session-start","session":7}')
    expect(await transcript.append([bad])).toMatchObject({ ok: false, failure: { code: 'bad-fact' } })
  })

  it('[T7] closing writes what is open, and only once', async () => {
    const { transcript, store } = await opened()
    await transcript.append([start(), said('go'), answered([call('a')])])
    await transcript.close('the process ended')
    await transcript.close('again')
    expect(await facts(store)).toEqual([
      'session-start',
      'user-message',
      'assistant-message',
      'tool-result',
      'turn-end',
    ])
  })

  it('[T2] after release nothing more is written', async () => {
    const { transcript } = await opened()
    await transcript.append([start()])
    await transcript.release()
    expect(await transcript.append([said('late')])).toMatchObject({ ok: false, failure: { code: 'closed' } })
  })

  it('[T9] a fork reads as its parent up to the fork, then itself, under one row of places', async () => {
    const store = inMemoryStore()
    const parent = await opened(store, 1)
    await parent.transcript.append([start(parent.session), said('one'), said('two'), said('three')])
    const child = await opened(store, 2, 3)
    const begin: Fact = {
      type: 'session-start',
      session: child.session,
      purpose: 'notes',
      parent: { session: parent.session, upTo: seq(2) },
    }
    await child.transcript.append([begin, said('mine')])
    const line = await lineageOf(store, child.session)
    if (!line.ok) throw new Error(line.failure.message)
    const places: number[] = []
    for await (const item of readLine(store, line.links))
      if (item.kind === 'entry') places.push(item.entry.seq)
    expect(places).toEqual([0, 1, 2, 3, 4])
    const range: number[] = []
    for await (const item of readLine(store, line.links, { from: seq(2), to: seq(3) }))
      if (item.kind === 'entry') range.push(item.entry.seq)
    expect(range).toEqual([2, 3])
  })

  it('[T9] parents that lead in a circle are said, not followed', async () => {
    const store = inMemoryStore()
    const one = await opened(store, 1)
    const begin: Fact = {
      type: 'session-start',
      session: one.session,
      purpose: 'x',
      parent: { session: one.session, upTo: seq(0) },
    }
    await one.transcript.append([begin])
    expect(await lineageOf(store, one.session)).toMatchObject({ ok: false, failure: { code: 'bad-lineage' } })
  })
})
