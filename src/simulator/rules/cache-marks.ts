// The rules of cache_control, over one list in the order the server reads it: tools, system, messages.
// Also where the (not public) `cache_reference` may stand.
import type { CacheControl, WireBlock, WireError, WireRequest } from '../../model/wire.ts'
import { innerBlocks, isThinking, messageBlocks } from './blocks.ts'
import { invalid } from './problem.ts'

const MAX_MARKS = 4
const DEFAULT_TTL = '5m'

interface Markable {
  readonly path: string
  readonly mark: CacheControl | null
  readonly emptyText: boolean
  readonly reference: string | null
}

export function checkCacheMarks(request: WireRequest): WireError | null {
  const places = markables(request)
  const marked = places.filter((each) => each.mark !== null)
  const empty = marked.find((each) => each.emptyText)
  if (empty !== undefined) return invalid(`${empty.path}: cache_control cannot be set for empty text blocks`)
  return checkAutomatic(request, marked) ?? checkOrder(marked) ?? checkReferences(request, places)
}

/** The automatic mark counts as one of the four; on a block that has the same mark it does nothing. */
function checkAutomatic(request: WireRequest, marked: readonly Markable[]): WireError | null {
  const automatic = request.cache_control ?? null
  const last = automatic === null ? null : lastCacheable(request)
  const explicit = last?.cache_control ?? null
  if (automatic !== null && explicit !== null && ttlOf(explicit) !== ttlOf(automatic)) {
    return invalid(
      'cache_control: the last cacheable block already has a cache_control with a different ttl than the top-level one',
    )
  }
  const total = marked.length + (automatic !== null && last !== null && explicit === null ? 1 : 0)
  if (total <= MAX_MARKS) return null
  return invalid(`A maximum of ${MAX_MARKS} blocks with cache_control may be provided. Found ${total}.`)
}

function checkOrder(marked: readonly Markable[]): WireError | null {
  const short = marked.findIndex((each) => each.mark !== null && ttlOf(each.mark) === '5m')
  const long = marked.find((each, index) => short >= 0 && index > short && each.mark?.ttl === '1h')
  if (long === undefined) return null
  return invalid(
    `${long.path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. ` +
      'Note that blocks are processed in the following order: `tools`, `system`, `messages`.',
  )
}

/** A reference is unique, lies in the marked prefix, and an edit names one that exists. */
function checkReferences(request: WireRequest, places: readonly Markable[]): WireError | null {
  const end =
    (request.cache_control ?? null) === null
      ? places.findLastIndex((each) => each.mark !== null)
      : places.length
  const known = new Set<string>()
  for (const [index, { path, reference }] of places.entries()) {
    if (reference === null) continue
    if (known.has(reference))
      return invalid(`${path}.cache_reference: must be unique, found "${reference}" twice`)
    if (index > end)
      return invalid(`${path}.cache_reference: must not come after the last block with cache_control`)
    known.add(reference)
  }
  const unknown = (request.cache_edits ?? []).findIndex((edit) => !known.has(edit.cache_reference))
  if (unknown < 0) return null
  const name = request.cache_edits?.[unknown]?.cache_reference
  return invalid(`cache_edits.${unknown}.cache_reference: no block with cache_reference "${name}" was found`)
}

function markables(request: WireRequest): readonly Markable[] {
  const tools = (request.tools ?? []).map((tool, index) => ({
    path: `tools.${index}`,
    mark: tool.cache_control ?? null,
    emptyText: false,
    reference: null,
  }))
  const system = typeof request.system === 'object' ? request.system : []
  return [
    ...tools,
    ...system.map((block, index) => markable(block, `system.${index}`)),
    ...request.messages.flatMap((message, index) =>
      messageBlocks(message).flatMap((block, position) => {
        const path = `messages.${index}.content.${position}`
        const inner = innerBlocks(block).map((each, place) => markable(each, `${path}.content.${place}`))
        return [...inner, markable(block, path)]
      }),
    ),
  ]
}

function markable(block: WireBlock, path: string): Markable {
  return {
    path,
    mark: block.cache_control ?? null,
    emptyText: isEmptyText(block),
    reference: typeof block['cache_reference'] === 'string' ? block['cache_reference'] : null,
  }
}

/** Where the automatic mark goes: the last block that can carry one, found by walking back silently. */
export function lastCacheable(request: WireRequest): WireBlock | null {
  for (const message of request.messages.toReversed()) {
    const found = messageBlocks(message).findLast(canCarryMark)
    if (found !== undefined) return found
  }
  if (typeof request.system === 'object') return request.system.findLast(canCarryMark) ?? null
  return null
}

export function canCarryMark(block: WireBlock): boolean {
  return !isThinking(block) && !isEmptyText(block)
}

export function ttlOf(mark: CacheControl): '5m' | '1h' {
  return mark.ttl ?? DEFAULT_TTL
}

function isEmptyText(block: WireBlock): boolean {
  return block.type === 'text' && block['text'] === ''
}
