// From what an answerer wants to say to what the API would send: ids and callers are filled in, reasoning is signed
// and left out where the client did not ask to see it, and the answer is cut where `max_tokens` or the window ends.
import type { WireBlock, WireRequest } from '../model/wire.ts'
import type { Answer } from './answer.ts'
import { blockTokens, textTokens, textWithin } from './counter.ts'
import { chain, type Digests } from './digest.ts'
import { NEW_TOKENIZER_SINCE, type SimulatedModel } from './models.ts'
import { isThinking, stringOf } from './rules/blocks.ts'
import { sealed, visibleDigest } from './rules/seal.ts'

export interface EmittedBlock {
  readonly block: WireBlock
  /** The input as it is streamed; shorter than the whole where the answer was cut. */
  readonly inputJson: string | null
}

export interface Emission {
  readonly blocks: readonly EmittedBlock[]
  readonly stopReason: string
  readonly outputTokens: number
  readonly thinkingTokens: number
}

export interface EmissionOptions {
  readonly request: WireRequest
  readonly model: SimulatedModel
  /** Tokens the prompt takes of the window. */
  readonly promptTokens: number
  readonly secret: string
  readonly digests: Digests
  /** What the first reasoning block of this answer is bound to. */
  readonly prefix: string
  readonly previous: string | null
  readonly callId: () => string
  /** The newer version writes absent citations as null, the older one leaves them out. */
  readonly nullCitations: boolean
}

/** An empty answer still costs a little. */
const LEAST_OUTPUT_TOKENS = 1

export function emit(answer: Answer, options: EmissionOptions): Emission {
  const { request, model } = options
  const windowRoom = Math.max(0, model.window - options.promptTokens)
  const room = Math.min(request.max_tokens, windowRoom)
  const thinks = (request.thinking?.type ?? model.defaultThinking) !== 'disabled'
  const wanted = answer.content.filter((block) => thinks || !isThinking(block))
  const cut = cutAt(wanted, room, model)
  const blocks = signed(cut.blocks, options)
  const outputTokens = Math.max(LEAST_OUTPUT_TOKENS, cut.tokens)
  return {
    blocks,
    stopReason: cut.isWhole
      ? answer.stop_reason
      : room < request.max_tokens
        ? 'model_context_window_exceeded'
        : 'max_tokens',
    outputTokens: cut.isWhole
      ? Math.min(answer.output_tokens ?? outputTokens, Math.max(1, request.max_tokens))
      : outputTokens,
    thinkingTokens: cut.thinkingTokens,
  }
}

export interface Cut {
  readonly blocks: readonly EmittedBlock[]
  readonly tokens: number
  readonly thinkingTokens: number
  readonly isWhole: boolean
}

export function cutAt(content: readonly WireBlock[], room: number, model: SimulatedModel): Cut {
  const blocks: EmittedBlock[] = []
  let tokens = 0
  let thinkingTokens = 0
  for (const block of content) {
    const inputJson = block.type === 'tool_use' ? JSON.stringify(block['input'] ?? {}) : null
    const weight = blockTokens(block, model)
    const left = room - tokens
    if (weight > left) {
      const shortened = left > 0 ? shorten(block, inputJson, left, model) : null
      return {
        blocks: shortened === null ? blocks : [...blocks, shortened],
        tokens: room,
        thinkingTokens,
        isWhole: false,
      }
    }
    blocks.push({ block, inputJson })
    tokens += weight
    if (isThinking(block)) thinkingTokens += weight
  }
  return { blocks, tokens, thinkingTokens, isWhole: true }
}

/** A call that was cut has no usable input: streamed it ends in the middle, in one piece it is empty. */
function shorten(
  block: WireBlock,
  inputJson: string | null,
  tokens: number,
  model: SimulatedModel,
): EmittedBlock | null {
  if (inputJson !== null) {
    const nameTokens = textTokens(stringOf(block['name']), model)
    return {
      block: { ...block, input: {} },
      inputJson: textWithin(inputJson, Math.max(0, tokens - nameTokens), model),
    }
  }
  const field = block.type === 'text' ? 'text' : block.type === 'thinking' ? 'thinking' : null
  const text = field === null ? '' : textWithin(stringOf(block[field]), tokens, model)
  return field === null || text === '' ? null : { block: { ...block, [field]: text }, inputJson: null }
}

function signed(blocks: readonly EmittedBlock[], options: EmissionOptions): readonly EmittedBlock[] {
  const { model, digests, secret } = options
  const binds = model.bindsPrefix !== 'never'
  let { prefix, previous } = options
  return blocks.map(({ block, inputJson }) => {
    if (!isThinking(block)) {
      const whole = completed(block, options)
      if (binds) prefix = chain(prefix, 'assistant', digests.block(whole))
      return { block: whole, inputJson }
    }
    const visible = hidesThinking(options) ? { ...block, thinking: '' } : block
    const { signature, id } = sealed(secret, {
      model: model.id,
      textDigest: visibleDigest(visible),
      prefix,
      previous,
      tokens: blockTokens(block, model),
    })
    previous = id
    return { block: signedBlock(visible, signature), inputJson: null }
  })
}

function signedBlock(block: WireBlock, signature: string): WireBlock {
  return block.type === 'thinking'
    ? { type: 'thinking', thinking: stringOf(block['thinking']), signature }
    : { type: 'redacted_thinking', data: signature }
}

/** Newer models leave the text of their reasoning out unless it is asked for. */
function hidesThinking({ request, model }: EmissionOptions): boolean {
  const { thinking } = request
  const display = thinking?.type === 'adaptive' || thinking?.type === 'enabled' ? thinking.display : undefined
  return display === undefined ? model.generation >= NEW_TOKENIZER_SINCE : display === 'omitted'
}

function completed(block: WireBlock, { callId, nullCitations }: EmissionOptions): WireBlock {
  if (block.type === 'text') {
    const citations = block['citations'] ?? null
    const text = stringOf(block['text'])
    return citations === null && !nullCitations ? { type: 'text', text } : { type: 'text', text, citations }
  }
  if (block.type !== 'tool_use') return block
  const id = stringOf(block['id']) || callId()
  return {
    type: 'tool_use',
    id,
    name: block['name'],
    input: block['input'] ?? {},
    caller: { type: 'direct' },
  }
}

const LEAST_PIECE_CHARS = 12

/** A text in the pieces it is streamed in: a long one comes in larger pieces, not in ever more of them. */
export function piecesOf(text: string, { most = 64, least = 1 } = {}): readonly string[] {
  const few = Math.ceil(text.length / least)
  const size = Math.max(1, Math.min(few, Math.max(LEAST_PIECE_CHARS, Math.ceil(text.length / most))))
  const cut: string[] = []
  for (let at = 0; at < text.length;) {
    const last = text.charCodeAt(at + size - 1)
    // A pair of surrogates stays together, as it would in UTF-8.
    const end = last >= 0xd800 && last <= 0xdbff ? at + size + 1 : at + size
    cut.push(text.slice(at, end))
    at = end
  }
  return cut
}
