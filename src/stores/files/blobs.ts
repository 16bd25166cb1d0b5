// Blobs: bytes beside the transcript, under a name made safe, written once and whole, and counted against the quota.
import { createHash } from 'node:crypto'
import { closing, attempt, failureOf, readAt, systemCode } from '../../disk/fs.ts'
import { blocksOf, isTemporaryName, replaceIn } from '../../disk/replace.ts'
import { safeName } from '../../disk/safe-name.ts'
import { folderUnder, openUnder } from '../../disk/under-root.ts'
import { join } from 'node:path'
import { defaults } from '../../settings/defaults.ts'
import type { BlobInfo, Failure, Result } from '../../transcript/store.ts'
import { blobEnding, blobFile, blobFolder, fileMode, folderMode, type Layout } from './layout.ts'
import type { Machine } from './machine.ts'

type Bytes = Uint8Array | AsyncIterable<Uint8Array>

export async function putBlob(
  machine: Machine,
  layout: Layout,
  name: string,
  bytes: Bytes,
  usedBytes: number,
  quotaBytes: number,
): Promise<Result<BlobInfo>> {
  const opened = await folderUnder(machine.fs, layout.folder, blobFolder, folderMode)
  if (!opened.ok) return opened
  const { folder, path } = opened
  const measured = new Measured(bytes, name, quotaBytes - usedBytes)
  const info = (): BlobInfo => ({
    blob: safeName(name),
    ...measured.result(),
    path: join(path, blobFile(name)),
  })
  try {
    const options = { mode: fileMode, unique: machine.unique, existing: 'refuse' } as const
    await replaceIn(machine.fs, folder, blobFile(name), measured, options)
    return { ok: true, ...info() }
  } catch (error) {
    if (error instanceof Refused) return { ok: false, failure: error.failure }
    if (systemCode(error) !== 'EEXIST')
      return { ok: false, failure: failureOf(error, `keeping the blob ${name}`) }
    const same = (await hashOf(machine, layout, name)) === measured.result().sha256
    if (same) return { ok: true, ...info() }
    const message = `there is another blob named ${safeName(name)}; blobs are written once`
    return { ok: false, failure: { code: 'exists', message } }
  } finally {
    await folder.close()
  }
}

export async function getBlob(
  machine: Machine,
  layout: Layout,
  blob: string,
  part: { readonly offset: number; readonly length: number } | undefined,
): Promise<Result<{ bytes: Uint8Array; total: number }>> {
  const opened = await openUnder(machine.fs, layout.folder, join(blobFolder, blobFile(blob)))
  if (!opened.ok) return opened
  const { file, stat } = opened
  const read = await attempt(`reading the blob ${blob}`, async () => {
    const from = Math.max(0, Math.min(part?.offset ?? 0, stat.bytes))
    const length = Math.max(0, Math.min(part?.length ?? stat.bytes, stat.bytes - from))
    return { bytes: await readAt(file, from, length), total: stat.bytes }
  })
  await file.close()
  return read
}

/** What the blobs of a session take together. */
export async function blobBytes(machine: Machine, layout: Layout): Promise<Result<{ bytes: number }>> {
  const opened = await folderUnder(machine.fs, layout.folder, blobFolder, folderMode)
  if (!opened.ok) return opened
  const { folder } = opened
  const counted = await attempt('counting the blobs', async () => {
    let bytes = 0
    for (const name of await machine.fs.names(folder.at('.'))) {
      if (!isTemporaryName(name)) bytes += (await machine.fs.stat(folder.at(name))).bytes
    }
    return { bytes }
  })
  await folder.close()
  return counted
}

export async function blobNames(
  machine: Machine,
  layout: Layout,
): Promise<Result<{ readonly names: readonly string[] }>> {
  const folder = join(layout.folder, blobFolder)
  const listed = await attempt(`listing ${folder}`, async () => ({ names: await machine.fs.names(folder) }))
  if (!listed.ok) return listed.failure.code === 'not-found' ? { ok: true, names: [] } : listed
  const kept = listed.names.filter((name) => !isTemporaryName(name) && name.endsWith(blobEnding))
  return { ok: true, names: kept.map((name) => name.slice(0, -blobEnding.length)).sort() }
}

async function hashOf(machine: Machine, layout: Layout, name: string): Promise<string | null> {
  const opened = await openUnder(machine.fs, layout.folder, join(blobFolder, blobFile(name)))
  if (!opened.ok) return null
  return await closing(opened.file, async (file) => {
    const hash = createHash('sha256')
    for await (const block of blocksOf(file, defaults.store.blockBytes)) hash.update(block)
    return hash.digest('hex')
  })
}

/** Ends a write from within the stream that feeds it. */
class Refused extends Error {
  readonly failure: Failure
  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

/** The bytes on their way to the disk, counted and hashed as they pass. */
class Measured implements AsyncIterable<Uint8Array> {
  readonly #source: Bytes
  readonly #name: string
  readonly #room: number
  readonly #hash = createHash('sha256')
  #bytes = 0
  #digest: string | null = null

  constructor(source: Bytes, name: string, room: number) {
    this.#source = source
    this.#name = name
    this.#room = room
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    const parts = this.#source instanceof Uint8Array ? [this.#source] : this.#source
    try {
      for await (const part of parts) {
        this.#bytes += part.byteLength
        if (this.#bytes > this.#room) {
          const message = `the blob ${this.#name} needs more than the ${Math.max(0, this.#room)} bytes left to the session`
          throw new Refused({ code: 'quota', message })
        }
        this.#hash.update(part)
        yield part
      }
    } catch (error) {
      if (error instanceof Refused) throw error
      const message = `the bytes of the blob ${this.#name} stopped coming: ${String(error)}`
      throw new Refused({ code: 'source-failed', message })
    }
  }

  result(): { bytes: number; sha256: string } {
    this.#digest ??= this.#hash.digest('hex')
    return { bytes: this.#bytes, sha256: this.#digest }
  }
}
