// The recorded sessions beside the repository, where they are: every one must come in whole and obey the grammar.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cellOf, measure } from '../bench/growth-measure.ts'
import { sampledSessions } from '../bench/growth-samples.ts'
import { toEntries } from '../src/lab/entries.ts'
import { importFile } from '../src/lab/importers/import-file.ts'
import type { Recording } from '../src/lab/recording.ts'
import { estimateBlocks } from '../src/projection/tokens.ts'
import { factProblem } from '../src/transcript/codec.ts'
import type { Entry } from '../src/transcript/fact.ts'
import { emptyTail, refusal, step } from '../src/transcript/grammar.ts'
import { uuidFrom } from '../src/transcript/ids.ts'
import { corpusFiles as files, corpusFolder as folder } from './shared-data.ts'

function options() {
  let count = 0
  const bytes = new Uint8Array(10)
  return {
    clock: { now: () => 0 },
    ids: {
      uuid: () => {
        new DataView(bytes.buffer).setUint32(6, count++)
        return uuidFrom(0, bytes)
      },
    },
  }
}

function grammarProblem(entries: readonly Entry[]): string | null {
  let tail = emptyTail()
  for (const entry of entries) {
    const problem = refusal(tail, entry.fact)?.message ?? factProblem(entry.fact)
    if (problem !== null) return `${entry.seq}: ${problem}`
    if (entry.seq !== tail.next || entry.parent !== tail.lastUuid) return `${entry.seq}: out of place`
    tail = step(tail, entry)
  }
  return tail.open.length > 0 || tail.inTurn ? 'the end is left open' : null
}

/** Every text and call of a recording, in order, to compare what was recorded with what came out. */
function wordsOf(recording: Recording): readonly string[] {
  return recording.turns.flatMap(({ content }) =>
    content
      .filter(({ kind }) => kind !== 'compact_summary')
      .map(({ block }) => ('content' in block ? JSON.stringify(block.content) : JSON.stringify(block))),
  )
}

function wordsIn(entries: readonly Entry[]): readonly string[] {
  return entries.flatMap(({ fact }) => {
    if (fact.type === 'tool-result') return [JSON.stringify(fact.content)]
    const isSaid =
      fact.type === 'user-message' || fact.type === 'assistant-message' || fact.type === 'attachment'
    return isSaid ? fact.content.map((block) => JSON.stringify(block)) : []
  })
}

describe.skipIf(files.length === 0)('the corpus (skipped: no recorded sessions are here)', () => {
  it('[I1] holds fifty sessions', () => {
    expect(files).toHaveLength(50)
  })

  it.each(files)('[I1] %s comes in whole and obeys the grammar', async (file) => {
    const imported = await importFile(join(folder, file))
    if (!imported.ok) throw new Error(imported.failure.message)
    const { recording, report } = imported
    expect(report.skipped).toEqual([])
    const { entries, repairs } = toEntries(recording, options())
    expect(repairs).toEqual([])
    expect(grammarProblem(entries)).toBeNull()
    // Where a recording ends inside a call, its closing results follow what was recorded.
    const recorded = wordsOf(recording)
    const written = wordsIn(entries)
    expect(recorded.findIndex((words, index) => words !== written[index])).toBe(-1)
    expect(written.slice(recorded.length).every((words) => words.includes('the recording ends here'))).toBe(
      true,
    )
  })

  it('[K14] the growth of requests is foreseen within 10 % at the median and 25 % at p95', async () => {
    const method = { name: 'ours', estimate: estimateBlocks, factor: 'session', outputKnown: true } as const
    const { count, median, p95 } = cellOf(measure(method, await sampledSessions(folder)))
    expect(count).toBeGreaterThan(1500)
    expect(median).toBeLessThan(0.1)
    expect(p95).toBeLessThan(0.25)
  })
})
