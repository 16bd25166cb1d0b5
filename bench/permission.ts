// Permissions, measured: `npm run bench -- permission` prints how long judging takes, beside a baseline.
//   --corpus            the ask rate over every read-only command of the recorded sessions, with the reasons
//   --fuzz=N [--seed=S] N mutated commands; what is let run is really run behind bubblewrap; exit code 1 on a finding
//   --json              the same for programs
import { corpusOr } from '../test/shared-data.ts'
import { askRates } from './permission/ask-rate.ts'
import { fuzzBench } from './permission/fuzz.ts'
import { speed } from './permission/speed.ts'

const REASONS = 12
const words = process.argv.slice(2)
const isJson = words.includes('--json')
const valueOf = (name: string): string | undefined =>
  words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3)

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  process.stderr.write(`--${name} takes a whole number, not ${JSON.stringify(text)}\n`)
  process.exit(2)
}

async function askRate(): Promise<void> {
  const rates = await askRates(corpusOr(words.find((word) => !word.startsWith('--'))))
  if (isJson) {
    process.stdout.write(`${JSON.stringify(rates)}\n`)
    return
  }
  console.table(
    rates.map(({ label, commands, asked }) => ({
      label,
      commands,
      asked,
      'asked %': Math.round((asked / commands) * 1000) / 10,
    })),
  )
  for (const { label, reasons } of rates.filter((row) => row.label === 'read-only')) {
    process.stdout.write(`why commands labelled ${label} are asked about:\n`)
    for (const [reason, commands] of reasons.slice(0, REASONS))
      process.stdout.write(`${String(commands.length).padStart(4)}  ${reason}\n`)
  }
}

const inputs = valueOf('fuzz')
if (words.includes('--fuzz')) wholeNumber('fuzz', '')
if (inputs !== undefined) {
  const seed = valueOf('seed') ?? String(Math.floor(Math.random() * 1_000_000))
  process.exitCode = await fuzzBench(wholeNumber('fuzz', inputs), wholeNumber('seed', seed), isJson)
} else if (words.includes('--corpus')) await askRate()
else {
  const rows = await speed()
  if (isJson) process.stdout.write(`${JSON.stringify(rows)}\n`)
  else console.table(rows)
}
