// The body of Chat Completions, field by field, for the server that takes it.
import { isRecord } from '../../../rules/shape.ts'
import { cacheFields, markShape } from '../caching.ts'
import { fault, type ApiFault } from '../errors.ts'
import { serverQuirks, type Quirks, type ServerName } from '../quirks.ts'
import {
  atLeast,
  byType,
  isAnything,
  isBoolean,
  isDecimal,
  isObject,
  isString,
  listOf,
  missing,
  named,
  fieldsOf,
  oneOf,
  orNull,
  unsupportedValue,
  textOrList,
  upTo,
  type ApiCheck,
  type ApiFields,
} from '../shape.ts'

const MOST_TOOLS = 128
const MOST_NAME_CHARS = 64
const MOST_CALL_ID_CHARS = 40
const name = named(MOST_NAME_CHARS)
const ROLES = ['system', 'assistant', 'user', 'function', 'tool', 'developer']
const tag: ApiFields = { type: isString }
const mark: ApiFields = { prompt_cache_breakpoint: markShape('30m') }

export interface ChatMessage {
  readonly role: string
  readonly content?: unknown
  readonly tool_calls?: readonly ChatCall[]
  readonly tool_call_id?: string
  readonly reasoning_content?: unknown
  readonly refusal?: unknown
  readonly audio?: unknown
  readonly function_call?: unknown
}

export interface ChatCall {
  readonly id: string
  readonly type: string
  readonly function?: { readonly name: string; readonly arguments: string }
  readonly custom?: { readonly name: string; readonly input: string }
}

export interface ChatBody extends Readonly<Record<string, unknown>> {
  readonly model: string
  readonly messages: readonly ChatMessage[]
}

/** Null when every field has its shape. */
export function checkChatShape(body: unknown, quirks: Quirks): ApiFault | null {
  if (!isRecord(body)) return fault("Invalid type for 'body': expected an object.", null, 'invalid_type')
  if (body['model'] === undefined) return fault('you must provide a model parameter')
  const wrong = bodyShapes[quirks.server](body, '')
  if (wrong?.code !== 'unknown_parameter' || wrong.param === null) return wrong
  if (quirks.errors === 'groq') return fault(groqUnknown(wrong.param, body))
  return wrong.param.includes('.') ? wrong : fault(`Unrecognized request argument supplied: ${wrong.param}`)
}

/** Groq says which message carries the field it does not know. */
function groqUnknown(param: string, body: Readonly<Record<string, unknown>>): string {
  const inside = /^messages\[(\d+)\]\.(\w+)$/u.exec(param)
  if (inside === null) return `property '${param}' is unsupported`
  const [, index = '', key = ''] = inside
  const messages = body['messages'] as readonly ChatMessage[]
  const role = messages[Number(index)]?.role ?? ''
  return `'messages.${index}' : for 'role:${role}' the following must be satisfied[('messages.${index}' : property '${key}' is unsupported)]`
}

type Shape = (required: ApiFields, optional?: ApiFields) => ApiCheck

function bodyShape(quirks: Quirks): ApiCheck {
  const shape: Shape = (required, optional) => fieldsOf(required, optional, quirks.unknown)
  const optional: ApiFields = {
    ...cacheFields('30m'),
    audio: orNull(isObject),
    frequency_penalty: orNull(isDecimal),
    function_call: isAnything,
    functions: listOf(isObject),
    logit_bias: orNull(isObject),
    logprobs: orNull(isBoolean),
    max_completion_tokens: orNull(atLeast(1)),
    max_tokens: orNull(atLeast(1)),
    metadata: orNull(isObject),
    modalities: orNull(listOf(oneOf('text', 'audio'))),
    moderation: orNull(isObject),
    n: orNull(atLeast(1)),
    parallel_tool_calls: isBoolean,
    prediction: orNull(isObject),
    presence_penalty: orNull(isDecimal),
    reasoning_effort: orNull(oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')),
    response_format: byType({
      text: isObject,
      json_object: isObject,
      json_schema: shape({
        ...tag,
        json_schema: shape({ name }, { description: isString, schema: isObject, strict: orNull(isBoolean) }),
      }),
    }),
    safety_identifier: orNull(isString),
    seed: orNull(isDecimal),
    service_tier: orNull(isString),
    stop: isAnything,
    store: orNull(isBoolean),
    stream: orNull(isBoolean),
    stream_options: orNull(shape({}, { include_usage: isBoolean, include_obfuscation: isBoolean })),
    temperature: orNull(isDecimal),
    tool_choice: toolChoice(quirks),
    tools: listOf(toolShape(shape), MOST_TOOLS),
    top_logprobs: orNull(atLeast(0)),
    top_p: orNull(isDecimal),
    user: isString,
    verbosity: orNull(oneOf('low', 'medium', 'high')),
    web_search_options: isObject,
  }
  return shape({ messages: listOf(messageShape(quirks, shape)), model: isString }, optional)
}

/** Made once: a property test asks them ten thousand times. */
const bodyShapes = Object.fromEntries(
  Object.entries(serverQuirks).map(([server, quirks]) => [server, bodyShape(quirks)]),
) as Readonly<Record<ServerName, ApiCheck>>

function toolChoice(quirks: Quirks): ApiCheck {
  return (value, path) => {
    if (typeof value === 'string') return oneOf('none', 'auto', 'required')(value, path)
    if (!quirks.namedToolChoice)
      return fault("Invalid tool_choice type: 'object'. Supported string values: none, auto, required", path)
    return byType({ function: isObject, custom: isObject, allowed_tools: isObject })(value, path)
  }
}

function toolShape(shape: Shape): ApiCheck {
  return byType({
    function: shape({
      ...tag,
      function: shape({ name }, { description: isString, parameters: isObject, strict: orNull(isBoolean) }),
    }),
    custom: shape({ ...tag, custom: shape({ name }, { description: isString, format: isObject }) }),
  })
}

function messageShape(quirks: Quirks, shape: Shape): ApiCheck {
  const text = shape({ ...tag, text: isString }, mark)
  const parts = byType({
    text,
    image_url: shape(
      { ...tag, image_url: shape({ url: isString }, { detail: oneOf('auto', 'low', 'high', 'original') }) },
      mark,
    ),
    input_audio: shape({ ...tag, input_audio: isObject }, mark),
    file: shape({ ...tag, file: isObject }, mark),
  })
  const answered = byType({ text, refusal: shape({ ...tag, refusal: isString }, mark) })
  const content = (part: ApiCheck): ApiCheck => orNull(textOrList(part))
  const called = quirks.unknown === 'refused' ? name : isString
  const id = upTo(MOST_CALL_ID_CHARS)
  const call = byType({
    function: shape({ ...tag, id, function: shape({ name: called, arguments: isString }) }),
    custom: shape({ ...tag, id, custom: shape({ name: called, input: isString }) }),
  })
  const role: ApiFields = { role: isString }
  const speaker: ApiFields = { name: isString }
  const texts = shape({ ...role, content: content(byType({ text })) }, speaker)
  const shapes: Readonly<Record<string, ApiCheck>> = {
    system: texts,
    developer: texts,
    user: shape({ ...role, content: content(parts) }, speaker),
    assistant: shape(role, {
      ...speaker,
      content: content(answered),
      refusal: orNull(isString),
      audio: orNull(isObject),
      function_call: orNull(isObject),
      tool_calls: listOf(call),
      annotations: listOf(isObject),
    }),
    // Clients have always named the tool here, and the server has always let them.
    tool: shape({ ...role, content: content(isObject), tool_call_id: isString }, speaker),
    function: texts,
  }
  return (value, path) => {
    if (!isRecord(value)) return isObject(value, path)
    const given = value['role']
    if (given === undefined) return missing(`${path}.role`)
    if (typeof given !== 'string') return isString(given, `${path}.role`)
    if (given === 'developer' && !quirks.developerRole) return unknownRole(path)
    const shape = Object.hasOwn(shapes, given) ? shapes[given] : undefined
    return shape === undefined ? unsupportedValue(given, `${path}.role`, ROLES) : shape(value, path)
  }
}

function unknownRole(path: string): ApiFault {
  return fault(
    `Failed to deserialize the JSON body into the target type: ${path}.role: unknown variant \`developer\`, expected one of \`system\`, \`user\`, \`assistant\`, \`tool\`, \`latest_reminder\` at line 1 column 1`,
  )
}
