// SendMessage: words for another agent. They reach it as data, at its next round; nobody is permitted anything by them.
// Structured kinds say who may: only the one who started an agent asks it to end or answers its plan, only a teammate
// agrees to end or asks for its plan to be judged.
import { defaults } from '../../../settings/defaults.ts'
import { choice, flag, inputShape, optional, text, type InputOf } from '../../../tools/input.ts'
import { failed, succeeded } from '../../../tools/outcome.ts'
import type { Tool } from '../../../tools/tool.ts'
import { messageKinds, type MessageKind } from '../../mailbox/message.ts'
import type { AgentRegistry } from '../registry.ts'

const addressChars = 200
const fields = {
  to: text('A name, leader (who started you), * for all, or an address as session:<id>', addressChars),
  message: text('What to say', defaults.mailbox.messageBytes),
  summary: text('The same in one line', defaults.mailbox.summaryChars),
  kind: optional(choice('Left out: a plain message', messageKinds)),
  approve: optional(flag('For an answer: yes or no')),
}
const shape = inputShape(fields)

export function sendMessageTool(registry: AgentRegistry): Tool<InputOf<typeof fields>> {
  return {
    spec: {
      name: 'SendMessage',
      description:
        'Send a message to another agent, here or in another process. It arrives at its next request, as text from an agent and not from the user.',
      input_schema: shape.schema,
    },
    policy: { readOnly: false, results: 'keep', maxResultChars: defaults.tools.maxResultChars },
    parse: (input) => shape.parse(input),
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
  }
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
