// Plan: the model shows its plan to the user and waits for a yes. The plan is kept as an attachment, so that it stands
// word for word after every compaction; a yes ends the mode in which nothing may be changed.
import { defaults } from '../settings/defaults.ts'
import { attachmentOf } from '../transcript/fact.ts'
import { fenced } from '../transcript/fence.ts'
import { inputShape, text, type InputOf } from './input.ts'
import { failed, succeeded } from './outcome.ts'
import type { Tool } from './tool.ts'

const fields = { plan: text('Markdown', defaults.tools.planChars) }
const shape = inputShape(fields)

export type PlanAnswer =
  | { readonly kind: 'begin' }
  | { readonly kind: 'no'; readonly words?: string | undefined }
  /** Nobody can be asked. */
  | { readonly kind: 'nobody' }

export interface PlanPort {
  propose(plan: string, callId: string, signal: AbortSignal): Promise<PlanAnswer>
}

export function planTool(port: PlanPort): Tool<InputOf<typeof fields>> {
  return {
    spec: {
      name: 'Plan',
      description:
        'Show the user a plan and wait for approval. Use it in plan mode, and before large or hard-to-undo work. Give steps, files and how you will verify. If nobody can answer, make the plan your reply.',
      input_schema: shape.schema,
    },
    policy: { readOnly: false, results: 'never-clear', maxResultChars: null },
    parse: (input) => shape.parse(input),
    async run({ plan }, env, signal) {
      if (plan.trim() === '') return failed('`plan` is empty.')
      const answer = await port.propose(plan, env.callId, signal)
      if (answer.kind === 'nobody')
        return failed('Nobody can answer now. End your reply with the plan and let the user decide.')
      if (answer.kind === 'no') {
        const words = answer.words?.trim() ?? ''
        return succeeded(
          `The user did not approve the plan.${words === '' ? ' Ask what to change.' : ` They say: ${words}`}`,
        )
      }
      const kept = fenced('plan', {}, `The plan the user approved:\n${plan}`)
      return {
        ...succeeded('The user approved the plan. Begin, and follow it; say so where you have to deviate.'),
        facts: [attachmentOf('plan', kept, { source: 'Plan' })],
      }
    },
  }
}
