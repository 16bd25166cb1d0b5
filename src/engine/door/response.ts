// An answer that the caller fetched by itself, as the engine takes it.
import type { ModelMessage } from '../../model/model.ts'
import { usageOf } from '../../model/usage.ts'
import type { WireUsage } from '../../model/wire.ts'
import type { AssistantBlock } from '../../transcript/content.ts'
import type { Failure } from '../../transcript/store.ts'
import { EngineError } from './error.ts'

/** What a client of the Messages API gives back: the official one's `Message` fits. */
export interface Response {
  readonly id: string
  readonly model: string
  readonly content: readonly { readonly type: string }[]
  readonly stop_reason: string | null
  readonly usage: WireUsage
}

export function messageOf(response: Response): ModelMessage {
  if (!Array.isArray(response.content)) throw new EngineError(noMessage)
  return {
    messageId: response.id,
    model: response.model,
    content: response.content.map((block) => block as AssistantBlock),
    stop: response.stop_reason,
    usage: usageOf(response.usage),
    appliedEdits: [],
    inputTransformations: [],
    diagnostics: null,
  }
}

/** What a stream of the SDK is, and programs without types hand in. */
const noMessage: Failure = {
  code: 'no-message',
  message: 'this is no message of the API; of a stream hand in its finalMessage()',
}
