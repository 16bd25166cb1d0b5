// What a summary by a fork reads from the cache and costs: `node scripts/run-ts.mjs bench/summary.ts [--json]`.
// A session of about 150,000 tokens over HTTP against the simulator, then a summary of it: by a fork on the cached prefix,
// and by a direct call to the same model. The share is of the parent's prefix, as its last request left it in the cache.
import { createEngine } from '../src/engine/engine.ts'
import { modelSummary } from '../src/forks/summary/model-summary.ts'
import { anthropicModel } from '../src/wires/anthropic/adapter.ts'
import { lookUp, modelTable, price } from '../src/model/models.ts'
import { usageOf } from '../src/wires/usage.ts'
import {
  createSimulator,
  jobOf,
  ruleModel,
  type AnswerContext,
  type LoggedRequest,
} from '../src/simulator/index.ts'
import type { WireRequest } from '../src/model/wire.ts'
import { inMemoryStore } from '../src/stores/index.ts'
import { systemClock } from '../src/transcript/ids.ts'

const modelId = 'claude-sonnet-4-6'
const wantedTokens = 150_000
const turnWords = 9000

const words = (count: number, seed: number): string =>
  Array.from({ length: count }, (_, at) => `w${(seed * 7919 + at * 31) % 9973}`).join(' ')

const rules = ruleModel()
/** Long answers, so that there is something to put away; with `refuses` the fork is answered badly. */
function answererOf(refuses: boolean) {
  return {
    answer: (context: AnswerContext) => {
      const isSummary = jobOf(context.request) === 'summary'
      const isFork =
        (context.request.system ?? '').length > 0 && JSON.stringify(context.request.system).length > 2000
      if (isSummary && isFork && refuses)
        return { content: [{ type: 'text', text: 'No.' }], stop_reason: 'end_turn' }
      if (isSummary) return rules.answer(context)
      const text = words(turnWords, context.turn)
      return { content: [{ type: 'text', text }], stop_reason: 'end_turn' }
    },
  }
}

const info = lookUp(modelTable(), modelId)!
const dollarsOf = (request: LoggedRequest): number => price(info, usageOf(request.usage!))?.total ?? 0

async function measured(way: 'fork' | 'direct') {
  const simulator = createSimulator({ answerer: answererOf(way === 'direct') })
  const { url } = await simulator.start()
  const model = anthropicModel({ apiKey: 'bench', baseUrl: url, clock: systemClock, random: Math.random })
  const session = await createEngine({
    store: inMemoryStore(),
    modelId,
    model,
    system: words(2000, 1),
    summariser: modelSummary(),
  }).open()
  for (let turn = 0; session.view().tokens < wantedTokens; turn++)
    for await (const event of session.send(`go on with part ${turn}`))
      if (event.type === 'turn-end' && event.failure !== null) throw new Error(event.failure.message)
  const parent = simulator.log.last()!
  const prefix =
    (parent.usage?.cache_read_input_tokens ?? 0) + (parent.usage?.cache_creation_input_tokens ?? 0)
  const begun = performance.now()
  const made = await session.compact()
  const ms = performance.now() - begun
  const summary = simulator.log.requests.findLast(({ body }) => jobOf(body as WireRequest) === 'summary')!
  const broken: string[] = []
  for await (const event of session.send('and now?')) if (event.type === 'notice') broken.push(event.code)
  await session.close()
  await simulator.stop()
  const read = summary.usage?.cache_read_input_tokens ?? 0
  return {
    way,
    prefix,
    read,
    share: read / prefix,
    written: summary.usage?.cache_creation_input_tokens ?? 0,
    dollars: dollarsOf(summary),
    source: made.source,
    tokensBefore: made.tokensBefore,
    tokensAfter: made.tokensAfter,
    retention: made.audit?.retention ?? null,
    ms: Math.round(ms),
    'notices after': broken,
  }
}

const rows = [await measured('fork'), await measured('direct')]
if (process.argv.includes('--json')) console.log(JSON.stringify(rows, null, 2))
else
  for (const row of rows)
    console.table({
      ...row,
      share: `${(row.share * 100).toFixed(2)} %`,
      'notices after': row['notices after'].join(', ') || 'none',
    })
