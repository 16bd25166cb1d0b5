// One recorded session, where the recordings lie beside the repository.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importFile } from '../../src/lab/importers/import-file.ts'
import { sharesOf } from '../../src/lab/measures.ts'
import { policyNamed } from '../../src/lab/policies/list.ts'
import { prepareReplay, replay } from '../../src/lab/replay.ts'
import { corpusFolder } from '../shared-data.ts'

const file = join(corpusFolder, 'cc-cli-ece0c335b1.jsonl.gz')

describe('a recorded session', () => {
  it.skipIf(!existsSync(file))(
    '[J16] plays with no request refused, the same figures each time, and at the recorded size (skipped: no recorded sessions)',
    async () => {
      const imported = await importFile(file)
      if (!imported.ok) throw new Error(imported.failure.message)
      const prepared = prepareReplay(imported.recording)
      const options = { policy: policyNamed('standard')!, window: 100_000, model: 'claude-sonnet-5' }
      const once = await replay(prepared, options)
      expect(await replay(prepared, options)).toEqual(once)
      expect(once.problems).toEqual([])
      const { checked, rejected, largest, requests } = once.figures['1h']
      expect(requests).toBe(imported.recording.turns.filter(({ role }) => role === 'assistant').length)
      expect(checked).toBeGreaterThan(5)
      expect(rejected).toBe(0)
      expect(largest).toBeLessThanOrEqual(100_000)
      const { retention, visibility } = sharesOf(once.figures['1h'])
      expect(retention).toBeGreaterThan(0.5)
      expect(retention).toBeLessThanOrEqual(visibility!)
      const whole = await replay(prepared, { ...options, policy: policyNamed('append-only')! })
      const recorded = Math.max(
        ...imported.recording.turns.map(({ usage }) =>
          usage === undefined ? 0 : usage.input + usage.cacheRead + usage.cacheWrite,
        ),
      )
      expect(whole.figures['1h'].largest / recorded).toBeGreaterThan(0.75)
      expect(whole.figures['1h'].largest / recorded).toBeLessThan(1.35)
      expect(sharesOf(whole.figures['1h'])).toMatchObject({
        retention: 1,
        visibility: 1,
        readiness: 1,
        words: 1,
      })
    },
  )
})
