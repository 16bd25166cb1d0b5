// What the store on disk costs, each figure beside a baseline measured in the same run.
//   --json           figures as one JSON object
//   --appends <n>    appends per policy
//   --read-mb <n>    size of the transcript that is read through
//   --big-mb <n>     size of the transcript that is opened at its end
import { createReadStream } from 'node:fs'
import * as node from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { frame } from '../src/stores/files/line-frame.ts'
import { fileStore, type SyncPolicy } from '../src/stores/index.ts'
import { noteEntry } from '../src/testing/store-steps.ts'
import { encode } from '../src/transcript/codec.ts'
import { seq, sessionId } from '../src/transcript/ids.ts'
import type { Durability, Lease, Store } from '../src/transcript/store.ts'

interface Row {
  readonly what: string
  readonly ours: number
  readonly baseline: number
  readonly unit: string
  readonly against: string
}

const flag = (name: string, fallback: number): number => {
  const at = process.argv.indexOf(`--${name}`)
  return at === -1 ? fallback : Number(process.argv[at + 1])
}
const session = sessionId('bench')
const recordBytes = 4096
const text = 'The quick brown fox jumps over the lazy dog. "quoted" \\path\\ '
  .repeat(70)
  .slice(0, recordBytes - 160)
const ms = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now()
  await work()
  return performance.now() - start
}
/** The best of three: what the work costs when nobody disturbs it. */
const best = async (work: () => Promise<unknown>): Promise<number> =>
  Math.min(await ms(work), await ms(work), await ms(work))
const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!

async function leased(store: Store): Promise<Lease> {
  const outcome = await store.lease(session)
  if (!outcome.ok) throw new Error(JSON.stringify(outcome))
  return outcome.lease
}

async function appends(base: string, count: number): Promise<Row[]> {
  const rows: Row[] = []
  const kinds: readonly (readonly [SyncPolicy, Durability])[] = [
    ['none', 'now'],
    ['batch', 'soon'],
    ['batch', 'now'],
    ['full', 'soon'],
  ]
  for (const [policy, durability] of kinds) {
    const name = `${policy}-${durability}`
    const store = fileStore({ root: join(base, name), fsync: policy })
    const lease = await leased(store)
    const plain = await node.open(join(base, `${name}.raw`), 'a')
    const isSynced = policy === 'full' || (policy === 'batch' && durability === 'now')
    const ours: number[] = []
    const theirs: number[] = []
    // Interleaved, so that both meet the same moods of the disk.
    for (let place = 0; place < count; place++) {
      const entry = noteEntry(place, text)
      ours.push(
        await ms(async () => {
          const outcome = await store.append(lease, [entry], seq(place), durability)
          if (!outcome.ok) throw new Error(JSON.stringify(outcome))
        }),
      )
      theirs.push(
        await ms(async () => {
          await plain.write(`${encode(entry)}\n`)
          if (isSynced) await plain.datasync()
        }),
      )
    }
    await plain.close()
    await store.release(lease)
    ours.sort((a, b) => a - b)
    theirs.sort((a, b) => a - b)
    const against = isSynced ? 'bare write + datasync' : 'bare write'
    for (const share of [0.5, 0.99]) {
      const what = `append 4 KB, ${policy}/${durability}, p${share * 100}`
      rows.push({
        what,
        ours: percentile(ours, share),
        baseline: percentile(theirs, share),
        unit: 'ms',
        against,
      })
    }
  }
  return rows
}

async function made(
  base: string,
  name: string,
  megabytes: number,
): Promise<{ root: string; path: string; count: number }> {
  const root = join(base, name)
  await node.mkdir(join(root, session), { recursive: true })
  const path = join(root, session, 'transcript.jsonl')
  const file = await node.open(path, 'w')
  let count = 0
  for (let bytes = 0; bytes < megabytes * 1024 * 1024;) {
    const lines = Array.from({ length: 256 }, () => frame(encode(noteEntry(count++, text)))!)
    const block = Buffer.concat(lines)
    await file.write(block)
    bytes += block.byteLength
  }
  await file.close()
  return { root, path, count }
}

async function readThrough(base: string, megabytes: number): Promise<Row[]> {
  const { root, path, count } = await made(base, 'read', megabytes)
  const store = fileStore({ root, fsync: 'none' })
  let highest = 0
  const through = async (): Promise<void> => {
    let seen = 0
    for await (const item of store.read(session)) {
      if (item.kind !== 'entry') throw new Error(JSON.stringify(item))
      if (++seen % 2000 === 0) highest = Math.max(highest, process.memoryUsage().rss)
    }
    if (seen !== count) throw new Error(`read ${seen} of ${count}`)
  }
  const parsed = async (): Promise<void> => {
    let rest = Buffer.alloc(0)
    for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
      let block = Buffer.concat([rest, chunk as Buffer])
      for (let end = block.indexOf(10); end !== -1; end = block.indexOf(10)) {
        JSON.parse(block.toString('utf8', 0, end))
        block = block.subarray(end + 1)
      }
      rest = block
    }
  }
  await through()
  const before = process.memoryUsage().rss
  highest = before
  const ours = await best(through)
  const growth = (highest - before) / 1024 / 1024
  const baseline = await best(parsed)
  return [
    { what: `read ${megabytes} MB`, ours, baseline, unit: 'ms', against: 'JSON.parse of every line' },
    {
      what: `memory while reading ${megabytes} MB`,
      ours: growth,
      baseline: megabytes,
      unit: 'MB',
      against: 'the whole file',
    },
  ]
}

async function openAtEnd(base: string, megabytes: number): Promise<Row[]> {
  const { root, path, count } = await made(base, 'big', megabytes)
  const first = fileStore({ root, fsync: 'batch' })
  const lease = await leased(first)
  await first.putCheckpoint(lease, {
    version: 1,
    upTo: seq(count - 100),
    state: { x: 'y'.repeat(10_000) },
    needs: [],
  })
  await first.release(lease)
  const store = fileStore({ root, fsync: 'batch' })
  const rest = async (from: number, to: number): Promise<void> => {
    for await (const item of store.read(session, { from: seq(from), to: seq(to) })) {
      if (item.kind !== 'entry') throw new Error(JSON.stringify(item))
    }
  }
  const open = await ms(async () => {
    await leased(store)
    if ((await store.getCheckpoint(session)) === null) throw new Error('the checkpoint is not believed')
    await rest(count - 99, count)
    await rest(Math.floor(count / 3), Math.floor(count / 3) + 200)
  })
  const back = await ms(async () => {
    let left = 500
    for await (const _ of store.readBack(session)) if (--left === 0) break
  })
  const scan = await ms(async () => {
    let feeds = 0
    for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
      const block = chunk as Buffer
      for (let at = block.indexOf(10); at !== -1; at = block.indexOf(10, at + 1)) feeds++
    }
    if (feeds !== count) throw new Error(`${feeds} lines`)
  })
  return [
    {
      what: `open ${megabytes} MB: lease, checkpoint, tail, a range`,
      ours: open,
      baseline: scan,
      unit: 'ms',
      against: 'one scan for line ends',
    },
    {
      what: `newest 500 of ${megabytes} MB`,
      ours: back,
      baseline: scan,
      unit: 'ms',
      against: 'one scan for line ends',
    },
  ]
}

const base = await node.mkdtemp(join(tmpdir(), 'pal-bench-'))
try {
  const rows = [
    ...(await appends(base, flag('appends', 1000))),
    ...(await readThrough(base, flag('read-mb', 100))),
    ...(await openAtEnd(base, flag('big-mb', 256))),
  ]
  if (process.argv.includes('--json')) {
    console.log(JSON.stringify({ bench: 'store', node: process.version, rows }))
  } else {
    const shown = rows.map((row) => ({
      what: row.what,
      ours: `${row.ours.toFixed(2)} ${row.unit}`,
      baseline: `${row.baseline.toFixed(2)} ${row.unit}`,
      ratio: (row.ours / row.baseline).toFixed(2),
      against: row.against,
    }))
    console.table(shown)
  }
} finally {
  await node.rm(base, { recursive: true })
}
