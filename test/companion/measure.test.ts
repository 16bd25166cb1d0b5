import { describe, expect, it } from 'vitest'
import type { RecordedTurn, Recording } from '../../src/lab/recording.ts'
import { added } from '../../src/lab/stats/gains.ts'
import { labelOf, measuredMoments, measuredTexts, noMeasure } from '../../bench/companion-measure.ts'

const usage = { input: 10, cacheRead: 1000, cacheWrite: 100, output: 50 }
const user = (text: string, kind?: string): RecordedTurn => ({
  role: 'user',
  at: null,
  content: [{ block: { type: 'text', text }, kind }],
})
const edits = (path: string, id: string): readonly RecordedTurn[] => [
  {
    role: 'assistant',
    at: null,
    usage,
    content: [
      {
        block: {
          type: 'tool_use',
          id,
          name: 'Edit',
          input: { file_path: path, old_string: 'alphaBeta', new_string: 'x' },
        },
      },
    ],
  },
  {
    role: 'user',
    at: null,
    content: [
      {
        block: {
          type: 'tool_result',
          tool_use_id: id,
          content: [{ type: 'text', text: 'ok' }],
          is_error: false,
        },
      },
    ],
  },
]
const rule = 'Please keep the old names around.'
const recording: Recording = {
  name: 's',
  client: 'claude-code 2.1.7',
  model: 'm',
  usageKind: 'anthropic',
  outputCounts: 'final',
  firstRequestTokens: null,
  system: null,
  tools: [],
  turns: [
    user(`Build the parser. ${rule}`),
    ...edits('/home/dev/project/src/parser_one.ts', 'a'),
    user(`They work on a parser. ${'So it goes on. '.repeat(40)}`, 'compact_summary'),
    ...edits('/home/dev/project/src/parser_one.ts', 'b'),
    user(`Again a summary. ${'So it goes on. '.repeat(40)}`, 'compact_summary'),
    ...edits('/home/dev/project/src/parser_one.ts', 'c'),
  ],
}

describe('what a companion adds', () => {
  it('[CO14] to the vendor’s summary, beside controls: words, rules labelled by hand, needs, tokens and cost', () => {
    const moments = [...measuredMoments(recording, new Set([labelOf(rule)]))]
    expect(moments.map(({ number }) => number)).toEqual([1, 2])
    const sums = Object.fromEntries(
      measuredTexts.map((text) => [text, moments.map(({ texts }) => texts[text]).reduce(added, noMeasure)]),
    )
    expect(sums['nothing']).toMatchObject({
      compactions: 2,
      messages: 2,
      messagesWhole: 0,
      rules: 2,
      rulesKept: 0,
      added: 0,
    })
    expect(sums['vendor']).toMatchObject({
      messagesWhole: 0,
      rulesKept: 0,
      company: 0,
      added: 0,
      carrying: 0,
    })
    expect(sums['vendor + companion']).toMatchObject({ messagesWhole: 2, rulesKept: 2 })
    // The detector does not know this sentence for a rule; the label does.
    expect(sums['vendor + rules alone']).toMatchObject({ rulesKept: 0 })
    expect(sums['vendor + companion']!.company).toBeGreaterThan(0)
    expect(sums['vendor + companion']!.added).toBeGreaterThan(50)
    expect(sums['vendor + last characters']!.added).toBeGreaterThan(20)
    // Two stretches of one request: written once, never carried.
    const { carrying, added: tokens, paid } = sums['vendor + companion']!
    expect(carrying).toBeCloseTo(1.25 * tokens)
    expect(paid).toBeCloseTo(2 * (10 + 100 + 125 + 250))
  })
})
