// `pal sessions delete`: sessions go for good, with their forks, agents, results and mailboxes. What was remembered from
// them stays; `pal memory forget --session` is for that.
import { machineFileSystem } from '../../disk/fs.ts'
import { createPreset, projectStore, sessionsFolder } from '../../preset.ts'
import { layoutOf } from '../../stores/files/layout.ts'
import { bytesIn } from '../../stores/files/leftovers.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Result } from '../../transcript/store.ts'
import { print, complain, exitFor, exits, fail, type Exit } from '../exit-codes.ts'
import { findSession, openingOf } from '../session-lookup.ts'
import { agreesTo } from '../terminal/agree.ts'
import type { Io } from '../terminal/io.ts'
import { moment, table, whole } from '../terminal/tables.ts'
import { unchangedRefusal } from '../workplace/unsaved.ts'
import { openWorkplace, type ProjectFlags, type Workplace } from '../workplace/workplace.ts'
import { sessionColumns } from './sessions.ts'

export interface DeleteFlags extends ProjectFlags {
  readonly withBranches?: boolean | undefined
  readonly dryRun?: boolean | undefined
  readonly yes?: boolean | undefined
}

export async function deleteSessions(io: Io, wanted: readonly string[], flags: DeleteFlags): Promise<Exit> {
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  const unchanged = flags.dryRun === true ? null : unchangedRefusal(place)
  if (unchanged !== null) return complain(io, unchanged)
  const remover = createRemover(place)
  try {
    const roots: SessionId[] = []
    for (const id of wanted) {
      const found = await findSession(remover.store, id)
      if (!found.ok) return complain(io, found)
      roots.push(found.session)
    }
    const listed = await membersOf(place)
    if (!listed.ok) return fail(io, exits.failed, listed.failure.message)
    const going = [...new Set(roots.flatMap((root) => familyOf(listed.members, root)))]
    const branches = going.filter(({ session, purpose }) => purpose === 'main' && !roots.includes(session))
    if (branches.length > 0 && flags.withBranches !== true)
      return fail(
        io,
        exits.failed,
        `nothing was deleted: ${branches.map(({ session }) => session).join(', ')} branched off and begins with its entries. Name it too, or use --with-branches`,
      )
    const isDry = flags.dryRun === true
    if (flags.json !== true) io.out(tableOf(going, io.columns))
    if (!isDry && flags.yes !== true) {
      const agreed = await agreesTo(io, `Delete ${counted(going.length)} for good?`, 'deleted')
      if (agreed !== null) return complain(io, agreed)
    }
    const removed = isDry ? [] : await remover.remove(roots)
    if ('failure' in removed) return fail(io, exitFor(removed.failure.code), removed.failure.message)
    const bytes = bytesOf(going)
    return print(
      io,
      flags.json,
      { deleted: !isDry, sessions: going, bytes },
      () =>
        `${counted(going.length)}, ${whole(bytes)} bytes: ${isDry ? 'would be deleted; without --dry-run they are' : 'deleted'}\n`,
    )
  } finally {
    await remover.close()
  }
}

const counted = (count: number): string => `${count} session${count === 1 ? '' : 's'}`

export const tableOf = (members: readonly Member[], room: number): string =>
  table(
    sessionColumns,
    members.map(({ session, modifiedAt, bytes, purpose, words }) => [
      session,
      moment(modifiedAt),
      whole(bytes),
      `${purpose === 'main' || purpose === null ? '' : `[${purpose}] `}${words.slice(0, 60).toWellFormed()}`,
    ]),
    room,
  )

export interface Remover {
  readonly store: ReturnType<typeof createPreset>['store']
  /** Each with all that stands on it. Stops at the first that cannot go. */
  remove(roots: readonly SessionId[]): Promise<readonly SessionId[] | { readonly failure: Failing }>
  close(): Promise<void>
}
type Failing = Extract<Result<object>, { ok: false }>['failure']

/** An engine without a model: it knows what hangs on a session. */
export function createRemover(place: Workplace): Remover {
  const preset = createPreset({
    ...place,
    environment: place.io.environment,
    userHome: place.io.userHome,
    model: undefined,
  })
  return {
    store: preset.store,
    close: () => preset.close(),
    remove: async (roots) => {
      const gone: SessionId[] = []
      for (const root of roots) {
        if (gone.includes(root)) continue
        const removed = await preset.engine.remove(root, { withForks: true })
        if (!removed.ok) return { failure: removed.failure }
        gone.push(...removed.sessions)
      }
      return gone
    },
  }
}

// ---- sessions that stand or fall together ----
// One that was begun by a person, with its forks, its agents, and the sessions
// branched off from it. What is deleted is deleted by families, since a branch reads its beginning from its parent.

export interface Member {
  readonly session: SessionId
  readonly modifiedAt: number
  /** Transcript and everything beside it. */
  readonly bytes: number
  readonly purpose: string | null
  /** What it was branched off, forked from or started by. */
  readonly above: SessionId | null
  readonly words: string
}

export async function membersOf(place: Workplace): Promise<Result<{ readonly members: readonly Member[] }>> {
  const store = projectStore(place)
  const root = sessionsFolder(place.home, place.project)
  const members: Member[] = []
  for await (const info of store.list()) {
    if (!info.ok) return info
    const { start, words } = await openingOf(store, info.session)
    members.push({
      session: info.session,
      modifiedAt: info.modifiedAt,
      bytes: await bytesIn(machineFileSystem, layoutOf(root, info.session).folder),
      purpose: start?.purpose ?? null,
      above: start?.parent?.session ?? start?.startedBy ?? null,
      words: words.replace(/\s+/g, ' ').trim(),
    })
  }
  return { ok: true, members }
}

/** A session and all that stand on it, parents before their children. */
export function familyOf(members: readonly Member[], root: SessionId): readonly Member[] {
  const family = members.filter(({ session }) => session === root)
  for (let at = 0; at < family.length; at++)
    for (const member of members)
      if (member.above === family[at]!.session && !family.includes(member)) family.push(member)
  return family
}

/** Every family by its oldest session that is there. */
export function familiesOf(members: readonly Member[]): readonly (readonly Member[])[] {
  const known = new Set(members.map(({ session }) => session))
  return members
    .filter(({ above }) => above === null || !known.has(above))
    .map(({ session }) => familyOf(members, session))
}

export const newestIn = (family: readonly Member[]): number =>
  Math.max(...family.map(({ modifiedAt }) => modifiedAt))
export const bytesOf = (family: readonly Member[]): number =>
  family.reduce((sum, { bytes }) => sum + bytes, 0)
