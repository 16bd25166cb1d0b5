// The shape of a single call and of a single result. Whether they belong together is decided in pairing.
import type { WireBlock } from '../../model/wire.ts'
import { blockText, isBlank, isBlock, isName, isRecord, mayStandInResult } from './blocks.ts'
import { changed, note, type Ledger } from './draft.ts'
import { fitting, withoutCitations } from './fields.ts'
import { failedWithMedia, noOutput } from './words.ts'

/**
 * A call whose arguments were cut is never completed by guessing: an object that merely parses may lack what the model
 * was about to say. It goes out with no arguments, and pairing answers it as truncated.
 */
export function call(
  block: WireBlock,
  place: string,
  options: { readonly toolNameChars: number },
  ledger: Ledger,
): WireBlock {
  let next = block
  const name = toolName(block['name'], options.toolNameChars)
  if (name !== block['name']) {
    note(
      ledger,
      'call-name',
      place,
      `tool name ${JSON.stringify(block['name']) ?? 'undefined'} became ${name}`,
    )
    next = changed(ledger, next, { name })
  }
  const broken = block['broken'] !== undefined
  const input = broken ? null : wholeInput(block['input'])
  if (input === block['input']) return next
  next = changed(ledger, next, { input: input ?? {}, broken: undefined })
  if (input === null) ledger.truncated.add(next)
  note(
    ledger,
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
  if (typeof input !== 'string') return null
  try {
    const parsed: unknown = JSON.parse(input)
    return isRecord(parsed) ? parsed : null
  } catch {
    return null
  }
}

/** The result as it may be sent, followed by media that may not stand in a failed one. */
export function result(block: WireBlock, place: string, ledger: Ledger): readonly WireBlock[] {
  if (typeof block['tool_use_id'] !== 'string') {
    note(ledger, 'result-orphan', place, 'left out: it names no call')
    return []
  }
  let next = block
  const flag = block['is_error']
  if (flag !== undefined && flag !== null && typeof flag !== 'boolean') {
    note(ledger, 'bad-block', place, 'is_error made true or absent')
    next = changed(ledger, next, { is_error: flag ? true : undefined })
  }
  next = readableContent(next, place, ledger)
  if (next['is_error'] !== true) return [next]
  return failed(next, place, ledger)
}

function readableContent(block: WireBlock, place: string, ledger: Ledger): WireBlock {
  const content: unknown = block['content']
  if (content === undefined || typeof content === 'string') return block
  if (!Array.isArray(content)) {
    note(ledger, 'bad-block', place, 'content that was neither text nor blocks became text')
    return changed(ledger, block, { content: content === null ? undefined : JSON.stringify(content) })
  }
  const kept: WireBlock[] = []
  let mark = block.cache_control
  content.forEach((item: unknown, index) => {
    const innerPlace = `${place}.content.${index}`
    const inner = innerBlock(item, innerPlace, ledger)
    if (inner === null) return
    if (isBlank(blockText(inner) ?? inner.type)) {
      note(ledger, 'empty-text', innerPlace, 'left out: a text without a visible character')
      mark ??= inner.cache_control
    } else kept.push(inner)
  })
  if (kept.length === content.length && kept.every((inner, index) => inner === content[index])) return block
  return changed(ledger, block, { content: kept.length > 0 ? kept : noOutput, cache_control: mark })
}

function innerBlock(item: unknown, place: string, ledger: Ledger): WireBlock | null {
  if (typeof item === 'string') {
    note(ledger, 'bad-block', place, 'a bare string became a text block')
    return { type: 'text', text: item }
  }
  if (!isBlock(item) || !mayStandInResult(item.type)) {
    note(ledger, 'bad-block', place, 'left out: a result cannot carry it')
    return null
  }
  const fit = fitting(item, place, [], ledger)
  return fit === null ? null : withoutCitations(fit, place, ledger)
}

/** A failed result must say something, and only in text. */
function failed(block: WireBlock, place: string, ledger: Ledger): readonly WireBlock[] {
  const content = block['content']
  const silent =
    typeof content === 'string' ? isBlank(content) : !Array.isArray(content) || content.length === 0
  if (silent) {
    note(ledger, 'empty-result', place, 'a failed call without a word was given one')
    return [changed(ledger, block, { content: noOutput })]
  }
  if (!Array.isArray(content)) return [block]
  const inner = content.filter(isBlock)
  const media = inner.filter((item) => item.type !== 'text')
  if (media.length === 0) return [block]
  note(
    ledger,
    'media-in-error',
    place,
    `${media.map((item) => item.type).join(', ')} moved behind the failed result`,
  )
  const texts = inner.filter((item) => item.type === 'text')
  const said = texts.length > 0 ? texts : [{ type: 'text', text: failedWithMedia }]
  const outside = media.filter(
    (item) => item.type === 'image' || item.type === 'document' || item.type === 'search_result',
  )
  return [changed(ledger, block, { content: said }), ...outside]
}
