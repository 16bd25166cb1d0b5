// An agent whose tools nobody knows: the same recorded work with other names for tools and fields, and with arguments
// wrapped. What a compaction keeps of what is needed later must not depend on it.
import { describe, expect, it } from 'vitest'
import { wantedAt } from '../../src/lab/compactions/details.ts'
import { noScore, scoreOf } from '../../src/lab/compactions/judge.ts'
import { added } from '../../src/lab/stats/gains.ts'
import { simulatedMoments } from '../../src/lab/compactions/moments.ts'
import { foldOf, keptWithin } from '../../src/lab/compactions/ours.ts'
import type { RecordedBlock, Recording } from '../../src/lab/recording.ts'
import { sampleSession } from '../../src/lab/sample.ts'
import { importFile } from '../../src/lab/importers/import-file.ts'
import { defaults } from '../../src/settings/defaults.ts'
import { join } from 'node:path'
import { corpusFiles, corpusFolder } from '../shared-data.ts'

type Input = Readonly<Record<string, unknown>>

/** Each name gets another, always the same. */
function renamer(prefix: string): (name: string) => string {
  const names = new Map<string, string>()
  return (name) => {
    const known = names.get(name) ?? `${prefix}${names.size}`
    names.set(name, known)
    return known
  }
}

const ways: Readonly<Record<string, (input: Input) => Input>> = {
  'other fields': (() => {
    const rename = renamer('f')
    const renamed = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.map(renamed)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [rename(key), renamed(inner)]))
          : value
    return (input) => renamed(input) as Input
  })(),
  'wrapped in an object': (input) => ({ call: { arguments: input } }),
  'wrapped in JSON': (input) => ({ payload: JSON.stringify(input) }),
  'given by code': (input) => ({
    script: `const r = await tools.run(${JSON.stringify(input)})\ntext(r.output)\n`,
  }),
  'other fields, wrapped twice': (() => {
    const rename = renamer('g')
    return (input) => ({
      body: JSON.stringify({
        inner: Object.fromEntries(Object.entries(input).map(([key, value]) => [rename(key), value])),
      }),
    })
  })(),
}

function disguised(recording: Recording, wrap: (input: Input) => Input): Recording {
  const rename = renamer('tool')
  const of = (recorded: RecordedBlock): RecordedBlock => {
    const { block } = recorded
    return block.type === 'tool_use' && 'input' in block
      ? { ...recorded, block: { ...block, name: rename(block.name), input: wrap(block.input) } }
      : recorded
  }
  return {
    ...recording,
    tools: recording.tools.map(rename),
    turns: recording.turns.map((turn) => ({ ...turn, content: turn.content.map(of) })),
  }
}

/** What is kept of disguised sessions, of what the sessions themselves needed. */
function retention(
  recordings: readonly Recording[],
  disguise: (one: Recording) => Recording,
  least: number,
): readonly number[] {
  let sum = noScore
  for (const recording of recordings) {
    const shownMoments = simulatedMoments(disguise(recording), moments)
    for (const [index, moment] of simulatedMoments(recording, moments).entries()) {
      const kept = keptWithin(foldOf(shownMoments[index]!.before), 10_000)
      // What is too small to be compacted counts as not kept, in each disguise alike.
      const [text, tokens] = 'why' in kept ? ['', 0] : [kept.text, kept.tokens]
      sum = added(sum, scoreOf(text, tokens, wantedAt(moment)))
    }
  }
  // Fewer would say nothing of points in a hundred.
  expect(sum.details).toBeGreaterThan(least)
  return [sum.bare, sum.company, sum.useful].map((part) => (100 * part) / Math.max(1, sum.details))
}

/** As much is kept in each disguise as of what they are, within some points. */
function expectAsMuch(recordings: readonly Recording[], names: readonly string[], least: number): void {
  const whole = retention(recordings, (one) => one, least)
  for (const way of names)
    for (const [index, share] of retention(recordings, (one) => disguised(one, ways[way]!), least).entries())
      expect(share, `${way}, measure ${index}`).toBeGreaterThanOrEqual(whole[index]! - points)
}

const moments = 4
const points = 3
const everyNth = 5

describe('tools that nobody knows', () => {
  for (const way of Object.keys(ways))
    it(`[O38] made-up sessions, ${way}: as much is kept of what is needed later`, () => {
      expectAsMuch([sampleSession(1, defaults.lab.sample.sessions[2])], [way], 50)
    })

  // Of one alone a file that is named or not moves a measure by points.
  it.skipIf(corpusFiles.length === 0)(
    '[O38] recorded sessions with other names and wrapped arguments: as much is kept (skipped without recorded sessions)',
    async () => {
      const recordings: Recording[] = []
      for (const name of corpusFiles.filter((_, at) => at % everyNth === 0)) {
        const imported = await importFile(join(corpusFolder, name))
        if (!imported.ok) throw new Error(imported.failure.message)
        recordings.push(imported.recording)
      }
      expectAsMuch(recordings, ['given by code', 'other fields, wrapped twice'], 500)
    },
  )
})
