// A quick check of our own: which wire rules a list of messages breaks. One function per rule, each reading the list
// from scratch; it shares the tables of block types with repair and none of its logic, so that it can be its witness.
// Meant for development and tests; it does not judge signatures, sizes or anything outside `messages`.
import type { WireBlock, WireMessage } from '../../model/wire.ts'
import { defaults } from '../../settings/defaults.ts'
import { isRecord } from '../../transcript/content.ts'
import {
  blockText,
  canCarryBreakpoint,
  idPattern,
  isBlank,
  isBlock,
  isDeeplyWellFormed,
  hasBreakpoint,
  isName,
  isReasoningType,
  isServerCall,
  isServerResult,
  isToolChange,
  knownKeys,
  mayStandInResult,
  onlyAssistantSays,
  onlyUserSays,
  systemMaySay,
} from './block-rules.ts'
import { eachIn } from '../repairing.ts'
import type { WireProblem } from '../wire.ts'

export interface ValidityOptions {
  readonly maxBreakpoints?: number | undefined
  readonly prefill?: boolean | undefined
  readonly systemMessages?: boolean | undefined
  readonly extraKeys?: readonly string[] | undefined
}

interface Placed {
  readonly block: WireBlock
  readonly path: string
  readonly role: WireMessage['role']
}
type Rule = (messages: readonly WireMessage[], options: ValidityOptions) => readonly WireProblem[]

const blocksOf = (message: WireMessage | undefined): readonly WireBlock[] => {
  if (message === undefined) return []
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
}
const placed = (messages: readonly WireMessage[]): readonly Placed[] =>
  messages.flatMap((message, at) =>
    blocksOf(message).map((block, index) => ({
      block,
      path: `messages.${at}.content.${index}`,
      role: message.role,
    })),
  )
const inner = (block: WireBlock): readonly WireBlock[] =>
  block.type === 'tool_result' && Array.isArray(block['content']) ? block['content'].filter(isBlock) : []

/** The rule that looks at each block by itself: a sentence where it is broken. */
const eachBlock =
  (rule: string, fault: (placed: Placed, options: ValidityOptions) => string | null): Rule =>
  (messages, options) =>
    placed(messages).flatMap((each) => {
      const what = fault(each, options)
      return what === null ? [] : [{ rule, path: each.path, what }]
    })
/** The rule that looks at each message among its neighbours. */
const eachMessage = eachIn<WireMessage, ValidityOptions>('messages')

const someMessage: Rule = (messages) =>
  messages.length > 0 ? [] : [{ rule: 'some-message', path: 'messages', what: 'there is none' }]

const firstUser = eachMessage('first-user', (message, at) =>
  at > 0 || message.role === 'user' || blocksOf(message)[0]?.type === 'compaction'
    ? null
    : 'the first message is not a user message',
)
const lastUser = eachMessage('last-user', (message, at, all, options) => {
  if (at < all.length - 1 || message.role !== 'assistant') return null
  if (options.prefill !== true) return 'the last message is an answer'
  const text = blockText(blocksOf(message).at(-1) ?? { type: 'none' })
  return text !== null && text.trimEnd() !== text ? 'the answer to be continued ends in space' : null
})
const alternation = eachMessage('same-role', (message, at, all) =>
  all[at - 1]?.role === message.role ? 'the message before has the same role' : null,
)
const someContent = eachMessage('empty-message', (message) =>
  blocksOf(message).length > 0 ? null : 'it is empty',
)

const visibleText = eachBlock('empty-text', ({ block }) =>
  [block, ...inner(block)].some((each) => each.type === 'text' && isBlank(blockText(each) ?? ''))
    ? 'a text is empty'
    : null,
)
const wellFormed = eachBlock('lone-surrogate', ({ block }) =>
  isDeeplyWellFormed(block) ? null : 'half a character',
)
const keysKnown = eachBlock('extra-key', ({ block }, options) => {
  const refused = [block, ...inner(block)].flatMap((each) =>
    Object.keys(each).filter(
      (key) => knownKeys(each.type)?.has(key) === false && options.extraKeys?.includes(key) !== true,
    ),
  )
  return refused.length === 0 ? null : refused.join(', ')
})
const placeByRole = eachBlock('misplaced-block', ({ block, role }) => {
  const { type } = block
  const wrong =
    (role === 'assistant' && onlyUserSays(type)) ||
    (role !== 'assistant' && onlyAssistantSays(type)) ||
    (role === 'system' ? !systemMaySay(type) : isToolChange(type))
  return wrong ? `${type} in a ${role} message` : null
})
const uncited = eachBlock('user-citations', ({ block, role }) => {
  const cites = (each: WireBlock): boolean =>
    each.type === 'text' && Array.isArray(each['citations']) && each['citations'].length > 0
  return role === 'user' && [block, ...inner(block)].some(cites) ? 'citations in a user message' : null
})

const systemPlace = eachMessage('system-place', (message, at, all, options) => {
  if (message.role !== 'system') return null
  if (options.systemMessages !== true) return 'the model knows no system messages'
  const before = all[at - 1]
  const follows =
    before?.role === 'user' ||
    (before?.role === 'assistant' && isServerResult(blocksOf(before).at(-1)?.type ?? ''))
  const next = all[at + 1]
  return follows && (next === undefined || next.role === 'assistant') ? null : 'it cannot stand here'
})

const callShape = eachBlock('call-shape', ({ block }) => {
  if (block.type !== 'tool_use') return null
  const { id, name, input } = block
  if (typeof id !== 'string' || !idPattern.test(id)) return 'its id does not match the pattern'
  if (typeof name !== 'string' || !isName(name, defaults.request.toolNameChars))
    return 'its name does not match the pattern'
  return isRecord(input) ? null : 'its input is not an object'
})
const uniqueCalls: Rule = (messages) => {
  const seen = new Set<unknown>()
  return placed(messages).flatMap(({ block, path }) => {
    if (block.type !== 'tool_use') return []
    const again = seen.has(block['id'])
    seen.add(block['id'])
    return again ? [{ rule: 'call-duplicate', path, what: `id ${String(block['id'])} again` }] : []
  })
}
const callsAnswered = eachMessage('result-missing', (message, at, all) => {
  const next = all[at + 1]
  const following = next?.role === 'user' ? blocksOf(next) : []
  const end = following.findIndex((block) => block.type !== 'tool_result')
  const leading = new Set(
    following.slice(0, end === -1 ? undefined : end).map((block) => block['tool_use_id']),
  )
  const open = blocksOf(message).filter((block) => block.type === 'tool_use' && !leading.has(block['id']))
  return open.length === 0
    ? null
    : `no result directly behind ${open.map((block) => String(block['id'])).join(', ')}`
})
const resultsCalled = eachMessage('result-orphan', (message, at, all) => {
  const results = blocksOf(message).flatMap((block) =>
    block.type === 'tool_result' ? [block['tool_use_id']] : [],
  )
  const calls = new Set(
    blocksOf(all[at - 1]).flatMap((block) => (block.type === 'tool_use' ? [block['id']] : [])),
  )
  const orphans = results.filter((id) => !calls.has(id))
  if (orphans.length > 0) return `no call directly before ${orphans.map(String).join(', ')}`
  return new Set(results).size === results.length ? null : 'two results for one call'
})
const resultShape = eachBlock('result-shape', ({ block }) => {
  if (block.type !== 'tool_result') return null
  const content = block['content']
  if (content !== undefined && typeof content !== 'string' && !Array.isArray(content))
    return 'its content is neither text nor blocks'
  if (inner(block).some((each) => !mayStandInResult(each.type))) return 'it holds a block it cannot carry'
  if (block['is_error'] !== true) return null
  if (inner(block).some((each) => each.type !== 'text')) return 'a failed result holds more than text'
  const said = typeof content === 'string' ? !isBlank(content) : inner(block).length > 0
  return said ? null : 'a failed result says nothing'
})
const callsOurTools = (message: WireMessage): boolean =>
  blocksOf(message).some(({ type }) => type === 'tool_use')
const serverPairs = eachMessage('server-pair', (message, at, all, options) => {
  const open = new Set<unknown>()
  // Beside calls of ours one may be completed in a later answer.
  const begun = all.slice(0, at).filter(callsOurTools).flatMap(blocksOf)
  const later = all.slice(at + 1).filter(({ role }) => role === 'assistant')
  const results = new Set(later.flatMap(blocksOf).map((block) => block['tool_use_id']))
  const paused = options.prefill === true && at === all.length - 1
  for (const block of blocksOf(message)) {
    if (isServerCall(block.type)) open.add(block['id'])
    else if (isServerResult(block.type) && !open.delete(block['tool_use_id'])) {
      const isBegun = begun.some(({ type, id }) => isServerCall(type) && id === block['tool_use_id'])
      if (!isBegun) return `${block.type} without its call`
    }
  }
  if (callsOurTools(message))
    for (const id of open) if (results.has(id) || later.length === 0) open.delete(id)
  return open.size === 0 || paused ? null : 'a server tool call without its result'
})

const reasoningSigned = eachBlock('reasoning-unsigned', ({ block }) => {
  if (!isReasoningType(block.type)) return null
  const proof = block.type === 'thinking' ? block['signature'] : block['data']
  return typeof proof === 'string' && proof !== '' ? null : 'reasoning without a signature'
})
const reasoningLast = eachMessage('reasoning-last', (message) =>
  message.role === 'assistant' && isReasoningType(blocksOf(message).at(-1)?.type ?? '')
    ? 'it ends in reasoning'
    : null,
)

const blocksWithBreakpoint = (messages: readonly WireMessage[]): readonly Placed[] =>
  placed(messages)
    .flatMap((each) => [...inner(each.block).map((block) => ({ ...each, block })), each])
    .filter((each) => hasBreakpoint(each.block))
const breakpointPlace: Rule = (messages) =>
  blocksWithBreakpoint(messages).flatMap(({ block, path }) =>
    canCarryBreakpoint(block)
      ? []
      : [{ rule: 'breakpoint-place', path, what: `a breakpoint on ${block.type}` }],
  )
const breakpointCount: Rule = (messages, options) => {
  const count = blocksWithBreakpoint(messages).length
  const most = options.maxBreakpoints ?? defaults.request.maxBreakpoints
  return count <= most
    ? []
    : [{ rule: 'breakpoint-count', path: 'messages', what: `${count} breakpoints, ${most} allowed` }]
}
const breakpointOrder: Rule = (messages) => {
  const breakpoints = blocksWithBreakpoint(messages)
  const short = breakpoints.findIndex(({ block }) => block.cache_control?.ttl !== '1h')
  const late =
    short === -1 ? undefined : breakpoints.slice(short).find(({ block }) => block.cache_control?.ttl === '1h')
  return late === undefined
    ? []
    : [{ rule: 'breakpoint-order', path: late.path, what: 'a 1h breakpoint after a 5m breakpoint' }]
}

const rules: readonly Rule[] = [
  someMessage,
  firstUser,
  lastUser,
  alternation,
  someContent,
  visibleText,
  wellFormed,
  keysKnown,
  placeByRole,
  uncited,
  systemPlace,
  callShape,
  uniqueCalls,
  callsAnswered,
  resultsCalled,
  resultShape,
  serverPairs,
  reasoningSigned,
  reasoningLast,
  breakpointPlace,
  breakpointCount,
  breakpointOrder,
]

/** Every rule the messages break; none for a list that may be sent. */
export const problems = (
  messages: readonly WireMessage[],
  options: ValidityOptions = {},
): readonly WireProblem[] => rules.flatMap((rule) => rule(messages, options))
