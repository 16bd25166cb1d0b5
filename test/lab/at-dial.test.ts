import { expect, it } from 'vitest'
import { pointOf } from '../../src/projection/dial.ts'
import { defaults } from '../../src/settings/defaults.ts'
import { sampleSession } from '../../src/lab/sample.ts'
import { atDial, quotesIn } from '../../scripts/fitting/at-dial.ts'
import { call, recording, result, text } from './recordings.ts'

it('[J35] counts what edits quote and calls use, and an answer that lacks something once', () => {
  const session = sampleSession(1, defaults.lab.sample.sessions[2])
  const kept = atDial(session)
  expect(kept.boundaries).toBeGreaterThan(1)
  expect(kept.edits).toBeGreaterThan(5)
  expect(kept.details).toBeGreaterThan(40)
  const none = { tailTokens: 0, excerptTokens: 0, detailTokens: 0, textTokens: 0 }
  const bare = atDial(session, { thrift: { ...pointOf(), ...none } })
  for (const measure of ['ready', 'company', 'tokens'] as const) {
    expect(kept[measure]).toBeGreaterThan(bare[measure])
  }
  expect(bare.rounds).toBeGreaterThan(kept.rounds)
  expect(bare.rounds).toBeLessThanOrEqual(bare.answers)
})

it('[J35] a text that was shown since then, or written by an earlier call, is no matter of the boundary', () => {
  const old = 'the first line that is replaced\nand the second one'
  const { turns } = recording(
    [
      [
        'assistant',
        [call('1', 'Edit', { path: 'a.ts', old_string: old, new_string: 'new words\nin two lines' })],
      ],
      ['user', [result('1', 'done')]],
      [
        'assistant',
        [call('2', 'Edit', { path: 'a.ts', old_string: 'new words\nin two lines', new_string: old })],
      ],
      ['user', [text('go on')]],
    ],
    { client: 'claude-code 1' },
  )
  expect(quotesIn(turns)).toEqual([{ text: old, turn: 0 }])
})
