// Agent: starts one. Whoever waits for it gets its bounded report as the result; otherwise the report comes by itself,
// once, when it is there.
import { defaults } from '../../../settings/defaults.ts'
import { choice, flag, inputShape, optional, text, type InputOf } from '../../../tools/input.ts'
import { failed, succeeded } from '../../../tools/outcome.ts'
import type { Tool, ToolOutcome } from '../../../tools/tool.ts'
import type { AgentRegistry } from '../registry.ts'
import type { AgentType } from '../types.ts'
import type { Worker } from '../worker.ts'

const modes = ['foreground', 'background', 'teammate'] as const
const { labelChars, taskChars, nameChars } = defaults.agents

const fieldsOf = (types: readonly AgentType[]) => ({
  label: text('What it is for, in a few words', labelChars),
  prompt: text('The whole task: it sees nothing else, unless it is a fork', taskChars),
  type: optional(
    choice(
      'Who does it',
      types.map(({ name }) => name),
    ),
  ),
  mode: optional(choice('foreground (you wait), background, or a teammate who stays', modes)),
  fork: optional(flag('It begins with this conversation')),
  worktree: optional(flag('It works in a git worktree of its own, on a branch')),
  plan: optional(flag('For a teammate: it changes nothing until you approve its plan')),
  name: optional(text('For a teammate: the name others write to', nameChars)),
})

export function agentTool(registry: AgentRegistry): Tool<InputOf<ReturnType<typeof fieldsOf>>> {
  const { types } = registry.options
  const shape = inputShape(fieldsOf(types))
  return {
    spec: {
      name: 'Agent',
      description: `Starts an agent for a task of its own; several in one answer work side by side. Use it for work whose details you need not see. Its report comes back bounded.\n${types.map(({ name, description }) => `- ${name}: ${description}`).join('\n')}`,
      input_schema: shape.schema,
    },
    // They run side by side; what one of them does is judged call by call.
    policy: { readOnly: true, results: 'keep', maxResultChars: null },
    parse: (input) => shape.parse(input),
    async run(input, env, signal) {
      const { label, prompt, type = 'general', mode = 'foreground' } = input
      const { fork = false, worktree = false, plan: plans = false } = input
      const name = input.name?.trim()
      const parent = env.session === undefined ? null : registry.attended(env.session)
      if (parent === null) return failed('Agents are started by the session that talks with the user only.')
      if (label.trim() === '' || prompt.trim() === '') return failed('label and prompt must say something.')
      if ((mode === 'teammate') !== (name !== undefined))
        return failed('A teammate has a name, and only a teammate.')
      if (plans && mode !== 'teammate') return failed('Only the plan of a teammate can be approved.')
      if (name !== undefined && !/^[A-Za-z][\w-]*$/.test(name))
        return failed('A name begins with a letter and holds letters, digits, - and _ only.')
      const ask = {
        label: label.replace(/\s+/g, ' ').trim(),
        task: prompt,
        type,
        mode,
        forked: fork,
        worktree,
        plans,
        name,
      }
      const started = await registry.start(parent, ask, signal)
      if (!started.ok) return failed(`The agent was not started: ${started.why}`)
      return mode === 'foreground' ? waitedFor(started.worker) : succeeded(startedText(started.worker))
    },
  }
}

async function waitedFor(worker: Worker): Promise<ToolOutcome> {
  const { outcome } = await worker.done
  const report = await worker.parent.report(worker.child)
  if (!report.ok) return failed(report.failure.message)
  return { ...succeeded(report.text), isError: outcome === 'failed' }
}

const startedText = ({ child, about, awaitsPlan }: Worker): string =>
  about.mode === 'teammate'
    ? `The teammate ${about.name} (${child}) has begun. What it reports comes to you as messages; SendMessage writes to it.${awaitsPlan ? planText : ''}`
    : `The agent "${about.label}" (${child}) has begun. Its report will be given to you once, when it is there; do not ask for it, go on with something else or end your turn.`

const planText =
  ' It changes nothing until you approve its plan, which comes as a message: answer with kind plan-approval-response.'
