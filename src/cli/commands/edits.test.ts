import { describe, expect, it } from 'vitest'
import { seq } from '../../transcript/ids.ts'
import { asTable } from './edits.ts'

describe('pal edits', () => {
  it('[Z20] shows every removal with its number, reason, tokens and saving, made safe for the terminal', () => {
    const row = {
      seq: seq(42),
      at: 0,
      layer: 'microcompact',
      asked: 'automatic',
      why: 'cold \u001B[31mcache',
      does: [{ kind: 'stub', count: 3 }],
      range: { from: seq(1), to: seq(9) },
      tokensFreed: 12_345,
      saved: 0.25,
      price: undefined,
      state: 'live',
    } as const
    const out = asTable('s', [row, { ...row, seq: seq(43), state: 'undone', saved: null }])
    expect(out).toMatch(/42 .* microcompact .* 3 replaced by a short text +12 345 +\$0\.25 +live/)
    expect(out).toMatch(/43 .* – +undone/)
    expect(out).not.toContain('\u001B')
    expect(asTable('s', [])).toContain('nothing has left')
  })
})
