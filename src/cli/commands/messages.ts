// `pal messages`, `pal pin` and `pal rewind`: the messages of a session by their places, one of them kept for good, and
// back to one of them.
import { machineFileSystem } from '../../disk/fs.ts'
import type { Session } from '../../engine/session.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Seq } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'
import { exits, refuse, type Exit } from '../exit-codes.ts'
import { complain } from '../headless.ts'
import type { LookFlags } from '../look-at.ts'
import { uniqueText } from '../workplace/workplace.ts'
import { earlierInputs, giveFilesBack, type Earlier, type GivenBack } from './rewinding.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson } from '../terminal/safe-text.ts'
import { table } from '../terminal/tables.ts'
import { changing, placeIn } from './undo.ts'

export interface RewindFlags extends LookFlags {
  readonly files?: boolean | undefined
}

export const messages = (io: Io, id: string | undefined, flags: LookFlags): Promise<Exit> =>
  changing(io, id, flags, (session) => {
    const inputs = earlierInputs(session)
    if (flags.json === true) io.out(`${safeJson(inputs, 2)}\n`)
    else if (inputs.length === 0) io.out('Nothing has been said in this session yet.\n')
    else io.out(table([{ title: 'place', right: true }, { title: 'what you said' }], inputs.map(rowOf)))
    return Promise.resolve()
  })

const rowOf = ({ at, words }: Earlier): readonly string[] => [String(at), oneLine(words)]

export const oneLine = (words: string): string =>
  words.replaceAll(/\s+/g, ' ').trim().slice(0, defaults.cli.firstWordsChars).toWellFormed()

export const pin = (io: Io, place: string, id: string | undefined, flags: LookFlags): Promise<Exit> =>
  atMessage(io, place, id, flags, async (session, { at }) => {
    const pinned = await pinMessage(session, at)
    if (flags.json === true) io.out(`${safeJson({ session: session.id, pinned: at, release: pinned })}\n`)
    else io.out(pinnedText(at, pinned))
  })

export const pinnedText = (at: Seq, pinned: Seq): string =>
  `the message at ${at} stays word for word, whatever is put away; pal release ${pinned} lets it go\n`

/** The words of a message; gives back the place to release it by. */
export async function pinMessage(session: Session, at: Seq): Promise<Seq> {
  return (await session.pin({ seq: at, block: 0 })).seq
}

export const rewind = (io: Io, place: string, id: string | undefined, flags: RewindFlags): Promise<Exit> =>
  atMessage(io, place, id, flags, async (session, earlier, store) => {
    const given = await goBack(session, earlier, flags.files === true ? store : null)
    if (flags.json === true) io.out(`${safeJson({ session: session.id, to: earlier.to, ...given }, 2)}\n`)
    else io.out(rewoundText(earlier, given))
  })

/** Back to before a message was said; files too where a store is given. */
export async function goBack(
  session: Session,
  { to }: Earlier,
  store: Store | null,
): Promise<GivenBack | null> {
  const given = store === null ? null : await giveFilesBack(machineFileSystem, store, session, to, uniqueText)
  await session.rewind(to)
  return given
}

export function rewoundText({ words }: Earlier, given: GivenBack | null): string {
  const files =
    given === null
      ? ''
      : [
          ...given.restored.map((path) => `  given back: ${path}`),
          ...given.left.map((line) => `  left as it is: ${line}`),
        ].join('\n')
  return `the session is back before "${oneLine(words)}"; nothing was deleted\n${files === '' ? '' : `${files}\n`}`
}

function atMessage(
  io: Io,
  place: string,
  id: string | undefined,
  flags: LookFlags,
  work: (session: Session, earlier: Earlier, store: Store) => Promise<void>,
): Promise<Exit> {
  const at = placeIn(place)
  return changing(io, id, flags, async (session, { store }) => {
    const earlier = earlierInputs(session).find((one) => one.at === at)
    if (earlier !== undefined) return work(session, earlier, store)
    return complain(
      io,
      refuse(exits.usage, `${place} is no place of a message you can see; pal messages lists them`),
    )
  })
}
