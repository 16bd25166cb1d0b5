// Recorded sessions under the prices and cache rules of each wire: `npm run bench -- wire-costs [--in FOLDER] [--limit N] [--json]`.
// Each session is played as that provider would have charged it: our layers (`standard`) and everything sent (`append-only`),
// decided at its prices and by its cache: breakpoints or prefixes unasked, lifetime, least size, steps, what a write costs. Gemini
// promises no hit, so its rows say how often what is there is read. Sessions for development and those held out are apart.
// Half of the sessions go to a second process; what comes out does not depend on it.
import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { recordingsAt } from '../src/cli/replay/replay.ts'
import { noFigures, sharesOf, sum, type Figures } from '../src/lab/measures.ts'
import { policyNamed } from '../src/lab/policies/list.ts'
import { prepareReplay, replay, replayOnce, type Prepared } from '../src/lab/replay.ts'
import { load, sampleSources, type Source } from '../src/lab/source.ts'
import { lookUp, modelTable, type ModelInfo } from '../src/model/models.ts'
import { defaults } from '../src/settings/defaults.ts'
import { anthropicWire } from '../src/wires/anthropic/wire.ts'
import { geminiWire } from '../src/wires/gemini/wire.ts'
import { openAiResponsesWire } from '../src/wires/openai-responses/wire.ts'
import type { Wire } from '../src/wires/wire.ts'
import { corpusFolder, hasCorpus } from '../test/shared-data.ts'

const window = 200_000
const policies = ['append-only', 'standard'] as const

/** A model under the cache of its wire. `hits`: how often a prefix that is there is read. */
const charged: readonly (readonly [wire: Pick<Wire, 'cacheRules'>, model: string, hits: number])[] = [
  [anthropicWire, 'claude-sonnet-4-6', 1],
  [openAiResponsesWire, 'gpt-6.1-sol', 1],
  [openAiResponsesWire, 'gpt-6-sol', 1],
  [openAiResponsesWire, 'gpt-5.5', 1],
  [geminiWire, 'gemini-4-argon', 1],
  [geminiWire, 'gemini-4-argon', 0.5],
  [geminiWire, 'gemini-4-argon', 0],
  [geminiWire, 'gemini-3.1-pro', 1],
]

/** The figures of one session by the name of their row. */
type Rows = Readonly<Record<string, Figures>>
interface Done {
  readonly file: number
  /** Null: no recording. */
  readonly rows: Rows | null
}

const option = (name: string): string | undefined => {
  const at = process.argv.indexOf(`--${name}`)
  return at === -1 ? undefined : process.argv[at + 1]
}

async function sources(): Promise<readonly Source[]> {
  const folder = option('in') ?? (hasCorpus ? corpusFolder : undefined)
  if (folder === undefined) return sampleSources
  const found = await recordingsAt(folder, { err: (text) => void process.stderr.write(text) })
  if (!('length' in found)) {
    process.stderr.write(`${found.message}\n`)
    process.exit(2)
  }
  return found.slice(0, Number(option('limit') ?? Infinity)).map((path) => ({ kind: 'file', path }))
}

function infoOf(model: string): ModelInfo {
  const info = lookUp(modelTable(), model)
  if (info === null) throw new Error(`no row for ${model}`)
  return info
}

const key = (model: string, lifetime: string, hits: number, policy: string): string =>
  [model, lifetime, hits, policy].join('|')

async function played(prepared: Prepared): Promise<Rows> {
  const rows: Record<string, Figures> = {}
  for (const name of policies) {
    const policy = policyNamed(name)!
    const common = { policy, window, model: defaults.preset.model }
    for (const [wire, model, hits] of charged) {
      const info = infoOf(model)
      const cache = wire.cacheRules(info)
      if (cache.kind === 'explicit') {
        const { figures } = await replay(prepared, { ...common, charged: { info } })
        for (const lifetime of ['5m', '1h'] as const)
          rows[key(model, lifetime, hits, name)] = figures[lifetime]
      } else {
        const { figures } = await replayOnce(prepared, {
          ...common,
          charged: { info, cache, hitShare: hits },
        })
        rows[key(model, cache.lifetimes[0]!, hits, name)] = figures
      }
    }
  }
  return rows
}

async function play(
  all: readonly Source[],
  part: number,
  of: number,
  tell: (done: Done) => void,
): Promise<void> {
  for (const [file, source] of all.entries()) {
    if (file % of !== part) continue
    const imported = await load(source)
    tell({ file, rows: imported.ok ? await played(prepareReplay(imported.recording)) : null })
  }
}

const parts = 2
async function main(): Promise<void> {
  const all = await sources()
  const done: Done[] = []
  const began = Date.now()
  const tell = (each: Done): void => {
    done.push(each)
    const seconds = Math.round((Date.now() - began) / 1000)
    if (process.stderr.isTTY)
      process.stderr.write(`\r${done.length} of ${all.length} sessions, ${seconds} s   `)
  }
  if (availableParallelism() === 1 || all.length < parts) await play(all, 0, 1, tell)
  else {
    const child = fork(process.argv[1]!, [...process.argv.slice(2), '--part', '1'])
    child.on('message', (each: Done) => tell(each))
    const ended = new Promise<number | null>((resolve) => {
      child.on('exit', resolve)
    })
    await play(all, 0, parts, tell)
    if ((await ended) !== 0) throw new Error('the second process failed')
  }
  if (process.stderr.isTTY) process.stderr.write('\n')
  const isHeldOut = (file: number): boolean => all.length > 1 && (file + 1) % defaults.lab.heldOutEvery === 0
  const groups = [
    ['for development', done.filter(({ file }) => !isHeldOut(file))],
    ['held out', done.filter(({ file }) => isHeldOut(file))],
    ['all', done],
  ] as const
  const tables = groups.map(([group, each]) => {
    const rows = each.flatMap(({ rows: own }) => (own === null ? [] : [own]))
    return { group, sessions: rows.length, skipped: each.length - rows.length, table: tableOf(rows) }
  })
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(tables, null, 2)}\n`)
  else for (const table of tables) print(table)
}

interface Row {
  readonly model: string
  readonly lifetime: string
  readonly hits: number
  readonly policy: string
  readonly dollars: number
  readonly lookUps: number
  readonly total: number
  /** Of what `append-only` costs there. */
  readonly share: number
  readonly read: number | null
  readonly kept: number | null
  readonly inSight: number | null
  readonly rejected: number
}

function tableOf(sessions: readonly Rows[]): readonly Row[] {
  const names = Object.keys(sessions[0] ?? {})
  const sums = new Map(
    names.map((name) => [name, sum(sessions.map((each) => each[name] ?? noFigures))] as const),
  )
  const paid = ({ dollars, recoveryDollars }: Figures): number => dollars + recoveryDollars
  return names
    .map((name) => {
      const [model = '', lifetime = '', hits = '', policy = ''] = name.split('|')
      const of = sums.get(name)!
      const plain = sums.get(key(model, lifetime, Number(hits), 'append-only'))!
      const { hitRate, retention, visibility } = sharesOf(of)
      return {
        model,
        lifetime,
        hits: Number(hits),
        policy,
        dollars: of.dollars,
        lookUps: of.recoveryDollars,
        total: paid(of),
        share: paid(of) / paid(plain),
        read: hitRate,
        kept: retention,
        inSight: visibility,
        rejected: of.rejected,
      }
    })
    .sort((left, right) => place(left) - place(right))
}

/** In the order of the models, both policies together. */
const place = ({ model, hits, lifetime, policy }: Row): number =>
  charged.findIndex(([, name, share]) => name === model && share === hits) * 10 +
  (lifetime === '1h' ? 2 : 0) +
  (policy === 'standard' ? 1 : 0)

function print(group: {
  readonly group: string
  readonly sessions: number
  readonly skipped: number
  readonly table: readonly Row[]
}): void {
  const money = (value: number): string => `$${value.toFixed(2)}`
  const share = (value: number | null): string => (value === null ? '' : `${(value * 100).toFixed(1)}%`)
  process.stdout.write(
    `\n${group.group}: ${group.sessions} sessions, ${group.skipped} files that are none; a window of ${window.toLocaleString('en')} tokens\n\n` +
      '| model | cache | policy | cost | look-ups | total | of append-only | cache read | need kept | in sight | refused |\n' +
      '|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n',
  )
  for (const row of group.table) {
    const cache = row.hits === 1 ? row.lifetime : `${row.lifetime}, hits ${row.hits * 100}%`
    const cells = [
      row.model,
      cache,
      row.policy,
      money(row.dollars),
      money(row.lookUps),
      money(row.total),
      share(row.share),
      share(row.read),
      share(row.kept),
      share(row.inSight),
      String(row.rejected),
    ]
    process.stdout.write(`| ${cells.join(' | ')} |\n`)
  }
}

const isChild = option('part') !== undefined
if (isChild)
  await play(await sources(), Number(option('part')), parts, (done) => {
    process.send!(done)
  })
else await main()
