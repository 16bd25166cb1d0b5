// A mailbox on disk. A folder with four others:
//
//   tmp/   being written              new/   <order>~<sender>~<id>   waiting
//   cur/   acted on, the newest       bad/   what could not be read, or was tried too often
//   tried  {"run": "…", "names": {"<name>": 1}}     what was being acted on last, and by whom
//
// A message is written and synced in tmp/ and renamed into new/, so it is there whole or not at all. It leaves new/ only
// after it was acted on; a crash in between brings it again, and whoever acts knows it by its id. The order of one
// sender's messages is that of their names. A message that was in hand when its reader died is then taken alone, and set
// aside when that happened too often. What cannot be listed or read is a failure, never an empty box.
import { objectIn } from '../../transcript/json.ts'
import { join } from 'node:path'
import { refused } from '../../disk/failure.ts'
import {
  closing,
  attempt,
  makeFolders,
  readAt,
  reading,
  syncFolder,
  unlessMissing,
  writeAll,
  type Failure,
  type Result,
  type FileSystem,
} from '../../disk/fs.ts'
import { isTemporaryName, replaceFile } from '../../disk/replace.ts'
import { safeName } from '../../disk/safe-name.ts'
import { defaults } from '../../settings/defaults.ts'
import { decodeMessage, encodeMessage, type Message } from './message.ts'

export interface BoxPorts {
  readonly fs: FileSystem
  readonly now: () => number
  readonly unique: () => string
}

export interface Taken {
  readonly messages: readonly { readonly name: string; readonly message: Message }[]
  /** To be shown: what was set aside, and what could not be read. */
  readonly failures: readonly Failure[]
}

export interface Box {
  /** Puts a message in, once: an id that is there already is not put in again. */
  post(message: Message): Promise<Result<object>>
  /** The next messages in order. They stay until `acted` is told. */
  take(): Promise<Taken>
  acted(names: readonly string[]): Promise<Result<object>>
  /** How many wait. */
  waiting(): Promise<Result<{ readonly count: number }>>
}

const fileMode = 0o600
const folderMode = 0o700
/** `new` is the last that is made: where it is, the box is whole. */
const folders = ['tmp', 'cur', 'bad', 'new'] as const
const orderDigits = 17
/** Orders are times, so that they grow over restarts; there is room between two milliseconds. */
const ordersPerMs = 1000

/** Makes what is missing, and clears away what killed writers have left half written. */
export async function makeBox(folder: string, { fs, now }: BoxPorts): Promise<Result<object>> {
  return attempt(`making the mailbox ${folder}`, async () => {
    for (const name of folders) await makeFolders(fs, join(folder, name), folderMode)
    const begun = (await fs.names(join(folder, 'tmp'))).map((name) => join(folder, 'tmp', name))
    const replacing = (await fs.names(folder)).filter(isTemporaryName).map((name) => join(folder, name))
    for (const path of [...begun, ...replacing]) {
      const stat = await unlessMissing(fs.stat(path))
      // A writer that lives and was only held up finds its file gone, and writes it again.
      if (stat?.kind === 'file' && now() - stat.modifiedMs > defaults.mailbox.unfinishedMs)
        await unlessMissing(fs.unlink(path))
    }
  })
}

export function createBox(folder: string, ports: BoxPorts): Box {
  const { fs } = ports
  const at = (...names: string[]): string => join(folder, ...names)
  const run = ports.unique()
  const sent: SentBefore = { ids: null, orders: new Map() }
  const listed = async (name: 'new' | 'cur'): Promise<string[]> =>
    (await fs.names(at(name))).filter((each) => nameOf(each) !== null).toSorted()
  return {
    post: (message) => post(message, { folder, ports, listed, sent }),
    take: () => take({ folder, ports, listed, run }),
    async acted(names) {
      return attempt(`marking messages of ${folder} as read`, async () => {
        for (const name of names) await moved(fs, at('new', name), at('cur', name))
        await syncFolder(fs, at('cur'))
        await syncFolder(fs, at('new'))
        await prune(folder, fs, await listed('cur'))
      })
    },
    waiting: () => attempt(`looking into ${folder}`, async () => ({ count: (await listed('new')).length })),
  }
}

interface Inside {
  readonly folder: string
  readonly ports: BoxPorts
  readonly listed: (name: 'new' | 'cur') => Promise<string[]>
}

/** What lay in the box when it was first written to, and what was put in since; a reader may have moved it meanwhile. */
interface SentBefore {
  ids: Set<string> | null
  readonly orders: Map<string, number>
}

async function post(
  message: Message,
  { folder, ports, listed, sent }: Inside & { readonly sent: SentBefore },
): Promise<Result<object>> {
  const { fs } = ports
  const bytes = encodeMessage(message)
  const most = defaults.mailbox.messageBytes
  if (bytes.byteLength > most)
    return refused('too-large', `the message has ${bytes.byteLength} bytes; at most ${most} are taken`)
  return attemptValue(`sending to ${folder}`, async () => {
    const waiting = await listed('new')
    const ids = await idsIn(sent, waiting, listed)
    const id = safeName(message.id)
    if (ids.has(id)) return { ok: true }
    if (waiting.length >= defaults.mailbox.waiting)
      return refused(
        'box-full',
        `${waiting.length} messages wait there already; try again when some were read`,
      )
    const sender = safeName(message.from.session)
    const order = Math.max((sent.orders.get(sender) ?? 0) + 1, ports.now() * ordersPerMs)
    sent.orders.set(sender, order)
    const name = `${String(order).padStart(orderDigits, '0')}~${sender}~${id}`
    const isPut = (await put(folder, ports, name, bytes)) || (await put(folder, ports, name, bytes))
    if (!isPut)
      return refused('not-found', `the message was cleared away while it was written; send it again`)
    await syncFolder(fs, join(folder, 'new'))
    ids.add(id)
    return { ok: true }
  })
}

/** False when the file was cleared away before it was finished: this process had stood still for very long. */
async function put(folder: string, ports: BoxPorts, name: string, bytes: Uint8Array): Promise<boolean> {
  const { fs } = ports
  const temporary = join(folder, 'tmp', ports.unique())
  await closing(await fs.open(temporary, 'create', fileMode), async (file) => {
    await writeAll(file, bytes)
    await file.sync()
  })
  return (await unlessMissing(fs.rename(temporary, join(folder, 'new', name)).then(() => true))) ?? false
}

async function idsIn(
  sent: SentBefore,
  waiting: readonly string[],
  listed: Inside['listed'],
): Promise<Set<string>> {
  if (sent.ids !== null && sent.ids.size <= 2 * defaults.mailbox.kept) return sent.ids
  sent.ids = new Set()
  for (const name of [...waiting, ...(await listed('cur'))]) {
    const { id, sender, order } = nameOf(name)!
    sent.ids.add(id)
    sent.orders.set(sender, Math.max(sent.orders.get(sender) ?? 0, order))
  }
  return sent.ids
}

async function take({ folder, ports, listed, run }: Inside & { readonly run: string }): Promise<Taken> {
  const failures: Failure[] = []
  const found = await attempt(`looking into ${folder}`, async () => {
    const names = await listed('new')
    const before = names.length === 0 ? noTries : await triesIn(folder, ports.fs)
    const tries = (name: string): number => (before.run === run ? 0 : (before.names[name] ?? 0))
    const first = names[0]
    // Whatever was in hand when a reader died is looked at alone.
    const isAlone = first !== undefined && tries(first) > 0
    const fresh = names.findIndex((name, index) => index > 0 && tries(name) > 0)
    const most = isAlone ? 1 : Math.min(defaults.mailbox.batch, fresh === -1 ? Infinity : fresh)
    return { batch: names.slice(0, most).map((name) => ({ name, tries: tries(name) })) }
  })
  if (!found.ok) return { messages: [], failures: [found.failure] }
  const messages: { name: string; message: Message }[] = []
  for (const { name, tries } of found.batch) {
    const read = await readMessage(folder, name, tries, ports.fs)
    if (!read.ok) failures.push(read.failure)
    if (read.ok && read.message !== null) messages.push({ name, message: read.message })
    if (read.ok && read.poisoned !== null) failures.push(read.poisoned)
    // What comes after it must not overtake it.
    if (!read.ok) break
  }
  if (messages.length === 0) return { messages, failures }
  const tried = new Map(found.batch.map(({ name, tries }) => [name, tries + 1]))
  const names = Object.fromEntries(messages.map(({ name }) => [name, tried.get(name)!]))
  const marked = await replaceFile(
    ports.fs,
    join(folder, 'tried'),
    new TextEncoder().encode(JSON.stringify({ run, names })),
    { mode: fileMode, unique: ports.unique },
  )
  return marked.ok ? { messages, failures } : { messages: [], failures: [...failures, marked.failure] }
}

type ReadOutcome = Result<{ readonly message: Message | null; readonly poisoned: Failure | null }>

async function readMessage(
  folder: string,
  name: string,
  tries: number,
  fs: FileSystem,
): Promise<ReadOutcome> {
  return attempt(`reading the message ${name}`, async () => {
    const bytes = await fileBytes(fs, join(folder, 'new', name))
    // Another reader of the same box was quicker.
    if (bytes === null) return { message: null, poisoned: null }
    const message = bytes === 'no-file' ? null : decodeMessage(bytes)
    if (message !== null && tries < defaults.mailbox.tries) return { message, poisoned: null }
    await moved(fs, join(folder, 'new', name), join(folder, 'bad', name))
    await syncFolder(fs, join(folder, 'bad'))
    const why =
      message === null ? 'it cannot be read' : `its reader died ${tries} times while it was acted on`
    return {
      message: null,
      poisoned: {
        code: 'poison',
        message: `a message was set aside in ${join(folder, 'bad', name)}: ${why}`,
      },
    }
  })
}

/** What is no file will never become a message: a folder, a link, a pipe. */
async function fileBytes(fs: FileSystem, path: string): Promise<Uint8Array | null | 'no-file'> {
  const stat = await unlessMissing(fs.stat(path))
  return stat === null ? null : stat.kind === 'file' ? bytesOf(fs, path) : 'no-file'
}

const bytesOf = (fs: FileSystem, path: string): Promise<Uint8Array | null> =>
  unlessMissing(reading(fs, path, (file) => readAt(file, 0, defaults.mailbox.messageBytes + 1)))

interface Tries {
  readonly run: string
  readonly names: Readonly<Record<string, number>>
}
const noTries: Tries = { run: '', names: {} }

/** It only counts, so one that is missing or damaged counts nothing. */
async function triesIn(folder: string, fs: FileSystem): Promise<Tries> {
  const bytes = await bytesOf(fs, join(folder, 'tried'))
  if (bytes === null) return noTries
  const value: Partial<Tries> | null = objectIn(new TextDecoder().decode(bytes))
  return value === null ? noTries : { run: value.run ?? '', names: value.names ?? {} }
}

/** What was acted on is kept for a while; the newest of each sender always, since its order goes on from there. */
async function prune(folder: string, fs: FileSystem, names: readonly string[]): Promise<void> {
  const surplus = names.length - defaults.mailbox.kept
  if (surplus <= 0) return
  const newest = new Map(names.map((name) => [nameOf(name)!.sender, name]))
  for (const name of names.slice(0, surplus))
    if (newest.get(nameOf(name)!.sender) !== name) await unlessMissing(fs.unlink(join(folder, 'cur', name)))
}

function nameOf(
  name: string,
): { readonly order: number; readonly sender: string; readonly id: string } | null {
  const [, order, sender, id] = /^([0-9]{17})~([A-Za-z0-9_-]+)~([A-Za-z0-9_-]+)$/.exec(name) ?? []
  if (order === undefined || sender === undefined || id === undefined || isTemporaryName(name)) return null
  return { order: Number(order), sender, id }
}

const moved = (fs: FileSystem, from: string, to: string): Promise<void | null> =>
  unlessMissing(fs.rename(from, to))

/** As `attempt`, for work that has refusals of its own. */
async function attemptValue(doing: string, work: () => Promise<Result<object>>): Promise<Result<object>> {
  const done = await attempt(doing, async () => ({ outcome: await work() }))
  return done.ok ? done.outcome : done
}
