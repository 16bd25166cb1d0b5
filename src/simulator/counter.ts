// The judge's own counter, deliberately not the engine's: UTF-8 bytes over a constant of the tokenizer's generation,
// rounded up per block, plus a fixed weight per block. It is not exact, it is stable: the same block always weighs the
// same, so positions add up. Images weigh by their area; documents that are not text weigh by their size. Counts are kept
// per object.
import type { WireBlock, WireTool } from '../model/wire.ts'
import { NEW_TOKENIZER_SINCE, type SimulatedModel } from './models.ts'
import { isThinking, stringOf } from './rules/blocks.ts'
import { imageSize } from './rules/media.ts'
import { sealedTokens } from './rules/seal.ts'
import { isRecord } from './rules/shape.ts'

export interface Counter {
  block(block: WireBlock, model: SimulatedModel): number
  tool(tool: WireTool, model: SimulatedModel): number
  /** What the provider adds when any tool is offered. */
  overhead(model: SimulatedModel): number
}

const BYTES_PER_TOKEN = 4
/** The newer tokenizer makes about 30 % more of the same text. */
const BYTES_PER_NEW_TOKEN = 3.1
const TOKENS_PER_BLOCK = 3
const UNKNOWN_IMAGE_TOKENS = 1600
const BASE64_CHARS_PER_DOCUMENT_TOKEN = 40

const PATCH_PIXELS = 28
const NEW_LONG_EDGE = 2576
const NEW_IMAGE_TOKENS = 4784
const OLD_LONG_EDGE = 1568
const OLD_IMAGE_TOKENS = 1568

/** Counts tokens as the simulator does. */
export function createCounter(): Counter {
  const before = new WeakMap<object, number>()
  const since = new WeakMap<object, number>()
  const remembered = (item: object, model: SimulatedModel, count: () => number): number => {
    const known = isNew(model) ? since : before
    const tokens = known.get(item) ?? count()
    known.set(item, tokens)
    return tokens
  }
  return {
    block: (block, model) => remembered(block, model, () => TOKENS_PER_BLOCK + blockTokens(block, model)),
    tool: (tool, model) =>
      remembered(tool, model, () => {
        const { cache_control: _, ...definition } = tool
        return TOKENS_PER_BLOCK + textTokens(JSON.stringify(definition), model)
      }),
    overhead: (model) => model.toolOverhead,
  }
}

export function textTokens(text: string, model: SimulatedModel): number {
  return Math.ceil(Buffer.byteLength(text) / (isNew(model) ? BYTES_PER_NEW_TOKEN : BYTES_PER_TOKEN))
}

/** Characters of a text that fit into so many tokens; used to cut an answer. */
export function textWithin(text: string, tokens: number, model: SimulatedModel): string {
  let end = Math.min(text.length, Math.floor(tokens * (isNew(model) ? BYTES_PER_NEW_TOKEN : BYTES_PER_TOKEN)))
  while (end > 0 && textTokens(text.slice(0, end), model) > tokens) end = Math.floor(end * 0.9)
  return text.slice(0, end)
}

/** The block itself, without the fixed weight: what an answer is billed for. */
export function blockTokens(block: WireBlock, model: SimulatedModel): number {
  if (isThinking(block))
    return sealedTokens(block) ?? textTokens(stringOf(block['thinking'] ?? block['data']), model)
  if (block.type === 'text') return textTokens(stringOf(block['text']), model)
  if (block.type === 'image') return imageTokens(block, model)
  if (block.type === 'document') return documentTokens(block, model)
  if (block.type === 'tool_result') return contentTokens(block['content'], model)
  if (block.type === 'tool_use') {
    return textTokens(stringOf(block['name']) + JSON.stringify(block['input'] ?? {}), model)
  }
  const { cache_control: _, ...rest } = block
  return textTokens(JSON.stringify(rest), model)
}

function contentTokens(content: unknown, model: SimulatedModel): number {
  if (!Array.isArray(content)) return textTokens(stringOf(content), model)
  return (content as readonly WireBlock[]).reduce((sum, each) => sum + blockTokens(each, model), 0)
}

function documentTokens(block: WireBlock, model: SimulatedModel): number {
  const source = isRecord(block['source']) ? block['source'] : {}
  if (source['type'] === 'content') return contentTokens(source['content'], model)
  const data = stringOf(source['data'])
  if (source['type'] === 'text') return textTokens(data, model)
  return Math.max(UNKNOWN_IMAGE_TOKENS, Math.ceil(data.length / BASE64_CHARS_PER_DOCUMENT_TOKEN))
}

function imageTokens(block: WireBlock, model: SimulatedModel): number {
  const size = imageSize(block)
  if (size === null) return UNKNOWN_IMAGE_TOKENS
  const longEdge = isNew(model) ? NEW_LONG_EDGE : OLD_LONG_EDGE
  const most = isNew(model) ? NEW_IMAGE_TOKENS : OLD_IMAGE_TOKENS
  const scale = Math.min(1, longEdge / Math.max(size.width, size.height, 1))
  const patches = (side: number) => Math.ceil((side * scale) / PATCH_PIXELS)
  return Math.min(most, patches(size.width) * patches(size.height))
}

function isNew(model: SimulatedModel): boolean {
  return model.generation >= NEW_TOKENIZER_SINCE
}
