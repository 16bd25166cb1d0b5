// What a recording says of its own bill: the cost beside the replays, and where the cache was lost.
import { describe, expect, it } from 'vitest'
import { sharesOf } from '../../src/lab/measures.ts'
import { cacheLosses, recordedContexts, recordedFigures } from '../../src/lab/measuring/paid.ts'
import type { RecordedTurn, Recording } from '../../src/lab/recording.ts'
import type { Usage } from '../../src/transcript/fact.ts'
import { minute, recording, text } from './recordings.ts'

interface Asked {
  readonly usage: Usage
  readonly pause?: number
  readonly kind?: string
  readonly model?: string
}

/** One answer for each, with its counts. */
function billed(all: readonly Asked[]): Recording {
  const plain = recording(
    all.flatMap(({ pause, kind }): Parameters<typeof recording>[0][number][] => [
      ['user', [text('go', kind)], pause ?? 1000],
      ['assistant', [text('done')], 1000],
    ]),
    { usageKind: 'anthropic' },
  )
  let index = 0
  const turns = plain.turns.map((turn): RecordedTurn => {
    if (turn.role === 'user') return turn
    const { usage, model } = all[index++]!
    return { ...turn, usage, model }
  })
  return { ...plain, turns }
}
const usage = (input: number, cacheRead: number, cacheWrite: number, cacheWrite1h = 0): Usage => ({
  input,
  cacheRead,
  cacheWrite,
  cacheWrite1h,
  output: 50,
})

describe('what a recording paid', () => {
  it('[LB5] is counted in the units of a replay, and in the money of whoever answered, output included where it is final', () => {
    const one = billed([{ usage: usage(10, 1000, 300, 200) }])
    const figures = recordedFigures(one, (model) => model)!
    expect(figures).toMatchObject({ requests: 1, fresh: 10, read: 1000, written5m: 100, written1h: 200 })
    expect(sharesOf(figures).equivalents).toBeCloseTo(10 + 100 + 125 + 400, 9)
    // Two dollars a million tokens; the output was counted before it was complete.
    const input = (2 * (10 + 100 + 125 + 400)) / 1_000_000
    expect(figures.dollars).toBeCloseTo(input, 9)
    expect(figures.outputUnknown).toBe(1)
    const final = recordedFigures({ ...one, outputCounts: 'final' }, (model) => model)!
    expect(final.dollars).toBeCloseTo(input + (10 * 50) / 1_000_000, 9)
    expect(final.outputUnknown).toBe(0)
    expect(recordedFigures(billed([]), (model) => model)).toBeNull()
  })

  it('[LB5] charges each answer at its own model and tier, and leaves out what has no known price and what is counted elsewhere', () => {
    const all = billed([
      { usage: usage(0, 100_000, 0), model: 'claude-haiku-5-5' },
      { usage: usage(1, 100_000, 0), model: 'claude-haiku-5-5' },
      { usage: usage(7, 0, 0), model: 'nobody-knows-1' },
    ])
    const figures = recordedFigures(all, (model) => model)!
    // One cent a million up to 100,000 tokens of prompt, five times that above.
    expect(figures.dollars).toBeCloseTo(0.01 * 0.1 + 0.05 * 0.1 + 0.5 / 1_000_000, 9)
    expect(figures).toMatchObject({ requests: 3, unpriced: 1 })
    const rest = recordedFigures(all, (model) => model, new Set([0, 1]))!
    expect(rest).toMatchObject({ requests: 1, unpriced: 1, dollars: 0 })
  })

  it('[J22] gives the size of each request up to the first reduction of the client', () => {
    const sizes = [
      { usage: usage(10, 0, 1000) },
      { usage: usage(10, 1000, 500) },
      { usage: usage(10, 0, 300) },
      { usage: usage(10, 300, 2000) },
    ]
    expect(recordedContexts(billed(sizes))).toEqual([1010, 1510])
    expect(recordedContexts(billed([sizes[0]!, { ...sizes[1]!, kind: 'compact_summary' }]))).toEqual([1010])
  })

  it('[LB6] says where the cache was lost and why: a pause, a new model, a compaction, or none of these', () => {
    const cached = usage(1, 0, 50_000)
    const lost = usage(1, 0, 60_000)
    const kept = usage(1, 50_000, 100)
    const lossOf = (second: Asked) => cacheLosses(billed([{ usage: cached }, second]))
    expect(lossOf({ usage: kept, pause: 6 * minute })).toEqual([])
    expect(lossOf({ usage: lost, pause: 6 * minute })).toEqual([
      { step: 1, tokens: 50_000, cause: 'a pause', pauseMs: 6 * minute + 1000 },
    ])
    expect(lossOf({ usage: lost })[0]).toMatchObject({ cause: 'no pause' })
    expect(lossOf({ usage: lost, model: 'claude-opus-5', pause: 6 * minute })[0]?.cause).toBe('a new model')
    expect(lossOf({ usage: lost, kind: 'compact_summary' })[0]?.cause).toBe('a compaction')
    // Written for an hour, so six minutes are no excuse.
    const long = cacheLosses(
      billed([{ usage: usage(1, 0, 50_000, 50_000) }, { usage: lost, pause: 6 * minute }]),
    )
    expect(long[0]?.cause).toBe('no pause')
  })
})
