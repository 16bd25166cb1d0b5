// Recorded sessions under the prices and cache rules of each wire: `npm run bench -- wire-costs [FOLDER] [--json]`; with no folder over the
// sessions that are made up. What is played is the same everywhere: our layers (`standard`) and everything sent
// (`append-only`), decided at the prices of the model in question. Prefixes are cached alike, by marks or unasked, so that read
// and written tokens agree; what differs is what they cost, how long they live, and on Gemini whether they are there at all:
// its figure is for a cache that always hits, beside one that never does.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { load, sampleSources, type Source } from '../src/lab/source.ts'
import { policies } from '../src/lab/policies/list.ts'
import { noFigures, sharesOf, sum, type Figures } from '../src/lab/measures.ts'
import { prepareReplay, replay, type Lifetime } from '../src/lab/replay.ts'
import { lookUp, modelTable, type ModelInfo } from '../src/model/models.ts'
import { defaults } from '../src/settings/defaults.ts'
import { geminiWire } from '../src/wires/gemini/wire.ts'
import { openAiResponsesWire } from '../src/wires/openai-responses/wire.ts'
import { anthropicWire } from '../src/wires/anthropic/wire.ts'

const window = 200_000
const models = [
  ['anthropic', 'claude-sonnet-4-6'],
  ['openai', 'gpt-6.1-sol'],
  ['openai', 'gpt-6-sol'],
  ['openai', 'gpt-5.5'],
  ['gemini', 'gemini-4-argon'],
  ['gemini', 'gemini-3.1-pro'],
] as const
const wires = { anthropic: anthropicWire, openai: openAiResponsesWire, gemini: geminiWire }
const chosen = policies.filter(({ name }) => name === 'standard' || name === 'append-only')

function sourcesIn(folder: string): readonly Source[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names
    .filter((name) => /\.jsonl?(?:\.gz)?$/.test(name))
    .sort()
    .map((name) => ({ kind: 'file', path: join(folder, name) }))
}

const folder = process.argv.slice(2).find((word) => !word.startsWith('--'))
const limit = Number(
  process.argv.find((word) => word.startsWith('--limit='))?.slice('--limit='.length) ?? Infinity,
)
const sources = (folder === undefined ? sampleSources : sourcesIn(folder)).slice(0, limit)

interface Row {
  readonly model: string
  readonly policy: string
  readonly figures: Record<Lifetime, Figures>
}
const rows = new Map<string, Row>()
let played = 0
let skipped = 0
for (const source of sources) {
  const imported = await load(source)
  if (!imported.ok) {
    skipped++
    continue
  }
  const prepared = prepareReplay(imported.recording)
  played++
  if (process.stderr.isTTY)
    process.stderr.write(`\r${played} of ${sources.length}: ${imported.recording.name}   `)
  for (const [, model] of models) {
    const charged = infoOf(model)
    for (const policy of chosen) {
      const { figures } = await replay(prepared, { policy, window, model: defaults.preset.model, charged })
      const key = `${model} ${policy.name}`
      const before = rows.get(key)?.figures ?? { '5m': noFigures, '1h': noFigures }
      rows.set(key, {
        model,
        policy: policy.name,
        figures: { '5m': sum([before['5m'], figures['5m']]), '1h': sum([before['1h'], figures['1h']]) },
      })
    }
  }
}

function infoOf(model: string): ModelInfo {
  const info = lookUp(modelTable(), model)
  if (info === null) throw new Error(`no row for ${model}`)
  return info
}

/** Everything at the price of plain input: what a cache that never hits would cost. */
function uncached(figures: Figures, info: ModelInfo): number {
  const tokens = figures.fresh + figures.read + figures.written5m + figures.written1h
  return (tokens * (info.prices?.input ?? 0)) / 1_000_000
}

const table = [...rows.values()].flatMap(({ model, policy, figures }) => {
  const kind = models.find(([, name]) => name === model)![0]
  const info = infoOf(model)
  const lives = wires[kind].cacheRules(info).lifetimes
  // A lifetime between the two that are played lies between their figures.
  const columns: readonly Lifetime[] = lives.includes('5m') && lives.length === 1 ? ['5m'] : ['5m', '1h']
  return columns.map((lifetime) => {
    const of = figures[lifetime]
    const { hitRate, retention, visibility } = sharesOf(of)
    return {
      model,
      policy,
      lifetime,
      dollars: of.dollars,
      lookUps: of.recoveryDollars,
      total: of.dollars + of.recoveryDollars,
      uncached: uncached(of, info),
      hitRate,
      retention,
      visibility,
    }
  })
})

if (process.argv.includes('--json'))
  process.stdout.write(`${JSON.stringify({ played, skipped, table }, null, 2)}\n`)
else {
  process.stdout.write(`${played} sessions, ${skipped} files that are none; a window of ${window} tokens\n\n`)
  process.stdout.write(
    '| model | policy | lifetime | cost | look-ups | total | never a hit | read share | need kept | in sight |\n',
  )
  process.stdout.write('|---|---|---|---|---|---|---|---|---|---|\n')
  const money = (value: number): string => `$${value.toFixed(2)}`
  const share = (value: number | null): string => (value === null ? '' : `${(value * 100).toFixed(1)} %`)
  for (const row of table)
    process.stdout.write(
      `| ${row.model} | ${row.policy} | ${row.lifetime} | ${money(row.dollars)} | ${money(row.lookUps)} | ${money(row.total)} | ` +
        `${money(row.uncached)} | ${share(row.hitRate)} | ${share(row.retention)} | ${share(row.visibility)} |\n`,
    )
}
