// Undo, release and pin from the page. A session that nobody has open is opened for it, as `pal undo` does; one that is open in
// another process is asked there.
import { EngineError } from '../../../engine/session.ts'
import type { Changes, Effect } from '../../../inspector/inspection.ts'
import { carryOut, postWish } from '../../../inspector/wishes.ts'
import { createPreset } from '../../../preset.ts'
import { loadExtensions } from '../../extensions/load.ts'
import { wishPorts } from './wish-ports.ts'
import { unchangedRefusal } from '../../workplace/unsaved.ts'
import type { Workplace } from '../../workplace/workplace.ts'

/** Null where nothing can be written. */
export function changesAt(place: Workplace): Changes | null {
  if (unchangedRefusal(place) !== null) return null
  return {
    change: async (session, kind, wish) => {
      const own = await carriedOutHere(place, session, (opened) => carryOut(opened, kind, wish))
      return own ?? postWish(wishPorts(place.home), session, kind, wish)
    },
  }
}

/** Null: another process has it open. */
async function carriedOutHere(
  place: Workplace,
  id: string,
  work: (session: Parameters<typeof carryOut>[0]) => Promise<Effect>,
): Promise<Effect | null> {
  const { io } = place
  const { extensions } = await loadExtensions(place, { servers: false })
  const preset = createPreset({
    ...place,
    environment: io.environment,
    userHome: io.userHome,
    model: place.access ?? undefined,
    extensions,
  })
  try {
    const session = await preset.engine.open(id)
    try {
      return await work(session)
    } finally {
      await session.close()
    }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    if (error.code === 'session-open') return null
    return { ok: false, why: 'failed', message: error.message }
  } finally {
    await preset.close()
  }
}
