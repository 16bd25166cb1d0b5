// One chat through the judge: shape, model, rules, size, cache, answer.
import { isRecord } from '../../../rules/shape.ts'
import { accountOf, askModel, numbered, type DialectBench, type DialectOutcome } from '../../front.ts'
import { findDialectModel, localModel, type DialectModel } from '../../models.ts'
import { checkCaching, openPrefix } from '../caching.ts'
import { isInstruction } from '../content.ts'
import { fault, refusedBy, type ApiFault } from '../errors.ts'
import type { Quirks } from '../quirks.ts'
import {
  chatChunks,
  chatCompletion,
  chatPrompt,
  chatRequest,
  finishOf,
  freeTools,
  type ChatAnswer,
} from './codec.ts'
import { checkChatShape, type ChatBody } from './request.ts'
import { checkChatRules } from './rules.ts'

export interface ChatJudged {
  readonly body: ChatBody
  readonly model: DialectModel
}

/** Everything that can be said about a chat without counting it. */
export function judgeChat(
  body: unknown,
  quirks: Quirks,
  models: readonly DialectModel[],
): { readonly ok: true; readonly judged: ChatJudged } | { readonly ok: false; readonly wrong: ApiFault } {
  const misshapen = checkChatShape(body, quirks)
  if (misshapen !== null) return { ok: false, wrong: misshapen }
  // The shape has just been checked field by field.
  const chat = body as ChatBody
  const model = modelFor(chat.model, quirks, models)
  if (model === null) return { ok: false, wrong: noSuchModel(chat.model) }
  const wrong = checkChatRules(chat, model, quirks) ?? checkCaching(chat, model, marksIn(chat))
  return wrong === null ? { ok: true, judged: { body: chat, model } } : { ok: false, wrong }
}

export function modelFor(id: string, quirks: Quirks, models: readonly DialectModel[]): DialectModel | null {
  const found = findDialectModel(
    models.filter((each) => each.vendor !== 'google' || quirks.anyModel),
    id.replace(/^[\w-]+\//u, quirks.anyModel ? '' : '$&'),
  )
  if (found !== null) return found
  return quirks.anyModel ? { ...localModel, id, reasons: quirks.reasoning !== 'none' } : null
}

export function noSuchModel(id: string): ApiFault {
  const message = `The model \`${id}\` does not exist or you do not have access to it.`
  return { ...fault(message, null, 'model_not_found'), status: 404 }
}

function marksIn({ messages }: ChatBody): readonly string[] {
  return messages.flatMap(({ content }, index) =>
    Array.isArray(content)
      ? content.flatMap((part: unknown, at) =>
          isRecord(part) && isRecord(part['prompt_cache_breakpoint'])
            ? [`messages[${index}].content[${at}].prompt_cache_breakpoint`]
            : [],
        )
      : [],
  )
}

export interface ChatAsk {
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
  readonly tenant: string
  readonly quirks: Quirks
}

export async function createChat(bench: DialectBench, ask: ChatAsk): Promise<DialectOutcome> {
  const { quirks } = ask
  const { options } = bench
  const startedAt = options.clock.now()
  const outcome = judgeChat(ask.body, quirks, options.models)
  if (!outcome.ok) return { ok: false, refused: refusedBy(quirks, outcome.wrong) }
  const { model } = outcome.judged
  const body = quirks.overflow === 'dropped' ? withinWindow(outcome.judged.body, model) : outcome.judged.body
  const prompt = chatPrompt(body)
  const tooLong = checkChatSize(prompt.tokens, body, model, quirks)
  if (tooLong !== null) return { ok: false, refused: refusedBy(quirks, tooLong) }
  const { reading } = openPrefix(bench, ask, body, model, prompt, startedAt)
  const thinks = model.reasons && body['reasoning_effort'] !== 'none' && !isOff(body['thinking'])
  const request = chatRequest(body, model, thinks)
  const said = await askModel(bench, { request, model, promptTokens: prompt.tokens, headers: ask.headers })
  const { usage, bill } = accountOf(reading, said.outputTokens, model)
  const answer: ChatAnswer = {
    id: numbered('chatcmpl-', bench.next('message')),
    created: Math.floor(startedAt / 1000),
    modelName: body.model,
    model,
    said,
    reading,
    quirks,
    dollars: bill.dollars,
    freeTools: freeTools(body),
    includeUsage: isRecord(body['stream_options']) && body['stream_options']['include_usage'] === true,
  }
  return {
    ok: true,
    reply: {
      id: answer.id,
      model,
      stopReason: finishOf(said),
      usage,
      bill,
      reading,
      body: () => chatCompletion(answer),
      frames: () => chatChunks(answer),
      begin: () => reading.commit(options.clock.now()),
    },
  }
}

function isOff(thinking: unknown): boolean {
  return isRecord(thinking) && thinking['type'] === 'disabled'
}

function checkChatSize(tokens: number, body: ChatBody, model: DialectModel, quirks: Quirks): ApiFault | null {
  const { window } = model
  const wanted = body['max_completion_tokens'] ?? body['max_tokens']
  const completion = typeof wanted === 'number' ? wanted : 0
  const countsBoth = quirks.server === 'vllm' || quirks.server === 'deepseek'
  if (tokens <= window && !(countsBoth && tokens + completion > window)) return null
  const code = 'context_length_exceeded'
  if (quirks.server === 'openrouter')
    return fault(
      `This endpoint's maximum context length is ${window} tokens. However, you requested about ${tokens + completion} tokens (${tokens} of text input, ${completion} in the output). Please reduce the length of either one, or use the context-compression plugin to compress your prompt automatically.`,
    )
  if (quirks.server === 'lmstudio')
    return fault('The number of tokens to keep from the initial prompt is greater than the context length.')
  if (countsBoth)
    return fault(
      `This model's maximum context length is ${window} tokens. However, you requested ${tokens + completion} tokens (${tokens} in the messages, ${completion} in the completion). Please reduce the length of the messages or completion.`,
      'messages',
      code,
    )
  if (quirks.server === 'groq')
    return fault('Please reduce the length of the messages or completion.', 'messages', code)
  return fault(
    `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
    'messages',
    code,
  )
}

/** Servers that never refuse leave out the oldest messages behind the instructions until the rest fits. */
function withinWindow(body: ChatBody, model: DialectModel): ChatBody {
  let current = body
  while (chatPrompt(current).tokens > model.window) {
    const at = current.messages.findIndex(({ role }) => !isInstruction(role))
    if (at < 0 || current.messages.length - at < 2) return current
    const rest = current.messages.slice(at + 1)
    // Results whose call went go with it.
    const first = rest.findIndex(({ role }) => role !== 'tool')
    current = { ...current, messages: [...current.messages.slice(0, at), ...rest.slice(Math.max(0, first))] }
  }
  return current
}
