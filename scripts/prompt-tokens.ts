// `npm run prompt-tokens [-- --commit COMMIT] [--json]`: what the part costs that every request pays for, text by text, beside
// what it cost before its texts were rewritten. Both sides are measured off the first request of the real `pal -p`, with our
// own count and paths of one length. Without --commit the earlier side is the table kept beside the test; with it that
// commit is built and measured; `--record` writes the table anew.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundledPal, bundleFolder, environmentOf, firstRequest, palOfCommit } from '../bench/first-request.ts'
import { estimateText } from '../src/projection/tokens.ts'

/** The commit before the texts were rewritten. */
const earlier = '50d1d98'
const recorded = join(import.meta.dirname, '..', 'test', 'prompts', 'fixed-part-before.json')

const cases = {
  'everything on': { teammates: true, autoMemory: true },
  'agents and memory off': { agents: false, memory: false },
} as const
type Case = keyof typeof cases
type Rows = Readonly<Record<string, number>>
type Table = Readonly<Record<Case, Rows>>

interface Request {
  readonly system: string | readonly { readonly text: string }[]
  readonly tools: readonly { readonly name: string }[]
}

const { values } = parseArgs({
  options: {
    commit: { type: 'string' },
    record: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'prompt-tokens-')))
const bundles: string[] = []
process.on('exit', () => {
  for (const folder of [scratch, ...bundles]) rmSync(folder, { recursive: true, force: true })
})
const bundleIn = (): string => {
  const folder = bundleFolder('prompt-tokens')
  bundles.push(folder)
  return folder
}

/** Parts of the system prompt by what they are about, on either side, so that they stand beside each other. */
const topics: readonly (readonly [topic: string, begins: RegExp])[] = [
  ['identity', /^You are Palimpsest/u],
  ['trust', /^# Trust|^Text you write is shown/u],
  ['working', /^# Working|^Look before you change/u],
  ['safety', /^# Safety|^Before anything that is hard/u],
  ['tools', /^# Tools|^Use Read, Grep and Glob/u],
  ['replies', /^# Replies|^Be plain and exact|^Answer in as few words/u],
  ['permission', /^Read-only calls|^Calls that only look/u],
  [
    'memory',
    /^# Memory|^You have a memory|^Four types|^Not for memory|^Saving takes|^Who a memory|^Read memories/u,
  ],
  ['environment', /^Session began|^Working folder/u],
  ['context', /^# Context|^Results of old tool calls/u],
  ['length of a response', /^One response holds/u],
]
const nameOf = (text: string): string =>
  `system: ${topics.find(([, begins]) => begins.test(text))?.[0] ?? `${text.slice(0, 40)} …`}`

async function measured(pal: string): Promise<Table> {
  const rows: Partial<Record<Case, Rows>> = {}
  for (const [name, settings] of Object.entries(cases) as [Case, object][]) {
    const place = mkdtempSync(join(scratch, 'place-'))
    const [home, project] = [join(place, 'home'), join(place, 'project')]
    mkdirSync(join(home, '.palimpsest'), { recursive: true })
    mkdirSync(project)
    execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: project })
    writeFileSync(join(home, '.palimpsest', 'settings.json'), JSON.stringify(settings))
    let body = ''
    await firstRequest({
      words: [pal, '-p', 'hello'],
      cwd: project,
      environment: environmentOf(home),
      saw: (text) => (body ||= text),
    })
    rows[name] = rowsOf(JSON.parse(plain(body, place)) as Request)
  }
  return rows as Table
}

/** A path takes the same room wherever it lies. */
const plain = (body: string, place: string): string =>
  body.replaceAll(place, '').replaceAll(/\/projects\/[^/\s"\\]+/gu, '/projects/SLUG')

function rowsOf({ system, tools }: Request): Rows {
  const texts = typeof system === 'string' ? [system] : system.map(({ text }) => text)
  const parts = texts.flatMap((text) => text.split(/\n\n(?=# |[A-Z])/u)).filter((text) => text.trim() !== '')
  const rows = new Map<string, number>()
  const add = (name: string, tokens: number): unknown => rows.set(name, (rows.get(name) ?? 0) + tokens)
  for (const part of parts) add(nameOf(part.trim()), estimateText(part))
  for (const tool of tools) add(tool.name, estimateText(JSON.stringify(tool)))
  return Object.fromEntries(rows)
}

const sum = (rows: Rows, which = /./u): number =>
  Object.entries(rows).reduce((all, [name, tokens]) => all + (which.test(name) ? tokens : 0), 0)

function shown(name: string, before: Rows, now: Rows, label: string): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])]
  const isSystem = (text: string): boolean => text.startsWith('system: ')
  const ordered = [...names.filter(isSystem), ...names.filter((text) => !isSystem(text))]
  const cell = (tokens: number | undefined): string =>
    (tokens === undefined ? '-' : String(tokens)).padStart(8)
  const lines = ordered.map((text) => `${cell(before[text])} ${cell(now[text])}  ${text}`)
  const totals = [
    ['system prompt', /^system: /u],
    ['tools', /^(?!system: )/u],
    ['all', /./u],
  ] as const
  return [
    name,
    `${label.padStart(8)} ${'now'.padStart(8)}  text`,
    ...lines,
    ...totals.map(([text, which]) => `${cell(sum(before, which))} ${cell(sum(now, which))}  = ${text}`),
  ].join('\n')
}

async function sideOf(commit: string): Promise<Table> {
  process.stderr.write(`building ${commit} …\n`)
  const pal = await palOfCommit(commit, bundleIn(), scratch)
  if (pal !== null) return measured(pal)
  process.stderr.write(
    `${commit} is no commit of this repository; a shallow clone has too few (git fetch --unshallow)\n`,
  )
  process.exit(2)
}

const commit = values.commit ?? earlier
const before =
  values.record || values.commit !== undefined
    ? await sideOf(commit)
    : (JSON.parse(readFileSync(recorded, 'utf8')) as Table)
if (values.record) writeFileSync(recorded, `${JSON.stringify(before, null, 2)}\n`)
const now = await measured(await bundledPal(bundleIn()))
process.stdout.write(
  values.json
    ? `${JSON.stringify({ commit, before, now }, null, 2)}\n`
    : `${(Object.keys(cases) as Case[]).map((name) => shown(name, before[name], now[name], commit)).join('\n\n')}\n`,
)
