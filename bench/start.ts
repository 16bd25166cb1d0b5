// How long `pal` takes to start: `pal --version` from start to exit, and `pal -p` from start until a local server has its
// first request, beside an empty Node in the same run. The goal is under 3 times the empty Node.
// `node scripts/run-ts.mjs bench/start.ts [--json] [--runs N]`
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const given = process.argv.indexOf('--runs')
const runs = given < 0 ? 20 : Number(process.argv[given + 1])
const goal = 3
const root = dirname(import.meta.dirname)
const folder = mkdtempSync(join(tmpdir(), 'pal-start-'))
const pal = join(folder, 'pal.js')

function wholeRun(...words: readonly string[]): number {
  const begun = performance.now()
  const { status } = spawnSync(process.execPath, words)
  const took = performance.now() - begun
  if (status !== 0) throw new Error(`node ${words.join(' ')} ended with ${status}`)
  return took
}

/** Milliseconds from the start of the process until its request is here. */
async function firstRequest(): Promise<number> {
  const server = http.createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const arrived = new Promise<number>((resolve) =>
    server.on('request', (_request, response) => {
      resolve(performance.now())
      response.writeHead(400).end('{}')
    }),
  )
  const environment = {
    PATH: process.env['PATH'],
    HOME: folder,
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: 'k',
  }
  const begun = performance.now()
  const child = spawn(process.execPath, [pal, '-p', 'hello'], {
    cwd: folder,
    env: environment,
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const took = (await arrived) - begun
  await ended
  server.close()
  return took
}

const taken: Record<string, number[]> = {}
try {
  const url = pathToFileURL(join(root, 'scripts', 'bundle.mjs')).href
  const { bundle } = (await import(url)) as { bundle: (folder: string) => Promise<void> }
  await bundle(folder)
  const measures: Record<string, () => number | Promise<number>> = {
    'node -e 0': () => wholeRun('-e', '0'),
    'pal --version': () => wholeRun(pal, '--version'),
    'pal -p, to its first request': firstRequest,
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
const figures = Object.keys(taken).map((name) => ({
  name,
  bestMs: Math.round(best(name)),
  medianMs: Math.round(median(name)),
  bestRatio: Number((best(name) / best('node -e 0')).toFixed(2)),
  medianRatio: Number((median(name) / median('node -e 0')).toFixed(2)),
}))
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ runs, goal, figures })}\n`)
else {
  for (const { name, bestMs, medianMs, bestRatio, medianRatio } of figures) {
    process.stdout.write(
      `${name.padEnd(30)} best ${String(bestMs).padStart(4)} ms (${bestRatio}×), median ${String(medianMs).padStart(4)} ms (${medianRatio}×)\n`,
    )
  }
  process.stdout.write(`goal: under ${goal}× of node -e 0; ${runs} runs, Node ${process.versions.node}\n`)
}
