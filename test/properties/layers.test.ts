// The laws of layers, over random sessions with every kind of edit and over random budgets.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Fold } from '../../src/projection/fold.ts'
import type { Budget, Layer } from '../../src/projection/layer.ts'
import { standardLayers, type ClearingPrice } from '../../src/projection/layers/index.ts'
import { defaults } from '../../src/settings/defaults.ts'
import { viewRefusal } from '../../src/projection/refusal.ts'
import type { View } from '../../src/projection/view.ts'
import { createComposer } from '../../src/wires/anthropic/compose.ts'
import { checkRequest } from '../../src/simulator/rules.ts'
import { arbitraryMoves, played } from '../../src/testing/arbitrary.ts'
import { answered, call, Pen, result, said } from '../../src/testing/builders.ts'
import { fixedClock } from '../../src/testing/builders.ts'
import type { AssistantBlock } from '../../src/transcript/content.ts'
import { isEditing, type Entry, type Fact, type FactOf } from '../../src/transcript/fact.ts'
import { closing, emptyTail, step } from '../../src/transcript/grammar.ts'
import { deletionsIn } from '../../src/engine/requests/server-edits.ts'
import { budget, factsOf, lines, minute } from '../layers/scribe.ts'
import { cachedBytes, parametersOf, withoutMarks } from './asked-session.ts'

// More runs for a long look: PROPERTY_RUNS=20000 npx vitest run test/properties
const runs = { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 150) }

/** Work as it is done: results of some size on a few files, so that reads are superseded and something is worth a clear. */
const rounds = fc.array(
  fc.array(
    fc.record({
      tool: fc.constantFrom('Read', 'Read', 'Bash', 'Grep', 'Edit', 'mcp__x'),
      file: fc.nat({ max: 2 }),
      size: fc.constantFrom(1, 40, 150, 600),
      isError: fc.nat({ max: 9 }).map((n) => n === 0),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  { minLength: 4, maxLength: 14 },
)

/** Any moves, then mostly some rounds of work; everything open is closed. */
const sessions = fc
  .tuple(arbitraryMoves(fc), fc.option(rounds, { freq: 4, nil: null }), fc.boolean())
  .map(([moves, work, isAnswered]) => {
    const entries = closed(played(moves).map(withFiles))
    return work === null ? entries : worked(entries, work, isAnswered)
  })

type Rounds = typeof rounds extends fc.Arbitrary<infer T> ? T : never

function worked(entries: readonly Entry[], work: Rounds, isAnswered: boolean): readonly Entry[] {
  const pen = penAfter(entries)
  const facts: Fact[] = [said('work')]
  for (const [round, calls] of work.entries()) {
    const idOf = (index: number) => `w${round}-${index}`
    const asked = calls.map(({ tool, file }, index) => call(idOf(index), tool, { file_path: `/file${file}` }))
    facts.push(answered(asked, { id: `msg-w${round}`, stop: 'tool_use' }))
    for (const [index, { size, isError }] of calls.entries())
      facts.push(result(idOf(index), lines(size), isError))
  }
  if (isAnswered) facts.push(answered('done', { id: 'msg-done' }), said('next'))
  return [...entries, ...facts.map((fact) => pen.write(fact))]
}

function withFiles(entry: Entry): Entry {
  if (entry.fact.type !== 'assistant-message') return entry
  const content = entry.fact.content.map((block): AssistantBlock => {
    if (block.type !== 'tool_use' || !('input' in block)) return block
    const number = block.id.length + entry.seq
    return {
      ...block,
      input: { file_path: `/file${number % 3}`, ...(number % 4 === 0 ? { offset: 5 } : {}) },
    }
  })
  return { ...entry, fact: { ...entry.fact, content } }
}

function closed(entries: readonly Entry[]): readonly Entry[] {
  let tail = emptyTail()
  for (const entry of entries) tail = step(tail, entry)
  const pen = penAfter(entries)
  return [...entries, ...closing(tail, 'the process ended').map((fact) => pen.write(fact))]
}

const penAfter = (entries: readonly Entry[]): Pen =>
  new Pen({ first: entries.length, clock: fixedClock((entries.at(-1)?.at ?? 0) + 1) })

/** Budgets under which something happens: small rooms, any temperature of the cache, any capability. */
const budgets = fc.record({
  threshold: fc.integer({ min: 500, max: 40_000 }),
  targetShare: fc.double({ min: 0.1, max: 0.9, noNaN: true }),
  idleMinutes: fc.constantFrom(0, 4, 30, 59, 61, 600),
  isWarm: fc.constantFrom(true, true, false),
  isMain: fc.integer({ min: 0, max: 5 }).map((n) => n > 0),
  cacheLost: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  expectedRequests: fc.integer({ min: 1, max: 300 }),
  capabilities: fc.record({
    cacheEdits: fc.constantFrom(true, true, false),
    contextEditing: fc.boolean(),
    bindsPrefix: fc.boolean(),
  }),
  priced: fc.boolean(),
})
type Drawn = typeof budgets extends fc.Arbitrary<infer T> ? T : never

const options = fc.record({
  keep: fc.integer({ min: 0, max: 3 }),
  digestChars: fc.constantFrom(0, 40, 240),
  messageChars: fc.constantFrom(500, 5000, 200_000),
  native: fc.boolean(),
  pressure: fc.boolean(),
  timeBased: fc.constantFrom(true, undefined),
  autocompact: fc.boolean(),
  thrift: fc.double({ min: 0, max: 1, noNaN: true }),
})

function budgetFor(drawn: Drawn, entries: readonly Entry[]): Budget {
  const { threshold, targetShare, idleMinutes, priced, ...rest } = drawn
  const base = budget()
  return {
    ...base,
    ...rest,
    threshold,
    effective: threshold * 2,
    window: threshold * 2,
    target: Math.floor(threshold * targetShare),
    now: (entries.at(-1)?.at ?? 0) + idleMinutes * minute,
    rates: priced ? base.rates : null,
  }
}

function foldOf(entries: readonly Entry[]): Fold {
  const fold = new Fold()
  for (const entry of entries) fold.push(entry)
  return fold
}

/** Each layer once, as the engine does it; gives the entries written. A refused proposal is an error here. */
function settled(fold: Fold, layers: readonly Layer[], by: Budget, pen: Pen): Entry[] {
  const written: Entry[] = []
  for (const layer of layers) {
    const proposal = layer.decide(fold.view(), by)
    if (proposal === null) continue
    for (const fact of factsOf(layer.name, proposal)) {
      expect(viewRefusal(fold, fact)).toBeNull()
      const entry = pen.write(fact)
      fold.push(entry)
      written.push(entry)
    }
  }
  return written
}

/** By which way a layer has come to an edit. */
const wayOf = ({ price }: FactOf<'view-edit' | 'boundary'>): string =>
  (price as ClearingPrice | undefined)?.kind ?? 'spill'

const shown = (view: View): unknown => [...view.messages].map(({ role, content }) => ({ role, content }))

describe('layers over random sessions', () => {
  it('[L1] propose nothing that is refused, and settling twice with the same budget changes nothing', () => {
    const spoken = new Map<string, number>()
    fc.assert(
      fc.property(sessions, budgets, options, (entries, drawn, set) => {
        const fold = foldOf(entries)
        const by = budgetFor(drawn, entries)
        const pen = penAfter(entries)
        const first = settled(fold, standardLayers(set), by, pen)
        for (const { fact } of first)
          if (isEditing(fact)) spoken.set(wayOf(fact), 1 + (spoken.get(wayOf(fact)) ?? 0))
        expect(settled(fold, standardLayers(set), by, pen)).toEqual([])
      }),
      // The rarest way of clearing must be among them.
      { numRuns: 3 * runs.numRuns },
    )
    // Every way of clearing has been seen at it.
    const ways = ['spill', 'time', 'cached', 'economy', 'pressure', 'expired']
    expect(ways.filter((way) => (spoken.get(way) ?? 0) === 0)).toEqual([])
  })

  it('[L1] propose nothing that does not make the view smaller, but for deletions that become stubs', () => {
    fc.assert(
      fc.property(sessions, budgets, options, (entries, drawn, set) => {
        const fold = foldOf(entries)
        const by = budgetFor(drawn, entries)
        const before = fold.view()
        const had = deletionsIn(before).length
        const written = settled(fold, standardLayers(set), by, penAfter(entries))
        if (written.length > 0 && had === 0) expect(fold.view().estimate).toBeLessThan(before.estimate)
      }),
      runs,
    )
  })

  it('[L1] decide the same on a live fold, a resumed one and a copy', () => {
    fc.assert(
      fc.property(sessions, budgets, options, (entries, drawn, set) => {
        const by = budgetFor(drawn, entries)
        const live = foldOf(entries)
        const decide = (fold: Fold) => standardLayers(set).map((layer) => layer.decide(fold.view(), by))
        const copy = live.copy()
        expect(decide(copy)).toEqual(decide(live))
        expect(decide(foldOf(JSON.parse(JSON.stringify(entries)) as Entry[]))).toEqual(decide(live))
      }),
      runs,
    )
  })

  it('[P4] undo of what a layer did gives back the view as if it had never been', () => {
    fc.assert(
      fc.property(sessions, budgets, options, (entries, drawn, set) => {
        const fold = foldOf(entries)
        const before = fold.view()
        const pen = penAfter(entries)
        const written = settled(fold, standardLayers(set), budgetFor(drawn, entries), pen)
        for (const entry of written.toReversed()) fold.push(pen.write({ type: 'undo', target: entry.seq }))
        expect(shown(fold.view())).toEqual(shown(before))
        expect(fold.view().estimate).toBe(before.estimate)
      }),
      runs,
    )
  })

  it('[Z10] touch no words, no reasoning, no call, no error, nothing small or pinned, nothing a policy keeps', () => {
    fc.assert(
      fc.property(sessions, budgets, options, (entries, drawn, set) => {
        const fold = foldOf(entries)
        const before = flat(fold.view())
        const microcompact = standardLayers({ ...set, budget: false })
        settled(fold, microcompact, budgetFor(drawn, entries), penAfter(entries))
        for (const [index, block] of flat(fold.view()).entries()) {
          const old = before[index]!
          if (
            old.block.type !== 'tool_result' ||
            old.isPinned ||
            ('is_error' in old.block && !('cleared' in old.block) && (old.block.is_error || old.isKept))
          )
            expect(block.block).toEqual(old.block)
        }
      }),
      runs,
    )
  })

  it('[C1] a settled view is a valid request; without an edit the next one begins with its bytes', () => {
    const model = 'claude-sonnet-4-6'
    let compared = 0
    fc.assert(
      fc.property(sessions, budgets, options, fc.nat(), (entries, drawn, set, cut) => {
        const composer = createComposer({ references: true })
        const half = closed(entries.slice(0, 1 + (cut % entries.length)))
        const fold = foldOf(half)
        const by = budgetFor(drawn, half)
        const pen = penAfter(half)
        settled(fold, standardLayers(set), by, pen)
        const bodyOf = (view: View): string | null => {
          const outcome = composer.compose(view, { ...parametersOf(model), cacheEdits: deletionsIn(view) })
          return outcome.ok ? outcome.composed.body : null
        }
        const first = bodyOf(fold.view())
        fc.pre(first !== null)
        expect(checkRequest(JSON.parse(first), { cacheEdits: true })).toBeNull()
        const upTo = fold.view().upTo
        fold.push(
          pen.write({ type: 'request-sent', source: 'main', model, upTo, hash: '', tokens: 0, marks: [] }),
        )
        fold.push(
          pen.write({ type: 'user-message', content: [{ type: 'text', text: 'on' }], origin: 'typed' }),
        )
        const written = settled(fold, standardLayers(set), by, pen)
        const second = bodyOf(fold.view())!
        expect(checkRequest(JSON.parse(second), { cacheEdits: true })).toBeNull()
        if (written.some(({ fact }) => isEditing(fact) && fact.edits.some(({ kind }) => kind !== 'remote')))
          return
        compared++
        const cached = cachedBytes(first)
        expect(withoutMarks(second).slice(0, cached.length)).toBe(cached)
      }),
      runs,
    )
    expect(compared).toBeGreaterThan(runs.numRuns / 4)
  })

  it('[Z20] say nothing at all once automatic removal is off', () => {
    expect(standardLayers({ automaticRemoval: false })).toEqual([])
  })
})

function flat(view: View) {
  const pinned = new Set(view.pins.map((pin) => pin.at))
  return [...view.messages].flatMap((message) =>
    message.parts.flatMap((part) => {
      const isKept = part.tool === 'mcp__x' || part.estimate < defaults.clearing.smallTokens
      return part.blocks.map((block) => ({ block, isKept, isPinned: pinned.has(part.from) }))
    }),
  )
}
