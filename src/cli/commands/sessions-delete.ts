// `pal sessions delete`: sessions go for good, with their forks, agents, results and mailboxes. What was remembered from
// them stays; `pal memory forget --session` is for that.
import { createPreset } from '../../preset.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Result } from '../../transcript/store.ts'
import { complain, exitFor, exits, refuse, type Exit } from '../exit-codes.ts'
import { findSession } from '../session-lookup.ts'
import type { Io } from '../terminal/io.ts'
import { agreesTo } from '../terminal/agree.ts'
import { safeJson } from '../terminal/safe-text.ts'
import { moment, table, whole } from '../terminal/tables.ts'
import { unchangedRefusal } from '../workplace/unsaved.ts'
import { openWorkplace, type ProjectFlags, type Workplace } from '../workplace/workplace.ts'
import { bytesOf, familyOf, membersOf, type Member } from './session-families.ts'
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
    if (!listed.ok) return complain(io, refuse(exits.failed, listed.failure.message))
    const going = [...new Set(roots.flatMap((root) => familyOf(listed.members, root)))]
    const branches = going.filter(({ session, purpose }) => purpose === 'main' && !roots.includes(session))
    if (branches.length > 0 && flags.withBranches !== true)
      return complain(
        io,
        refuse(
          exits.failed,
          `nothing was deleted: ${branches.map(({ session }) => session).join(', ')} branched off and begins with its entries. Name it too, or use --with-branches`,
        ),
      )
    const isDry = flags.dryRun === true
    if (flags.json !== true) io.out(tableOf(going, io.columns))
    if (!isDry && flags.yes !== true) {
      const agreed = await agreesTo(io, `Delete ${counted(going.length)} for good?`, 'deleted')
      if (agreed !== null) return complain(io, agreed)
    }
    const removed = isDry ? [] : await remover.remove(roots)
    if ('failure' in removed)
      return complain(io, refuse(exitFor(removed.failure.code), removed.failure.message))
    const bytes = bytesOf(going)
    if (flags.json === true) io.out(`${safeJson({ deleted: !isDry, sessions: going, bytes }, 2)}\n`)
    else
      io.out(
        `${counted(going.length)}, ${whole(bytes)} bytes: ${isDry ? 'would be deleted; without --dry-run they are' : 'deleted'}\n`,
      )
    return exits.done
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
