// How long each layer needs to decide on a view of a million tokens: `node scripts/run-ts.mjs bench/layers.ts [--json]`.
// Goal: under a millisecond, disk writes apart. Before every decision a round is added, as in a session.
// Baseline in the same run: one plain walk over every block of the view, which is the least a layer does that keeps
// nothing. A stub is written when its result is new; the first look after a resume writes all of them, the last row.
import { pointOf } from '../src/projection/dial.ts'
import { Fold } from '../src/projection/fold.ts'
import type { Budget, Layer } from '../src/projection/layer.ts'
import { autocompact, microcompact, toolResultBudget } from '../src/projection/layers/index.ts'
import { createTags, snip } from '../src/projection/layers/snip.ts'
import type { View } from '../src/projection/view.ts'
import { answered, call, Pen, result, said, start } from '../src/testing/builders.ts'

const GOAL_MS = 1
const TIMES = 80
const TOKENS = 1_000_000
const RESULT_LINES = 90
const ROUNDS_A_TURN = 25
const HOUR = 3_600_000

function session() {
  const fold = new Fold()
  const pen = new Pen()
  let rounds = 0
  const output = (): string =>
    Array.from(
      { length: RESULT_LINES },
      (_, line) =>
        `${line}\texport const value${rounds}_${line} = read("src/part${rounds}/file.ts", ${rounds * line})`,
    ).join('\n')
  const round = (): void => {
    rounds++
    if (rounds % ROUNDS_A_TURN === 1) fold.push(pen.write(said(`task ${rounds}`)))
    const input = { file_path: `/project/src/file${rounds % 300}.ts`, offset: rounds }
    const options = { id: `msg_${rounds}`, stop: 'tool_use' }
    fold.push(
      pen.write(answered([call(`call_${rounds}`, rounds % 3 === 0 ? 'Read' : 'Bash', input)], options)),
    )
    fold.push(pen.write(result(`call_${rounds}`, output())))
  }
  fold.push(pen.write(start()))
  while (fold.view().tokens < TOKENS) round()
  return { fold, round, now: () => pen.clock.now() }
}

type Session = ReturnType<typeof session>

const budget = (over: Partial<Budget> = {}): Budget => ({
  window: 2_000_000,
  reserve: 20_000,
  effective: 1_980_000,
  threshold: 1_967_000,
  fixed: 2000,
  room: 1_965_000,
  target: 788_000,
  now: 0,
  isWarm: true,
  rates: { fresh: 3e-6, read: 0.3e-6, write: 3.75e-6, output: 15e-6 },
  expectedRequests: 10,
  isMain: true,
  cacheLost: false,
  capabilities: { cacheEdits: false, contextEditing: false, bindsPrefix: false },
  ...over,
})

const cached = { cacheEdits: true, contextEditing: false, bindsPrefix: false }
const clearing = microcompact({ pressureClearing: true })
const compacting = autocompact(pointOf())
const plain = microcompact({ digestChars: 0 })
const results = toolResultBudget()
const strict = toolResultBudget({
  messageChars: 100,
  policyOf: () => ({ results: 'clear', maxResultChars: 50_000 }),
})
/** `laterMs` is added to the time of the last entry. */
const deciding =
  (layer: Layer, over: Partial<Budget> = {}, laterMs = 0) =>
  ({ fold, now }: Session) =>
    layer.decide(fold.view(), budget({ ...over, now: now() + laterMs }))
const cold = { isWarm: false }
/** Reading costs next to nothing, so every rewrite loses. */
const dear: Partial<Budget> = {
  target: 100_000,
  threshold: 1_700_000,
  expectedRequests: 1,
  rates: { fresh: 3e-6, read: 3e-9, write: 3.75e-6, output: 15e-6 },
}

/** Once for each session that is opened, so it has no goal. */
const firstLook = 'microcompact, first look after a resume'

const cases: readonly (readonly [name: string, run: (session: Session) => unknown, fires: boolean])[] = [
  ['baseline: one walk over all blocks', ({ fold }) => walk(fold.view()), false],
  ['tool-result budget, nothing to do', deciding(results), false],
  ['tool-result budget, over the limit', deciding(strict), true],
  ['snip of one turn', ({ fold }) => snipFirst(fold), true],
  ['microcompact, room to spare', deciding(clearing, { threshold: 9e6, target: 3e6 }), false],
  ['microcompact, priced and declined', deciding(clearing, dear), false],
  ['microcompact, cached deletion', deciding(clearing, { capabilities: cached }), true],
  ['microcompact, after an hour, plain marker', deciding(plain, cold, 2 * HOUR), true],
  ['microcompact, after an hour, with digests', deciding(clearing, cold, 2 * HOUR), true],
  ['autocompact, weighed by the dial', deciding(compacting), true],
  ['microcompact, pressure to the target', deciding(clearing, { threshold: 900_000, target: 400_000 }), true],
  [firstLook, (own) => deciding(microcompact(), { threshold: 9e6, target: 3e6 })(own), false],
]

const rows = cases.map(([name, run, fires]) => {
  const times: number[] = []
  const own = session()
  const warmUp = TIMES / 4
  const count = fires ? TIMES / 4 : TIMES
  for (let time = 0; time < count + warmUp; time++) {
    own.round()
    own.fold.view()
    const begin = performance.now()
    const decided = run(own)
    const took = performance.now() - begin
    if (time >= warmUp) times.push(took)
    if (name.startsWith('baseline')) continue
    if ((decided !== null) !== fires)
      throw new Error(`${name}: decided ${JSON.stringify(decided)?.slice(0, 80)}`)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
  return {
    name,
    bestMs: at(0),
    medianMs: at(0.5),
    p95Ms: at(0.95),
    kept: name === firstLook || at(0.5) < GOAL_MS,
  }
})

function walk(view: View): number {
  let texts = 0
  for (const message of view.messages)
    for (const part of message.parts)
      for (const block of part.blocks) if (block.type === 'tool_result') texts++
  return texts
}

function snipFirst(fold: Fold): unknown {
  const tags = createTags()
  for (const part of fold.parts())
    if (part.kind === 'input') return snip(fold, tags, [tags.of(part.uuid)], 'old')
  return null
}

const view = session().fold.view()
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ goalMs: GOAL_MS, rows })}\n`)
else {
  process.stdout.write(`${view.tokens} tokens in ${view.messages.length} messages; goal ${GOAL_MS} ms\n`)
  for (const { name, bestMs, medianMs, p95Ms, kept } of rows)
    process.stdout.write(
      `${name.padEnd(42)} best ${bestMs.toFixed(3).padStart(8)} ms  median ${medianMs.toFixed(3).padStart(8)} ms  p95 ${p95Ms.toFixed(3).padStart(8)} ms${kept ? '' : '  above the goal'}\n`,
    )
}
