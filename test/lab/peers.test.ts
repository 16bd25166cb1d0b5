// The rules of other programs and the bounds, each on a session in which what must go is known beforehand.
import { describe, expect, it } from 'vitest'
import { sharesOf } from '../../src/lab/measures.ts'
import { policyNamed } from '../../src/lab/policies/list.ts'
import type { Policy } from '../../src/lab/policies/rules.ts'
import type { Recording } from '../../src/lab/recording.ts'
import { prepareReplay, replay } from '../../src/lab/replay.ts'
import { load, sampleSources } from '../../src/lab/source.ts'
import { call, longWork, minute, recording, result, text } from './recordings.ts'

const model = 'claude-sonnet-5'
const named = (name: string): Policy => policyNamed(name)!
const play = (made: Recording, policy: Policy, window = 1_000_000) =>
  replay(prepareReplay(made), { policy, window, model })
const costOf = async (made: Recording, name: string, window: number) =>
  sharesOf((await play(made, named(name), window)).figures['1h'])

describe('bounds', () => {
  it('[LB1] in hindsight everything needed is there, for less than any policy pays that remembers nearly as much', async () => {
    const loaded = await load(sampleSources[1]!)
    if (!loaded.ok) throw new Error(loaded.failure.message)
    const made = loaded.recording
    const bound = await costOf(made, 'hindsight', 40_000)
    expect(bound).toMatchObject({ retention: 1, readiness: 1, words: 1 })
    for (const name of ['append-only', 'none', 'pi', 'standard']) {
      const { equivalents, retention } = await costOf(made, name, 40_000)
      expect(retention, name).toBeGreaterThan(0.85)
      expect(bound.equivalents, name).toBeLessThan(equivalents)
    }
  })

  it('[LB1] in hindsight a block is paid for as long as it is needed: written, read, gone', async () => {
    const page = (word: string) =>
      Array.from({ length: 80 }, (_, row) => `${word}_${row} stands here`).join('\n')
    const made = (later: string) =>
      recording([
        ['user', [text('Go.')]],
        ['assistant', [call('1', 'Read', { path: 'a' })]],
        ['user', [result('1', page('alpha'))]],
        ['assistant', [call('2', 'Read', { path: 'b' })]],
        ['user', [result('2', 'nothing')]],
        ['assistant', [call('3', 'Read', { path: 'c' })]],
        ['user', [result('3', 'nothing')]],
        ['assistant', [call('4', 'Grep', { pattern: later })]],
        ['user', [result('4', 'nothing')]],
        ['assistant', [text('Done.')]],
      ])
    const needed = (await play(made('alpha_7'), named('hindsight'))).figures['1h']
    const idle = (await play(made('delta_7'), named('hindsight'))).figures['1h']
    // Needed: written at the first request that carries it, read at the two that follow. Else sent once, as it is.
    const size = needed.written1h - idle.written1h
    expect(size).toBeGreaterThan(500)
    expect(needed.read - idle.read).toBeGreaterThanOrEqual(2 * size)
    expect(idle.fresh - needed.fresh).toBeGreaterThanOrEqual(size)
  })

  it('[J11] what keeps nothing remembers next to nothing, and a bag of words loses on the strict measure alone', async () => {
    const made = longWork(60, 60)
    const empty = await costOf(made, 'empty', 60_000)
    const whole = await costOf(made, 'append-only', 60_000)
    const bag = await costOf(made, 'bag-of-words', 60_000)
    expect(empty.readiness).toBe(0)
    expect(empty.retention).toBeLessThan(0.1)
    expect(empty.words).toBeLessThan(0.1)
    expect([whole.retention, whole.visibility, whole.readiness, whole.words]).toEqual([1, 1, 1, 1])
    expect(bag.visibility).toBeGreaterThan(bag.retention!)
    expect(bag.retention).toBeLessThan(1)
  })
})

/** Results of 60 lines each, all needed nowhere, with a pause before the last input. */
function pages(count: number, lines: number, pause = 0): Recording {
  const turns: Parameters<typeof recording>[0][number][] = [['user', [text('Read everything.')]]]
  for (let page = 0; page < count; page++) {
    turns.push(['assistant', [text(`On to ${page}.`), call(`c${page}`, 'Read', { path: `src/${page}.ts` })]])
    turns.push(['user', [result(`c${page}`, `page ${page}\n`.repeat(lines))]])
  }
  turns.push(['assistant', [text('Read.')]], ['user', [text('And?')], pause], ['assistant', [text('Done.')]])
  return recording(turns)
}

describe('rules of other programs', () => {
  it('[LB3] ai-sdk-prune takes a call out as soon as it is not among the last two messages, and keeps what was said', async () => {
    const { edits, figures } = await play(pages(10, 40), named('ai-sdk-prune'))
    // The first answer has nothing before it; at the input that follows no call is among the last two messages.
    expect(edits['prune-calls']).toBe(10)
    expect(figures['1h'].reductions).toBe(10)
    const whole = (await play(pages(10, 40), named('append-only'))).figures['1h']
    expect(figures['1h'].largest).toBeLessThan(whole.largest / 2)
  })

  it('[LB3] clearing by the whole goes on at every request, by what is shown only when that is large again', async () => {
    const made = pages(40, 400)
    const at = Math.round((await play(made, named('append-only'))).figures['1h'].largest / 2)
    const clearing = async (counts: 'shown' | 'whole') => {
      const policy = {
        ...named('none'),
        name: counts,
        clear: { atTokens: at, counts, keepResults: 3 },
      }
      return (await play(made, policy)).edits['clear-results'] ?? 0
    }
    expect(await clearing('whole')).toBeGreaterThan(15)
    expect(await clearing('shown')).toBeLessThan(4)
  })

  it('[LB3] qwen-code clears all but five results after an hour, and nothing before', async () => {
    const hour = 60 * minute
    const late = await play(pages(10, 100, hour), named('qwen-code'))
    expect(late.edits['clear-results']).toBe(1)
    expect((await play(pages(10, 100, hour - minute), named('qwen-code'))).edits).toEqual({})
  })

  it('[LB3] cline cuts long results before they are sent and drops copies of files that were read again', async () => {
    const again = recording([
      ['user', [text('Read it twice.')]],
      ['assistant', [call('1', 'Read', { path: 'a.ts' })]],
      ['user', [result('1', 'x = 1\n'.repeat(1000))]],
      ['assistant', [call('2', 'Read', { path: 'a.ts' })]],
      ['user', [result('2', 'x = 2\n'.repeat(1000))]],
      ['assistant', [text('Read.')]],
    ])
    const stale = { ...named('none'), name: 'stale', stale: { minBytes: 5000 } }
    expect((await play(again, stale)).edits).toEqual({ 'stale-reads': 1 })
    expect((await play(again, { ...stale, stale: { minBytes: 7000 } })).edits).toEqual({})
    const long = pages(2, 2000)
    const { edits, figures } = await play(long, named('cline'))
    expect(edits['cap-results']).toBe(2)
    // Never sent whole, so nothing was written again.
    expect(figures['1h'].lostMoney).toBe(0)
  })

  it('[LB3] a summary of qwen-code brings the files read last back', async () => {
    const made = longWork(40, 60)
    const bare = { ...named('qwen-code'), name: 'bare', trim: named('compact-keep-0').trim }
    const ready = async (policy: Policy) => (await play(made, policy, 60_000)).figures['1h']
    expect((await ready(named('qwen-code'))).summaryOutput).toBeGreaterThan((await ready(bare)).summaryOutput)
  })
})
