// What the wire says about block types: which keys each may carry, who may say it, whether it can bear a cache breakpoint.
// Data and plain questions only, shared by the composer, repair and the validity check; none borrows another's logic.
// Types that are not listed come from a newer API than this file: they are carried along untouched.
import type { WireBlock } from '../../model/wire.ts'
import { isRecord } from '../../transcript/content.ts'

export {
  isDeeplyWellFormed,
  isWellFormed,
  toWellFormed,
  wellFormedRecord,
} from '../../request/well-formed.ts'

const common = ['type', 'cache_control']
const keysByType: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set([...common, 'text', 'citations']),
  image: new Set([...common, 'source', 'transformations']),
  document: new Set([...common, 'source', 'title', 'context', 'citations']),
  search_result: new Set([...common, 'source', 'title', 'content', 'citations']),
  tool_use: new Set([...common, 'id', 'name', 'input', 'caller', 'toolset_name']),
  tool_result: new Set([...common, 'tool_use_id', 'content', 'is_error', 'toolset_name']),
  thinking: new Set(['type', 'thinking', 'signature']),
  redacted_thinking: new Set(['type', 'data']),
  compaction: new Set([...common, 'content', 'encrypted_content', 'signature', 'tool_changes']),
}
/** Keys a block of this type may carry, or null where we do not know them all. */
export const knownKeys = (type: string): ReadonlySet<string> | null => keysByType[type] ?? null

export const systemMessageKeys: ReadonlySet<string> = new Set([
  'role',
  'content',
  'clear_at',
  'output_config',
])
export const messageKeys: ReadonlySet<string> = new Set(['role', 'content'])

const insideResult = new Set([
  'text',
  'image',
  'search_result',
  'document',
  'tool_reference',
  'browser_state',
])
export const mayStandInResult = (type: string): boolean => insideResult.has(type)

export const isReasoningType = (type: string): boolean => type === 'thinking' || type === 'redacted_thinking'
export const isServerCall = (type: string): boolean => type === 'server_tool_use' || type === 'mcp_tool_use'
export const isServerResult = (type: string): boolean =>
  type !== 'tool_result' && type.endsWith('_tool_result')
export const isToolChange = (type: string): boolean => type === 'tool_addition' || type === 'tool_removal'

const userOnly = new Set(['tool_result', 'image', 'document', 'search_result'])
export const onlyUserSays = (type: string): boolean => userOnly.has(type)
export const onlyAssistantSays = (type: string): boolean =>
  type === 'tool_use' || isReasoningType(type) || isServerCall(type) || isServerResult(type)
export const systemMaySay = (type: string): boolean => type === 'text' || isToolChange(type)

export const idPattern = /^[a-zA-Z0-9_-]+$/
export const isName = (name: string, maxChars: number): boolean =>
  idPattern.test(name) && name.length <= maxChars

/** The server strips more than JavaScript does: the ASCII separators and NEL count as blank too. */
const alsoBlank = new Set(['\u001c', '\u001d', '\u001e', '\u001f', '\u0085'])
export function isBlank(text: string): boolean {
  for (const character of text) if (character.trim() !== '' && !alsoBlank.has(character)) return false
  return true
}

export const isBlock = (value: unknown): value is WireBlock =>
  isRecord(value) && typeof value['type'] === 'string'
export const blockText = (block: WireBlock): string | null =>
  block.type === 'text' && typeof block['text'] === 'string' ? block['text'] : null
/** An explicit null is the same as no breakpoint. */
export const hasBreakpoint = (block: WireBlock): boolean => (block.cache_control ?? null) !== null
export const canCarryBreakpoint = (block: WireBlock): boolean =>
  !isReasoningType(block.type) && !(block.type === 'text' && isBlank(blockText(block) ?? ''))

// ---- what stands in for something that is missing ----
// The model reads these lines, so each says only what is known.

/** Nobody knows how far a call without a result came: it must not be told that nothing happened. */
export const missingResult =
  '[No result was recorded for this call. It was interrupted or its result was lost; check whether it took effect before repeating it.]'
export const truncatedCall =
  '[The arguments of this call were truncated before they were complete. The call was not run; send it again in full.]'
export const noOutput = '(no output)'
export const failedWithMedia = '(The call failed; what it returned stands below.)'
export const emptyUser = '(no content)'
export const opening = '(The earlier part of this conversation is not shown.)'
export const continueText = 'Continue.'
/** Follows reasoning that led to no visible output; the wire refuses a message that ends in reasoning. */
export const noAnswer = '(no answer)'
