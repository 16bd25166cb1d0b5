// Laws of the transcript over random sessions, through the database: however a session is opened, it is the same session.
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkpointFor, resume } from '../../src/engine/opening/resume.ts'
import { advance, newState, type SessionState } from '../../src/engine/state.ts'
import { modelTable } from '../../src/model/models.ts'
import { postgresStore, type PostgresStore } from '../../src/postgres/index.ts'
import type { View } from '../../src/projection/view.ts'
import { arbitraryMoves, played } from '../../src/testing/arbitrary.ts'
import { leased, readEntries, stored } from '../../src/testing/store-steps.ts'
import { encode } from '../../src/transcript/codec.ts'
import type { Entry } from '../../src/transcript/fact.ts'
import { seq, sessionId } from '../../src/transcript/ids.ts'
import { freshDatabase, skipReason, startServer, type Server } from './server.ts'

const table = modelTable()
const runs = { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 20), endOnFailure: true }
const live = (entries: readonly Entry[]): SessionState =>
  entries.reduce((state, entry) => advance(state, entry, table), newState())
const plain = (view: View): unknown => ({
  ...view,
  messages: [...view.messages].map((message) => ({ ...message, parts: [...message.parts] })),
})

describe.skipIf(skipReason !== null)('random sessions in Postgres', () => {
  let server: Server
  let store: PostgresStore
  let count = 0
  beforeAll(async () => {
    server = await startServer()
    store = postgresStore({ url: (await freshDatabase(server)).url, tenant: 'acme' })
  })
  afterAll(async () => {
    await store.close()
    await server.stop()
  })

  it('[P5] [T2] [T3] written in pieces by several holders, with a checkpoint anywhere, it is what was live, byte for byte', async () => {
    const seen = { checkpoints: 0, edits: 0, holders: 0 }
    await fc.assert(
      fc.asyncProperty(arbitraryMoves(fc), fc.nat(), fc.nat(), async (moves, cut, at) => {
        const entries = played(moves)
        const id = sessionId(`law-${++count}`)
        // The second holder goes on where the first has left it.
        const half = cut % (entries.length + 1)
        for (const part of [entries.slice(0, half), entries.slice(half)]) {
          const { lease } = await leased(store, id)
          if (part.length > 0) await stored(store, lease, part, part[0]!.seq)
          if (part === entries || (part.length > 0 && part.at(-1) === entries.at(-1))) {
            const place = 1 + (at % entries.length)
            const put = await store.putCheckpoint(lease, checkpointFor(live(entries.slice(0, place))))
            expect(put.ok).toBe(true)
            seen.checkpoints++
          }
          await store.release(lease)
          seen.holders++
        }
        expect((await readEntries(store.read(id))).map(encode)).toEqual(entries.map(encode))
        const backward = (await readEntries(store.readBack(id))).map(encode)
        expect(backward).toEqual(entries.map(encode).toReversed())
        expect((await readEntries(store.read(id))).map((entry) => entry.seq)).toEqual(
          entries.map((_, place) => seq(place)),
        )
        const resumed = await resume(store, id, table)
        if (!resumed.ok) throw new Error(resumed.failure.message)
        const expected = live(entries)
        expect(plain(resumed.fold.view())).toEqual(plain(expected.fold.view()))
        expect(resumed.tail).toEqual(expected.tail)
        expect(resumed.spent).toEqual(expected.spent)
        expect(resumed.latest).toEqual(expected.latest)
        expect(resumed.damage).toEqual([])
        seen.edits += entries.filter(({ fact }) => fact.type === 'view-edit').length
      }),
      runs,
    )
    expect(seen.checkpoints).toBe(count)
    expect(seen.edits).toBeGreaterThan(0)
  })
})
