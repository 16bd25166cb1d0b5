// From one entry to what it contributes to the view. Whatever an entry holds, its part is fit for the wire: text is
// well-formed and not blank, reasoning is complete, a result is never empty (rules C1, C4, B4 of the fixtures).
import type { AssistantBlock, Sidecar, UserBlock } from '../../transcript/content.ts'
import { isRealInput, type Entry, type FactOf } from '../../transcript/fact.ts'
import { seq, uuid } from '../../transcript/ids.ts'
import type { Part, ToolResultBlock, ViewBlock } from '../view.ts'
import { estimateBlocks } from '../tokens.ts'

export const noOutput = '[no output]'
const resultLost = '[the result of this call could not be read from disk]'

/**
 * What every part is made from. All fields stand in it, unset ones too: the machine then knows one shape of part and
 * walks over a long view an order of magnitude quicker.
 */
export const emptyPart: Part = {
  role: 'user',
  from: seq(0),
  to: seq(0),
  uuid: uuid(''),
  at: 0,
  blocks: [],
  source: [],
  estimate: 0,
  clearedEstimate: 0,
  wholeEstimate: undefined,
  kind: 'edit',
  by: null,
  edit: null,
  model: undefined,
  messageId: undefined,
  tool: undefined,
  isError: undefined,
  memories: undefined,
  attachment: undefined,
}

/** What an entry shows, or null for a fact that has no place in the view. `tool` names the tool of a result. */
export function partOf(entry: Entry, tool?: string): Part | null {
  const fact = entry.fact
  switch (fact.type) {
    case 'user-message':
      return userPart(entry, fact.content, isRealInput(fact) ? 'input' : 'injected')
    case 'attachment':
      return attachmentPart(entry, fact)
    case 'memory-recall':
      return recallPart(entry, fact)
    case 'damage-found':
      // What cost nothing is for the person; the model would look for something that is not missing.
      return fact.lost.length === 0
        ? null
        : userPart(entry, [{ type: 'text', text: damageNotice(fact) }], 'injected')
    case 'tool-result':
      return resultPart(entry, fact, tool)
    case 'assistant-message':
      return answerPart(entry, fact)
    default:
      return null
  }
}

/** Answers for calls whose results were lost on disk; they take the place of the entry that followed. */
export function lostResults(entry: Entry, calls: readonly string[]): Part {
  const blocks = calls.map((call): ToolResultBlock => ({
    type: 'tool_result',
    tool_use_id: call,
    content: [{ type: 'text', text: resultLost }],
    is_error: true,
  }))
  return {
    ...plain(entry, 'user', 'result'),
    blocks,
    source: blocks.map(() => -1),
    estimate: estimateBlocks(blocks),
    isError: true,
  }
}

/** A part with other blocks, its estimate counted anew. */
export function withBlocks(part: Part, blocks: readonly ViewBlock[]): Part {
  return { ...part, blocks, estimate: estimateBlocks(blocks) }
}

function userPart(entry: Entry, content: readonly UserBlock[], kind: 'input' | 'injected'): Part | null {
  const { blocks, source } = cleaned(content)
  if (blocks.length === 0) return null
  return { ...plain(entry, 'user', kind), blocks, source, estimate: estimateBlocks(blocks) }
}

/** Known by its kind, so that what was recalled is never taken for something that was read. */
function recallPart(entry: Entry, fact: FactOf<'memory-recall'>): Part | null {
  const part = userPart(entry, [{ type: 'text', text: fact.text }], 'injected')
  const attachment = { kind: fact.type, source: null, restored: false }
  return part === null ? null : { ...part, attachment, memories: fact.files }
}

function attachmentPart(entry: Entry, fact: FactOf<'attachment'>): Part | null {
  const part = userPart(entry, fact.content, 'injected')
  const { kind, source = null, restored = false } = fact
  return part === null ? null : { ...part, attachment: { kind, source, restored } }
}

function resultPart(entry: Entry, fact: FactOf<'tool-result'>, tool: string | undefined): Part {
  const { blocks, source } = cleaned(fact.content)
  const content = blocks as readonly UserBlock[]
  const block: ToolResultBlock = {
    type: 'tool_result',
    tool_use_id: fact.call,
    content: content.length > 0 ? content : [{ type: 'text', text: noOutput }],
    is_error: fact.isError,
    ...(source.at(-1) === source.length - 1 || source.length === 0 ? {} : { places: source }),
  }
  return {
    ...plain(entry, 'user', 'result'),
    blocks: [block],
    source: [0],
    estimate: estimateBlocks([block]),
    tool,
    isError: fact.isError,
  }
}

function answerPart(entry: Entry, fact: FactOf<'assistant-message'>): Part | null {
  const { blocks, source } = cleaned(fact.content)
  if (blocks.length === 0) return null
  return {
    ...plain(entry, 'assistant', 'answer'),
    blocks,
    source,
    estimate: estimateBlocks(blocks),
    model: fact.model,
    ...(fact.provider === undefined ? {} : { provider: fact.provider }),
    messageId: fact.messageId,
  }
}

const plain = (entry: Entry, role: Part['role'], kind: Part['kind']): Part => ({
  ...emptyPart,
  role,
  from: entry.seq,
  to: entry.seq,
  uuid: entry.uuid,
  at: entry.at,
  kind,
})

function cleaned(content: readonly (UserBlock | AssistantBlock)[]): {
  blocks: ViewBlock[]
  source: number[]
} {
  const blocks: ViewBlock[] = []
  const source: number[] = []
  const answered = new Set(content.map((block) => ('tool_use_id' in block ? block.tool_use_id : undefined)))
  for (const [index, block] of content.entries()) {
    const clean = cleanBlock(block, answered)
    if (clean === null) continue
    blocks.push(clean)
    source.push(index)
  }
  return { blocks, source }
}

function cleanBlock(block: UserBlock | AssistantBlock, answered: ReadonlySet<unknown>): ViewBlock | null {
  switch (block.type) {
    case 'text': {
      const text = wellFormed(block.text)
      return text.trim() === '' ? null : { type: 'text', text, ...sidecarOf(block) }
    }
    case 'thinking':
      // Without its signature the provider refuses it; a cut stream leaves such blocks behind.
      return block.signature === undefined || block.signature === '' ? null : block
    case 'redacted_thinking':
      return 'data' in block && block.data === '' ? null : block
    case 'tool_use': {
      if (!('id' in block)) return null
      const { id, name, input } = block
      return { type: 'tool_use', id, name, input, ...(block.broken === undefined ? sidecarOf(block) : {}) }
    }
    case 'server_tool_use':
      return 'id' in block && answered.has(block.id) ? block : null
    default:
      return block
  }
}

/** What its own wire wants back with it; arguments that were cut are never sent again. */
const sidecarOf = ({ sidecar }: { readonly sidecar?: Sidecar | undefined }): { readonly sidecar?: Sidecar } =>
  sidecar === undefined ? {} : { sidecar }

/** Text without halves of a character: cutting at a length leaves them, and the wire refuses them. */
export const wellFormed = (text: string): string => (text.isWellFormed() ? text : text.toWellFormed())

function damageNotice(fact: FactOf<'damage-found'>): string {
  const count = fact.lost.reduce((sum, range) => sum + range.to - range.from + 1, 0)
  const what = count === 1 ? 'One entry' : `${count} entries`
  return `[${what} of this session could not be read from disk and is missing above. What it held is not known.]`
}
