// What comes from outside the house, as the preset takes it: tools, words for the prompt, and what is said again after a
// compaction. And the Plan tool, which needs the person at the screen.
import type { Restorer } from '../engine/restoring/restorer.ts'
import type { SectionDefinition } from '../request/sections.ts'
import type { Permission } from '../tools/permission/permission.ts'
import type { AskUser } from '../tools/permission/question.ts'
import { planTool, type PlanAnswer } from '../tools/plan.ts'
import type { Tool } from '../tools/tool.ts'

export interface Extensions {
  readonly tools: readonly Tool[]
  readonly sections: readonly SectionDefinition[]
  readonly restorers: readonly Restorer[]
}

export const noExtensions: Extensions = { tools: [], sections: [], restorers: [] }

/** A yes to a plan ends the mode in which nothing may be changed. */
export function planning(askUser: AskUser | undefined, permission: () => Permission): Tool {
  const propose = async (plan: string, callId: string, signal: AbortSignal): Promise<PlanAnswer> => {
    if (askUser === undefined) return { kind: 'nobody' }
    const question = {
      tool: 'Plan',
      callId,
      subject: plan,
      why: 'start the work?',
      rules: [],
      scopes: [],
    }
    const answer = await askUser(question, signal)
    if (answer.kind === 'no') return answer
    if (answer.kind === 'interrupt') return { kind: 'no' }
    if (permission().mode() === 'plan') permission().setMode('default')
    return { kind: 'begin' }
  }
  return planTool({ propose })
}
