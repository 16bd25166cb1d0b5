// Which place of the dial is the default, by the rule: `npm run choose -- FOLDER [--places 0.4,0.6] [--jobs N] [--held-out]`.
//
// The recordings of a folder are played at every measured place, in windows of 200,000 and a million tokens, under both
// lifetimes and at the prices of the recorded models. The rule chooses on those that are tuned on; `--held-out` plays the
// others too and says what the choice does there. What was played is kept under node_modules/.cache/choose, by the code that
// played it, so that a run that was stopped goes on.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  dial,
  playOne,
  policyNamed,
  recordedModel,
  reportOf,
  withoutCopies,
  type Outcome,
  type Policy,
  type Report,
  type Source,
} from '../src/lab/index.ts'
import { chooseDefault } from './choice.ts'
import { defaults } from '../src/settings/defaults.ts'

const windows = [200_000, 1_000_000]
const usualJobs = 2
const root = resolve(import.meta.dirname, '..')
const given = process.argv.slice(2)
const usage = 'npm run choose -- FOLDER [--places 0.4,0.6] [--jobs N] [--held-out]'
const fail = (why: string): never => {
  process.stderr.write(`${why}; usage: ${usage}\n`)
  process.exit(2)
}
const valued = ['--places', '--jobs', '--part']
const valueOf = (flag: string): string | undefined => {
  const at = given.indexOf(flag)
  return at < 0 ? undefined : (given[at + 1] ?? fail(`${flag} needs a value`))
}
for (const word of given)
  if (word.startsWith('--') && ![...valued, '--held-out'].includes(word)) fail(`unknown option ${word}`)
const named = given.find((word, at) => !word.startsWith('-') && !valued.includes(given[at - 1] ?? ''))
const folder = named ?? fail('no folder of recordings was named')
if (!existsSync(folder)) fail(`${folder} is not there`)
const places = valueOf('--places')?.split(',')
for (const place of places ?? [])
  if (policyNamed(`dial-${place}`) === undefined) fail(`${place} is no measured place of the dial`)
const played = dial.filter(({ name }) => places === undefined || places.includes(name.slice('dial-'.length)))
const policies: readonly Policy[] = [policyNamed('hindsight')!, ...played]
const jobs = Number(valueOf('--jobs') ?? usualJobs)
if (!Number.isInteger(jobs) || jobs < 1) fail('--jobs takes a number of one or more')

const filesBelow = (path: string): readonly string[] =>
  readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(path, entry.name)) : [join(path, entry.name)],
  )
const code = createHash('sha256')
for (const file of filesBelow(join(root, 'src')).toSorted())
  if (file.endsWith('.ts') && !file.endsWith('.test.ts') && !/\/src\/(?:cli|companion|gateway)\//u.test(file))
    code.update(readFileSync(file))
const cache = join(root, 'node_modules', '.cache', 'choose', code.digest('hex').slice(0, 16))
mkdirSync(cache, { recursive: true })

const names = readdirSync(folder)
  .filter((name) => /\.jsonl(?:\.gz)?$/u.test(name))
  .toSorted()
const isHeldOut = (file: number): boolean => (file + 1) % defaults.lab.heldOutEvery === 0
const sources = await withoutCopies(names.map((name): Source => ({ kind: 'file', path: join(folder, name) })))

const fileOf = (file: number, window: number): string => join(cache, `${names[file]}-${window}.json`)
function knownOf(file: number, window: number): readonly Outcome[] {
  try {
    const known = JSON.parse(readFileSync(fileOf(file, window), 'utf8')) as readonly Outcome[]
    // Its place among the others may be another than when it was played.
    return known.map((outcome) => ({ ...outcome, file }))
  } catch {
    return []
  }
}

/** Plays what is not known yet of the recordings whose turn it is. */
async function work(part: number, of: number): Promise<void> {
  const turns = [...sources.keys()].filter((file) => given.includes('--held-out') || !isHeldOut(file))
  for (const [at, file] of turns.entries()) {
    if (at % of !== part) continue
    for (const window of windows) {
      const known = knownOf(file, window)
      const missing = policies.filter(
        ({ name }) => !known.some((outcome) => outcome.kind === 'played' && outcome.policy === name),
      )
      if (missing.length === 0) continue
      const outcomes = [...known]
      for await (const outcome of playOne(sources[file]!, file, {
        policies: missing,
        window,
        model: recordedModel,
      }))
        outcomes.push(outcome)
      writeFileSync(fileOf(file, window), JSON.stringify(outcomes))
      process.stderr.write(`${names[file]} at ${window}\n`)
    }
  }
}

const part = valueOf('--part')
if (part !== undefined) {
  await work(Number(part), jobs)
  process.exit(0)
}
const codes = await Promise.all(
  Array.from({ length: jobs }, (_, index) => {
    const args = [join(root, 'scripts', 'run-ts.mjs'), join(root, 'scripts', 'choose.ts'), ...given]
    const child = spawn(process.execPath, [...args, '--jobs', String(jobs), '--part', String(index)], {
      stdio: 'inherit',
    })
    return new Promise<number>((resolve) => child.on('exit', (code) => resolve(code ?? 1)))
  }),
)
if (codes.some((code) => code !== 0)) {
  process.stderr.write('a part of the playing failed; run it again and it goes on\n')
  process.exit(1)
}

const reports = windows.map((window): Report => {
  const outcomes = sources.flatMap((_, file) => knownOf(file, window))
  return reportOf(
    outcomes,
    policies.map(({ name }) => name),
    { window, model: recordedModel },
  )
})
const percent = (share: number | null): string => (share === null ? '–' : `${(share * 100).toFixed(1)} %`)
const million = (tokens: number): string => (tokens / 1e6).toFixed(1)
function tell(group: string): string | null {
  const { candidates, chosen } = chooseDefault(
    reports,
    policies.map(({ name }) => name),
    group,
  )
  const bound = candidates.find(({ policy }) => policy === 'hindsight')?.total ?? 0
  process.stdout.write(`${group}: both windows, both lifetimes, millions of input-token equivalents\n`)
  for (const { policy, total, moreRounds, words, saidOnce, retention, readiness, isAllowed } of candidates)
    process.stdout.write(
      `  ${policy.padEnd(9)} total ${million(total).padStart(6)}, ${bound === 0 ? '–' : (total / bound).toFixed(2)} of hindsight, ${percent(moreRounds)} more rounds${isAllowed || policy === 'hindsight' ? '' : ' (too many)'}, need ${percent(retention)}, edits ${percent(readiness)}, words ${percent(words)}, said once ${percent(saidOnce)}\n`,
    )
  return chosen
}
const chosen = tell('tuned on')
process.stdout.write(
  `${chosen === null ? 'no place is allowed' : `the rule chooses ${chosen}`}; the default is dial-${defaults.dial.thrift}\n`,
)
if (given.includes('--held-out')) tell('held out')
