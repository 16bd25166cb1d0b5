// `pal memory log`, `diff` and `revert`: every write is a version, and every version can come back. `forget` is complete:
// the versions go too, and it is not learnt again.
import { createTwoFilesPatch } from 'diff'
import { forget, type ForgetWhat, type Forgot } from '../../../memory/keeping/forget.ts'
import type { Keeper } from '../../../memory/keeping/keeper.ts'
import type { Held, LedgerRecord } from '../../../memory/keeping/records.ts'
import { revert, textBefore, textOf, versionNumbered, type Version } from '../../../memory/keeping/revert.ts'
import { exits, refuse, type Exit, type Refusal } from '../../exit-codes.ts'
import { isNamedBy, severalMatch, unlisted } from '../../session-lookup.ts'
import type { Io } from '../../terminal/io.ts'
import { safeLine, safeText } from '../../terminal/safe-text.ts'
import { moment, table, right, left, wraps } from '../../terminal/tables.ts'
import {
  findMemory,
  isRefusal,
  show,
  withMemories,
  withMemory,
  type MemoryFlags,
  type MemoryRoom,
} from './open.ts'

const isVersion = (record: LedgerRecord): record is Version | Held =>
  record.do === 'write' || record.do === 'remove' || record.do === 'hold'

export const logMemory = (io: Io, name: string | undefined, flags: MemoryFlags): Promise<Exit> =>
  withMemories(io, flags, async (room) => {
    const found = name === undefined ? null : await findMemory(room, name)
    if (found !== null && isRefusal(found)) return found
    const rows = (found === null ? room.keepers : [found.keeper]).flatMap((keeper) =>
      keeper.ledger
        .records()
        .filter(isVersion)
        .filter((record) => found === null || record.file === found.file)
        .map((record) => ({ scope: keeper.place.scope, ...record })),
    )
    return show(room, { versions: rows }, () =>
      rows.length === 0
        ? 'No versions yet.\n'
        : table(
            [
              right('version'),
              'when',
              left('scope', 1),
              'what',
              wraps('file'),
              left('source', 2),
              left('session', 3),
            ],
            rows.map((row) => [
              String(row.n),
              moment(row.at),
              row.scope,
              row.do === 'hold' ? 'held' : `${row.do} (${row.via})`,
              row.file,
              `${row.by.kind} (${row.by.trust})`,
              row.by.session ?? '–',
            ]),
            room.io.columns,
          ),
    )
  })

export const diffMemory = (
  io: Io,
  name: string,
  version: number | undefined,
  flags: MemoryFlags,
): Promise<Exit> =>
  withMemory(io, name, flags, async (room, found) => {
    const { keeper, file } = found
    const target =
      version === undefined ? keeper.ledger.versionsOf(file).at(-1) : versionNumbered(keeper, version)
    if (target === undefined || target === null || target.file !== file)
      return refuse(exits.usage, `${file} has no version ${version ?? ''}; pal memory log ${file} lists them`)
    const patch = await patchOf(keeper, target)
    if (isRefusal(patch)) return patch
    return show(room, { file, version: target.n, patch: patch.patch }, () =>
      safeText(patch.patch, { reveal: true }),
    )
  })

/** What a version changed. */
export async function patchOf(
  keeper: Keeper,
  version: Version | Held,
): Promise<{ readonly patch: string } | Refusal> {
  const [before, after] = [await textBefore(keeper, version), await textOf(keeper, version)]
  if (!before.ok) return refuse(exits.failed, before.failure.message)
  if (!after.ok) return refuse(exits.failed, after.failure.message)
  return { patch: createTwoFilesPatch(version.file, version.file, before.text ?? '', after.text ?? '') }
}

export const revertMemory = (
  io: Io,
  name: string,
  version: number | undefined,
  flags: MemoryFlags,
): Promise<Exit> =>
  withMemory(io, name, flags, async (room, found) => {
    const done = await revert(found.keeper, found.file, version)
    if (!done.ok) return refuse(exits.failed, done.failure.message)
    return show(room, { file: found.file, version: done.version, to: done.to }, () =>
      safeLine(
        done.to === null
          ? `${found.file} did not exist before, so it was removed; pal memory revert ${found.file} restores it`
          : `${found.file} is back to version ${done.to} (now version ${done.version})`,
      ).concat('\n'),
    )
  })

export interface ForgetFlags extends MemoryFlags {
  readonly session?: string | undefined
  readonly source?: string | undefined
}

export const forgetMemory = (io: Io, name: string | undefined, flags: ForgetFlags): Promise<Exit> =>
  withMemories(io, flags, async (room) => {
    const given = [name, flags.session, flags.source].filter((one) => one !== undefined)
    if (given.length !== 1) return refuse(exits.usage, 'name one memory, or --session ID, or --source NAME')
    const found = name === undefined ? null : await findMemory(room, name)
    if (found !== null && isRefusal(found)) return found
    const from = flags.session === undefined ? null : await sessionMeant(room, flags.session)
    if (from !== null && isRefusal(from)) return from
    const what: ForgetWhat =
      found !== null ? { file: found.file } : from !== null ? from : { source: flags.source! }
    const all: (Forgot & { readonly scope: string })[] = []
    for (const keeper of found === null ? room.keepers : [found.keeper]) {
      const done = await forget(keeper, what)
      if (!done.ok) return refuse(exits.failed, done.failure.message)
      const { removed, wentBack, versions } = done
      all.push({ scope: keeper.place.scope, removed, wentBack, versions })
    }
    return show(room, { forgot: all }, () =>
      all
        .flatMap(({ scope, removed, wentBack, versions }) => [
          ...removed.map((file) => `${scope} ${file}: removed with all its versions`),
          ...wentBack.map(
            ({ file, to, lost }) =>
              `${scope} ${file}: back to version ${to}${lost === 0 ? '' : `; ${lost} later versions based on it were removed too`}`,
          ),
          `${scope}: ${versions} stored texts removed; it will not be saved again`,
        ])
        .map((line) => `${safeLine(line)}\n`)
        .join(''),
    )
  })

/** One of this project, or one that is deleted and that a memory still came from. Another would forget nothing and say that it had. */
async function sessionMeant(
  { keepers, store }: MemoryRoom,
  wanted: string,
): Promise<{ readonly session: string } | Refusal> {
  const ids = new Set(keepers.flatMap(({ ledger }) => ledger.records().flatMap(sessionsOf)))
  for await (const item of store.list()) {
    if (!item.ok) return unlisted(item.failure)
    ids.add(item.session)
  }
  if (ids.has(wanted)) return { session: wanted }
  const [session, ...others] = [...ids].filter((id) => isNamedBy(id, wanted))
  if (session !== undefined && others.length === 0) return { session }
  return refuse(
    exits.session,
    session === undefined
      ? `there is no session ${wanted} in this project, and no memory came from one; nothing was forgotten. pal sessions lists sessions, pal memory log those that memories came from`
      : severalMatch(wanted, [session, ...others]),
  )
}

const sessionPrefix = 'session:'

/** What was joined from several sessions names the others among its sources. */
function sessionsOf(record: LedgerRecord): readonly string[] {
  if (!isVersion(record)) return []
  const { session, from } = record.by
  const others = from
    .filter((one) => one.startsWith(sessionPrefix))
    .map((one) => one.slice(sessionPrefix.length))
  return session === null ? others : [session, ...others]
}
