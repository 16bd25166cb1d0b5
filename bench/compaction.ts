// How long compaction without a model takes and what it leaves: `node scripts/run-ts.mjs bench/compaction.ts [CORPUS] [--json]`
//
// First, plans over spans of 10 MB of different kinds, beside JSON.stringify of the same parts. Goal: under a second.
// Then, where the corpus is there, the recorded sessions played through the ladder at two windows: whenever the view
// reaches the threshold it is compacted, and the next entries go on from there. Usage is left out, since it speaks of
// views that were never compacted, so sizes are our own estimate. Three ways of getting the text: extracted, the notes that
// the simulator's rule-based model kept while the session went on, and that model's summary. It writes by rules, so the
// figures speak of sizes, kept words and our own time, and not of how well a real model writes.
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { plan, type Plan } from '../src/compaction/ladder.ts'
import { Bystander, type Way } from './compaction-ways.ts'
import { importFile } from '../src/lab/importers/import-file.ts'
import { toEntries } from '../src/lab/entries.ts'
import { roomOf, type Room } from '../src/projection/budget.ts'
import { Fold } from '../src/projection/fold.ts'
import { answered, call, Pen, result, said, start } from '../src/testing/builders.ts'
import { countingIds, fixedClock } from '../src/testing/builders.ts'
import type { Fact, StoredEntry } from '../src/transcript/fact.ts'
import { isKnown } from '../src/transcript/fact.ts'
import { corpusFolder } from '../test/shared-data.ts'

const BYTES = 10_000_000
const PIECE = 20_000
const RUNS = 3
const WINDOWS = [200_000, 60_000]
const WAYS: readonly Way[] = ['extractive', 'notes', 'model']
const MAX_OUTPUT = 32_000

function roomFor(window: number, fixed: number): Room {
  const outcome = roomOf({ window, maxOutput: MAX_OUTPUT, fixed })
  if (!outcome.ok) throw new Error(outcome.why)
  return outcome.room
}

// ---- spans of 10 MB ----

const prose =
  'The cause was a stale token in src/auth/login.ts, so we decided to use parseToken instead of 1234. '
const chinese = '我们决定改用新的解析库，因为旧的库在第三章会出错。'
const fill = (text: string): string => text.repeat(Math.ceil(PIECE / Buffer.byteLength(text)))
const kinds: Record<string, (index: number) => Fact[]> = {
  'tool results': (index) => [
    answered([call(`c${index}`, 'Read', { file_path: `src/file${index % 90}.ts` })], { id: `m${index}` }),
    result(`c${index}`, fill(`export const value = ${index}\n`), index % 7 === 0),
  ],
  'answers of the model': (index) => [said(`go on ${index}`), answered(fill(prose), { id: `m${index}` })],
  'words of the user, Chinese': (index) => [said(fill(chinese)), answered('好的', { id: `m${index}` })],
  'many small rounds': (index) =>
    Array.from({ length: 40 }, (_, at): Fact[] => [
      answered([call(`c${index}_${at}`, 'Bash', { command: `npm test -- ${at}` })], {
        id: `m${index}_${at}`,
      }),
      result(`c${index}_${at}`, prose.repeat(5), at % 5 === 0),
    ]).flat(),
}

/** Time of the processor, not of the clock: other work on the machine must not count. */
function bestMs(run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let index = 0; index < RUNS; index++) {
    const begun = process.cpuUsage()
    run()
    best = Math.min(best, process.cpuUsage(begun).user / 1000)
  }
  return Math.round(best)
}

const spans = Object.entries(kinds).map(([name, factsOf]) => {
  const fold = new Fold()
  const pen = new Pen()
  fold.push(pen.write(start()))
  for (let index = 0; index < BYTES / PIECE; index++)
    for (const fact of factsOf(index)) fold.push(pen.write(fact))
  const room = roomFor(WINDOWS[0]!, 0)
  let made: Plan | null = null
  const ms = bestMs(() => {
    const outcome = plan(fold, room, { trigger: 'auto' })
    made = outcome.ok ? outcome.plan : null
  })
  const done = made as Plan | null
  return {
    span: name,
    tokens: fold.view().tokens,
    after: done?.tokensAfter ?? 0,
    rung: done?.steps.join('+') ?? 'refused',
    'plan ms': ms,
    'stringify ms': bestMs(() => JSON.stringify([...fold.parts()])),
  }
})

// ---- the corpus ----

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

async function played(
  entries: readonly StoredEntry[],
  window: number,
  way: Way,
): Promise<{ plans: Plan[]; ms: number[]; refused: number; updates: number }> {
  const fold = new Fold()
  const bystander = new Bystander(fold, way)
  const pen = new Pen()
  const found = { plans: [] as Plan[], ms: [] as number[], refused: 0, updates: 0 }
  for (const entry of entries) {
    if (!isKnown(entry)) continue
    const { fact } = entry
    fold.push(pen.write(fact.type === 'assistant-message' ? { ...fact, usage: undefined } : fact))
    if (fact.type === 'assistant-message') await bystander.hears()
    if (fold.units.last()?.open !== false || fact.type === 'assistant-message') continue
    const { tokens, fixedEstimate, factor } = fold.view()
    const room = roomFor(window, factor * fixedEstimate)
    if (tokens < room.threshold) continue
    const begun = process.cpuUsage()
    const outcome = plan(fold, room, { trigger: 'auto' })
    const planMs = process.cpuUsage(begun).user / 1000
    const text = outcome.ok && outcome.plan.span !== null ? await bystander.text() : null
    const wrote = process.cpuUsage()
    const made = outcome.ok && text !== null ? bystander.plan(room, outcome.plan, text) : outcome
    found.ms.push(planMs + process.cpuUsage(wrote).user / 1000)
    if (!made.ok) found.refused++
    else found.plans.push(made.plan)
    if (made.ok) fold.push(pen.write(boundaryOf(made.plan)))
  }
  return { ...found, updates: bystander.updates }
}

function boundaryOf({ edits, tokensBefore, tokensAfter }: Plan): Fact {
  return {
    type: 'boundary',
    trigger: 'auto',
    source: 'extractive',
    layer: 'autocompact',
    asked: 'automatic',
    edits,
    why: 'a measure',
    tokensBefore,
    tokensAfter,
    tokensFreed: tokensBefore - tokensAfter,
    messagesSummarised: 0,
  }
}

async function corpus(folder: string) {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl.gz')).sort()
  const pairs = WINDOWS.flatMap((window) => WAYS.map((way) => ({ window, way })))
  const rows = pairs.map(({ window, way }) => ({
    window,
    way,
    sessions: 0,
    updates: 0,
    plans: [] as Plan[],
    ms: [] as number[],
    refused: 0,
  }))
  for (const name of names) {
    const imported = await importFile(join(folder, name))
    if (!imported.ok) throw new Error(imported.failure.message)
    const { entries } = toEntries(imported.recording, { ids: countingIds(), clock: fixedClock() })
    for (const row of rows) {
      const { plans, ms, refused, updates } = await played(entries, row.window, row.way)
      row.updates += updates
      if (ms.length > 0) row.sessions++
      row.plans.push(...plans)
      row.ms.push(...ms)
      row.refused += refused
    }
  }
  return rows.map(({ window, way, sessions, plans, ms, refused, updates }) => {
    const summaries = plans.filter(({ audit }) => audit !== null)
    return {
      window,
      way,
      sessions,
      'texts of that kind': `${summaries.filter(({ source }) => source === way).length} of ${summaries.length}`,
      'updates of notes': updates,
      'summaries / clearings / refused': `${summaries.length} / ${plans.length - summaries.length} / ${refused}`,
      'before, median': median(summaries.map(({ tokensBefore }) => tokensBefore)),
      'after, median': median(summaries.map(({ tokensAfter }) => tokensAfter)),
      'after, largest': Math.max(0, ...summaries.map(({ tokensAfter }) => tokensAfter)),
      'retention, median': median(summaries.map(({ audit }) => audit!.retention)),
      'without ledger': median(summaries.map(({ audit }) => audit!.retentionBefore)),
      'user messages not whole': summaries.reduce(
        (sum, { audit }) => sum + audit!.userMessages.shortened + audit!.userMessages.pointed,
        0,
      ),
      'ms, median': Math.round(median(ms)),
      'ms, largest': Math.round(Math.max(0, ...ms)),
    }
  })
}

const words = process.argv.slice(2)
const folder = words.find((word) => !word.startsWith('--')) ?? corpusFolder
const recorded = existsSync(folder) ? await corpus(folder) : null
if (words.includes('--json')) console.log(JSON.stringify({ spans, corpus: recorded }, null, 2))
else {
  console.table(spans)
  if (recorded === null) console.log(`no corpus at ${folder}: the recorded sessions were left out`)
  else for (const row of recorded) console.table(row)
}
