// Agent: starts one. Whoever waits for it gets its bounded report as the result; otherwise the report comes by itself,
// once, when it is there.
import { defaults } from '../../../settings/defaults.ts'
import { choice, flag, inputShape, optional, text, type InputOf } from '../../../tools/input.ts'
import { failed, succeeded } from '../../../tools/outcome.ts'
import type { Tool, ToolOutcome } from '../../../tools/tool.ts'
import { isReservedName } from '../../mailbox/message.ts'
import type { AgentRegistry } from '../registry.ts'
import type { AgentMode } from '../../../transcript/fact.ts'
import { defused } from '../../../transcript/fence.ts'
import type { AgentType } from '../types.ts'
import type { Worker } from '../worker.ts'

const { labelChars, taskChars, nameChars, reportHeadChars, reportTailChars } = defaults.agents

const fieldsOf = (types: readonly AgentType[], modes: readonly AgentMode[]) => ({
  label: text('What it is for, in a few words', labelChars),
  prompt: text('The whole task; it sees nothing else, unless fork', taskChars),
  type: optional(
    choice(
      'Default: general',
      types.map(({ name }) => name),
    ),
  ),
  mode: optional(choice('foreground (default): you wait', modes)),
  fork: optional(flag('It starts from this conversation')),
  worktree: optional(flag('It works in its own git worktree, on a branch')),
})
const teammateFields = {
  plan: optional(flag('For a teammate: read-only until you approve its plan')),
  name: optional(text('For a teammate: the name others write to', nameChars)),
}
type Fields = ReturnType<typeof fieldsOf> & typeof teammateFields

export function agentTool(registry: AgentRegistry, teammates: boolean): Tool<InputOf<Fields>> {
  const { types } = registry.options
  const own = fieldsOf(
    types,
    teammates ? ['foreground', 'background', 'teammate'] : ['foreground', 'background'],
  )
  // Fields that are not offered are absent from every input, as an optional field may be.
  const shape = inputShape((teammates ? { ...own, ...teammateFields } : own) as Fields)
  const most = (reportHeadChars + reportTailChars).toLocaleString('en-US')
  return {
    spec: {
      name: 'Agent',
      description: `Run a separate agent on a self-contained task and get its report (up to ${most} characters). Good for broad searches and independent parallel work; not for reading a file or two, or work whose details you need. It sees only \`prompt\`: give goal, paths, limits and the form of the answer. Several calls in one response run in parallel.\n${defused(types.map(({ name, description }) => `- ${name}: ${description}`).join('\n'))}`,
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
      if (name !== undefined && isReservedName(name))
        return failed(`${name} means somebody else in messages. Choose another name.`)
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
