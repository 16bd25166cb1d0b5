import { describe, expect, it } from 'vitest'
import { sharesOf } from '../../src/lab/measures.ts'
import { policies, policyNamed } from '../../src/lab/policies/list.ts'
import type { Policy } from '../../src/lab/policies/rules.ts'
import { prepareReplay, replay } from '../../src/lab/replay.ts'
import type { Recording } from '../../src/lab/recording.ts'
import { scaledCounter } from '../../src/lab/playing/setup.ts'
import { findModel, simulatedModels } from '../../src/simulator/index.ts'
import { call, longWork, minute, recording, result, text } from './recordings.ts'

const model = 'claude-sonnet-5'
const wide = 1_000_000
const named = (name: string): Policy => policyNamed(name)!
const play = (made: Recording, policy: Policy, window = wide) =>
  replay(prepareReplay(made), { policy, window, model })

const counter = scaledCounter(model)
const judge = findModel(simulatedModels, model)!
const tokens = (words: string): number => counter.block({ type: 'text', text: words }, judge)

describe('replay', () => {
  it('[J10] charges each lifetime for what the cache of the simulator read and wrote', async () => {
    const system = 'Know your tools. '.repeat(400)
    const first = 'Say something long. '.repeat(300)
    const second = 'And more of it. '.repeat(200)
    const third = 'The end. '
    const made = recording(
      [
        ['user', [text(first)]],
        ['assistant', [text('Something.')]],
        ['user', [text(second)], 30_000],
        ['assistant', [text('More.')], 0],
        // Longer than five minutes, shorter than an hour.
        ['user', [text(third)], 20 * minute],
        ['assistant', [text('Done.')], 0],
      ],
      { system },
    )
    const { figures, problems } = await play(made, named('append-only'))
    expect(problems).toEqual([])
    const one = tokens(system) + tokens(first)
    const two = one + tokens('Something.') + tokens(second)
    const three = two + tokens('More.') + tokens(third)
    expect(figures['1h']).toMatchObject({ fresh: 0, written5m: 0, read: one + two, written1h: three })
    expect(figures['5m']).toMatchObject({ fresh: 0, written1h: 0, read: one, written5m: two + three })
    const long = sharesOf(figures['1h'])
    expect(long.equivalents).toBeCloseTo(0.1 * (one + two) + 2 * three, 6)
    expect(sharesOf(figures['5m']).equivalents).toBeCloseTo(0.1 * one + 1.25 * (two + three), 6)
    expect(long.carried).toBeCloseTo((one + two + three) / 3, 6)
    expect(long.hitRate).toBeCloseTo((one + two) / (one + two + three), 6)
    expect(figures['1h'].largest).toBe(three)
    // Two dollars a million tokens, a tenth for reading, twice for writing.
    expect(figures['1h'].dollars).toBeCloseTo((0.2 * (one + two) + 4 * three) / 1_000_000, 9)
  })

  it('[J27] reads with its first request what the recorded one read from a cache that was warm before', async () => {
    const made = recording([
      ['user', [text('Say something long. '.repeat(600))]],
      ['assistant', [text('Something.')]],
    ])
    const warm = 1000
    const usage = { input: 5, cacheRead: warm, cacheWrite: 2000, output: 9 }
    const begun = {
      ...made,
      turns: made.turns.map((turn) => (turn.role === 'user' ? turn : { ...turn, usage })),
    }
    for (const name of ['append-only', 'standard']) {
      const cold = (await play(made, named(name))).figures
      const { figures } = await play(begun, named(name))
      expect(figures['5m']).toMatchObject({ read: warm, written5m: Math.max(0, cold['5m'].written5m - warm) })
      expect(figures['1h'].read).toBe(warm)
    }
    const known = (await play(begun, named('hindsight'))).figures['1h']
    expect(known.read).toBeGreaterThan(0)
    expect(known.read).toBeLessThanOrEqual(warm)
  })

  it('[J11] that keeps everything remembers everything', async () => {
    const { figures } = await play(longWork(12, 60), named('append-only'))
    const { retention, visibility, readiness, words } = sharesOf(figures['1h'])
    expect({ retention, visibility, readiness, words }).toEqual({
      retention: 1,
      visibility: 1,
      readiness: 1,
      words: 1,
    })
    expect(figures['1h'].atoms).toBeGreaterThan(0)
    expect(figures['1h'].replaced).toBe(1)
  })

  it('[J11] that cuts off the oldest loses what only stood there', async () => {
    const { figures, edits } = await play(longWork(40, 60), named('truncate-half'), 60_000)
    expect(edits['trim-rounds']).toBeGreaterThan(0)
    const { retention, readiness, words } = sharesOf(figures['1h'])
    expect(readiness).toBe(0)
    expect(retention).toBeLessThan(1)
    expect(words).toBeLessThan(1)
    expect(figures['1h'].rejected).toBe(0)
  })

  it('[J11] that cuts off the oldest again and again goes on to the end', async () => {
    const work = longWork(100, 60)
    const [first, ...rest] = work.turns
    const goal = { ...first!, content: [text('Make the totals right.'), text('And be quick.')] }
    const { figures, edits, problems } = await play(
      { ...work, turns: [goal, ...rest] },
      named('none'),
      36_000,
    )
    expect(problems).toEqual([])
    expect(edits['trim-rounds']).toBeGreaterThan(2)
    expect(figures['1h'].requests).toBe(102)
  })

  it('[J12] under any policy sends what the wire rules take, fits the window, and gives the same figures again', async () => {
    const made = longWork(24, 60)
    const late = { ...named('none'), name: 'late', trim: { ...named('none').trim, atTokens: wide } }
    for (const policy of [...policies, late]) {
      const once = await play(made, policy, 36_000)
      const again = await play(made, policy, 36_000)
      expect(again, policy.name).toEqual(once)
      expect(once.problems, policy.name).toEqual([])
      expect(once.figures['1h'].brokenOff, policy.name).toBe(0)
      if (!policy.ignoresWindow) expect(once.figures['1h'].largest, policy.name).toBeLessThanOrEqual(36_000)
      const { retention, visibility } = sharesOf(once.figures['1h'])
      expect(retention, policy.name).toBeLessThanOrEqual(visibility!)
    }
  })

  it('[J13] tells a reduction that lost money from one that paid', async () => {
    const made = longWork(40, 60)
    const whole = (await play(made, named('append-only'))).figures['1h'].largest
    const clearing = async (atShare: number, keepResults: number) => {
      const clear = { atTokens: Math.round(whole * atShare), keepResults }
      return (await play(made, { ...named('none'), name: 'clearing', clear })).figures['1h']
    }
    // Little is taken out in front of much, and hardly anything follows: all that for nothing.
    const late = await clearing(0.95, 36)
    expect(late.reductions).toBeGreaterThan(0)
    expect(late.lostMoney).toBe(late.reductions)
    // Nearly everything is taken out, and half of the work is still to come.
    const early = await clearing(0.45, 1)
    expect(early.reductions).toBeGreaterThan(0)
    expect(early.lostMoney).toBe(0)
  })

  it('[J14] charges the call that a model would have made for a summary', async () => {
    const made = longWork(40, 60)
    const free = await play(made, { ...named('compact-keep-0'), summaries: 'none' }, 60_000)
    const paid = await play(made, named('compact-keep-0'), 60_000)
    const { summaryInput, summaryOutput } = paid.figures['1h']
    expect(summaryOutput).toBeGreaterThan(0)
    expect(sharesOf(paid.figures['1h']).equivalents - sharesOf(free.figures['1h']).equivalents).toBeCloseTo(
      0.1 * summaryInput + 5 * summaryOutput,
      3,
    )
    expect(free.figures['1h'].summaryOutput).toBe(0)
  })

  it('[J20] charges forks that write a summary or notes for what they read, send and put out', async () => {
    const made = longWork(30, 60)
    const free = await play(made, named('standard'), 40_000)
    expect(free.figures['5m']).toMatchObject({
      backgroundRequests: 0,
      backgroundInput: 0,
      backgroundOutput: 0,
    })
    for (const name of ['standard-model', 'standard-notes']) {
      const paid = await play(made, named(name), 40_000)
      expect(await play(made, named(name), 40_000)).toEqual(paid)
      expect(paid.problems).toEqual([])
      const { backgroundRequests, backgroundInput, backgroundOutput, largest, ...conversation } =
        paid.figures['5m']
      expect(paid.edits['autocompact'], name).toBeGreaterThan(0)
      expect(backgroundOutput, name).toBeGreaterThan(100)
      // The cache is warm throughout, so most of each is read at a tenth; something is new in each.
      expect(backgroundInput, name).toBeGreaterThan(0)
      expect(backgroundInput, name).toBeLessThan(0.3 * backgroundRequests * largest)
      const without = {
        ...conversation,
        largest,
        backgroundRequests: 0,
        backgroundInput: 0,
        backgroundOutput: 0,
      }
      const { equivalents } = sharesOf(paid.figures['5m'])
      expect(equivalents - sharesOf(without).equivalents).toBeCloseTo(
        backgroundInput + 5 * backgroundOutput,
        3,
      )
    }
  })

  it('[J20] leaves the conversation as it is where no text is needed, but for the price of notes', async () => {
    const made = longWork(20, 60)
    const { backgroundRequests, backgroundInput, backgroundOutput, dollars, ...conversation } = (
      await play(made, named('standard-notes'))
    ).figures['1h']
    const plain = (await play(made, named('standard'))).figures['1h']
    expect(plain).toMatchObject(conversation)
    expect(backgroundRequests).toBeGreaterThanOrEqual(2)
    expect(dollars).toBeCloseTo(
      plain.dollars! + (2 * (backgroundInput + 5 * backgroundOutput)) / 1_000_000,
      6,
    )
    expect((await play(made, named('standard-model'))).figures['1h']).toEqual(plain)
  })

  it('[J15] plays what is odd in a recording: repeated ids, missing results, empty answers, summaries of the client', async () => {
    const made = recording([
      ['user', [text('reminders of the client', 'attachment:skill_listing')]],
      ['assistant', [call('same', 'no such/tool name!', { a: 1 }), call('same', 'Read', {})]],
      ['user', [result('same', 'first'), result('stray', 'nobody asked')]],
      ['assistant', []],
      ['user', [text('All that went before, in short.', 'compact_summary')]],
      ['assistant', [text(' '), { block: { type: 'thinking', thinking: '', signature: 'x' } }]],
      ['assistant', [text('two answers in a row')]],
      ['user', [text('go on'), text('a note', 'client_note')]],
      ['assistant', [text('done')]],
      ['user', [text('nobody answered this')]],
    ])
    const { figures, problems } = await play(made, named('standard'))
    expect(problems).toEqual([])
    expect(figures['1h'].requests).toBe(5)
    const seen = prepareReplay(made).script.steps
    expect(seen.flatMap(({ typed }) => typed)).toEqual(['go on'])
    expect(JSON.stringify(seen)).not.toContain('All that went before')
  })
})
