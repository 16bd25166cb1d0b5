// `npm run peers -- [FOLDER] [--sessions N] [--clients pal,claude] [--jobs N] [--json]`: recorded sessions played through real
// programs, offline, and through ours, each charged by the simulator at the recorded times. The first sessions by name with a
// hundred calls or more. What was played is kept under node_modules/.cache/peers, so that a run that was stopped goes on; what our own
// code played only as long as that code is the same.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { bundledPal, bundleFolder } from '../bench/first-request.ts'
import { importFile } from '../src/lab/importers/import-file.ts'
import { scriptOf, type Script } from '../src/lab/playing/script.ts'
import { corpusOr } from '../test/shared-data.ts'
import type { Client } from './agents.ts'
import { commandIn, folderOf, play, programs, type Program, type Ran } from './peer-run.ts'
import { ruleRuns, tableOf, type RuleRun } from './peer-table.ts'

/** What is kept is of no use when this changes. */
const format = 1
const leastCalls = 100
const usual = { sessions: 10, jobs: 1 }
const progressMs = 20_000

const given = process.argv.slice(2)
const fail = (why: string): never => {
  process.stderr.write(
    `${why}; usage: npm run peers -- [FOLDER] [--sessions N] [--clients ${programs.map(({ name }) => name).join(',')}] [--jobs N] [--json]\n`,
  )
  process.exit(2)
}
const valueOf = (flag: string): string | undefined => {
  const at = given.indexOf(flag)
  return at < 0 ? undefined : (given[at + 1] ?? fail(`${flag} needs a value`))
}
const numberOf = (flag: string, otherwise: number): number => {
  const value = valueOf(flag)
  if (value === undefined) return otherwise
  return Number.isInteger(Number(value)) && Number(value) > 0
    ? Number(value)
    : fail(`${flag} ${value} is not a number of one or more`)
}
const flags = ['--sessions', '--clients', '--jobs', '--json']
for (const word of given) if (word.startsWith('--') && !flags.includes(word)) fail(`unknown option ${word}`)
const folder = corpusOr(
  given.find(
    (word, at) =>
      !word.startsWith('-') && !['--sessions', '--clients', '--jobs'].includes(given[at - 1] ?? ''),
  ),
)
if (!existsSync(folder)) fail(`${folder} is not there`)
const names = valueOf('--clients')?.split(',')
for (const name of names ?? [])
  if (!programs.some((program) => program.name === name)) fail(`there is no client ${name}`)
const wanted = programs.filter(({ name }) => names?.includes(name) ?? true)
const [mostSessions, jobs] = [numberOf('--sessions', usual.sessions), numberOf('--jobs', usual.jobs)]

const tell = (line: string): void => void process.stderr.write(`${line}\n`)

async function scripts(): Promise<readonly Script[]> {
  const chosen: Script[] = []
  for (const file of readdirSync(folder).toSorted()) {
    if (chosen.length >= mostSessions || !/\.jsonl(?:\.gz)?$/u.test(file)) continue
    const imported = await importFile(join(folder, file))
    if (!imported.ok) {
      tell(imported.failure.message)
      continue
    }
    const script = scriptOf(imported.recording)
    const calls = script.steps.flatMap(({ answer }) =>
      answer.content.filter(({ type }) => type === 'tool_use'),
    )
    if (calls.length >= leastCalls) chosen.push(script)
  }
  return chosen
}

const root = dirname(import.meta.dirname)
const kept = join(root, 'node_modules', '.cache', 'peers')
mkdirSync(kept, { recursive: true })
const palProgram = await bundledPal(bundleFolder('peers'))
const ourCode = createHash('sha256').update(readFileSync(palProgram)).digest('hex').slice(0, 12)
const fileNamed = (...words: readonly string[]): string =>
  join(kept, `${words.join('-')}-${format}.json`.replaceAll(/[^\w.-]+/gu, '_'))
const fileOf = ({ name }: Script, { client, model }: Program): string =>
  fileNamed(`${name}-`, client.label, model, ...(client.packages.length === 0 ? [ourCode] : []))

/** What was kept, or what is made now and kept. */
async function keptOr<T>(file: string, make: () => Promise<T>): Promise<T> {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as T
  const made = await make()
  // Whole or not at all: a run may be stopped at any time.
  writeFileSync(`${file}.new`, JSON.stringify(made))
  renameSync(`${file}.new`, file)
  return made
}

const chosen = await scripts()
if (chosen.length === 0) fail(`no session in ${folder} has ${leastCalls} calls`)
const folders = new Map<Program, string>()
for (const program of wanted) {
  const where = folderOf(program)
  if (where === null)
    tell(`skip ${program.client.label}: ${program.client.packages.join(' ')} cannot be installed here`)
  else folders.set(program, where)
}
const commandOf =
  (where: string) =>
  (client: Client): readonly string[] =>
    where === '' ? [process.execPath, palProgram] : commandIn(where, client)

const tasks = chosen.flatMap((script) => [...folders.keys()].map((program) => ({ script, program })))
const runs: Ran[] = []
let done = 0
async function work(): Promise<void> {
  for (;;) {
    const task = tasks.shift()
    if (task === undefined) return
    const { script, program } = task
    const file = fileOf(script, program)
    const isKept = existsSync(file)
    let told = Date.now()
    const ran = await keptOr(file, () =>
      play(script, program, commandOf(folders.get(program)!), (answers) => {
        if (Date.now() - told < progressMs) return
        told = Date.now()
        tell(`${program.name} ${script.name}: answer ${answers} of ${script.steps.length}`)
      }),
    )
    runs.push(ran)
    done += 1
    const total = done + tasks.length
    tell(
      `${done} of ${total}: ${program.name} ${script.name}: ${ran.answers} of ${ran.total} answers, ${ran.refused} refused, ${ran.failures} failed, bill ${(ran.bill / 1e6).toFixed(2)} M${isKept ? ' (kept)' : ` in ${ran.seconds} s`}`,
    )
    for (const problem of ran.problems) tell(`  ${problem}`)
  }
}
await Promise.all(Array.from({ length: jobs }, work))

const rules: RuleRun[] = []
for (const [index, script] of chosen.entries()) {
  const played = [...folders.keys()]
  const file = fileNamed(`${script.name}-`, 'rules', ourCode, ...played.map(({ name }) => name))
  const ran = await keptOr(file, () => ruleRuns(script, played))
  rules.push(...ran)
  tell(`our rules: ${index + 1} of ${chosen.length} sessions`)
}
process.stdout.write(
  given.includes('--json') ? `${JSON.stringify({ runs, rules }, null, 2)}\n` : tableOf(runs, rules, wanted),
)
process.exitCode = runs.every(({ answers, total }) => answers === total) ? 0 : 1
