// Finding a session of the project: by its id, by the beginning or the end of it, or the newest. Forks lie in the same store and are
// passed over.
import { projectStore } from '../preset.ts'
import { defaults } from '../settings/defaults.ts'
import { textIn } from '../transcript/content.ts'
import { isKnown, isRealInput, type FactOf } from '../transcript/fact.ts'
import type { SessionId } from '../transcript/ids.ts'
import type { Failure, Store } from '../transcript/store.ts'
import { complain, exits, refuse, type Exit, type Refusal } from './exit-codes.ts'
import type { Io } from './terminal/io.ts'
import { openWorkplace, type ProjectFlags, type Workplace } from './workplace/workplace.ts'

/** The session named, or the newest, given to `show`; what stands in the way is said. */
export async function showSession(
  io: Io,
  id: string | undefined,
  flags: ProjectFlags,
  show: (place: Workplace, store: Store, session: SessionId, json: boolean) => Promise<Exit>,
): Promise<Exit> {
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  const store = projectStore(place)
  const found = id === undefined ? await newestSession(store) : await findSession(store, id)
  return found.ok ? show(place, store, found.session, flags.json ?? false) : complain(io, found)
}

/** Where sessions may be, and cannot be looked at. */
export const unlisted = ({ message }: Failure): Refusal =>
  refuse(
    exits.failed,
    `the sessions cannot be listed: ${message}. Make that readable, or set PALIMPSEST_HOME to another folder`,
  )

type SessionLookup = { readonly ok: true; readonly session: SessionId } | Refusal

export async function newestSession(store: Store): Promise<SessionLookup> {
  for await (const item of store.list()) {
    if (!item.ok) return unlisted(item.failure)
    const { isMain, state, why } = await openingOf(store, item.session)
    // A session that cannot be read may be the one that is meant: another is not taken in its place.
    if (state === 'unreadable')
      return refuse(
        exits.session,
        `the newest session, ${item.session}, cannot be read: ${why}. Continue another by its id: pal sessions lists them, pal -p --resume ID "…"`,
      )
    if (state !== 'empty' && isMain) return { ok: true, session: item.session }
  }
  return refuse(exits.session, 'there is no session in this project to continue. Start one with pal -p "…"')
}

/** How a session is named on the screen. Ids begin with the time, so sessions of one minute differ only at the end. */
export const shortId = (id: string): string => (id.length <= shortChars * 2 ? id : id.slice(-shortChars))
const shortChars = 8

/** By the whole id, its beginning or its end. Forks, which no list shows, count only where no session is meant. */
export async function findSession(
  store: Store,
  wanted: string,
  list = 'pal sessions',
): Promise<SessionLookup> {
  const found: SessionId[] = []
  let hidden: Failure | null = null
  for await (const item of store.list()) {
    // One that cannot be looked at keeps nobody from another.
    if (!item.ok) hidden ??= item.failure
    else if (item.session === wanted) return { ok: true, session: item.session }
    else if (isNamedBy(item.session, wanted)) found.push(item.session)
  }
  if (hidden !== null && found.length === 0) return unlisted(hidden)
  const matches = found.length < 2 ? found : await listedAmong(store, found)
  const [only, ...others] = matches
  if (only !== undefined && others.length === 0) return { ok: true, session: only }
  return refuse(
    exits.session,
    only === undefined
      ? `there is no session ${wanted} in this project. ${list} lists them`
      : severalMatch(wanted, matches),
  )
}

/** By the beginning or the end of an id, where enough of it is given. */
export const isNamedBy = (id: string, wanted: string): boolean =>
  wanted.length >= defaults.cli.idPrefixChars && (id.startsWith(wanted) || id.endsWith(wanted))

export const severalMatch = (wanted: string, matches: readonly string[]): string =>
  `${matches.length} sessions match ${wanted}: ${matches.map(shortId).join(', ')}. Use one of these ids`

/** Those a person sees in the list, or all where there is none. */
async function listedAmong(store: Store, found: readonly SessionId[]): Promise<readonly SessionId[]> {
  const openings = await Promise.all(found.map((id) => openingOf(store, id)))
  const listed = found.filter((_, at) => openings[at]?.isMain === true)
  return listed.length === 0 ? found : listed
}

export interface Opening {
  readonly start: FactOf<'session-start'> | null
  /** A conversation with a person. Where its start is lost, its requests and what was typed say so; a fork has neither. */
  readonly isMain: boolean
  /** The first thing the user said. */
  readonly words: string
  /** Unreadable is not empty: an empty one was never written to. */
  readonly state: 'whole' | 'damaged' | 'unreadable' | 'empty'
  /** What is wrong with it, or nothing. */
  readonly why: string
}

/** What a session began with; reads its first entries only. */
export async function openingOf(store: Store, session: SessionId): Promise<Opening> {
  let start: FactOf<'session-start'> | null = null
  let [isRead, isTyped, words, why] = [false, false, '', '']
  let source: string | null = null
  const opening = (state: Opening['state']): Opening => ({
    start,
    isMain: (start?.purpose ?? source ?? (isTyped ? mainSource : null)) === mainSource,
    words,
    state,
    why,
  })
  for await (const item of store.read(session)) {
    if (item.kind === 'failed') {
      why = item.failure.message
      return opening('unreadable')
    }
    if (item.kind === 'damage') {
      if (why === '') why = `${item.damage.where}: ${item.damage.what}`
      continue
    }
    isRead = true
    if (!isKnown(item.entry)) continue
    const { fact } = item.entry
    if (fact.type === 'session-start') start = fact
    if (fact.type === 'request-sent') ({ source } = fact)
    if (isRealInput(fact) && words === '') {
      words = textIn(fact.content, ' ').slice(0, defaults.cli.firstWordsChars * 2)
      isTyped = fact.origin === 'typed'
    }
    if (words !== '' && (start ?? source) !== null) break
  }
  if (!isRead) return opening(why === '' ? 'empty' : 'unreadable')
  return opening(start === null || why !== '' ? 'damaged' : 'whole')
}
const mainSource = 'main'
