// One run of a hook from the text on its stdin to the bytes on its stdout. On any doubt there are none.
import { afterCompaction, beforeCompaction, noteSummary } from './compacting.ts'
import { hookInput, statusEvent, type HookRun } from './hook-input.ts'
import { isOff, type HookClient, type HookOptions } from './options.ts'
import { printed, type HookOutput } from './output.ts'
import { afterPrompt, afterStart } from './prompting.ts'
import { noteSilence, openState } from './state.ts'
import { statusLine } from './status-line.ts'
import { afterTool } from './tooling.ts'

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
