// The laws of `fit` over random conversations in the words of every wire and small windows. Each property counts the draws in
// which what it is about really happened.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fit, type FitOptions, type FitOutcome, type FitState } from '../../src/fit/index.ts'
import type { WireName } from '../../src/model/model.ts'
import { conversation, inWords, models, sendable, wires, type Step } from './lists.ts'
import { begins, refusal, unitsOf } from './units.ts'

/** From so many runs on, what a property is about must have happened. */
const often = 30
const numRuns = Number(process.env['PROPERTY_RUNS'] ?? often)
/** Cases are counted, so the short run takes the same ones each time; a long look takes new ones. */
const runs = { numRuns, ...(process.env['PROPERTY_RUNS'] === undefined ? { seed: 20_261_116 } : {}) }

const conversations = conversation({ sizes: [40, 900, 2600, 9000], turns: 4, rounds: 4 })
const windows = fc.constantFrom(6000, 9000, 14_000, 60_000)
const cases = fc.record({ wire: fc.constantFrom(...wires), steps: conversations, window: windows })

type Fitted = Extract<FitOutcome<unknown>, { ok: true }>

const optionsOf = (wire: WireName, window: number, state: FitState | null = null): FitOptions => ({
  wire,
  model: models[wire],
  window,
  state,
  store: false,
})

/** Every request of a conversation in turn, each with the state of the one before; ends where one fails. */
function walked(
  wire: WireName,
  steps: readonly Step[],
  window: number,
): readonly (Fitted & { given: readonly unknown[] })[] {
  const done: (Fitted & { given: readonly unknown[] })[] = []
  for (const length of sendable(steps)) {
    const given = inWords(wire, steps.slice(0, length))
    const made = fit(given, optionsOf(wire, window, done.at(-1)?.state))
    if (!made.ok) break
    done.push({ ...made, given })
  }
  return done
}

interface Counts {
  [what: string]: number
}
const note = (counts: Counts, what: string, times = 1): void =>
  void (counts[what] = (counts[what] ?? 0) + times)

/** At least one of each in ten draws, once there are enough of them. */
function expectOften(counts: Counts, ...what: readonly string[]): void {
  if (numRuns < often) return
  for (const each of what) expect(counts[each] ?? 0, each).toBeGreaterThan(numRuns / 10)
}

describe('laws', () => {
  it('[FI1] what was sent is how the next result begins, unless it says why not', () => {
    const counts: Counts = {}
    fc.assert(
      fc.property(cases, ({ wire, steps, window }) => {
        let before: readonly string[] = []
        for (const { messages, report } of walked(wire, steps, window)) {
          const units = unitsOf(wire, messages)
          if (report.boundary?.isNew === true) {
            expect(report.prefix.why === null || report.prefix.why === 'boundary').toBe(true)
            note(counts, 'compacted')
          } else {
            expect(report.prefix).toEqual({ kept: before.length, of: before.length, why: null })
            expect(begins(units, before)).toBe(true)
            if (before.length > 0 && report.edits.length > 0) note(counts, 'went on with edits')
            if (before.length > 0 && report.boundary !== null) note(counts, 'went on behind a compaction')
          }
          before = units
        }
      }),
      runs,
    )
    expectOften(counts, 'compacted', 'went on with edits', 'went on behind a compaction')
  })

  it('[FI2] the result may be sent, also when anything was cut out of the list', () => {
    const counts: Counts = {}
    fc.assert(
      fc.property(cases, fc.array(fc.nat(), { maxLength: 4 }), ({ wire, steps, window }, gone) => {
        const whole = inWords(wire, steps)
        const left = whole.filter((_, at) => !gone.some((each) => each % whole.length === at))
        const made = fit(left, optionsOf(wire, window))
        if (!made.ok) return
        expect(refusal(wire, made.messages)).toBeNull()
        if (made.report.repairs.length > 0) note(counts, 'repaired')
        if (made.report.boundary !== null) note(counts, 'compacted')
        // Going on behind a list that was repaired.
        const next = fit([...left, ...inWords(wire, [{ kind: 'prompt', text: 'Go on.' }])], {
          ...optionsOf(wire, window),
          state: made.state,
        })
        if (next.ok) expect(refusal(wire, next.messages)).toBeNull()
      }),
      { numRuns: 2 * numRuns },
    )
    expectOften(counts, 'repaired', 'compacted')
  })

  it('[FI3] a list that was returned and comes back with more gives what the original gives', () => {
    const counts: Counts = {}
    fc.assert(
      fc.property(cases, ({ wire, steps, window }) => {
        const lengths = sendable(steps)
        let state: FitState | null = null
        for (const [nth, length] of lengths.entries()) {
          const given = inWords(wire, steps.slice(0, length))
          const made: FitOutcome<unknown> = fit(given, optionsOf(wire, window, state))
          const next = lengths[nth + 1]
          if (!made.ok || next === undefined) return
          const added = inWords(wire, steps.slice(length, next))
          const original = fit([...given, ...added], optionsOf(wire, window, made.state))
          const carried = fit([...made.messages, ...added], optionsOf(wire, window, made.state))
          if (!original.ok || !carried.ok) return
          const isNew = original.report.boundary?.isNew === true || carried.report.boundary?.isNew === true
          if (!isNew) {
            expect(unitsOf(wire, carried.messages)).toEqual(unitsOf(wire, original.messages))
            expect(carried.report.prefix.why).toBeNull()
            if (carried.report.isCarried) note(counts, 'carried')
            if (carried.report.isCarried && made.report.boundary !== null) note(counts, 'behind a compaction')
          } else {
            expect(refusal(wire, carried.messages)).toBeNull()
            note(counts, 'compacted anew')
          }
          state = made.state
        }
      }),
      runs,
    )
    expectOften(counts, 'carried', 'behind a compaction', 'compacted anew')
  })

  it('[FI4] [FI5] the result is below the limit, counted anew, and not larger than the list; or both numbers are said', () => {
    const counts: Counts = {}
    fc.assert(
      fc.property(
        cases,
        fc.constantFrom(0, 0, 0, 30_000),
        fc.boolean(),
        ({ wire, steps, window }, giant, knows) => {
          const list = inWords(wire, [
            ...steps,
            { kind: 'prompt', text: `Read this. ${'word '.repeat(giant / 5)}` },
          ])
          const state = knows ? (walked(wire, steps, window).at(-1)?.state ?? null) : null
          const made = fit(list, optionsOf(wire, window, state))
          if (!made.ok) {
            expect(made.code).toBe('too-large')
            expect(made.tokens).toBeGreaterThanOrEqual(made.limit!)
            note(counts, 'refused')
            return
          }
          const { tokensBefore, tokensAfter, limit, repairs } = made.report
          expect(tokensAfter).toBeLessThan(limit)
          const counted = fit(made.messages, { ...optionsOf(wire, 10_000_000), compaction: false })
          expect(counted.ok && counted.report.tokensBefore).toBe(tokensAfter)
          if (repairs.length === 0) expect(tokensAfter).toBeLessThanOrEqual(tokensBefore)
          if (tokensBefore >= limit) note(counts, 'made smaller')
        },
      ),
      { numRuns: 2 * numRuns },
    )
    expectOften(counts, 'refused', 'made smaller')
  })

  it('[FI6] the list is not touched, and what needs no change is the same object', () => {
    const counts: Counts = {}
    fc.assert(
      fc.property(cases, ({ wire, steps, window }) => {
        const list = frozen(
          inWords(wire, steps.slice(0, sendable(steps).at(-1))).map((message) =>
            wire === 'anthropic' ? message : { ...message, x_of_tomorrow: { keep: true } },
          ),
        )
        const before = JSON.stringify(list)
        const made = fit(list, optionsOf(wire, window))
        expect(JSON.stringify(list)).toBe(before)
        if (!made.ok) return
        const own = new Set<unknown>(list)
        const same = made.messages.filter((message) => own.has(message)).length
        const { edits, boundary, repairs } = made.report
        if (edits.length === 0 && boundary === null && repairs.length === 0) {
          expect(made.messages.every((message, at) => message === list[at])).toBe(true)
          note(counts, 'all the same')
        } else if (repairs.length === 0) {
          const changed = new Set(edits.map(({ message }) => message)).size + (boundary === null ? 0 : 1)
          expect(made.messages.length - same).toBeLessThanOrEqual(changed)
          note(counts, 'some the same')
        }
        for (const message of made.messages)
          if (wire !== 'anthropic' && own.has(message))
            expect(JSON.stringify(message)).toContain('x_of_tomorrow')
      }),
      runs,
    )
    expectOften(counts, 'all the same', 'some the same')
  })

  it('[FI7] [FI8] the same again, and with a state that was kept as text, gives the same bytes', () => {
    const counts: Counts = {}
    fc.assert(
      fc.property(cases, ({ wire, steps, window }) => {
        let state: FitState | null = null
        for (const length of sendable(steps)) {
          const given = inWords(wire, steps.slice(0, length))
          const made: FitOutcome<unknown> = fit(given, optionsOf(wire, window, state))
          const kept = JSON.parse(JSON.stringify(state)) as FitState | null
          const again: FitOutcome<unknown> = fit(structuredClone(given), optionsOf(wire, window, kept))
          expect(JSON.stringify(again)).toBe(JSON.stringify(made))
          if (!made.ok) return
          if (made.report.edits.length > 0) note(counts, 'with edits')
          state = made.state
        }
      }),
      runs,
    )
    expectOften(counts, 'with edits')
  })
})

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value)
    for (const inner of Object.values(value)) frozen(inner)
  }
  return value
}
