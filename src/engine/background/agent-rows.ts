// The agents of a session, folded from its facts: who was started, who has ended, whose result the model has been given.
// It stands outside the view, so no compaction can forget it, and it is part of the checkpoint. Pure.
import { defaults } from '../../settings/defaults.ts'
import { type FactOf, type Entry, type Outcome } from '../../transcript/fact.ts'
import type { Seq, SessionId } from '../../transcript/ids.ts'

/** What a session knows of an agent it starts. */
export type AgentAbout = Omit<FactOf<'agent-start'>, 'type' | 'child'>

export interface AgentRow extends AgentAbout {
  readonly child: SessionId
  /** When it was started, in milliseconds. */
  readonly since: number
  readonly state: 'running' | Outcome
  /** Where its end is written: the ref that gives its whole result back. */
  readonly end: Seq | null
  readonly spent?: { readonly tokens: number; readonly dollars: number } | undefined
  /** The model has its result; of one that was waited for, the call's own result is that. */
  readonly collected: boolean
}

/** What a session knows of what goes on beside it. */
export interface BackgroundRows {
  readonly agents: readonly AgentRow[]
  /** The messages delivered last, by their ids. */
  readonly delivered: readonly string[]
}

export const nothingInBackground: BackgroundRows = { agents: [], delivered: [] }

/** Kinds of attachments that hand something on. */
export const resultKind = 'agent-result'
export const messageKind = 'agent-message'
export const listKind = 'agents'
/** What a fork-end says of the purpose of an agent. */
export const agentPurpose = 'agent'

export function noteBackground(before: BackgroundRows, { fact, seq, at }: Entry): BackgroundRows {
  switch (fact.type) {
    case 'agent-start': {
      const { type: _, ...about } = fact
      const row: AgentRow = { ...about, since: at, state: 'running', end: null, collected: false }
      return { ...before, agents: bounded([...before.agents, row]) }
    }
    case 'fork-end':
      return changed(before, fact.child, (row) => ({
        ...row,
        state: fact.outcome,
        end: seq,
        ...(fact.spent === undefined ? {} : { spent: fact.spent }),
        collected: row.mode === 'foreground',
      }))
    case 'attachment':
      if (fact.id === undefined) return before
      if (fact.kind === resultKind)
        return changed(before, fact.id as SessionId, (row) => ({ ...row, collected: true }))
      if (fact.kind !== messageKind) return before
      return {
        ...before,
        delivered: [...before.delivered, fact.id].slice(-defaults.agents.rememberedMessages),
      }
    default:
      return before
  }
}

/** Those the model must know of whatever it has forgotten. */
export const openRows = ({ agents }: BackgroundRows): readonly AgentRow[] =>
  agents.filter((row) => !row.collected)

/** Ended, waited for by nobody, and not handed on yet. */
export const lateRows = ({ agents }: BackgroundRows): readonly AgentRow[] =>
  agents.filter((row) => row.end !== null && !row.collected)

function changed(
  before: BackgroundRows,
  child: SessionId,
  change: (row: AgentRow) => AgentRow,
): BackgroundRows {
  if (!before.agents.some((row) => row.child === child)) return before
  return { ...before, agents: before.agents.map((row) => (row.child === child ? change(row) : row)) }
}

/** What was collected may be forgotten, the oldest first; what is open never is. */
function bounded(rows: readonly AgentRow[]): readonly AgentRow[] {
  const most = defaults.agents.rememberedAgents
  let surplus = rows.length - most
  return surplus <= 0 ? rows : rows.filter((row) => !row.collected || surplus-- <= 0)
}
