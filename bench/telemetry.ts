// What telemetry costs: one more entry through a store without it and with it, and what loading its sender takes beside the
// SDK of OpenTelemetry (which has no exporter in it yet). Processor time, the least of some runs.
// `npm run bench -- telemetry [--json]`
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { smallProgram } from './small-program.ts'
import { modelTable } from '../src/model/models.ts'
import { inMemoryStore } from '../src/stores/index.ts'
import { createSender, observed } from '../src/telemetry/index.ts'
import type { Entry, Fact } from '../src/transcript/fact.ts'
import { seq, sessionId, uuid } from '../src/transcript/ids.ts'
import type { Store } from '../src/transcript/store.ts'

const root = dirname(import.meta.dirname)
const rounds = 4000
const usage = { input: 10, cacheRead: 20_000, cacheWrite: 300, output: 200 }
const model = 'claude-sonnet-4-6'

/** The facts of one round: a request, an answer with a call, its result. */
const round = (at: number): readonly Fact[] => [
  { type: 'request-sent', source: 'main', model, upTo: seq(at), hash: 'h', tokens: 20_000, marks: [] },
  {
    type: 'assistant-message',
    content: [{ type: 'tool_use', id: `c${at}`, name: 'Bash', input: { command: 'ls' } }],
    messageId: `m${at}`,
    stop: 'tool_use',
    model,
    usage,
  },
  {
    type: 'tool-result',
    call: `c${at}` as never,
    content: [{ type: 'text', text: 'x'.repeat(500) }],
    isError: false,
  },
]

async function appended(store: Store): Promise<number> {
  const session = sessionId('bench')
  const leased = await store.lease(session)
  if (!leased.ok) throw new Error('no lease')
  const begin: readonly Fact[] = [
    { type: 'session-start', session, purpose: 'main' },
    { type: 'user-message', content: [{ type: 'text', text: 'go' }], origin: 'typed' },
  ]
  const facts = [...begin, ...Array.from({ length: rounds }, (_, at) => round(at)).flat()]
  const entries = facts.map((fact, at): Entry => ({
    v: 1,
    seq: seq(at),
    uuid: uuid(`u${at}`),
    parent: null,
    at,
    fact,
  }))
  const start = process.cpuUsage()
  for (const entry of entries) await store.append(leased.lease, [entry], entry.seq, 'soon')
  const { user, system } = process.cpuUsage(start)
  return (user + system) / entries.length
}

async function least(make: () => Store): Promise<number> {
  let best = Infinity
  for (let run = 0; run < 7; run++) best = Math.min(best, await appended(make()))
  return best
}

const sender = () =>
  createSender({
    endpoint: 'http://127.0.0.1:9',
    resource: { service: 'b', version: '0' },
    now: Date.now,
    tell: () => undefined,
  })
const plain = await least(() => inMemoryStore())
const again = await least(() => inMemoryStore())
const on = await least(() => {
  const { recorder } = sender()
  recorder.onChange = null
  return observed(inMemoryStore(), { port: recorder, models: modelTable(), now: Date.now }).store
})

const folder = mkdtempSync(join(root, 'node_modules', '.telemetry-'))
async function loading(
  name: string,
  contents: string,
): Promise<{ readonly kilobytes: number; readonly cpuMs: number }> {
  const outfile = await smallProgram(folder, name, contents, { minifyWhitespace: true, minifySyntax: true })
  let cpuMs = Infinity
  const code = `const a = process.cpuUsage(); await import(${JSON.stringify(outfile)}); const b = process.cpuUsage(a); console.log((b.user + b.system) / 1000); process.exit()`
  for (let run = 0; run < 9; run++) {
    const ended = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })
    cpuMs = Math.min(cpuMs, Number(ended.stdout))
  }
  return { kilobytes: Math.round(statSync(outfile).size / 1024), cpuMs: Math.round(cpuMs * 10) / 10 }
}
const own = await loading(
  'own',
  `import { createSender } from './src/telemetry/sender.ts'; globalThis.x = createSender`,
)
const sdk = await loading(
  'sdk',
  `import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
   import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
   globalThis.x = [BasicTracerProvider, BatchSpanProcessor, MeterProvider, PeriodicExportingMetricReader]`,
)
rmSync(folder, { recursive: true, force: true })

const figures = {
  entryMicroseconds: { without: plain, withoutAgain: again, with: on },
  loading: { own, sdk },
}
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
else
  process.stdout.write(
    [
      `one more entry, µs of processor time (store in memory, ${rounds * 3} entries)`,
      `  telemetry off       ${plain.toFixed(1)} (measured again: ${again.toFixed(1)})`,
      `  telemetry on        ${on.toFixed(1)}`,
      `loading what sends    KB bundled   ms of processor time`,
      `  own sender          ${String(own.kilobytes).padStart(10)}   ${own.cpuMs}`,
      `  SDK, no exporter    ${String(sdk.kilobytes).padStart(10)}   ${sdk.cpuMs}`,
      '',
    ].join('\n'),
  )
