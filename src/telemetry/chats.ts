// Requests and their answers as spans: one `chat` from each request to its answer, or to what shows that none came. What an
// answer took is counted once, in the buckets the provider charges, to the token.
import { dollarsOf } from '../engine/limits/spend.ts'
import { lookUp, type ModelTable, price } from '../model/models.ts'
import { promptTokens } from '../model/usage.ts'
import { estimateText } from '../projection/tokens.ts'
import type { Entry, FactOf, Usage } from '../transcript/fact.ts'
import { names, operations } from './conventions.ts'
import type { Boundaries } from './background.ts'
import type { Attributes, SpanContext } from './port.ts'
import {
  failedWith,
  messageJson,
  milli,
  short,
  spanAt,
  type Place,
  type ReaderOptions,
  type Teller,
} from './teller.ts'

interface OpenChat {
  readonly context: SpanContext
  readonly at: number
  readonly model: string
}

export class Chats {
  readonly #teller: Teller
  readonly #options: ReaderOptions
  readonly #boundaries: Boundaries
  #open: OpenChat | null = null
  #fixed = { system: 0, tools: 0 }
  #provider: string | undefined
  /** Of an import, whose lines may say one answer several times: the answer before. */
  #isImport = false
  #answered = ''

  constructor(teller: Teller, options: ReaderOptions, boundaries: Boundaries) {
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
    bill(this.#teller, this.#options.models, fact, counted, at)
    this.#window(promptTokens(counted), model, at)
  }

  /** Ends the one that is open, if one is. */
  end(at: number, attributes: Attributes, error: string | null): void {
    const chat = this.#open
    if (chat === null) return
    this.#open = null
    this.#teller.end(chat, { end: at, attributes, error })
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

/** As the conventions spell those who have a name there. */
const providers: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  gemini: 'gcp.gemini',
  mistral: 'mistral_ai',
  xai: 'x_ai',
  moonshot: 'moonshot_ai',
}

/** The Messages API where nobody else is named. */
const providerOf = (provider: string | undefined): string =>
  provider === undefined ? 'anthropic' : Object.hasOwn(providers, provider) ? providers[provider]! : provider

/** Counts an answer. The prompt is everything that was sent, what was cached included. */
function bill(
  { port, purpose }: Teller,
  models: ModelTable,
  { model, provider }: FactOf<'assistant-message'>,
  usage: Usage,
  at: number,
): void {
  const chat = {
    [names.operation]: operations.chat,
    [names.provider]: providerOf(provider),
    [names.requestModel]: model,
  }
  const typed = (type: string): Attributes => ({ ...chat, [names.tokenType]: type })
  port.record('gen_ai.client.token.usage', promptTokens(usage), typed('input'), at)
  port.record('gen_ai.client.token.usage', usage.output, typed('output'), at)
  const own = { [names.requestModel]: model, [names.purpose]: short(purpose) }
  const kinds = { input: usage.input, read: usage.cacheRead, write: usage.cacheWrite, output: usage.output }
  for (const [kind, tokens] of Object.entries(kinds))
    port.count('palimpsest.request.tokens', tokens, { ...own, [names.kind]: kind }, at)
  const info = lookUp(models, model)
  const paid = info === null ? null : price(info, usage)
  if (paid === null) return port.count('palimpsest.request.unpriced', 1, own, at)
  const dollars = { input: paid.fresh, read: paid.read, write: paid.write, output: paid.output }
  for (const [kind, value] of Object.entries(dollars))
    port.count('palimpsest.request.cost', value, { ...own, [names.kind]: kind }, at)
}

/** What an answer says of itself; `counted` is left out where it was counted before. */
function answerAttributes(
  fact: FactOf<'assistant-message'>,
  counted: Usage | undefined,
  { models, content }: ReaderOptions,
): Attributes {
  const { timing, stop } = fact
  const dollars = counted === undefined ? null : dollarsOf(models, fact.model, counted)
  return {
    [names.provider]: providerOf(fact.provider),
    [names.responseModel]: short(fact.model),
    [names.responseId]: short(fact.messageId),
    [names.finishReasons]: stop === null ? [] : [short(stop)],
    ...(counted === undefined
      ? {}
      : {
          [names.inputTokens]: promptTokens(counted),
          [names.outputTokens]: counted.output,
          [names.cacheReadTokens]: counted.cacheRead,
          [names.cacheWriteTokens]: counted.cacheWrite,
        }),
    ...(dollars === null ? {} : { [names.dollars]: dollars }),
    ...(timing === undefined ? {} : { [names.tries]: timing.tries }),
    ...(timing?.firstMs === undefined
      ? {}
      : { [names.timeToFirstChunk]: timing.firstMs / milli, [names.requestStream]: true }),
    ...(content === true ? { [names.outputMessages]: messageJson('assistant', fact.content) } : {}),
  }
}
