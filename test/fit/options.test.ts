// What a caller may say beyond wire and model: pins, rules for tools, a model of its own for the text of a compaction; and what
// it is told about cost.
import { describe, expect, it } from 'vitest'
import { fit, type FitOptions, type FitState, type SummaryRequest } from '../../src/fit/index.ts'
import { inWords, linesOf, models, wires, type Step } from './lists.ts'
import { callOf, fitted, roundsOf, type Fitted } from './rounds.ts'
import { begins, refusal, unitsOf } from './units.ts'

const rule = 'PINNED: never touch the file ledger-of-1994.dat, and say so in every answer.'
/** Rounds of results between two prompts, the first of which holds what must stay. */
const withRule = (rounds: number): readonly Step[] => [
  { kind: 'prompt', text: 'Begin.' },
  { kind: 'answer', text: 'Ready.', calls: [] },
  { kind: 'prompt', text: 'One thing before.' },
  { kind: 'answer', text: 'Reading it.', calls: [callOf('rule')] },
  { kind: 'result', call: callOf('rule'), text: `${rule}\n${linesOf(3, 2500)}` },
  ...roundsOf(Array<number>(rounds).fill(3000)).slice(1),
]
const small = 12_000

describe.each(wires)('on %s', (wire) => {
  const options: FitOptions = { wire, model: models[wire], store: false }
  const isRule = (message: unknown): boolean => JSON.stringify(message).includes('PINNED')

  it('[FI18] what is pinned stands word for word through compactions, and its results are never shortened', () => {
    const seen = { compactions: 0, withoutPin: 0 }
    for (const pins of [isRule, undefined]) {
      let state: FitState | null = null
      for (let rounds = 4; rounds <= 24; rounds += 4) {
        const list = inWords(wire, withRule(rounds))
        const made: Fitted = fitted(
          fit(list, { ...options, window: small, state, pins, limits: { resultChars: 2000 } }),
        )
        expect(refusal(wire, made.messages)).toBeNull()
        state = made.state
        const text = JSON.stringify(made.messages)
        const whole = JSON.stringify(`${rule}\n${linesOf(3, 2500)}`).slice(1, -1)
        if (pins === undefined) seen.withoutPin += text.includes(whole) ? 1 : 0
        else {
          expect(text).toContain(whole)
          seen.compactions += made.report.boundary?.isNew === true ? 1 : 0
        }
      }
    }
    expect(seen.compactions).toBeGreaterThan(1)
    // Without a pin it goes, so the pin is what keeps it.
    expect(seen.withoutPin).toBeLessThan(6)
  })

  it('[FI19] the results of a tool pass whole up to what is said of it, and of others as usual', () => {
    const other = { id: 'o', name: 'search', input: {} }
    const steps: Step[] = [
      { kind: 'prompt', text: 'Look.' },
      { kind: 'answer', text: 'Both.', calls: [callOf('r'), other] },
      { kind: 'result', call: callOf('r'), text: linesOf(1, 20_000) },
      { kind: 'result', call: other, text: linesOf(2, 20_000) },
    ]
    const shortened = (toolPolicies: FitOptions['toolPolicies']): readonly string[] =>
      fitted(fit(inWords(wire, steps), { ...options, toolPolicies })).report.edits.map(({ call }) => call)
    expect(shortened(undefined)).toEqual(['r', 'o'])
    expect(shortened({ read: { maxResultChars: null } })).toEqual(['o'])
    expect(shortened({ read: { maxResultChars: 25_000 }, search: { maxResultChars: 25_000 } })).toEqual([])
    expect(shortened({ search: { maxResultChars: 100 }, toString: { maxResultChars: 1 } })).toEqual([
      'r',
      'o',
    ])
  })

  it('[FI20] the text of a compaction is the one that the caller has written, once, and the same ever after', async () => {
    const asked: SummaryRequest[] = []
    const account = `The agent has read many files and found nothing yet. ${'It went on from one to the next. '.repeat(8)}`
    let state: FitState | null = null
    let before: readonly string[] = []
    for (let rounds = 4; rounds <= 14; rounds++) {
      const list = inWords(wire, roundsOf(Array<number>(rounds).fill(3000)))
      const made: Fitted = fitted(
        await fit(list, {
          ...options,
          window: small + 1000,
          state,
          summarise: (ask) => {
            asked.push(ask)
            return Promise.resolve(account)
          },
        }),
      )
      expect(refusal(wire, made.messages)).toBeNull()
      if (made.report.boundary?.isNew === true) {
        expect(asked.at(-1)!.messages).toEqual(list.slice(made.report.boundary.from, made.report.boundary.to))
        expect(asked.at(-1)!.maxTokens).toBeGreaterThan(0)
        expect(made.report.declined).toEqual([])
      } else expect(begins(unitsOf(wire, made.messages), before)).toBe(true)
      if (made.report.boundary !== null) expect(JSON.stringify(made.messages)).toContain(account.trim())
      before = unitsOf(wire, made.messages)
      state = made.state
    }
    expect(asked.length).toBeGreaterThan(0)
    expect(asked.length).toBeLessThan(10)
  })
})

describe('a text by the caller', () => {
  const list = inWords('anthropic', roundsOf(Array<number>(14).fill(3000)))
  const options: FitOptions = { wire: 'anthropic', model: models.anthropic, window: small }

  it('[FI20] that fails, says nothing, calls a tool or is too long is not used, and that is told', async () => {
    const plain = fitted(fit(list, options))
    expect(plain.report.boundary?.isNew).toBe(true)
    const bad: Readonly<Record<string, () => Promise<string>>> = {
      'no key': () => Promise.reject(new Error('no key')),
      thrown: () => {
        throw new TypeError('thrown')
      },
      'too little': () => Promise.resolve('Ok.'),
      'markup of a call': () => Promise.resolve(`<tool_call>${'x'.repeat(400)}</tool_call>`),
      'is the most': () => Promise.resolve(linesOf(7, 30_000)),
    }
    for (const [why, summarise] of Object.entries(bad)) {
      const made = fitted(await fit(list, { ...options, summarise }))
      expect(made.messages, why).toEqual(plain.messages)
      expect(made.report.declined.join(), why).toContain(why)
    }
  })

  it('[FI20] is not asked for where nothing is compacted, and failures are the same', async () => {
    const never = (): Promise<string> => Promise.reject(new Error('asked'))
    const whole = await fit(list.slice(0, 3), { ...options, summarise: never })
    expect(fitted(whole).report.declined).toEqual([])
    expect(await fit([], { ...options, summarise: never })).toMatchObject({ ok: false, code: 'empty' })
  })
})

describe('cost', () => {
  it('[FI13] a provider that names no price for writing its cache is not compacted as if writing were free', () => {
    const prices = { input: 5, output: 30, read: 0.5, write1h: 0 }
    const row = (id: string, write5m: number) => ({ id, window: 200_000, prices: { ...prices, write5m } })
    const models = [row('priced', 5), row('unpriced', 0)]
    /** The turn at which each is compacted first. */
    const firstAt = (model: string): number => {
      let state: FitState | null = null
      for (let turn = 1; turn <= 30; turn++) {
        const steps = Array.from({ length: turn }, (_, at): readonly Step[] => [
          { kind: 'prompt', text: `Task ${at}.` },
          { kind: 'answer', text: linesOf(at, 9000), calls: [] },
        ])
          .flat()
          .slice(0, -1)
        const usage =
          state === null ? null : { input: 0, cacheRead: state.estimate, cacheWrite: 0, output: 1 }
        const made: Fitted = fitted(
          fit(inWords('openai-chat', steps), {
            wire: 'openai-chat',
            model,
            models,
            state,
            usage,
            now: 1e12 + turn * 20_000,
          }),
        )
        if (made.report.boundary !== null) return turn
        state = made.state
      }
      return Infinity
    }
    expect(firstAt('priced')).toBeLessThan(Infinity)
    expect(firstAt('unpriced')).toBe(firstAt('priced'))
  })

  it('[FI21] is told for this call and for the next: a compaction is paid once and each further call is cheaper', () => {
    const options: FitOptions = { wire: 'anthropic', model: models.anthropic, window: small }
    let state: FitState | null = null
    const seen = { compactions: 0, plain: 0 }
    for (let rounds = 1; rounds <= 14; rounds++) {
      const made: Fitted = fitted(
        fit(inWords('anthropic', roundsOf(Array<number>(rounds).fill(3000))), { ...options, state }),
      )
      const { cost, boundary, tokensBefore, tokensAfter } = made.report
      const { now, next } = cost!
      expect(next.fitted).toBeLessThanOrEqual(next.untouched)
      expect(next.fitted / next.untouched).toBeCloseTo(tokensAfter / tokensBefore)
      if (boundary?.isNew === true) {
        seen.compactions++
        // What stands behind the first prompt is written anew.
        expect(now.fitted).toBeGreaterThan(next.fitted * 5)
        expect(next.fitted).toBeLessThan(next.untouched)
      } else if (boundary === null && rounds > 1) {
        seen.plain++
        expect(now).toEqual({ untouched: now.fitted, fitted: now.fitted })
        expect(now.fitted).toBeLessThan(next.fitted * 8)
      }
      state = made.state
    }
    expect(seen.compactions).toBeGreaterThan(0)
    expect(seen.plain).toBeGreaterThan(1)
  })

  it('[FI21] counts a cache that is cold, and none where a model has no price', () => {
    const list = inWords('anthropic', roundsOf([3000, 3000]))
    const options: FitOptions = { wire: 'anthropic', model: models.anthropic, now: 1e12 }
    const { state } = fitted(fit(list.slice(0, 3), options))
    const at = (now: number): number => fitted(fit(list, { ...options, state, now })).report.cost!.now.fitted
    expect(at(1e12 + 10 * 60_000)).toBeGreaterThan(at(1e12 + 60_000))
    expect(fitted(fit(list, { ...options, model: 'mine', window: 100_000 })).report.cost).toBeNull()
  })
})
