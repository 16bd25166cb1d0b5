// The laws of composing, over random sessions whose every request is judged by the simulator.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { project } from '../../src/projection/fold.ts'
import { createComposer } from '../../src/wires/anthropic/compose.ts'
import { createCache } from '../../src/simulator/cache.ts'
import type { WireRequest } from '../../src/model/wire.ts'
import { checkRequest } from '../../src/simulator/rules.ts'
import { arbitraryMoves, played } from '../../src/testing/arbitrary.ts'
import * as builders from '../../src/testing/builders.ts'
import { Pen } from '../../src/testing/builders.ts'
import { closing, emptyTail, step } from '../../src/transcript/grammar.ts'
import { isReasoning } from '../../src/transcript/content.ts'
import { isEditing, type Entry } from '../../src/transcript/fact.ts'
import { rangeOf } from '../../src/projection/folding/live-edits.ts'
import { positionOf, spotOf } from '../../src/request/breakpoints.ts'
import { problems } from '../../src/wires/anthropic/validity.ts'
import { changesBetween } from '../../src/request/break-report.ts'
import {
  askedSession,
  cachedBytes,
  parametersOf,
  plainPairs,
  withoutMarks,
  type AskedRequest,
} from './asked-session.ts'

// More runs for a long look: PROPERTY_RUNS=20000 npx vitest run test/properties
const runs = { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 100) }
const moves = arbitraryMoves(fc)
const plain = 'claude-sonnet-4-6'
const binding = 'claude-opus-5-5'

/** The session with whatever a crash left open closed, as it is before anything is sent. */
function closed(entries: readonly Entry[]): readonly Entry[] {
  let tail = emptyTail()
  for (const entry of entries) tail = step(tail, entry)
  const pen = new Pen({ first: entries.length })
  return [...entries, ...closing(tail, 'the process ended').map((fact) => pen.write(fact))]
}

const said = (request: AskedRequest): string => request.error?.error.message ?? ''

describe('any view', () => {
  it('[P3] composes to a body that the wire rules accept, or has nothing to say yet', () => {
    const sessions = moves.map((list) => project(closed(played(list))))
    fc.assert(
      fc.property(
        sessions,
        fc.constantFrom(plain, binding),
        fc.constantFrom(null, '5m' as const, '1h' as const),
        (view, model, lifetime) => {
          const outcome = createComposer().compose(view, parametersOf(model, { parameters: { lifetime } }))
          const speaks = [...view.messages].some((each) => each.content.some((block) => !isReasoning(block)))
          if (speaks) expect(outcome.ok).toBe(true)
          fc.pre(outcome.ok)
          const request = JSON.parse(outcome.composed.body) as WireRequest
          expect(checkRequest(request)).toBeNull()
          // Neighbours of one role are merged by the server.
          expect(problems(request.messages).filter(({ rule }) => rule !== 'same-role')).toEqual([])
        },
      ),
      runs,
    )
  })

  it('[P3] is accepted request by request, with signed reasoning, across models', () => {
    fc.assert(
      fc.property(moves, (list) => {
        const { requests, refused } = askedSession(list)
        expect(requests.map(said).filter((message) => message !== '')).toEqual([])
        expect(refused.filter((why) => !why.startsWith('there is nothing to send'))).toEqual([])
      }),
      runs,
    )
  })

  it('[P3] is accepted with thinking switched on by hand, which is left out only where the rules forbid it', () => {
    const thinking = { type: 'enabled', budget_tokens: 2000 } as const
    fc.assert(
      fc.property(moves, (list) => {
        for (const request of askedSession(list, { model: plain, thinking }).requests) {
          expect(said(request)).toBe('')
          if (!request.composed.withoutThinking) continue
          expect(checkRequest({ ...request.request, thinking })?.error.message).toContain(
            'Expected `thinking`',
          )
        }
      }),
      runs,
    )
  })

  it('[C2] gives the bytes of a fresh composer, whatever was kept', () => {
    fc.assert(
      fc.property(moves, fc.constantFrom(plain, undefined), (list, model) => {
        for (const { view, parameters, composed } of askedSession(list, model === undefined ? {} : { model })
          .requests) {
          const fresh = createComposer().compose(view, parameters)
          expect(fresh.ok && fresh.composed.body).toBe(composed.body)
          expect(fresh.ok && fresh.composed.hash).toBe(composed.hash)
        }
      }),
      runs,
    )
  })
})

describe('the prefix', () => {
  it('[C1] of a request up to its last mark begins the next one, marks apart', () => {
    let pairs = 0
    fc.assert(
      fc.property(moves, fc.constantFrom(plain, binding), (list, model) => {
        for (const [before, after] of plainPairs(askedSession(list, { model }))) {
          pairs++
          const cached = cachedBytes(before.composed.body)
          expect(cached.length).toBeGreaterThan(0)
          expect(withoutMarks(after.composed.body).slice(0, cached.length)).toBe(cached)
        }
      }),
      runs,
    )
    expect(pairs).toBeGreaterThan(runs.numRuns / 2)
  })

  it('[C1] is read from the cache by the next request, all that was read or written', () => {
    let cached = 0
    fc.assert(
      fc.property(moves, fc.constantFrom(plain, binding), (list, model) => {
        const session = askedSession(list, { model })
        const follows = new Map(plainPairs(session).map(([before, after]) => [after, before]))
        const cache = createCache()
        const sizes = new Map<AskedRequest, number>()
        for (const [index, request] of session.requests.entries()) {
          const usage = cache.account(request.request, index * 1000, index * 1000)
          sizes.set(request, usage.cache_read_input_tokens + usage.cache_creation_input_tokens)
          const before = follows.get(request)
          if (before === undefined || mayMiss(before, request)) continue
          if (sizes.get(before)! > 0) cached++
          expect(usage.cache_read_input_tokens).toBeGreaterThanOrEqual(sizes.get(before)!)
        }
      }),
      runs,
    )
    expect(cached).toBeGreaterThan(runs.numRuns / 4)
  })

  it('[C1] of a fork is the parent’s, and the fork writes nothing', () => {
    fc.assert(
      fc.property(moves, fc.constantFrom(plain, binding), fc.nat(), (list, model, pick) => {
        const { entries, requests } = askedSession(list, { model, parameters: { lifetime: '1h' } })
        const parent = requests[pick % Math.max(1, requests.length)]
        fc.pre(parent !== undefined)
        const own = entries.filter((entry) => entry.seq <= parent.view.upTo)
        const child = [...own, new Pen({ first: own.length }).write(builders.said('sum this up', 'injected'))]
        const breakpointAt = parent.composed.lastBreakpoint!
        const parameters = { ...parent.parameters, breakpointAt, maxTokens: 2000 }
        const outcome = createComposer().compose(project(child), parameters)
        if (!outcome.ok) throw new Error(outcome.why)
        expect(cachedBytes(outcome.composed.body)).toBe(cachedBytes(parent.composed.body))
        const cache = createCache()
        const first = cache.account(parent.request, 0, 0)
        const second = cache.account(JSON.parse(outcome.composed.body) as WireRequest, 1000, 1000)
        expect(second.cache_creation_input_tokens).toBe(0)
        expect(second.cache_read_input_tokens).toBe(
          first.cache_read_input_tokens + first.cache_creation_input_tokens,
        )
      }),
      runs,
    )
  })

  it('[C3] may carry references for cache edits, never behind the last mark', () => {
    const sessions = moves.map((list) => project(closed(played(list))))
    fc.assert(
      fc.property(sessions, fc.boolean(), fc.nat(), (view, hasBreakpoint, pick) => {
        const composer = createComposer({ references: true })
        const whole = composer.compose(view, parametersOf(plain))
        fc.pre(whole.ok && whole.composed.lastBreakpoint !== null)
        // As a fork would: where the last mark stood when one of the messages was the last.
        const { messages } = whole.composed.segments
        const spot = spotOf(messages.slice(0, 1 + (pick % messages.length)), undefined)
        const breakpointAt = spot === null ? undefined : positionOf(messages[spot.message]!, spot.block)!
        const forked = composer.compose(
          view,
          parametersOf(plain, { parameters: { breakpointAt, lifetime: hasBreakpoint ? '5m' : null } }),
        )
        for (const outcome of [whole, forked])
          expect(
            outcome.ok && checkRequest(JSON.parse(outcome.composed.body), { cacheEdits: true }),
          ).toBeNull()
      }),
      runs,
    )
  })
})

describe('reasoning bound to its prefix', () => {
  it('[C4] is left out once an edit changed what stood before it, and only then', () => {
    let left = 0
    let kept = 0
    fc.assert(
      fc.property(moves, (list) => {
        const { entries, requests } = askedSession(list, { model: binding })
        for (const request of requests) {
          expect(said(request)).toBe('')
          for (const part of [...request.view.messages].flatMap((message) => message.parts)) {
            const signature = part.blocks.find(isReasoning)
            if (signature === undefined) continue
            const isSent = request.composed.body.includes(JSON.stringify(signature))
            if (isSent) kept++
            else left++
            const isChanged = entries.some(
              (entry) =>
                entry.seq > part.from &&
                entry.seq <= request.view.upTo &&
                startOf(entry, entries) <= part.from,
            )
            // What an undo under another edit gives back is not in sight, so it changes nothing.
            if (!isSent) expect(isChanged).toBe(true)
          }
        }
      }),
      runs,
    )
    expect(Math.min(left, kept)).toBeGreaterThan(0)
  })
})

/** The first place an entry changes in the view; Infinity for a plain fact. */
function startOf({ fact }: Entry, entries: readonly Entry[]): number {
  if (fact.type === 'instructions-set') return 0
  // A result that was too large when it came stands whole from then on.
  if (fact.type === 'undo' && fact.whole !== undefined) return fact.target
  const edit = fact.type === 'undo' ? entries.find((entry) => entry.seq === fact.target)?.fact : fact
  if (edit === undefined || !isEditing(edit)) return Infinity
  const changed = edit.edits.filter((each) => each.kind !== 'remote')
  return Math.min(...changed.map((each) => rangeOf(each)?.from ?? Infinity))
}

/** The provider looks back over twenty positions only, and the first image changes the key of all messages. */
function mayMiss(before: AskedRequest, after: AskedRequest): boolean {
  return changesBetween(before.composed.segments, after.composed.segments).some(
    (cause) => cause.kind === 'lookback' || cause.kind === 'images',
  )
}
