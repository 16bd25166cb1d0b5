// How long `pal` takes to start: `pal --version` from start to exit, and `pal -p` from start until a local server has its
// first request. Beside them an empty Node and a script that does nothing but `fetch`, which is what loading Node's own
// client costs whoever makes a request. The goal is under 3 times that script.
// `node scripts/run-ts.mjs bench/start.ts [--json] [--runs N]`
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundledPal, environmentOf, firstRequest, numberOf } from './first-request.ts'

const runs = numberOf('--runs', 20)
const goal = 3
const empty = 'node -e 0'
const bare = 'a bare fetch, to its request'
const folder = mkdtempSync(join(tmpdir(), 'pal-start-'))
const environment = environmentOf(folder)

function wholeRun(...words: readonly string[]): number {
  const begun = performance.now()
  const { status } = spawnSync(process.execPath, words, { env: environment })
  const took = performance.now() - begun
  if (status !== 0) throw new Error(`node ${words.join(' ')} ended with ${status}`)
  return took
}

const taken: Record<string, number[]> = {}
try {
  const pal = await bundledPal(folder)
  // With the library beside it, in chunks that both share: what the package holds.
  const shipped = join(folder, 'shipped')
  mkdirSync(shipped)
  const packed = await bundledPal(shipped, { withLibrary: true })
  const fetching = join(folder, 'fetch.js')
  writeFileSync(fetching, `await fetch(process.env.ANTHROPIC_BASE_URL, { method: 'POST', body: '{}' })`)
  const measures: Record<string, () => number | Promise<number>> = {
    [empty]: () => wholeRun('-e', '0'),
    [bare]: () => firstRequest({ words: [fetching], cwd: folder, environment }),
    'pal --version': () => wholeRun(pal, '--version'),
    'pal -p, to its first request': () =>
      firstRequest({ words: [pal, '-p', 'hello'], cwd: folder, environment }),
    'as shipped: pal --version': () => wholeRun(packed, '--version'),
    'as shipped: pal -p': () => firstRequest({ words: [packed, '-p', 'hello'], cwd: folder, environment }),
  }
  // Turn by turn, so that a busy moment of the machine strikes all of them.
  for (let run = 0; run < runs; run++) {
    for (const [name, measure] of Object.entries(measures)) (taken[name] ??= []).push(await measure())
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

const sorted = (name: string): readonly number[] => (taken[name] ?? []).toSorted((a, b) => a - b)
const best = (name: string): number => sorted(name)[0] ?? 0
const median = (name: string): number => sorted(name)[Math.floor(runs / 2)] ?? 0
const ratio = (of: number, to: number): number => Number((of / to).toFixed(2))
const figures = Object.keys(taken).map((name) => ({
  name,
  bestMs: Math.round(best(name)),
  medianMs: Math.round(median(name)),
  bestRatio: ratio(best(name), best(empty)),
  medianRatio: ratio(median(name), median(empty)),
  bestToFetch: ratio(best(name), best(bare)),
  medianToFetch: ratio(median(name), median(bare)),
}))
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ runs, goal, figures })}\n`)
else {
  for (const { name, bestMs, medianMs, ...one } of figures) {
    process.stdout.write(
      `${name.padEnd(30)} best ${String(bestMs).padStart(4)} ms (${one.bestRatio}× node, ${one.bestToFetch}× fetch), median ${String(medianMs).padStart(4)} ms (${one.medianRatio}×, ${one.medianToFetch}×)\n`,
    )
  }
  process.stdout.write(
    `goal: pal -p under ${goal}× of a bare fetch; ${runs} runs, Node ${process.versions.node}\n`,
  )
}
