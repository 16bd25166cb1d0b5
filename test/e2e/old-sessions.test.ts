// Sessions as version 0.1.0 wrote them, checkpoints included, with the request that version would have sent next. They are
// opened with what there is now: the bytes must be the same.
import { cp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { fileStore } from '../../src/stores/index.ts'
import { countingIds, fixedClock } from '../../src/testing/builders.ts'
import { sessionId } from '../../src/transcript/ids.ts'
import { folder, tool } from './simulated.ts'

const kept = join(import.meta.dirname, 'old-sessions')

/** The session, and how long after its beginning the next request was made. */
const sessions = {
  plain: ['0000000b', 2000],
  refused: ['0000000c', 3000],
  compacted: ['0000000d', 5000],
  undone: ['0000000e', 5000],
  overflown: ['0000000f', 3000],
  forked: ['00000010', 3000],
} as const

describe('a session of an earlier version', () => {
  it.each(Object.entries(sessions))(
    '[P13] %s: its next request has the same bytes',
    async (name, [first, ms]) => {
      const root = await folder()
      await cp(join(kept, name), root, { recursive: true })
      const clock = fixedClock()
      clock.advance(ms)
      const look = tool('Look', () => '')
      const engine = createEngine({
        store: fileStore({ root }),
        modelId: 'local',
        clock,
        ids: countingIds(99),
        tools: [{ ...look, spec: { ...look.spec, description: 'looks' } }],
        thinking: { type: 'adaptive' },
        system: 'Work.',
        maxOutputTokens: 400,
      })
      const session = await engine.open(sessionId(`${first}-0000-7000-8000-000000000001`))
      await session.say('and now?')
      expect(await session.requestBody()).toBe(await readFile(join(kept, name, 'next-request.txt'), 'utf8'))
      await session.close()
    },
  )

  it('[P13] of those some come with a checkpoint of that version, which is read and not passed over', async () => {
    const all = await readdir(kept, { recursive: true })
    expect(all.filter((path) => path.endsWith('checkpoint.json')).length).toBeGreaterThanOrEqual(2)
  })
})
