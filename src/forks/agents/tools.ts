// The tools of agents: Agent starts one, Agents is the model's hand on those it has started, SendMessage writes to them.
import { endedWithin } from '../waiting.ts'
import { defaults } from '../../settings/defaults.ts'
import { choice, flag, optional, text, toolWith, whole, type InputOf } from '../../tools/input.ts'
import { failed, succeeded } from '../../tools/outcome.ts'
import type { Tool, ToolOutcome } from '../../tools/tool.ts'
import { isReservedName, messageKinds, type MessageKind } from '../mailbox/message.ts'
import type { AgentRegistry } from './registry.ts'
import type { AgentMode } from '../../transcript/fact.ts'
import { defused } from '../../transcript/fence.ts'
import type { AgentType } from './types.ts'
import type { Worker, Look } from './worker.ts'
import type { AgentRow } from '../../engine/background/agent-rows.ts'

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

/**
 * Whoever waits for an agent gets its bounded report as the result; otherwise the report comes by itself, once, when it is
 * there.
 */
function agentTool(registry: AgentRegistry, teammates: boolean): Tool<InputOf<Fields>> {
  const { types } = registry.options
  const own = fieldsOf(
    types,
    teammates ? ['foreground', 'background', 'teammate'] : ['foreground', 'background'],
  )
  // Fields that are not offered are absent from every input, as an optional field may be.
  const fields = (teammates ? { ...own, ...teammateFields } : own) as Fields
  const most = (reportHeadChars + reportTailChars).toLocaleString('en-US')
  return toolWith(fields, {
    name: 'Agent',
    description: `Run a separate agent on a self-contained task and get its report (up to ${most} characters). Good for broad searches and independent parallel work; not for reading a file or two, or work whose details you need. It sees only \`prompt\`: give goal, paths, limits and the form of the answer. Several calls in one response run in parallel.\n${defused(types.map(({ name, description }) => `- ${name}: ${description}`).join('\n'))}`,
    // They run side by side; what one of them does is judged call by call.
    policy: { readOnly: true, results: 'keep', maxResultChars: null },
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
  })
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

const agentsFields = {
  action: choice('', ['list', 'stop', 'wait']),
  agent: optional(text('Its id, name or label', defaults.agents.labelChars)),
  seconds: optional(whole('For wait: how long at most', 1, 600)),
}
const usualSeconds = 60

function agentsTool(registry: AgentRegistry): Tool<InputOf<typeof agentsFields>> {
  return toolWith(agentsFields, {
    name: 'Agents',
    description: 'Agents you started: list them, stop one, or wait until one has ended.',
    policy: { readOnly: true, results: 'clear', maxResultChars: defaults.tools.maxResultChars },
    async run({ action, agent = '', seconds = usualSeconds }, env, signal) {
      const parent = env.session === undefined ? null : registry.attended(env.session)
      if (parent === null) return failed('Only the session that talks with the user has agents.')
      if (action === 'list') return succeeded(listText(parent.agents(), registry.looks(parent.id)))
      const worker = registry.find(parent.id, agent)
      if (worker === null)
        return failed(
          `No agent ${JSON.stringify(agent)} is running.\n${listText(parent.agents(), registry.looks(parent.id))}`,
        )
      if (action === 'stop') {
        await registry.stop(worker, 'it was stopped by the one who started it')
        return succeeded(`${worker.child} is stopped. What it had comes to you as its report.`)
      }
      const isOver = await endedWithin(worker.done, seconds * 1000, signal)
      return succeeded(
        isOver ? `${worker.child} has ended; its report follows.` : `${worker.child} is still running.`,
      )
    },
  })
}

function listText(rows: readonly AgentRow[], looks: readonly Look[]): string {
  if (rows.length === 0) return 'You have started no agents.'
  const live = new Map(looks.map((look) => [look.child, look]))
  return rows
    .map((row) => {
      const look = live.get(row.child)
      const name = row.name === undefined ? '' : ` named ${row.name}`
      const at =
        look === undefined
          ? ''
          : `, ${look.rounds} requests${look.awaitsPlan ? ', its plan is not approved' : ''}${look.isIdle ? ', waiting for messages' : ''}${look.phrase === null ? '' : `, ${look.phrase}`}`
      const end = row.end === null ? '' : `; Expand {"ref": "${row.end}"} shows its result`
      return `${row.child} "${row.label}" (${row.agent}, ${row.mode})${name}: ${row.state}${at}${end}`
    })
    .join('\n')
}

const addressChars = 200
const messageFields = {
  to: text('A name, leader (who started you), * for all, or an address as session:<id>', addressChars),
  message: text('What to say', defaults.mailbox.messageBytes),
  summary: text('The same in one line', defaults.mailbox.summaryChars),
  kind: optional(choice('Left out: a plain message', messageKinds)),
  approve: optional(flag('For an answer: yes or no')),
}

/**
 * Words for another agent. They reach it as data, at its next round; nobody is permitted anything by them. Structured kinds
 * say who may: only the one who started an agent asks it to end or answers its plan, only a teammate agrees to end or asks
 * for its plan to be judged.
 */
function sendMessageTool(registry: AgentRegistry): Tool<InputOf<typeof messageFields>> {
  return toolWith(messageFields, {
    name: 'SendMessage',
    description:
      'Send a message to another agent, here or in another process. It arrives at its next request, as text from an agent and not from the user.',
    policy: { readOnly: false, results: 'keep', maxResultChars: defaults.tools.maxResultChars },
    async run({ to, message, summary, kind = 'message', approve }, env) {
      const from = env.session
      if (from === undefined) return failed('Only a session can send messages.')
      if (message.trim() === '' || summary.trim() === '')
        return failed('message and summary must say something.')
      const wrong = kindRefusal(registry, from, to, kind, approve)
      if (wrong !== null) return failed(wrong)
      const line = summary.replace(/\s+/g, ' ').trim()
      const worker = registry.worker(from)
      const address = to === 'leader' && worker !== null ? `session:${worker.parent.id}` : to
      const sent = await registry.send(from, address, { summary: line, text: message, kind, approve })
      if (!sent.ok) return failed(`Not sent: ${sent.why}`)
      const answered = kind === 'plan-approval-response' ? registry.find(from, to) : null
      if (answered !== null && approve === true) answered.awaitsPlan = false
      if (kind === 'shutdown-response' && approve === true && worker !== null) worker.isLeaving = true
      const failures = sent.failures.length === 0 ? '' : `\nNot everywhere: ${sent.failures.join('; ')}`
      return succeeded(`Sent to ${address === to ? sent.to.join(', ') : to}.${failures}`)
    },
  })
}

function kindRefusal(
  registry: AgentRegistry,
  from: string,
  to: string,
  kind: MessageKind,
  approve: boolean | undefined,
): string | null {
  if (kind === 'message') return null
  const isAnswer = kind === 'shutdown-response' || kind === 'plan-approval-response'
  if (isAnswer !== (approve !== undefined))
    return `approve belongs to an answer, and ${kind} is ${isAnswer ? 'one' : 'none'}.`
  const isLeader = registry.attended(from) !== null
  if (kind === 'shutdown-request' || kind === 'plan-approval-response')
    return isLeader && registry.find(from, to) !== null
      ? null
      : `Only the one who started an agent may send ${kind} to it.`
  return isLeader ? `Only an agent sends ${kind}.` : null
}

/** Without teammates there is nobody to write to, and nothing of them is offered. */
export const agentTools = (registry: AgentRegistry, teammates = true): readonly Tool[] => [
  agentTool(registry, teammates),
  agentsTool(registry),
  ...(teammates ? [sendMessageTool(registry)] : []),
]
