// How fast secrets are looked for: `node scripts/run-ts.mjs bench/redact.ts [--json]`. Each text beside a baseline in the
// same run: JSON.stringify of the same text. Goal: 20 MB/s.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { redact } from '../src/disk/redact.ts'

const MB = 1_000_000
const SIZE = 8 * MB
const RUNS = 5

const folder = join(import.meta.dirname, '..', 'src', 'disk')
const code = readdirSync(folder)
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .map((name) => readFileSync(join(folder, name), 'utf8'))
  .join('\n')
const key = ['ghp', 'a7Kx2Qm9Zt'.repeat(4).slice(0, 36)].join('_')
const texts = {
  code,
  JSON: JSON.stringify(code.split('\n').map((text, line) => ({ line, text, token: `t${line}` }))),
  'a log of settings':
    'PATH=/usr/bin token: none key=value password: x secret = "" at 12:30:59 https://example.com:80/\n',
  'code with a key per 10 KB': `${code.slice(0, 10_000)}\nTOKEN=${key}\n`,
}

/** Time of the processor, not of the clock: other work on the machine must not count. */
function bestMs(run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let index = 0; index < RUNS; index++) {
    const start = process.cpuUsage()
    run()
    best = Math.min(best, process.cpuUsage(start).user / 1000)
  }
  return best
}

const rows = Object.entries(texts).map(([name, sample]) => {
  const text = Buffer.from(sample.repeat(Math.ceil(SIZE / sample.length))).toString('utf8')
  const bytes = Buffer.byteLength(text)
  const rate = (ms: number): number => Math.round(bytes / MB / (ms / 1000))
  return {
    text: name,
    found: redact(text).found.length,
    'redact MB/s': rate(bestMs(() => redact(text))),
    'stringify MB/s': rate(bestMs(() => JSON.stringify(text))),
  }
})
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(rows)}\n`)
else console.table(rows)
