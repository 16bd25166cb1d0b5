// How long a program waits for its first request: from the start of the process, and from the import of the adapter,
// until a local server has the first byte. Beside it an empty Node, and a bare `fetch` of the same bytes.
// `node scripts/run-ts.mjs bench/adapter-start.ts [--json]`
import { fork, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import * as http from 'node:http'
import { dirname, join } from 'node:path'
import type { AddressInfo } from 'node:net'
import { smallProgram } from './small-program.ts'

const runs = 15
const root = dirname(import.meta.dirname)
const folder = mkdtempSync(join(root, 'node_modules', '.adapter-start-'))

const program = `
import { anthropicModel } from './src/wires/anthropic/adapter.ts'
const model = anthropicModel({ apiKey: 'k', baseUrl: process.argv[2], clock: Date, random: Math.random, settings: { maxRetries: 0 } })
for await (const event of model.stream({ model: 'm', body: '{}', betas: [], source: 'main' }, new AbortController().signal)) void event
process.exit()
`
const bare = `await fetch(process.argv[2], { method: 'POST', body: '{}' }); process.exit()`

/** Milliseconds from the start of the process until its request is here. */
async function firstRequest(file: string): Promise<number> {
  const server = http.createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const arrived = new Promise<number>((resolve) =>
    server.on('request', (_request, response) => {
      resolve(performance.now())
      response.writeHead(400).end('{}')
    }),
  )
  const begun = performance.now()
  const child = fork(file, [url])
  const took = (await arrived) - begun
  await new Promise((resolve) => child.once('exit', resolve))
  server.close()
  return took
}

function emptyNode(): number {
  const begun = performance.now()
  spawnSync(process.execPath, ['-e', '0'])
  return performance.now() - begun
}

const taken: Record<string, number[]> = {}
try {
  const measures: Record<string, () => number | Promise<number>> = { 'empty Node, start to exit': emptyNode }
  const files = {
    'bare fetch, start to first request': await smallProgram(folder, 'bare', bare, { packages: 'external' }),
    'adapter, packages as installed, start to first request': await smallProgram(
      folder,
      'installed',
      program,
      { packages: 'external' },
    ),
    'adapter, bundled, start to first request': await smallProgram(folder, 'bundled', program),
  }
  for (const [name, file] of Object.entries(files)) measures[name] = () => firstRequest(file)
  // Turn by turn, so that a busy moment of the machine strikes all of them.
  for (let run = 0; run < runs; run++) {
    for (const [name, measure] of Object.entries(measures)) (taken[name] ??= []).push(await measure())
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
const figures = Object.entries(taken).map(([name, ms]) => {
  const sorted = [...ms].sort((a, b) => a - b).map(Math.round)
  return { name, bestMs: sorted[0] ?? 0, medianMs: sorted[Math.floor(runs / 2)] ?? 0 }
})
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(figures)}\n`)
else {
  for (const { name, bestMs, medianMs } of figures) {
    process.stdout.write(
      `${name.padEnd(56)} best ${String(bestMs).padStart(4)} ms, median ${String(medianMs).padStart(4)} ms\n`,
    )
  }
}
