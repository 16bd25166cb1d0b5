// What one call of `fit` costs at 100K and 1M tokens: the first call for a conversation, the next one (a turn more, with the
// state), and one that compacts; beside it what the program does anyway, writing the same messages as JSON. And what a page pays.
// `npm run bench -- fit [--json]`
import { fit, type FitOptions, type FitOutcome, type FitState } from '../src/fit/index.ts'
import { fitBundle } from './fit-bundle.ts'

const runs = 9
const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1]!

function timed<T>(work: () => T): { readonly ms: number; readonly result: T } {
  const start = process.cpuUsage()
  const result = work()
  const { user, system } = process.cpuUsage(start)
  return { ms: (user + system) / 1000, result }
}

type Message = Readonly<Record<string, unknown>>
const line = (seed: number, at: number): string =>
  `src/area-${(seed + at) % 53}/module.ts: the value of the setting is read before the file is opened\n`
const resultOf = (seed: number): string => {
  let text = ''
  for (let at = 0; text.length < 4300; at++) text += line(seed, at)
  return text
}

/** Rounds of a call and its result, about so many tokens. */
function messagesOf(tokens: number): Message[] {
  const messages: Message[] = [{ role: 'user', content: 'Do the task.' }]
  const rounds = Math.ceil(tokens / 1700)
  for (let at = 0; at < rounds; at++) messages.push(...round(at))
  return messages
}
const round = (at: number): readonly Message[] => [
  {
    role: 'assistant',
    content: [
      { type: 'text', text: `Reading ${at}.` },
      { type: 'tool_use', id: `toolu_${at}`, name: 'read', input: { path: `file-${at}` } },
    ],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${at}`, content: resultOf(at) }] },
]

const options: FitOptions = { wire: 'anthropic', model: 'claude-sonnet-5', window: 4_000_000 }
function fitted(messages: readonly Message[], state: FitState | null, more: Partial<FitOptions> = {}) {
  const made: FitOutcome<Message> = fit(messages, { ...options, ...more, state })
  if (!made.ok) throw new Error(made.message)
  return made
}

const rows = [100_000, 1_000_000].map((size) => {
  const messages = messagesOf(size)
  const tokens = fitted(messages, null).report.tokensBefore
  const added = round(messages.length)
  const { state } = fitted(messages, null)
  const longer = [...messages, ...added]
  const times = Array.from({ length: runs }, () => ({
    json: timed(() => JSON.stringify(longer)).ms,
    first: timed(() => fitted(messages, null)).ms,
    next: timed(() => fitted(longer, state)).ms,
  }))
  const compacts = timed(() => fitted(longer, state, { window: Math.round(tokens * 0.9) }))
  return {
    tokens,
    messages: messages.length,
    json: median(times.map(({ json }) => json)),
    first: median(times.map(({ first }) => first)),
    next: median(times.map(({ next }) => next)),
    compacts: compacts.ms,
    after: compacts.result.report.tokensAfter,
    stateBytes: JSON.stringify(state).length,
  }
})

const { bytes, gzipped } = await fitBundle()
if (process.argv.includes('--json')) console.log(JSON.stringify({ rows, bytes, gzipped }, null, 2))
else {
  console.log(`for a browser, in one file: ${bytes} bytes, ${gzipped} compressed`)
  console.log(`median of ${runs} runs, milliseconds of processor time; compacting once`)
  console.log('tokens      messages   JSON alone   first call   next call   compacting   state')
  for (const row of rows) {
    const ms = (value: number): string => value.toFixed(1).padStart(10)
    console.log(
      `${String(row.tokens).padEnd(10)} ${String(row.messages).padStart(9)}   ${ms(row.json)}   ${ms(row.first)}  ${ms(row.next)}   ${ms(row.compacts)}   ${(row.stateBytes / 1024).toFixed(0)} KB`,
    )
  }
}
