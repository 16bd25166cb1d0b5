// Who can be written to: each session that may be named by others has a box and beside it a card,
//
//   <root>/<session>/who.json   {"name":"…","session":"…","host":"…","pid":7,"start":"…","boot":"…"}
//
// A box belongs to a session, never to a name, so a message cannot reach whoever took a name later. A name counts as
// long as the process that wrote the card lives; a session can be addressed as long as its box exists, and reads what
// waits when it is opened again.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod/mini'
import {
  attempt,
  readAt,
  reading,
  systemCode,
  unlessMissing,
  type Failure,
  type Result,
} from '../../disk/fs.ts'
import { ownerState, type ProcessIdentity, type Processes } from '../../disk/processes.ts'
import { removeIfThere, replaceFile } from '../../disk/replace.ts'
import { safeName } from '../../disk/safe-name.ts'
import { defaults } from '../../settings/defaults.ts'
import { createBox, makeBox, type Box, type BoxPorts } from './box.ts'
import { jsonIn } from '../../transcript/json.ts'

export interface DirectoryPorts extends BoxPorts {
  readonly processes: Processes
}

export interface Card {
  readonly name: string
  readonly session: string
}

export interface Directory {
  /** Makes the box of a session and puts its card up. */
  open(card: Card): Promise<Result<{ readonly box: Box }>>
  /** Takes the card down; what waits in the box stays. */
  leave(session: string): Promise<void>
  /** Everything of a session that is gone. */
  remove(session: string): Promise<Result<object>>
  /** Those that live, and what could not be read on the way. */
  living(): Promise<{ readonly cards: readonly Card[]; readonly failures: readonly Failure[] }>
  /** The box of a session that has one. */
  boxOf(session: string): Promise<Result<{ readonly box: Box }>>
}

const cardName = 'who.json'
const fileMode = 0o600
const cardShape = z.looseObject({
  name: z.string(),
  session: z.string(),
  host: z.string(),
  pid: z.number(),
  start: z.nullable(z.string()),
  boot: z.nullable(z.string()),
})

/** Where messages between agents wait, under a folder. */
export function createDirectory(root: string, ports: DirectoryPorts): Directory {
  const { fs, processes } = ports
  const folderOf = (session: string): string => join(root, safeName(session))
  // One for each box and process: it remembers what was put in.
  const boxes = new Map<string, Box>()
  const boxIn = (session: string): Box => {
    const box = boxes.get(session) ?? createBox(folderOf(session), ports)
    boxes.set(session, box)
    return box
  }
  return {
    async open({ name, session }) {
      const folder = folderOf(session)
      const made = await makeBox(folder, ports)
      if (!made.ok) return made
      const body = { name, session, ...(await processes.self()) }
      const bytes = new TextEncoder().encode(`${JSON.stringify(body)}\n`)
      const put = await replaceFile(fs, join(folder, cardName), bytes, {
        mode: fileMode,
        unique: ports.unique,
      })
      return put.ok ? { ok: true, box: boxIn(session) } : put
    },
    leave: async (session) => void (await removeIfThere(fs, join(folderOf(session), cardName))),
    remove: (session) =>
      attempt(`removing the mailbox of ${session}`, async () => {
        boxes.delete(session)
        await rm(folderOf(session), { recursive: true, force: true })
        return {}
      }),
    async living() {
      const listed = await attempt('listing the mailboxes', async () => ({
        names: await namesIn(ports, root),
      }))
      if (!listed.ok) return { cards: [], failures: [listed.failure] }
      const cards: Card[] = []
      const failures: Failure[] = []
      for (const name of listed.names) {
        const read = await cardIn(ports, join(root, name, cardName))
        if (!read.ok) failures.push(read.failure)
        // A card of another host cannot be judged and is no name here.
        else if (read.card !== null && (await ownerState(processes, read.card)) === 'running')
          cards.push(read.card)
      }
      return { cards, failures }
    },
    async boxOf(session) {
      const folder = folderOf(session)
      const found = await attempt(`looking for the mailbox of ${session}`, async () => ({
        kind: (await fs.stat(join(folder, 'new'))).kind,
      }))
      if (!found.ok) return found
      return { ok: true, box: boxIn(session) }
    },
  }
}

/** None where nobody has made one yet. */
const namesIn = async ({ fs }: DirectoryPorts, root: string): Promise<readonly string[]> =>
  (await unlessMissing(fs.names(root))) ?? []

type WholeCard = Card & ProcessIdentity

async function cardIn(
  { fs }: DirectoryPorts,
  path: string,
): Promise<Result<{ readonly card: WholeCard | null }>> {
  return attempt(`reading ${path}`, async () => {
    try {
      const bytes = await reading(fs, path, (file) => readAt(file, 0, defaults.store.maxLockBytes))
      const parsed = cardShape.safeParse(jsonIn(bytes.toString('utf8')))
      return { card: parsed.success ? parsed.data : null }
    } catch (error) {
      if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return { card: null }
      throw error
    }
  })
}
