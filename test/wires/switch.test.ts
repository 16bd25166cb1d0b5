// A session that changes its wire in the middle: every ordered pair of the four, over random sessions.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Fold } from '../../src/projection/fold.ts'
import { arbitraryMoves, played } from '../../src/testing/arbitrary.ts'
import { mustPass, parametersOf, withSidecars, type WireSubject } from '../../src/testing/wire-subject.ts'
import { answered, entriesOf, said } from '../../src/testing/builders.ts'
import { leftBehind, leftBehindText } from '../../src/wires/left-behind.ts'
import { anthropicSubject } from './anthropic-subject.ts'
import { geminiSubject } from './gemini-subject.ts'
import { openAiChatSubject } from './openai-chat-subject.ts'
import { openAiResponsesSubject } from './openai-responses-subject.ts'

const subjects = [anthropicSubject, openAiChatSubject, openAiResponsesSubject, geminiSubject]
const pairs = subjects.flatMap((from) =>
  subjects.filter((to) => to !== from).map((to) => [from.wire.name, to.wire.name, from, to] as const),
)
const runs = Number(process.env['PROPERTY_RUNS'] ?? 25)
const long = 600_000

describe.each(pairs)('from %s to %s', (_from, _to, from, to) => {
  it(
    '[WI9] what was said goes along and is taken, what is sealed stays behind and is named',
    () => {
      let requests = 0
      let named = 0
      const property = fc.property(arbitraryMoves(fc), fc.nat({ max: 6 }), (moves, after) => {
        let answers = 0
        const composer = to.wire.createComposer()
        played(moves, (fact, fold) => {
          const maker = answers++ < after ? from : to
          if (maker === to && answers > after + 1) {
            requests++
            const view = fold.view()
            const parameters = parametersOf(to, to.model)
            const outcome = composer.compose(view, parameters)
            if (outcome.ok) {
              mustPass(to, outcome.composed.body, to.model)
              expect(outcome.composed.body).not.toContain(sealedBy(from))
              if (leftBehind(view, { wire: to.wire.name, model: to.model }).length > 0) named++
            }
          }
          return made(maker, fact)
        })
      })
      // Chance may leave out what a case is about: then others are drawn.
      const isSeen = (): boolean => requests > 0 && (from.asMade === undefined || named > 0)
      fc.assert(property, { numRuns: runs })
      for (let round = 0; round < 20 && !isSeen(); round++) fc.assert(property, { numRuns: runs })
      expect(requests).toBeGreaterThan(0)
      if (from.asMade !== undefined) expect(named).toBeGreaterThan(0)
    },
    long,
  )
})

const made = (maker: WireSubject, fact: ReturnType<typeof answered>): ReturnType<typeof answered> =>
  maker.asMade?.(fact, maker.model) ?? withSidecars(maker, fact, maker.model)

/** What the answers of a maker carry that nobody else may see. */
function sealedBy(maker: WireSubject): string {
  const fact = made(
    maker,
    answered(
      [
        { type: 'thinking', thinking: 'hm', signature: 'x' },
        { type: 'tool_use', id: 'c', name: 'Read', input: {} },
      ],
      { id: 'm' },
    ),
  )
  const found = /"?(?:encrypted_content|thoughtSignature|signature)\\?":\\?"([A-Za-z0-9+/=]{30,60})/.exec(
    JSON.stringify(fact.content),
  )
  return found?.[1] ?? 'nothing is sealed'
}

it('[WI9] what is left behind is said by maker, kind and size', () => {
  const fold = new Fold()
  const sidecar = { wire: 'gemini', model: 'gemini-4-argon', raw: '{"thoughtSignature":"c2ln"}' }
  for (const entry of entriesOf(
    said('go'),
    answered([
      { type: 'thinking', thinking: 'a thought', signature: 'EqQB' },
      { type: 'text', text: 'one' },
    ]),
    said('and'),
    answered([{ type: 'text', text: 'two', sidecar }], { model: 'gemini-4-argon', id: 'r' }),
    said('more'),
  ))
    fold.push(entry)
  const view = fold.view()
  expect(leftBehind(view, { wire: 'anthropic', model: 'claude-sonnet-4-6' })).toMatchObject([
    { what: 'signature', model: 'gemini-4-argon', count: 1 },
  ])
  const toOpenAi = leftBehind(view, { wire: 'openai-chat', model: 'gpt-6-sol' })
  expect(toOpenAi).toMatchObject([
    { what: 'reasoning', model: 'claude-sonnet-4-6', count: 1 },
    { what: 'signature', model: 'gemini-4-argon', count: 1, tokens: 0 },
  ])
  expect(leftBehindText(toOpenAi)).toMatch(/1 thought of claude-sonnet-4-6 .*1 signature of gemini-4-argon/)
  expect(leftBehindText([])).toBeNull()
})
