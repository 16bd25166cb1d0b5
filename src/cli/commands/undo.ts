// `pal undo` and `pal release`: changes to what a session shows, made by hand. Each becomes the writer of the session for
// as long as it takes; nobody is asked anything over the network.
import type { Compacted } from '../../engine/compacting/ask.ts'
import type { LiveEvent } from '../../engine/live.ts'
import { EngineError, type Session } from '../../engine/session.ts'
import { projectStore, type Preset } from '../../preset.ts'
import { unsavedStore } from '../../stores/unsaved.ts'
import { seq, type Seq, type SessionId } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'
import { complain, exitFor, sayingOf, exits, fail, type Exit } from '../exit-codes.ts'
import { commandPreset } from '../extensions/load.ts'
import { findSession, newestSession } from '../session-lookup.ts'
import { memoryLine, replacement } from '../terminal/event-text.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson, safeLine, safeText } from '../terminal/safe-text.ts'
import { counted, percent, whole } from '../terminal/tables.ts'
import { unchangedRefusal } from '../workplace/unsaved.ts'
import { openWorkplace, showProblems, type ProjectFlags } from '../workplace/workplace.ts'
import { removalsOf } from './edits.ts'

export const undo = (io: Io, place: string, id: string | undefined, flags: ProjectFlags): Promise<Exit> =>
  atPlace(io, place, id, flags, async (session, target, { store }) => {
    const refusal = await foreignRefusal(store, session.id, target)
    if (refusal !== null) return fail(io, exits.failed, refusal)
    return restore(io, session, target, flags.json === true ? null : 'pal ')
  })

/** What is sent for another agent is repeated byte for byte: an undo here would change nothing there. */
async function foreignRefusal(store: Store, session: SessionId, target: Seq): Promise<string | null> {
  const read = await removalsOf(store, session)
  const row = read.ok ? read.rows.find((each) => each.seq === target) : undefined
  if (row?.layer === 'client')
    return `edit #${target} is what the client did to its own conversation; only the client can undo it`
  if (row === undefined || !row.layer.startsWith('gateway-')) return null
  return `edit #${target} was made by the gateway before its request first left, and every later request repeats it byte for byte: it can't be undone here. The whole text is kept in the file that the shortened one names`
}

export const release = (io: Io, place: string, id: string | undefined, flags: ProjectFlags): Promise<Exit> =>
  atPlace(io, place, id, flags, async (session, target) => {
    await releaseOf(session, target, 'pal ')
    if (flags.json === true) io.out(`${safeJson({ session: session.id, released: target })}\n`)
    else io.out(releasedText(target))
  })

/** How a command is written where the reader stands: at the shell, or in a conversation. */
export type CommandPrefix = 'pal ' | '/'

export const releasedText = (target: Seq): string =>
  `#${target} is released: it may be removed from context again\n`

/** Where the numbers stand by which something is released. */
export const releasable = (prefix: CommandPrefix): string =>
  `${prefix}edits lists what undos restored, ${prefix === '/' ? '/pin' : 'pal messages'} what is pinned`

export async function releaseOf(session: Session, target: Seq, prefix: CommandPrefix): Promise<void> {
  await session.release(target).catch((error: unknown) => {
    if (!(error instanceof EngineError) || error.code !== 'no-such-edit') throw error
    throw new EngineError({ code: error.code, message: `${error.message}; ${releasable(prefix)}` })
  })
}

/** Undoes one removal and says how to let it go again; as JSON where there is no prefix. */
export async function restore(
  io: Io,
  session: Session,
  target: Seq,
  prefix: CommandPrefix | null,
): Promise<void> {
  const { seq: hold } = await session.undo(target).catch((error: unknown) => {
    if (!(error instanceof EngineError) || error.code !== 'no-such-edit') throw error
    const message = `${error.message}; ${prefix ?? 'pal '}edits lists them`
    throw new EngineError({ code: error.code, message })
  })
  const { tokens } = session.view()
  if (prefix === null) io.out(`${safeJson({ session: session.id, undone: target, hold, tokens })}\n`)
  else
    io.out(
      `edit #${target} is undone; the context is ${whole(tokens)} tokens now. ` +
        `It won't be removed again automatically while it fits; ${prefix}release ${hold} allows that\n`,
    )
}

export function describeCompaction(made: Compacted, prefix: CommandPrefix): string {
  const {
    seq: place,
    tokensBefore,
    tokensAfter,
    partsGone,
    partsKept,
    audit,
    source,
    texts,
    restored,
    restoredTokens,
  } = made
  const figures =
    `${whole(tokensBefore)} tokens ${place === null ? 'would become' : 'became'} ${whole(tokensAfter)}: ` +
    `${counted(partsGone, 'part')} replaced by ${replacement(source)}, ${partsKept} kept`
  const kept = audit === null ? '' : `\n${percent(audit.retention)} of checked details retained`
  const named = restored.filter((one) => one !== 'mode')
  const given =
    named.length === 0
      ? ''
      : `\n${whole(restoredTokens)} tokens restored: ${named.map((one) => safeLine(one)).join(', ')}`
  const text = place === null ? texts.map((one) => `\n\n${safeText(one)}`).join('') : ''
  const back = place === null ? '' : `\n${prefix}undo ${place} restores it`
  return `${figures}${kept}${given}${back}${text}\n`
}

/** A place as people write it, or null. */
export const placeIn = (text: string): Seq | null => (/^\d{1,15}$/.test(text) ? seq(Number(text)) : null)

function atPlace(
  io: Io,
  place: string,
  id: string | undefined,
  flags: ProjectFlags,
  work: (session: Session, target: Seq, preset: Preset) => Promise<Exit | void>,
): Promise<Exit> {
  const target = placeIn(place)
  if (target === null)
    return Promise.resolve(fail(io, exits.usage, `there is no edit ${place}; pal edits lists them`))
  return changing(io, id, flags, (session, preset) => work(session, target, preset))
}

/** Opens a session as its writer, for as long as the work takes. */
export async function changing(
  io: Io,
  id: string | undefined,
  flags: ProjectFlags,
  work: (session: Session, preset: Preset) => Promise<Exit | void>,
  how: { readonly isReadOnly?: boolean } = {},
): Promise<Exit> {
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  showProblems(place)
  const unchanged = how.isReadOnly === true ? null : unchangedRefusal(place)
  if (unchanged !== null) return complain(io, unchanged)
  const preset = await commandPreset(place, {
    model: place.access ?? undefined,
    listen: (event) => showNotice(io, event),
    // What only reads takes no lock and writes nothing.
    ...(how.isReadOnly === true
      ? { store: unsavedStore(projectStore(place)), settings: { ...place.settings, agents: false } }
      : {}),
  })
  try {
    return await inSession(io, preset, id, work)
  } finally {
    await preset.close()
  }
}

async function inSession(
  io: Io,
  preset: Preset,
  id: string | undefined,
  work: (session: Session, preset: Preset) => Promise<Exit | void>,
): Promise<Exit> {
  const { store, engine } = preset
  const found = id === undefined ? await newestSession(store) : await findSession(store, id)
  if (!found.ok) return complain(io, found)
  try {
    const session = await engine.open(found.session)
    try {
      return (await work(session, preset)) ?? exits.done
    } finally {
      await session.close()
    }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    return fail(io, exitFor(error.code), sayingOf(error))
  }
}

export function showNotice(io: Io, event: LiveEvent): void {
  if (event.type === 'notice') io.err(`pal: ${safeLine(event.message)}\n`)
  if (event.type === 'memory') io.err(`pal: ${memoryLine(event)}\n`)
}
