// What parallel forks read from the cache: `node scripts/run-ts.mjs bench/forks.ts [--json]`.
// A session of about 150,000 tokens over HTTP against the simulator, then three forks of it at the same time. The share is
// of the parent's prefix, as its last request left it in the cache; the baseline is the same forks as plain requests
// without a cache.
import { createEngine } from '../src/engine/engine.ts'
import { anthropicModel } from '../src/wires/anthropic/adapter.ts'
import { lookUp, modelTable, price } from '../src/model/models.ts'
import { usageOf } from '../src/wires/usage.ts'
import { createSimulator, type LoggedRequest } from '../src/simulator/index.ts'
import { inMemoryStore } from '../src/stores/index.ts'
import { systemClock } from '../src/transcript/ids.ts'

const modelId = 'claude-sonnet-4-6'
const wantedTokens = 150_000
const turnWords = 12_000
const forks = 3

const words = (count: number, seed: number): string =>
  Array.from({ length: count }, (_, at) => `w${(seed * 7919 + at * 31) % 9973}`).join(' ')

const simulator = createSimulator({
  answerer: {
    answer: ({ turn }) => ({ content: [{ type: 'text', text: `answer ${turn}` }], stop_reason: 'end_turn' }),
  },
})
const { url } = await simulator.start()
const model = anthropicModel({ apiKey: 'bench', baseUrl: url, clock: systemClock, random: Math.random })
const session = await createEngine({ store: inMemoryStore(), modelId, model, system: words(2000, 1) }).open()
for (let turn = 0; session.view().tokens < wantedTokens; turn++) {
  for await (const event of session.send(words(turnWords, turn)))
    if (event.type === 'turn-end' && event.failure !== null) throw new Error(event.failure.message)
}
const parent = simulator.log.last()!
const prefix = readOf(parent) + writtenOf(parent)

function readOf(request: LoggedRequest): number {
  return request.usage?.cache_read_input_tokens ?? 0
}
function writtenOf(request: LoggedRequest): number {
  return request.usage?.cache_creation_input_tokens ?? 0
}

const info = lookUp(modelTable(), modelId)!
function dollars(request: LoggedRequest): { readonly paid: number; readonly uncached: number } {
  const usage = usageOf(request.usage!)
  const input = usage.input + usage.cacheRead + usage.cacheWrite
  const plain = { input, cacheRead: 0, cacheWrite: 0, output: usage.output }
  return { paid: price(info, usage)?.total ?? 0, uncached: price(info, plain)?.total ?? 0 }
}

const rows = []
for (const writesCache of [false, true]) {
  simulator.log.clear()
  const directives = Array.from({ length: forks }, (_, at) => `Task ${at}: ${words(50, at)}`)
  const startedAt = performance.now()
  const outcomes = await Promise.all(
    directives.map((directive) => session.fork({ purpose: 'agent', directive, writesCache })),
  )
  const ms = performance.now() - startedAt
  if (outcomes.some(({ outcome }) => outcome !== 'done')) throw new Error(JSON.stringify(outcomes))
  for (const [index, request] of simulator.log.requests.entries()) {
    const share = readOf(request) / prefix
    rows.push({
      writesCache,
      fork: index + 1,
      prefix,
      read: readOf(request),
      written: writtenOf(request),
      share,
      ms,
      ...dollars(request),
    })
  }
}
await session.close()
await simulator.stop()

if (process.argv.includes('--json')) console.log(JSON.stringify(rows, null, 2))
else {
  console.log(`a session of ${prefix} tokens in the cache, ${forks} forks at a time`)
  for (const { writesCache, fork, read, written, share, paid, uncached } of rows) {
    const kind = writesCache ? 'agent' : 'one request'
    const money = `$${paid.toFixed(4)} (without a cache $${uncached.toFixed(4)}, ${(uncached / paid).toFixed(1)} times)`
    console.log(
      `${kind.padEnd(12)} fork ${fork}: read ${read} (${(share * 100).toFixed(2)} %), wrote ${written}, ${money}`,
    )
  }
}
