// Loops of 200 calls in real frameworks against the simulator over HTTP, untouched and through each way into `palimpsest/fit`: no request
// refused, every one within the window, the cache read all along, and a bill below that of the untouched loop. Part of
// `npm run clients`; `--steps N` for shorter loops, `--only ai-sdk,langchain,agents`.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { programOf } from '../examples/run.ts'
import { call, createSimulator, scripted, type Bill, type ScriptStep } from '../src/simulator/index.ts'
import { window } from './fit-loops/work.ts'
import { createVerdicts, installed } from './on-demand.ts'

const { values } = parseArgs({
  options: { steps: { type: 'string', default: '200' }, only: { type: 'string' } },
  strict: false,
})
const steps = Number(values['steps'])
/** A session is asked once for each run: the same calls in so many runs. */
const runs = 10
/** Against hanging, not a measure of speed. */
const mostMs = 1_200_000
const done = 'All pages are read.'
const root = dirname(import.meta.dirname)

interface Framework {
  readonly name: string
  readonly label: string
  readonly ways: readonly string[]
  readonly runs?: number
  readonly needs: { readonly name: string; readonly packages: readonly string[] } | null
}
const agents = { name: 'fit-agents', packages: ['@openai/agents@0.20.0', 'openai@7.53.0', 'zod@4.6.7'] }
const frameworks: readonly Framework[] = [
  { name: 'ai-sdk', label: 'AI SDK 7.0.169', ways: ['prepareStep', 'middleware'], needs: null },
  {
    name: 'langchain',
    label: 'LangChain.js 1.5.14',
    ways: ['middleware'],
    needs: {
      name: 'fit-langchain',
      packages: ['langchain@1.5.14', '@langchain/core@1.2.13', '@langchain/anthropic@1.5.11', 'zod@4.6.7'],
    },
  },
  { name: 'agents', label: 'OpenAI Agents SDK 0.20.0', ways: ['filter'], needs: agents },
  { name: 'agents', label: 'OpenAI Agents SDK 0.20.0, sessions', ways: ['session'], runs, needs: agents },
]

interface Ran {
  readonly requests: number
  readonly refused: readonly string[]
  readonly largest: number
  readonly read: number
  readonly written: number
  readonly cost: number
  /** Requests that read nothing from the cache. */
  readonly cold: number
  readonly said: string
  readonly failures: readonly string[]
}

async function ran({ name, needs, runs: times = 1 }: Framework, way: string): Promise<Ran | null> {
  const packages = needs === null ? null : installed(needs.name, needs.packages)
  if (needs !== null && packages === null) return null
  const parts = Array.from({ length: times }, (_, part): readonly ScriptStep[] => [
    ...Array.from({ length: steps / times }, (__, at): ScriptStep => [
      call('read', { page: part * 1000 + at }),
    ]),
    done,
  ])
  const simulator = createSimulator({ answerer: scripted(parts.flat()) })
  const { url } = await simulator.start()
  const cache = packages ?? join(root, 'node_modules', '.cache')
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'fit-loop-'))
  try {
    const [program, ...words] = await programOf(join(import.meta.dirname, 'fit-loops', `${name}.ts`), folder)
    const env = { ...process.env, FIT_WAY: way, FIT_URL: url, FIT_RUNS: String(times) }
    const out = await new Promise<string>((resolve) => {
      execFile(program, words, { cwd: folder, timeout: mostMs, env }, (_, stdout, stderr) =>
        resolve(stdout.trim() === '' ? JSON.stringify({ text: stderr.slice(-1500) }) : stdout),
      )
    })
    const told = JSON.parse(out.trim().split('\n').at(-1)!) as {
      text?: unknown
      failures?: readonly string[]
    }
    const requests = simulator.log.requests.filter(({ bill, error }) => bill !== null || error !== null)
    const bills = requests.flatMap(({ bill }) => (bill === null ? [] : [bill]))
    const sum = (of: (bill: Bill) => number): number => bills.reduce((all, bill) => all + of(bill), 0)
    return {
      requests: requests.length,
      refused: requests.flatMap(({ error }) => (error === null ? [] : [error.message])),
      largest: Math.max(0, ...bills.map(({ promptTokens }) => promptTokens)),
      read: sum(({ readTokens }) => readTokens),
      written: sum(({ promptTokens, readTokens }) => promptTokens - readTokens),
      cost: sum(({ dollars }) => dollars ?? 0),
      cold: bills.filter(({ readTokens }) => readTokens === 0).length,
      said: typeof told.text === 'string' ? told.text : JSON.stringify(told.text),
      failures: told.failures ?? [],
    }
  } finally {
    await simulator.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const verdicts = createVerdicts()
const wanted = typeof values['only'] === 'string' ? values['only'].split(',') : null
const rows: string[] = []
for (const framework of frameworks.filter(({ name }) => wanted?.includes(name) ?? true)) {
  const { label, ways } = framework
  const untouched = await ran(framework, 'untouched')
  if (untouched === null) {
    verdicts.skip(label, `${framework.needs!.packages.join(' ')} cannot be installed here`)
    continue
  }
  const expected = steps + (framework.runs ?? 1)
  for (const way of ['untouched', ...ways]) {
    const made = way === 'untouched' ? untouched : await ran(framework, way)
    if (made === null) continue
    const { requests, refused, largest, read, written, cost, cold, said, failures } = made
    rows.push(
      `| ${label} | ${way} | ${requests} | ${refused.length} | ${largest} | ${read} | ${written} | $${cost.toFixed(2)} | ${((100 * cost) / untouched.cost).toFixed(0)}% |`,
    )
    const what = `${label}, ${way}`
    verdicts.check(
      `${what}: comes to its end`,
      said === done && requests === expected,
      `${requests}: ${said}`,
    )
    verdicts.check(
      `${what}: no request is refused`,
      refused.length === 0 && failures.length === 0,
      [...refused, ...failures].join('; '),
    )
    if (way === 'untouched') continue
    verdicts.check(`${what}: every request is within the window`, largest < window, String(largest))
    // The first are too short for a cache, and behind a compaction nothing is cached.
    verdicts.check(
      `${what}: the cache is read`,
      cold <= 3 + requests / 12 && read > 2 * written,
      `${cold} cold, ${read} read, ${written} written`,
    )
    verdicts.check(
      `${what}: costs less than the untouched loop`,
      cost < untouched.cost,
      `$${cost} and $${untouched.cost}`,
    )
  }
}
console.log(
  '\n| framework | way | requests | refused | largest | cache read | written | cost | of untouched |\n|---|---|---|---|---|---|---|---|---|',
)
for (const row of rows) console.log(row)
process.exitCode = verdicts.exitCode()
