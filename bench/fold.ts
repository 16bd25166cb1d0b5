// What one more entry costs in a long session: `node scripts/run-ts.mjs bench/fold.ts [--json]`.
// At 1,000, 10,000 and 100,000 entries: taking one more entry into the fold and looking at the view, counting its tokens,
// and writing it through the transcript into a store. The baseline is JSON.parse and JSON.stringify of the same entry.
import { Fold } from '../src/projection/fold.ts'
import { estimateBlocks } from '../src/projection/tokens.ts'
import { inMemoryStore } from '../src/stores/index.ts'
import { answered, call, Pen, result, said, start } from '../src/testing/builders.ts'
import { countingIds, fixedClock, fixedSession } from '../src/testing/builders.ts'
import { encode } from '../src/transcript/codec.ts'
import type { Entry, Fact } from '../src/transcript/fact.ts'
import { emptyTail, step } from '../src/transcript/grammar.ts'
import { Transcript } from '../src/transcript/transcript.ts'

const sizes = [1000, 10_000, 100_000]
const samples = 400
const turnFacts = 5
const output = 'line of output that a tool has printed\n'.repeat(40)

/** The nth fact of a session of plain turns. */
function factAt(at: number): Fact {
  const turn = Math.floor(at / turnFacts)
  switch (at % turnFacts) {
    case 0:
      return said(`look at module ${turn}`)
    case 1:
      return answered([call(`toolu_${turn}`, 'Read', { path: `src/m${turn}.ts` })], {
        id: `msg_${turn}`,
        stop: 'tool_use',
      })
    case 2:
      return result(`toolu_${turn}`, output)
    case 3:
      return answered(`module ${turn} is fine`, { id: `msg_${turn}_end` })
    default:
      return { type: 'turn-end', outcome: 'done' }
  }
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN

/** Median microseconds of a piece of work, over samples that are whole turns. */
async function timed(work: (sample: number) => unknown): Promise<number> {
  const times: number[] = []
  for (let sample = 0; sample < samples; sample++) {
    const startedAt = performance.now()
    for (let step = 0; step < turnFacts; step++) await work(sample * turnFacts + step)
    times.push(((performance.now() - startedAt) * 1000) / turnFacts)
  }
  return median(times)
}

interface Row {
  readonly entries: number
  readonly projectUs: number
  readonly countUs: number
  readonly appendUs: number
  readonly jsonUs: number
}

async function measure(entries: number): Promise<Row> {
  const pen = new Pen()
  const fold = new Fold()
  fold.push(pen.write(start()))
  for (let at = 0; at < entries; at++) fold.push(pen.write(factAt(at)))
  const next: Entry[] = Array.from({ length: samples * turnFacts }, (_, at) =>
    pen.write(factAt(entries + at)),
  )
  const lines = next.map(encode)
  const projectUs = await timed((at) => (fold.push(next[at]!), fold.view().tokens))
  const countUs = await timed((at) => {
    const { fact } = next[at]!
    return 'content' in fact ? estimateBlocks(fact.content) : 0
  })
  const appendUs = await appending(entries)
  const jsonUs = await timed((at) => JSON.stringify(JSON.parse(lines[at]!)).length)
  return { entries, projectUs, countUs, appendUs, jsonUs }
}

/** Through the transcript, with grammar, schema and fold, into memory: what the disk costs is measured elsewhere. */
async function appending(entries: number): Promise<number> {
  const store = inMemoryStore()
  const session = fixedSession()
  const leased = await store.lease(session)
  if (!leased.ok) throw new Error('the session is open elsewhere')
  const fold = new Fold()
  let tail = emptyTail()
  const transcript = new Transcript({ store, clock: fixedClock(), ids: countingIds() }, leased.lease, {
    tail: () => tail,
    prepare: () => Promise.resolve(null),
    refuse: () => null,
    take: (entry) => {
      tail = step(tail, entry)
      fold.push(entry)
    },
  })
  const append = async (fact: Fact): Promise<void> => {
    const written = await transcript.append([fact])
    if (!written.ok) throw new Error(written.failure.message)
  }
  await append(start(session))
  for (let at = 0; at < entries; at++) await append(factAt(at))
  return timed((at) => append(factAt(entries + at)))
}

const rows: Row[] = []
for (const size of sizes) rows.push(await measure(size))
if (process.argv.includes('--json')) console.log(JSON.stringify(rows, null, 2))
else {
  console.log('µs for one more entry (median)   project     count    append      JSON')
  for (const { entries, projectUs, countUs, appendUs, jsonUs } of rows) {
    const figures = [projectUs, countUs, appendUs, jsonUs].map((us) => us.toFixed(1).padStart(10)).join('')
    console.log(`${String(entries).padStart(9)} entries${' '.repeat(12)}${figures}`)
  }
}
