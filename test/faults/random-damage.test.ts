import { describe, expect, it } from 'vitest'
import { damageAtRandom } from './random-damage.ts'

describe('damage at random', () => {
  it('[T13] every session opens, loses at most the lines that were hit, and says which; the next request is accepted', async () => {
    const cases = 200
    const { rows, failures } = await damageAtRandom(cases, 1)
    expect(failures).toEqual([])
    expect(rows.map(({ kind, cases: made, opened }) => [kind, made, opened])).toEqual(
      rows.map(({ kind }) => [kind, cases / rows.length, cases / rows.length]),
    )
    const lost = rows.reduce((sum, row) => sum + row.lost, 0)
    expect(lost).toBeGreaterThan(cases / 2)
  })
})
