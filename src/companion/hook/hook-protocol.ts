// What a client hands to a hook, and what may leave one, for each client and event. Everything that leaves is checked against
// a table before it is printed; what does not fit it is not printed at all. A text of 10,000 characters would become a file
// and a preview in these clients, or be cut in the middle, and an output of an unknown shape would stand in the
// conversation as an error.
import { isAbsolute } from 'node:path'
import { objectIn, textOf, type Fields } from '../../transcript/json.ts'
import type { HookClient, HookOptions } from './options.ts'
import type { SessionState } from './state.ts'

export interface HookOutput {
  /** Reaches the model with the rank of the system. */
  readonly context?: string | undefined
  /** Is shown to the user and not sent. */
  readonly message?: string | undefined
  /** Takes the place of a tool's result, in that result's own shape. */
  readonly result?: unknown
  /** Plain text: a status line, or instructions for the client's compaction. */
  readonly plain?: string | undefined
}

type Channel = keyof HookOutput
type Allowed = Partial<Readonly<Record<Channel, number>>>

const contextChars = 9500
const messageChars = 400
const resultChars = 30_000

const table: Readonly<Record<HookClient, Readonly<Record<string, Allowed>>>> = {
  claude: {
    UserPromptSubmit: { context: contextChars, message: messageChars },
    PreCompact: { plain: 1500 },
    SessionStart: { context: contextChars, message: messageChars },
    PostCompact: {},
    PostToolUse: { context: contextChars, result: resultChars },
    statusLine: { plain: 200 },
  },
  codex: { UserPromptSubmit: {}, PreCompact: {}, SessionStart: { context: 9000 }, PostCompact: {} },
  // Its plugin runs inside the client and prints nothing.
  opencode: {},
}

/** Whether a client has this point and we use it. */
const isKnownEvent = (client: HookClient, event: string): boolean => Object.hasOwn(table[client], event)

// Tab and line end stay; every other control character would act on a terminal or break a line of JSON somewhere.
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/

/** The bytes for stdout; empty where there is nothing to say, null where the table does not allow it. */
export function printed(client: HookClient, event: string, output: HookOutput): string | null {
  const allowed = isKnownEvent(client, event) ? table[client][event]! : null
  const entries = Object.entries(output).filter(([, value]) => value !== undefined && value !== '')
  if (allowed === null) return entries.length === 0 ? '' : null
  for (const [channel, value] of entries) {
    const most = allowed[channel as Channel]
    if (most === undefined) return null
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    if (text.length > most || (channel !== 'result' && controls.test(text)) || !text.isWellFormed())
      return null
  }
  if (entries.length === 0) return ''
  const { context, message, result, plain } = output
  if (plain !== undefined && plain !== '') return entries.length === 1 ? `${plain}\n` : null
  const specific: Fields = {
    ...(context === undefined || context === '' ? {} : { additionalContext: context }),
    ...(result === undefined ? {} : { updatedToolOutput: result }),
  }
  const value = {
    ...(Object.keys(specific).length === 0
      ? {}
      : { hookSpecificOutput: { hookEventName: event, ...specific } }),
    ...(message === undefined || message === '' ? {} : { systemMessage: message }),
  }
  return `${JSON.stringify(value)}\n`
}

// ---- what comes in: one JSON object, read by hand and bounded; whatever is not as expected is a doubt ----

export interface HookInput {
  readonly event: string
  readonly session: string
  /** The client's own file of the session. */
  readonly transcript: string | null
  readonly cwd: string | null
  readonly fields: Fields
}

/** All that one run of a hook has. */
export interface HookRun {
  readonly client: HookClient
  readonly input: HookInput
  readonly state: SessionState
  readonly options: HookOptions
  readonly now: number
  /** Its time is spent. */
  readonly isLate: () => boolean
}

/** The status line is called without a name of an event. */
export const statusEvent = 'statusLine'

export const mostInputBytes = 16 * 1024 * 1024
const mostIdChars = 200
const mostPathChars = 4096

/** Null on any doubt; subagents get nothing. `named` is the event where the client does not say it. */
export function hookInput(client: HookClient, text: string, named: string | null): HookInput | null {
  const fields = objectIn(text)
  if (fields === null) return null
  const event = named ?? textOf(fields['hook_event_name'], mostIdChars)
  const session = textOf(fields['session_id'], mostIdChars)
  if (event === null || (event === statusEvent) !== (named !== null)) return null
  if (session === null || session === '' || !isKnownEvent(client, event)) return null
  if (isAgent(fields)) return null
  const path = (key: string): string | null => {
    const value = textOf(fields[key], mostPathChars)
    return value !== null && isAbsolute(value) && !value.includes('\0') ? value : null
  }
  return { event, session, transcript: path('transcript_path'), cwd: path('cwd'), fields }
}

/** The hooks of a subagent name it, or its own file. */
function isAgent(fields: Fields): boolean {
  const named = ['agent_id', 'agent_transcript_path', 'parent_session_id', 'subagent_id'].some(
    (key) => fields[key] !== undefined && fields[key] !== null && fields[key] !== '',
  )
  const file = textOf(fields['transcript_path'])
  return named || (file !== null && /\/subagents\//.test(file))
}
