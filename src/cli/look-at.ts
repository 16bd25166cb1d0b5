// What the commands that only look have in common: open the place, find the session, show it.
import { projectStore } from '../preset.ts'
import type { SessionId } from '../transcript/ids.ts'
import type { Store } from '../transcript/store.ts'
import type { Exit } from './exit-codes.ts'
import { complain } from './headless.ts'
import { openWorkplace, type Workplace } from './workplace/workplace.ts'
import type { Io } from './terminal/io.ts'
import { findSession, newestSession } from './session-lookup.ts'

export interface LookFlags {
  readonly json?: boolean | undefined
  readonly cwd?: string | undefined
}

/** The session named, or the newest, given to `show`; what stands in the way is said. */
export async function lookAt(
  io: Io,
  id: string | undefined,
  flags: LookFlags,
  show: (place: Workplace, store: Store, session: SessionId, json: boolean) => Promise<Exit>,
): Promise<Exit> {
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  const store = projectStore(place)
  const found = id === undefined ? await newestSession(store) : await findSession(store, id)
  return found.ok ? show(place, store, found.session, flags.json ?? false) : complain(io, found)
}
