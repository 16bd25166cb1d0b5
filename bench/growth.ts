// How well the growth of a context is foreseen: `node scripts/run-ts.mjs bench/growth.ts [CORPUS] [--json] [--worst]`.
// For each two neighbouring requests of the recorded sessions whose context grew by more than 1,000 tokens: the growth
// foreseen before sending, with the factor learned from earlier requests alone, against the growth reported.
//
// As in SPEC 1.1 the reported output of the response before is taken as known, where the client recorded it whole;
// the row `all estimated` does without it.
import { join } from 'node:path'
import { factorOf, learn, uncalibrated, type Calibration } from '../src/projection/calibration.ts'
import { estimateBlocks } from '../src/projection/tokens.ts'
import type { ViewBlock } from '../src/projection/view.ts'
import {
  BIG_GROWTH_TOKENS,
  sampledSessions,
  unknownPart,
  type GrowthSample,
  type SampledSession,
} from './growth-samples.ts'

interface Method {
  readonly name: string
  readonly estimate: (blocks: readonly ViewBlock[]) => number
  /** Over what the factor is learned; a baseline may have none. */
  readonly factor: 'none' | 'session' | 'all before'
  readonly outputKnown: boolean
}
interface Measured {
  readonly session: SampledSession
  readonly sample: GrowthSample
  readonly foreseen: number
  readonly error: number
}
interface Cell {
  readonly count: number
  readonly median: number
  readonly p95: number
  /** Mean of the signed error: below zero is counted too low. */
  readonly bias: number
}

// ---- baselines ----

/** Everything a block says, as one text. */
function textOf(block: ViewBlock): string {
  if (block.type === 'text') return block.text
  if (block.type === 'tool_use' && 'input' in block) return block.name + JSON.stringify(block.input)
  if (block.type === 'tool_result' && 'content' in block) return block.content.map(textOf).join('')
  return block.type === 'thinking' && 'thinking' in block ? block.thinking : ''
}
const byChars = (blocks: readonly ViewBlock[]): number =>
  blocks.reduce((sum, block) => sum + textOf(block).length / 4, 0)

/** SPEC 1.3: 4 bytes a token, 2 where it looks like JSON, and a third for safety. */
const byRule = (blocks: readonly ViewBlock[]): number =>
  blocks.reduce((sum, block) => {
    const text = textOf(block)
    const json = block.type === 'tool_use' || (block.type === 'tool_result' && /^\s*[[{]/.test(text))
    return sum + (Buffer.byteLength(text) / (json ? 2 : 4)) * (4 / 3)
  }, 0)

const methods: readonly Method[] = [
  { name: 'ours', estimate: estimateBlocks, factor: 'session', outputKnown: true },
  {
    name: 'ours, factor kept over sessions',
    estimate: estimateBlocks,
    factor: 'all before',
    outputKnown: true,
  },
  { name: 'ours, all estimated', estimate: estimateBlocks, factor: 'session', outputKnown: false },
  { name: 'ours, no factor', estimate: estimateBlocks, factor: 'none', outputKnown: true },
  { name: 'chars/4', estimate: byChars, factor: 'none', outputKnown: true },
  { name: 'chars/4 with factor', estimate: byChars, factor: 'session', outputKnown: true },
  { name: 'rule of SPEC 1.3', estimate: byRule, factor: 'none', outputKnown: true },
  { name: 'rule of SPEC 1.3 with factor', estimate: byRule, factor: 'session', outputKnown: true },
]

// ---- measuring ----

function measure(method: Method, sessions: readonly SampledSession[]): readonly Measured[] {
  const measured: Measured[] = []
  let state: Calibration = uncalibrated
  for (const session of [...sessions].sort((a, b) => a.started - b.started)) {
    if (method.factor !== 'all before') state = uncalibrated
    for (const sample of session.samples) {
      const known = method.outputKnown ? sample.known : 0
      const estimated = method.estimate(known > 0 ? unknownPart(sample) : [...sample.answer, ...sample.added])
      const factor = method.factor === 'none' ? 1 : factorOf(state, sample.model)
      const foreseen = known + factor * estimated
      if (sample.grown > BIG_GROWTH_TOKENS) {
        measured.push({ session, sample, foreseen, error: (foreseen - sample.grown) / sample.grown })
      }
      state = learn(state, { model: sample.model, estimated, reported: sample.grown - known })
    }
  }
  return measured
}

function cellOf(measured: readonly Measured[]): Cell {
  const errors = measured.map(({ error }) => Math.abs(error)).sort((a, b) => a - b)
  const at = (share: number): number =>
    errors[Math.min(errors.length - 1, Math.floor(errors.length * share))] ?? Number.NaN
  const bias = measured.reduce((sum, { error }) => sum + error, 0) / Math.max(1, measured.length)
  return { count: errors.length, median: at(0.5), p95: at(0.95), bias }
}

const flags = new Set(process.argv.slice(2).filter((word) => word.startsWith('--')))
const folder = process.argv.slice(2).find((word) => !word.startsWith('--'))
const sessions = await sampledSessions(folder ?? join(import.meta.dirname, '..', '..', 'shared', 'corpus'))
const clients = [...new Set(sessions.map((session) => session.client))].sort()
const parts: readonly (readonly [name: string, holds: (session: SampledSession) => boolean])[] = [
  ['all', () => true],
  ['fitted on', (session) => !session.heldOut],
  ['held out', (session) => session.heldOut],
  ...clients.map((client) => [client, (session: SampledSession) => session.client === client] as const),
]

const table = methods.map((method) => {
  const measured = measure(method, sessions)
  return {
    method: method.name,
    cells: parts.map(([part, holds]) => ({
      part,
      ...cellOf(measured.filter(({ session }) => holds(session))),
    })),
  }
})

if (flags.has('--json')) {
  console.log(JSON.stringify(table, null, 2))
} else {
  const percent = (value: number): string => (value * 100).toFixed(1).padStart(6)
  for (const [index, [part]] of parts.entries()) {
    console.log(`\n${part}: ${table[0]?.cells[index]?.count ?? 0} growths over ${BIG_GROWTH_TOKENS} tokens`)
    console.log(`  ${'error in %'.padEnd(34)} median    p95   mean`)
    for (const { method, cells } of table) {
      const cell = cells[index]!
      console.log(`  ${method.padEnd(34)} ${percent(cell.median)} ${percent(cell.p95)} ${percent(cell.bias)}`)
    }
  }
}
if (flags.has('--worst')) {
  const worst = [...measure(methods[0]!, sessions)]
    .sort((a, b) => Math.abs(b.error) - Math.abs(a.error))
    .slice(0, 40)
  for (const { session, sample, foreseen, error } of worst) {
    const calls = sample.answer.flatMap((block) =>
      block.type === 'tool_use' && 'name' in block ? [block.name] : [],
    )
    const chars = [...sample.answer, ...sample.added].reduce((sum, block) => sum + textOf(block).length, 0)
    console.log(
      `${session.name} grew ${sample.grown}, foreseen ${Math.round(foreseen)} (${percentOf(error)}), ` +
        `${chars} chars, output ${sample.known || 'partial'}, calls ${calls.join(' ') || 'none'}`,
    )
  }
}
function percentOf(value: number): string {
  return `${(value * 100).toFixed(0)} %`
}
