// Fits the weights of src/projection/tokens.ts: `node scripts/run-ts.mjs bench/fit-tokens.ts [CORPUS]`, prints them.
// Least squares of the relative error over the sessions that are not held out, each weight with a floor, each model with
// a scale of its own, outliers (what clients add and do not record) weighed down, and a mild pull towards the weights
// that text in general suggests, because code and tool output alone cannot tell a word from the blank before it.
import { countSteps, stepWeights, type StepLabel } from '../src/projection/tokens.ts'
import type { ViewBlock } from '../src/projection/view.ts'
import { sampledSessions, unknownPart, type GrowthSample } from './growth-samples.ts'
import { corpusOr } from '../test/shared-data.ts'

const labels = Object.keys(stepWeights).filter((label) => label !== 'none') as StepLabel[]
const around = ['text', 'toolUse', 'toolResult', 'signatureChar'] as const
const columns = [...labels, ...around]

const expected: Readonly<Record<(typeof columns)[number], number>> = {
  word: 0.9,
  wordInside: 0.8,
  letterNear: 0.05,
  letterMiddle: 0.1,
  letterFar: 0.2,
  hump: 0.7,
  capital: 0.4,
  digit: 0.9,
  digitRun: 0.4,
  digitInWord: 0.8,
  punctuation: 0.7,
  punctuationRun: 0.4,
  joint: 0.6,
  newline: 0.7,
  newlineRun: 0.2,
  space: 0.1,
  spaceRun: 0.05,
  tab: 0.3,
  han: 1.1,
  hangul: 1.2,
  letter: 0.6,
  symbol: 1.2,
  pair: 2.5,
  control: 0.5,
  none: 0,
  text: 5,
  toolUse: 40,
  toolResult: 10,
  signatureChar: 0.2,
}

/** Strength of the pull, the relative error from which a sample counts less, and the growth below which it is noise. */
const PULL = 0.3
const OUTLIER = 0.1
const MIN_TOKENS = 500
const ROUNDS = 12
/** No kind of character is free, whatever the corpus says: a weight is at least this share of the expected one. */
const FLOOR = 0.3
const SWEEPS = 400
/** The models whose scale is one. */
const UNIT = /^claude-(opus-4-[56]|sonnet-4-5)/

interface Row {
  readonly model: string
  readonly target: number
  readonly counts: Float64Array
}

function countsOf(blocks: readonly ViewBlock[]): Float64Array {
  const counts = new Float64Array(columns.length)
  const text = (value: string): void => {
    const steps = countSteps(value)
    labels.forEach((label, column) => (counts[column]! += steps[label]))
  }
  const one = (name: (typeof around)[number], times = 1): void => {
    counts[columns.indexOf(name)]! += times
  }
  for (const block of blocks) {
    if (block.type === 'text') {
      one('text')
      text(block.text)
    } else if (block.type === 'tool_use' && 'input' in block) {
      one('toolUse')
      text(block.name)
      text(block.broken ?? JSON.stringify(block.input))
    } else if (block.type === 'tool_result' && 'content' in block) {
      one('toolResult')
      for (const inner of block.content) if (inner.type === 'text') text(inner.text)
    } else if (block.type === 'thinking' && 'thinking' in block) {
      const sealed = 'signature_chars' in block ? Number(block.signature_chars) : 0
      if (sealed > 0) one('signatureChar', sealed)
      else text(block.thinking)
    }
  }
  return counts
}

/** Least squares with weights not below their floor, by descent along one weight at a time. */
function solve(rows: readonly Row[], scale: Float64Array): Float64Array {
  const size = columns.length
  const square = Array.from({ length: size }, () => new Float64Array(size))
  const right = new Float64Array(size)
  rows.forEach(({ counts, target }, index) => {
    const by = scale[index]!
    const model = factors.get(rows[index]!.model) ?? 1
    for (let i = 0; i < size; i++) {
      const left = counts[i]! * model * by
      if (left === 0) continue
      right[i]! += left * target * by
      for (let j = 0; j < size; j++) square[i]![j]! += left * counts[j]! * model * by
    }
  })
  columns.forEach((column, index) => {
    const pull = PULL / expected[column] ** 2
    square[index]![index]! += pull
    right[index]! += pull * expected[column]
  })
  const weights = Float64Array.from(columns, (column) => expected[column])
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (let i = 0; i < size; i++) {
      let rest = right[i]!
      for (let j = 0; j < size; j++) if (j !== i) rest -= square[i]![j]! * weights[j]!
      weights[i] = Math.max(FLOOR * expected[columns[i]!], rest / square[i]![i]!)
    }
  }
  return weights
}

const dot = (left: Float64Array, right: Float64Array): number =>
  left.reduce((sum, value, i) => sum + value * right[i]!, 0)
const middle = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 1

const sessions = await sampledSessions(corpusOr(process.argv[2]))
const samples: GrowthSample[] = sessions
  .filter((session) => !session.heldOut)
  .flatMap((session) => session.samples)
const rows: Row[] = samples
  .filter((sample) => sample.grown - sample.known > MIN_TOKENS)
  .map((sample) => ({
    model: sample.model,
    target: sample.grown - sample.known,
    counts: countsOf(unknownPart(sample)),
  }))

const factors = new Map<string, number>()
let trust = new Float64Array(rows.length).fill(1)
let weights = new Float64Array(columns.length)
for (let round = 0; round < ROUNDS; round++) {
  weights = Float64Array.from(
    solve(
      rows,
      Float64Array.from(rows, (row, i) => trust[i]! / row.target),
    ),
  )
  const ratios = new Map<string, number[]>()
  for (const row of rows) {
    const ratio = row.target / Math.max(1, dot(row.counts, weights))
    ratios.set(row.model, [...(ratios.get(row.model) ?? []), ratio])
  }
  for (const [model, list] of ratios) factors.set(model, middle(list))
  const units = [...factors].filter(([model]) => UNIT.test(model)).map(([, factor]) => factor)
  const unit = units.reduce((sum, factor) => sum + factor, 0) / Math.max(1, units.length)
  for (const [model, factor] of factors) factors.set(model, factor / unit)
  weights = weights.map((weight) => weight * unit)
  trust = Float64Array.from(rows, (row) => {
    const error = Math.abs(dot(row.counts, weights) * factors.get(row.model)! - row.target) / row.target
    return Math.sqrt(error < OUTLIER ? 1 : OUTLIER / error)
  })
}

console.log(`${rows.length} growths of ${sessions.filter((session) => !session.heldOut).length} sessions`)
columns.forEach((column, index) => console.log(`  ${column}: ${weights[index]!.toFixed(3)},`))
console.log('scale of each model:')
for (const [model, factor] of [...factors].sort(([left], [right]) => left.localeCompare(right)))
  console.log(`  ${model} ${factor.toFixed(2)}`)
