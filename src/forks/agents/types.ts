// What a type of agents is, and the two that are built in. `type-files` reads those of the user and the project.
import { defaults } from '../../settings/defaults.ts'
import type { AgentAbout } from '../../engine/background/agent-rows.ts'
import type { AgentMode } from '../../transcript/fact.ts'

export type MemoryScope = 'user' | 'project' | 'local'

export interface AgentLimits {
  readonly rounds: number
  readonly ms: number
  readonly tokens: number
  readonly dollars?: number | undefined
}

export interface AgentType {
  readonly name: string
  readonly description: string
  readonly prompt: string
  /** Null: those of its parent. */
  readonly tools: readonly string[] | null
  readonly model: string | null
  readonly memory: MemoryScope | null
  readonly instructions: boolean
  readonly limits: AgentLimits
  readonly from: 'built-in' | 'user' | 'project'
}

const { rounds, ms, tokens } = defaults.agents
/** Where a type says nothing else. */
export const usual: AgentLimits = { rounds, ms, tokens }
const plain = { model: null, memory: null, instructions: true, limits: usual, from: 'built-in' } as const

/** The types of agents that are always there. */
export const builtInTypes: readonly AgentType[] = [
  {
    ...plain,
    name: 'general',
    description: 'any task of several steps; it has your tools',
    prompt: 'Do the task, all of it, and verify it.',
    tools: null,
  },
  {
    ...plain,
    name: 'explore',
    description: 'read-only search and research',
    prompt:
      'Find out what is asked. Read what matters, not everything. Cite path:line, and say what you did not find.',
    tools: ['Read', 'Grep', 'Glob', 'Expand', 'WebFetch'],
  },
]

/** What is asked for when an agent is started. */
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

/** What of it the session writes down. */
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
