// The law of prefixes on the caches of the providers: what one request sent is read by the next, and what a report of a broken
// cache says is what was changed. Over random sessions, on the simulator's dialects, which share no code with the wires.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lookUp, modelTable } from '../../src/model/models.ts'
import { isEditing, type Edit, type Fact, type Usage } from '../../src/transcript/fact.ts'
import { Fold } from '../../src/projection/fold.ts'
import { createBreakDetector } from '../../src/request/break-detector.ts'
import { changesBetween } from '../../src/request/break-report.ts'
import type { Composed } from '../../src/request/compose.ts'
import { createBench, type DialectOutcome } from '../../src/simulator/dialects/front.ts'
import { createGemini } from '../../src/simulator/dialects/gemini/exchange.ts'
import { dialectModels, findDialectModel } from '../../src/simulator/dialects/models.ts'
import { createChat } from '../../src/simulator/dialects/openai/chat/exchange.ts'
import { serverQuirks } from '../../src/simulator/dialects/openai/quirks.ts'
import { createResponse } from '../../src/simulator/dialects/openai/responses/exchange.ts'
import { createResponseStore } from '../../src/simulator/dialects/openai/responses/store.ts'
import { createManualClock } from '../../src/simulator/exchange.ts'
import { arbitraryMoves, type Move } from '../../src/testing/arbitrary.ts'
import { answered, call, Pen, result, said, start, thought } from '../../src/testing/builders.ts'
import {
  forkOf,
  parametersOf,
  sessionOf,
  type Asked,
  type WireSubject,
} from '../../src/testing/wire-subject.ts'
import { seq } from '../../src/transcript/ids.ts'
import { geminiSubject } from './gemini-subject.ts'
import { openAiChatSubject } from './openai-chat-subject.ts'
import { openAiResponsesSubject, sealedFor } from './openai-responses-subject.ts'

const runs = { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 60) }
const long = 3_600_000
/** The same cases each time: how often a break must be seen is counted. */
const repeated = { ...runs, seed: 20_261_116 }

/** A provider that answers nothing much and reports what its cache did. `chance`: how often it hits, where it promises nothing. */
function providerOf({ wire }: WireSubject, chance = 1) {
  const clock = createManualClock()
  const answerer = { answer: () => ({ content: [{ type: 'text', text: 'ok' }], stop_reason: 'end_turn' }) }
  const bench = createBench({
    answerer,
    clock,
    secret: 'judge',
    models: dialectModels,
    overflow: 'refused',
    luck: { chance, seed: 7 },
  })
  const store = createResponseStore()
  const quirks = serverQuirks.openai
  const ask = (body: unknown, model: string): Promise<DialectOutcome> => {
    const common = { body, headers: {}, tenant: sealedFor }
    if (wire.name === 'gemini') return createGemini(bench, { ...common, model, asEvents: true })
    if (wire.name === 'openai-chat') return createChat(bench, { ...common, quirks })
    return createResponse(bench, { ...common, quirks, store })
  }
  return {
    clock,
    /** What the wire reads of the usage it reports. */
    async ask({ body }: Composed, model: string): Promise<{ readonly usage: Usage; readonly total: number }> {
      const outcome = await ask(JSON.parse(body), model)
      if (!outcome.ok) throw new Error(outcome.refused.message)
      outcome.reply.begin()
      clock.advance(1000)
      const whole = outcome.reply.body() as { readonly usage?: unknown; readonly usageMetadata?: unknown }
      return {
        usage: wire.usageOf(whole.usage ?? whole.usageMetadata),
        total: outcome.reply.reading.totalTokens,
      }
    },
  }
}

const rulesOf = ({ wire }: WireSubject, model: string) => wire.cacheRules(lookUp(modelTable(), model))

/** Everything of this request is cached: nothing stands behind the block where the cached part ends. */
function isWholeCached({ segments: { messages, breakpoint } }: Composed): boolean {
  const last = messages.length - 1
  return breakpoint?.message === last && breakpoint.block === messages[last]!.blocks.length - 1
}

/** One model throughout, so that one request follows the other. */
const oneModel = (moves: readonly Move[]): readonly Move[] =>
  moves.map((move) => (move.move === 'answer' ? { ...move, model: 'claude-sonnet-4-6' } : move))

const subjects = [openAiChatSubject, openAiResponsesSubject, geminiSubject] as const

describe.each(subjects.map((subject) => [subject.wire.name, subject] as const))('%s', (_, subject) => {
  const { step, minimum } = findDialectModel(dialectModels, subject.model)!.cache

  it(
    '[C1] the next request, and a fork, read all that this one sent',
    async () => {
      let followed = 0
      let forked = 0
      await fc.assert(
        fc.asyncProperty(arbitraryMoves(fc), fc.nat(), async (moves, pick) => {
          const provider = providerOf(subject)
          const plain = oneModel(moves).filter(({ move }) => plainMoves.has(move))
          const { entries, requests } = sessionOf(subject, plain)
          const leaves = pick % Math.max(1, requests.length)
          let before: { readonly total: number } | null = null
          for (const [index, { composed, parameters }] of requests.entries()) {
            const read = await provider.ask(composed, parameters.model)
            if (before !== null && before.total >= minimum + step) {
              followed++
              expect(read.usage.cacheRead).toBeGreaterThanOrEqual(before.total - step)
            }
            before = isWholeCached(composed) ? read : null
            if (index !== leaves || before === null || read.total < minimum + step) continue
            const fork = await provider.ask(forkOf(subject, entries, requests[index]!), parameters.model)
            forked++
            expect(fork.usage.cacheRead).toBeGreaterThanOrEqual(read.total - step)
          }
        }),
        runs,
      )
      expect(followed).toBeGreaterThan(runs.numRuns / 4)
      expect(forked).toBeGreaterThan(runs.numRuns / 10)
    },
    long,
  )

  it(
    '[X17] a break is reported where something cached was changed, and names the first change; a session that only grows has none',
    async () => {
      let changed = 0
      let quiet = 0
      await fc.assert(
        fc.asyncProperty(arbitraryMoves(fc), async (moves) => {
          const provider = providerOf(subject)
          const detector = createBreakDetector()
          const { entries, requests } = sessionOf(subject, oneModel(moves))
          let before: Asked | null = null
          let hits = 0
          let lastRead = 0
          for (const next of requests) {
            const { model } = next.parameters
            const rules = rulesOf(subject, model)
            const pending = detector.before('main', next.composed, provider.clock.now())
            const { usage } = await provider.ask(next.composed, model)
            const found = detector.after(pending, { usage, rules })
            const isSame = before === null || !isEdited(entries, before, next)
            if (isSame) {
              quiet++
              expect(found).toBeNull()
            }
            const fell = lastRead - usage.cacheRead
            if (found !== null && before !== null) {
              changed++
              expect(found.causes[0]!.kind).not.toBe('server')
              expect(holdsChange(before, next, found.causes[0]!)).toBe(true)
            } else if (before !== null && hits >= rules.breaks.hitsBefore)
              // What fell without a report lies within what the rules let pass.
              expect(fell).toBeLessThanOrEqual(Math.max(rules.breaks.slackTokens, lastRead * 0.05))
            hits = usage.cacheRead > 0 ? hits + 1 : 0
            lastRead = usage.cacheRead
            before = next
          }
        }),
        repeated,
      )
      expect(quiet).toBeGreaterThan(runs.numRuns)
      expect(changed).toBeGreaterThan(0)
    },
    long,
  )
})

it.each([openAiChatSubject, openAiResponsesSubject])(
  '[X1] $wire.name: items that stand in other messages, with the same bytes, are no change',
  (subject) => {
    const fold = new Fold()
    const pen = new Pen()
    const composer = subject.wire.createComposer()
    const written = (...facts: readonly Fact[]): Composed => {
      for (const fact of facts) fold.push(pen.write(fact))
      const outcome = composer.compose(fold.view(), parametersOf(subject, subject.model))
      if (!outcome.ok) throw new Error(outcome.why)
      return outcome.composed
    }
    const edit = (one: Edit): Fact => ({
      type: 'view-edit',
      layer: 'test',
      asked: 'user',
      edits: [one],
      why: 'a test',
      tokensFreed: 0,
    })
    const before = written(
      start(),
      said('go'),
      answered([call('c1')], { id: 'm1', stop: 'tool_use' }),
      result('c1', 'found'),
      // Nothing of it is sent on this wire, but it parts two messages.
      answered([thought('hm')], { id: 'm2' }),
      said('and?'),
      answered([call('c2')], { id: 'm3', stop: 'tool_use' }),
      result('c2', 'found as well'),
    )
    const joined = written(edit({ kind: 'drop', from: seq(4), to: seq(4) }))
    expect(joined.body).toBe(before.body)
    expect(joined.segments.messages.length).toBe(before.segments.messages.length - 1)
    const rules = rulesOf(subject, subject.model)
    expect(changesBetween(before.segments, joined.segments, rules)).toEqual([])
    expect(changesBetween(joined.segments, before.segments, rules)).toEqual([])
    const stubbed = written(edit({ kind: 'stub', at: { seq: seq(7), block: 0 }, text: '[gone]', ref: '7' }))
    for (const earlier of [before, joined])
      expect(changesBetween(earlier.segments, stubbed.segments, rules)).toMatchObject([
        { kind: 'message', entry: 7, block: 0 },
      ])
  },
)

it('[X17] a cache that hits by chance is called broken only after three hits in a row', async () => {
  const provider = providerOf(geminiSubject, 0.5)
  const detector = createBreakDetector()
  const moves: Move[] = Array.from({ length: 60 }, (_, turn) => [
    {
      move: 'say' as const,
      content: [{ type: 'text' as const, text: `turn ${turn} ${'x'.repeat(20_000)}` }],
      injected: false,
    },
    {
      move: 'answer' as const,
      texts: ['yes'],
      calls: 0,
      thinks: false,
      cut: false,
      usage: true,
      model: 'claude-sonnet-4-6',
    },
    { move: 'end' as const },
  ]).flat()
  const { requests } = sessionOf(geminiSubject, moves)
  const read: number[] = []
  const broken: number[] = []
  for (const [index, { composed, parameters }] of requests.entries()) {
    const pending = detector.before('main', composed, provider.clock.now())
    const { usage } = await provider.ask(composed, parameters.model)
    const found = detector.after(pending, { usage, rules: rulesOf(geminiSubject, parameters.model) })
    read.push(usage.cacheRead)
    if (found === null) continue
    broken.push(index)
    expect(found.causes).toEqual([{ kind: 'server' }])
  }
  const missed = read.flatMap((tokens, index) =>
    index > 3 && tokens === 0 && read.slice(index - 3, index).every((each) => each > 0) ? [index] : [],
  )
  expect(broken).toEqual(missed)
  expect(missed.length).toBeGreaterThan(0)
  expect(read.filter((tokens) => tokens === 0).length).toBeGreaterThan(missed.length)
})

const plainMoves = new Set(['say', 'answer', 'result', 'crash', 'attach', 'end'])
const edits = new Set(['undo', 'rewind', 'instructions-set'])

/** Whether anything between two requests may have changed what was sent. */
function isEdited(entries: ReturnType<typeof sessionOf>['entries'], before: Asked, next: Asked): boolean {
  return entries.some(
    ({ seq, fact }) =>
      seq > before.view.upTo && seq <= next.view.upTo && (isEditing(fact) || edits.has(fact.type)),
  )
}

/** Whether the first place in which two bodies differ lies where a cause says. */
function holdsChange(
  before: Asked,
  next: Asked,
  cause: { readonly kind: string; readonly index?: number },
): boolean {
  if (cause.kind !== 'message') return ['system', 'tools', 'model'].includes(cause.kind)
  const { body, segments } = before.composed
  const at = firstDifferent(unmarked(body), unmarked(next.composed.body))
  const message = segments.messages[cause.index!]!.json
  let from = unmarked(body).indexOf(segments.messages[0]!.json)
  for (const each of segments.messages.slice(0, cause.index)) from += each.json.length + 1
  // A message that is gone differs by the comma before it; a block that was added stands as an item in the place of the
  // next one, and both begin alike (`{"type":"`).
  return at >= from - 1 && at <= from + message.length + 1 + alikeChars
}
const alikeChars = 12

const unmarked = (body: string): string =>
  body.replaceAll(',"prompt_cache_breakpoint":{"mode":"explicit"}', '')

function firstDifferent(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return at
}
