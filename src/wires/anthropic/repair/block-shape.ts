// The shape of a single block: its fields, wherever it stands, and what a call and a result must hold besides. Whether
// a call and a result belong together is decided in pairing.
import { objectIn } from '../../../transcript/json.ts'
import type { WireBlock } from '../../../model/wire.ts'
import { defaults } from '../../../settings/defaults.ts'
import { isRecord } from '../../../transcript/content.ts'
import {
  blockText,
  failedWithMedia,
  isBlank,
  isBlock,
  isName,
  knownKeys,
  mayStandInResult,
  noOutput,
} from '../block-rules.ts'
import { sameItems } from '../../repairing.ts'
import { changed, note, type RepairLog } from './draft.ts'

/**
 * A call whose arguments were cut is never completed by guessing: an object that merely parses may lack what the model
 * was about to say. It goes out with no arguments, and pairing answers it as truncated.
 */
export function shapeCall(block: WireBlock, place: string, log: RepairLog): WireBlock {
  let next = block
  const name = toolName(block['name'], defaults.request.toolNameChars)
  if (name !== block['name']) {
    note(log, 'call-name', place, `tool name ${JSON.stringify(block['name']) ?? 'undefined'} became ${name}`)
    next = changed(log, next, { name })
  }
  const broken = block['broken'] !== undefined
  const input = broken ? null : wholeInput(block['input'])
  if (input === block['input']) return next
  next = changed(log, next, { input: input ?? {}, broken: undefined })
  if (input === null) log.truncated.add(next)
  note(
    log,
    'call-arguments',
    place,
    input === null ? 'truncated arguments became {}' : 'arguments sent as text were read',
  )
  return next
}

function toolName(name: unknown, maxChars: number): string {
  if (typeof name !== 'string' || name === '') return 'unknown_tool'
  return isName(name, maxChars) ? name : name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, maxChars)
}

/** The input itself, or the object that a complete text of it holds; null when there is no whole object. */
function wholeInput(input: unknown): Readonly<Record<string, unknown>> | null {
  if (isRecord(input)) return input
  return typeof input === 'string' ? objectIn(input) : null
}

/** The result as it may be sent, followed by media that may not stand in a failed one. */
export function shapeResult(block: WireBlock, place: string, log: RepairLog): readonly WireBlock[] {
  if (typeof block['tool_use_id'] !== 'string') {
    note(log, 'result-orphan', place, 'left out: it names no call')
    return []
  }
  let next = block
  const flag = block['is_error']
  if (flag !== undefined && flag !== null && typeof flag !== 'boolean') {
    note(log, 'bad-block', place, 'is_error made true or absent')
    next = changed(log, next, { is_error: flag ? true : undefined })
  }
  next = readableContent(next, place, log)
  if (next['is_error'] !== true) return [next]
  return failed(next, place, log)
}

function readableContent(block: WireBlock, place: string, log: RepairLog): WireBlock {
  const content: unknown = block['content']
  if (content === undefined || typeof content === 'string') return block
  if (!Array.isArray(content)) {
    note(log, 'bad-block', place, 'content that was neither text nor blocks became text')
    return changed(log, block, { content: content === null ? undefined : JSON.stringify(content) })
  }
  const kept: WireBlock[] = []
  let breakpoint = block.cache_control
  content.forEach((item: unknown, index) => {
    const innerPlace = `${place}.content.${index}`
    const inner = innerBlock(item, innerPlace, log)
    if (inner === null) return
    if (isBlank(blockText(inner) ?? inner.type)) {
      note(log, 'empty-text', innerPlace, 'left out: a text without a visible character')
      breakpoint ??= inner.cache_control
    } else kept.push(inner)
  })
  if (sameItems(kept, content)) return block
  return changed(log, block, { content: kept.length > 0 ? kept : noOutput, cache_control: breakpoint })
}

function innerBlock(item: unknown, place: string, log: RepairLog): WireBlock | null {
  if (typeof item === 'string') {
    note(log, 'bad-block', place, 'a bare string became a text block')
    return { type: 'text', text: item }
  }
  if (!isBlock(item) || !mayStandInResult(item.type)) {
    note(log, 'bad-block', place, 'left out: a result cannot carry it')
    return null
  }
  const fit = fitting(item, place, [], log)
  return fit === null ? null : withoutCitations(fit, place, log)
}

/** A failed result must say something, and only in text. */
function failed(block: WireBlock, place: string, log: RepairLog): readonly WireBlock[] {
  const content = block['content']
  const silent =
    typeof content === 'string' ? isBlank(content) : !Array.isArray(content) || content.length === 0
  if (silent) {
    note(log, 'empty-result', place, 'a failed call without a word was given one')
    return [changed(log, block, { content: noOutput })]
  }
  if (!Array.isArray(content)) return [block]
  const inner = content.filter(isBlock)
  const media = inner.filter((item) => item.type !== 'text')
  if (media.length === 0) return [block]
  note(
    log,
    'media-in-error',
    place,
    `${media.map((item) => item.type).join(', ')} moved behind the failed result`,
  )
  const texts = inner.filter((item) => item.type === 'text')
  const said = texts.length > 0 ? texts : [{ type: 'text', text: failedWithMedia }]
  const outside = media.filter(
    (item) => item.type === 'image' || item.type === 'document' || item.type === 'search_result',
  )
  return [changed(log, block, { content: said }), ...outside]
}

// ---- fields: none that the wire does not know, none missing that it demands ----

/** The block with known keys alone; null when what makes it a block of its type is missing. */
export function fitting(
  block: WireBlock,
  place: string,
  extraKeys: readonly string[],
  log: RepairLog,
): WireBlock | null {
  if (!isComplete(block)) {
    note(log, 'bad-block', place, `left out: a ${block.type} block without what it must hold`)
    return null
  }
  const known = knownKeys(block.type)
  const refused = Object.keys(block).filter((key) => known?.has(key) === false && !extraKeys.includes(key))
  if (refused.length === 0) return block
  note(log, 'extra-key', place, `left out: ${refused.join(', ')}`)
  return changed(log, block, Object.fromEntries(refused.map((key) => [key, undefined])))
}

function isComplete(block: WireBlock): boolean {
  switch (block.type) {
    case 'text':
      return typeof block['text'] === 'string'
    case 'image':
    case 'document':
      return isBlock(block['source'])
    case 'search_result':
      return (
        typeof block['source'] === 'string' &&
        typeof block['title'] === 'string' &&
        Array.isArray(block['content'])
      )
    case 'server_tool_use':
    case 'mcp_tool_use':
      return typeof block['id'] === 'string' && typeof block['name'] === 'string' && isRecord(block['input'])
    case 'compaction':
      return block['content'] !== ''
    default:
      return true
  }
}

/** A user's text, and what a search result quotes in it, may not carry citations. */
export function withoutCitations(block: WireBlock, place: string, log: RepairLog): WireBlock {
  if (block.type === 'search_result' && Array.isArray(block['content'])) {
    const content: readonly unknown[] = block['content']
    const next = content.map((item) => (isBlock(item) ? withoutCitations(item, place, log) : item))
    return sameItems(next, content) ? block : changed(log, block, { content: next })
  }
  const citations = block['citations']
  if (block.type !== 'text' || !Array.isArray(citations) || citations.length === 0) return block
  note(log, 'user-citations', place, 'citations left out: a user message cannot carry them')
  return changed(log, block, { citations: undefined })
}
