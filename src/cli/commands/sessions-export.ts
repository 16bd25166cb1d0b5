// `pal sessions export` and `pal sessions import`: sessions out of this project and into it; spans of them to a collector.
// Copies go between this project and a folder of JSONL, or the database of a fleet: the same lines at the same places and the
// same blobs; run again it takes what has come since, and it overwrites nothing.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { attempt, machineFileSystem } from '../../disk/fs.ts'
import { dollarsOf } from '../../engine/limits/spend.ts'
import type { PostgresStoreOptions } from '../../postgres/index.ts'
import { projectStore, tableOf } from '../../preset.ts'
import { copySession } from '../../stores/copy.ts'
import { fileStore } from '../../stores/index.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Store, Result } from '../../transcript/store.ts'
import { complain, exits, fail, refuse, type Exit, type Refusal } from '../exit-codes.ts'
import { findSession, newestSession, openingOf, unlisted } from '../session-lookup.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'
import { whole } from '../terminal/tables.ts'
import { unchangedRefusal } from '../workplace/unsaved.ts'
import { openWorkplace, type Workplace, type ProjectFlags } from '../workplace/workplace.ts'

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
    return fail(io, exits.usage, 'say where to: --to FOLDER, --to postgres, or --otlp ADDRESS; one of them')
  if (folder?.trim() === '') return fail(io, exits.usage, '--to needs the name of a folder, and got none')
  if (folder === undefined) return spansTo(place, store, ids, otlp!, flags)
  const found =
    flags.all === true ? { ok: true as const, sessions: ids } : await sessionsNamed(store, ids, false)
  if (!found.ok) return complain(io, found)
  const target = await storeAt(io, folder, await writingOf(place, store))
  if (!target.ok) return complain(io, target)
  const isNew = folder !== database && !existsSync(target.name)
  const exit = await between(io, store, target, target, found.sessions, flags)
  // A folder that was made for nothing goes; one that holds something stays.
  if (isNew && exit !== exits.done)
    await attempt('removing', () => machineFileSystem.removeFolder(target.name))
  return exit
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
  const unwritable = unchangedRefusal(place)
  if (unwritable !== null) return complain(io, unwritable)
  const source = await storeAt(io, from)
  if (!source.ok) return complain(io, source)
  const own = { store: projectStore(place), name: place.project.root }
  return between(io, source.store, own, source, ids, { ...flags, all: ids.length === 0 })
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

/** Sessions that were meant. */
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
    if (!info.ok) return unlisted(info.failure)
    if ((await openingOf(store, info.session)).isMain) sessions.push(info.session)
  }
  return { ok: true, sessions: sessions.reverse() }
}

// ---- copies ----

export interface CopyFlags extends ProjectFlags {
  readonly all?: boolean | undefined
  readonly checkpoints?: boolean | undefined
}

/** The word for the database that PAL_DATABASE_URL names; a folder of that name is `./postgres`. */
export const database = 'postgres'

export interface Elsewhere {
  readonly ok: true
  readonly store: Store
  readonly name: string
  close(): Promise<void>
}

/** How sessions of this project are written into a database: at the prices known here, as what was paid before. */
async function writingOf({ settings }: Workplace, store: Store): Promise<Writing> {
  const there = new Set<string>()
  for await (const info of store.list()) if (info.ok) there.add(info.session)
  const models = tableOf(settings)
  return {
    price: (model, usage) => dollarsOf(models, model, usage),
    past: { isCopied: (child) => there.has(child) },
  }
}
type Writing = Pick<PostgresStoreOptions, 'price' | 'past'>

/** A folder of sessions, or the database of a fleet. */
export async function storeAt(io: Io, where: string, writing: Writing = {}): Promise<Elsewhere | Refusal> {
  if (where !== database) {
    const root = resolve(io.cwd, where)
    return { ok: true, store: fileStore({ root }), name: root, close: async () => undefined }
  }
  const { openFleet } = await import('./fleet/open.ts')
  const fleet = openFleet(io, {})
  if (!fleet.ok) return fleet
  const { postgresStore } = await import('../../postgres/index.ts')
  const { connection, tenant } = fleet
  const store = postgresStore({ ...writing, connection, tenant })
  const close = async (): Promise<void> => {
    await store.close()
    await connection.close()
  }
  return { ok: true, store, name: `the database, tenant ${tenant}`, close }
}

interface CopyRow {
  readonly session: SessionId
  readonly entries: number
  readonly blobs: number
  readonly refused: string | null
}

async function between(
  io: Io,
  from: Store,
  to: { readonly store: Store; readonly name: string },
  opened: Elsewhere,
  ids: readonly string[],
  flags: CopyFlags,
): Promise<Exit> {
  try {
    const wanted = await wantedIn(from, ids, flags.all === true)
    if (!wanted.ok) return complain(io, wanted)
    if (wanted.sessions.length === 0)
      return fail(
        io,
        exits.session,
        `there are no sessions to copy; look where they should come from: ${opened.name}`,
      )
    const rows: CopyRow[] = []
    const tell = progress(io, wanted.sessions.length)
    for (const session of wanted.sessions) {
      const done = await copied(from, to.store, session, flags.checkpoints === true)
      rows.push(
        done.ok
          ? { session, entries: done.entries, blobs: done.blobs, refused: null }
          : { session, entries: 0, blobs: 0, refused: done.failure.message },
      )
      tell(rows.length)
    }
    return report(io, rows, to.name, flags.json === true)
  } finally {
    await opened.close()
  }
}

function report(io: Io, rows: readonly CopyRow[], to: string, json: boolean): Exit {
  const refusals = rows.filter(({ refused }) => refused !== null)
  for (const { refused } of refusals) io.err(`pal: ${safeLine(refused ?? '')}\n`)
  const sum = (of: (row: CopyRow) => number): number => rows.reduce((all, row) => all + of(row), 0)
  const [entries, blobs] = [sum((row) => row.entries), sum((row) => row.blobs)]
  if (json) io.out(`${safeJson({ to, entries, blobs, sessions: rows }, 2)}\n`)
  else
    io.out(
      `${whole(rows.length - refusals.length)} of ${whole(rows.length)} sessions are in ${safeLine(to)}: ${whole(entries)} entries and ${whole(blobs)} blobs were new\n`,
    )
  return refusals.length === 0 ? exits.done : exits.failed
}

/** What the target has of it is the beginning of what comes, or nothing is written. */
async function copied(
  from: Store,
  to: Store,
  session: SessionId,
  withCheckpoint: boolean,
): Promise<Result<{ readonly entries: number; readonly blobs: number }>> {
  const done = await copySession(from, to, session)
  const checkpoint = done.ok && withCheckpoint ? await from.getCheckpoint(session) : null
  if (checkpoint === null) return done
  const leased = await to.lease(session)
  // It only saves time: without it the session opens all the same.
  if (!leased.ok) return done
  await to.putCheckpoint(leased.lease, checkpoint)
  await to.release(leased.lease)
  return done
}

/** Those that are named with what they stand on and what stands on them; or all, oldest first. */
async function wantedIn(store: Store, ids: readonly string[], isAll: boolean): Promise<Named> {
  const above = new Map<SessionId, SessionId | null>()
  for await (const info of store.list()) {
    if (!info.ok) return unlisted(info.failure)
    const { start } = await openingOf(store, info.session)
    above.set(info.session, start?.parent?.session ?? start?.startedBy ?? null)
  }
  const oldestFirst = [...above.keys()].reverse()
  if (isAll) return { ok: true, sessions: oldestFirst }
  const wanted = new Set<SessionId>()
  for (const id of ids) {
    const found = await findSession(store, id)
    if (!found.ok) return found
    for (const one of standingOn(above, found.session)) wanted.add(one)
    const family = [found.session]
    for (const member of family)
      for (const [child, parent] of above)
        if (parent === member && !family.includes(child)) family.push(child)
    for (const member of family) wanted.add(member)
  }
  return { ok: true, sessions: oldestFirst.filter((session) => wanted.has(session)) }
}

/** A branch reads its beginning from its parent. */
function standingOn(
  above: ReadonlyMap<SessionId, SessionId | null>,
  session: SessionId,
): readonly SessionId[] {
  const line: SessionId[] = []
  for (let at = above.get(session) ?? null; at !== null && !line.includes(at); at = above.get(at) ?? null)
    if (above.has(at)) line.push(at)
  return line
}

const progressMs = 1000

/** Says how far it is, where somebody watches and it takes long. */
function progress(io: Io, all: number): (done: number) => void {
  let last = performance.now()
  return (done) => {
    if (!io.errIsTerminal || performance.now() - last < progressMs) return
    last = performance.now()
    io.err(`pal: ${done} of ${all} sessions\n`)
  }
}
