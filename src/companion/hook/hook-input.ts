// What a client hands to a hook: one JSON object. Read by hand and bounded; whatever is not as expected is a doubt.
import { isAbsolute } from 'node:path'
import type { HookClient, HookOptions } from './options.ts'
import { isKnownEvent } from './output.ts'
import { textOf, type Fields } from './shape.ts'
import { objectIn } from '../../transcript/json.ts'
import type { SessionState } from './state.ts'

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
