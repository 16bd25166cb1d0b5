// What the writers of messages share: each message of a view is written once and kept, blocks by blocks; ids, names and
// media in the spelling that every provider takes.
import type { Message, Part, ToolResultBlock, ViewBlock } from '../projection/view.ts'
import type { ComposerOptions, MessageWriter } from '../request/compose.ts'
import type { Quirks } from './wire.ts'
import { noOutput } from './anthropic/block-rules.ts'
import { digest, type SentBlock, type SentMessage } from '../request/segments.ts'
import { isDeeplyWellFormed, toWellFormed, wellFormedRecord } from '../request/well-formed.ts'
import { isMakersOwn, textIn, type Sidecar, type ToolUseBlock } from '../transcript/content.ts'
import {
  base64Of,
  describeMedia,
  isKeptSource,
  isMedia,
  mediaInfo,
  type MediaBlock,
} from '../transcript/media.ts'

/** What a writer of messages is made with. */
export interface WriterOptions extends ComposerOptions {
  readonly quirks: Quirks
}

/** How a wire writes one message: `leaves` says of which parts only what everybody can read is sent. */
export type WriteMessage = (message: Message, leaves: (part: Part) => boolean) => readonly SentMessage[]

interface Known {
  /** Parts that hold something of their maker's own. */
  readonly own: readonly Part[]
  readonly variants: Map<string, readonly SentMessage[]>
}

/** A writer that keeps what it wrote: the same message, with the same left out, gives the same objects. */
export function createWriter(write: WriteMessage, isOwn: (part: Part) => boolean = hasOwn): MessageWriter {
  const known = new WeakMap<Message, Known>()
  return {
    messages(message, leavesOut) {
      let entry = known.get(message)
      if (entry === undefined) {
        const own = message.role === 'assistant' ? message.parts.filter(isOwn) : []
        known.set(message, (entry = { own, variants: new Map() }))
      }
      const out = entry.own.filter(leavesOut)
      const key = out.map((part) => part.from).join()
      const found = entry.variants.get(key)
      if (found !== undefined) return found
      const made = write(message, (part) => out.includes(part))
      entry.variants.set(key, made)
      return made
    },
  }
}

const hasOwn = (part: Part): boolean =>
  part.kind === 'answer' && part.blocks.some((block) => isMakersOwn(block) || 'sidecar' in block)

/** What a wire gave along with a block and wants back: only its own, and only where it is not left out. */
export function sidecarOf(block: ViewBlock, wire: string, leaves: boolean): Sidecar | null {
  if (leaves || !('sidecar' in block)) return null
  const sidecar = block.sidecar
  return sidecar !== undefined && sidecar.wire === wire ? sidecar : null
}

/** Arguments as the model wrote them, or printed from what was read of them. */
export function argumentsOf(block: ToolUseBlock, sidecar: Sidecar | null): string {
  if (sidecar?.arguments !== undefined) return toWellFormed(sidecar.arguments)
  return JSON.stringify(isDeeplyWellFormed(block.input) ? block.input : wellFormedRecord(block.input))
}

export const isCall = (block: ViewBlock): block is ToolUseBlock =>
  block.type === 'tool_use' && 'name' in block
export const isResult = (block: ViewBlock): block is ToolResultBlock =>
  block.type === 'tool_result' && 'is_error' in block

/** One response may be kept as several entries. */
function responsesIn(parts: readonly Part[]): readonly (readonly Part[])[] {
  const runs: Part[][] = []
  for (const part of parts) {
    const last = runs.at(-1)
    if (last?.at(-1)?.messageId === part.messageId && last !== undefined) last.push(part)
    else runs.push([part])
  }
  return runs
}

/** An answer for each response of a message; null where one says nothing. Between two stands what asks for the second. */
export function answersIn(
  message: Message,
  goOn: SentMessage,
  answerOf: (response: readonly Part[]) => SentMessage | null,
): readonly SentMessage[] {
  return responsesIn(message.parts).reduce<readonly SentMessage[]>((sent, response) => {
    const answer = answerOf(response)
    if (answer === null) return sent
    return sent.length === 0 ? [answer] : [...sent, goOn, answer]
  }, [])
}

/** How a wire writes what a user message holds: a result, with what of it must stand elsewhere, and everything else. */
export interface UserWords {
  result(block: ToolResultBlock, part: Part): string
  /** Media of a result that stand behind the results, where a result is text. */
  along?(block: ToolResultBlock): readonly MediaBlock[]
  media(block: MediaBlock): object
  text(text: string): object
}

/** The blocks of a user message: results first, since they follow their calls. */
export function userBlocks(
  message: Message,
  options: Pick<ComposerOptions, 'tag'>,
  words: UserWords,
): { readonly results: readonly SentBlock[]; readonly others: readonly SentBlock[] } {
  const results: SentBlock[] = []
  const others: SentBlock[] = []
  const add = (shape: object, block: ViewBlock | null, part: Part): void =>
    void others.push(sentBlock(JSON.stringify(shape), block, part))
  for (const part of message.parts) {
    for (const block of part.blocks) {
      if (isResult(block)) {
        results.push(sentBlock(words.result(block, part), block, part))
        for (const media of words.along?.(block) ?? []) add(words.media(media), media, part)
      } else if (isMedia(block)) add(words.media(block), block, part)
      else if (block.type === 'text') add(words.text(block.text), block, part)
    }
    const tag = part.kind === 'input' ? (options.tag?.(part) ?? null) : null
    if (tag !== null) add(words.text(tag), null, part)
  }
  return { results, others }
}

/** A user message of items: each result is one, and everything else is another. */
export function userItems(
  { results, others }: ReturnType<typeof userBlocks>,
  userJson: (parts: readonly string[]) => string,
): readonly SentMessage[] {
  const said = others.length === 0 ? [] : [userJson(others.map(({ json }) => json))]
  const items = [...results.map(({ json }) => json), ...said]
  return items.length === 0 ? [] : [sentMessage('user', items.join(','), [...results, ...others])]
}

/** What a summary of the server says in words; other content of a server's own says nothing elsewhere. */
export const serverText = (block: ViewBlock): string | null =>
  block.type === 'compaction' && 'content' in block && typeof block.content === 'string'
    ? block.content
    : null

// ---- media ----

/** A medium ready to be sent: its bytes, its address, its text, or words for what cannot be sent. */
export type SentMedia =
  | {
      readonly kind: 'bytes'
      readonly type: 'image' | 'document'
      readonly mime: string
      readonly data: string
    }
  | { readonly kind: 'url'; readonly type: 'image' | 'document'; readonly url: string }
  | { readonly kind: 'text'; readonly text: string }

/** How a medium goes along; a server that takes no images is told what stood there. */
export function mediaOf(
  block: MediaBlock,
  options: Pick<ComposerOptions, 'media'>,
  takesImages = true,
): SentMedia {
  const { source } = block
  const words = (why: string): SentMedia => ({
    kind: 'text',
    text: `[${describeMedia(mediaInfo(block))}: ${why}]`,
  })
  if (source.type === 'text' && typeof source['data'] === 'string')
    return { kind: 'text', text: toWellFormed(source['data']) }
  if (!takesImages) return words('this model takes text alone')
  const data = isKeptSource(source) ? (options.media?.(source.blob) ?? null) : base64Of(block)
  if (data !== null) {
    const named = typeof source['media_type'] === 'string' ? source['media_type'] : ''
    const mime = named || (block.type === 'image' ? 'image/png' : 'application/pdf')
    return { kind: 'bytes', type: block.type, mime, data }
  }
  if (source.type === 'url' && typeof source['url'] === 'string')
    return { kind: 'url', type: block.type, url: source['url'] }
  return words(isKeptSource(source) ? 'its file could not be read' : 'it cannot be sent to this provider')
}

export const dataUrl = (mime: string, data: string): string => `data:${mime};base64,${data}`

/** The texts of a result as one; media stand elsewhere. */
export function saidBy({ content }: ToolResultBlock): string {
  const text = textIn(content)
  return text.trim() === '' ? (content.some(isMedia) ? '(see below)' : noOutput) : text
}
export const resultText = (block: ToolResultBlock): string =>
  block.is_error ? `${failedPrefix}${saidBy(block)}` : saidBy(block)
/** No field says so on wires whose results are plain text. */
const failedPrefix = '(The call failed.)\n'

export const mediaIn = ({ content }: ToolResultBlock): readonly MediaBlock[] => content.filter(isMedia)

// ---- messages ----

/** A message of a view as the items that are sent for it. */
export function sentMessage(
  role: 'user' | 'assistant',
  json: string,
  blocks: readonly SentBlock[],
): SentMessage {
  const calls: string[] = []
  const answers: string[] = []
  let hasImage = false
  for (const { of } of blocks) {
    if (of === null) continue
    if (isCall(of)) calls.push(of.id)
    if (isResult(of)) {
      answers.push(of.tool_use_id)
      hasImage ||= of.content.some((inner) => inner.type === 'image')
    }
    hasImage ||= of.type === 'image'
  }
  const entry = blocks[0]?.part?.from ?? null
  return { role, blocks, json, digest: digest(json), entry, calls, answers, hasImage }
}

export const sentBlock = (json: string, block: ViewBlock | null, part: Part | null): SentBlock => ({
  json,
  type: block?.type ?? 'text',
  part,
  takesBreakpoint: part !== null && (block === null || !isMakersOwn(block)),
  of: block,
})

/** Fields behind the messages of a body, where nothing may stand before a breakpoint: those that are set. */
export const restJson = (fields: readonly (readonly [name: string, value: unknown])[]): string =>
  fields
    .flatMap(([name, value]) => (value === undefined ? [] : [`,"${name}":${JSON.stringify(value)}`]))
    .join('')

/** Adds the fields of a JSON object to another that is not empty. */
export const withFields = (json: string, fields: string): string =>
  fields === '{}' ? json : `${json.slice(0, -1)},${fields.slice(1)}`
