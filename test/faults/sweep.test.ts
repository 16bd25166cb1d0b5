import { describe, expect, it } from 'vitest'
import { sweep } from './sweep.ts'

describe('a fault at a file operation', () => {
  it('[E24] loses nothing that was acknowledged, leaves a session that goes on, and is told', async () => {
    const { rows, failures } = await sweep({ every: 29 })
    expect(failures).toEqual([])
    expect(new Set(rows.map(({ work }) => work)).size).toBe(5)
    for (const { work, fault, faults, told } of rows) {
      expect([work, fault, faults > 0]).toEqual([work, fault, true])
      if (fault === 'kill' || fault === 'tear') expect([work, fault, told]).toEqual([work, fault, faults])
    }
    const faults = rows.reduce((sum, row) => sum + row.faults, 0)
    expect(faults).toBeGreaterThan(100)
  })
})
