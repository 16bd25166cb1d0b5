// What Chat Completions refuses beyond the shape: parameters of the model, and what may stand where in `messages`.
import { isRecord } from '../../../rules/shape.ts'
import type { DialectModel } from '../../models.ts'
import { fault, type ApiFault } from '../errors.ts'
import type { Quirks } from '../quirks.ts'
import { emptyArray } from '../shape.ts'
import type { ChatBody, ChatMessage } from './request.ts'

export function checkChatRules(body: ChatBody, model: DialectModel, quirks: Quirks): ApiFault | null {
  return (
    checkParameters(body, model) ??
    checkTools(body) ??
    (body.messages.length === 0 ? emptyArray('messages') : null) ??
    checkContents(body.messages) ??
    checkPairs(body.messages, quirks) ??
    checkReasoningBack(body, model, quirks) ??
    checkJsonWord(body)
  )
}

function checkParameters(body: ChatBody, model: DialectModel): ApiFault | null {
  const n = body['n']
  if (typeof n === 'number' && n > 1) return onlyDefault('n', n)
  const isOpenAi = model.vendor === 'openai'
  if (isOpenAi && model.reasons && (body['max_tokens'] ?? null) !== null) {
    return fault(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'max_tokens',
      'unsupported_parameter',
    )
  }
  const most = body['max_completion_tokens'] ?? body['max_tokens']
  if (isOpenAi && typeof most === 'number' && most > model.maxOutput) {
    return fault(
      `max_tokens is too large: ${most}. This model supports at most ${model.maxOutput} completion tokens, whereas you provided ${most}.`,
      body['max_completion_tokens'] === undefined ? 'max_tokens' : 'max_completion_tokens',
      'invalid_value',
    )
  }
  return isOpenAi && model.reasons && body['reasoning_effort'] !== 'none' ? checkSampling(body) : null
}

/** Models that reason take the defaults alone. */
export function checkSampling(body: Readonly<Record<string, unknown>>): ApiFault | null {
  for (const name of ['temperature', 'top_p'] as const) {
    const value = body[name]
    if (typeof value === 'number' && value !== 1) return onlyDefault(name, value)
  }
  return null
}

function onlyDefault(name: string, value: number): ApiFault {
  const message = `Unsupported value: '${name}' does not support ${value} with this model. Only the default (1) value is supported.`
  return fault(message, name, 'unsupported_value')
}

function checkTools(body: ChatBody): ApiFault | null {
  const tools = body['tools']
  const hasTools = Array.isArray(tools) && tools.length > 0
  if (Array.isArray(tools) && !hasTools) return emptyArray('tools')
  for (const name of ['tool_choice', 'parallel_tool_calls'] as const) {
    if (!hasTools && body[name] !== undefined)
      return fault(`Invalid value for '${name}': '${name}' is only allowed when 'tools' are specified.`, name)
  }
  return null
}

function checkContents(messages: readonly ChatMessage[]): ApiFault | null {
  for (const [index, message] of messages.entries()) {
    const { content } = message
    if (Array.isArray(content) && content.length === 0) return emptyArray(`messages[${index}].content`)
    if (message.tool_calls?.length === 0) return emptyArray(`messages[${index}].tool_calls`)
    const mayBeEmpty =
      message.role === 'assistant' &&
      (message.tool_calls !== undefined ||
        [message.refusal, message.audio, message.function_call].some((each) => (each ?? null) !== null))
    if ((content ?? null) === null && !mayBeEmpty) {
      const param = `messages.[${index}].content`
      return fault("Invalid value for 'content': expected a string, got null.", param)
    }
    if (message.role === 'tool' && Array.isArray(content)) {
      const wrong = content.find((part) => isRecord(part) && part['type'] !== 'text')
      if (wrong !== undefined) return notInTool(index, isRecord(wrong) ? wrong['type'] : '')
    }
  }
  return null
}

function notInTool(index: number, type: unknown): ApiFault {
  const message =
    type === 'image_url'
      ? `Invalid 'messages[${index}]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.`
      : `Invalid value: '${String(type)}'. Supported values are: 'text'.`
  return fault(message, `messages.[${index}]`, 'invalid_value')
}

/** Results stand directly behind the message with their calls, each call once. */
function checkPairs(messages: readonly ChatMessage[], quirks: Quirks): ApiFault | null {
  const isOpenAi = quirks.errors === 'openai' || quirks.errors === 'litellm'
  let waiting: Map<string, boolean> | null = null
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      const id = message.tool_call_id ?? ''
      if (waiting === null) return orphan(index, isOpenAi)
      const answered = waiting.get(id)
      if (answered === undefined) {
        const text = `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`
        return fault(text, `messages.[${index}].tool_call_id`)
      }
      if (answered)
        return fault(
          `Duplicate value for 'tool_call_id' of '${id}' in message[${index}]`,
          `messages.[${index}]`,
        )
      waiting.set(id, true)
      continue
    }
    const open = unanswered(waiting)
    if (open.length > 0) return missingResults(open, `messages.[${index}].role`, isOpenAi)
    const ids = (message.role === 'assistant' ? message.tool_calls : undefined)?.map((call) => call.id) ?? []
    const twice = ids.find((id, at) => ids.indexOf(id) !== at)
    if (twice !== undefined)
      return fault(
        `Duplicate value for 'tool_call_id' of '${twice}' in message[${index}]`,
        `messages.[${index}]`,
      )
    waiting = ids.length === 0 ? null : new Map(ids.map((id) => [id, false]))
  }
  const open = unanswered(waiting)
  return open.length > 0 ? missingResults(open, 'messages', isOpenAi) : null
}

function unanswered(waiting: ReadonlyMap<string, boolean> | null): readonly string[] {
  return [...(waiting ?? [])].flatMap(([id, isAnswered]) => (isAnswered ? [] : [id]))
}

function orphan(index: number, isOpenAi: boolean): ApiFault {
  const message = isOpenAi
    ? "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
    : "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
  return fault(message, `messages.[${index}].role`)
}

function missingResults(ids: readonly string[], param: string, isOpenAi: boolean): ApiFault {
  const head =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
  return fault(
    isOpenAi
      ? `${head} The following tool_call_ids did not have response messages: ${ids.join(', ')}`
      : `${head} (insufficient tool messages following tool_calls message)`,
    param,
  )
}

/** Servers that think in the open want their words back beside the calls they led to. */
function checkReasoningBack(body: ChatBody, model: DialectModel, quirks: Quirks): ApiFault | null {
  const isOff = isRecord(body['thinking']) && body['thinking']['type'] === 'disabled'
  if (quirks.reasoningBack !== 'required-with-calls' || !model.reasons || isOff) return null
  const lacks = body.messages.some(
    (message) => message.tool_calls !== undefined && typeof message.reasoning_content !== 'string',
  )
  return lacks ? fault('The `reasoning_content` in the thinking mode must be passed back to the API.') : null
}

function checkJsonWord(body: ChatBody): ApiFault | null {
  const format = body['response_format']
  if (!isRecord(format) || format['type'] !== 'json_object') return null
  if (/json/iu.test(JSON.stringify(body.messages))) return null
  return fault(
    "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    'messages',
  )
}
