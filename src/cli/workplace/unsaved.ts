// A conversation that is not saved, because the state folder cannot be written to and the person agreed to it. Sessions
// kept there can be gone on with all the same; everything that would be written lies in a temporary folder and goes with
// the process.
import { accessSync, constants, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { attempt } from '../../disk/fs.ts'
import { makeOwnFolder, sweepOwnFolders } from '../../disk/own-folders.ts'
import { projectStore, sessionsFolder } from '../../preset.ts'
import { unsavedStore } from '../../stores/unsaved.ts'
import type { Store } from '../../transcript/store.ts'
import { exits, refuse, type Refusal } from '../exit-codes.ts'
import { saysYes } from '../terminal/agree.ts'
import type { Io } from '../terminal/io.ts'
import type { Workplace } from './workplace.ts'

export interface Unsaved {
  readonly store: Store
  /** Takes the place of the state folder. */
  readonly home: string
}

/** Why sessions cannot be written, or null. Asks about the nearest folder that is there. */
function unwritable({ home, project }: Pick<Workplace, 'home' | 'project'>): string | null {
  for (let at = sessionsFolder(home, project); ; at = dirname(at)) {
    try {
      accessSync(at, constants.W_OK)
      return null
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' && dirname(at) !== at) continue
      const reason =
        code === 'EROFS' ? 'a read-only file system' : code === 'EACCES' ? 'no permission' : message
      return `the state folder ${home} cannot be written to (${at}: ${reason})`
    }
  }
}

const ways = 'Make it writable, or set PALIMPSEST_HOME to a folder that is'

const unsavedRefusal = (why: string): Refusal =>
  refuse(
    exits.failed,
    `${why}, so this conversation could not be saved. ${ways}; --unsaved continues without saving. Existing sessions can still be read (pal sessions)`,
  )

/** For commands that change what is kept. */
export const unchangedRefusal = (place: Pick<Workplace, 'home' | 'project'>): Refusal | null => {
  const why = unwritable(place)
  return why === null ? null : refuse(exits.failed, `${why}, so nothing was changed. ${ways}`)
}

const unsavedNotice =
  'this conversation is not saved: when it ends, it is gone. Memories are neither read nor saved'

/** Null: the person agreed. */
async function askUnsaved(io: Io, why: string): Promise<Refusal | null> {
  const question = `pal: ${why}. ${ways}.\nContinue without saving this conversation?`
  return (await saysYes(io, question)) ? null : unsavedRefusal(why)
}

/** Where a conversation lies that is not saved: asked for, or agreed to since the state folder cannot be written to. */
export async function unsavedOf(
  place: Workplace,
  wanted: boolean | Unsaved | undefined,
  isInteractive: boolean,
): Promise<Unsaved | Refusal | null> {
  if (typeof wanted === 'object') return wanted
  const why = unwritable(place)
  if (why === null && wanted !== true) return null
  if (wanted !== true) {
    const refused = isInteractive ? await askUnsaved(place.io, why!) : unsavedRefusal(why!)
    if (refused !== null) return refused
  }
  place.io.err(`pal: ${unsavedNotice}\n`)
  return openUnsaved(place)
}

async function openUnsaved(place: Workplace): Promise<({ readonly ok: true } & Unsaved) | Refusal> {
  await sweepOwnFolders(kind)
  const made = await attempt('making a temporary folder', async () => ({ home: await makeOwnFolder(kind) }))
  if (!made.ok)
    return refuse(exits.failed, `${made.failure.message}. Set TMPDIR to a folder that can be written to`)
  process.once('exit', () => rmSync(made.home, { recursive: true, force: true }))
  return { ok: true, home: made.home, store: unsavedStore(projectStore(place)) }
}
const kind = 'pal-unsaved'
