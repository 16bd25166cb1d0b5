// One run of a hook from the text on its stdin to the bytes on its stdout. On any doubt there are none.
import { afterCompaction, beforeCompaction, noteSummary, auditFile, compactionsIn } from './compacting.ts'
import { hookInput, statusEvent, type HookRun } from './hook-input.ts'
import { isOff, type HookClient, type HookOptions } from './options.ts'
import { printed, type HookOutput } from './output.ts'
import { afterPrompt, afterStart } from './prompting.ts'
import { noteSilence, openState, readRecord } from './state.ts'
import { afterTool } from './tooling.ts'
import { fieldsOf, numberOf, textOf } from './shape.ts'

export interface HookCall {
  /** The companion's own folder: where its bundle lies. */
  readonly root: string
  readonly client: HookClient
  /** What the status line is called with has no name of an event. */
  readonly isStatusLine: boolean
  readonly stdin: string
  readonly options: HookOptions
  readonly now: number
  readonly isLate: () => boolean
}

const events: Readonly<Record<string, (run: HookRun) => HookOutput>> = {
  UserPromptSubmit: afterPrompt,
  PreCompact: beforeCompaction,
  SessionStart: (run) => (run.input.fields['source'] === 'compact' ? afterCompaction(run) : afterStart(run)),
  PostCompact: noteSummary,
  PostToolUse: afterTool,
  statusLine,
}

/** The text for stdout; why there is none stands in the log. */
export function runHook(call: HookCall): string {
  const { root, client, now } = call
  const silent = (why: string, event = ''): string => {
    noteSilence(root, now, { client, event, why })
    return ''
  }
  const input = hookInput(client, call.stdin, call.isStatusLine ? statusEvent : null)
  if (input === null) return silent('input')
  const { event } = input
  if (isOff(call.options, client, event)) return ''
  const state = openState(root, client, input.session)
  if (state === null) return silent('state', event)
  try {
    const output = events[event]?.({ client, input, state, options: call.options, now, isLate: call.isLate })
    const text = printed(client, event, output ?? {})
    if (text === null) return silent('output', event)
    return call.isLate() ? silent('time', event) : text
  } catch {
    return silent('error', event)
  }
}

// One line under the client's input: how full the window is, what it cost, how long the cache lives, what was put back.

function statusLine({ input: { fields }, state, now }: HookRun): HookOutput {
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
