// `pal sessions export`: sessions out of this project's store, as OTLP.
import { projectStore } from '../../preset.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'
import { complain, exits, refuse, type Exit, type Refusal } from '../exit-codes.ts'
import { findSession, newestSession, openingOf } from '../session-lookup.ts'
import type { Io } from '../terminal/io.ts'
import { openWorkplace, type ProjectFlags } from '../workplace/workplace.ts'

export interface ExportFlags extends ProjectFlags {
  readonly all?: boolean | undefined
  /** An address, a file, or nothing but the wish. */
  readonly otlp?: string | true | undefined
}

export async function exportSessions(io: Io, ids: readonly string[], flags: ExportFlags): Promise<Exit> {
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  const store = projectStore(place)
  const { otlp } = flags
  if (otlp === undefined)
    return complain(io, refuse(exits.usage, 'say where to: pal sessions export ID --otlp ADDRESS'))
  const { isAddress, exportOtlp } = await import('./sessions-otlp.ts')
  // `--otlp ID`, with the collector of the settings: what looks like the name of a session is one.
  const isId = typeof otlp === 'string' && ids.length === 0 && flags.all !== true && !isAddress(otlp)
  const [wanted, to] = isId && !/[./\\]/.test(otlp) ? [[otlp], true as const] : [ids, otlp]
  const found = await sessionsNamed(store, wanted, flags.all === true)
  if (!found.ok) return complain(io, found)
  return exportOtlp(place, store, found.sessions, to, flags.json === true)
}

type Named = { readonly ok: true; readonly sessions: readonly SessionId[] } | Refusal

/** Those that are named, the newest where none is, or all conversations of the project, oldest first. */
async function sessionsNamed(store: Store, ids: readonly string[], isAll: boolean): Promise<Named> {
  if (isAll && ids.length > 0) return refuse(exits.usage, 'name sessions or use --all, not both')
  if (isAll) return allSessions(store)
  if (ids.length === 0) {
    const newest = await newestSession(store)
    return newest.ok ? { ok: true, sessions: [newest.session] } : newest
  }
  const sessions: SessionId[] = []
  for (const id of ids) {
    const found = await findSession(store, id)
    if (!found.ok) return found
    if (!sessions.includes(found.session)) sessions.push(found.session)
  }
  return { ok: true, sessions }
}

async function allSessions(store: Store): Promise<Named> {
  const sessions: SessionId[] = []
  for await (const info of store.list()) {
    if (!info.ok) return refuse(exits.failed, `the sessions cannot be listed: ${info.failure.message}`)
    if ((await openingOf(store, info.session)).isMain) sessions.push(info.session)
  }
  return { ok: true, sessions: sessions.reverse() }
}
