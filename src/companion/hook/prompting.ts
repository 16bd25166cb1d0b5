// When the user types or comes back: the words go into the ledger, redacted, and the price of a cold cache is told. The ledger
// is the only source of what is ever quoted, so what the client itself puts into a prompt (notices of tasks, outputs of
// commands) stays out of it.
import { knownModels } from '../../model/model-table.ts'
import { objectIn, textOf, fieldsOf, numberOf, type Fields } from '../../transcript/json.ts'
import { quotable, withoutOwnText } from '../clean.ts'
import { readOn, remainder } from './compacting.ts'
import { lastLines } from './files.ts'
import type { HookRun, HookOutput } from './hook-protocol.ts'
import { appendTyped, keepShrinkPending, noteSource, sweepStates, readRecord, writeRecord } from './state.ts'

const mostPromptChars = 4 * 1024 * 1024
/** Clients wrap what they say themselves in a tag; a person rarely begins with one. */
const clientNotice = /^\s*<[a-z][\w-]*[\s>]/i
/** `/compact` and the like, with nothing behind it. */
const bareCommand = /^\s*\/[\w:-]+\s*$/

/** The words as they may be kept, or null where nobody typed them or they are a command for the client. */
export function typedWords(prompt: string): string | null {
  const own = withoutOwnText(prompt)
  if (own.trim() === '' || clientNotice.test(own) || bareCommand.test(own)) return null
  const text = quotable(own).trim()
  return text === '' ? null : text
}

export function afterPrompt(run: HookRun): HookOutput {
  const { state, input, client, now } = run
  noteSource(state, input.transcript)
  const prompt = textOf(input.fields['prompt'], mostPromptChars)
  const text = prompt === null ? null : typedWords(prompt)
  if (text !== null) appendTyped(state, text, now)
  if (client === 'codex') return {}
  keepShrinkPending(state.root, run.options.shrink)
  // A long file is read a bit at each prompt, so that little is left when it is compacted.
  readOn({ ...run, isLate: soon(run, scanMs) })
  const message = coldReturn(run)
  return { ...remainder(run), ...(message === null ? {} : { message }) }
}

const scanMs = 50

function soon({ isLate }: HookRun, ms: number): () => boolean {
  const until = performance.now() + ms
  return () => isLate() || performance.now() > until
}

/** A session begins or is taken up again: old states go, and the price of a cold start is told. */
export function afterStart(run: HookRun): HookOutput {
  sweepStates(run.state.root, run.now, run.isLate)
  if (run.input.fields['source'] !== 'resume' || run.client !== 'claude') return {}
  const message = resumePrice(run)
  return message === null ? {} : { message }
}

// ---- what it costs to go on after the prompt cache has expired: shown to the user, never sent; each pause is told once ----

const coldFile = 'cold.json'
const tailBytes = 262_144
const minute = 60_000
const shortTtlMs = 5 * minute
const longTtlMs = 60 * minute
const million = 1_000_000

const dollars = (usd: number): string => `$${usd.toFixed(2)}`

/** The client estimates it itself when a session is taken up again. */
function resumePrice({ input: { fields }, options }: HookRun): string | null {
  const usd = numberOf(fields['estimated_cache_write_usd'])
  if (fields['prompt_cache_likely_expired'] !== true || usd === null || usd < options.coldUsd) return null
  return `About ${dollars(usd)} to continue: the prompt cache has expired. A new session or /compact first may cost less.`
}

/** After a pause that is longer than the cache lives: what writing it again costs. */
function coldReturn({ input, state, options, now }: HookRun): string | null {
  const last = input.transcript === null ? null : lastUse(input.transcript)
  if (last === null || now - last.at <= last.ttlMs) return null
  if (numberOf(readRecord(state, coldFile)?.['at']) === last.at) return null
  const usd = writePrice(last)
  if (usd === null || usd < options.coldUsd) return null
  writeRecord(state, coldFile, { at: last.at })
  const tokens = Math.round(last.tokens / 1000).toLocaleString('en-US')
  return `The prompt cache has expired: about ${dollars(usd)} to write ${tokens}K tokens again. After a long pause /compact or a new session may cost less.`
}

interface LastUse {
  readonly at: number
  readonly model: string
  readonly tokens: number
  readonly ttlMs: number
}

function lastUse(transcript: string): LastUse | null {
  for (const line of lastLines(transcript, tailBytes)) {
    if (!line.includes('"usage"') || line.includes('"isSidechain":true')) continue
    const fields = objectIn(line)
    const use = fields === null || fields['type'] !== 'assistant' ? null : useOf(fields)
    if (use !== null) return use
  }
  return null
}

function useOf(line: Fields): LastUse | null {
  const message = fieldsOf(line['message'])
  const usage = fieldsOf(message['usage'])
  const at = Date.parse(textOf(line['timestamp'], 40) ?? '')
  const model = textOf(message['model'], 100)
  const tokens = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens']
    .map((key) => numberOf(usage[key]) ?? 0)
    .reduce((sum, one) => sum + one, 0)
  if (Number.isNaN(at) || model === null || tokens <= 0) return null
  const isLong = (numberOf(fieldsOf(usage['cache_creation'])['ephemeral_1h_input_tokens']) ?? 0) > 0
  return { at, model, tokens, ttlMs: isLong ? longTtlMs : shortTtlMs }
}

/** Null where nobody published a price. */
function writePrice({ model, tokens, ttlMs }: LastUse): number | null {
  const prices = knownModels.find(({ id }) => model === id || model.startsWith(`${id}-`))?.prices
  if (prices === undefined || prices === null) return null
  const rates =
    prices.tier !== undefined && tokens > prices.tier.abovePromptTokens ? prices.tier.rates : prices
  return ((ttlMs === longTtlMs ? rates.write1h : rates.write5m) * tokens) / million
}
