// What is asked for when an agent is started, and what of it the session writes down.
import type { AgentAbout } from '../../engine/background/agent-rows.ts'
import type { AgentMode } from '../../transcript/fact.ts'

export interface AgentAsk {
  readonly label: string
  readonly task: string
  readonly type: string
  readonly mode: AgentMode
  /** It begins with the conversation of its parent. */
  readonly forked: boolean
  readonly worktree: boolean
  /** Of a teammate: it changes nothing until its plan is approved. */
  readonly plans?: boolean | undefined
  readonly name?: string | undefined
}

export function aboutOf(
  { label, type, mode, forked, name }: AgentAsk,
  worktree?: AgentAbout['worktree'],
): AgentAbout {
  return {
    label,
    agent: type,
    mode,
    ...(forked ? { forked } : {}),
    ...(name === undefined ? {} : { name }),
    ...(worktree === undefined ? {} : { worktree }),
  }
}

/** Of an agent that nobody waits for: it ends by its limits, by its parent's end, or when it is told to. */
export const neverAborted = (): AbortSignal => new AbortController().signal
