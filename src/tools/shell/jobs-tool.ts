// Jobs: the model's hand on the background jobs that Bash started.
import { defaults } from '../../settings/defaults.ts'
import { choice, inputShape, optional, text, whole, type InputOf } from '../input.ts'
import { failed, succeeded } from '../outcome.ts'
import type { Tool, ToolOutcome } from '../tool.ts'
import type { GroupEnd } from './group.ts'
import { endOf, firstLine, type Jobs } from './jobs.ts'

const fields = {
  action: choice('', ['read', 'stop', 'list']),
  job: optional(text('', 64)),
  wait: optional(whole('For read: milliseconds to wait', 0, defaults.tools.backgroundWaitMs)),
}
const shape = inputShape(fields)

/** Reads and stops commands in the background. */
export function jobsTool(jobs: Jobs): Tool<InputOf<typeof fields>> {
  return {
    spec: {
      name: 'Jobs',
      description: 'Background commands started by Bash: read new output of one, stop one, or list them.',
      input_schema: shape.schema,
    },
    policy: { readOnly: false, results: 'clear', maxResultChars: defaults.tools.maxResultChars },
    parse: (input) => shape.parse(input),
    async run({ action, job = '', wait = 0 }, _env, signal) {
      if (action === 'list') {
        const lines = jobs
          .list()
          .map(({ id, command, end }) => `${id} ${stateOf(end)}: ${firstLine(command)}`)
        return succeeded(lines.length === 0 ? 'There are no background jobs.' : lines.join('\n'))
      }
      if (action === 'stop')
        return (await jobs.stop(job)) ? succeeded(`${job} is stopped.`) : unknown(jobs, job)
      const look = await jobs.look(job, wait, signal)
      if (look === null) return unknown(jobs, job)
      const missed = look.missed > 0 ? `[${look.missed} earlier characters are gone]\n` : ''
      return succeeded(
        `[${look.id} ${stateOf(look.end)}]\n${missed}${look.text === '' ? '(nothing new)' : look.text}`,
      )
    },
  }
}

const stateOf = (end: GroupEnd | null): string => (end === null ? 'running' : endOf(end))

function unknown(jobs: Jobs, id: string): ToolOutcome {
  const known = jobs.list().map((job) => job.id)
  return failed(
    `There is no job ${JSON.stringify(id)}. ${known.length === 0 ? 'None was started.' : `There are: ${known.join(', ')}.`}`,
  )
}
