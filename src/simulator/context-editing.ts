// Server-side context editing: the client keeps sending everything, the server leaves old reasoning or old
// tool results out before the model and the cache see the prompt. Nothing is remembered between requests: the same
// request is always edited the same way, so what is cleared moves on as new calls arrive.
import type { WireBlock, WireContextEdit, WireRequest } from '../model/wire.ts'
import type { SimulatedModel } from './models.ts'
import { isAsk, isThinking, placedBlocks, stringOf } from './rules/blocks.ts'

export interface Edited {
  readonly request: WireRequest
  readonly applied: readonly Readonly<Record<string, unknown>>[]
}

interface Weighing {
  readonly model: SimulatedModel
  readonly block: (block: WireBlock) => number
  readonly total: (request: WireRequest) => number
}

type ToolClearing = Extract<WireContextEdit, { type: 'clear_tool_uses_20250919' }>
type ThinkingClearing = Extract<WireContextEdit, { type: 'clear_thinking_20251015' }>

const DEFAULT_TRIGGER = { type: 'input_tokens', value: 100_000 } as const
const DEFAULT_KEPT_TOOL_USES = 3
const DEFAULT_KEPT_THINKING_TURNS = 1
/** The real wording is not documented. */
const PLACEHOLDER = '[tool result cleared by context management]'

export function applyContextEdits(request: WireRequest, weigh: Weighing): Edited {
  let edited: Edited = { request, applied: [] }
  for (const edit of request.context_management?.edits ?? []) {
    const next =
      edit.type === 'clear_thinking_20251015'
        ? clearThinking(edited.request, edit, weigh)
        : clearToolUses(edited.request, edit, weigh)
    edited = { request: next.request, applied: [...edited.applied, ...next.applied] }
  }
  return edited
}

/** Reasoning blocks at these paths never reach the model. */
export function withoutBlocks(request: WireRequest, paths: ReadonlySet<string>): WireRequest {
  return paths.size === 0 ? request : mapBlocks(request, (block, path) => (paths.has(path) ? null : block))
}

function clearThinking(request: WireRequest, edit: ThinkingClearing, weigh: Weighing): Edited {
  const kept = keptTurns(edit, weigh.model)
  const turns = thinkingTurns(request)
  const cleared = turns.slice(0, Math.max(0, turns.length - kept))
  if (cleared.length === 0) return { request, applied: [] }
  const blocks = cleared.flat()
  const tokens = blocks.reduce((sum, each) => sum + weigh.block(each.block), 0)
  return {
    request: withoutBlocks(request, new Set(blocks.map((each) => each.path))),
    applied: [{ type: edit.type, cleared_thinking_turns: cleared.length, cleared_input_tokens: tokens }],
  }
}

function keptTurns({ keep }: ThinkingClearing, model: SimulatedModel): number {
  if (keep === undefined) return model.keepsThinking ? Infinity : DEFAULT_KEPT_THINKING_TURNS
  return keep === 'all' || keep.type === 'all' ? Infinity : keep.value
}

/** A tool loop is one turn: only a user message without results begins another. */
function thinkingTurns(request: WireRequest) {
  const asks = request.messages.flatMap((message, index) => (isAsk(message) ? [index] : []))
  const turns = new Map<number, { block: WireBlock; path: string }[]>()
  for (const { block, path, message } of placedBlocks(request)) {
    if (!isThinking(block)) continue
    const ask = asks.findLast((index) => index < message) ?? -1
    turns.set(ask, [...(turns.get(ask) ?? []), { block, path }])
  }
  return [...turns.values()]
}

function clearToolUses(request: WireRequest, edit: ToolClearing, weigh: Weighing): Edited {
  const uses = placedBlocks(request).filter(({ block }) => block.type === 'tool_use')
  const trigger = edit.trigger ?? DEFAULT_TRIGGER
  const size = trigger.type === 'tool_uses' ? uses.length : weigh.total(request)
  if (size <= trigger.value) return { request, applied: [] }
  const kept = edit.keep?.value ?? DEFAULT_KEPT_TOOL_USES
  const names = new Map(
    uses
      .slice(0, Math.max(0, uses.length - kept))
      .filter(({ block }) => edit.exclude_tools?.includes(stringOf(block['name'])) !== true)
      .map(({ block }) => [stringOf(block['id']), stringOf(block['name'])]),
  )
  let tokens = 0
  const cleared = mapBlocks(request, (block) => {
    const next = clearedBlock(block, names, edit)
    if (next !== block) tokens += weigh.block(block) - weigh.block(next)
    return next
  })
  if (tokens < Math.max(1, edit.clear_at_least?.value ?? 0)) return { request, applied: [] }
  return {
    request: cleared,
    applied: [{ type: edit.type, cleared_tool_uses: names.size, cleared_input_tokens: tokens }],
  }
}

function clearedBlock(block: WireBlock, names: ReadonlyMap<string, string>, edit: ToolClearing): WireBlock {
  if (block.type === 'tool_result' && names.has(stringOf(block['tool_use_id'])))
    return { ...block, content: PLACEHOLDER }
  const name = block.type === 'tool_use' ? names.get(stringOf(block['id'])) : undefined
  const inputs = edit.clear_tool_inputs ?? false
  const clears = typeof inputs === 'boolean' ? inputs : name !== undefined && inputs.includes(name)
  return name !== undefined && clears ? { ...block, input: {} } : block
}

/** Messages in which nothing changed keep their identity, so counts and digests are not computed again. */
function mapBlocks(
  request: WireRequest,
  change: (block: WireBlock, path: string) => WireBlock | null,
): WireRequest {
  const messages = request.messages.map((message, index) => {
    const { content } = message
    if (typeof content === 'string') return message
    const next = content.map((block, position) => change(block, `messages.${index}.content.${position}`))
    const unchanged = next.every((block, position) => block === content[position])
    return unchanged ? message : { ...message, content: next.filter((block) => block !== null) }
  })
  return { ...request, messages }
}

// What the model sees once cache edits have been carried out. The bytes of the request, and so the keys of
// the cache, stay as they are: tokens and readable entries are worked out in `cache/prompt.ts` and `cache.ts`. An edit
// acts on the prompt it travels with, warm or cold; one that is not sent again has never been.

const DELETED = '[deleted from the cached prompt]'

export function withoutDeleted(request: WireRequest): WireRequest {
  const deleted = new Set(request.cache_edits?.map((edit) => edit.cache_reference))
  if (deleted.size === 0) return request
  const visible = (block: WireBlock): WireBlock => {
    const reference = block['cache_reference']
    return typeof reference === 'string' && deleted.has(reference) ? { ...block, content: DELETED } : block
  }
  const messages = request.messages.map((message) =>
    typeof message.content === 'string' ? message : { ...message, content: message.content.map(visible) },
  )
  return { ...request, messages }
}
