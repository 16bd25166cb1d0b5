// How well the growth of a context is foreseen: `node scripts/run-ts.mjs bench/growth.ts [CORPUS] [--json] [--worst]`.
// For each two neighbouring requests of the recorded sessions whose context grew by more than 1,000 tokens: the growth
// foreseen before sending, with the factor learned from earlier requests alone, against the growth reported.
//
// The reported output of the response before is taken as known, where the client recorded it whole;
// the row `all estimated` does without it.
import { estimateBlocks } from '../src/projection/tokens.ts'
import type { ViewBlock } from '../src/projection/view.ts'
import { cellOf, measure, type Method } from './growth-measure.ts'
import { BIG_GROWTH_TOKENS, sampledSessions, type SampledSession } from './growth-samples.ts'
import { corpusOr } from '../test/shared-data.ts'

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

/** A rule of thumb: 4 bytes a token, 2 where it looks like JSON, and a third for safety. */
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
  { name: 'rule of thumb', estimate: byRule, factor: 'none', outputKnown: true },
  { name: 'rule of thumb with factor', estimate: byRule, factor: 'session', outputKnown: true },
]

const flags = new Set(process.argv.slice(2).filter((word) => word.startsWith('--')))
const folder = process.argv.slice(2).find((word) => !word.startsWith('--'))
const sessions = await sampledSessions(corpusOr(folder))
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
const FAR_OFF = 0.25
const farOff = measure(methods[0]!, sessions).filter(({ error }) => Math.abs(error) > FAR_OFF)
const unseen = farOff.filter(({ foreseen, sample }) => foreseen < sample.grown / 2)
if (!flags.has('--json')) {
  console.log(
    `\nours, off by more than ${percentOf(FAR_OFF)}: ${farOff.length}; of these ${unseen.length} grew by more than twice what was foreseen`,
  )
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
