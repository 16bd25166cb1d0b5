// `npm run evals`: how well a model does with our prompts, tools and compactions. Costs money, so it says how much at most
// and asks first. `npm run evals -- --help` lists the options.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { bundledPal, bundleFolder, palOfCommit } from '../bench/first-request.ts'
import { comparison, table, type Summary } from './report.ts'
import { passMark, play, type Run, type Side } from './run.ts'
import { tasks } from './tasks/index.ts'

const usage = `Usage: npm run evals -- [options] [TASK …]

Plays tasks with \`pal -p\` in temporary repositories and judges the outcome by program. Without names: all of them.

Options:
  --list                 the tasks, and what each wants
  --model NAME           the model; that of the settings when left out
  --runs N               how often each is played (3); two of three must pass
  --cap DOLLARS          most all of it may cost (5)
  --run-cap DOLLARS      most one run may cost (0.5)
  --yes                  do not ask before spending
  --system FILE          with this text instead of the system prompt
  --against COMMIT       play the same with \`pal\` of another commit, and compare
  --against-system FILE  play the same with another system prompt, and compare
  --json FILE            write everything that came out there
  --simulate good|bad    offline: the simulator answers with each task's own script, one that passes or one that fails

ANTHROPIC_API_KEY says who pays, ANTHROPIC_BASE_URL names another server, also a local one.
Exit codes: 0 all passed, 1 some failed, 2 usage error, 3 the cap was reached.
`

function wrong(why: string): never {
  process.stderr.write(`${why}\nnpm run evals -- --help lists the options\n`)
  process.exit(2)
}

function optionsOf() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        list: { type: 'boolean', default: false },
        yes: { type: 'boolean', default: false },
        model: { type: 'string' },
        runs: { type: 'string', default: '3' },
        cap: { type: 'string', default: '5' },
        'run-cap': { type: 'string', default: '0.5' },
        system: { type: 'string' },
        against: { type: 'string' },
        'against-system': { type: 'string' },
        json: { type: 'string' },
        simulate: { type: 'string' },
      },
    })
  } catch (error) {
    return wrong((error as Error).message)
  }
}

const { values, positionals } = optionsOf()
if (values.help) {
  process.stdout.write(usage)
  process.exit(0)
}
if (values.list) {
  for (const { name, wants } of tasks) process.stdout.write(`${name}: ${wants}\n`)
  process.exit(0)
}
const unknown = positionals.filter((name) => !tasks.some((task) => task.name === name))
if (unknown.length > 0) wrong(`no such task: ${unknown.join(', ')}; --list names them`)
const amount = (flag: 'runs' | 'cap' | 'run-cap'): number => {
  const value = Number(values[flag])
  if (!(value > 0) || (flag === 'runs' && !Number.isInteger(value)))
    wrong(`--${flag} takes a number above 0, not ${JSON.stringify(values[flag])}`)
  return value
}
const textOf = (file: string | undefined): string | undefined => {
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    return wrong(`${file} cannot be read: ${(error as Error).message}`)
  }
}
const simulate = values.simulate
const isSide = (text: string | undefined): text is Side | undefined =>
  text === undefined || text === 'good' || text === 'bad'
if (!isSide(simulate)) wrong(`--simulate takes good or bad, not ${JSON.stringify(simulate)}`)
const passed = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL'] as const
const environment = Object.fromEntries(
  passed.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
) as Record<string, string>
if (simulate === undefined && Object.keys(environment).length === 0)
  wrong(
    'no model can be reached: set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL, or play offline with --simulate good',
  )

const [runs, cap, runCap] = [amount('runs'), amount('cap'), amount('run-cap')]
const chosen = positionals.length === 0 ? tasks : tasks.filter(({ name }) => positionals.includes(name))
const sides = [
  { label: 'now', commit: undefined, system: textOf(values.system) },
  ...(values.against === undefined
    ? []
    : [{ label: values.against, commit: values.against, system: textOf(values.system) }]),
  ...(values['against-system'] === undefined
    ? []
    : [{ label: values['against-system'], commit: undefined, system: textOf(values['against-system']) }]),
]

async function mayBegin(): Promise<boolean> {
  if (simulate !== undefined || values.yes) return true
  const what = `${chosen.length} tasks, ${runs} runs each${sides.length > 1 ? `, ${sides.length} sides` : ''}, model ${values.model ?? 'of the settings'}`
  const question = `${what}: at most $${(cap * sides.length).toFixed(2)} (a model without a known price counts as $0). Begin? [y/N] `
  if (!process.stdin.isTTY) {
    process.stderr.write(`${question}\nnobody can be asked here; --yes begins without asking\n`)
    return false
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await lines.question(question)
  lines.close()
  return /^y(es)?$/i.test(answer.trim())
}

const scratch = mkdtempSync(join(tmpdir(), 'pal-evals-build-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))

/** The command of this tree, or of another commit. */
async function palOf(commit: string | undefined): Promise<string> {
  const folder = bundleFolder('evals')
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  if (commit === undefined) return bundledPal(folder)
  return (await palOfCommit(commit, folder, scratch)) ?? wrong(`${commit} is no commit of this repository`)
}

const progress =
  (label: string) =>
  (task: string, run: number, { passed: isGood, spent }: Run): void => {
    process.stderr.write(
      `${label}  ${task}  ${run}/${runs}  ${isGood ? 'passed' : 'failed'}  $${spent.dollars.toFixed(3)}\n`,
    )
  }

if (!(await mayBegin())) process.exit(2)
const results: Summary[] = []
for (const { label, commit, system } of sides) {
  const pal = await palOf(commit)
  const played = await play(chosen, {
    pal,
    environment,
    model: values.model,
    system,
    runs,
    cap,
    runCap,
    simulate,
    onRun: progress(label),
  })
  results.push({ label, ...played })
}
for (const result of results) process.stdout.write(`${table(result)}\n\n`)
const [now, ...others] = results
for (const other of others) process.stdout.write(`${comparison(now!, other)}\n\n`)
if (values.json !== undefined)
  writeFileSync(
    values.json,
    `${JSON.stringify({ model: values.model ?? null, runs, passMark: passMark(runs), simulate: simulate ?? null, sides: results }, null, 2)}\n`,
  )
process.exitCode = now!.left.length > 0 ? 3 : now!.rows.every((row) => row.passed) ? 0 : 1
