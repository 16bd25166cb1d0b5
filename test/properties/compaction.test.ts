// The laws of compaction over random sessions and small windows: it ends below the target, cuts no pair, loses no word
// of the user's, and never runs twice without new content.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { plan, type Plan, type PlanOptions } from '../../src/compaction/ladder.ts'
import { roomOf, type Room } from '../../src/projection/budget.ts'
import { Fold } from '../../src/projection/fold.ts'
import { userWords, viewRefusal } from '../../src/projection/refusal.ts'
import { createComposer } from '../../src/wires/anthropic/compose.ts'
import { checkRequest } from '../../src/simulator/rules.ts'
import { arbitraryMoves, played, type Move } from '../../src/testing/arbitrary.ts'
import { Pen } from '../../src/testing/builders.ts'
import type { Entry, FactOf } from '../../src/transcript/fact.ts'
import { seq } from '../../src/transcript/ids.ts'
import { textsIn } from '../../src/transcript/content.ts'

/** From so many runs on, what a property is about must have happened. */
const often = 200
const runs = { numRuns: Number(process.env['PROPERTY_RUNS'] ?? often) }

/** What random answers report is no count of anything; without it the estimate speaks. Open calls are answered. */
const tamed = (moves: readonly Move[]): readonly Move[] => [
  ...moves.map((move) => (move.move === 'answer' ? { ...move, usage: false } : move)),
  { move: 'crash' },
]
const sessions = arbitraryMoves(fc).map((moves) => played(tamed(moves)))
/** The smallest windows in which our own words still have room. */
const rooms = fc.record({
  window: fc.integer({ min: 3000, max: 40_000 }),
  maxOutput: fc.integer({ min: 1, max: 200_000 }),
})
/** Any place of the dial, with and without clearing first. */
const dials = fc.record({
  thrift: fc.double({ min: 0, max: 1, noNaN: true }),
  pressureClearing: fc.boolean(),
})

function foldOf(entries: readonly Entry[]): Fold {
  const fold = new Fold()
  for (const entry of entries) fold.push(entry)
  return fold
}

function roomFor(fold: Fold, clues: { window: number; maxOutput: number }): Room {
  const outcome = roomOf({ ...clues, fixed: Math.round(fold.view().factor * fold.view().fixedEstimate) })
  if (!outcome.ok) throw new Error(outcome.why)
  return outcome.room
}

function boundary(made: Plan, room: Room, asked: 'automatic' | 'user' = 'automatic'): FactOf<'boundary'> {
  return {
    type: 'boundary',
    trigger: 'auto',
    source: 'extractive',
    tokensBefore: made.tokensBefore,
    tokensAfter: made.tokensAfter,
    messagesSummarised: made.partsGone.length,
    layer: 'autocompact',
    asked,
    edits: made.edits,
    why: 'a test',
    tokensFreed: made.tokensBefore - made.tokensAfter,
    chain: { recompaction: false, turnsSince: 0, threshold: room.threshold, requestSource: 'main' },
  }
}

const forced: PlanOptions = { trigger: 'auto', mayTouchHolds: true }

/** Pins of a random session are not held to their share; where they alone are too large, nothing can help. */
function pinnedTokens(fold: Fold): number {
  let sum = 0
  for (const pin of fold.edits.pins) sum += fold.units.find(pin.at)?.estimate ?? 0
  return sum
}

function shown(fold: Fold): string {
  return [...fold.parts()].flatMap((part) => textsIn(part.blocks)).join('\n')
}

describe('compaction', () => {
  it('[L2] ends below the target, or below the threshold where what must be kept exceeds it', () => {
    let compacted = 0
    fc.assert(
      fc.property(sessions, rooms, dials, (entries, clues, dial) => {
        const fold = foldOf(entries)
        const room = roomFor(fold, clues)
        fc.pre(fold.view().tokens >= room.threshold)
        const outcome = plan(fold, room, { ...forced, ...dial })
        if (!outcome.ok) {
          expect(outcome.message).toMatch(/\d+ tokens/)
          expect(pinnedTokens(fold)).toBeGreaterThan(0.2 * room.room)
          return
        }
        compacted++
        const fact = boundary(outcome.plan, room, 'user')
        expect(viewRefusal(fold, fact)).toBeNull()
        fold.push(new Pen({ first: fold.numbers.upTo + 1 }).write(fact))
        expect(fold.view().tokens).toBe(outcome.plan.tokensAfter)
        expect(fold.view().tokens).toBeLessThan(room.threshold)
        const mustStay = room.fixed + pinnedTokens(fold) + wordTokens(fold, outcome.plan) + ownWords
        if (fold.view().tokens > room.target) expect(mustStay).toBeGreaterThan(room.target)
      }),
      runs,
    )
    expect(compacted).toBeGreaterThan(runs.numRuns / 10)
  })

  it('[P3] leaves a view that composes to a request the wire takes', () => {
    const seen = { reasoning: 0, severalSpans: 0 }
    fc.assert(
      fc.property(sessions, rooms, fc.boolean(), (entries, clues, mayTouchHolds) => {
        const fold = foldOf(entries)
        const room = roomFor(fold, clues)
        const outcome = plan(fold, room, { trigger: 'manual', mayTouchHolds })
        fc.pre(outcome.ok)
        const asked = mayTouchHolds ? 'user' : 'automatic'
        const fact = boundary(outcome.plan, room, asked)
        expect(viewRefusal(fold, fact)).toBeNull()
        fold.push(new Pen({ first: fold.numbers.upTo + 1 }).write(fact))
        if (outcome.plan.texts.length > 1) seen.severalSpans++
        const composed = createComposer().compose(fold.view(), {
          model: 'claude-sonnet-4-6',
          maxTokens: 1000,
          bindsPrefix: false,
          lifetime: '5m',
        })
        fc.pre(composed.ok)
        if (composed.composed.body.includes('"type":"thinking"')) seen.reasoning++
        expect(checkRequest(JSON.parse(composed.composed.body))).toBeNull()
      }),
      runs,
    )
    if (runs.numRuns < often) return
    expect(seen.reasoning).toBeGreaterThan(0)
    expect(seen.severalSpans).toBeGreaterThan(0)
  })

  it('[U1] keeps every real user message: whole up to the caps, by its ends or by its place beyond them', () => {
    fc.assert(
      fc.property(sessions, rooms, (entries, clues) => {
        const fold = foldOf(entries)
        const before = userWords(fold, { from: seq(0), to: seq(fold.numbers.upTo) })
        const room = roomFor(fold, clues)
        const outcome = plan(fold, room, forced)
        fc.pre(outcome.ok)
        const made = outcome.plan
        fold.push(new Pen({ first: fold.numbers.upTo + 1 }).write(boundary(made, room, 'user')))
        const text = shown(fold)
        const keeps = made.edits.flatMap((edit) => (edit.kind === 'summary' ? edit.keep : []))
        for (const { at } of before) {
          const part = fold.units.find(at.seq)!
          const block = part.blocks[part.source.indexOf(at.block ?? 0)]!
          const said = 'text' in block ? block.text : ''
          const kept = keeps.find((keep) => keep.at.seq === at.seq && keep.at.block === at.block)
          if (kept?.head === undefined) expect(text).toContain(said)
          else if (kept.head > 0) expect(text).toContain(`Expand {"ref": "${at.seq}.${at.block ?? 0}"}`)
          else expect(text).toMatch(/are not shown; they are in \d+-\d+/)
        }
      }),
      runs,
    )
  })

  it('[O9] never runs twice without new content', () => {
    fc.assert(
      fc.property(sessions, rooms, (entries, clues) => {
        const fold = foldOf(entries)
        const room = roomFor(fold, clues)
        const first = plan(fold, room, forced)
        fc.pre(first.ok && first.plan.source !== null)
        fold.push(new Pen({ first: fold.numbers.upTo + 1 }).write(boundary(first.plan, room, 'user')))
        const again = plan(fold, room, forced)
        expect(again.ok ? 'planned' : again.code).toBe('nothing-new')
      }),
      runs,
    )
  })

  it('[O8] a result that is not smaller is thrown away', () => {
    fc.assert(
      fc.property(
        sessions,
        rooms,
        fc.constantFrom('auto', 'manual', 'reactive'),
        (entries, clues, trigger) => {
          const fold = foldOf(entries)
          const room = roomFor(fold, clues)
          const outcome = plan(fold, room, { trigger, mayTouchHolds: true })
          fc.pre(outcome.ok)
          expect(outcome.plan.tokensAfter).toBeLessThan(outcome.plan.tokensBefore)
        },
      ),
      runs,
    )
  })

  it('[P4] is undone without a trace', () => {
    fc.assert(
      fc.property(sessions, rooms, (entries, clues) => {
        const fold = foldOf(entries)
        const room = roomFor(fold, clues)
        const before = JSON.stringify([...fold.parts()])
        const outcome = plan(fold, room, forced)
        fc.pre(outcome.ok)
        const pen = new Pen({ first: fold.numbers.upTo + 1 })
        const entry = pen.write(boundary(outcome.plan, room, 'user'))
        fold.push(entry)
        fold.push(pen.write({ type: 'undo', target: entry.seq }))
        expect(JSON.stringify([...fold.parts()])).toBe(before)
      }),
      runs,
    )
  })

  it('[K16] the room stays positive and the target below the trigger for any window and output', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 2_000_000 }),
        fc.integer({ min: 1, max: 2_000_000 }),
        (window, maxOutput) => {
          const outcome = roomOf({ window, maxOutput, fixed: 0 })
          if (!outcome.ok) throw new Error(outcome.why)
          const { threshold, target, effective } = outcome.room
          expect(target).toBeGreaterThan(0)
          expect(target).toBeLessThan(threshold)
          expect(threshold).toBeLessThan(effective)
        },
      ),
    )
  })
})

/** The opening, the closing and the fences that our own text needs whatever it says. */
const ownWords = 400

function wordTokens(fold: Fold, made: Plan): number {
  const keeps = made.edits.flatMap((edit) => (edit.kind === 'summary' ? edit.keep : []))
  const pending = made.partsKept.filter((part) => part.kind === 'input' || part.kind === 'injected')
  let sum = pending.reduce((all, part) => all + part.estimate, 0)
  for (const { at } of keeps) sum += fold.units.find(at.seq)?.estimate ?? 0
  return sum
}
