// The rules of cache_control, over one list in the order the server reads it: tools, system, messages.
// Also where the (not public) `cache_reference` may stand.
import type { CacheControl, WireBlock, WireError, WireRequest } from '../../model/wire.ts'
import { innerBlocks, isThinking, messageBlocks } from './blocks.ts'
import { invalid } from './problem.ts'

const MAX_BREAKPOINTS = 4
const DEFAULT_TTL = '5m'

interface Candidate {
  readonly path: string
  readonly breakpoint: CacheControl | null
  readonly emptyText: boolean
  readonly reference: string | null
}

export function checkCacheBreakpoints(request: WireRequest): WireError | null {
  const places = candidatesIn(request)
  const chosen = places.filter((each) => each.breakpoint !== null)
  const empty = chosen.find((each) => each.emptyText)
  if (empty !== undefined) return invalid(`${empty.path}: cache_control cannot be set for empty text blocks`)
  return checkAutomatic(request, chosen) ?? checkOrder(chosen) ?? checkReferences(request, places)
}

/** The automatic breakpoint counts as one of the four; on a block that has the same breakpoint it does nothing. */
function checkAutomatic(request: WireRequest, chosen: readonly Candidate[]): WireError | null {
  const automatic = request.cache_control ?? null
  const last = automatic === null ? null : lastCacheable(request)
  const explicit = last?.cache_control ?? null
  if (automatic !== null && explicit !== null && ttlOf(explicit) !== ttlOf(automatic)) {
    return invalid(
      'cache_control: the last cacheable block already has a cache_control with a different ttl than the top-level one',
    )
  }
  const total = chosen.length + (automatic !== null && last !== null && explicit === null ? 1 : 0)
  if (total <= MAX_BREAKPOINTS) return null
  return invalid(`A maximum of ${MAX_BREAKPOINTS} blocks with cache_control may be provided. Found ${total}.`)
}

function checkOrder(chosen: readonly Candidate[]): WireError | null {
  const short = chosen.findIndex((each) => each.breakpoint !== null && ttlOf(each.breakpoint) === '5m')
  const long = chosen.find((each, index) => short >= 0 && index > short && each.breakpoint?.ttl === '1h')
  if (long === undefined) return null
  return invalid(
    `${long.path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. ` +
      'Note that blocks are processed in the following order: `tools`, `system`, `messages`.',
  )
}

/** A reference is unique, lies in the cached prefix, and an edit names one that exists. */
function checkReferences(request: WireRequest, places: readonly Candidate[]): WireError | null {
  const end =
    (request.cache_control ?? null) === null
      ? places.findLastIndex((each) => each.breakpoint !== null)
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

function candidatesIn(request: WireRequest): readonly Candidate[] {
  const tools = (request.tools ?? []).map((tool, index) => ({
    path: `tools.${index}`,
    breakpoint: tool.cache_control ?? null,
    emptyText: false,
    reference: null,
  }))
  const system = typeof request.system === 'object' ? request.system : []
  return [
    ...tools,
    ...system.map((block, index) => candidate(block, `system.${index}`)),
    ...request.messages.flatMap((message, index) =>
      messageBlocks(message).flatMap((block, position) => {
        const path = `messages.${index}.content.${position}`
        const inner = innerBlocks(block).map((each, place) => candidate(each, `${path}.content.${place}`))
        return [...inner, candidate(block, path)]
      }),
    ),
  ]
}

function candidate(block: WireBlock, path: string): Candidate {
  return {
    path,
    breakpoint: block.cache_control ?? null,
    emptyText: isEmptyText(block),
    reference: typeof block['cache_reference'] === 'string' ? block['cache_reference'] : null,
  }
}

/** Where the automatic breakpoint goes: the last block that can carry one, found by walking back silently. */
function lastCacheable(request: WireRequest): WireBlock | null {
  for (const message of request.messages.toReversed()) {
    const found = messageBlocks(message).findLast(canCarryBreakpoint)
    if (found !== undefined) return found
  }
  if (typeof request.system === 'object') return request.system.findLast(canCarryBreakpoint) ?? null
  return null
}

export function canCarryBreakpoint(block: WireBlock): boolean {
  return !isThinking(block) && !isEmptyText(block)
}

export function ttlOf(breakpoint: CacheControl): '5m' | '1h' {
  return breakpoint.ttl ?? DEFAULT_TTL
}

function isEmptyText(block: WireBlock): boolean {
  return block.type === 'text' && block['text'] === ''
}
