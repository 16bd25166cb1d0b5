// How long it takes to open a long session, and how much memory: `node scripts/run-ts.mjs bench/resume.ts [--size MB] [--json]`.
// Each row is a process of its own that opens the session through the engine, as a resumed agent would; the baseline is
// JSON.parse and JSON.stringify of the same bytes, line by line, in a process of its own as well.
//
// Goal: 1 GB with a boundary near its end under 0.5 s and 150 MB.
import { spawnSync } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from '../src/engine/engine.ts'
import { checkpointFor } from '../src/engine/opening/resume.ts'
import { advance, newState } from '../src/engine/state.ts'
import { modelTable } from '../src/model/models.ts'
import { fileStore } from '../src/stores/index.ts'
import { isKnown } from '../src/transcript/fact.ts'
import { seq, sessionId, type Seq, type SessionId } from '../src/transcript/ids.ts'
import { writeTranscript } from './long-transcript.ts'

const KB = 1024
const MB = KB * KB
const boundaryBytes = 2 * MB
const tailBytes = 300 * KB
const modelId = 'claude-sonnet-4-6'

interface Measured {
  readonly ms: number
  readonly rssMb: number
  readonly note?: string
}

type Job = 'open' | 'undo' | 'json' | 'stale'

// ---- in a process of its own ----

async function openSession(root: string, session: SessionId): Promise<Measured> {
  const startedAt = performance.now()
  const opened = await createEngine({ store: fileStore({ root }), modelId }).open(session)
  const { tokens, messages } = opened.view()
  const ms = performance.now() - startedAt
  const rssMb = maxRss()
  await opened.close()
  return { ms, rssMb, note: `${messages.length} messages, ${tokens} tokens` }
}

async function undoLast(root: string, session: SessionId): Promise<Measured> {
  const store = fileStore({ root })
  let target: Seq | null = null
  for await (const item of store.readBack(session)) {
    if (item.kind !== 'entry' || !isKnown(item.entry) || item.entry.fact.type !== 'boundary') continue
    target = item.entry.seq
    break
  }
  const opened = await createEngine({ store, modelId, window: 1_000_000_000 }).open(session)
  const startedAt = performance.now()
  await opened.undo(target ?? seq(0))
  const { messages } = opened.view()
  const ms = performance.now() - startedAt
  const rssMb = maxRss()
  await opened.close()
  return { ms, rssMb, note: `${messages.length} messages` }
}

async function parseJson(root: string, session: SessionId): Promise<Measured> {
  const startedAt = performance.now()
  let rest = ''
  let length = 0
  for await (const chunk of createReadStream(transcriptOf(root, session), {
    encoding: 'utf8',
    highWaterMark: MB,
  })) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) length += JSON.stringify(JSON.parse(line)).length
  }
  return {
    ms: performance.now() - startedAt,
    rssMb: maxRss(),
    note: `${Math.round(length / MB)} M characters`,
  }
}

/** Leaves a checkpoint of the first half, as if the process that wrote the rest had never come to write one. */
async function staleCheckpoint(root: string, session: SessionId): Promise<Measured> {
  const store = fileStore({ root })
  const leased = await store.lease(session)
  if (!leased.ok || leased.next === null) throw new Error('cannot be opened')
  let state = newState()
  for await (const item of store.read(session, { to: seq(Math.floor(leased.next / 2)) })) {
    if (item.kind !== 'entry') throw new Error(JSON.stringify(item))
    state = advance(state, item.entry, modelTable())
    if (isKnown(item.entry) && item.entry.fact.type === 'boundary') state.fold.evict()
  }
  const put = await store.putCheckpoint(leased.lease, checkpointFor(state))
  if (!put.ok) throw new Error(put.failure.message)
  await store.release(leased.lease)
  return { ms: 0, rssMb: maxRss() }
}

const jobs: Record<Job, (root: string, session: SessionId) => Promise<Measured>> = {
  open: openSession,
  undo: undoLast,
  json: parseJson,
  stale: staleCheckpoint,
}
const maxRss = (): number => Math.round(process.resourceUsage().maxRSS / KB)
const transcriptOf = (root: string, session: SessionId): string => join(root, session, 'transcript.jsonl')
const checkpointOf = (root: string, session: SessionId): string => join(root, session, 'checkpoint.json')

// ---- the table ----

function measure(job: Job, root: string, session: SessionId, heapMb?: number): Measured {
  const heap = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`]
  const child = spawnSync(process.execPath, [...heap, process.argv[1]!, '--job', job, root, session], {
    encoding: 'utf8',
  })
  const line = child.stdout.trim().split('\n').at(-1) ?? ''
  if (child.status === 0) return JSON.parse(line) as Measured
  const why =
    child.stderr.split('\n').find((each) => /Error: |FATAL/.test(each)) ??
    `ended with ${child.signal ?? child.status}`
  return { ms: NaN, rssMb: NaN, note: why.trim() }
}

interface Row extends Measured {
  readonly what: string
  readonly baselineMs: number
}

async function rowsOf(root: string, size: number): Promise<Row[]> {
  const rows: Row[] = []
  const bytes = size * MB
  const shapes = [
    { name: 'boundary near the end', boundaryBytes, hasPin: false },
    { name: 'boundary near the end, pin at the start', boundaryBytes, hasPin: true },
    { name: 'no boundary', boundaryBytes: null, hasPin: false },
  ]
  for (const [index, { name, ...shape }] of shapes.entries()) {
    const session = sessionId(`long-${index}`)
    const entries = await writeTranscript(root, session, { bytes, tailBytes, ...shape })
    const stored = (await stat(transcriptOf(root, session))).size
    process.stderr.write(`${name}: ${entries} entries, ${Math.round(stored / MB)} MB\n`)
    const json = measure('json', root, session)
    const add = (what: string, measured: Measured): void => {
      rows.push({ what: `${name}: ${what}`, baselineMs: json.ms, ...measured })
      process.stderr.write(`  ${what}: ${Math.round(measured.ms)} ms, ${measured.rssMb} MB\n`)
    }
    add('JSON.parse + stringify', json)
    // One that was never made small: in little memory it is refused by name, and not ended by the system.
    if (shape.boundaryBytes === null) add('resume, heap of 256 MB', measure('open', root, session, 256))
    // Opening it without a checkpoint leaves one for the next row.
    add('resume, checkpoint missing', measure('open', root, session))
    add('resume', measure('open', root, session))
    if (shape.boundaryBytes !== null && !shape.hasPin) {
      await rm(checkpointOf(root, session))
      measure('stale', root, session)
      add('resume, checkpoint of the first half', measure('open', root, session))
      add('undo of the boundary right after', measure('undo', root, session))
    }
    await rm(join(root, session), { recursive: true })
  }
  return rows
}

const at = process.argv.indexOf('--job')
if (at !== -1) {
  const [job, root, session] = process.argv.slice(at + 1)
  console.log(JSON.stringify(await jobs[job as Job](root!, sessionId(session!))))
} else {
  const sizeAt = process.argv.indexOf('--size')
  const size = sizeAt === -1 ? 64 : Number(process.argv[sizeAt + 1])
  const root = await mkdtemp(join(tmpdir(), 'pal-bench-'))
  try {
    const rows = await rowsOf(root, size)
    if (process.argv.includes('--json')) console.log(JSON.stringify(rows, null, 2))
    else {
      console.log(`${size} MB${' '.repeat(62)}ms  of JSON   MB`)
      for (const { what, ms, baselineMs, rssMb, note } of rows) {
        const share = (ms / baselineMs).toFixed(3)
        const figures = [Math.round(ms), share, rssMb].map((each) => String(each).padStart(8)).join('')
        console.log(`${what.padEnd(60)}${figures}  ${note ?? ''}`)
      }
    }
  } finally {
    await rm(root, { recursive: true })
  }
}
