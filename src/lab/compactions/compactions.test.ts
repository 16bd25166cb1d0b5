import { describe, expect, it } from 'vitest'
import { call, recording, result, text } from '../../../test/lab/recordings.ts'
import { estimateText } from '../../projection/tokens.ts'
import { defaults } from '../../settings/defaults.ts'
import { sampleSession } from '../sample.ts'
import { wantedAt } from './details.ts'
import { judgedBy, scoreOf } from './judge.ts'
import { recordedMoments, simulatedMoments } from './moments.ts'
import { foldOf, keptWithin } from './ours.ts'
import { compactionReport, shownCompaction, verdictsOf } from './report.ts'

const vendorText = `The user wants right totals. ${'They looked at the ledger. '.repeat(20)}src/rows.ts fails.`

const session = recording(
  [
    ['user', [text('Make the totals right.\nNever touch the schema.')]],
    [
      'assistant',
      [
        text('Looking. We decided to round each row because sums drift.'),
        call('1', 'Bash', { command: 'make' }),
      ],
    ],
    [
      'user',
      [result('1', 'src/rows.ts fails because the ledger is empty\nport 8123 refused\nseen_again here')],
    ],
    ['assistant', [call('2', 'Read', { path: 'src/rows.ts' })]],
    [
      'user',
      [
        result('2', 'const empty_ledger = 1'),
        text(vendorText, 'compact_summary'),
        text('attached total_7', 'attachment:file'),
      ],
    ],
    ['assistant', [text('Now the ledger.'), call('3', 'Edit', { path: 'src/rows.ts', old: 'empty_ledger' })]],
    ['user', [result('3', 'seen_again is fine')]],
    [
      'assistant',
      [call('4', 'Run', { port: 8123, name: 'seen_again', other: 'never_seen', again: 'src/rows.ts' })],
    ],
    [
      'user',
      [text('another text that stands for it all, long enough to be read '.repeat(8), 'compact_summary')],
    ],
    ['assistant', [call('5', 'Run', { name: 'empty_ledger' })]],
  ],
  { client: 'claude-code 1' },
)

describe('what compactions keep', () => {
  it('[J31] stands between what was said before and what came up to the next one, with what the client attached', () => {
    const [first, second] = recordedMoments(session)
    expect(first!.before.turns).toHaveLength(5)
    expect(first!.after).toHaveLength(4)
    expect(first!.vendor).toContain(vendorText)
    expect(first!.vendor).toContain('attached total_7')
    expect(JSON.stringify(first!.after)).not.toContain('attached total_7')
    expect(JSON.stringify(second!.before)).not.toContain(vendorText)
    expect(recordedMoments(session)).toHaveLength(2)
  })

  it('[J31] takes a sealed text for none, and simulates boundaries before answers', () => {
    const sealed = recording([
      ...Array.from({ length: 120 }, (_, index) => turnAt(index)),
      ['user', [text('sealed', 'compact_summary')]],
      turnAt(0),
    ])
    expect(recordedMoments(sealed)[0]!.vendor).toBeNull()
    const simulated = simulatedMoments(sealed, 3)
    expect(simulated.length).toBeGreaterThan(0)
    for (const moment of simulated) expect(moment.after[0]!.role).toBe('assistant')
  })

  it('[J32] needs what was seen before, is used by a call, and was not seen again until then', () => {
    const atoms = wantedAt(recordedMoments(session)[0]!).details.map(({ atom }) => atom)
    expect(atoms.toSorted()).toEqual(['8123', 'empty_ledger', 'rows.ts', 'src/rows.ts'])
  })

  it('[J32] a number that calls alone were given is no detail, and is used once', () => {
    const own = recording([
      ['user', [text('Go. The port is 8123.')]],
      ['assistant', [call('1', 'Bash', { command: 'make', timeout: 60_000, port: 8123 })]],
      ['user', [result('1', 'session 88896'), text(vendorText, 'compact_summary')]],
      ['assistant', [text('first'), call('2', 'Wait', { session: 88_896, timeout: 60_000 })]],
      ['user', [result('2', 'nothing')]],
      ['assistant', [text('second'), call('3', 'Wait', { session: 88_896, port: '8123' })]],
    ])
    const { details } = wantedAt(recordedMoments(own)[0]!)
    expect(new Map(details.map(({ atom, turn }) => [atom, turn]))).toEqual(
      new Map([
        ['8123', 3],
        ['88896', 1],
      ]),
    )
  })

  it('[J32] tells bare, company and useful apart, and gives nothing for lines joined into one', () => {
    const { details } = wantedAt(recordedMoments(session)[0]!)
    const of = (words: string) => {
      const one = judgedBy(words, details).find(({ detail }) => detail.atom === '8123')!
      return [one.bare, one.company, one.useful]
    }
    expect(of('nothing')).toEqual([false, false, false])
    expect(of('number 8123')).toEqual([true, false, false])
    expect(of('8123 refused')).toEqual([true, true, false])
    expect(of('never_seen 8123')).toEqual([true, false, true])
    expect(of('# refused\n8123')).toEqual([true, true, false])
    expect(of('- refused\n  8123')).toEqual([true, true, false])
    expect(of('- refused [3]: more\n  8123')).toEqual([true, true, false])
    expect(of('- title [3]: refused\n  8123')).toEqual([true, false, false])
    expect(of('- title [3]: refused 8123')).toEqual([true, true, false])
    expect(of(`8123 ${'filling '.repeat(60)} refused never_seen`)).toEqual([true, false, false])
  })

  it("[J32] counts the person's characters line by line, open tasks and decisions", () => {
    const wanted = wantedAt(recordedMoments(session)[0]!)
    const score = scoreOf('Never touch the schema.\nround each row because sums drift: decided', 20, wanted)
    expect([score.typedKept, score.typedChars]).toEqual([23, 45])
    expect([score.decisionsKept, score.decisions]).toEqual([1, 1])
  })

  it('[J33] judges the text of a vendor and ours in its room and in others, and names what did not fit', () => {
    const verdicts = [...verdictsOf(long, { isHeldOut: false, simulated: false, rooms: [600, 3000] })]
    const report = compactionReport(verdicts)
    expect(report.rows.map(({ text: row }) => row)).toEqual([
      'its own text',
      'ours, same room',
      'ours, 0.6K',
      'ours, 3K',
    ])
    for (const { who, room, score } of verdicts)
      if (who === 'ours' && typeof room === 'number') expect(score.tokens).toBeLessThanOrEqual(room * 1.05)
    expect(report.tooLong.some((line) => line.includes('0.6K'))).toBe(true)
    expect(report.tooLong.some((line) => line.includes('3K:'))).toBe(false)
    const shown = shownCompaction(long, 0)!
    expect(shown.needed.length).toBe(wantedAt(recordedMoments(long)[0]!).details.length)
    expect(shownCompaction(long, 1)).toBeNull()
  })

  it("[O37] ends within a room that is named, the user's words first", () => {
    const fold = foldOf(recordedMoments(long)[0]!.before)
    for (const within of [1500, 3000, 6000]) {
      const kept = keptWithin(fold, within)
      if ('why' in kept) throw new Error(kept.why)
      expect(kept.tokens).toBeLessThanOrEqual(within * 1.02)
      expect(kept.text).toContain(longWish)
    }
    const none = keptWithin(fold, 20)
    expect('why' in none && none.why).toContain('tokens')
  })

  it("[O37] where the user's words alone are more than the room they have their share, and lines of the score the rest", () => {
    const wish = Array.from({ length: 400 }, (_, line) => `${line}: the totals of month ${line} stay right`)
    const large = recording([
      ['user', [text(wish.join('\n'))]],
      ...Array.from({ length: 60 }, (_, index) => turnAt(index)),
      ['user', [text(vendorText, 'compact_summary')]],
      ['assistant', [call('x', 'Edit', { path: 'src/part_2.ts', name: 'total_31' })]],
    ])
    const { before } = recordedMoments(large)[0]!
    const judged = verdictsOf(large, { isHeldOut: false, simulated: false, rooms: [2500, 25_000] })
    const [tight, wide] = compactionReport([...judged])
      .rows.slice(-2)
      .map(({ score }) => score)
    // Where they do not fit says nothing of where they do.
    expect([tight!.fittingChars, wide!.fittingChars]).toEqual([0, wide!.typedChars])
    expect(wide!.fittingKept).toBe(wide!.typedChars)
    const { crowdedShare } = defaults.dial.within
    for (const within of [1500, 2500, 3500]) {
      const kept = keptWithin(foldOf(before), within)
      if ('why' in kept) throw new Error(kept.why)
      expect(kept.tokens).toBeLessThanOrEqual(within * 1.02)
      const words = estimateText(wish.filter((line) => kept.text.includes(line)).join('\n'))
      expect(words).toBeGreaterThan(0.85 * crowdedShare * within)
      expect(words).toBeLessThanOrEqual(crowdedShare * within)
      expect(kept.text).toContain('Lines likely to be needed')
    }
  })

  it("[O37] the user's words stand whole where they fit, with or without anything beside them", () => {
    const wishes = Array.from(
      { length: 40 },
      (_, index) => `${index}: ${'the totals stay right. '.repeat(9)}`,
    )
    const session = recording([
      ...wishes.flatMap((wish, index): Parameters<typeof recording>[0] => [
        ['user', [text(wish)]],
        turnAt(2 * index),
        turnAt(2 * index + 1),
        ['assistant', [text('done')]],
      ]),
      ['user', [text(vendorText, 'compact_summary')]],
      ['assistant', [call('x', 'Edit', { path: 'src/part_2.ts', name: 'total_31' })]],
    ])
    const { before } = recordedMoments(session)[0]!
    const whole = (within: number): number => {
      const kept = keptWithin(foldOf(before), within)
      if ('why' in kept) throw new Error(kept.why)
      expect(kept.tokens).toBeLessThanOrEqual(within * 1.02)
      return wishes.filter((wish) => kept.text.includes(wish.trim())).length
    }
    expect([3400, 4000].map(whole)).toEqual([wishes.length, wishes.length])
    // In a smaller room as many stay whole as their share holds.
    expect(whole(2600)).toBeGreaterThan(wishes.length / 2)
  })

  it('[O37] what whole messages leave free of it goes to single lines', () => {
    const moments = simulatedMoments(sampleSession(1, defaults.lab.sample.sessions[2]), 3)
    let cases = 0
    for (const { before } of moments)
      for (const within of [10_000, 14_000]) {
        const kept = keptWithin(foldOf(before), within)
        if ('why' in kept) throw new Error(kept.why)
        expect(kept.tokens).toBeGreaterThan(0.9 * within)
        expect(kept.tokens).toBeLessThanOrEqual(1.02 * within)
        cases++
      }
    expect(cases).toBe(6)
  })
})

const longWish = `Keep this in mind: ${'the totals of every month stay right. '.repeat(60)}`.trim()
function turnAt(index: number): Parameters<typeof recording>[0][number] {
  return index % 2 === 0
    ? ['assistant', [call(`c${index}`, 'Read', { path: `src/part_${index}.ts` })]]
    : ['user', [result(`c${index - 1}`, `export const total_${index} = compute(${index})\n`.repeat(20))]]
}
const long = recording(
  [
    ['user', [text(longWish)]],
    ...Array.from({ length: 60 }, (_, index) => turnAt(index)),
    ['user', [text(vendorText, 'compact_summary')]],
    ['assistant', [call('x', 'Edit', { path: 'src/part_2.ts', name: 'total_31' })]],
  ],
  { client: 'claude-code 1' },
)
