// What composing costs when one message was added: `node scripts/run-ts.mjs bench/compose.ts [--json]`.
// Baseline in the same run: JSON.stringify of the same request object, which is what a client does that keeps nothing.
// Goal: composing under 10 % of that. A composed string is still in pieces that V8 puts together when the bytes are
// made, so making the bytes is measured as well, beside the same step of the baseline.
import { Fold } from '../src/projection/fold.ts'
import type { View } from '../src/projection/view.ts'
import { createComposer } from '../src/wires/anthropic/compose.ts'
import type { ComposeParameters } from '../src/request/compose.ts'
import { answered, call, Pen, result, said, start, thought } from '../src/testing/builders.ts'

const GOAL = 0.1
const TIMES = 100
const CHARS_PER_TOKEN = 4
const RESULT_TOKENS = 900
const parameters: ComposeParameters = {
  model: 'claude-sonnet-4-6',
  maxTokens: 32_000,
  bindsPrefix: false,
  lifetime: '5m',
}

/** Code-like text with what JSON has to escape: quotes, backslashes and line ends. */
function output(seed: number, tokens: number): string {
  const lines: string[] = []
  for (let length = 0, line = 0; length < tokens * CHARS_PER_TOKEN; line++) {
    const text = `${line}\tconst value${seed}_${line} = read("path/${seed}/file.ts", { flag: 'r' }) // \\d+ ${seed * line}`
    lines.push(text)
    length += text.length + 1
  }
  return lines.join('\n')
}

function session() {
  const fold = new Fold()
  const pen = new Pen()
  let rounds = 0
  const round = (): void => {
    rounds++
    const id = `call_${rounds}`
    const text = `I will look at file ${rounds} next.`
    fold.push(
      pen.write(
        answered([thought(`thought ${rounds}`), { type: 'text', text }, call(id, 'Read', { path: text })], {
          id: `msg_${rounds}`,
          stop: 'tool_use',
        }),
      ),
    )
    fold.push(pen.write(result(id, output(rounds, RESULT_TOKENS))))
  }
  fold.push(pen.write(start()))
  fold.push(
    pen.write({
      type: 'instructions-set',
      sections: [{ name: 'identity', side: 'static', text: output(0, 8000) }],
      tools: [{ name: 'Read', description: output(0, 500), input_schema: { type: 'object' } }],
    }),
  )
  fold.push(pen.write(said('read everything')))
  return { fold, round }
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!

function timed<T>(into: number[], work: () => T): T {
  const begin = performance.now()
  const value = work()
  into.push(performance.now() - begin)
  return value
}

function measure(tokens: number) {
  const { fold, round } = session()
  const composer = createComposer()
  const compose = (view: View): string => {
    const outcome = composer.compose(view, parameters)
    if (!outcome.ok) throw new Error(outcome.why)
    return outcome.composed.body
  }
  // As in life, every round is a request.
  while (fold.view().estimate < tokens) {
    round()
    compose(fold.view())
  }
  const begin = performance.now()
  createComposer().compose(fold.view(), parameters)
  const first = performance.now() - begin
  const times: Record<'compose' | 'composeBytes' | 'stringify' | 'stringifyBytes', number[]> = {
    compose: [],
    composeBytes: [],
    stringify: [],
    stringifyBytes: [],
  }
  let bytes = 0
  for (let time = 0; time < TIMES; time++) {
    round()
    const view = fold.view()
    const body = timed(times.compose, () => compose(view))
    bytes = timed(times.composeBytes, () => Buffer.from(body).length)
    const request: unknown = JSON.parse(body)
    const text = timed(times.stringify, () => JSON.stringify(request))
    timed(times.stringifyBytes, () => Buffer.from(text).length)
  }
  const ms = {
    first,
    compose: median(times.compose),
    composeBytes: median(times.composeBytes),
    stringify: median(times.stringify),
    stringifyBytes: median(times.stringifyBytes),
  }
  const ratio = ms.compose / ms.stringify
  return {
    tokens,
    messages: fold.view().messages.length,
    megabytes: bytes / 1e6,
    ms,
    ratio,
    ratioWithBytes: (ms.compose + ms.composeBytes) / (ms.stringify + ms.stringifyBytes),
    isReached: ratio < GOAL,
  }
}

const table = [200_000, 1_000_000].map(measure)
if (process.argv.includes('--json')) {
  console.log(JSON.stringify(table, null, 2))
} else {
  const ms = (value: number): string => value.toFixed(2).padStart(10)
  const percent = (value: number): string => `${(value * 100).toFixed(1)} %`.padStart(10)
  console.log('ms             first   compose   + bytes stringify   + bytes     ratio  with bytes')
  for (const row of table) {
    const { first, compose, composeBytes, stringify, stringifyBytes } = row.ms
    const times = [first, compose, composeBytes, stringify, stringifyBytes].map(ms).join('')
    const goal = row.isReached ? '' : '  goal of 10 % not reached'
    const size = `${row.messages} messages, ${row.megabytes.toFixed(1)} MB`
    console.log(
      `${String(row.tokens).padEnd(10)}${times}${percent(row.ratio)}${percent(row.ratioWithBytes)}  ${size}${goal}`,
    )
  }
}
