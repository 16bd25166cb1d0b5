// The rules of the other wires as pure functions: what a property test asks ten thousand times without a server.
import type { Refused } from './front.ts'
import { judgeGemini } from './gemini/exchange.ts'
import { dialectModels, type DialectModel } from './models.ts'
import { judgeChat } from './openai/chat/exchange.ts'
import { refusedBy } from './openai/errors.ts'
import { serverQuirks, type ServerName } from './openai/quirks.ts'
import { judgeResponses } from './openai/responses/exchange.ts'

export interface DialectCheckOptions {
  readonly models?: readonly DialectModel[]
  /** The server that takes it; OpenAI itself where absent. */
  readonly server?: ServerName
  /** Judges seals and signatures; without it they are only looked at from outside. */
  readonly secret?: string | null
  /** For whom sealed content must have been made; not judged where absent. */
  readonly tenant?: string | null
}

/** Null when Chat Completions would take it; sizes are not judged. */
export function checkChatRequest(body: unknown, options: DialectCheckOptions = {}): Refused | null {
  const quirks = serverQuirks[options.server ?? 'openai']
  const judged = judgeChat(body, quirks, options.models ?? dialectModels)
  return judged.ok ? null : refusedBy(quirks, judged.wrong)
}

/** Null when Responses would take it; sizes are not judged, and nothing counts as stored. */
export function checkResponsesRequest(body: unknown, options: DialectCheckOptions = {}): Refused | null {
  const quirks = serverQuirks[options.server ?? 'openai']
  const judged = judgeResponses(body, 'create', {
    models: options.models ?? dialectModels,
    quirks,
    secret: options.secret ?? null,
    tenant: options.tenant ?? null,
    store: null,
  })
  return judged.ok ? null : refusedBy(quirks, judged.wrong)
}

/** Null when generateContent of this model would take it; sizes are not judged. */
export function checkGeminiRequest(
  body: unknown,
  model: string,
  options: DialectCheckOptions = {},
): Refused | null {
  const judged = judgeGemini(body, model, options.models ?? dialectModels, options.secret ?? null)
  return judged.ok ? null : judged.refused
}
