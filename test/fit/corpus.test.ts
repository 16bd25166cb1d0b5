// A recorded session through `fit` on every wire; `npm run bench -- fit-corpus` plays all of them.
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { played } from '../../bench/fit-playing.ts'
import { corpusFiles, corpusFolder } from '../shared-data.ts'
import { wires } from './lists.ts'

const session = 'cc-cli-8897bd5416.jsonl.gz'

describe.skipIf(!corpusFiles.includes(session))('a recorded session (skipped where there are none)', () => {
  it.each(wires)(
    '[FI2] [FI4] on %s is never refused, within a small window and cheaper than truncation',
    async (wire) => {
      const bills = await played(wire, [join(corpusFolder, session)], { window: 12_000, fixed: 1000 })
      expect(bills.untouched.tooLarge).toBeGreaterThan(0)
      expect(bills.fit).toMatchObject({ refused: 0, tooLarge: 0, requests: bills.untouched.requests })
      expect(bills.fit.compactions).toBeGreaterThan(0)
      expect(bills.fit.cost).toBeLessThan(bills.truncated.cost)
    },
  )
})
