// From the chunks of one chat completion to a message. Servers that speak like this one differ in small things: usage on
// the last chunk with or without choices, calls without an index or an id, no last word. All of them are read.
import { objectIn } from '../../transcript/json.ts'
import type { AnswerReader } from '../../model/attempts.ts'
import type { ServerRefusal } from '../../model/failure.ts'
import type { ModelEvent, ModelMessage } from '../../model/model.ts'
import type { AssistantBlock } from '../../transcript/content.ts'
import type { Usage } from '../../transcript/fact.ts'
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
import { chatUsage, noUsage } from '../usage.ts'
import { chatWire } from './request.ts'

/** What a chat stream ends with. */
export const done = '[DONE]'

interface Call {
  id: string
  name: string
  json: string
  /** Fields of the call that are none of the standard ones: some servers want them back. */
  more: Fields
}

/** Fields of a message in which servers put reasoning; the first is shown, all are kept. */
const shownReasoning = ['reasoning_content', 'reasoning'] as const

export class ChatReader implements AnswerReader {
  readonly #asked: string
  #id: string | null = null
  #model = ''
  #text = ''
  #refused = ''
  #finish: string | null = null
  #stopped = false
  #usage: Usage | null = null
  #refusal: ServerRefusal | null = null
  readonly #reasoning = new Map<string, string | Fields[]>()
  readonly #calls = new Map<number, Call>()
  /** Where the latest call of an index stands. */
  readonly #indices = new Map<number, number>()

  /** `asked` is the model as the request names it: what only it reads is kept under that name. */
  constructor(asked: string) {
    this.#asked = asked
  }

  get complete(): boolean {
    return this.#id !== null && (this.#stopped || this.#finish !== null) && this.#refusal === null
  }

  get stopped(): boolean {
    return this.#stopped
  }

  get refusal(): ServerRefusal | null {
    return this.#refusal
  }

  get hasContent(): boolean {
    return this.#text !== '' || this.#refused !== '' || this.#reasoning.size > 0 || this.#calls.size > 0
  }

  feed(event: unknown): readonly ModelEvent[] {
    if (event === done) {
      this.#stopped = true
      return []
    }
    const chunk = fieldsOf(event)
    if (chunk === null) return []
    this.#refuse(chunk['error'])
    const reported = fieldsOf(chunk['usage']) ?? fieldsOf(fieldsOf(chunk['x_groq'])?.['usage'])
    if (reported !== null) this.#usage = chatUsage(reported) ?? this.#usage
    const events: ModelEvent[] = this.#begin(chunk)
    for (const choice of listOf(chunk['choices'])) {
      if ((countOf(choice['index']) ?? 0) !== 0) continue
      events.push(...this.#extend(fieldsOf(choice['delta']) ?? fieldsOf(choice['message']) ?? {}))
      this.#finish = textOf(choice['finish_reason']) ?? this.#finish
      // OpenRouter tells of a provider that broke off here, and ends the answer as if it were whole.
      this.#refuse(choice['error'])
    }
    return events
  }

  #refuse(error: unknown): void {
    if (fieldsOf(error) !== null || textOf(error)) this.#refusal = refusalOf(error)
  }

  message(): ModelMessage | null {
    if (this.#id === null) return null
    const content = this.#content()
    return {
      messageId: this.#id,
      model: this.#model,
      content,
      stop: this.#finish,
      ...(this.complete ? { ended: this.#end(content) } : {}),
      usage: this.#usage ?? noUsage,
      ...nothingMore,
    }
  }

  #begin(chunk: Fields): ModelEvent[] {
    if (this.#id !== null) return []
    const id = textOf(chunk['id'])
    // Some servers begin with a chunk that says nothing of the answer.
    if (!id && listOf(chunk['choices']).length === 0) return []
    this.#id = id || 'chatcmpl'
    this.#model = textOf(chunk['model']) ?? this.#asked
    return [{ type: 'start', messageId: this.#id, model: this.#model, usage: this.#usage ?? noUsage }]
  }

  #extend(delta: Fields): readonly ModelEvent[] {
    const events: ModelEvent[] = [...this.#reason(delta)]
    for (const [field, add] of [
      ['content', (text: string) => (this.#text += text)],
      ['refusal', (text: string) => (this.#refused += text)],
    ] as const) {
      const text = saidIn(delta[field])
      if (text === '') continue
      add(text)
      events.push({ type: 'text-delta', text })
    }
    for (const piece of listOf(delta['tool_calls'])) events.push(...this.#call(piece))
    return events
  }

  #reason(delta: Fields): readonly ModelEvent[] {
    let shown: string | null = null
    for (const field of shownReasoning) {
      const text = textOf(delta[field])
      if (text === null || text === '') continue
      const sofar = this.#reasoning.get(field)
      this.#reasoning.set(field, (typeof sofar === 'string' ? sofar : '') + text)
      shown ??= text
    }
    const details = listOf(delta['reasoning_details'])
    if (details.length > 0) {
      const sofar = this.#reasoning.get('reasoning_details')
      this.#reasoning.set('reasoning_details', [...(Array.isArray(sofar) ? sofar : []), ...details])
    }
    return shown === null ? [] : [{ type: 'thinking-delta', text: shown }]
  }

  #call(piece: Fields): readonly ModelEvent[] {
    const spoken = fieldsOf(piece['function']) ?? {}
    const id = textOf(piece['id']) ?? ''
    const name = textOf(spoken['name']) ?? ''
    const at = this.#placeOf(countOf(piece['index']), id, name)
    const events: ModelEvent[] = []
    let call = this.#calls.get(at)
    if (call === undefined) {
      // A server that names no ids still gets its results back: paired by one of ours.
      call = { id: id || `call_${this.#id ?? ''}_${at}`, name, json: '', more: {} }
      this.#calls.set(at, call)
      events.push({ type: 'call-start', id: call.id, name })
    }
    call.name ||= name
    const { id: _id, index: _index, type: _type, function: _function, ...more } = piece
    call.more = { ...call.more, ...more }
    // Arguments are text; some servers send the object itself.
    const given = spoken['arguments']
    const json = textOf(given) ?? (fieldsOf(given) === null ? '' : JSON.stringify(given))
    if (json === '') return events
    call.json += json
    return [...events, { type: 'call-delta', id: call.id, json }]
  }

  /**
   * Where a piece belongs: to the index it has, the call it names, or the last. Servers that know no index, or give every call
   * the first, begin the next one with its name: under another id, or, without ids, behind arguments that are whole.
   */
  #placeOf(index: number | null, id: string, name: string): number {
    const known = [...this.#calls].find(([, call]) => id !== '' && call.id === id)?.[0]
    const last = Math.max(0, this.#calls.size - 1)
    const at = index === null ? (known ?? last) : (this.#indices.get(index) ?? index)
    const there = this.#calls.get(at)
    const isNamed = there !== undefined && name !== '' && there.name !== ''
    const isOther =
      id === ''
        ? index === null && objectIn(there?.json || '{}') !== null
        : known === undefined && id !== there?.id
    const place = isNamed && isOther ? this.#calls.size : at
    if (index !== null) this.#indices.set(index, place)
    return place
  }

  #end(content: readonly AssistantBlock[]): StopKind {
    const isRefused = this.#text === '' && this.#refused !== ''
    return endOf(content, isRefused, kinds, this.#finish)
  }

  #content(): readonly AssistantBlock[] {
    const content: AssistantBlock[] = []
    const maker = { wire: chatWire, model: this.#asked }
    if (this.#reasoning.size > 0)
      content.push(itemBlock(chatWire, this.#asked, Object.fromEntries(this.#reasoning)))
    const text = this.#text === '' ? this.#refused : this.#text
    if (text !== '') content.push({ type: 'text', text })
    for (const [, call] of [...this.#calls].sort(([a], [b]) => a - b)) {
      const block = callBlock(call.id, call.name, call.json, this.complete)
      const raw = Object.keys(call.more).length === 0 ? undefined : JSON.stringify(call.more)
      content.push(withSidecar(block, maker, { arguments: exactArguments(block, call.json), raw }))
    }
    return content
  }
}

/** Content is a text; some servers send it in parts. */
const saidIn = (content: unknown): string =>
  textOf(content) ??
  listOf(content)
    .map((part) => textOf(part['text']) ?? '')
    .join('')

/** What a finish reason means. */
const kinds: Readonly<Record<string, StopKind>> = {
  stop: 'end',
  length: 'length',
  tool_calls: 'tool',
  function_call: 'tool',
  content_filter: 'filter',
}
