// What `fit` does with states, limits and input that nobody should give it.
import { describe, expect, it } from 'vitest'
import { fit, usageIn, type FitOptions, type FitOutcome, type FitState } from '../../src/fit/index.ts'
import { inWords, linesOf, models, wires, type Call, type Step } from './lists.ts'
import { callOf, fitted, roundsOf } from './rounds.ts'
import { begins, refusal, unitsOf } from './units.ts'

const anthropic: FitOptions = { wire: 'anthropic', model: 'claude-sonnet-5' }

const failedWith = (outcome: FitOutcome<unknown>): string =>
  outcome.ok ? 'it went well' : `${outcome.code}: ${outcome.message}`

describe.each(wires)('results on %s', (wire) => {
  const options: FitOptions = { wire, model: models[wire], store: false }

  it('[FI11] are shortened behind the last answer alone, once, whatever the limits say later', () => {
    const first = fitted(fit(inWords(wire, roundsOf([30_000, 30_000])), options))
    // The first was answered, so it was sent before we were asked.
    expect(first.report.edits.map(({ call, why, isNew }) => [call, why, isNew])).toEqual([
      ['c1', 'large', true],
    ])
    const next = fitted(
      fit(inWords(wire, roundsOf([30_000, 30_000, 5000])), {
        ...options,
        state: first.state,
        limits: { resultChars: 1000, headChars: 100, tailChars: 100 },
      }),
    )
    expect(next.report.edits.map(({ call, isNew }) => [call, isNew])).toEqual([
      ['c1', false],
      ['c2', true],
    ])
    expect(begins(unitsOf(wire, next.messages), unitsOf(wire, first.messages))).toBe(true)
    expect(refusal(wire, next.messages)).toBeNull()
  })

  it('[FI12] are returned whole under the reference that the text names', () => {
    const made = fitted(
      fit(inWords(wire, roundsOf([30_000])), {
        ...options,
        wayBack: (ref) => `Call expand with {"ref": "${ref}"} for the whole`,
      }),
    )
    const [edit] = made.report.edits
    expect(made.kept).toEqual([{ ref: edit!.ref, text: linesOf(0, 30_000) }])
    expect(JSON.stringify(made.messages)).toContain(JSON.stringify(`{"ref": "${edit!.ref}"}`).slice(1, -1))
  })

  it('[FI14] that repeat another are named while that one is sent, and no longer', () => {
    const [one, two, three] = ['a', 'b', 'c'].map(callOf) as [Call, Call, Call]
    const text = linesOf(5, 3000)
    const steps: Step[] = [
      { kind: 'prompt', text: 'Look twice.' },
      { kind: 'answer', text: 'Once.', calls: [one] },
      { kind: 'result', call: one, text },
    ]
    const first = fitted(fit(inWords(wire, steps), options))
    steps.push({ kind: 'answer', text: 'Twice.', calls: [two] }, { kind: 'result', call: two, text })
    const second = fitted(fit(inWords(wire, steps), { ...options, state: first.state }))
    expect(second.report.edits.map(({ call, why }) => [call, why])).toEqual([['b', 'repeated']])
    expect(JSON.stringify(second.messages)).toContain('as that of call a above')
    // The window is full: what was named is compacted, and the name goes with it.
    steps.push(
      { kind: 'answer', text: 'Three.', calls: [three] },
      { kind: 'result', call: three, text: linesOf(9, 5000) },
    )
    const third = [6000, 4500, 3500, 3000, 2700, 2400, 2000]
      .map((window) => fit(inWords(wire, steps), { ...options, state: second.state, window }))
      .filter((made) => made.ok)
      .find((made) => made.report.boundary !== null)!
    expect(third.report.boundary?.why).toBe('window')
    expect(JSON.stringify(third.messages)).not.toContain('as that of call a above')
    expect(refusal(wire, third.messages)).toBeNull()
  })

  it('[FI2] parallel calls stay with each other and their results when the older part is compacted', () => {
    const steps: Step[] = [{ kind: 'prompt', text: 'Look at all.' }]
    for (let at = 0; at < 6; at++) {
      const calls = ['x', 'y', 'z'].map((name) => callOf(`${name}${at}`))
      steps.push({ kind: 'answer', text: `Round ${at}.`, calls, reasons: true })
      steps.push(
        ...calls.map((call, nth): Step => ({ kind: 'result', call, text: linesOf(9 * at + nth, 1500) })),
      )
    }
    const list = inWords(wire, steps)
    let compacted = 0
    for (let window = 3000; window < 16_000; window += 1600) {
      const made = fit(list, { ...options, window })
      if (!made.ok || made.report.boundary === null) continue
      compacted += 1
      expect(made.report.repairs.filter(({ rule }) => /orphan|missing/u.test(rule))).toEqual([])
      expect(refusal(wire, made.messages)).toBeNull()
    }
    expect(compacted).toBeGreaterThan(1)
  })

  it('[FI10] a rewind gets what was sent for its beginning and nothing of what stood behind', () => {
    const whole = fitted(fit(inWords(wire, roundsOf([30_000])), options))
    const longer = fitted(fit(inWords(wire, roundsOf([30_000, 30_000])), { ...options, state: whole.state }))
    const back: Step[] = [...roundsOf([30_000]), { kind: 'answer', text: 'Another way.', calls: [] }]
    back.push({ kind: 'prompt', text: 'Do it otherwise.' })
    const branch = fitted(fit(inWords(wire, back), { ...options, state: longer.state }))
    expect(branch.report.match).toBe('branch')
    expect(branch.report.prefix.why).toBe('branch')
    expect(begins(unitsOf(wire, branch.messages), unitsOf(wire, whole.messages))).toBe(true)
    expect(branch.report.edits.map(({ call }) => call)).toEqual(['c0'])
  })

  it('[FI10] an edited message ends what is known there', () => {
    const before = fitted(fit(inWords(wire, roundsOf([30_000, 30_000])), options))
    const edited = inWords(wire, roundsOf([30_000, 30_000], 'Do another task.'))
    const made = fitted(fit(edited, { ...options, state: before.state }))
    expect(made.report.isStateForeign).toBe(true)
    expect(made.report.prefix).toMatchObject({ kept: 0, why: 'branch' })
    expect(refusal(wire, made.messages)).toBeNull()
  })

  it('[FI9] a state of another conversation changes nothing and is reported', () => {
    const other = fitted(fit(inWords(wire, roundsOf([20_000], 'Something else.')), options))
    const list = inWords(wire, roundsOf([30_000, 200, 30_000]))
    const plain = fitted(fit(list, options))
    const made = fitted(fit(list, { ...options, state: other.state }))
    expect(made.messages).toEqual(plain.messages)
    expect(made.report.isStateForeign).toBe(true)
    expect(plain.report.isStateForeign).toBe(false)
  })
})

describe('a state', () => {
  const { state } = fitted(fit(inWords('anthropic', roundsOf([30_000])), anthropic))
  const list = inWords('anthropic', roundsOf([30_000]))
  const withState = (given: unknown): FitOutcome<unknown> =>
    fit(list, { ...anthropic, state: given as FitState })

  it('[FI9] of a newer release, of another wire or damaged is refused with words', () => {
    expect(failedWith(withState({ ...state, v: 2 }))).toMatch(
      /^newer-state: .*version 2 .*leave `state` out/u,
    )
    expect(failedWith(withState({ ...state, wire: 'gemini' }))).toMatch(/^bad-state: .*wire gemini/u)
    for (const damaged of [
      'text',
      [],
      {},
      { ...state, given: 'x' },
      { ...state, tokens: [-1] },
      { ...state, tokens: [Number.NaN] },
      { ...state, edits: { x: { why: 'large' } } },
      { ...state, boundaries: { x: 1 } },
      { ...state, pace: { sizes: [] } },
      { ...state, calibration: null },
    ])
      expect(failedWith(withState(damaged)), JSON.stringify(damaged)).toMatch(/^bad-state: /u)
  })

  it('[FI9] with edits of a hand that point nowhere does no harm', () => {
    const forged = {
      ...state,
      edits: Object.fromEntries(state.given.map((link) => [link, Object.values(state.edits)[0]!])),
      boundaries: Object.fromEntries(
        state.given.map((link) => [
          link,
          { from: 50, to: 2, text: 'x', without: [], savedChars: 1, kept: '' },
        ]),
      ),
    }
    const made = withState(forged)
    if (made.ok) expect(refusal('anthropic', made.messages)).toBeNull()
    else expect(made.code).toBe('bad-state')
  })

  it('[FI13] compacts between turns where answers say that carrying the older part is dearer, and not inside one', () => {
    const turns = (count: number): Step[] =>
      Array.from({ length: count }, (_, at): readonly Step[] => [
        { kind: 'prompt', text: `Task ${at}.` },
        ...roundsOf([12_000, 12_000, 12_000])
          .slice(1)
          .map((step): Step => {
            const renamed = (call: Call): Call => ({ ...call, id: `${call.id}_${at}` })
            if (step.kind === 'result')
              return { ...step, call: renamed(step.call), text: `${at} ${step.text}` }
            return step.kind === 'answer' ? { ...step, calls: step.calls.map(renamed) } : step
          }),
        { kind: 'answer', text: 'Done.', calls: [] },
      ]).flat()
    const boundaries: string[] = []
    let kept: FitState | null = null
    let now = 1_800_000_000_000
    const steps = turns(14)
    for (const [at, step] of steps.entries()) {
      if (step.kind === 'answer' || (step.kind === 'result' && steps[at + 1]?.kind === 'result')) continue
      const given = inWords('anthropic', steps.slice(0, at + 1))
      const usage = kept === null ? null : { input: 0, cacheRead: kept.estimate, cacheWrite: 0, output: 100 }
      const made: Extract<FitOutcome<unknown>, { ok: true }> = fitted(
        fit(given, { ...anthropic, state: kept, usage, now }),
      )
      if (made.report.boundary?.isNew === true) boundaries.push(`${made.report.boundary.why} ${step.kind}`)
      kept = made.state
      now += 20_000
    }
    expect(boundaries.length).toBeGreaterThan(0)
    expect(new Set(boundaries)).toEqual(new Set(['cost prompt']))
  })
})

describe('input', () => {
  it('[FI15] that cannot be sent is a failure with the next step', () => {
    expect(failedWith(fit([], anthropic))).toMatch(/^empty: /u)
    expect(failedWith(fit([{ role: 'user', content: 'x' }], { ...anthropic, model: 'my-model' }))).toMatch(
      /^unknown-model: .*`window`/u,
    )
    const round: Record<string, unknown> = { role: 'user', content: 'x' }
    round['self'] = round
    for (const bad of [round, { role: 'user', content: [{ type: 'text', text: 1n }] }])
      expect(failedWith(fit([bad], anthropic))).toMatch(/^not-json: message 0 /u)
  })

  it('[FI15] in the words of another wire is named as such, each for each', () => {
    for (const spoken of wires)
      for (const named of wires) {
        if (spoken === named) continue
        const made = fit(inWords(spoken, roundsOf([10])), { wire: named, model: models[named] })
        expect(failedWith(made), `${spoken} as ${named}`).toMatch(/^wrong-wire: message \d+ /u)
      }
    for (const nonsense of [null, 7, 'text', [], {}, { role: 'robot', content: 'x' }])
      expect(failedWith(fit([nonsense], anthropic)), JSON.stringify(nonsense)).toMatch(/^wrong-wire/u)
  })

  it('[FI4] of one giant prompt is a failure with both numbers, and one giant result is not', () => {
    const made = fit([{ role: 'user', content: 'word '.repeat(400_000) }], { ...anthropic, window: 200_000 })
    expect(failedWith(made)).toMatch(/^too-large: .*\d+ tokens .*\d+ is the most/u)
    const result = fitted(fit(inWords('anthropic', roundsOf([2_700_000])), { ...anthropic, window: 200_000 }))
    expect(result.report.tokensAfter).toBeLessThan(10_000)
  })

  it('[FI13] usage of each wire is read as it is reported', () => {
    expect(usageIn('anthropic', { input_tokens: 1, cache_read_input_tokens: 2, output_tokens: 3 })).toEqual({
      input: 1,
      cacheRead: 2,
      cacheWrite: 0,
      output: 3,
    })
    expect(usageIn('openai-chat', { prompt_tokens: 5, completion_tokens: 1 })?.input).toBe(5)
    expect(usageIn('openai-responses', { input_tokens: 5, output_tokens: 1 })?.input).toBe(5)
    expect(usageIn('gemini', { promptTokenCount: 5 })?.input).toBe(5)
    expect(usageIn('gemini', null)).toBeNull()
  })
})
