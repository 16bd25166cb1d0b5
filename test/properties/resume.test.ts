// Law P5 through a real file store: however a session is opened, it is the same session.
import * as fc from 'fast-check'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { checkpointFor, resume, type Resumed } from '../../src/engine/opening/resume.ts'
import { supplyMissing } from '../../src/engine/opening/supply.ts'
import { advance, newState, type SessionState } from '../../src/engine/state.ts'
import { modelTable } from '../../src/model/models.ts'
import { viewRefusal } from '../../src/projection/refusal.ts'
import type { View } from '../../src/projection/view.ts'
import { fileStore } from '../../src/stores/index.ts'
import { arbitraryMoves, played } from '../../src/testing/arbitrary.ts'
import {
  answered,
  call,
  countingIds,
  fixedSession,
  Pen,
  result,
  said,
  start,
} from '../../src/testing/builders.ts'
import { storeWith, type Store } from '../../src/transcript/store.ts'
import type { Entry, Fact, Kept } from '../../src/transcript/fact.ts'
import { seq } from '../../src/transcript/ids.ts'

const root = mkdtempSync(join(tmpdir(), 'pal-resume-'))
afterAll(() => rmSync(root, { recursive: true }))
const runs = { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 60), endOnFailure: true }
const session = fixedSession()
const table = modelTable()

/** Summaries as boundaries, so that reading on forgets what they hide. */
const asBoundary = (fact: Fact): Fact =>
  fact.type === 'view-edit' && fact.edits.every((edit) => edit.kind === 'summary')
    ? {
        ...fact,
        type: 'boundary',
        trigger: 'auto',
        source: 'extractive',
        tokensBefore: 0,
        tokensAfter: 0,
        messagesSummarised: 0,
      }
    : fact
const sessions = arbitraryMoves(fc).map((moves): Entry[] =>
  played(moves).map((entry) => ({ ...entry, fact: asBoundary(entry.fact) })),
)

/** The session as the process that wrote it knew it. */
const live = (entries: readonly Entry[]): SessionState =>
  entries.reduce((state, entry) => advance(state, entry, table), newState())

const plain = (view: View): unknown => ({
  ...view,
  messages: [...view.messages].map((message) => ({ ...message, parts: [...message.parts] })),
})

function expectSame(resumed: Awaited<ReturnType<typeof resume>>, entries: readonly Entry[]): Resumed {
  if (!resumed.ok) throw new Error(resumed.failure.message)
  const expected = live(entries)
  expect(plain(resumed.fold.view())).toEqual(plain(expected.fold.view()))
  expect(resumed.tail).toEqual(expected.tail)
  expect(resumed.spent).toEqual(expected.spent)
  expect(resumed.latest).toEqual(expected.latest)
  expect(resumed.damage).toEqual([])
  return resumed
}

let count = 0
async function stored(entries: readonly Entry[], checkpointAt: number | null) {
  const folder = join(root, `s${++count}`)
  const store: Store = fileStore({ root: folder, fsync: 'none' })
  const leased = await store.lease(session)
  if (!leased.ok) throw new Error('the session is open elsewhere')
  const written = await store.append(leased.lease, entries, seq(0), 'none')
  expect(written).toEqual({ ok: true })
  if (checkpointAt !== null) {
    const put = await store.putCheckpoint(leased.lease, checkpointFor(live(entries.slice(0, checkpointAt))))
    expect(put.ok).toBe(true)
  }
  await store.release(leased.lease)
  return { store, checkpoint: join(folder, session, 'checkpoint.json') }
}

// More than a checkpoint reads at one go, so that what a summary hides is really not in memory.
const turnsBetween = 12

/** Turns with boundaries between them, each over everything before it, as compaction leaves them. */
function compacted(boundaries: number): Entry[] {
  const pen = new Pen()
  const entries = [pen.write(start(session))]
  const add = (fact: Fact): Entry => (entries.push(pen.write(fact)), entries.at(-1)!)
  const keep: Kept[] = []
  let last = seq(0)
  for (let at = 0; at < boundaries; at++) {
    for (let turn = 0; turn < turnsBetween; turn++) {
      const text = `turn ${turn}`
      const input = add(said(`${text} ${at}`))
      if (turn === 0) keep.push({ at: { seq: input.seq, block: 0 } })
      add(answered([call(`toolu_${at}_${text}`)], { id: `msg_${at}_${text}`, stop: 'tool_use' }))
      last = add(result(`toolu_${at}_${text}`, `result ${text} ${at}`)).seq
      add(answered(`answer ${text} ${at}`, { id: `msg_${at}_${text}_end` }))
      add({ type: 'turn-end', outcome: 'done' })
    }
    const to = entries.at(-1)!.seq
    // Some words go on being kept; a result is kept by its own summary alone.
    const own = [...keep, { at: { seq: last, block: 0 } }]
    const edit = {
      kind: 'summary',
      from: seq(1),
      to,
      text: `summary ${at}`,
      ref: `1-${to}`,
      keep: own,
    } as const
    const why = { why: 'full', tokensFreed: 0, layer: 'autocompact', asked: 'automatic' } as const
    add(asBoundary({ type: 'view-edit', edits: [edit], ...why }))
    if (at % 2 === 0) add(said(`after ${at}`, 'injected'))
  }
  return entries
}

describe('resume', () => {
  it('[P5] compactions on top of each other are undone one by one, each reading its own span only', async () => {
    const entries = compacted(6)
    const { store: inner } = await stored(entries, entries.length)
    let reads = 0
    const store = storeWith(inner, {
      read: async function* (...place) {
        for await (const item of inner.read(...place)) yield ((reads++, item))
      },
      readBack: async function* (...place) {
        for await (const item of inner.readBack(...place)) yield ((reads++, item))
      },
    })
    const { fold, links } = expectSame(await resume(store, session, table), entries)
    const pen = new Pen({ first: entries.length })
    const boundaries = entries.filter((entry) => entry.fact.type === 'boundary').reverse()
    for (const { seq: target } of boundaries) {
      const entry = pen.write({ type: 'undo', target })
      reads = 0
      expect(await supplyMissing(store, links, fold, entry.fact)).toBe(null)
      fold.push(entry)
      entries.push(entry)
      expect(plain(fold.view())).toEqual(plain(live(entries).fold.view()))
      // Its span, and around each kept place what lies in the same read.
      expect(reads).toBeLessThan(6 * turnsBetween + 2 * boundaries.length)
    }
    expect(fold.numbers.evicted).toEqual([])
  })

  it('[P5] an edit that was undone while another covered it stays undone when that one goes too', async () => {
    const entries = compacted(2)
    const [first, second] = entries.filter((entry) => entry.fact.type === 'boundary')
    const pen = new Pen({ first: entries.length })
    entries.push(pen.write({ type: 'undo', target: first!.seq }))
    const place = entries.length
    entries.push(pen.write({ type: 'undo', target: second!.seq }))
    const { store } = await stored(entries, place)
    expectSame(await resume(store, session, table), entries)
  })

  it('[P5] a fork takes a compaction back over its parent’s entries up to where it left it, and no further', async () => {
    const parent = compacted(2)
    const upTo = seq(turnsBetween * 5)
    const { store } = await stored(parent, null)
    const child = fixedSession(2)
    const pen = new Pen({ first: upTo + 1, ids: countingIds(1) })
    const words = said('only here')
    const edit = {
      kind: 'summary',
      from: seq(1),
      to: seq(upTo + 3),
      text: 'all',
      ref: '1',
      keep: [],
    } as const
    const why = { why: 'full', tokensFreed: 0, layer: 'autocompact', asked: 'automatic' } as const
    const own = [
      pen.write({ type: 'session-start', session: child, purpose: 'agent', parent: { session, upTo } }),
      pen.write(words),
      pen.write(answered('yes', { id: 'msg_child' })),
      pen.write(asBoundary({ type: 'view-edit', edits: [edit], ...why })),
    ]
    const leased = await store.lease(child)
    if (!leased.ok) throw new Error('the session is open elsewhere')
    await store.append(leased.lease, own, seq(upTo + 1), 'none')
    await store.release(leased.lease)
    const resumed = await resume(store, child, table)
    if (!resumed.ok) throw new Error(resumed.failure.message)
    const { fold, links } = resumed
    expect(fold.view().messages.length).toBe(1)
    const undo = pen.write({ type: 'undo', target: own.at(-1)!.seq })
    expect(await supplyMissing(store, links, fold, undo.fact)).toBe(null)
    fold.push(undo)
    const line = [...parent.filter((entry) => entry.seq <= upTo), ...own, undo]
    expect(plain(fold.view())).toEqual(plain(live(line).fold.view()))
  })

  it('[P5] from a checkpoint anywhere equals what was live, also when undos and rewinds follow it', async () => {
    await fc.assert(
      fc.asyncProperty(sessions, fc.nat(), async (entries, at) => {
        const place = 1 + (at % entries.length)
        const { store } = await stored(entries, place)
        const resumed = expectSame(await resume(store, session, table), entries)
        expect(resumed.entriesRead).toBe(entries.length - place)
      }),
      runs,
    )
  })

  it('[P5] by streaming, with what boundaries hide forgotten on the way, equals what was live', async () => {
    await fc.assert(
      fc.asyncProperty(sessions, async (entries) => {
        const { store } = await stored(entries, null)
        expectSame(await resume(store, session, table), entries)
      }),
      runs,
    )
  })

  it('[P5] a checkpoint that does not fit, cannot be read or is of another version is passed over', async () => {
    await fc.assert(
      fc.asyncProperty(sessions, fc.constantFrom('', 'garbage', '{"format":1}\n'), async (entries, text) => {
        const { store, checkpoint } = await stored(entries, entries.length)
        writeFileSync(checkpoint, text)
        const resumed = expectSame(await resume(store, session, table), entries)
        expect(resumed.entriesRead).toBe(entries.length)
      }),
      { numRuns: 15 },
    )
  })

  it('[P5] every edit that is left can still be undone after a resume', async () => {
    await fc.assert(
      fc.asyncProperty(sessions, fc.nat(), fc.boolean(), async (entries, at, hasCheckpoint) => {
        const pen = new Pen({ first: entries.length })
        const { store } = await stored(entries, hasCheckpoint ? entries.length : null)
        const edits = live(entries).fold.edits.controls.filter(
          ({ fact }) => fact.type === 'boundary' || fact.type === 'view-edit',
        )
        const target = edits[at % Math.max(1, edits.length)]
        fc.pre(target !== undefined)
        const undo: Fact = { type: 'undo', target: target.seq }
        const whole = live(entries).fold
        fc.pre(viewRefusal(whole, undo) === null)
        const entry = pen.write(undo)
        const all = [...entries, entry]
        const leased = await store.lease(session)
        if (!leased.ok) throw new Error('the session is open elsewhere')
        await store.append(leased.lease, [entry], seq(entries.length), 'none')
        await store.release(leased.lease)
        expectSame(await resume(store, session, table), all)
      }),
      runs,
    )
  })
})
