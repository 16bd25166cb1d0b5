// Which rules of Chat Completions a request breaks. One function a rule, each reading the list from scratch; it shares the
// tables of `request` with the repair and none of its logic, so that it can be its witness.
import { isDeeplyWellFormed } from '../../request/well-formed.ts'
import { fieldsOf, listOf, textOf, type Fields } from '../reading.ts'
import { eachIn, namePattern, problem } from '../repairing.ts'
import type { Quirks, WireProblem, WireTarget } from '../wire.ts'
import {
  answeredId,
  callId,
  callsOf,
  isEmptyContent,
  chatIdChars,
  mayHold,
  mostTools,
  partTypes,
  reasoningFields,
  roleOf,
  roles,
  saysOtherwise,
  spokenOf,
  type ChatRequest,
} from './request.ts'

type Rule = (messages: readonly Fields[], quirks: Quirks) => readonly WireProblem[]

const eachMessage = eachIn<Fields, Quirks>('messages')

const someMessage: Rule = (messages) =>
  messages.length > 0 ? [] : [problem('some-message', 'messages', 'there is none')]

const knownRole = eachMessage('role', (message, _at, _all, quirks) => {
  const role = roleOf(message)
  if (role === 'developer' && quirks.systemRole === 'system') return 'the server knows no developer'
  return roles.has(role) ? null : `no role: ${role}`
})

const someContent = eachMessage('empty-message', (message) => {
  const { content } = message
  const role = roleOf(message)
  if (Array.isArray(content) && content.length === 0) return 'its content is an empty list'
  if (role === 'assistant')
    return isEmptyContent(content) && callsOf(message).length === 0 && !saysOtherwise(message)
      ? 'it says nothing and calls nothing'
      : null
  return content === null || content === undefined ? 'it has no content' : null
})

const emptyCalls = eachMessage('empty-calls', ({ tool_calls: calls }) =>
  Array.isArray(calls) && calls.length === 0 ? 'its list of calls is empty' : null,
)

const fittingParts = eachMessage('part', (message) => {
  const role = roleOf(message)
  const { content } = message
  if (partTypes[role] === undefined || !Array.isArray(content)) return null
  const wrong = content.find((part) => !mayHold(role, textOf(fieldsOf(part)?.['type']) ?? ''))
  return wrong === undefined ? null : `a part that a ${role} message cannot carry`
})

const wholeCalls = eachMessage('call', (message) => {
  const calls = callsOf(message)
  if (calls.some((call) => callId(call) === '')) return 'a call has no id'
  if ([answeredId(message), ...calls.map(callId)].some((id) => id.length > chatIdChars)) return 'a long id'
  if (new Set(calls.map(callId)).size < calls.length) return 'two calls have one id'
  const spoken = calls.filter((call) => call['type'] !== 'custom').map(spokenOf)
  if (spoken.some((call) => !namePattern.test(textOf(call['name']) ?? ''))) return 'the name of a call'
  return spoken.some((call) => typeof call['arguments'] !== 'string') ? 'arguments are not text' : null
})

const pairing: Rule = (messages) => {
  const found: WireProblem[] = []
  let open = new Map<string, boolean>()
  const close = (at: number): void => {
    for (const [id, answered] of open)
      if (!answered) found.push(problem('missing-result', `messages.${at}`, `no result of ${id}`))
    open = new Map()
  }
  messages.forEach((message, at) => {
    if (roleOf(message) === 'tool') {
      const id = answeredId(message)
      const answered = open.get(id)
      if (answered === undefined) found.push(problem('orphan-result', `messages.${at}`, `no call ${id}`))
      else if (answered) found.push(problem('second-result', `messages.${at}`, `${id} has two results`))
      else open.set(id, true)
      return
    }
    close(at)
    open = new Map(callsOf(message).map((call) => [callId(call), false]))
  })
  close(messages.length)
  return found
}

const openReasoning = eachMessage('reasoning', (message, _at, _all, quirks) => {
  if (roleOf(message) !== 'assistant') return null
  const has = reasoningFields.some((field) => message[field] !== undefined)
  const hasCalls = callsOf(message).length > 0
  if (quirks.reasoningBack !== true) return has ? 'the server does not take reasoning back' : null
  if (hasCalls && !has) return 'its reasoning must come back'
  return has && !hasCalls ? 'reasoning without calls is not sent back' : null
})

const wellFormed = eachMessage('lone-surrogate', (message) =>
  isDeeplyWellFormed(message) ? null : 'half a character',
)

function toolProblems({ tools: list }: ChatRequest): readonly WireProblem[] {
  if (list === undefined) return []
  const names = listOf(list).map((tool) => textOf(fieldsOf(tool['function'])?.['name'] ?? tool['name']) ?? '')
  if (list.length > mostTools) return [problem('tools', 'tools', `more than ${mostTools}`)]
  const bad = names.findIndex((name) => !namePattern.test(name))
  return bad < 0 ? [] : [problem('tool-name', `tools.${bad}`, names[bad] ?? '')]
}

const rules: readonly Rule[] = [
  someMessage,
  knownRole,
  someContent,
  emptyCalls,
  fittingParts,
  wholeCalls,
  pairing,
  openReasoning,
  wellFormed,
]

/** Every rule of Chat Completions that a request breaks. */
export function checkChat(request: ChatRequest, { quirks = {} }: WireTarget): readonly WireProblem[] {
  return [...rules.flatMap((rule) => rule(request.messages, quirks)), ...toolProblems(request)]
}
