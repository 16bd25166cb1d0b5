// Small pieces both wires of OpenAI read alike: arguments, pictures, tools that take free text.
import type { WireBlock, WireRequest, WireTool } from '../../../model/wire.ts'
import { stringOf } from '../../rules/blocks.ts'
import { isRecord, jsonIn, recordsIn } from '../../rules/shape.ts'
import type { Json } from '../front.ts'
import type { PromptText } from '../prefix-cache.ts'
import { lifetimeOfMark } from './caching.ts'

/** What whoever answers sees of a tool that takes free text: one argument named `input`. */
const freeTextSchema = {
  type: 'object',
  properties: { input: { type: 'string', description: 'Free text' } },
  required: ['input'],
  'x-free-text': true,
} as const

/** A tool as whoever answers sees it. */
export const offeredTool = (tool: Json, isFree: boolean): WireTool => ({
  name: stringOf(tool['name']),
  description: stringOf(tool['description']),
  input_schema: isFree ? freeTextSchema : isRecord(tool['parameters']) ? tool['parameters'] : {},
})

/** Arguments are the model's own string; what is not JSON is kept as it is. */
export function argumentsIn(text: string): Readonly<Record<string, unknown>> {
  const value = jsonIn(text === '' ? '{}' : text)
  if (value === undefined) return { arguments: text }
  return isRecord(value) ? value : { value }
}

/** The free text in an input that was made for such a tool. */
export function freeTextOf(input: unknown): string {
  if (isRecord(input) && typeof input['input'] === 'string') return input['input']
  return typeof input === 'string' ? input : JSON.stringify(input ?? {})
}

const DATA_URL = /^data:([\w/+.-]+);base64,(.*)$/su

function imageBlock(url: unknown): WireBlock {
  const [, media_type, data] = DATA_URL.exec(typeof url === 'string' ? url : '') ?? []
  return data === undefined
    ? { type: 'image', source: { type: 'url', url } }
    : { type: 'image', source: { type: 'base64', media_type, data } }
}

/** What a message or an item says, in blocks; `other` is what no block stands for. */
export function blocksIn(content: unknown, other: (part: Json) => WireBlock): readonly WireBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return recordsIn(content).map((part): WireBlock => {
    const { type, image_url: image } = part
    if (type === 'input_image' || type === 'image_url')
      return imageBlock(isRecord(image) ? image['url'] : image)
    const text = part['text'] ?? part['refusal']
    return typeof text === 'string' ? { type: 'text', text } : other(part)
  })
}

/** Which tool is asked for; `named` where a choice names one. */
export function choiceIn(choice: unknown, named: unknown): WireRequest['tool_choice'] | null {
  if (choice === 'none' || choice === 'auto') return { type: choice }
  if (choice === 'required') return { type: 'any' }
  return typeof named === 'string' ? { type: 'tool', name: named } : null
}

export const isInstruction = (role: unknown): boolean => role === 'system' || role === 'developer'

const LOW_DETAIL_TOKENS = 85
const IMAGE_TOKENS = 765

/** A picture weighs the same whatever it shows; only low detail is cheaper. */
function imageTokens(part: Readonly<Record<string, unknown>>): number {
  const image = part['image_url']
  const detail = isRecord(image) ? image['detail'] : part['detail']
  return detail === 'low' ? LOW_DETAIL_TOKENS : IMAGE_TOKENS
}

/** What a message, an item or a result says, as the cache and the count see it. */
export function renderContent(content: unknown, prompt: PromptText): void {
  if (typeof content === 'string') prompt.add(content)
  for (const part of recordsIn(content)) {
    // A mark says where a prefix ends; it is no part of what is cached.
    const { prompt_cache_breakpoint: mark, ...shown } = part
    const text = part['text'] ?? part['refusal']
    if (typeof text === 'string') prompt.add(text)
    else prompt.weigh(JSON.stringify(shown), imageTokens(part))
    if (isRecord(mark)) prompt.mark(lifetimeOfMark(mark))
  }
}
