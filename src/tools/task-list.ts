// TaskList: the model's own list of what is to be done. It gives the whole list each time and gets it echoed back, so the
// newest result is the state; nothing else is kept, and the result is never cleared.
import { defaults } from '../settings/defaults.ts'
import { choice, inputShape, list, object, text, type InputOf } from './input.ts'
import { failed, succeeded } from './outcome.ts'
import type { Tool } from './tool.ts'

const states = ['pending', 'active', 'done'] as const
const sign: Readonly<Record<(typeof states)[number], string>> = { pending: '[ ]', active: '[>]', done: '[x]' }

const task = object({
  title: text('', defaults.tools.taskChars),
  state: choice('', states),
})
const fields = { tasks: list('', task, defaults.tools.tasks) }
const shape = inputShape(fields)

/** Keeps the list of tasks of a session. */
export function taskListTool(): Tool<InputOf<typeof fields>> {
  return {
    spec: {
      name: 'TaskList',
      description:
        'Record the plan for work of three or more steps, and update it as you go. Send the complete list each time, one task active; mark a task done as soon as it is verified. It survives compaction.',
      input_schema: shape.schema,
    },
    policy: { readOnly: false, results: 'never-clear', maxResultChars: null },
    parse: (input) => shape.parse(input),
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
  }
}
