// The checkpoint: derived, replaced whole, and believed only while the transcript still looks as it did.
//
// Format. One framed line (lines/frame.ts):
//   {"format":1,"end":<bytes of transcript it covers>,"fingerprint":<CRC-32 of the last bytes before `end`>,
//    "checkpoint":{"version":…,"upTo":…,"state":…,"needs":[…]},"crc":"…"}
// Those last bytes hold the checksum of the last covered entry, so they change whenever that entry does.
import { jsonIn } from '../../transcript/json.ts'
import { crc32 } from 'node:zlib'
import * as z from 'zod/mini'
import { attempt, readAt, reading, systemCode, type FileSystem, type OpenFile } from '../../disk/fs.ts'
import { replaceFile } from '../../disk/replace.ts'
import { defaults } from '../../settings/defaults.ts'
import { seq } from '../../transcript/ids.ts'
import type { Checkpoint, Result } from '../../transcript/store.ts'
import { bodyOf, frame } from './line-frame.ts'
import { fileMode, type Layout } from './layout.ts'
import type { Machine } from './machine.ts'
import { endOfPlace } from './line-reading.ts'
import type { WriterState } from './writer.ts'

const place = z.number().check(z.int(), z.nonnegative())
const schema = z.object({
  format: z.literal(1),
  end: place,
  fingerprint: place,
  checkpoint: z.object({
    version: z.number(),
    upTo: place,
    state: z.unknown(),
    needs: z.array(z.object({ from: place, to: place })),
  }),
})

export async function putCheckpoint(
  machine: Machine,
  layout: Layout,
  position: WriterState,
  checkpoint: Checkpoint,
): Promise<Result<object>> {
  const { file, next } = position
  if (file === null || next === null || checkpoint.upTo >= next) {
    const message = `a checkpoint up to ${checkpoint.upTo} covers entries that are not written yet`
    return { ok: false, failure: { code: 'not-found', message } }
  }
  const framed = await attempt('finding the place of a checkpoint', async () => {
    const end =
      checkpoint.upTo === next - 1 ? position.end : await endOfPlace(file, position.end, checkpoint.upTo)
    const fingerprint = await fingerprintAt(file, end)
    return { bytes: frame(JSON.stringify({ format: 1, end, fingerprint, checkpoint })) }
  })
  if (!framed.ok) return framed
  if (framed.bytes === null || framed.bytes.byteLength > defaults.store.maxCheckpointBytes) {
    return {
      ok: false,
      failure: { code: 'too-large', message: 'the checkpoint is too large to be read back' },
    }
  }
  return await replaceFile(machine.fs, layout.checkpoint, framed.bytes, {
    mode: fileMode,
    unique: machine.unique,
  })
}

/** Null for whatever cannot be believed: a checkpoint is only ever a short cut. */
export async function getCheckpoint(fs: FileSystem, layout: Layout): Promise<Checkpoint | null> {
  const stored = await withFile(fs, layout.checkpoint, async (file) => {
    const { bytes } = await file.stat()
    return bytes > defaults.store.maxCheckpointBytes
      ? null
      : bodyOf((await readAt(file, 0, bytes)).subarray(0, -1))
  })
  if (stored === null) return null
  const parsed = schema.safeParse(jsonIn(stored))
  if (!parsed.success) return null
  const { end, fingerprint, checkpoint } = parsed.data
  const fits = await withFile(fs, layout.transcript, async (file) => {
    const isThere = (await file.stat()).bytes >= end
    return isThere && (await fingerprintAt(file, end)) === fingerprint ? true : null
  })
  if (fits === null) return null
  const needs = checkpoint.needs.map((range) => ({ from: seq(range.from), to: seq(range.to) }))
  return { ...checkpoint, upTo: seq(checkpoint.upTo), needs }
}

async function fingerprintAt(file: OpenFile, end: number): Promise<number> {
  const from = Math.max(0, end - defaults.store.fingerprintBytes)
  return crc32(await readAt(file, from, end - from))
}

async function withFile<T>(
  fs: FileSystem,
  path: string,
  work: (file: OpenFile) => Promise<T>,
): Promise<T | null> {
  try {
    return await reading(fs, path, work)
  } catch (error) {
    if (systemCode(error) === null) throw error
    return null
  }
}
