// From the events of one streamed answer to a message. Knows no network: it is fed, and can be asked at any time
// what has come so far. Events, deltas and blocks it does not know are tolerated, as the API demands.
import { objectIn } from '../../transcript/json.ts'
import { countOf, fieldsOf, textOf, type Fields } from '../reading.ts'
import type { AssistantBlock } from '../../transcript/content.ts'
import type { AnswerReader } from '../../model/attempts.ts'
import type { ModelEvent, ModelMessage } from '../../model/model.ts'
import { mergeUsage, usageOf, type UsageReport } from '../usage.ts'

/** A block that is still being written. */
interface Draft {
  block: Record<string, unknown>
  /** Arguments of a call, in pieces until the block ends. */
  json: string
  closed: boolean
}

export class MessageReader implements AnswerReader {
  #start: { readonly id: string; readonly model: string } | null = null
  #usage: UsageReport = {}
  #stop: string | null = null
  #stopped = false
  #appliedEdits: readonly Fields[] = []
  #inputTransformations: readonly Fields[] = []
  #diagnostics: unknown
  readonly #drafts = new Map<number, Draft>()

  /** All of it came. A server that ends after the stop reason, without a last word, has said everything too. */
  get complete(): boolean {
    return this.#stopped || (this.#stop !== null && [...this.#drafts.values()].every((draft) => draft.closed))
  }

  get stopped(): boolean {
    return this.#stopped
  }

  get hasContent(): boolean {
    return this.#drafts.size > 0
  }

  feed(event: unknown): readonly ModelEvent[] {
    const fields = fieldsOf(event)
    if (fields === null) return []
    const index = fields['index']
    const draft = typeof index === 'number' ? this.#drafts.get(index) : undefined
    switch (fields['type']) {
      case 'message_start':
        return this.#begin(fieldsOf(fields['message']) ?? {})
      case 'content_block_start':
        return typeof index === 'number' ? this.#open(index, fieldsOf(fields['content_block']) ?? {}) : []
      case 'content_block_delta':
        return draft === undefined ? [] : extend(draft, fieldsOf(fields['delta']) ?? {})
      case 'content_block_stop':
        if (draft !== undefined) draft.closed = true
        return []
      case 'message_delta':
        this.#report(fields)
        this.#stop = textOf(fieldsOf(fields['delta'])?.['stop_reason']) ?? this.#stop
        return []
      case 'message_stop':
        this.#stopped = true
        return []
      default:
        return []
    }
  }

  /** What has come so far; null before the message began. */
  message(): ModelMessage | null {
    if (this.#start === null) return null
    const deleted = countOf(this.#usage.cache_deleted_input_tokens)
    return {
      messageId: this.#start.id,
      model: this.#start.model,
      content: [...this.#drafts].sort(([a], [b]) => a - b).map(([, draft]) => finished(draft)),
      stop: this.#stop,
      usage: usageOf(this.#usage),
      appliedEdits: this.#appliedEdits,
      inputTransformations: this.#inputTransformations,
      diagnostics: this.#diagnostics,
      ...(deleted === null ? {} : { cacheDeletedTokens: deleted }),
    }
  }

  #begin(message: Fields): readonly ModelEvent[] {
    this.#start = { id: textOf(message['id']) ?? '', model: textOf(message['model']) ?? '' }
    this.#diagnostics = message['diagnostics']
    this.#report(message)
    return [
      { type: 'start', messageId: this.#start.id, model: this.#start.model, usage: usageOf(this.#usage) },
    ]
  }

  /** Usage and the server's own doings stand on the start and on later deltas; a later list replaces an earlier one. */
  #report(fields: Fields): void {
    this.#usage = mergeUsage(this.#usage, fieldsOf(fields['usage']) ?? {})
    this.#appliedEdits =
      recordsOf(fieldsOf(fields['context_management'])?.['applied_edits']) ?? this.#appliedEdits
    this.#inputTransformations = recordsOf(fields['input_transformations']) ?? this.#inputTransformations
  }

  #open(index: number, block: Fields): readonly ModelEvent[] {
    this.#drafts.set(index, { block: { ...block }, json: '', closed: false })
    if (block['type'] === 'tool_use') {
      return [{ type: 'call-start', id: textOf(block['id']) ?? '', name: textOf(block['name']) ?? '' }]
    }
    // Some servers put the first words into the start.
    const text = textOf(block['text'])
    return block['type'] === 'text' && text ? [{ type: 'text-delta', text }] : []
  }
}

function extend(draft: Draft, delta: Fields): readonly ModelEvent[] {
  const { block } = draft
  switch (delta['type']) {
    case 'text_delta': {
      const text = textOf(delta['text']) ?? ''
      block['text'] = (textOf(block['text']) ?? '') + text
      return [{ type: 'text-delta', text }]
    }
    case 'thinking_delta': {
      const text = textOf(delta['thinking']) ?? ''
      block['thinking'] = (textOf(block['thinking']) ?? '') + text
      return text === '' ? [] : [{ type: 'thinking-delta', text }]
    }
    case 'signature_delta':
      block['signature'] = (textOf(block['signature']) ?? '') + (textOf(delta['signature']) ?? '')
      return []
    case 'input_json_delta': {
      const json = textOf(delta['partial_json']) ?? ''
      draft.json += json
      return block['type'] === 'tool_use' ? [{ type: 'call-delta', id: textOf(block['id']) ?? '', json }] : []
    }
    case 'citations_delta': {
      const sofar: readonly unknown[] = Array.isArray(block['citations']) ? block['citations'] : []
      block['citations'] = [...sofar, delta['citation']]
      return []
    }
    case 'compaction_delta': {
      const { type: _, ...fields } = delta
      Object.assign(block, fields)
      return []
    }
    default:
      return []
  }
}

function finished({ block, json, closed }: Draft): AssistantBlock {
  const type = textOf(block['type']) ?? 'unknown'
  switch (type) {
    case 'text': {
      const { citations, ...rest } = block
      const cited = citations === null || citations === undefined ? rest : { ...rest, citations }
      return { ...cited, type, text: textOf(block['text']) ?? '' }
    }
    case 'thinking': {
      const { signature, ...rest } = block
      const signed = textOf(signature) ? { ...rest, signature } : rest
      return { ...signed, type, thinking: textOf(block['thinking']) ?? '' }
    }
    case 'redacted_thinking':
      return { ...block, type, data: textOf(block['data']) ?? '' }
    case 'tool_use': {
      const call = {
        ...block,
        type,
        id: textOf(block['id']) ?? '',
        name: textOf(block['name']) ?? '',
      } as const
      const input = closed ? inputOf(block, json) : null
      return input === null ? { ...call, input: {}, broken: json } : { ...call, input }
    }
    default: {
      const input = json === '' ? null : objectIn(json)
      return { ...block, ...(input === null ? {} : { input }), type } as AssistantBlock
    }
  }
}

/** Arguments without a single piece stand in the start of the block. Null: they cannot be read. */
function inputOf(block: Fields, json: string): Fields | null {
  return json === '' ? (fieldsOf(block['input']) ?? {}) : objectIn(json)
}

const recordsOf = (value: unknown): readonly Fields[] | null =>
  Array.isArray(value) ? value.filter((item): item is Fields => fieldsOf(item) !== null) : null
