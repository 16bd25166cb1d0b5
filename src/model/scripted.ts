// A model that plays a script: for tests and demonstrations without a network. It keeps the law of the port, and
// answers past the end of the script with a failure, so that a test which asks too often fails by itself.
import type { AssistantBlock } from '../transcript/content.ts'
import type { Usage } from '../transcript/fact.ts'
import type { Model, ModelEvent, ModelFailure, ModelMessage, ModelRequest } from './model.ts'

/** An answer, a failure (with what had come before it), or a function of the request that gives one. */
export type ScriptStep = PlainStep | ((request: ModelRequest, turn: number) => ScriptStep)
type PlainStep =
  | ModelMessage
  | { readonly failure: ModelFailure; readonly partial?: ModelMessage | undefined }

export interface ScriptedModel extends Model {
  /** Every request so far, as it was sent. */
  readonly requests: readonly ModelRequest[]
}

/** A model that plays a script, for tests without a network. */
export function scriptedModel(script: readonly ScriptStep[]): ScriptedModel {
  const requests: ModelRequest[] = []
  return {
    requests,
    stream: (request, signal) => {
      requests.push(request)
      return play(script[requests.length - 1] ?? ended, request, requests.length, signal)
    },
  }
}

const ended: ScriptStep = {
  failure: { code: 'invalid', message: 'the script has no further step', status: null },
}
const aborted: ModelFailure = { code: 'aborted', message: 'aborted by the caller', status: null }

async function* play(
  step: ScriptStep,
  request: ModelRequest,
  turn: number,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void> {
  const plain = plainStep(step, request, turn)
  const message = 'failure' in plain ? (plain.partial ?? null) : plain
  const shown: AssistantBlock[] = []
  if (message !== null && !signal.aborted) {
    const { messageId, model, usage } = message
    yield { type: 'start', messageId, model, usage: { ...usage, output: 0 } }
    for (const block of message.content) {
      if (signal.aborted) break
      yield* piecesOf(block)
      shown.push(block)
    }
  }
  if (signal.aborted) {
    const partial = message === null || shown.length === 0 ? null : { ...message, content: shown, stop: null }
    yield { type: 'failed', failure: aborted, partial }
  } else if ('failure' in plain) {
    yield { type: 'failed', failure: plain.failure, partial: message }
  } else {
    yield { type: 'end', message: plain }
  }
}

function plainStep(step: ScriptStep, request: ModelRequest, turn: number): PlainStep {
  return typeof step === 'function' ? plainStep(step(request, turn), request, turn) : step
}

/** What a stream says of a block on the way: each in one piece. */
function* piecesOf(block: AssistantBlock): Generator<ModelEvent, void> {
  if (block.type === 'text' && 'text' in block) yield { type: 'text-delta', text: block.text }
  if (block.type === 'thinking' && 'thinking' in block) yield { type: 'thinking-delta', text: block.thinking }
  if (block.type === 'tool_use' && 'name' in block) {
    yield { type: 'call-start', id: block.id, name: block.name }
    yield { type: 'call-delta', id: block.id, json: block.broken ?? JSON.stringify(block.input) }
  }
}

/** A message with everything a test does not care about filled in. */
export function scriptedMessage(
  content: string | readonly AssistantBlock[],
  rest: Partial<Omit<ModelMessage, 'content'>> = {},
): ModelMessage {
  const blocks: readonly AssistantBlock[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return {
    messageId: 'msg_scripted',
    model: 'scripted',
    content: blocks,
    stop: blocks.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn',
    usage: noUsage,
    appliedEdits: [],
    inputTransformations: [],
    diagnostics: null,
    ...rest,
  }
}
const noUsage: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }
