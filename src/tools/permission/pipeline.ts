// The one way for permission: judges in a row, the same for sessions, forks, agents and jobs. Each looks at a call and
// decides, or passes it on with a reason; the first that decides has decided. What restricts a fork or an agent is one
// more judge at the front of its list. A call through a tool that stands for another is judged as the tool it reaches.
import type { GivenRule } from '../../settings/rule-list.ts'
import type { ToolUseBlock } from '../../transcript/content.ts'
import type { Permit } from '../run.ts'
import type { Tool, ReadOnlyRun } from '../tool.ts'

export interface JudgedCall {
  /** As the model sent it. */
  readonly sent: ToolUseBlock
  /** What it comes to: the call of the tool that is reached. */
  readonly call: ToolUseBlock
  /** The tool that was called. */
  readonly tool: Tool
}

export interface Ruling {
  readonly kind: 'pass' | 'allow' | 'ask' | 'deny'
  /** One sentence: what was found. */
  readonly why: string
  readonly rule?: GivenRule | undefined
  /** Carries it out: asks the person, opens the path, writes it down. Left out, it is as it says. */
  readonly decide?: ((signal: AbortSignal) => Promise<Permit>) | undefined
}

export interface Judge {
  readonly name: string
  /** Asks nobody and changes nothing; the one exception is the hooks, which are the user's own commands. */
  judge(call: JudgedCall, signal: AbortSignal): Promise<Ruling>
}

export const pass = (why: string): Ruling => ({ kind: 'pass', why })

export function judgedCall(sent: ToolUseBlock, tool: Tool): JudgedCall {
  const reached = tool.reaches?.(sent.input)
  return { sent, tool, call: reached === undefined ? sent : { ...sent, ...reached } }
}

/** Whether a call may run. Without a judge everything may. */
export async function permitBy(
  judges: readonly Judge[],
  sent: ToolUseBlock,
  tool: Tool,
  signal: AbortSignal,
): Promise<Permit> {
  const call = judgedCall(sent, tool)
  for (const judge of judges) {
    const ruling = await judge.judge(call, signal)
    if (ruling.kind !== 'pass') return (await ruling.decide?.(signal)) ?? asItSays(ruling, call)
  }
  return { ok: true }
}

function asItSays({ kind, why }: Ruling, { sent }: JudgedCall): Permit {
  if (kind === 'allow') return { ok: true }
  return {
    ok: false,
    why: kind === 'deny' ? why : `${sent.name} was denied: ${why}, and nobody can be asked.`,
  }
}

export interface Explanation {
  /** The tool that is judged. */
  readonly tool: string
  readonly decision: 'allow' | 'ask' | 'deny'
  /** The judge that decided; null where none did. */
  readonly judge: string | null
  readonly why: string
  readonly rule: GivenRule | null
  /** What every judge said, down to the one that decided. */
  readonly rulings: readonly {
    readonly judge: string
    readonly kind: Ruling['kind']
    readonly why: string
  }[]
}

/** Who would decide about a call, and why; nothing is asked, opened or written. */
export async function explain(
  judges: readonly Judge[],
  sent: ToolUseBlock,
  tool: Tool,
  signal: AbortSignal,
): Promise<Explanation> {
  const call = judgedCall(sent, tool)
  const rulings: { judge: string; kind: Ruling['kind']; why: string }[] = []
  for (const judge of judges) {
    const { kind, why, rule = null } = await judge.judge(call, signal)
    rulings.push({ judge: judge.name, kind, why })
    if (kind !== 'pass')
      return { tool: call.call.name, decision: kind, judge: judge.name, why, rule, rulings }
  }
  const why = 'no judge has anything against it'
  return { tool: call.call.name, decision: 'allow', judge: null, why, rule: null, rulings }
}

/** A judge that only takes away: why a call may not run, or null. */
export function restriction(
  name: string,
  refuse: (call: ToolUseBlock, tool: Tool) => string | null | Promise<string | null>,
): Judge {
  return {
    name,
    async judge({ sent, tool }) {
      const why = await refuse(sent, tool)
      return why === null ? pass('it restricts nothing here') : { kind: 'deny', why }
    },
  }
}

// ---- what the rules and modes find about one call, with everything a person or a transcript wants to know ----

/**
 * default: read-only calls run, the rest is asked about. acceptEdits: changes of files in the project run too. plan:
 * only what looks. dontAsk: what would be asked about is refused. bypass: everything runs that no rule denies.
 */
export const permissionModes = ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypass'] as const
export type PermissionMode = (typeof permissionModes)[number]

export interface Verdict {
  readonly kind: 'allow' | 'ask' | 'deny'
  /** One sentence: what was found. */
  readonly why: string
  /** Who decided: a rule, a mode, or the nature of the call. */
  readonly by: 'rule' | 'mode' | 'nature'
  readonly rule?: GivenRule | undefined
  /** The call is read-only, as far as that is known. */
  readonly looks: boolean
  /** How a command that is let run as read-only has to run. */
  readonly readOnly?: ReadOnlyRun | undefined
  /** The rules that would let such a call run; empty when none short of the whole tool would. */
  readonly offers: readonly string[]
  /** Real paths that the path gate must let through if the call may run. */
  readonly reads?: readonly string[] | undefined
  readonly writes?: readonly string[] | undefined
}

const verdict = (
  kind: Verdict['kind'],
  why: string,
  by: Verdict['by'],
  more: Partial<Verdict> = {},
): Verdict => ({ kind, why, by, looks: false, offers: [], ...more })
export const allowed = (why: string, by: Verdict['by'], more?: Partial<Verdict>): Verdict =>
  verdict('allow', why, by, more)
export const asked = (why: string, more?: Partial<Verdict>): Verdict => verdict('ask', why, 'nature', more)
export const denied = (why: string, by: Verdict['by'], more?: Partial<Verdict>): Verdict =>
  verdict('deny', why, by, more)
