// How fast a text is counted: `node scripts/run-ts.mjs bench/count.ts [--json]`. Each text beside a baseline in the
// same run: JSON.stringify of the same text, the least that any request costs. Goal: 100 MB/s on ASCII.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { estimateText } from '../src/projection/tokens.ts'

const MB = 1_000_000
const SIZE = 4 * MB
const RUNS = 7

const own = ['src/transcript/fact.ts', 'src/projection/tokens.ts', 'src/lab/entries.ts']
const code = own.map((path) =>
  readFileSync(join(import.meta.dirname, '..', path), 'utf8').replaceAll(/[^\t\n -~]/g, ' '),
)
const texts = {
  'code (ASCII)': code.join('\n'),
  'JSON (ASCII)': JSON.stringify(
    code.map((text, index) => ({ index, text, lines: text.split('\n').length })),
  ),
  Chinese: '上下文必须小而真实，不能丢失用户说过的话。',
  mixed: `${code[0]?.slice(0, 400)} 日本語のテキスト 🙂👍 и кириллица\n`,
}

function bestMs(run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let index = 0; index < RUNS; index++) {
    const start = performance.now()
    run()
    best = Math.min(best, performance.now() - start)
  }
  return best
}

const rows = Object.entries(texts).map(([name, sample]) => {
  // A repeated string is a rope; writing it out once makes both sides read flat characters.
  const text = Buffer.from(sample.repeat(Math.ceil(SIZE / sample.length))).toString('utf8')
  const bytes = Buffer.byteLength(text)
  const rate = (ms: number): number => Math.round(bytes / MB / (ms / 1000))
  return {
    text: name,
    megabytesPerSecond: rate(bestMs(() => estimateText(text))),
    baseline: rate(bestMs(() => JSON.stringify(text))),
    charsPerToken: Number((text.length / estimateText(text)).toFixed(2)),
  }
})
const short = 'the result of one small call, as most messages are\n'.repeat(8)
const CALLS = 20_000
const shortMs = bestMs(() => {
  let sum = 0
  for (let index = 0; index < CALLS; index++) sum += estimateText(short)
  return sum
})

if (process.argv.includes('--json')) {
  console.log(JSON.stringify({ rows, shortCallMicroseconds: (shortMs / CALLS) * 1000 }))
} else {
  console.table(rows)
  console.log(`one message of ${short.length} characters: ${((shortMs / CALLS) * 1000).toFixed(2)} µs`)
}
