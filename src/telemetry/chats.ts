// Requests and their answers as spans: one `chat` from each request to its answer, or to what shows that none came.
import type { ModelTable } from '../model/models.ts'
import { promptTokens } from '../model/usage.ts'
import { estimateText } from '../projection/tokens.ts'
import type { Entry, FactOf } from '../transcript/fact.ts'
import { answerAttributes, bill, providerOf } from './billing.ts'
import { short } from './content.ts'
import { names, operations } from './conventions.ts'
import type { Boundaries } from './edits.ts'
import { spanAt } from './ids.ts'
import type { Attributes, SpanContext } from './port.ts'
import { failedWith, type Place, type Teller } from './teller.ts'

interface OpenChat {
  readonly context: SpanContext
  readonly at: number
  readonly model: string
}

const milli = 1000

export class Chats {
  readonly #teller: Teller
  readonly #options: { readonly models: ModelTable; readonly content?: boolean | undefined }
  readonly #boundaries: Boundaries
  #open: OpenChat | null = null
  #fixed = { system: 0, tools: 0 }
  #provider: string | undefined
  /** Of an import, whose lines may say one answer several times: the answer before. */
  #isImport = false
  #answered = ''

  constructor(
    teller: Teller,
    options: { readonly models: ModelTable; readonly content?: boolean | undefined },
    boundaries: Boundaries,
  ) {
    this.#teller = teller
    this.#options = options
    this.#boundaries = boundaries
  }

  /** From here on an answer is known by its id too. */
  isImport(): void {
    this.#isImport = true
  }

  instruct({ sections, tools, reminder }: FactOf<'instructions-set'>): void {
    this.#fixed = {
      system: sum(sections.map(({ text }) => text)) + estimateText(reminder ?? ''),
      tools: sum(tools.map((tool) => JSON.stringify(tool))),
    }
  }

  ask(
    { seq, at }: Place,
    { model, tokens }: Pick<FactOf<'request-sent'>, 'model' | 'tokens'>,
    turn: SpanContext,
  ) {
    this.end(at, {}, 'no-answer')
    const context = spanAt(turn.traceId, this.#teller.session, seq, operations.chat)
    this.#open = { context, at, model }
    this.#teller.begin(context, {
      name: `${operations.chat} ${short(model)}`,
      kind: 'client',
      parent: turn,
      links: [],
      at,
      attributes: {
        [names.operation]: operations.chat,
        [names.provider]: providerOf(this.#provider),
        ...this.#teller.own(model),
        [names.agentId]: this.#teller.session,
        [names.place]: seq,
        ...(tokens === 0 ? {} : { [names.estimate]: tokens }),
        ...(this.#boundaries.isLive ? { [names.compacted]: true } : {}),
      },
    })
  }

  /** `before`: when what stands before it was written; an answer of an import has no request and began there. */
  answer({ seq, at }: Entry, fact: FactOf<'assistant-message'>, before: number, turn: SpanContext): void {
    const { usage, messageId, model, timing } = fact
    this.#provider = fact.provider
    if (this.#open === null) this.ask({ seq, at: before }, { model, tokens: 0 }, turn)
    const counted = this.#isRepeated(messageId) ? undefined : usage
    this.end(at, answerAttributes(fact, counted, this.#options), fact.partial === true ? 'partial' : null)
    if (timing?.firstMs !== undefined)
      this.#teller.port.record(
        'gen_ai.client.operation.time_to_first_chunk',
        timing.firstMs / milli,
        this.#measured(model),
        at,
      )
    if (counted === undefined) return
    bill(this.#teller.port, this.#options.models, fact, short(this.#teller.purpose), at)
    this.#window(promptTokens(counted), model, at)
  }

  /** Ends the one that is open, if one is. */
  end(at: number, attributes: Attributes, error: string | null): void {
    const chat = this.#open
    if (chat === null) return
    this.#open = null
    this.#teller.end(chat, { operation: operations.chat, end: at, attributes, error })
    this.#teller.duration('gen_ai.client.operation.duration', chat.at, at, {
      ...this.#measured(chat.model),
      ...failedWith(error),
    })
  }

  #measured(model: string): Attributes {
    return {
      [names.operation]: operations.chat,
      [names.provider]: providerOf(this.#provider),
      [names.requestModel]: short(model),
    }
  }

  #isRepeated(messageId: string): boolean {
    const before = this.#answered
    this.#answered = messageId
    return this.#isImport && messageId !== '' && messageId === before
  }

  /** By holder, so that they sum to what the provider counted; all but the conversation are estimates. */
  #window(prompt: number, model: string, at: number): void {
    const system = Math.min(prompt, this.#fixed.system)
    const tools = Math.min(prompt - system, this.#fixed.tools)
    const summary = Math.min(prompt - system - tools, this.#boundaries.tokens)
    const byHolder = { system, tools, summary, conversation: prompt - system - tools - summary }
    for (const [holder, tokens] of Object.entries(byHolder)) {
      const by = { ...this.#teller.own(model), [names.holder]: holder }
      this.#teller.port.count('palimpsest.window.tokens', tokens, by, at)
    }
  }
}

const sum = (texts: readonly string[]): number => texts.reduce((all, text) => all + estimateText(text), 0)
