// What is asked of a fork, and what comes back. Types only, so that jobs beside the talk can be described without it.
import type { Judge } from '../tools/permission/pipeline.ts'
import type { ReadFile, Tool } from '../tools/tool.ts'
import type { Fact, Outcome, Usage } from '../transcript/fact.ts'
import type { SessionId } from '../transcript/ids.ts'
import type { AgentAbout } from './beside/agent-rows.ts'
import type { Caps, Spent } from './limits/spend.ts'
import type { Emit, TurnFailure } from './live.ts'

export interface ForkSpec {
  /** What it is for: summary, notes, a sub-agent … It names the source in logs and figures. */
  readonly purpose: string
  /** What it is told, after the parent's conversation. */
  readonly directive: string
  /** Who decides about its calls; those of its parent come after them where it is an agent. Without it every tool is refused. */
  readonly judges?: readonly Judge[] | undefined
  /** Whether its own messages may be written to the cache; a fork of one request has no use for that. */
  readonly writesCache?: boolean | undefined
  readonly maxOutputTokens?: number | undefined
  /** Carry out calls here in place of the session's tools of the same name; the list that is sent stays as it is. */
  readonly tools?: readonly Tool[] | undefined
  /** Files that count as read. */
  readonly read?: readonly (readonly [path: string, file: ReadFile])[] | undefined
  /** Not on the session's prefix: a talk of its own that is not kept, with a prompt of its own and no tools. */
  readonly apart?: Apart | undefined
  /** It is an agent: the parent lists it, its tools need the parent's permission, and its hooks are heard. */
  readonly agent?: AgentAbout | undefined
  /** Told the name of its session as soon as it has one. */
  readonly started?: ((session: SessionId) => void) | undefined
  readonly caps?: Caps | undefined
  /** Why it was stopped, where whoever stopped it knows; it stands in the report of an agent. */
  readonly why?: (() => string | null) | undefined
  /** Most responses; one more is not asked for, and the fork has failed. */
  readonly maxRounds?: number | undefined
  readonly emit?: Emit | undefined
}

export interface ForkOutcome {
  readonly outcome: Outcome
  readonly session: SessionId | null
  /** What it said last. */
  readonly text: string
  readonly spent: Spent | null
  readonly usage: Usage | null
  readonly failure: TurnFailure | null
}

/** A direct call: nothing of the session's prompt, tools, thinking or cache. */
export interface Apart {
  readonly system: string
  /** What was said before the directive. */
  readonly talk: readonly Fact[]
  /** Another model than the session's. */
  readonly modelId?: string | undefined
}
