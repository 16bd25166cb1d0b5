// Makes any chat completion one that the server accepts, and says what it changed. Pure: what needs no change leaves as the
// same object, and repairing twice changes nothing. Its passes: the shape of each message, calls with their results, tools.
import { fieldsOf, listOf, textOf, type Fields } from '../reading.ts'
import { emptyUser, missingResult, noOutput } from '../anthropic/block-rules.ts'
import { changedIds, type CallStep } from '../call-ids.ts'
import {
  namePattern,
  repairNotes,
  sameItems,
  spelledName,
  wellFormedFields,
  withShortId,
  type RepairNotes,
} from '../repairing.ts'
import type { Quirks, WireRepaired, WireTarget } from '../wire.ts'
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

/** A message on its way, with what must stand behind the results of its group. */
interface Draft {
  readonly message: Fields
  readonly path: string
  readonly moved: readonly Fields[]
}

/** Any chat completion as one that the server accepts. */
export function repairChat(request: ChatRequest, { quirks = {} }: WireTarget): WireRepaired<ChatRequest> {
  const notes = repairNotes()
  const drafts = request.messages.flatMap((message, at) => shaped(message, `messages.${at}`, quirks, notes))
  const messages = paired(separated(drafts, notes), notes)
  const tools = fittingTools(request.tools, notes)
  if (messages.length === 0) {
    notes.note('some-message', 'messages', 'nothing was left: an empty message stands in')
    messages.push({ role: 'user', content: emptyUser })
  }
  if (notes.repairs.length === 0) return { request, repairs: [] }
  const { tools: _, ...rest } = request
  return { request: { ...rest, messages, ...(tools === undefined ? {} : { tools }) }, repairs: notes.repairs }
}

// ---- the shape of one message ----

function shaped(given: unknown, path: string, quirks: Quirks, notes: RepairNotes): readonly Draft[] {
  const fields = fieldsOf(given)
  if (fields === null) {
    notes.note('bad-message', path, 'left out: it is not a message')
    return []
  }
  const known = withRole(wellFormedFields(fields, path, notes), path, quirks, notes)
  const message = withShortId(known, 'tool_call_id', chatIdChars, path, notes)
  const content = contentOf(message, path, notes)
  const plain = content.content === message['content'] ? message : { ...message, content: content.content }
  const whole = roleOf(plain) === 'assistant' ? answerOf(plain, path, quirks, notes) : plain
  if (whole === null || !isSaying(whole, path, notes)) return []
  // A text without a character is taken of a result: it stays, so that what was sent stays what it was.
  if (roleOf(whole) === 'tool' && isEmptyContent(whole['content']) && whole['content'] !== '') {
    if (message['content'] === whole['content'])
      notes.note('empty-message', path, 'a result without content got a line that says so')
    return [{ message: { ...whole, content: noOutput }, path, moved: content.moved }]
  }
  return [{ message: whole, path, moved: content.moved }]
}

function withRole(message: Fields, path: string, quirks: Quirks, notes: RepairNotes): Fields {
  const role = roleOf(message)
  if (role === 'developer' && quirks.systemRole === 'system') {
    notes.note('role', path, 'developer became system: the server knows no other')
    return { ...message, role: 'system' }
  }
  if (roles.has(role)) return message
  notes.note('role', path, `role ${JSON.stringify(message['role']) ?? 'undefined'} became user`)
  return { ...message, role: 'user' }
}

function contentOf(
  message: Fields,
  path: string,
  notes: RepairNotes,
): { readonly content: unknown; readonly moved: readonly Fields[] } {
  const { content } = message
  const role = roleOf(message)
  if (!Array.isArray(content) || partTypes[role] === undefined) return { content, moved: [] }
  const kept: unknown[] = []
  const moved: Fields[] = []
  content.forEach((item: unknown, index) => {
    const part = fieldsOf(typeof item === 'string' ? { type: 'text', text: item } : item)
    const type = textOf(part?.['type']) ?? ''
    const place = `${path}.content.${index}`
    if (part === null || type === '') notes.note('part', place, 'left out: it has no type')
    else if (mayHold(role, type)) {
      if (typeof item === 'string') notes.note('part', place, 'a bare string became a text part')
      kept.push(typeof item === 'string' ? part : item)
    } else if (role === 'tool' && partTypes['user']?.has(type) === true) {
      notes.note('media-in-result', place, `${type} moved behind the results: a result is text`)
      moved.push(part)
    } else notes.note('part', place, `${type} left out: a ${role} message cannot carry it`)
  })
  return { content: sameItems(kept, content) ? content : kept, moved }
}

/** An answer with calls that can be read, and reasoning only where the server asks for it. */
function answerOf(message: Fields, path: string, quirks: Quirks, notes: RepairNotes): Fields | null {
  const calls = wholeCalls(message, path, notes)
  const { tool_calls: given, ...rest } = message
  const same = given === undefined || (calls === given && calls.length > 0)
  const plain = same ? message : calls.length === 0 ? rest : { ...message, tool_calls: calls }
  if (!same && calls.length === 0 && Array.isArray(given) && given.length === 0)
    notes.note('empty-calls', path, 'an empty list of calls left out')
  return reasoned(plain, calls.length > 0, path, quirks, notes)
}

function wholeCalls(message: Fields, path: string, notes: RepairNotes): readonly Fields[] {
  const given = message['tool_calls']
  if (!Array.isArray(given)) return []
  const calls = listOf(given).map((long, index) => {
    const place = `${path}.tool_calls.${index}`
    const call = withShortId(long, 'id', chatIdChars, place, notes)
    return call['type'] === 'custom' ? call : spelledCall(call, place, notes)
  })
  return sameItems(calls, given) ? given : calls
}

function spelledCall(call: Fields, place: string, notes: RepairNotes): Fields {
  const spoken = spokenOf(call)
  const name = textOf(spoken['name']) ?? ''
  const given = spoken['arguments']
  const isNamed = namePattern.test(name)
  if (isNamed && typeof given === 'string') return call
  if (!isNamed)
    notes.note('call-name', place, `the name ${JSON.stringify(name)} spelled as the server takes it`)
  if (typeof given !== 'string') notes.note('call-arguments', place, 'arguments written as text')
  const text = typeof given === 'string' ? given : JSON.stringify(given ?? {})
  return { ...call, type: 'function', function: { ...spoken, name: spelledName(name), arguments: text } }
}

function reasoned(
  message: Fields,
  hasCalls: boolean,
  path: string,
  quirks: Quirks,
  notes: RepairNotes,
): Fields {
  const has = reasoningFields.filter((field) => message[field] !== undefined)
  const goesBack = quirks.reasoningBack === true && hasCalls
  if (goesBack && has.length === 0) {
    notes.note('reasoning', path, 'an empty reasoning_content added: the server asks for one with every call')
    return { ...message, reasoning_content: '' }
  }
  if (goesBack || has.length === 0) return message
  notes.note('reasoning', path, `left out: ${has.join(', ')}`)
  return Object.fromEntries(Object.entries(message).filter(([key]) => !has.some((field) => field === key)))
}

function isSaying(message: Fields, path: string, notes: RepairNotes): boolean {
  const role = roleOf(message)
  const isEmpty = isEmptyContent(message['content'])
  if (role === 'tool' || !isEmpty) return true
  if (role === 'assistant' && (callsOf(message).length > 0 || saysOtherwise(message)))
    return !Array.isArray(message['content']) || dropEmptyList(path, notes)
  // An empty string is taken from a user, an empty list or none at all is not.
  if (role !== 'assistant' && message['content'] === '') return true
  notes.note('empty-message', path, 'left out: it says nothing')
  return false
}

function dropEmptyList(path: string, notes: RepairNotes): boolean {
  notes.note('empty-message', path, 'an empty content beside calls became none')
  return true
}

// ---- calls and results ----

/** Calls of one message that share an id, or have none, under ids of their own, with their results. */
function separated(drafts: readonly Draft[], notes: RepairNotes): readonly Draft[] {
  const steps = drafts.flatMap(({ message }, at): readonly CallStep[] =>
    roleOf(message) === 'tool'
      ? [{ at: `${at}`, kind: 'result', id: answeredId(message), group: at, print: '' }]
      : callsOf(message).map((call, index) => ({
          at: `${at}.${index}`,
          kind: 'call',
          id: callId(call),
          group: at,
          print: JSON.stringify([callId(call), call['function'] ?? call['custom']]),
        })),
  )
  const changed = changedIds(steps, { isListWide: false, mostChars: chatIdChars })
  if (changed.size === 0) return drafts
  return drafts.map((draft, at) => {
    const { message, path } = draft
    const own = changed.get(`${at}`)
    if (typeof own === 'string') return { ...draft, message: { ...message, tool_call_id: own } }
    const given = callsOf(message)
    const calls = given.flatMap((call, index): readonly Fields[] => {
      const id = changed.get(`${at}.${index}`)
      if (id === undefined) return [call]
      const place = `${path}.tool_calls.${index}`
      if (id === null) notes.note('call-id', place, `left out: it repeats call ${callId(call)}`)
      else notes.note('call-id', place, `call ${JSON.stringify(callId(call))} goes out as ${id}`)
      return id === null ? [] : [{ ...call, id }]
    })
    return sameItems(calls, given) ? draft : { ...draft, message: { ...message, tool_calls: calls } }
  })
}

function paired(drafts: readonly Draft[], notes: RepairNotes): Fields[] {
  const out: Fields[] = []
  const used = new Set<Draft>()
  drafts.forEach((draft, at) => {
    if (used.has(draft)) return
    if (roleOf(draft.message) === 'tool') {
      notes.note('orphan-result', draft.path, `left out: no call ${answeredId(draft.message)} before it`)
      return
    }
    const calls = callsOf(draft.message)
    out.push(withoutEmptyList(draft.message))
    if (calls.length === 0) return
    const results = resultsOf(calls, drafts, at, used, notes)
    out.push(...results.map(({ message }) => message))
    for (const id of calls.map(callId))
      if (!results.some(({ message }) => answeredId(message) === id)) {
        notes.note('missing-result', draft.path, `a result of ${id} stands in for the one that is lost`)
        out.push({ role: 'tool', tool_call_id: id, content: missingResult })
      }
    const moved = results.flatMap((result) => result.moved)
    if (moved.length > 0) out.push({ role: 'user', content: moved })
  })
  return out
}

/** Beside calls the content is nothing rather than an empty list. */
const withoutEmptyList = (message: Fields): Fields =>
  Array.isArray(message['content']) && message['content'].length === 0
    ? { ...message, content: null }
    : message

/** The results of one message: those behind it, then those that had been moved away. */
function resultsOf(
  calls: readonly Fields[],
  drafts: readonly Draft[],
  at: number,
  used: Set<Draft>,
  notes: RepairNotes,
): readonly Draft[] {
  const open = new Set(calls.map(callId))
  const found: Draft[] = []
  let isNear = true
  for (const draft of drafts.slice(at + 1)) {
    const role = roleOf(draft.message)
    isNear &&= role === 'tool'
    if (callsOf(draft.message).some((call) => open.has(callId(call)))) break
    if (role !== 'tool' || used.has(draft)) continue
    const id = answeredId(draft.message)
    if (!open.delete(id)) continue
    if (!isNear) notes.note('result-order', draft.path, `the result of ${id} moved behind its call`)
    used.add(draft)
    found.push(draft)
  }
  return found
}

function fittingTools(
  tools: readonly Fields[] | undefined,
  notes: RepairNotes,
): readonly Fields[] | undefined {
  if (tools === undefined) return undefined
  if (tools.length > mostTools)
    notes.note('tools', 'tools', `${tools.length - mostTools} tools left out: at most ${mostTools} are taken`)
  return tools.slice(0, mostTools).map((tool, at) => {
    const spoken = fieldsOf(tool['function'])
    const name = textOf(spoken?.['name']) ?? ''
    if (spoken === null || namePattern.test(name)) return tool
    notes.note('tool-name', `tools.${at}`, `the name ${JSON.stringify(name)} spelled as the server takes it`)
    return { ...tool, function: { ...spoken, name: spelledName(name) } }
  })
}
