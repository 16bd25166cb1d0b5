// What it costs to go on after the prompt cache has expired. Shown to the user, never sent; each pause is told once.
import { knownModels } from '../../model/model-table.ts'
import { readFileWith } from './files.ts'
import type { HookRun } from './hook-input.ts'
import { fieldsOf, numberOf, textOf, type Fields } from './shape.ts'
import { objectIn } from '../../transcript/json.ts'
import { readRecord, writeRecord } from './state.ts'

const coldFile = 'cold.json'
const tailBytes = 262_144
const minute = 60_000
const shortTtlMs = 5 * minute
const longTtlMs = 60 * minute
const million = 1_000_000

const dollars = (usd: number): string => `$${usd.toFixed(2)}`

/** The client estimates it itself when a session is taken up again. */
export function resumePrice({ input: { fields }, options }: HookRun): string | null {
  const usd = numberOf(fields['estimated_cache_write_usd'])
  if (fields['prompt_cache_likely_expired'] !== true || usd === null || usd < options.coldUsd) return null
  return `About ${dollars(usd)} to continue: the prompt cache has expired. A new session or /compact first may cost less.`
}

/** After a pause that is longer than the cache lives: what writing it again costs. */
export function coldReturn({ input, state, options, now }: HookRun): string | null {
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
  const tail = readFileWith(transcript, ({ bytes, read }) => {
    const from = Math.max(0, bytes - tailBytes)
    return read(from, bytes - from).toString('utf8')
  })
  for (const line of (tail ?? '').split('\n').toReversed()) {
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
