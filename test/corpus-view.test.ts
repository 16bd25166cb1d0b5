// Every recorded session folds into views whose requests the wire rules accept, at any point of its life.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importFile, toEntries } from '../src/lab/index.ts'
import { Fold } from '../src/projection/fold.ts'
import { createComposer } from '../src/wires/anthropic/compose.ts'
import { checkRequest } from '../src/simulator/index.ts'
import { countingIds, fixedClock } from '../src/testing/builders.ts'
import { corpusFiles as sessions, corpusFolder as corpus } from './shared-data.ts'

if (sessions.length === 0) process.stderr.write('skipped: no recorded sessions\n')

// Looking at every request of every session takes minutes; these places are spread over each.
const looks = 6

describe.skipIf(sessions.length === 0)('recorded sessions', () => {
  it.each(sessions)('[I10] %s folds, and its requests pass the wire rules', async (file) => {
    const imported = await importFile(join(corpus, file))
    if (!imported.ok) throw new Error(imported.failure.message)
    const { entries } = toEntries(imported.recording, { ids: countingIds(), clock: fixedClock() })
    const fold = new Fold()
    const composer = createComposer()
    const open: string[] = []
    let judged = 0
    for (const [index, entry] of entries.entries()) {
      fold.push(entry)
      if (!('fact' in entry)) continue
      if (entry.fact.type === 'assistant-message')
        for (const block of entry.fact.content)
          if (block.type === 'tool_use' && 'id' in block) open.push(block.id)
      if (entry.fact.type === 'tool-result') open.splice(open.indexOf(entry.fact.call), 1)
      const isLook = index % Math.ceil(entries.length / looks) === 0 || index === entries.length - 1
      if (!isLook || open.length > 0) continue
      const outcome = composer.compose(fold.view(), {
        model: 'claude-sonnet-4-6',
        maxTokens: 1000,
        bindsPrefix: false,
        lifetime: '5m',
      })
      if (!outcome.ok) continue
      judged++
      expect(checkRequest(JSON.parse(outcome.composed.body))).toBeNull()
    }
    expect(judged).toBeGreaterThan(0)
  })
})
