// One request of Gemini through the judge: shape, model, rules, size, cache, answer. It refuses with a code, a message and the
// name of the status.
import { hash } from 'node:crypto'
import { sealContent } from '../../rules/seal.ts'
import {
  accountOf,
  askModel,
  numbered,
  type DialectBench,
  type DialectCount,
  type DialectOutcome,
  type Json,
  type Refused,
} from '../front.ts'
import { findDialectModel, type DialectModel } from '../models.ts'
import {
  geminiFinish,
  geminiFrames,
  geminiPrompt,
  geminiRequest,
  geminiResponse,
  geminiThinks,
  showsThoughts,
  type GeminiAnswer,
} from './codec.ts'
import { readGemini, readGeminiCount, type GeminiBody } from './request.ts'
import { checkGeminiRules } from './rules.ts'

interface GeminiAsk {
  readonly body: unknown
  readonly model: string
  readonly headers: Readonly<Record<string, string>>
  readonly tenant: string
  readonly asEvents: boolean
}

type GeminiJudged =
  | { readonly ok: true; readonly body: GeminiBody; readonly model: DialectModel }
  | { readonly ok: false; readonly refused: Refused }

/** Everything that can be said about a request without counting it; signatures only where a secret is given. */
export function judgeGemini(
  value: unknown,
  name: string,
  models: readonly DialectModel[],
  secret: string | null,
): GeminiJudged {
  const model = geminiModel(name, models)
  if (model === null) return { ok: false, refused: noSuchGemini(name) }
  const read = readGemini(value)
  if (!read.ok) return { ok: false, refused: geminiRefusal(400, read.message) }
  const wrong = checkGeminiRules(read.body, model, secret)
  if (wrong !== null)
    return { ok: false, refused: geminiRefusal(wrong.startsWith('CachedContent') ? 403 : 400, wrong) }
  return { ok: true, body: read.body, model }
}

export function geminiModel(name: string, models: readonly DialectModel[]): DialectModel | null {
  return findDialectModel(
    models.filter((each) => each.vendor === 'google'),
    name.replace(/^models\//u, ''),
  )
}

export function noSuchGemini(name: string): Refused {
  return geminiRefusal(
    404,
    `models/${name} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.`,
  )
}

export async function createGemini(bench: DialectBench, ask: GeminiAsk): Promise<DialectOutcome> {
  const { options } = bench
  const startedAt = options.clock.now()
  const judged = judgeGemini(ask.body, ask.model, options.models, options.secret)
  if (!judged.ok) return judged
  const { body, model } = judged
  const prompt = geminiPrompt(body)
  if (prompt.tokens > model.window) return { ok: false, refused: tooLong(model) }
  const reading = bench.cache.open({
    prompt,
    model,
    scope: `google|${ask.tenant}`,
    startedAt,
    mode: 'implicit',
    lifetimeMs: model.cache.lifetimeMs,
    isLucky: isLucky(bench),
  })
  const thinks = geminiThinks(body, model)
  const said = await askModel(bench, {
    request: geminiRequest(body, model, thinks),
    model,
    promptTokens: prompt.tokens,
    headers: ask.headers,
  })
  const { usage, bill } = accountOf(reading, said.outputTokens, model)
  const id = numbered('gen-', bench.next('message'))
  const answer: GeminiAnswer = {
    id,
    modelName: ask.model,
    said,
    reading,
    showsThoughts: showsThoughts(body),
    signature:
      thinks || model.signs
        ? sealContent(options.secret, {
            kind: 'thought',
            model: model.id,
            tenant: null,
            tokens: said.thinkingTokens,
            text: id,
          })
        : null,
  }
  return {
    ok: true,
    reply: {
      id,
      model,
      stopReason: geminiFinish(said.stop),
      usage,
      bill,
      reading,
      body: () => geminiResponse(answer),
      frames: () => geminiFrames(answer, ask.asEvents),
      begin: () => reading.commit(options.clock.now()),
    },
  }
}

function tooLong({ window }: DialectModel): Refused {
  return geminiRefusal(400, `The input token count exceeds the maximum number of tokens allowed (${window}).`)
}

/** Drawn from the seed and the number of the draw, so that a run can be repeated. */
function isLucky(bench: DialectBench): boolean {
  const { chance, seed } = bench.options.luck
  const draw = hash('sha1', `${seed}|${bench.next('draw')}`).slice(0, 8)
  return Number.parseInt(draw, 16) / 0x1_0000_0000 < chance
}

export function countGemini(bench: DialectBench, ask: GeminiAsk): DialectCount {
  const model = geminiModel(ask.model, bench.options.models)
  if (model === null) return { ok: false, refused: noSuchGemini(ask.model) }
  const read = readGeminiCount(ask.body)
  if (!read.ok) return { ok: false, refused: geminiRefusal(400, read.message) }
  const { tokens } = geminiPrompt(read.body)
  const promptTokensDetails = [{ modality: 'TEXT', tokenCount: tokens }]
  return { ok: true, body: { totalTokens: tokens, promptTokensDetails } }
}

export function geminiModelRecord(model: DialectModel): Json {
  return {
    name: `models/${model.id}`,
    version: '001',
    displayName: model.id,
    description: 'A simulated model.',
    inputTokenLimit: model.window,
    outputTokenLimit: model.maxOutput,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
    temperature: 1,
    topP: 0.95,
    topK: 64,
    thinking: model.reasons,
  }
}

const NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

export function geminiRefusal(status: number, message: string, details?: readonly unknown[]): Refused {
  const type = NAMES[status] ?? 'UNKNOWN'
  return {
    status,
    type,
    message,
    body: { error: { code: status, message, status: type, ...(details === undefined ? {} : { details }) } },
  }
}

const NO_KEY =
  "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API."

/** Null when the key is let in. */
export function checkGeminiKey(key: string, keys: readonly string[] | null): Refused | null {
  if (key === '') return geminiRefusal(403, NO_KEY)
  if (keys === null || keys.includes(key)) return null
  return geminiRefusal(400, 'API key not valid. Please pass a valid API key.', [
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'API_KEY_INVALID',
      domain: 'googleapis.com',
      metadata: { service: 'generativelanguage.googleapis.com' },
    },
  ])
}
