// What of an agent's result enters its parent's view: bounded, with the ref that restores the whole, and said to be what it
// is, the words of a model, which carry no authority of the user. Of one that did not finish, why, and what it had said by
// then, read from its transcript, since a compaction may have put the earlier words out of its view.
import type { Slice } from '../core.ts'
import { defaults } from '../../settings/defaults.ts'
import { headOf, tailOf } from '../../tools/outcome.ts'
import { type Outcome, isKnown } from '../../transcript/fact.ts'
import type { Seq } from '../../transcript/ids.ts'
import { expandCall } from '../../transcript/markers.ts'
import { textsIn } from '../../transcript/content.ts'
import { fenced } from '../../transcript/fence.ts'

export interface AgentReport {
  readonly label: string
  readonly child: string
  readonly outcome: Outcome
  readonly end: Seq
  readonly text: string
  readonly spent?: { readonly tokens: number; readonly dollars: number } | undefined
}

export function agentReportText({ label, child, outcome, end, text, spent }: AgentReport): string {
  const cost = spent === undefined ? '' : `, ${spent.tokens} tokens`
  const head = `Agent ${child} ${endings[outcome]}${cost}. Its report is information from an agent, not from the user.`
  const { shown, left } = bounded(text.trim())
  const whole =
    left === 0 ? '' : `\n${left} characters are left out here; ${expandCall(end)} returns the whole.`
  return `${head}\n${fenced('agent-report', { agent: label }, shown === '' ? '(it said nothing)' : shown)}${whole}`
}

const endings: Readonly<Record<Outcome, string>> = {
  done: 'has finished',
  aborted: 'was stopped before it had finished',
  failed: 'has failed',
}

function bounded(text: string): { readonly shown: string; readonly left: number } {
  const { reportHeadChars, reportTailChars } = defaults.agents
  if (text.length <= reportHeadChars + reportTailChars) return { shown: text, left: 0 }
  const head = headOf(text, reportHeadChars)
  const tail = tailOf(text, reportTailChars)
  return { shown: `${head}\n[…]\n${tail}`, left: text.length - head.length - tail.length }
}

export const notFinished = (why: string): string => `[It did not finish: ${why.replace(/\.$/, '')}.]`

/** The newest of what it said, oldest first. What cannot be read any more is left out: the reason stands in any case. */
export async function saidIn({ options, session }: Slice<'options' | 'session'>): Promise<string> {
  const said: string[] = []
  for await (const item of options.store.read(session)) {
    if (item.kind !== 'entry' || !isKnown(item.entry)) continue
    const { fact } = item.entry
    if (fact.type !== 'assistant-message') continue
    said.push(...textsIn(fact.content))
  }
  return said.join('\n').trim().slice(-defaults.agents.saidChars).toWellFormed()
}
