// `pal sessions export` and `pal sessions import`: sessions out of this project and into it; spans of them to a collector.
import { projectStore } from '../../preset.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'
import { complain, exits, refuse, type Exit, type Refusal } from '../exit-codes.ts'
import { findSession, newestSession, openingOf } from '../session-lookup.ts'
import type { Io } from '../terminal/io.ts'
import { openWorkplace, type Workplace } from '../workplace/workplace.ts'
import type { CopyFlags } from './sessions-copy.ts'

export interface ExportFlags extends CopyFlags {
  /** A folder, or the database of a fleet. */
  readonly to?: string | undefined
  /** An address, a file, or nothing but the wish. */
  readonly otlp?: string | true | undefined
}

export async function exportSessions(io: Io, ids: readonly string[], flags: ExportFlags): Promise<Exit> {
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  const store = projectStore(place)
  const { otlp, to: folder } = flags
  if ((otlp === undefined) === (folder === undefined))
    return complain(
      io,
      refuse(exits.usage, 'say where to: --to FOLDER, --to postgres, or --otlp ADDRESS; one of them'),
    )
  if (folder !== undefined) return copiesTo(place, store, ids, folder, flags)
  return spansTo(place, store, ids, otlp!, flags)
}

/** A folder of JSONL or the database of a fleet into this project. */
export async function importSessions(
  io: Io,
  from: string,
  ids: readonly string[],
  flags: CopyFlags,
): Promise<Exit> {
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  return (await import('./sessions-copy.ts')).importCopies(place, from, ids, flags)
}

async function copiesTo(
  place: Workplace,
  store: Store,
  ids: readonly string[],
  to: string,
  flags: ExportFlags,
): Promise<Exit> {
  const { exportCopies } = await import('./sessions-copy.ts')
  if (flags.all === true) return exportCopies(place, ids, to, flags)
  const found = await sessionsNamed(store, ids, false)
  return found.ok ? exportCopies(place, found.sessions, to, flags) : complain(place.io, found)
}

async function spansTo(
  place: Workplace,
  store: Store,
  ids: readonly string[],
  otlp: string | true,
  flags: ExportFlags,
): Promise<Exit> {
  const { io } = place
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
