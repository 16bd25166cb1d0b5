// `pal sessions prune`: what is older or takes more than it may, and what crashes left behind. It only shows until
// `--delete` is given; that also confirms the limits in the settings, which from then on are kept once a day.
import { objectIn } from '../../transcript/json.ts'
import { dirname, join } from 'node:path'
import { attempt, machineFileSystem } from '../../disk/fs.ts'
import { removeIfThere, replaceFile } from '../../disk/replace.ts'
import { agentPurpose } from '../../engine/background/agent-rows.ts'
import { projectStore, sessionsFolder } from '../../preset.ts'
import { defaults } from '../../settings/defaults.ts'
import { MB } from '../../settings/units.ts'
import { layoutOf } from '../../stores/files/layout.ts'
import { leftoversOf, type Leftover } from '../../stores/files/leftovers.ts'
import { isKnown } from '../../transcript/fact.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'
import { complain, exits, refuse, type Exit, type Refusal } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'
import { prose, whole } from '../terminal/tables.ts'
import { readText } from '../workplace/files.ts'
import { unchangedRefusal } from '../workplace/unsaved.ts'
import { openWorkplace, uniqueText, type ProjectFlags, type Workplace } from '../workplace/workplace.ts'
import {
  bytesOf,
  familiesOf,
  membersOf,
  newestIn,
  createRemover,
  tableOf,
  type Member,
} from './sessions-delete.ts'

export interface PruneFlags extends ProjectFlags {
  readonly days?: number | undefined
  readonly megabytes?: number | undefined
  readonly delete?: boolean | undefined
}

interface Limits {
  readonly days: number | null
  readonly megabytes: number | null
}

interface Found {
  readonly families: readonly (readonly Member[])[]
  readonly leftovers: readonly Leftover[]
}

/** What went, and what stays since somebody writes it. */
interface Collected extends Found {
  readonly ok: true
  readonly open: readonly (readonly Member[])[]
}

export async function prune(io: Io, flags: PruneFlags): Promise<Exit> {
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  const set = limitsIn(place)
  const isOwn = flags.days === undefined && flags.megabytes === undefined
  const limits = isOwn ? set : { days: flags.days ?? null, megabytes: flags.megabytes ?? null }
  const found = await lookFor(place, limits)
  if (!found.ok) return complain(io, found)
  const isDry = flags.delete !== true
  const unchanged = isDry ? null : unchangedRefusal(place)
  if (unchanged !== null) return complain(io, unchanged)
  const collected = isDry ? { ...found, open: [] } : await collect(place, found)
  if (!collected.ok) return complain(io, collected)
  const sessions = collected.families.flat()
  const open = collected.open.flat()
  if (flags.json !== true) io.out(prose(described(collected, limits, isDry, io.columns), io.columns))
  if (open.length > 0) io.err(`pal: ${openText(open)}\n`)
  if (!isDry && isOwn) {
    const kept = await confirm(place, limits)
    if (kept !== null) return complain(io, kept)
  }
  if (flags.json === true)
    io.out(
      `${safeJson({ deleted: !isDry, limits, sessions, open, leftovers: collected.leftovers, bytes: bytesOf(sessions) }, 2)}\n`,
    )
  return exits.done
}

const limitsIn = ({ settings }: Workplace): Limits => ({
  days: settings.keepSessionDays ?? null,
  megabytes: settings.keepSessionMegabytes ?? null,
})

const isSet = ({ days, megabytes }: Limits): boolean => days !== null || megabytes !== null

async function lookFor(place: Workplace, limits: Limits): Promise<(Found & { ok: true }) | Refusal> {
  const now = Date.now()
  const sessions = sessionsFolder(place.home, place.project)
  const listed = isSet(limits) ? await membersOf(place) : { ok: true as const, members: [] }
  if (!listed.ok) return refuse(exits.failed, listed.failure.message)
  const left = await leftoversOf({ fs: machineFileSystem, folder: dirname(sessions), sessions, now })
  if (!left.ok) return refuse(exits.failed, left.failure.message)
  const cut = await cutForks(place, now)
  return { ok: true, families: beyond(listed.members, limits, now), leftovers: [...left.found, ...cut] }
}

/** Forks that a crash ended before their first answer: nothing was said in them, and nothing paid. */
async function cutForks(place: Workplace, now: number): Promise<readonly Leftover[]> {
  const store = projectStore(place)
  const root = sessionsFolder(place.home, place.project)
  const found: Leftover[] = []
  for await (const info of store.list()) {
    if (!info.ok || now - info.modifiedAt < defaults.store.leftoverMs) continue
    const { session, bytes } = info
    if (await isCut(store, session))
      found.push({ what: 'cut fork', path: layoutOf(root, session).folder, bytes, session })
  }
  return found
}

async function isCut(store: Store, session: SessionId): Promise<boolean> {
  let isFork = false
  for await (const item of store.read(session)) {
    // A torn end is what a crash leaves; where an entry is known to be lost, an answer may be.
    if (item.kind === 'damage' && item.damage.lost === undefined) continue
    if (item.kind !== 'entry' || !isKnown(item.entry)) return false
    const { fact } = item.entry
    if (fact.type === 'session-start') isFork = fact.purpose !== 'main' && fact.purpose !== agentPurpose
    // An agent is woken again by its session; what was answered or has ended was whole.
    if (!isFork || fact.type === 'assistant-message' || fact.type === 'turn-end') return false
  }
  return isFork
}

/** Families beyond the limits, oldest first. The newest one stays, whatever it takes. */
function beyond(
  members: readonly Member[],
  { days, megabytes }: Limits,
  now: number,
): readonly (readonly Member[])[] {
  const [, ...older] = [...familiesOf(members)].sort((a, b) => newestIn(b) - newestIn(a))
  let total = bytesOf(members)
  const going: (readonly Member[])[] = []
  for (const family of older.reverse()) {
    const isOld = days !== null && now - newestIn(family) > days * dayMs
    const isTooMuch = megabytes !== null && total > megabytes * MB
    if (!isOld && !isTooMuch) continue
    total -= bytesOf(family)
    going.push(family)
  }
  return going
}
const dayMs = 24 * 60 * 60 * 1000

const openText = (open: readonly Member[]): string =>
  `${open.map(({ session }) => session).join(', ')}: kept, it or a fork of it is open; it can be deleted when that is closed`

function described({ families, leftovers }: Found, limits: Limits, isDry: boolean, room: number): string {
  const sessions = families.flat()
  const limitText = [
    limits.days === null ? '' : `older than ${limits.days} days`,
    limits.megabytes === null ? '' : `beyond ${whole(limits.megabytes)} MB together`,
  ].filter((text) => text !== '')
  const what = isDry ? 'would be deleted' : 'deleted'
  const bytes = whole(bytesOf(sessions))
  return [
    sessions.length === 0 ? '' : tableOf(sessions, room),
    limitText.length === 0
      ? 'No limit is set (keepSessionDays, keepSessionMegabytes, or --days and --megabytes): nothing is pruned.\n'
      : `${sessions.length} sessions ${limitText.join(' or ')}, ${bytes} bytes: ${what}.\n`,
    ...leftovers.map(({ what: kind, path }) => `${kind}: ${safeLine(path)}\n`),
    leftovers.length === 0 ? '' : `${leftovers.length} leftovers of crashes: ${what}.\n`,
    isDry && sessions.length + leftovers.length > 0 ? 'Nothing was changed; --delete removes them.\n' : '',
  ].join('')
}

/** One family that is being written does not keep the others. */
async function collect(place: Workplace, { families, leftovers }: Found): Promise<Collected | Refusal> {
  const remover = createRemover(place)
  const [gone, open]: [(readonly Member[])[], (readonly Member[])[]] = [[], []]
  try {
    for (const family of families) {
      const removed = await remover.remove([family[0]!.session])
      if (!('failure' in removed)) gone.push(family)
      else if (removed.failure.code === 'session-open') open.push(family)
      else {
        const before = gone.length === 0 ? '' : ` (${gone.flat().length} sessions were deleted before it)`
        return refuse(exits.failed, `${removed.failure.message}${before}`)
      }
    }
    for (const { path, session } of leftovers) {
      if (session === null) await removeIfThere(machineFileSystem, path)
      // One that somebody has just opened stays.
      else await remover.store.remove(session)
    }
    return { ok: true, families: gone, open, leftovers }
  } finally {
    await remover.close()
  }
}

// ---- once a day ----

const stateFile = (place: Workplace): string =>
  join(dirname(sessionsFolder(place.home, place.project)), 'retention.json')

/** The limits that a person has seen at work and agreed to, and when they were last kept. */
interface Kept {
  readonly confirmed: Limits | null
  readonly at: number
}

async function readKept(place: Workplace): Promise<Kept> {
  const read = await readText(machineFileSystem, stateFile(place))
  // Written by somebody else: as if nothing had been agreed to.
  const value: Partial<Kept> = objectIn(read.ok ? (read.text ?? '') : '') ?? {}
  return { confirmed: value.confirmed ?? null, at: typeof value.at === 'number' ? value.at : 0 }
}

async function writeKept(place: Workplace, kept: Kept): Promise<Refusal | null> {
  const written = await replaceFile(
    machineFileSystem,
    stateFile(place),
    new TextEncoder().encode(`${JSON.stringify(kept)}\n`),
    { mode: 0o600, unique: uniqueText },
  )
  return written.ok ? null : refuse(exits.failed, written.failure.message)
}

const confirm = (place: Workplace, limits: Limits): Promise<Refusal | null> =>
  writeKept(place, { confirmed: limits, at: Date.now() })

const isSame = (a: Limits | null, b: Limits): boolean => a?.days === b.days && a.megabytes === b.megabytes

/**
 * What is done without being asked, at most once a day, after a conversation: leftovers of crashes go, and sessions beyond
 * limits that a person has confirmed. Says in a line what it did; what goes wrong is said and ends nothing.
 */
export async function keepHouse(place: Workplace): Promise<readonly string[]> {
  const kept = await readKept(place)
  const now = Date.now()
  if (now - kept.at < defaults.store.houseMs) return []
  const there = await attempt('looking', () => machineFileSystem.stat(dirname(stateFile(place))))
  if (!there.ok) return []
  const set = limitsIn(place)
  const isConfirmed = isSame(kept.confirmed, set)
  const unwritten = await writeKept(place, { ...kept, at: now })
  if (unwritten !== null) return []
  const found = await lookFor(place, isConfirmed ? set : { days: null, megabytes: null })
  if (!found.ok) return [found.message]
  const isNothing = found.families.length + found.leftovers.length === 0
  const collected = isNothing ? found : await collect(place, found)
  if (!collected.ok) return [`sessions beyond the limits were kept: ${collected.message}`]
  const sessions = collected.families.flat()
  return [
    ...(isSet(set) && !isConfirmed
      ? [
          'a session limit is set but not active yet: pal sessions prune shows what it would delete, and --delete activates it',
        ]
      : []),
    ...(sessions.length === 0
      ? []
      : [
          `${sessions.length} sessions beyond the limits in your settings were deleted (${whole(bytesOf(sessions))} bytes)`,
        ]),
  ]
}
