import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { palSweep } from './pal-sweep.ts'

describe('a fault at a file operation of a real pal', () => {
  it('[E24] is told by exit code or in words, costs no printed answer, and the next run goes on', async () => {
    const { rows, failures } = await palSweep({
      root: join(import.meta.dirname, '..', '..'),
      every: 150,
      only: ['tools'],
    })
    expect(failures).toEqual([])
    for (const { fault, faults, told } of rows) {
      expect([fault, faults > 0]).toEqual([fault, true])
      if (fault === 'kill' || fault === 'tear') expect([fault, told]).toEqual([fault, faults])
    }
  })
})
