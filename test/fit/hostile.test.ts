// Lists and states as they come from programs with faults, from other programs and from people who try: whatever comes, the
// result may be sent or the failure says what to do, and nothing is thrown.
import { describe, expect, it } from 'vitest'
import { fit, usageIn, type FitOptions, type FitOutcome, type FitState } from '../../src/fit/index.ts'
import type { WireName } from '../../src/model/model.ts'
import { inWords, linesOf, models, wires, type Step } from './lists.ts'
import { callOf, fitted, roundsOf, type Fitted } from './rounds.ts'
import { begins, refusal, unitsOf } from './units.ts'

const user = (text: string): Step => ({ kind: 'prompt', text })
const answer = (text: string, ...calls: readonly string[]): Step => ({
  kind: 'answer',
  text,
  calls: calls.map(callOf),
})
const result = (id: string, text: string): Step => ({ kind: 'result', call: callOf(id), text })
const large = linesOf(1, 40_000)

const lists: Readonly<Record<string, readonly Step[]>> = {
  'a call without a result': [user('a'), answer('x', 'c'), user('b')],
  'a call without a result at the end': [user('a'), answer('x', 'c')],
  'a result without a call': [user('a'), result('z', large), user('b')],
  'a result first': [result('z', 'r'), user('b')],
  'a result behind the next prompt': [user('a'), answer('x', 'c'), user('b'), result('c', 'r')],
  'results in another order': [user('a'), answer('x', 'c', 'd'), result('d', '2'), result('c', '1')],
  'two results of a call': [user('a'), answer('x', 'c'), result('c', 'r'), result('c', large)],
  'one id for two calls': [user('a'), answer('x', 'c', 'c'), result('c', 'r'), result('c', 's')],
  'an id used again': [user('a'), answer('x', 'c'), result('c', 'r'), answer('y', 'c'), result('c', large)],
  'an empty id': [user('a'), answer('x', ''), result('', large)],
  'ids of a prototype': [
    user('a'),
    answer('x', '__proto__'),
    result('__proto__', large),
    answer('y', 'constructor'),
    result('constructor', large),
  ],
  'an empty prompt': [user('')],
  'empty messages': [user(''), answer(''), user('')],
  'an empty result': [user('a'), answer('x', 'c'), result('c', '')],
  'an answer first': [answer('hello'), user('b')],
  'an answer alone': [answer('hello')],
  'prompts alone': [user('a'), user('b'), user('c')],
  'pictures alone': Array.from({ length: 30 }, (): Step => ({ kind: 'prompt', text: '', picture: true })),
  'halves of characters': [
    user('a\uD800b'),
    answer('x\uDC00', 'c'),
    result('c', `\uDE00${'\u{1F600}'.repeat(9000)}\uD83D`),
  ],
  'control characters': [user('\u0000\u2028'), answer('x', 'c'), result('c', '\u0000'.repeat(30_000))],
  'a giant answer': [user('a'), answer(linesOf(1, 90_000)), user('b')],
  'a giant call': [
    user('a'),
    { kind: 'answer', text: 'x', calls: [{ ...callOf('c'), input: { text: linesOf(1, 90_000) } }] },
    result('c', 'ok'),
    answer('y', 'd'),
    result('d', 'ok'),
  ],
}

describe.each(wires)('on %s', (wire) => {
  const options: FitOptions = { wire, model: models[wire], store: false }
  /** What may be sent, or a failure that says how large it is. */
  function sendable(made: FitOutcome<unknown>, what: string): Fitted | null {
    if (made.ok) expect(refusal(wire, made.messages), what).toBeNull()
    else expect(made.code, `${what}: ${made.message}`).toBe('too-large')
    return made.ok ? made : null
  }

  it.each(Object.keys(lists))('[FI2] %s may be sent, and so may what comes behind it', (name) => {
    const list = inWords(wire, lists[name]!)
    for (const window of [undefined, 20_000]) {
      const first = sendable(fit(list, { ...options, window }), name)
      if (first === null) continue
      const more = inWords(wire, [user('more')])
      const state = JSON.parse(JSON.stringify(first.state)) as FitState
      sendable(fit([...list, ...more], { ...options, window, state }), `${name}, more`)
      sendable(fit([...first.messages, ...more], { ...options, window, state }), `${name}, carried`)
    }
  })

  it('[FI2] what a client says for itself may stand anywhere between, also where the older part is compacted', () => {
    const note = systemNote(wire)
    if (note === null) return
    const rounds = inWords(wire, roundsOf(Array<number>(12).fill(3000)))
    let compacted = 0
    const tried = [
      rounds.flatMap((message) => [message, note]),
      ...[0, 1, 2, 7, rounds.length].map((at) => [...rounds.slice(0, at), note, ...rounds.slice(at)]),
    ]
    for (const list of tried)
      for (const window of [9000, 14_000]) {
        expect(() => fit(list, { ...options, window })).not.toThrow()
        const made = sendable(fit(list, { ...options, window }), 'notes')
        compacted += made?.report.boundary?.isNew === true ? 1 : 0
      }
    expect(compacted).toBeGreaterThan(tried.length)
  })

  it('[FI10] two branches go on from one state, in whatever order, and neither learns of the other', () => {
    const start = inWords(wire, roundsOf([30_000, 30_000]))
    const base = fitted(fit(start, options))
    const branch = (text: string): readonly unknown[] => [
      ...start,
      ...inWords(wire, [answer(text, `d-${text}`), result(`d-${text}`, `${text} ${large}`)]),
    ]
    const alone = fitted(fit(branch('one'), { ...options, state: base.state }))
    const other = fitted(fit(branch('two'), { ...options, state: base.state }))
    const after = fitted(fit(branch('one'), { ...options, state: other.state }))
    expect(after.messages).toEqual(alone.messages)
    for (const made of [alone, other, after])
      expect(begins(unitsOf(wire, made.messages), unitsOf(wire, base.messages))).toBe(true)
    // Going back to the first branch with the state that saw both.
    expect(fitted(fit(branch('two'), { ...options, state: after.state })).messages).toEqual(other.messages)
  })

  it('[FI22] what was sent short stays so when something before it was changed, the first prompt too', () => {
    const sizes = [30_000, 30_000, 200]
    const before = fitted(fit(inWords(wire, roundsOf(sizes.slice(0, 1))), options))
    const next = fitted(fit(inWords(wire, roundsOf(sizes.slice(0, 2))), { ...options, state: before.state }))
    const changed = inWords(wire, roundsOf(sizes, 'Do the task. It is 10:32 now.'))
    const made = fitted(fit(changed, { ...options, state: next.state }))
    expect(made.report.edits.map(({ call, isNew }) => [call, isNew])).toEqual([
      ['c0', true],
      ['c1', true],
    ])
    expect(unitsOf(wire, made.messages).slice(1, 5)).toEqual(unitsOf(wire, next.messages).slice(1, 5))
    // Another conversation that has read the same file is not the same result.
    const other = inWords(wire, [
      user('Else.'),
      answer('x', 'k'),
      result('k', linesOf(0, 30_000)),
      answer('y'),
    ])
    const foreign = [...other, ...inWords(wire, [user('on')])]
    expect(fitted(fit(foreign, { ...options, state: next.state })).report.edits).toEqual([])
  })

  it('[FI4] a window that becomes smaller compacts what was compacted for a larger one', () => {
    const list = inWords(wire, roundsOf(Array<number>(20).fill(3000)))
    let state: FitState | null = null
    const smallest = [30_000, 16_000, 12_000, 10_000, 9000, 8000].filter((window) => {
      const made: FitOutcome<unknown> = fit(list, { ...options, window, state })
      const alone = fit(list, { ...options, window })
      expect(made.ok, `${window}: ${made.ok ? '' : made.message}`).toBe(alone.ok)
      if (made.ok) state = made.state
      return made.ok && made.report.boundary?.isNew === true
    })
    expect(smallest.length).toBeGreaterThan(1)
  })
})

const systemNote = (wire: WireName): object | null =>
  wire === 'gemini'
    ? null
    : wire === 'openai-responses'
      ? { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Mind the time.' }] }
      : { role: 'system', content: 'Mind the time.' }

describe('what is no message', () => {
  it('[FI15] blocks that are none are named, and contents of no known role are repaired; nothing is thrown', () => {
    const unthrown = (wire: WireName, list: readonly unknown[]): FitOutcome<unknown> => {
      const made = (): FitOutcome<unknown> => fit(list, { wire, model: models[wire] })
      expect(made).not.toThrow()
      return made()
    }
    for (const block of [null, 5, 'text', [], {}, { type: null }])
      expect(
        unthrown('anthropic', [{ role: 'user', content: [{ type: 'text', text: 'a' }, block] }]),
        JSON.stringify(block),
      ).toMatchObject({ ok: false, code: 'wrong-wire', message: expect.stringContaining('message 0') })
    const response = (id: string): object => ({
      functionResponse: { id, name: 'read', response: { output: 'ok' } },
    })
    for (const role of ['function', 'model']) {
      const list = [
        { role: 'user', parts: [{ text: 'a' }] },
        { role, parts: [response('x'), response('y')] },
        { role: 'user', parts: [{ text: 'b' }] },
      ]
      const made = fitted(unthrown('gemini', list))
      expect(refusal('gemini', made.messages), role).toBeNull()
    }
  })
})

describe('options', () => {
  it('[FI15] that nobody can have meant are refused by their names, and nothing is thrown', () => {
    const list = inWords('anthropic', roundsOf([100]))
    const wrong: readonly (readonly [name: string, given: object])[] = [
      ...[0, -5, Number.NaN, Infinity, '9'].map((window) => ['window', { window }] as const),
      ...[-1, Number.NaN].map((reserve) => ['reserve', { reserve }] as const),
      ...[7, Number.NaN, 'much'].map((thrift) => ['thrift', { thrift }] as const),
      ['now', { now: Number.NaN }],
      ['lifetimeMs', { lifetimeMs: -1 }],
      ['limits.resultChars', { limits: { resultChars: -1 } }],
      ['wire', { wire: 'toString' }],
      ...[{}, Symbol('w'), 9n].map((window) => ['window', { window }] as const),
      ...[null, {}, { carry: 1 }].map((thrift) => ['thrift', { thrift }] as const),
      ...[null, {}, [null], [{}], [{ id: 5 }], [{ id: 'm', window: 'large' }]].map(
        (rows) => ['models', { models: rows }] as const,
      ),
      ...[null, 'x', []].map((pins) => ['pins', { pins }] as const),
      ...[null, 'x'].map((wayBack) => ['wayBack', { wayBack }] as const),
      ['summarise', { summarise: 'x' }],
      ['quirks', { quirks: null }],
      ['limits', { limits: 'small' }],
      ['toolPolicies', { toolPolicies: null }],
      ['toolPolicies.read', { toolPolicies: { read: 5 } }],
      // What the API reports, handed in as it is.
      ['usage', { usage: { input_tokens: 100, output_tokens: 5 } }],
      ['usage', { usage: { input: -1, output: 0, cacheRead: 0, cacheWrite: Number.NaN } }],
      ['wire', { wire: undefined }],
      ['model', { model: undefined }],
    ]
    for (const [name, given] of wrong) {
      const made = fit(list, { wire: 'anthropic', model: models.anthropic, ...given } as FitOptions)
      expect(made, name).toMatchObject({ ok: false, code: 'bad-option' })
      expect(made.ok ? '' : made.message).toContain(`\`${name}\``)
    }
    // As a program without types calls it.
    expect(() => fit(list, undefined as never)).not.toThrow()
    expect(fit(list, undefined as never)).toMatchObject({ ok: false, code: 'bad-option' })
    expect(fit('hello' as never, { wire: 'anthropic', model: models.anthropic })).toMatchObject({
      ok: false,
      code: 'bad-option',
      message: '`messages` is wrong; it takes the list that you would send',
    })
    const large = inWords('anthropic', roundsOf([40_000]))
    const fails = (): never => {
      throw new Error('mine')
    }
    for (const [name, how, says] of [
      ['pins', { pins: fails }, 'threw: mine'],
      ['pins', { pins: async () => Promise.resolve(false) }, 'answered with a promise'],
      ['wayBack', { wayBack: fails }, 'threw: mine'],
      ['wayBack', { wayBack: async () => Promise.resolve('Ask.') }, 'answered with a promise'],
      ['wayBack', { wayBack: () => undefined }, 'it takes a function that returns a text'],
    ] as const) {
      const made = fit(large, { wire: 'anthropic', model: models.anthropic, ...how } as unknown as FitOptions)
      expect(made).toMatchObject({ ok: false, code: 'bad-option' })
      expect(made.ok ? '' : made.message).toContain(`the option \`${name}\` `)
      expect(made.ok ? '' : made.message).toContain(says)
    }
    expect(usageIn('openai' as never, { prompt_tokens: 5 })).toBeNull()
    const reserved = fit(list, {
      wire: 'anthropic',
      model: models.anthropic,
      window: 50_000,
      reserve: 20_000,
    })
    expect(fitted(reserved).report.limit).toBe(30_000)
    expect(fit(list, { wire: 'anthropic', model: models.anthropic, reserve: 2_000_000 })).toMatchObject({
      code: 'no-room',
      message: expect.stringContaining('`reserve`'),
    })
  })
})
