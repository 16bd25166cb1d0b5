import { describe, expect, it } from 'vitest'
import { lineFeatures } from '../../src/compaction/scoring/lines.ts'
import { nameFeatures } from '../../src/compaction/scoring/names.ts'
import { pieceFeatures } from '../../src/compaction/scoring/pieces.ts'
import { defaults } from '../../src/settings/defaults.ts'
import { sampleSession } from '../../src/lab/sample.ts'
import { fitLogistic } from '../../scripts/fitting/logistic.ts'
import { rowsOf } from '../../scripts/fitting/rows.ts'

/** Rows whose chance is known: drawn by a fixed sequence. */
function drawn(weights: readonly number[], count: number): Float64Array {
  const rows: number[] = []
  let state = 7
  const next = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  for (let row = 0; row < count; row++) {
    const values = [1, ...weights.slice(1).map(() => 4 * next() - 2)]
    const sum = values.reduce((all, value, at) => all + value * weights[at]!, 0)
    rows.push(...values, next() < 1 / (1 + Math.exp(-sum)) ? 1 : 0, 1)
  }
  return Float64Array.from(rows)
}

describe('fitting', () => {
  it('[J34] finds the weights that rows were drawn by, and the same twice', () => {
    const weights = [-1, 2, -0.5, 0]
    const rows = { width: 4, values: [drawn(weights, 4000), drawn(weights, 2000)] }
    const found = fitLogistic(rows, 0.1, 30)
    for (const [at, weight] of weights.entries()) expect(Math.abs(found[at]! - weight)).toBeLessThan(0.2)
    expect(fitLogistic(rows, 0.1, 30)).toEqual(found)
  })

  it('[J34] makes rows of names, lines and pieces at simulated boundaries, some of them needed later', () => {
    const { name, line, piece } = rowsOf(sampleSession(1, defaults.lab.sample.sessions[2]))
    for (const [rows, width] of [
      [name, nameFeatures.length],
      [line, lineFeatures.length],
      [piece, pieceFeatures.length],
    ] as const) {
      expect(rows.length % (width + 2)).toBe(0)
      const labels = rows.filter((_, at) => at % (width + 2) === width)
      expect(new Set(labels)).toEqual(new Set([0, 1]))
    }
  })
})
