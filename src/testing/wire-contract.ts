// What every wire must do, as cases that any test runner can run: each throws when the wire breaks its promise.
//
//   for (const item of wireContract) it(`[${item.rule}] ${item.title}`, () => item.run(subject, fc))
//
// A subject is a wire with a few recorded answers and refusals of its provider, and a judge who says whether a body would
// be accepted (a simulator). Random sessions come from `arbitraryMoves`; fast-check is handed in.
import assert from 'node:assert/strict'
import type FastCheck from 'fast-check'
import { promptTokens } from '../model/usage.ts'
import { project } from '../projection/fold.ts'
import { textIn } from '../transcript/content.ts'
import { endOf } from '../transcript/stop.ts'
import { arbitraryMoves, type Move } from './arbitrary.ts'
import { answered, entriesOf, result, said } from './builders.ts'
import {
  bodyOf,
  cachedBytes,
  forkOf,
  mustPass,
  read,
  requestsOf,
  runsOf,
  sessionOf,
  viewAfter,
  type WireSubject,
} from './wire-subject.ts'

type Fc = typeof FastCheck

export interface WireCase {
  readonly rule: string
  readonly title: string
  run(subject: WireSubject, fc: Fc): void
}

/** Holds for the moves of every random session. */
const forMoves = (subject: WireSubject, fc: Fc, check: (moves: readonly Move[]) => void): void =>
  fc.assert(fc.property(arbitraryMoves(fc), check), runsOf(subject))

/** What every wire must do, as cases for any test runner. */
export const wireContract: readonly WireCase[] = [
  {
    rule: 'WI2',
    title: 'every view becomes a request that its rules and its judge accept',
    run: (subject, fc) => {
      let seen = 0
      forMoves(subject, fc, (moves) => {
        for (const { composed, parameters } of requestsOf(subject, moves)) {
          seen++
          mustPass(subject, composed.body, parameters.model)
        }
      })
      assert.ok(seen > 0)
    },
  },
  {
    rule: 'WI3',
    title: 'without an edit the next request begins with the bytes of this one up to the end of its messages',
    run: (subject, fc) => {
      let pairs = 0
      forMoves(subject, fc, (moves) => {
        const requests = requestsOf(subject, moves.filter(isPlain))
        for (const [index, next] of requests.entries()) {
          const before = requests[index - 1]
          if (before === undefined || before.parameters.model !== next.parameters.model) continue
          const cached = cachedBytes(subject, before.composed)
          if (cached === null) continue
          pairs++
          const body = subject.withoutMarks?.(next.composed.body) ?? next.composed.body
          assert.equal(body.slice(0, cached.length), cached)
        }
      })
      assert.ok(pairs >= runsOf(subject).numRuns / 2, `${pairs} pairs of requests`)
    },
  },
  {
    rule: 'WI3',
    title: 'a fork begins with the bytes of its parent, whichever request it leaves from',
    run: (subject, fc) => {
      let forks = 0
      forMoves(subject, fc, (moves) => {
        const { entries, requests } = sessionOf(subject, moves)
        for (const parent of requests) {
          const cached = cachedBytes(subject, parent.composed)
          if (cached === null) continue
          forks++
          const { body } = forkOf(subject, entries, parent)
          assert.equal((subject.withoutMarks?.(body) ?? body).slice(0, cached.length), cached)
          mustPass(subject, body, parent.parameters.model)
        }
      })
      assert.ok(forks >= runsOf(subject).numRuns / 2, `${forks} forks`)
    },
  },
  {
    rule: 'WI3',
    title: 'a composer that has kept what it wrote gives the bytes and the hash of a new one',
    run: (subject, fc) => {
      forMoves(subject, fc, (moves) => {
        for (const { view, parameters, composed } of requestsOf(subject, moves)) {
          const fresh = subject.wire.createComposer().compose(view, parameters)
          assert.ok(fresh.ok)
          assert.equal(fresh.composed.body, composed.body)
          assert.equal(fresh.composed.hash, composed.hash)
        }
      })
    },
  },
  {
    rule: 'WI4',
    title: 'an answer says the same streamed and whole: words, calls, end, usage',
    run: (subject) => {
      assert.ok(subject.answers.length > 0)
      for (const answer of subject.answers) {
        const streamed = read(subject, answer)
        const whole = answer.whole === null ? null : subject.wire.parse(answer.whole, subject.model)
        for (const message of [streamed, ...(whole === null ? [] : [whole])]) {
          const calls = message.content.flatMap((block) =>
            block.type === 'tool_use' && 'input' in block ? [{ name: block.name, input: block.input }] : [],
          )
          assert.equal(textIn(message.content, ''), answer.text, answer.name)
          assert.deepEqual(calls, answer.calls, answer.name)
          assert.equal(endOf(message), answer.ended, answer.name)
        }
        if (whole !== null) assert.deepEqual(whole.usage, streamed.usage, answer.name)
        for (const count of Object.values(streamed.usage)) assert.ok(Number.isFinite(count) && count >= 0)
      }
      assert.equal(subject.wire.parse('no answer', subject.model), null)
    },
  },
  {
    rule: 'WI5',
    title: 'what only its maker reads goes back byte for byte to the model that made it, and to no other',
    run: (subject) => {
      for (const answer of subject.answers) {
        const view = viewAfter(read(subject, answer), subject.model)
        const own = bodyOf(subject, view, subject.model)
        const other = bodyOf(subject, view, subject.otherModel)
        for (const bytes of answer.goesBack) {
          assert.ok(own.includes(bytes), `${answer.name}: ${bytes} goes back`)
          assert.ok(!other.includes(bytes), `${answer.name}: ${bytes} goes to no other model`)
        }
        for (const [body, model] of [
          [own, subject.model],
          [other, subject.otherModel],
        ] as const)
          mustPass(subject, body, model)
      }
    },
  },
  {
    rule: 'WI5',
    title: 'what another wire kept is left out, and the request is valid without it',
    run: (subject) => {
      const foreign = { wire: 'nobody', model: subject.model }
      const entries = entriesOf(
        said('go'),
        answered(
          [
            { type: 'item', ...foreign, raw: '{"secret":"sealed-item"}', tokens: 5 },
            { type: 'text', text: 'I look.', sidecar: { ...foreign, raw: '"sealed-text"' } },
            {
              type: 'tool_use',
              id: 'call_1',
              name: 'Read',
              input: { path: 'a' },
              sidecar: { ...foreign, raw: '"sealed-call"' },
            },
          ],
          { model: subject.model, stop: 'tool_use' },
        ),
        result('call_1', 'found'),
        // An answer of nothing else shows nothing.
        answered([{ type: 'item', ...foreign, raw: '{"secret":"sealed-alone"}', tokens: 5 }], {
          model: subject.model,
          id: 'msg_2',
        }),
        said('and now?'),
      )
      const body = bodyOf(subject, project(entries), subject.model)
      assert.ok(!body.includes('sealed'), 'nothing of another wire is sent')
      assert.ok(body.includes('I look.') && body.includes('call_1'))
      mustPass(subject, body, subject.model)
    },
  },
  {
    rule: 'WI6',
    title: 'repair leaves a valid request alone, makes any other valid, and does nothing the second time',
    run: (subject, fc) => {
      let damaged = 0
      fc.assert(
        fc.property(
          arbitraryMoves(fc),
          fc.array(fc.nat(), { minLength: 8, maxLength: 40 }),
          (moves, picks) => {
            const asked = requestsOf(subject, moves).at(-1)
            if (asked === undefined) return
            const target = { model: asked.parameters.model }
            const request: unknown = JSON.parse(asked.composed.body)
            if (subject.wire.check(request, target).length === 0) {
              const whole = subject.wire.repair(request, target)
              assert.equal(whole.request, request)
              assert.deepEqual(whole.repairs, [])
            }
            if (subject.damage === undefined) return
            let turn = 0
            const pick = (below: number): number => picks[turn++ % picks.length]! % Math.max(1, below)
            const broken = subject.damage(structuredClone(request), pick)
            const before = JSON.stringify(broken)
            const once = subject.wire.repair(broken, target)
            assert.equal(JSON.stringify(broken), before, 'the input is not changed')
            if (once.repairs.length > 0) damaged++
            mustPass(subject, JSON.stringify(once.request), target.model)
            const twice = subject.wire.repair(once.request, target)
            assert.deepEqual(twice.repairs, [])
            assert.equal(JSON.stringify(twice.request), JSON.stringify(once.request))
          },
        ),
        runsOf(subject),
      )
      assert.ok(subject.damage === undefined || damaged > 0)
    },
  },
  {
    rule: 'WI7',
    title: 'each refusal of the provider has its code, a sentence, and a word whether to try again',
    run: ({ wire, refusals }) => {
      assert.ok(refusals.some(({ code }) => code === 'overflow'))
      for (const { status, text, code, retry } of refusals) {
        const verdict = wire.failureOf({ status, text, header: () => null }, 0)
        assert.equal(verdict.failure.code, code, text)
        assert.equal(verdict.retry, retry, text)
        assert.notEqual(verdict.failure.message.trim(), '')
      }
    },
  },
  {
    rule: 'WI8',
    title:
      'usage adds up: what was read and written is no part of the plain input, and nothing is below zero',
    run: (subject) => {
      const none = subject.wire.usageOf(undefined)
      assert.equal(promptTokens(none) + none.output, 0)
      for (const answer of subject.answers) {
        const { usage } = read(subject, answer)
        assert.ok(promptTokens(usage) > 0 && usage.output > 0, answer.name)
        assert.ok((usage.cacheWrite1h ?? 0) <= usage.cacheWrite)
      }
    },
  },
  {
    rule: 'WI8',
    title:
      'its cache rules are whole: a lifetime where something is cached, and factors and steps above zero',
    run: ({ wire }) => {
      const rules = wire.cacheRules(null)
      assert.equal(rules.lifetimes.length > 0, rules.kind !== 'none')
      assert.equal(rules.kind === 'explicit', wire.capabilities.breakpoints)
      assert.ok(rules.stepTokens > 0 && rules.readFactor > 0 && rules.writeFactor > 0 && rules.minTokens >= 0)
      assert.ok(rules.breaks.slackTokens >= rules.stepTokens - 1 && rules.breaks.hitsBefore >= 0)
    },
  },
]

const isPlain = ({ move }: Move): boolean =>
  ['say', 'answer', 'result', 'crash', 'attach', 'end'].includes(move)
