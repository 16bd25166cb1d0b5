// An agent whose tools nobody knows: the same recorded work with other names for tools and fields, and with arguments
// wrapped. What a compaction keeps of what is needed later must not depend on it.
import { describe, expect, it } from 'vitest'
import { wantedAt } from '../../src/lab/compactions/details.ts'
import { noScore, scoreOf } from '../../src/lab/compactions/judge.ts'
import { added } from '../../src/lab/stats/gains.ts'
import { simulatedMoments } from '../../src/lab/compactions/moments.ts'
import { foldOf, keptWithin } from '../../src/lab/compactions/ours.ts'
import type { RecordedBlock, Recording } from '../../src/lab/recording.ts'
import { sampleSession } from '../../src/lab/sample/session.ts'
import { importFile } from '../../src/lab/importers/import-file.ts'
import { defaults } from '../../src/settings/defaults.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { corpusFolder } from '../shared-data.ts'

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

/** What is kept of the disguised session, of what the session itself needed. */
function retention(recording: Recording, shown: Recording): readonly number[] {
  const shownMoments = simulatedMoments(shown, moments)
  let sum = noScore
  for (const [index, moment] of simulatedMoments(recording, moments).entries()) {
    const kept = keptWithin(foldOf(shownMoments[index]!.before), 10_000)
    if ('why' in kept) throw new Error(kept.why)
    sum = added(sum, scoreOf(kept.text, kept.tokens, wantedAt(moment)))
  }
  // Fewer would say nothing of points in a hundred.
  expect(sum.details).toBeGreaterThan(leastDetails)
  return [sum.bare, sum.company, sum.useful].map((part) => (100 * part) / Math.max(1, sum.details))
}

const moments = 4
const points = 3
const leastDetails = 50

describe('tools that nobody knows', () => {
  for (const [way, wrap] of Object.entries(ways))
    it(`[O38] made-up sessions, ${way}: as much is kept of what is needed later`, () => {
      const size = defaults.lab.sample.sessions[2]
      const recording = sampleSession(1, size)
      const whole = retention(recording, recording)
      for (const [index, share] of retention(recording, disguised(recording, wrap)).entries())
        expect(share, `${way}, measure ${index}`).toBeGreaterThanOrEqual(whole[index]! - points)
    })

  const file = join(corpusFolder, 'cc-cli-a318ad7317.jsonl.gz')
  it.skipIf(!existsSync(file))(
    '[O38] a recorded session with other names and wrapped arguments: as much is kept (skipped without recorded sessions)',
    async () => {
      const imported = await importFile(file)
      if (!imported.ok) throw new Error(imported.failure.message)
      const { recording } = imported
      const whole = retention(recording, recording)
      for (const [way, wrap] of Object.entries(ways))
        for (const [index, share] of retention(recording, disguised(recording, wrap)).entries())
          expect(share, `${way}, measure ${index}`).toBeGreaterThanOrEqual(whole[index]! - points)
    },
  )
})
