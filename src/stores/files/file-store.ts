// The store on disk. It keeps the writers this process has open and hands every question to the file that answers it;
// the promises are kept there. Nothing here is remembered that the disk does not also say, a session whose sync failed
// apart: its next lease copies the transcript into a new file, since the old one's pages cannot be trusted.
import { basename, dirname, join } from 'node:path'
import { closing, attempt, failureOf, makeFolders, systemCode, type OpenFile } from '../../disk/fs.ts'
import { holds, lockOwner, releaseLock, takeLock, type Lock } from '../../disk/lock.ts'
import { blocksOf, replaceIn } from '../../disk/replace.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Range } from '../../transcript/fact.ts'
import { seq, sessionId, type Seq, type SessionId } from '../../transcript/ids.ts'
import type {
  Failure,
  Lease,
  LeaseOutcome,
  Owner,
  ReadItem,
  Result,
  SessionInfo,
  Store,
} from '../../transcript/store.ts'
import { blobBytes, blobNames, getBlob, putBlob } from './blobs.ts'
import { getCheckpoint, putCheckpoint } from './checkpoint.ts'
import { fileMode, folderMode, layoutOf, transcriptName, type Layout } from './layout.ts'
import { lockOptionsOf, ownerOf, thisMachine, type Machine, type SyncPolicy } from './machine.ts'
import { copiedFirstLine, keepFirstLine } from './first-line.ts'
import { readBackward, readForward, type FirstLine } from './line-reading.ts'
import { openTail, openTranscript } from './tail.ts'
import { removeSession } from './removal.ts'
import { Writer } from './writer.ts'

export interface FileStoreOptions {
  readonly root: string
  /** What of the machine the caller brings itself. */
  readonly machine?: Partial<Machine>
  readonly fsync?: SyncPolicy
  readonly spillQuotaBytes?: number
}

/** Sessions as files: one checksummed line a fact, one writer a session. */
export function fileStore(options: FileStoreOptions): Store {
  return new FileStore(options)
}

class FileStore implements Store {
  readonly #root: string
  readonly #machine: Machine
  readonly #policy: SyncPolicy
  readonly #quotaBytes: number
  readonly #writers = new Map<SessionId, Writer>()
  readonly #suspect = new Set<SessionId>()

  constructor(options: FileStoreOptions) {
    this.#root = options.root
    this.#machine = { ...thisMachine, ...options.machine }
    this.#policy = options.fsync ?? defaults.store.fsync
    this.#quotaBytes = options.spillQuotaBytes ?? defaults.store.spillQuotaBytes
  }

  async *list(only?: SessionId): AsyncIterable<Result<SessionInfo>> {
    const { fs } = this.#machine
    const listed = await attempt(`listing ${this.#root}`, async () => ({ names: await fs.names(this.#root) }))
    if (!listed.ok) {
      if (listed.failure.code !== 'not-found') yield listed
      return
    }
    const found: SessionInfo[] = []
    for (const name of listed.names) {
      if (only !== undefined && name !== only) continue
      const stat = await attempt(`listing ${name}`, () => fs.stat(join(this.#root, name, transcriptName)))
      if (stat.ok && stat.kind === 'file')
        found.push({ session: sessionId(name), bytes: stat.bytes, modifiedAt: stat.modifiedMs })
      else if (!stat.ok && stat.failure.code !== 'not-found') yield stat
    }
    for (const info of found.sort((a, b) => b.modifiedAt - a.modifiedAt)) yield { ok: true, ...info }
  }

  async owners(sessions: readonly SessionId[]): ReturnType<Store['owners']> {
    const owners = new Map<SessionId, Owner>()
    for (const session of sessions) {
      const owner = await this.#owner(session)
      if (owner !== null) owners.set(session, owner)
    }
    return owners
  }

  async lease(session: SessionId): Promise<LeaseOutcome> {
    if (process.platform === 'win32')
      return { ok: false, why: 'failed', failure: { code: 'unsupported', message: noWindows } }
    const layout = layoutOf(this.#root, session)
    const made = await attempt(`making ${layout.folder}`, async () => {
      await makeFolders(this.#machine.fs, layout.folder, folderMode)
      return { kind: (await this.#machine.fs.stat(layout.folder)).kind }
    })
    if (!made.ok) return { ok: false, why: 'failed', failure: made.failure }
    if (made.kind !== 'folder') {
      const failure: Failure = { code: 'symlink', message: `${layout.folder} is not a folder of its own` }
      return { ok: false, why: 'failed', failure }
    }
    const taken = await takeLock(layout.lock, lockOptionsOf(this.#machine))
    if (!taken.ok)
      return taken.why === 'taken' ? { ok: false, why: 'taken', owner: ownerOf(taken.owner) } : taken
    const opened = await this.#openWriter(session, layout, taken.lock, nextIn(taken.left))
    if (opened.ok) return opened
    const released = await releaseLock(taken.lock, lockOptionsOf(this.#machine))
    if (released.ok) return opened
    const message = `${opened.failure.message}; and the lock could not be released: ${released.failure.message}`
    return { ...opened, failure: { ...opened.failure, message } }
  }

  async #openWriter(
    session: SessionId,
    layout: Layout,
    lock: Lock,
    left: Seq | null,
  ): Promise<(LeaseOutcome & { ok: true }) | { ok: false; why: 'failed'; failure: Failure }> {
    let file: OpenFile | null = null
    try {
      if (this.#suspect.has(session) || (await hasSecondName(this.#machine, layout)))
        await renewed(this.#machine, layout)
      this.#suspect.delete(session)
      file = await openTranscript(this.#machine, layout)
      const refused = file === null ? null : await unfit(file)
      const tail = file === null || refused !== null ? emptyTail : await openTail(file, layout, this.#machine)
      if (refused === null && tail.ok) {
        if (file !== null) await keepFirstLine(this.#machine.fs, layout, file)
        // Where the end is missing, what was at its places is lost, and they are not given away again.
        const next = left === null || (tail.next ?? 0) >= left ? tail.next : left
        const state = { file, next, end: tail.end }
        this.#writers.set(session, new Writer(layout, lock, this.#machine, this.#policy, state))
        const lease = { session, epoch: lock.epoch, token: lock.token }
        return { ok: true, lease, next, damage: tail.damage }
      }
      await file?.close()
      return { ok: false, why: 'failed', failure: refused ?? (tail as { failure: Failure }).failure }
    } catch (error) {
      await file?.close()
      return { ok: false, why: 'failed', failure: failureOf(error, `opening ${layout.transcript}`) }
    }
  }

  async release(lease: Lease): Promise<Result<object>> {
    const writer = this.#writerOf(lease)
    if (writer === null) return { ok: true }
    const { next } = writer.position
    const closed = await writer.close()
    if (writer.degraded) this.#suspect.add(lease.session)
    this.#writers.delete(lease.session)
    const left = closed.ok && !writer.degraded ? { next } : undefined
    const released = await releaseLock(writer.lock, lockOptionsOf(this.#machine), left)
    return closed.ok ? released : closed
  }

  async append(
    ...[lease, entries, expected, durability]: Parameters<Store['append']>
  ): ReturnType<Store['append']> {
    const writer = this.#writerOf(lease)
    const outcome =
      (await writer?.append(entries, expected, durability)) ?? ({ ok: false, why: 'fenced' } as const)
    return !outcome.ok && outcome.why === 'fenced'
      ? { ...outcome, owner: await this.#owner(lease.session) }
      : outcome
  }

  async sync(lease: Lease): Promise<Result<object>> {
    return (await this.#writerOf(lease)?.sync()) ?? fenced
  }

  read(session: SessionId, range: Partial<Range> = {}): AsyncIterable<ReadItem> {
    return this.#reading(session, (file, bytes, first) =>
      readForward(file, transcriptName, bytes, range, first),
    )
  }

  readBack(session: SessionId, before?: Seq): AsyncIterable<ReadItem> {
    return this.#reading(session, (file, bytes, first) =>
      readBackward(file, transcriptName, bytes, before, first),
    )
  }

  async *#reading(
    session: SessionId,
    items: (file: OpenFile, bytes: number, firstLine: FirstLine) => AsyncIterable<ReadItem>,
  ): AsyncIterable<ReadItem> {
    const layout = layoutOf(this.#root, session)
    const { transcript } = layout
    const firstLine = (): ReturnType<FirstLine> => copiedFirstLine(this.#machine.fs, layout)
    let file: OpenFile | null = null
    try {
      file = await this.#machine.fs.open(transcript, 'read')
      const refused = await unfit(file)
      if (refused === null) yield* items(file, (await file.stat()).bytes, firstLine)
      else yield { kind: 'failed', failure: refused }
    } catch (error) {
      const failure = failureOf(error, `reading ${transcript}`)
      const isMissing = file === null && systemCode(error) === 'ENOENT'
      yield { kind: 'failed', failure: isMissing ? noSession(session) : failure }
    } finally {
      await file?.close()
    }
  }

  async putBlob(
    lease: Lease,
    name: string,
    bytes: Uint8Array | AsyncIterable<Uint8Array>,
  ): ReturnType<Store['putBlob']> {
    const writer = this.#writerOf(lease)
    if (writer === null || !(await this.#holds(writer))) return fenced
    const counted = writer.blobBytes ?? (await blobBytes(this.#machine, writer.layout))
    if (typeof counted !== 'number' && !counted.ok) return counted
    writer.blobBytes ??= typeof counted === 'number' ? counted : counted.bytes
    const put = await putBlob(this.#machine, writer.layout, name, bytes, writer.blobBytes, this.#quotaBytes)
    if (put.ok) writer.blobBytes += put.bytes
    return put
  }

  async getBlob(...[session, blob, part]: Parameters<Store['getBlob']>): ReturnType<Store['getBlob']> {
    return await getBlob(this.#machine, layoutOf(this.#root, session), blob, part)
  }

  async blobs(session: SessionId): ReturnType<Store['blobs']> {
    return await blobNames(this.#machine, layoutOf(this.#root, session))
  }

  async putCheckpoint(
    ...[lease, checkpoint]: Parameters<Store['putCheckpoint']>
  ): ReturnType<Store['putCheckpoint']> {
    const writer = this.#writerOf(lease)
    if (writer === null || !(await this.#holds(writer))) return fenced
    return await putCheckpoint(this.#machine, writer.layout, writer.position, checkpoint)
  }

  async getCheckpoint(session: SessionId): ReturnType<Store['getCheckpoint']> {
    return await getCheckpoint(this.#machine.fs, layoutOf(this.#root, session))
  }

  async remove(session: SessionId): Promise<Result<object>> {
    const writer = this.#writers.get(session)
    const lock = writer !== undefined && (await this.#holds(writer)) ? writer.lock : null
    if (writer !== undefined) {
      // What it still had to bring to the disk is about to go, so its failure says nothing.
      await writer.close()
      this.#writers.delete(session)
    }
    return await removeSession(this.#machine, layoutOf(this.#root, session), lock, noSession(session))
  }

  #writerOf(lease: Lease): Writer | null {
    const writer = this.#writers.get(lease.session)
    return writer !== undefined && writer.lock.token === lease.token ? writer : null
  }

  async #holds(writer: Writer): Promise<boolean> {
    const found = await attempt('', async () => ({ isOurs: await holds(writer.lock, this.#machine.fs) }))
    return found.ok && found.isOurs
  }

  async #owner(session: SessionId): Promise<Owner | null> {
    const found = await lockOwner(layoutOf(this.#root, session).lock, lockOptionsOf(this.#machine))
    return found.ok && found.owner !== null ? ownerOf(found.owner) : null
  }
}

/** The next free place as the last writer left it. */
function nextIn(left: unknown): Seq | null {
  const next = typeof left === 'object' && left !== null && 'next' in left ? left.next : null
  return Number.isSafeInteger(next) && (next as number) > 0 ? seq(next as number) : null
}

/** Folders cannot be synced there and open files not be replaced, so no promise of this store would hold. */
const noWindows = 'sessions are not kept on Windows yet: run inside WSL, or use inMemoryStore'
const emptyTail = { ok: true, next: null, end: 0, damage: [] } as const
const fenced = {
  ok: false,
  failure: {
    code: 'fenced',
    message: 'this lease is no longer the one that writes; open the session again',
  },
} as const
const noSession = (session: SessionId): Failure => ({
  code: 'no-such-session',
  message: `there is no session ${session} in this store`,
})

async function unfit(file: OpenFile): Promise<Failure | null> {
  const { kind } = await file.stat()
  return kind === 'file' ? null : { code: 'not-a-file', message: 'the transcript is not a regular file' }
}

/** Through a second name, as a copy by links leaves it, others would be written to along with it. */
async function hasSecondName({ fs }: Machine, layout: Layout): Promise<boolean> {
  const stat = await attempt('looking at the transcript', () => fs.stat(layout.transcript))
  return stat.ok && stat.kind === 'file' && stat.links > 1
}

/** The same bytes in a new file, synced anew. */
async function renewed(machine: Machine, layout: Layout): Promise<void> {
  const { fs, unique } = machine
  const file = await openTranscript(machine, layout)
  if (file === null) return
  await closing(file, async () => {
    const folder = await fs.openFolder(await fs.realPath(dirname(layout.transcript)))
    const parts = blocksOf(file, defaults.store.blockBytes)
    const name = basename(layout.transcript)
    await closing(folder, () => replaceIn(fs, folder, name, parts, { mode: fileMode, unique }))
  })
}
