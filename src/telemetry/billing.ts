// What one answer took, as attributes and as metrics: once for each answer, in the buckets the provider charges, to the token.
import { dollarsOf } from '../engine/limits/spend.ts'
import { lookUp, price, type ModelTable } from '../model/models.ts'
import { promptTokens } from '../model/usage.ts'
import type { FactOf, Usage } from '../transcript/fact.ts'
import { messageJson, short } from './content.ts'
import { names, operations } from './conventions.ts'
import type { Attributes, TelemetryPort } from './port.ts'

/** As the conventions spell those who have a name there. */
const providers: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  gemini: 'gcp.gemini',
  mistral: 'mistral_ai',
  xai: 'x_ai',
  moonshot: 'moonshot_ai',
}

/** The Messages API where nobody else is named. */
export const providerOf = (provider: string | undefined): string =>
  provider === undefined ? 'anthropic' : Object.hasOwn(providers, provider) ? providers[provider]! : provider

/** Counts an answer. The prompt is everything that was sent, what was cached included. */
export function bill(
  port: TelemetryPort,
  models: ModelTable,
  { model, provider, usage }: FactOf<'assistant-message'>,
  purpose: string,
  at: number,
): void {
  if (usage === undefined) return
  const chat = {
    [names.operation]: operations.chat,
    [names.provider]: providerOf(provider),
    [names.requestModel]: model,
  }
  const typed = (type: string): Attributes => ({ ...chat, [names.tokenType]: type })
  port.record('gen_ai.client.token.usage', promptTokens(usage), typed('input'), at)
  port.record('gen_ai.client.token.usage', usage.output, typed('output'), at)
  const own = { [names.requestModel]: model, [names.purpose]: purpose }
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

const milli = 1000

/** What an answer says of itself; `counted` is left out where it was counted before. */
export function answerAttributes(
  fact: FactOf<'assistant-message'>,
  counted: Usage | undefined,
  { models, content }: { readonly models: ModelTable; readonly content?: boolean | undefined },
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
