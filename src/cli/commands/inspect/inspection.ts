// What the inspector looks at here: the sessions of this project with their owners, memories, prices and ways to change them.
import { join } from 'node:path'
import { machineFileSystem } from '../../../disk/fs.ts'
import { Inspection, type Changes, type Effect } from '../../../inspector/inspection.ts'
import { memoriesIn } from '../../../inspector/memories.ts'
import { projectStore, sessionsFolder } from '../../../preset.ts'
import type { Store } from '../../../transcript/store.ts'
import { uniqueText, type Workplace } from '../../workplace/workplace.ts'
import { requestSettingsOf } from '../context.ts'
import { wiringAt } from '../memory/open.ts'
import { EngineError } from '../../../engine/session.ts'
import { carryOut, postWish } from '../../../inspector/wishes.ts'
import { commandPreset } from '../../extensions/load.ts'
import { wishPorts } from '../../conversation/wishes.ts'
import { unchangedRefusal } from '../../workplace/unsaved.ts'

/** Other sessions than the project's own, to be read alone. */
export interface OtherSessions {
  readonly store: Store
  /** Under which name indexes of them are kept; null keeps none. */
  readonly scope: string | null
}

export function inspectionOf(place: Workplace, other?: OtherSessions): Inspection {
  const { home, project } = place
  const root = sessionsFolder(home, project)
  const requests = requestSettingsOf(place)
  const kept = { fs: machineFileSystem, folder: join(home, 'cache', 'inspector'), unique: uniqueText }
  if (other !== undefined) {
    const { store, scope } = other
    return new Inspection({
      store,
      scope: scope ?? '',
      place: scope === null ? null : kept,
      settings: requests,
    })
  }
  const wiring = wiringAt(place)
  const inspection: Inspection = new Inspection({
    store: projectStore(place),
    scope: root,
    place: kept,
    settings: requests,
    changes: changesAt(place),
    memories: memoriesIn(wiring.why === null ? wiring.keepers : [], () => inspection.recalls()),
  })
  return inspection
}

// Undo, release and pin from the page. A session that nobody has open is opened for it, as `pal undo` does; one that is open in
// another process is asked there.

/** Null where nothing can be written. */
function changesAt(place: Workplace): Changes | null {
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
  const preset = await commandPreset(place, { model: place.access ?? undefined })
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
