// Rules 1–12: what may stand where in `messages`. Messages are walked in order, so the first fault is named.
import type { WireBlock, WireError, WireMessage, WireRequest } from '../../model/wire.ts'
import { type SimulatedModel, NO_PREFILL_SINCE } from '../models.ts'
import {
  innerBlocks,
  isThinking,
  messageBlocks,
  stringOf,
  turnsOf,
  type PlacedBlock,
  type Turn,
} from './blocks.ts'
import { invalid } from './problem.ts'
import { VERSION_WITHOUT_SAMPLING } from './request-shape.ts'
import { isRecord } from './shape.ts'

const MAX_MESSAGES = 100_000
const SERVER_RESULT = /^(?!tool_result$).+_tool_result$/

export function checkConversation(
  request: WireRequest,
  model: SimulatedModel,
  version: string,
  systemMessages = model.systemMessages,
): WireError | null {
  const { messages } = request
  const turns = turnsOf(request)
  return (
    checkCount(messages) ??
    checkText(request) ??
    checkPlaces(messages, version) ??
    checkSystemMessages(turns, systemMessages) ??
    checkCalls(turns) ??
    checkReports(turns) ??
    checkEnd(turns, model)
  )
}

function checkCount(messages: readonly WireMessage[]): WireError | null {
  if (messages.length === 0) return invalid('messages: at least one message is required')
  if (messages.length > MAX_MESSAGES) {
    return invalid(
      `messages: List should have at most ${MAX_MESSAGES} items after validation, not ${messages.length}`,
    )
  }
  if (messages[0]?.role !== 'user') return invalid('messages: first message must use the "user" role')
  const empty = messages.findIndex(
    (each, index) =>
      each.content.length === 0 &&
      !(each.role === 'assistant' && index === messages.length - 1) &&
      !(each.role === 'system' && isConfiguration(each)),
  )
  if (empty < 0) return null
  return invalid(
    `messages.${empty}: all messages must have non-empty content except for the optional final assistant message`,
  )
}

/** A system message may change the effort and say nothing; anywhere else the field says nothing. */
function isConfiguration(message: WireMessage): boolean {
  return Array.isArray(message.content) && isRecord((message as { output_config?: unknown }).output_config)
}

/** Rule 8, inside tool results too (the stricter reading). A string result may be empty. */
function checkText(request: WireRequest): WireError | null {
  if (typeof request.system === 'object' && request.system.some((block) => block['text'] === '')) {
    return invalid('system: text content blocks must be non-empty')
  }
  for (const message of request.messages) {
    if (message.content === '') continue
    for (const block of messageBlocks(message)) {
      const wrong =
        textFault(block) ??
        innerBlocks(block)
          .map(textFault)
          .find((each) => each !== null)
      if (wrong !== null && wrong !== undefined) return invalid(`messages: text content blocks must ${wrong}`)
    }
  }
  return null
}

function textFault(block: WireBlock): string | null {
  if (block.type !== 'text') return null
  const text = stringOf(block['text'])
  if (text === '') return 'be non-empty'
  return text.trim() === '' ? 'contain non-whitespace text' : null
}

/** Rule 5 and what the newer API version forbids; the texts for other blocks follow the same pattern (unverified). */
function checkPlaces(messages: readonly WireMessage[], version: string): WireError | null {
  const strict = version === VERSION_WITHOUT_SAMPLING
  for (const [index, message] of messages.entries()) {
    for (const [position, block] of messageBlocks(message).entries()) {
      const home = homeOf(block)
      if (home !== null && home !== message.role) {
        return invalid(`messages.${index}: \`${block.type}\` blocks can only be in \`${home}\` messages`)
      }
      if (message.role === 'system' && !['text', 'tool_addition', 'tool_removal'].includes(block.type)) {
        return invalid(`messages.${index}: \`${block.type}\` blocks cannot be in \`system\` messages`)
      }
      if (strict && message.role === 'assistant' && block.type === 'document') {
        return invalid(
          `messages.${index}.content.${position}: \`document\` blocks cannot be in \`assistant\` messages`,
        )
      }
      if (strict && message.role === 'user' && citesIn(block)) {
        return invalid(
          `messages.${index}.content.${position}: \`citations\` are not permitted in \`user\` messages`,
        )
      }
    }
  }
  return null
}

function homeOf(block: WireBlock): 'user' | 'assistant' | null {
  if (block.type === 'tool_result') return 'user'
  if (isThinking(block) || SERVER_RESULT.test(block.type)) return 'assistant'
  return ['tool_use', 'server_tool_use', 'mcp_tool_use'].includes(block.type) ? 'assistant' : null
}

function citesIn(block: WireBlock): boolean {
  const inside = block.type === 'search_result' ? block['content'] : innerBlocks(block)
  const candidates = [block, ...(Array.isArray(inside) ? (inside as readonly WireBlock[]) : [])]
  return candidates.some(
    (each) => each.type === 'text' && Array.isArray(each['citations']) && each['citations'].length > 0,
  )
}

/** A system message: never first, after a user turn, last or before an assistant turn (wording unverified). */
function checkSystemMessages(turns: readonly Turn[], isTaken: boolean): WireError | null {
  for (const [index, turn] of turns.entries()) {
    if (turn.role !== 'system') continue
    if (!isTaken) {
      return invalid(`messages.${turn.message}.role: Input should be 'user' or 'assistant'`)
    }
    const before = turns[index - 1]
    const after = turns[index + 1]
    const follows = before?.role === 'user' || SERVER_RESULT.test(before?.blocks.at(-1)?.block.type ?? '')
    if (!follows)
      return invalid(`messages.${turn.message}: a \`system\` message must directly follow a user turn`)
    if (after !== undefined && after.role !== 'assistant') {
      return invalid(
        `messages.${turn.message}: a \`system\` message must be last or be followed by an assistant turn`,
      )
    }
  }
  return null
}

function checkCalls(turns: readonly Turn[]): WireError | null {
  const seen = new Set<string>()
  const begun = new Set<string>()
  for (const [index, turn] of turns.entries()) {
    const wrong =
      turn.role === 'assistant'
        ? (checkUnique(turn, seen) ??
          checkAnswered(turn, turns[index + 1]) ??
          checkServerTools(turn, index === turns.length - 1, begun))
        : turn.role === 'user'
          ? checkResults(turn, turns[index - 1])
          : null
    if (wrong !== null) return wrong
  }
  return null
}

function checkUnique(turn: Turn, seen: Set<string>): WireError | null {
  for (const { block, path } of turn.blocks) {
    if (block.type !== 'tool_use') continue
    const id = stringOf(block['id'])
    if (seen.has(id)) return invalid(`${path}: \`tool_use\` ids must be unique`)
    seen.add(id)
  }
  return null
}

/** Rules 1 and 2: only results that lead the next user turn answer a call. */
function checkAnswered(turn: Turn, next: Turn | undefined): WireError | null {
  const answered = new Set<string>()
  for (const { block } of next?.role === 'user' ? next.blocks : []) {
    if (block.type !== 'tool_result') break
    answered.add(stringOf(block['tool_use_id']))
  }
  const missing = turn.blocks.filter(
    ({ block }) => block.type === 'tool_use' && !answered.has(stringOf(block['id'])),
  )
  if (missing.length === 0) return null
  const ids = missing.map(({ block }) => stringOf(block['id'])).join(', ')
  return invalid(
    `messages.${missing[0]?.message}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. ` +
      'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
  )
}

function checkResults(turn: Turn, previous: Turn | undefined): WireError | null {
  const calls = new Set(
    (previous?.role === 'assistant' ? previous.blocks : [])
      .filter(({ block }) => block.type === 'tool_use')
      .map(({ block }) => stringOf(block['id'])),
  )
  const answered = new Set<string>()
  for (const { block, path } of turn.blocks) {
    if (block.type !== 'tool_result') continue
    const id = stringOf(block['tool_use_id'])
    if (!calls.has(id)) {
      return invalid(
        `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. ` +
          'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
      )
    }
    if (answered.has(id)) {
      return invalid(
        `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      )
    }
    answered.add(id)
  }
  return null
}

/** Known from public reports of refusals: no answer ends in reasoning, and a failed result holds only text. */
function checkReports(turns: readonly Turn[]): WireError | null {
  for (const turn of turns) {
    const last = turn.blocks.at(-1)?.block
    if (turn.role === 'assistant' && last !== undefined && isThinking(last))
      return invalid(
        `messages.${turn.message}: The final block in an assistant message cannot be \`${last.type}\`.`,
      )
    for (const { block, path } of turn.blocks)
      if (block['is_error'] === true && innerBlocks(block).some(({ type }) => type !== 'text'))
        return invalid(`${path}.content: all content must be type 'text' if 'is_error' is true`)
  }
  return null
}

/**
 * Rule 18. The last assistant turn may be a paused one, whose result is still to come; beside calls of the client one is completed in a
 * later answer (`begun`).
 */
function checkServerTools(turn: Turn, isLast: boolean, begun: Set<string>): WireError | null {
  const open = new Map<string, PlacedBlock>()
  for (const placed of turn.blocks) {
    const { block, path } = placed
    if (block.type === 'server_tool_use' || block.type === 'mcp_tool_use')
      open.set(stringOf(block['id']), placed)
    if (!SERVER_RESULT.test(block.type)) continue
    const id = stringOf(block['tool_use_id'])
    if (!open.delete(id) && !begun.delete(id)) {
      return invalid(
        `${path}: unexpected \`tool_use_id\` found in \`${block.type}\` blocks: ${id}. ` +
          `Each \`${block.type}\` block must have a corresponding \`server_tool_use\` block before it.`,
      )
    }
  }
  const isMixed = turn.blocks.some(({ block }) => block.type === 'tool_use')
  if (isMixed) for (const id of open.keys()) begun.add(id)
  const [orphan] = isLast || isMixed ? [] : open.values()
  if (orphan === undefined) return null
  const name = stringOf(orphan.block['name'])
  return invalid(
    `\`${name}\` tool use with id \`${stringOf(orphan.block['id'])}\` was found without a corresponding \`${name}_tool_result\` block`,
  )
}

/** Rules 11 and 12. A paused server-tool turn is sent back as it is and does not count as prefill. */
function checkEnd(turns: readonly Turn[], model: SimulatedModel): WireError | null {
  const last = turns.at(-1)
  if (last?.role !== 'assistant') return null
  const block = last.blocks.at(-1)?.block
  if (block !== undefined && (block.type === 'server_tool_use' || SERVER_RESULT.test(block.type))) return null
  if (model.generation >= NO_PREFILL_SINCE) {
    return invalid(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    )
  }
  if (block?.type === 'text' && /\s$/.test(stringOf(block['text']))) {
    return invalid('messages: final assistant content cannot end with trailing whitespace')
  }
  return null
}
