// A session that is longer than memory: its index lies in pieces, and a request from long ago is composed again from a small part.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeTranscript } from '../../bench/long-transcript.ts'
import { machineFileSystem, type FileSystem } from '../../src/disk/fs.ts'
import { requestChunk } from '../../src/inspector/answers/chunks.ts'
import { withSnapshot } from '../../src/inspector/indexing/index-builder.ts'
import { Inspection } from '../../src/inspector/inspection.ts'
import { modelTable } from '../../src/model/models.ts'
import { defaults } from '../../src/settings/defaults.ts'
import { fileStore } from '../../src/stores/index.ts'
import { seq, sessionId } from '../../src/transcript/ids.ts'
import type { Store } from '../../src/transcript/store.ts'

const MB = 1024 * 1024
const session = sessionId('long')
const KB = 1024
let folder = ''
let entries = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pal-long-'))
  entries = await writeTranscript(join(folder, 'sessions'), session, {
    bytes: 8 * MB,
    boundaryBytes: 256 * KB,
    tailBytes: 64 * KB,
    hasPin: true,
    resultLines: 20,
  })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Counts {
  read: number
  largest: number
}

/** The session as `pal inspect` looks at it; what is read of it and how large pieces of its index are is counted. */
function looking(): { readonly inspection: Inspection; readonly counts: Counts } {
  const counts: Counts = { read: 0, largest: 0 }
  const files = fileStore({ root: join(folder, 'sessions'), fsync: 'none' })
  const store: Store = new Proxy(files, {
    get: (target, name: keyof Store) =>
      name === 'read'
        ? async function* (...range: Parameters<Store['read']>): ReturnType<Store['read']> {
            for await (const item of target.read(...range)) {
              counts.read++
              yield item
            }
          }
        : target[name].bind(target),
  })
  const larger = (bytes: Uint8Array): void => void (counts.largest = Math.max(counts.largest, bytes.length))
  const fs: FileSystem = {
    ...machineFileSystem,
    open: async (...how) => {
      const file = await machineFileSystem.open(...how)
      return {
        ...file,
        read: (into, at) => (larger(into), file.read(into, at)),
        write: (bytes) => (larger(bytes), file.write(bytes)),
      }
    },
  }
  const inspection = new Inspection({
    store,
    scope: '',
    place: { fs, folder: join(folder, 'indexes'), unique: () => 'one' },
    settings: { models: modelTable(), model: 'claude-sonnet-5' },
  })
  return { inspection, counts }
}

describe('a long session', () => {
  it('[IN13] a request from the middle is composed again by reading a small part of the session', async () => {
    const { inspection, counts } = looking()
    const opened = await inspection.opened(session)
    if (!opened.ok) throw new Error(opened.failure.message)
    expect(counts.read).toBeGreaterThanOrEqual(entries)
    const place = opened.index.requests.get(Math.floor(opened.index.requests.length / 2), 'seq')
    counts.read = 0
    const request = await inspection.request(opened, place)
    expect(request).toMatchObject({ ok: true, sent: { seq: place } })
    expect(counts.read).toBeLessThan(entries / 4)
  })

  it('[IN13] folds to begin from lie evenly over a session, however long it is', () => {
    const step = 0.3 * MB
    let kept: Parameters<typeof withSnapshot>[0] = []
    for (let at = 1; at <= 4000; at++) {
      const checkpoint = { version: 1, upTo: seq(at), state: null, needs: [] }
      kept = withSnapshot(kept, at * step, () => checkpoint)
    }
    const places = [0, ...kept.map(({ bytes }) => bytes), 4000 * step]
    const gaps = places.slice(1).map((place, at) => place - places[at]!)
    expect(Math.max(...gaps)).toBeLessThan((4000 * step) / 64)
    expect(kept.length).toBeLessThanOrEqual(defaults.inspector.snapshots)
  })

  it('[IN14] an index goes to the disk and comes back in pieces, and says the same', async () => {
    const first = looking()
    const made = await first.inspection.opened(session)
    const second = looking()
    const loaded = await second.inspection.opened(session)
    if (!made.ok || !loaded.ok) throw new Error('the session was not opened')
    // It was taken from the disk: of the session itself only what guards it was read.
    expect(second.counts.read).toBeLessThan(entries / 4)
    expect(requestChunk(loaded.index, null, 3000)).toEqual(requestChunk(made.index, null, 3000))
    const size = [...made.index.entries.bytes(), ...made.index.requests.bytes()].reduce(
      (sum, one) => sum + one.length,
      0,
    )
    expect(size).toBeGreaterThan(MB / 2)
    expect(first.counts.largest).toBeLessThan(size / 8)
    expect(second.counts.largest).toBeLessThan(size / 8)
  })
})
