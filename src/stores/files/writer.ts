// The one writer of a session (laws T1, T2). An append is one buffer and one write on a file opened for appending.
//
// - After a failed or short write the file is cut back to its last good length before anything else. If that fails too
//   the next entry begins with a line feed of its own, unless whole entries of the refused append stand there: then
//   nothing is written until the cut succeeds, for they would take the places of what comes next.
// - A failed sync is never tried again until it succeeds: the system may have dropped the pages and forgotten it. The
//   session is degraded, says so to every caller, and the next lease copies the transcript into a new file.
// - Before a write the lock must still be ours and the file exactly as long as we left it. After it, and after its
//   sync, the lock is looked at once more: an append is acknowledged only if it was still ours then. So what a paused
//   and robbed writer lets fall late is never acknowledged, and what was acknowledged lay there before the robber
//   looked. What such a writer dropped makes the file longer than we left it; the session must then be leased anew.
import { dirname } from 'node:path'
import { attempt, failureOf, syncFolder, writeAll, type OpenFile } from '../../disk/fs.ts'
import { holds, type Lock } from '../../disk/lock.ts'
import { defaults } from '../../settings/defaults.ts'
import { encode } from '../../transcript/codec.ts'
import type { StoredEntry } from '../../transcript/fact.ts'
import { seq, type Seq } from '../../transcript/ids.ts'
import type { AppendOutcome, Durability, Failure, Result } from '../../transcript/store.ts'
import { frame, lineFeed } from './line-frame.ts'
import { keepFirstLine } from './first-line.ts'
import { fileMode, type Layout } from './layout.ts'
import type { Machine, SyncPolicy } from './machine.ts'

export interface WriterState {
  readonly file: OpenFile | null
  readonly next: Seq | null
  readonly end: number
}

type Health =
  | { readonly kind: 'sound' }
  /** Bytes of a refused append stand behind the last good length. */
  | { readonly kind: 'torn'; readonly wholeEntries: boolean }
  | { readonly kind: 'degraded'; readonly failure: Failure }

export class Writer {
  readonly layout: Layout
  readonly lock: Lock
  /** What the blobs take, once counted. */
  blobBytes: number | null = null
  readonly #machine: Machine
  readonly #policy: SyncPolicy
  #file: OpenFile | null
  #next: Seq | null
  #end: number
  #health: Health = { kind: 'sound' }
  #queue: Promise<unknown> = Promise.resolve()
  #unsynced = false
  #isNamed = true
  #identity: string | null = null
  #cancelSync: (() => void) | null = null
  #syncing: Promise<Failure | null> = Promise.resolve(null)

  constructor(layout: Layout, lock: Lock, machine: Machine, policy: SyncPolicy, state: WriterState) {
    this.layout = layout
    this.lock = lock
    this.#machine = machine
    this.#policy = policy
    this.#file = state.file
    this.#next = state.next
    this.#end = state.end
  }

  get degraded(): boolean {
    return this.#health.kind === 'degraded'
  }

  /** Where the transcript stands: for checkpoints. */
  get position(): WriterState {
    return { file: this.#file, next: this.#next, end: this.#end }
  }

  append(entries: readonly StoredEntry[], expected: Seq, durability: Durability): Promise<AppendOutcome> {
    return this.#inTurn(() => this.#append(entries, expected, durability))
  }

  sync(): Promise<Result<object>> {
    return this.#inTurn(async () => {
      if (this.#health.kind === 'degraded') return { ok: false, failure: this.#health.failure }
      const named = await attempt(
        'syncing the folder of the transcript to disk',
        async () => (await this.#syncName(), {}),
      )
      if (!named.ok) return named
      const failure = await this.#syncNow()
      return failure === null ? { ok: true } : { ok: false, failure }
    })
  }

  /** Syncs what is not synced unless the policy leaves that to the system, and lets go of the file. */
  close(): Promise<Result<object>> {
    return this.#inTurn(async () => {
      const isLeft = this.#policy !== 'none' && this.#unsynced && this.#health.kind === 'sound'
      const failure = isLeft ? await this.#syncNow() : await this.#syncing
      this.#cancelSync?.()
      const file = this.#file
      this.#file = null
      const closed = await attempt('closing the transcript', async () => (await file?.close(), {}))
      return failure === null ? closed : { ok: false, failure }
    })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work)
    this.#queue = turn.catch(() => undefined)
    return turn
  }

  async #append(
    entries: readonly StoredEntry[],
    expected: Seq,
    durability: Durability,
  ): Promise<AppendOutcome> {
    if (this.#health.kind === 'degraded') return failed(this.#health.failure)
    if (this.#next !== null && expected !== this.#next)
      return { ok: false, why: 'seq-taken', next: this.#next }
    const framed = frames(entries, expected)
    if (!framed.ok) return failed(framed.failure)
    if (entries.length === 0) return { ok: true }
    try {
      const ready = await this.#ready()
      if (ready !== null) return ready
      const written = await this.#write(framed.bytes)
      if (written !== null) return failed(written)
      if (this.#next === null) await keepFirstLine(this.#machine.fs, this.layout, this.#file!)
      this.#next = seq(expected + entries.length)
      const unsafe = await this.#secure(durability)
      if (unsafe !== null) return failed(unsafe)
      return (await holds(this.lock, this.#machine.fs)) ? { ok: true } : fenced
    } catch (error) {
      return failed(failureOf(error, `writing ${this.layout.transcript}`))
    }
  }

  /** Null when writing may begin: the lock is ours and the file at the path is the one we left, as we left it. */
  async #ready(): Promise<AppendOutcome | null> {
    const file = await this.#open()
    const { fs } = this.#machine
    const [ours, stat] = await Promise.all([
      holds(this.lock, fs),
      attempt('looking at the transcript', () => fs.stat(this.layout.transcript)),
    ])
    if (!ours) return fenced
    if (!stat.ok && stat.failure.code !== 'not-found') return failed(stat.failure)
    this.#identity ??= (await file.stat()).identity
    const isSame = stat.ok && stat.identity === this.#identity
    if (isSame && this.#health.kind === 'torn') {
      const failure = await this.#repair(file, this.#health.wholeEntries, stat.bytes)
      return failure === null ? null : failed(failure)
    }
    if (isSame && stat.bytes === this.#end) return null
    const what = isSame ? `is ${stat.bytes} bytes long and not ${this.#end}` : 'was removed or replaced'
    const message = `the transcript ${what}: something else changed it. Open the session again`
    return failed({ code: 'changed-outside', message })
  }

  async #open(): Promise<OpenFile> {
    if (this.#file !== null) return this.#file
    this.#file = await this.#machine.fs.open(this.layout.transcript, 'create', fileMode)
    this.#isNamed = false
    if (this.#policy !== 'none') await this.#syncName()
    return this.#file
  }

  /** Brings the name of a new transcript to the disk. */
  async #syncName(): Promise<void> {
    if (this.#isNamed) return
    try {
      await syncFolder(this.#machine.fs, this.layout.folder)
      // Whoever made the session's folder may have died before its name was safe.
      await syncFolder(this.#machine.fs, dirname(this.layout.folder))
      this.#isNamed = true
    } catch (error) {
      this.#degrade(failureOf(error, 'syncing the folder of the transcript to disk'))
      throw error
    }
  }

  #degrade(failure: Failure): Failure {
    const degraded = {
      ...failure,
      message: `${failure.message}. The last entries may be lost; open the session again`,
    }
    this.#health = { kind: 'degraded', failure: degraded }
    return degraded
  }

  async #repair(file: OpenFile, wholeEntries: boolean, bytes: number): Promise<Failure | null> {
    const cut = await attempt('cutting off a refused entry', async () => (await file.truncate(this.#end), {}))
    if (cut.ok) {
      this.#health = { kind: 'sound' }
      return null
    }
    if (wholeEntries) return cut.failure
    const ended = await attempt('ending a torn line', async () => (await writeAll(file, lineEnd), {}))
    if (!ended.ok) return ended.failure
    this.#end = bytes + lineEnd.byteLength
    this.#health = { kind: 'sound' }
    return null
  }

  async #write(bytes: Buffer): Promise<Failure | null> {
    const file = this.#file!
    const written = await attempt('writing the transcript', async () => ({ taken: await file.write(bytes) }))
    if (written.ok && written.taken === bytes.byteLength) {
      this.#end += bytes.byteLength
      this.#unsynced = true
      return null
    }
    const short: Failure = {
      code: 'disk-full',
      message: 'the system took only a part of the entry; is the disk full?',
    }
    const failure = written.ok ? short : written.failure
    const cut = await attempt('cutting off a refused entry', async () => (await file.truncate(this.#end), {}))
    if (!cut.ok) {
      // How much a failed write left behind is unknown, so it may be whole entries.
      const wholeEntries = !written.ok || bytes.subarray(0, written.taken).includes(lineFeed)
      this.#health = { kind: 'torn', wholeEntries }
    }
    return failure
  }

  /** What the acknowledgement has to wait for. */
  async #secure(durability: Durability): Promise<Failure | null> {
    if (this.#policy === 'none') return null
    if (this.#policy === 'full' || durability === 'now') return await this.#syncNow()
    if (durability === 'soon' && this.#cancelSync === null) {
      this.#cancelSync = this.#machine.later(defaults.store.groupCommitMs, () => void this.#syncNow())
    }
    return null
  }

  /** One sync at a time; whoever comes while one runs waits for the next, which covers what was written meanwhile. */
  #syncNow(): Promise<Failure | null> {
    this.#cancelSync?.()
    this.#cancelSync = null
    this.#syncing = this.#syncing.then(async (before) => {
      if (before !== null || this.#file === null || !this.#unsynced) return before
      this.#unsynced = false
      try {
        await this.#file.datasync()
        return null
      } catch (error) {
        return this.#degrade(failureOf(error, 'syncing the transcript to disk'))
      }
    })
    return this.#syncing
  }
}

const lineEnd = Buffer.from([lineFeed])
const fenced: AppendOutcome = { ok: false, why: 'fenced', owner: null }
const failed = (failure: Failure): AppendOutcome => ({ ok: false, why: 'failed', failure })

/** All entries as the bytes of one write. */
export function frames(entries: readonly StoredEntry[], expected: Seq): Result<{ bytes: Buffer }> {
  const lines: Buffer[] = []
  for (const [index, entry] of entries.entries()) {
    if (entry.seq !== expected + index) {
      const message = `entry ${entry.seq} cannot be written as number ${expected + index}`
      return { ok: false, failure: { code: 'bad-entry', message } }
    }
    const line = frame(encode(entry))
    if (line === null) {
      return {
        ok: false,
        failure: { code: 'bad-entry', message: `entry ${entry.seq} is not one line of JSON` },
      }
    }
    const most = defaults.transcript.maxLineBytes
    if (line.byteLength > most) {
      const message = `entry ${entry.seq} takes ${line.byteLength} bytes, at most ${most} are written; keep it as a blob`
      return { ok: false, failure: { code: 'too-large', message } }
    }
    lines.push(line)
  }
  return { ok: true, bytes: lines.length === 1 ? lines[0]! : Buffer.concat(lines) }
}
