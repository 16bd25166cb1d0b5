// From the events of one generated answer to a message. Each event is a whole response with the next parts; parts are kept
// in order, and texts are joined only where no signature stands between them.
import type { AnswerReader } from '../../model/attempts.ts'
import type { ServerRefusal } from '../../model/failure.ts'
import type { ModelEvent, ModelMessage } from '../../model/model.ts'
import type { AssistantBlock, ToolUseBlock } from '../../transcript/content.ts'
import type { Usage } from '../../transcript/fact.ts'
import { noUsage, geminiUsage } from '../usage.ts'
import {
  fieldsOf,
  itemBlock,
  listOf,
  nothingMore,
  refusalOf,
  textOf,
  withSidecar,
  type Fields,
} from '../reading.ts'
import type { StopKind } from '../../transcript/stop.ts'
import { geminiName, ownIdPrefix, spoiledAnswer } from './request.ts'

/** A text that may still grow, or a block that is whole. */
type Piece =
  | { readonly kind: 'text'; text: string; signature: string | null }
  | {
      readonly kind: 'call'
      readonly block: ToolUseBlock
      readonly signature: string | null
    }
  | { readonly kind: 'item'; readonly part: Fields }

export class GeminiReader implements AnswerReader {
  readonly #asked: string
  #id: string | null = null
  #model = ''
  #finish: string | null = null
  #blocked: string | null = null
  #usage: Usage | null = null
  #thought = false
  #refusal: ServerRefusal | null = null
  #calls = 0
  readonly #pieces: Piece[] = []

  constructor(asked: string) {
    this.#asked = asked
  }

  get complete(): boolean {
    const isOver = this.#finish !== null || this.#blocked !== null
    return this.#id !== null && isOver && this.#refusal === null
  }

  /** The last event says why it ended; usage may follow, so the server closes the stream. */
  get stopped(): boolean {
    return this.complete && this.#usage !== null
  }

  get refusal(): ServerRefusal | null {
    return this.#refusal
  }

  get hasContent(): boolean {
    return this.#thought || this.#pieces.length > 0
  }

  feed(event: unknown): readonly ModelEvent[] {
    const fields = fieldsOf(event)
    if (fields === null) return []
    if (fieldsOf(fields['error']) !== null) this.#refusal = refusalOf(fields['error'])
    this.#usage = geminiUsage(fieldsOf(fields['usageMetadata']) ?? {}) ?? this.#usage
    const events: ModelEvent[] = [...this.#begin(fields)]
    this.#blocked = textOf(fieldsOf(fields['promptFeedback'])?.['blockReason']) ?? this.#blocked
    const candidate = listOf(fields['candidates'])[0]
    if (candidate === undefined) return events
    for (const part of listOf(fieldsOf(candidate['content'])?.['parts'])) events.push(...this.#part(part))
    this.#finish = textOf(candidate['finishReason']) ?? this.#finish
    // A call that the model could not write: nothing came, and asking again may help.
    if (this.#finish !== null && spoiling.has(this.#finish) && this.#pieces.length === 0)
      this.#refusal = refusalOf({ status: 'INTERNAL', message: `${spoiledAnswer}${this.#finish}` })
    return events
  }

  message(): ModelMessage | null {
    if (this.#id === null) return null
    const content = this.#pieces.flatMap((piece) => this.#blocks(piece))
    return {
      messageId: this.#id,
      model: this.#model,
      content,
      stop: this.#finish ?? this.#blocked,
      ...(this.complete ? { ended: geminiStop(this.#finish, this.#calls > 0) } : {}),
      usage: this.#usage ?? noUsage,
      ...nothingMore,
    }
  }

  #begin(fields: Fields): readonly ModelEvent[] {
    if (this.#id !== null) return []
    this.#id = textOf(fields['responseId']) ?? 'gemini'
    this.#model = textOf(fields['modelVersion']) ?? this.#asked
    return [{ type: 'start', messageId: this.#id, model: this.#model, usage: this.#usage ?? noUsage }]
  }

  #part(part: Fields): readonly ModelEvent[] {
    const signature = textOf(part['thoughtSignature'])
    const text = textOf(part['text'])
    if (part['thought'] === true) {
      // A summary for people: the API wants it left out of what is sent, so it is shown and not kept.
      this.#thought ||= text !== null && text !== ''
      return text ? [{ type: 'thinking-delta', text }] : []
    }
    const spoken = fieldsOf(part['functionCall'])
    if (spoken !== null) return this.#call(spoken, signature)
    if (text === null) {
      this.#pieces.push({ kind: 'item', part })
      return []
    }
    const last = this.#pieces.at(-1)
    if (last?.kind === 'text' && last.signature === null && signature === null) last.text += text
    else if (text !== '' || signature !== null) this.#pieces.push({ kind: 'text', text, signature })
    return text === '' ? [] : [{ type: 'text-delta', text }]
  }

  #call(spoken: Fields, signature: string | null): readonly ModelEvent[] {
    this.#calls++
    const id = textOf(spoken['id']) || `${ownIdPrefix}${this.#id ?? ''}_${this.#calls}`
    const name = textOf(spoken['name']) ?? ''
    const input = fieldsOf(spoken['args']) ?? {}
    this.#pieces.push({ kind: 'call', signature, block: { type: 'tool_use', id, name, input } })
    return [
      { type: 'call-start', id, name },
      { type: 'call-delta', id, json: JSON.stringify(input) },
    ]
  }

  #blocks(piece: Piece): readonly AssistantBlock[] {
    const maker = { wire: geminiName, model: this.#asked }
    if (piece.kind === 'item') return [itemBlock(geminiName, this.#asked, piece.part)]
    const raw = piece.signature === null ? undefined : JSON.stringify({ thoughtSignature: piece.signature })
    if (piece.kind === 'call') return [withSidecar(piece.block, maker, { raw })]
    const { text } = piece
    if (raw === undefined) return text === '' ? [] : [{ type: 'text', text }]
    // A signature without words is a part of its own.
    return text === ''
      ? [itemBlock(geminiName, this.#asked, { text, thoughtSignature: piece.signature })]
      : [{ type: 'text', text, sidecar: { ...maker, raw } }]
  }
}

const filtered = new Set(['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY'])
const spoiling = new Set(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'])

/** What a finish reason means; a prompt that was blocked has none. */
function geminiStop(word: string | null, hasCalls: boolean): StopKind {
  if (word === null) return 'refusal'
  if (word === 'MAX_TOKENS') return 'length'
  if (filtered.has(word)) return 'filter'
  if (word !== 'STOP') return 'other'
  return hasCalls ? 'tool' : 'end'
}
