// What the dial costs beside a place of it at an earlier commit: `npm run bench -- dial-against --commit COMMIT [--place 0.4] [--every N] [--in FOLDER] [--json]`.
// Recorded sessions are played by both trees under one model and a window of 200,000 tokens, and what each of them sends is charged
// and measured by the code of this one. The goal was the needs and edits of that commit for 30 % less.
import { readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import * as here from '../src/lab/index.ts'
import { Meter } from '../src/lab/measures.ts'
import { begunWarm, scaledCounter } from '../src/lab/playing/setup.ts'
import { BlockStore, type PlainBlock } from '../src/lab/playing/wire-blocks.ts'
import type { WireRequest } from '../src/model/wire.ts'
import { createCache, findModel, simulatedModels } from '../src/simulator/index.ts'
import { corpusOr } from '../test/shared-data.ts'
import { bundleFolder } from './first-request.ts'
import { treeOf } from './tree-of.ts'

const { dial, importFile, prepareReplay, sharesOf, sum } = here
type Lab = typeof here
type Figures = here.Figures

const goal = 0.7
const model = 'claude-sonnet-5'
const window = 200_000
const lifetimes = ['1h', '5m'] as const
const least = 0.4

const given = process.argv.slice(2)
const valueOf = (flag: string, otherwise = ''): string =>
  given.includes(flag) ? (given[given.indexOf(flag) + 1] ?? otherwise) : otherwise
const commit = valueOf('--commit')
if (commit === '') {
  process.stdout.write('dial-against: name a commit, as npm run bench -- dial-against --commit COMMIT\n')
  process.exit()
}
const place = valueOf('--place', '0.4')
const every = Number(valueOf('--every', '1'))
const folder = corpusOr(given.includes('--in') ? valueOf('--in') : undefined)

type Prepared = ReturnType<typeof prepareReplay>
type Sent = readonly WireRequest[]

/** What one walk sent, charged and measured. */
function measured({ script, needs, digests }: Prepared, sent: Sent, lifetime: '5m' | '1h'): Figures {
  const rules = findModel(simulatedModels, model)!
  const counter = scaledCounter(model)
  const cache = createCache({ counter, digests, lifetime })
  const store = new BlockStore()
  const meter = new Meter(needs, { lifetimes: [lifetime], weigh: (block) => counter.block(block, rules) })
  const said: string[] = []
  let [before, lastAt]: [ReadonlySet<PlainBlock>, number | null] = [new Set(), null]
  for (const [index, wire] of sent.entries()) {
    const step = script.steps[index]!
    said.push(...step.typed)
    const shown = wire.messages.map((message) => store.shown(message))
    const request = { ...wire, messages: shown.map(({ message }) => message) }
    const blocks = shown.flatMap((message) => message.blocks)
    const now = new Set(blocks)
    const isLess = [...before].some((block) => !now.has(block))
    before = now
    const at = Math.max(step.at, lastAt ?? 0)
    const usage = cache.account(request, at, Math.max(at, step.answer.at))
    meter.request({
      step: index,
      isCopy: false,
      blocks,
      isRejected: null,
      said,
      freed: isLess ? 1 : 0,
      isSummary: false,
      output: null,
      info: null,
      charges: [{ usage: begunWarm(usage, index === 0 ? script.firstReadTokens : 0), isCold: false }],
    })
    lastAt = at
  }
  return meter.figures()[0]!
}

/** A policy of a tree on one recording: the figures of both lifetimes. */
async function played(lab: Lab, prepared: Prepared, path: string, name: string): Promise<readonly Figures[]> {
  const imported = await lab.importFile(path)
  const policy = lab.policyNamed(name)
  if (!imported.ok || policy === undefined) return []
  const sent: WireRequest[] = []
  await lab.replay(lab.prepareReplay(imported.recording), {
    policy,
    window,
    model,
    watch: (request) => void sent.push(request),
  })
  // One walk for each lifetime, the longer first.
  const half = sent.length / lifetimes.length
  return lifetimes.map((lifetime, at) => measured(prepared, sent.slice(at * half, (at + 1) * half), lifetime))
}

/** The lab of a tree as a module, beside the packages. */
async function labOf(tree: string): Promise<Lab> {
  const outfile = join(bundleFolder('dial-against'), 'lab.mjs')
  await build({
    entryPoints: [join(tree, 'src', 'lab', 'index.ts')],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  })
  try {
    return (await import(pathToFileURL(outfile).href)) as Lab
  } finally {
    rmSync(dirname(outfile), { recursive: true })
  }
}

const tree = treeOf(commit)
const earlier = await labOf(tree)
rmSync(tree, { recursive: true })
const files = readdirSync(folder)
  .filter((name) => /\.jsonl(?:\.gz)?$/u.test(name))
  .toSorted()
  .filter((_, at) => at % every === 0)
const [old, ...places] = [
  { label: `${place} at ${commit}`, lab: earlier, policy: `dial-${place}` },
  ...dial
    .filter(({ name }) => Number(name.slice('dial-'.length)) >= least)
    .map(({ name }) => ({ label: name.slice('dial-'.length), lab: here, policy: name })),
]
const figures = new Map<string, Figures[]>()
for (const [at, file] of files.entries()) {
  const path = join(folder, file)
  const imported = await importFile(path)
  if (!imported.ok) continue
  const prepared = prepareReplay(imported.recording)
  for (const { label, lab, policy } of [old!, ...places]) {
    const both = await played(lab, prepared, path, policy)
    figures.set(label, [...(figures.get(label) ?? []), ...both])
  }
  process.stderr.write(`dial-against: ${at + 1} of ${files.length} sessions\n`)
}

const percent = (share: number | null): string => ((share ?? 1) * 100).toFixed(1)
const before = sharesOf(sum(figures.get(old!.label) ?? []))
const rows = [...figures].map(([label, all]) => {
  const shares = sharesOf(sum(all))
  const keeps =
    (shares.retention ?? 1) >= (before.retention ?? 1) && (shares.readiness ?? 1) >= (before.readiness ?? 1)
  return { label, ...shares, of: shares.equivalents / before.equivalents, keeps }
})
if (given.includes('--json')) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`)
else {
  process.stdout.write('place                cost   of it   total    need   edits   words  rounds\n')
  for (const row of rows) {
    const cells = [
      (row.equivalents / 1e6).toFixed(1),
      row.of.toFixed(2),
      (row.total / 1e6).toFixed(1),
      percent(row.retention),
      percent(row.readiness),
      percent(row.words),
      percent(row.moreRounds),
    ]
    process.stdout.write(`${row.label.padEnd(17)}${cells.map((cell) => cell.padStart(8)).join('')}\n`)
  }
  const keeping = rows.slice(1).filter(({ keeps }) => keeps)
  const [best] = keeping.toSorted((one, other) => one.of - other.of)
  process.stdout.write(
    best === undefined
      ? `no place keeps the needs and the edits of ${old!.label}: the goal is missed\n`
      : `the cheapest place that keeps both, ${best.label}, is at ${best.of.toFixed(2)} of its cost; the goal, ${goal}, is ${best.of <= goal ? 'met' : 'missed'}\n`,
  )
}
