// Known facts followed through many extractions and consolidations: `node scripts/run-ts.mjs bench/drift.ts
// [--cycles=12]`. A day is a cycle: five sessions over the preset and HTTP against the simulator's rule-based model, in
// which facts are told for the first time, told again in other words and corrected; beside them a duplicate and a relative
// date are saved by hand; then, a day later by an injected clock, the consolidation. Printed: what survived and what
// drifted, each cycle. This measures the mechanics of code and rules; it says nothing about the quality of a real model.
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { machineFileSystem } from '../src/disk/fs.ts'
import { consolidate } from '../src/forks/memory/consolidation/consolidate.ts'
import { linesOf, plain } from '../src/memory/trust/lines.ts'
import { listMemories, readMemory } from '../src/memory/files.ts'
import { hasRelativeDate } from '../src/memory/format/dates.ts'
import { applyWrite } from '../src/memory/keeping/apply.ts'
import type { Keeper } from '../src/memory/keeping/keeper.ts'
import { createPreset, type Preset } from '../src/preset.ts'
import { projectOf } from '../src/preset/project.ts'
import { createSimulator, ruleModel, type Mode } from '../src/simulator/index.ts'

const cycles = Number(process.argv.find((word) => word.startsWith('--cycles='))?.slice(9) ?? 12)
const perDay = { told: 3, again: 1, corrected: 1, sessions: 5 }
const dayMs = 25 * 60 * 60 * 1000

/** Names that share no beginning, so that the rules of the model do not take one fact for another. */
const syllables = [
  'bar',
  'cel',
  'dun',
  'fer',
  'gol',
  'hab',
  'jun',
  'kep',
  'lom',
  'mir',
  'nas',
  'pol',
  'rud',
  'sel',
  'tov',
  'vin',
]
const nameOf = (n: number, kind: string): string =>
  `${syllables[n % 16]}${syllables[Math.floor(n / 16) % 16]}${kind}`

interface Fact {
  readonly owner: string
  thing: string
  /** What it was before it was corrected. */
  readonly former: string[]
}

interface Row {
  readonly cycle: number
  readonly facts: number
  readonly survive: number
  readonly stale: number
  readonly files: number
  readonly twice: number
  readonly invented: number
  readonly relative: number
  readonly notUsers: number
}

async function follow(mode: { readonly extract: Mode; readonly consolidate: Mode }): Promise<readonly Row[]> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'pal-bench-drift-')))
  const simulator = createSimulator({ answerer: ruleModel({ mode }), log: { requests: 10, bodies: 0 } })
  const { url } = await simulator.start()
  const folder = join(base, 'work')
  await mkdir(folder)
  const found = await projectOf(machineFileSystem, folder)
  if (!found.ok) throw new Error(found.failure.message)
  let ahead = 0
  const preset = createPreset({
    project: found.project,
    home: join(base, 'home', '.palimpsest'),
    settings: {
      model: 'claude-sonnet-4-6',
      sync: 'none',
      notes: false,
      recallModel: 'off',
      agents: false,
      extraction: true,
      dream: false,
    },
    environment: { HOME: join(base, 'home') },
    model: { apiKey: 'none', baseUrl: url },
    clock: { now: () => Date.now() + ahead },
  })
  const rows: Row[] = []
  try {
    const keeper = preset.memoryJobs.options.keepers[0]!
    const facts: Fact[] = []
    const said = new Set<string>()
    for (let cycle = 1; cycle <= cycles; cycle++) {
      await day(preset, keeper, facts, said, cycle)
      ahead += dayMs
      const session = await preset.engine.open()
      const { list, options } = preset.memoryJobs
      await consolidate(options, keeper, session, list.start('dream', session.id, 0), {
        isDry: false,
        isAsked: true,
      })
      await session.close()
      rows.push(await measured(keeper, facts, said, cycle))
    }
  } finally {
    await preset.close()
    await simulator.stop()
    await rm(base, { recursive: true, force: true })
  }
  return rows
}

async function day(
  preset: Preset,
  keeper: Keeper,
  facts: Fact[],
  said: Set<string>,
  cycle: number,
): Promise<void> {
  const messages: string[] = []
  for (let i = 0; i < perDay.told; i++) {
    const n = facts.length
    facts.push({ owner: nameOf(n, 'ard'), thing: nameOf(n, 'ox'), former: [] })
    messages.push(`${facts[n]!.owner} guards ${facts[n]!.thing}.`)
  }
  const older = facts[(cycle * 7) % facts.length]!
  messages.push(`${older.thing} is guarded by ${older.owner}.`)
  const changed = facts[(cycle * 5) % facts.length]!
  changed.former.push(changed.thing)
  changed.thing = nameOf(cycle + 100, 'ix')
  messages.push(`${changed.owner} guards ${changed.thing}.`)
  for (const words of messages.slice(0, perDay.sessions)) {
    said.add(plain(words))
    const session = await preset.engine.open()
    for await (const event of session.send(`Remember that ${words}`)) void event
    await session.close()
  }
  // By hand: the newest fact once more under another name, and something with a day that only today knows.
  const twin = `${facts.at(-1)!.owner} guards ${facts.at(-1)!.thing}.`
  const due = `${nameOf(cycle + 60, 'um')} is due tomorrow.`
  said.add(plain(due))
  for (const [name, body] of [
    [`twin-${cycle}`, twin],
    [`due-${cycle}`, due],
  ] as const) {
    const text = `---\nname: ${name}\ndescription: ${body}\ntype: project\n---\n\n${body}\n`
    const by = {
      kind: 'user',
      trust: 'user',
      session: `hand-${cycle}`,
      message: null,
      from: [],
      at: keeper.clock.now(),
    } as const
    const done = await applyWrite(keeper, [{ file: `${name}.md`, text }], by, { via: 'session' })
    if (!done.ok) throw new Error(done.failure.message)
  }
}

const frame = /^(?:\*\*Why:\*\*|\*\*How to apply:\*\*)/u
const dated = (line: string): string => plain(line.replaceAll(/\d{4}-\d{2}-\d{2}/gu, 'tomorrow'))

async function measured(
  keeper: Keeper,
  facts: readonly Fact[],
  said: ReadonlySet<string>,
  cycle: number,
): Promise<Row> {
  const listed = await listMemories(keeper.fs, keeper.place, { most: Infinity, ledger: keeper.ledger })
  if (!listed.ok) throw new Error(listed.failure.message)
  const lines: string[] = []
  let notUsers = 0
  for (const { file, provenance } of listed.memories) {
    const read = await readMemory(keeper.fs, keeper.place, file, keeper.ledger)
    if (read.ok) lines.push(...linesOf(read.text).facts.filter((line) => !frame.test(line)))
    if (provenance?.trust !== 'user') notUsers++
  }
  const holds = (owner: string, thing: string): boolean =>
    lines.some((line) => line.includes(owner) && line.includes(thing))
  const words = lines.map(plain)
  return {
    cycle,
    facts: facts.length,
    survive: facts.filter(({ owner, thing }) => holds(owner, thing)).length,
    stale: facts.filter(({ owner, former }) => former.some((thing) => holds(owner, thing))).length,
    files: listed.memories.length,
    twice: words.length - new Set(words).size,
    invented: lines.filter((line) => !said.has(dated(line))).length,
    relative: lines.filter(hasRelativeDate).length,
    notUsers,
  }
}

const columns = [
  'cycle',
  'facts',
  'survive',
  'stale',
  'files',
  'twice',
  'invented',
  'relative',
  'notUsers',
] as const
console.log('mechanics of code and a model that follows rules; no word on the quality of a real model')
for (const [name, mode] of [
  ['both good', { extract: 'good', consolidate: 'good' }],
  ['consolidation hostile', { extract: 'good', consolidate: 'hostile' }],
  ['extraction lazy', { extract: 'lazy', consolidate: 'good' }],
] as const) {
  const rows = await follow(mode)
  console.log(`\n${name}`)
  console.log(columns.map((column) => column.padStart(9)).join(''))
  for (const row of rows) console.log(columns.map((column) => String(row[column]).padStart(9)).join(''))
}
