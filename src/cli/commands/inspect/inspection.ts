// What the inspector looks at here: the sessions of this project with their owners, memories, prices and ways to change them.
import { join } from 'node:path'
import { machineFileSystem } from '../../../disk/fs.ts'
import { lockOwner } from '../../../disk/lock.ts'
import { Inspection, type Owner } from '../../../inspector/inspection.ts'
import { memoriesIn } from '../../../inspector/memories.ts'
import { projectStore, sessionsFolder } from '../../../preset.ts'
import { layoutOf } from '../../../stores/files/layout.ts'
import { lockOptionsOf, thisMachine } from '../../../stores/files/machine.ts'
import { sessionId } from '../../../transcript/ids.ts'
import type { Store } from '../../../transcript/store.ts'
import { uniqueText, type Workplace } from '../../workplace/workplace.ts'
import { requestSettingsOf } from '../context.ts'
import { wiringAt } from '../memory/open.ts'
import { changesAt } from './changes.ts'

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
    ownerOf: (session) => ownerIn(root, session),
    changes: changesAt(place),
    memories: memoriesIn(wiring.why === null ? wiring.keepers : [], () => inspection.recalls()),
  })
  return inspection
}

async function ownerIn(root: string, session: string): Promise<Owner | null> {
  const found = await lockOwner(layoutOf(root, sessionId(session)).lock, lockOptionsOf(thisMachine))
  return found.ok && found.owner !== null ? { host: found.owner.host, pid: found.owner.pid } : null
}
