// What the model means to do. Plan: it shows its plan to the user and waits for a yes. The plan is kept as an attachment, so that it stands
// word for word after every compaction; a yes ends the mode in which nothing may be changed.
import { defaults } from '../settings/defaults.ts'
import { attachmentOf } from '../transcript/fact.ts'
import { fenced } from '../transcript/fence.ts'
import { text, toolWith, type InputOf, choice, list, object } from './input.ts'
import { failed, succeeded } from './outcome.ts'
import type { Tool } from './tool.ts'

const fields = { plan: text('Markdown', defaults.tools.planChars) }

export type PlanAnswer =
  | { readonly kind: 'begin' }
  | { readonly kind: 'no'; readonly words?: string | undefined }
  /** Nobody can be asked. */
  | { readonly kind: 'nobody' }

interface PlanPort {
  propose(plan: string, callId: string, signal: AbortSignal): Promise<PlanAnswer>
}

export function planTool(port: PlanPort): Tool<InputOf<typeof fields>> {
  return toolWith(fields, {
    name: 'Plan',
    description:
      'Show the user a plan and wait for approval. Use it in plan mode, and before large or hard-to-undo work. Give steps, files and how you will verify. If nobody can answer, make the plan your reply.',
    policy: { readOnly: false, results: 'never-clear', maxResultChars: null },
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
  })
}

// ---- TaskList: the model's own list of what is to be done ----
// It gives the whole list each time and gets it echoed back, so the newest result is the state; nothing else is kept, and the
// result is never cleared.

const states = ['pending', 'active', 'done'] as const
const sign: Readonly<Record<(typeof states)[number], string>> = { pending: '[ ]', active: '[>]', done: '[x]' }

const task = object({
  title: text('', defaults.tools.taskChars),
  state: choice('', states),
})
const taskFields = { tasks: list('', task, defaults.tools.tasks) }

/** Keeps the list of tasks of a session. */
export function taskListTool(): Tool<InputOf<typeof taskFields>> {
  return toolWith(taskFields, {
    name: 'TaskList',
    description:
      'Record the plan for work of three or more steps, and update it as you go. Send the complete list each time, one task active; mark a task done as soon as it is verified. It survives compaction.',
    policy: { readOnly: false, results: 'never-clear', maxResultChars: null },
    async run({ tasks }) {
      if (tasks.length === 0) return succeeded('The task list is empty.')
      const blank = tasks.findIndex(({ title }) => title.trim() === '')
      if (blank >= 0) return failed(`tasks[${blank}].title is empty. The list was not changed.`)
      const active = tasks.filter(({ state }) => state === 'active').length
      if (active > 1)
        return failed(`${active} tasks are active, but only one may be. The list was not changed.`)
      const lines = tasks.map(
        ({ title, state }, at) => `${sign[state]} ${at + 1}. ${title.replace(/\s+/g, ' ').trim()}`,
      )
      const done = tasks.filter(({ state }) => state === 'done').length
      return succeeded(`${lines.join('\n')}\n${done} of ${tasks.length} done`)
    },
  })
}
