// Where the bundle begins: `node hook.cjs CLIENT` for every event of a client, `node hook.cjs CLIENT status` for its status
// line. It always ends with 0 and within its own clock, whatever stdin, the disk or the machine does.
import { fieldsOf, numberOf, textOf } from '../../transcript/json.ts'
import { writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { afterCompaction, beforeCompaction, noteSummary, auditFile, compactionsIn } from './compacting.ts'
import {
  mostInputBytes,
  hookInput,
  statusEvent,
  printed,
  type HookRun,
  type HookOutput,
} from './hook-protocol.ts'
import { hookClients, readOptions, isOff, type HookClient, type HookOptions } from './options.ts'
import { afterPrompt, afterStart } from './prompting.ts'
import { noteSilence, openState, readRecord } from './state.ts'
import { afterTool } from './tooling.ts'

// ---- one run of a hook, from the text on its stdin to the bytes on its stdout; on any doubt there are none ----

interface HookCall {
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
function runHook(call: HookCall): string {
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

const end = (): never => process.exit(0)
process.on('uncaughtException', end)
process.on('unhandledRejection', end)
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGPIPE'] as const) process.on(signal, end)

/** Nothing is printed by halves unless the reader goes away. */
function print(text: string, isLate: () => boolean): void {
  const bytes = Buffer.from(text)
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(1, bytes, done)
    } catch (error) {
      // A full pipe is asked again for as long as there is time.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || isLate()) return
    }
  }
}

function start(root: string, client: HookClient, isStatusLine: boolean): void {
  const begun = performance.now()
  const options = readOptions(root)
  if (options === null) return noteSilence(root, Date.now(), { client, event: '', why: 'options' })
  const isLate = (): boolean => performance.now() - begun >= options.clockMs
  const late = setTimeout(() => {
    noteSilence(root, Date.now(), { client, event: '', why: 'time' })
    end()
  }, options.clockMs)
  const parts: Buffer[] = []
  let bytes = 0
  process.stdin.on('error', end)
  process.stdin.on('data', (part: Buffer) => {
    bytes += part.length
    if (bytes > mostInputBytes) {
      noteSilence(root, Date.now(), { client, event: '', why: 'input' })
      end()
    }
    parts.push(part)
  })
  process.stdin.on('end', () => {
    clearTimeout(late)
    const stdin = Buffer.concat(parts).toString('utf8')
    print(runHook({ root, client, isStatusLine, stdin, options, now: Date.now(), isLate }), isLate)
    end()
  })
}

const [, script, name, word] = process.argv
const client = hookClients.find((one) => one === name)
if (script !== undefined && client !== undefined && process.platform !== 'win32')
  start(dirname(resolve(script)), client, word === 'status')
