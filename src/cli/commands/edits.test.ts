import { describe, expect, it } from 'vitest'
import { seq } from '../../transcript/ids.ts'
import { asTable, declinedText } from './edits.ts'

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
    const out = asTable('s', [row, { ...row, seq: seq(43), state: 'undone', saved: null }], Infinity)
    expect(out).toMatch(/#42 .* microcompact .* 3 replaced by a stub +12,345 +\$0\.25 +live/)
    expect(out).toMatch(/#43 .* – +undone/)
    expect(out).not.toContain('\u001B')
    expect(asTable('s', [], Infinity)).toContain('nothing was removed')
  })

  it('[Z22] says how often a removal was weighed and left, and the last one with its numbers', () => {
    const numbers = {
      isWarm: true,
      freedTokens: 1,
      tailTokens: 1,
      expectedRequests: 1,
      net: -1.25,
      isWorth: false,
    }
    const price = { kind: 'economy' as const, saves: 0.25, costs: 1.5, ...numbers }
    const row = { seq: seq(7), at: 0, layer: 'microcompact', why: 'x', tokens: 12_345, price }
    expect(declinedText([])).toBe('')
    expect(declinedText([{ ...row, tokens: 1 }, row])).toMatch(
      /2 times .*request 7.*12.345 tokens, \$0\.25 .* \$1\.50/,
    )
    expect(declinedText([{ ...row, price: undefined }])).toContain('price unknown')
  })
})
