// One line under the client's input: how full the window is, what it cost, how long the cache lives, what was put back.
import type { HookRun } from './hook-input.ts'
import { auditFile, compactionsIn } from './compacting.ts'
import type { HookOutput } from './output.ts'
import { fieldsOf, numberOf, textOf } from './shape.ts'
import { readRecord } from './state.ts'

export function statusLine({ input: { fields }, state, now }: HookRun): HookOutput {
  const used = numberOf(fieldsOf(fields['context_window'])['used_percentage'])
  const usd = numberOf(fieldsOf(fields['cost'])['total_cost_usd'])
  const { count, rules } = compactionsIn(readRecord(state, auditFile))
  const parts = [
    used === null ? '' : `${Math.round(used)}%`,
    usd === null ? '' : `$${usd.toFixed(2)}`,
    cachePart(fieldsOf(fields['prompt_cache']), now),
    count === 0
      ? ''
      : `compacted ${count}×${rules === 0 ? '' : `, ${rules} rule${rules === 1 ? '' : 's'} put back`}`,
  ]
  return { plain: parts.filter((part) => part !== '').join(' · ') }
}

function cachePart(cache: Readonly<Record<string, unknown>>, now: number): string {
  if (typeof cache['warm'] !== 'boolean') return ''
  if (!cache['warm']) return 'cache cold'
  const left = untilOf(cache['expires_at']) - now
  if (!(left > 0 && left < day)) return 'cache warm'
  const seconds = Math.floor(left / 1000)
  return `cache warm ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
const day = 86_400_000

/** Seconds or milliseconds since the epoch, or a date. */
function untilOf(value: unknown): number {
  const number = numberOf(value)
  if (number !== null) return number < 1e11 ? number * 1000 : number
  return Date.parse(textOf(value, 40) ?? '')
}
