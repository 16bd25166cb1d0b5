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
  type OrWhy,
} from '../../disk/fs.ts'
import { ownerState, type ProcessIdentity, type Processes } from '../../disk/processes.ts'
import { removeIfThere, replaceFile } from '../../disk/replace.ts'
import { safeName } from '../../disk/safe-name.ts'
import { defaults } from '../../settings/defaults.ts'
import { createBox, makeBox, type Box, type BoxPorts } from './box.ts'
import { jsonIn } from '../../transcript/json.ts'
import type { Message } from './message.ts'

interface DirectoryPorts extends BoxPorts {
  readonly processes: Processes
}

interface Card {
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

// Where a message goes. A name is looked for in this process first, then among the living boxes of other processes; a
// word with a scheme is an address, handed to whoever carries that scheme: `session:<id>` is a box on this machine, and
// a shared store can carry another one between hosts. `*` goes to everybody. An unknown name is refused with the names
// there are, and nothing is said to be sent that is not.

/** Carries messages to addresses of one scheme. Never throws. */
interface Carrier {
  readonly scheme: string
  send(address: string, message: Message): Promise<Sent>
}
export type Sent = { readonly ok: true } | { readonly ok: false; readonly why: string }

/** Those of this process: a message reaches the model at its next round. */
export interface Nearby {
  names(except: string): readonly { readonly name: string; readonly session: string }[]
  /** Null: it is none of them. */
  hand(session: string, message: Message): Promise<Sent> | null
}

interface MessageSender {
  send(message: Message): Promise<Posted>
}
export type Posted = OrWhy<{ readonly to: readonly string[]; readonly failures: readonly string[] }>

export function createMessageSender(options: {
  readonly nearby: Nearby
  /** Null where nothing is kept on disk. */
  readonly directory: Directory | null
  readonly carriers?: readonly Carrier[] | undefined
}): MessageSender {
  const { nearby, directory } = options
  const carriers = [...(directory === null ? [] : [boxes(directory)]), ...(options.carriers ?? [])]
  const others = async (
    self: string,
  ): Promise<{ cards: readonly Reached[]; failures: readonly Failure[] }> => {
    const near = nearby.names(self)
    const { cards, failures } = (await directory?.living()) ?? { cards: [], failures: [] }
    const known = new Set([self, ...near.map(({ session }) => session)])
    const far = cards.filter(({ session }) => !known.has(session))
    return {
      cards: [
        ...near.map((card) => ({ ...card, far: false })),
        ...far.map((card) => ({ ...card, far: true })),
      ],
      failures,
    }
  }
  const reach = async (card: Reached, message: Message): Promise<Sent> => {
    if (!card.far)
      return nearby.hand(card.session, message) ?? { ok: false, why: `${card.name} has just ended` }
    return directory === null
      ? { ok: false, why: 'there are no mailboxes here' }
      : toBox(directory, card.session, message)
  }
  return {
    async send(message) {
      const { to, from } = message
      const [, scheme, address = ''] = /^([a-z][a-z0-9+.-]*):(.+)$/i.exec(to) ?? []
      if (scheme !== undefined) {
        const carrier = carriers.find((each) => each.scheme === scheme.toLowerCase())
        if (carrier === undefined)
          return no(
            `nobody carries ${scheme}: here. Known: ${carriers.map((each) => `${each.scheme}:`).join(', ') || 'none'}`,
          )
        const near = scheme.toLowerCase() === 'session' ? nearby.hand(address, message) : null
        const sent = await (near ?? carrier.send(address, message))
        return sent.ok ? { ok: true, to: [to], failures: [] } : no(sent.why)
      }
      const { cards, failures } = await others(from.session)
      const wanted = to === '*' ? cards : cards.filter(({ name }) => name === to).slice(0, 1)
      const unread = failures.map((failure) => failure.message)
      if (wanted.length === 0) return no([noSuch(to, cards), ...unread].join(' '))
      const reached: string[] = []
      const failed: string[] = [...unread]
      for (const card of wanted) {
        const sent = await reach(card, message)
        if (sent.ok) reached.push(card.name)
        else failed.push(`${card.name}: ${sent.why}`)
      }
      return reached.length === 0 ? no(failed.join('; ')) : { ok: true, to: reached, failures: failed }
    },
  }
}

interface Reached {
  readonly name: string
  readonly session: string
  readonly far: boolean
}

const boxes = (directory: Directory): Carrier => ({
  scheme: 'session',
  send: (address, message) => toBox(directory, address, message),
})

async function toBox(directory: Directory, session: string, message: Message): Promise<Sent> {
  const found = await directory.boxOf(session)
  if (!found.ok) {
    const why =
      found.failure.code === 'not-found' ? `there is no mailbox of session ${session}` : found.failure.message
    return { ok: false, why }
  }
  const posted = await found.box.post(message)
  return posted.ok ? posted : { ok: false, why: posted.failure.message }
}

const no = (why: string) => ({ ok: false, why }) as const

function noSuch(to: string, cards: readonly Reached[]): string {
  if (cards.length === 0) return 'there is nobody to write to.'
  const names = cards.map(({ name }) => name).join(', ')
  return `there is no agent named ${JSON.stringify(to)}. There are: ${names}.`
}
