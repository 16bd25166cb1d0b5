// `pal sessions`: what there is in this project, newest first. Reads the beginning of each session only.
import { projectStore } from '../../preset.ts'
import { defaults } from '../../settings/defaults.ts'
import { complain, exits, type Exit } from '../exit-codes.ts'
import { openingOf, shortId, unlisted } from '../session-lookup.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson } from '../terminal/safe-text.ts'
import { moment, table, whole, right, wraps } from '../terminal/tables.ts'
import { openWorkplace, type ProjectFlags } from '../workplace/workplace.ts'

export interface SessionsFlags extends ProjectFlags {
  /** Forks too, and without end. */
  readonly all?: boolean | undefined
}

interface Listed {
  readonly session: string
  readonly modifiedAt: string
  readonly bytes: number
  readonly purpose: string | null
  readonly forkOf: string | null
  readonly words: string
  /** What of its beginning cannot be read. */
  readonly damage: string | null
}

export async function sessions(io: Io, flags: SessionsFlags): Promise<Exit> {
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  const store = projectStore(place)
  const listed: Listed[] = []
  let isCut = false
  let exit: Exit = exits.done
  for await (const info of store.list()) {
    if (!info.ok) {
      exit = complain(io, unlisted(info.failure))
      continue
    }
    const { start, isMain, words, state, why } = await openingOf(store, info.session)
    if (flags.all !== true && !isMain && state !== 'unreadable') continue
    isCut = flags.all !== true && flags.json !== true && listed.length >= defaults.cli.listedSessions
    if (isCut) break
    listed.push({
      session: info.session,
      modifiedAt: new Date(info.modifiedAt).toISOString(),
      bytes: info.bytes,
      purpose: start?.purpose ?? null,
      forkOf: start?.parent?.session ?? null,
      words: words.replace(/\s+/g, ' ').trim().slice(0, defaults.cli.firstWordsChars).toWellFormed(),
      damage: why === '' ? null : why,
    })
  }
  if (flags.json === true) io.out(`${safeJson(listed, 2)}\n`)
  // Where something cannot be looked at, nobody knows whether there are none.
  else if (listed.length === 0 && exit === exits.done)
    io.out('No sessions in this project yet. Start one with pal, or pal -p "PROMPT"\n')
  else if (listed.length > 0) io.out(asTable(listed, io.columns))
  if (isCut) io.err(`pal: showing the newest ${listed.length}; --all shows every one\n`)
  return exit
}

/** Of every table of sessions. */
export const sessionColumns = ['session', 'last written', right('bytes', 1), wraps('first message')]

const asTable = (listed: readonly Listed[], room: number): string =>
  table(
    sessionColumns,
    listed.map(({ session, modifiedAt, bytes, words, purpose, forkOf, damage }) => [
      shortId(session),
      moment(Date.parse(modifiedAt)),
      whole(bytes),
      `${purpose === 'main' || purpose === null ? '' : `[${purpose}] `}${forkOf === null ? '' : '(branched) '}${damage === null ? '' : '(damaged: pal doctor) '}${words}`,
    ]),
    room,
  )
