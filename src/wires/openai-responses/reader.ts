// From the events of one response to a message. An item counts as it stands in `output_item.done`: what `added` shows of
// its encrypted content may be incomplete. What had only begun when the stream ended is known by its deltas alone.
import type { AnswerReader } from '../../model/attempts.ts'
import type { ServerRefusal } from '../../model/failure.ts'
import type { ModelEvent, ModelMessage } from '../../model/model.ts'
import type { AssistantBlock } from '../../transcript/content.ts'
import type { Usage } from '../../transcript/fact.ts'
import { noUsage, responsesUsage } from '../usage.ts'
import {
  callBlock,
  countOf,
  endOf,
  exactArguments,
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
import { responsesWire } from './request.ts'

interface Draft {
  item: Fields
  text: string
  json: string
  done: boolean
}

export class ResponsesReader implements AnswerReader {
  readonly #asked: string
  #id: string | null = null
  #model = ''
  #status: string | null = null
  #why: string | null = null
  #usage: Usage | null = null
  #diagnostics: unknown = null
  #passedOn = false
  #refused = false
  #refusal: ServerRefusal | null = null
  readonly #drafts = new Map<number, Draft>()

  constructor(asked: string) {
    this.#asked = asked
  }

  get complete(): boolean {
    return this.#status === 'completed' || this.#status === 'incomplete'
  }

  get stopped(): boolean {
    return this.complete
  }

  get refusal(): ServerRefusal | null {
    return this.#refusal
  }

  get hasContent(): boolean {
    return this.#passedOn
  }

  feed(event: unknown): readonly ModelEvent[] {
    const fields = fieldsOf(event)
    if (fields === null) return []
    const events = this.#read(fields)
    this.#passedOn ||= events.some(({ type }) => type !== 'start')
    return events
  }

  #read(fields: Fields): readonly ModelEvent[] {
    const at = countOf(fields['output_index']) ?? this.#placeOf(fields)
    const draft = this.#drafts.get(at)
    const delta = textOf(fields['delta']) ?? ''
    switch (fields['type']) {
      case 'response.created':
      case 'response.in_progress':
        return this.#begin(fieldsOf(fields['response']) ?? {})
      case 'response.output_item.added':
        return this.#open(at, fieldsOf(fields['item']) ?? {})
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.#refused ||= fields['type'] === 'response.refusal.delta'
        if (draft !== undefined) draft.text += delta
        return delta === '' ? [] : [{ type: 'text-delta', text: delta }]
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return delta === '' ? [] : [{ type: 'thinking-delta', text: delta }]
      case 'response.function_call_arguments.delta': {
        if (draft === undefined) return []
        draft.json += delta
        return delta === '' ? [] : [{ type: 'call-delta', id: callIdOf(draft.item), json: delta }]
      }
      case 'response.output_item.done':
        return this.#close(at, fieldsOf(fields['item']) ?? {})
      case 'response.completed':
      case 'response.incomplete':
        return this.#finish(fieldsOf(fields['response']) ?? {})
      case 'response.failed':
        this.#refusal = refusalOf(fieldsOf(fields['response'])?.['error'])
        return []
      case 'error':
        this.#refusal = refusalOf(fieldsOf(fields['error']) ?? fields)
        return []
      default:
        // A whole answer has no type of an event: it is the response itself.
        return fields['object'] === 'response' ? this.#finish(fields) : []
    }
  }

  /** Where an event belongs that has no index: to the item it names, to the one that is open, or to the next. */
  #placeOf(fields: Fields): number {
    const item = fieldsOf(fields['item'])
    const named =
      textOf(fields['item_id']) ?? (item === null ? '' : callIdOf(item) || textOf(item['id']) || '')
    const found = [...this.#drafts].find(([, draft]) =>
      [textOf(draft.item['id']), callIdOf(draft.item)].includes(named),
    )
    const isOpen = named === '' && this.#drafts.get(this.#drafts.size - 1)?.done === false
    return found?.[0] ?? (item === null || isOpen ? Math.max(0, this.#drafts.size - 1) : this.#drafts.size)
  }

  message(): ModelMessage | null {
    if (this.#id === null) return null
    const content = this.#content()
    return {
      messageId: this.#id,
      model: this.#model,
      content,
      stop: this.complete ? (this.#why ?? this.#status) : null,
      ...(this.complete ? { ended: this.#end(content) } : {}),
      usage: this.#usage ?? noUsage,
      ...nothingMore,
      diagnostics: this.#diagnostics,
    }
  }

  #begin(response: Fields): ModelEvent[] {
    if (this.#id !== null) return []
    this.#id = textOf(response['id']) ?? 'resp'
    this.#model = textOf(response['model']) ?? this.#asked
    return [{ type: 'start', messageId: this.#id, model: this.#model, usage: noUsage }]
  }

  #open(at: number, item: Fields): readonly ModelEvent[] {
    if (this.#drafts.has(at)) return []
    this.#drafts.set(at, { item, text: '', json: '', done: false })
    return item['type'] === 'function_call'
      ? [{ type: 'call-start', id: callIdOf(item), name: textOf(item['name']) ?? '' }]
      : []
  }

  /** A server that streams no deltas is heard here for the first time. */
  #close(at: number, item: Fields): readonly ModelEvent[] {
    const events = [...this.#open(at, item)]
    const draft = this.#drafts.get(at)!
    if (draft.done) return events
    this.#refused ||= listOf(item['content']).some((part) => textOf(part['refusal']) !== null)
    if (item['type'] === 'message' && draft.text === '')
      for (const text of textsOf(item)) events.push({ type: 'text-delta', text })
    const json = textOf(item['arguments']) ?? ''
    if (item['type'] === 'function_call' && draft.json === '' && json !== '')
      events.push({ type: 'call-delta', id: callIdOf(item), json })
    this.#drafts.set(at, { ...draft, item, done: true })
    return events
  }

  #finish(response: Fields): readonly ModelEvent[] {
    const events: ModelEvent[] = [...this.#begin(response)]
    listOf(response['output']).forEach((item, at) => events.push(...this.#close(at, item)))
    this.#status = textOf(response['status']) ?? 'completed'
    this.#why = textOf(fieldsOf(response['incomplete_details'])?.['reason'])
    this.#usage = responsesUsage(fieldsOf(response['usage']) ?? {})
    this.#diagnostics = response['prompt_cache_diagnostics'] ?? null
    return events
  }

  #end(content: readonly AssistantBlock[]): StopKind {
    return endOf(content, this.#refused, kinds, this.#why ?? this.#status)
  }

  #content(): readonly AssistantBlock[] {
    const content: AssistantBlock[] = []
    for (const [, draft] of [...this.#drafts].sort(([a], [b]) => a - b)) {
      const before = content.at(-1)
      content.push(...(draft.done ? this.#finished(draft.item, before) : this.#begun(draft)))
    }
    return content
  }

  #finished(item: Fields, before: AssistantBlock | undefined): readonly AssistantBlock[] {
    switch (item['type']) {
      case 'message': {
        const phase = textOf(item['phase'])
        const raw = JSON.stringify(phase === null ? {} : { phase })
        // Neighbouring texts are one message unless the sidecar of one says that it begins another.
        const begins = phase !== null || before?.type === 'text'
        return textsOf(item).map((text, index): AssistantBlock => {
          const sidecar = { ...this.#maker, raw }
          return begins && index === 0 ? { type: 'text', text, sidecar } : { type: 'text', text }
        })
      }
      case 'function_call': {
        const json = textOf(item['arguments']) ?? ''
        // A call that the limit cut is marked as such by its item.
        const whole = item['status'] !== 'incomplete'
        const block = callBlock(callIdOf(item), textOf(item['name']) ?? '', json, whole)
        return [withSidecar(block, this.#maker, { arguments: exactArguments(block, json) })]
      }
      default:
        return [itemBlock(responsesWire, this.#asked, item)]
    }
  }

  /** What was cut short: text as far as it came, a call that never runs; sealed content that is not whole is worthless. */
  #begun({ item, text, json }: Draft): readonly AssistantBlock[] {
    if (item['type'] === 'message') return text === '' ? [] : [{ type: 'text', text }]
    if (item['type'] !== 'function_call') return []
    return [callBlock(callIdOf(item), textOf(item['name']) ?? '', json, false)]
  }

  get #maker(): { readonly wire: string; readonly model: string } {
    return { wire: responsesWire, model: this.#asked }
  }
}

/** What the status of a response means, or the reason that it is incomplete. */
const kinds: Readonly<Record<string, StopKind>> = {
  completed: 'end',
  max_output_tokens: 'length',
  content_filter: 'filter',
  incomplete: 'length',
}

const callIdOf = (item: Fields): string => textOf(item['call_id']) ?? textOf(item['id']) ?? ''

const textsOf = (item: Fields): readonly string[] =>
  listOf(item['content']).flatMap((part) => textOf(part['text']) ?? textOf(part['refusal']) ?? [])
