// A thousand turns in one session: `node scripts/run-ts.mjs bench/turns.ts [--turns N] [--json]`.
// Over HTTP against the simulator in a process of its own, with the file store, a call in every turn, and the
// oldest turns snipped whenever the view has grown over a limit. Printed: time of a turn and memory in use, in the
// first, the second and the last hundred; the baseline is a bare request to the same server at the same moments.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createEngine } from '../src/engine/engine.ts'
import { anthropicModel } from '../src/wires/anthropic/adapter.ts'
import type { View } from '../src/projection/view.ts'
import { call, createSimulator, text } from '../src/simulator/index.ts'
import { fileStore } from '../src/stores/index.ts'
import type { Tool } from '../src/tools/tool.ts'
import type { Fact } from '../src/transcript/fact.ts'
import { systemClock } from '../src/transcript/ids.ts'

const modelId = 'claude-sonnet-4-6'
const snipAboveTokens = 20_000
const keptMessages = 12
const resultChars = 2000
const measuredTurns = 100
const MB = 1024 * 1024

async function serve(): Promise<void> {
  const simulator = createSimulator({
    log: { requests: 10, bodies: 1 },
    answerer: {
      answer: ({ request, turn }) => {
        const last = request.messages.at(-1)?.content
        const isResult = typeof last !== 'string' && last?.some((block) => block.type === 'tool_result')
        return isResult || request.tools === undefined
          ? { content: [text(`done with ${turn}`)], stop_reason: 'end_turn' }
          : { content: [call('look', { turn }, `toolu_${turn}`)], stop_reason: 'tool_use' }
      },
    },
  })
  process.stdout.write((await simulator.start()).url)
}

/** What a model that prunes itself would leave out: everything but the newest turns, once the view has grown. */
function snipped(view: View): readonly Fact[] {
  if (view.tokens < snipAboveTokens) return []
  const messages = [...view.messages]
  let end = messages.length - keptMessages
  while (end > 0 && messages[end]!.parts[0]!.kind !== 'input') end--
  if (end <= 1) return []
  const edits = [{ kind: 'drop', from: messages[0]!.from, to: messages[end - 1]!.to }] as const
  const freed = messages.slice(0, end).reduce((sum, message) => sum + message.estimate, 0)
  const tokensFreed = Math.round(view.factor * freed)
  return [{ type: 'view-edit', layer: 'snip', asked: 'model', edits, why: 'done with', tokensFreed }]
}

interface Sample {
  readonly turn: number
  readonly ms: number
  readonly bareMs: number
  readonly heapMb: number
  readonly rssMb: number
  readonly tokens: number
}

async function measure(): Promise<void> {
  const at = process.argv.indexOf('--turns')
  const turns = at === -1 ? 1000 : Number(process.argv[at + 1])
  const server = spawn(process.execPath, [process.argv[1]!, '--serve'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [url] = (await once(server.stdout, 'data')) as [Buffer]
  const root = await mkdtemp(join(tmpdir(), 'pal-turns-'))
  try {
    const samples = await run(String(url), root, turns)
    if (process.argv.includes('--json')) console.log(JSON.stringify(samples))
    else print(samples, turns)
  } finally {
    server.kill()
    await rm(root, { recursive: true })
  }
}

async function run(url: string, root: string, turns: number): Promise<readonly Sample[]> {
  const model = anthropicModel({ apiKey: 'bench', baseUrl: url, clock: systemClock, random: Math.random })
  const look: Tool = {
    spec: { name: 'look', description: 'looks', input_schema: { type: 'object', properties: {} } },
    policy: { readOnly: true, results: 'keep', maxResultChars: null },
    parse: (input) => ({ ok: true, input }),
    run: (input) =>
      Promise.resolve({
        content: [{ type: 'text', text: `${JSON.stringify(input)} `.repeat(resultChars / 16) }],
        isError: false,
        facts: snipped(session.view()),
      }),
  }
  const store = fileStore({ root })
  const session = await createEngine({ store, modelId, model, tools: [look], layers: [] }).open()
  const samples: Sample[] = []
  for (let turn = 1; turn <= turns; turn++) {
    const startedAt = performance.now()
    for await (const event of session.send(`Look at module ${turn}.`))
      if (event.type === 'turn-end' && event.failure !== null) throw new Error(event.failure.message)
    const ms = performance.now() - startedAt
    const isMeasured = turn <= 2 * measuredTurns || turn > turns - measuredTurns
    if (!isMeasured) continue
    const bareMs = await bare(url)
    samples.push({ turn, ms, bareMs, ...memory(turn % 10 === 0), tokens: session.view().tokens })
  }
  await session.close()
  return samples
}

async function bare(url: string): Promise<number> {
  const startedAt = performance.now()
  const body = JSON.stringify({
    model: modelId,
    max_tokens: 100,
    messages: [{ role: 'user', content: 'hello' }],
  })
  const headers = {
    'content-type': 'application/json',
    'x-api-key': 'bench',
    'anthropic-version': '2023-06-01',
  }
  await (await fetch(`${url}/v1/messages`, { method: 'POST', headers, body })).text()
  return performance.now() - startedAt
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function memory(isCollected: boolean): { readonly heapMb: number; readonly rssMb: number } {
  if (isCollected) collectGarbage()
  const { heapUsed, rss } = process.memoryUsage()
  return { heapMb: isCollected ? heapUsed / MB : NaN, rssMb: rss / MB }
}

function print(samples: readonly Sample[], turns: number): void {
  const first = samples.filter(({ turn }) => turn <= measuredTurns)
  const second = samples.filter(({ turn }) => turn > measuredTurns && turn <= 2 * measuredTurns)
  const last = samples.filter(({ turn }) => turn > turns - measuredTurns)
  const row = (name: string, part: readonly Sample[]): void => {
    const of = (key: keyof Sample): number => {
      const values = part
        .map((sample) => sample[key])
        .filter((value) => !Number.isNaN(value))
        .sort((a, b) => a - b)
      return values[Math.floor(values.length / 2)] ?? NaN
    }
    const figures = (['ms', 'bareMs', 'heapMb', 'rssMb', 'tokens'] as const).map((key) =>
      of(key).toFixed(1).padStart(10),
    )
    console.log(`${name.padEnd(24)}${figures.join('')}`)
  }
  console.log(
    `median of${' '.repeat(15)}${['turn ms', 'bare ms', 'heap MB', 'rss MB', 'tokens'].map((name) => name.padStart(10)).join('')}`,
  )
  row(`turns 1–${measuredTurns}`, first)
  row(`turns ${measuredTurns + 1}–${2 * measuredTurns}`, second)
  row(`turns ${turns - measuredTurns + 1}–${turns}`, last)
}

if (process.argv.includes('--serve')) await serve()
else await measure()
