// The body of Responses, its input items and its tools, field by field: functions, tools that take free text, namespaces of both;
// those the vendor runs stay open.
import { isRecord } from '../../../rules/shape.ts'
import { cacheFields, markShape } from '../caching.ts'
import { fault, type ApiFault } from '../errors.ts'
import {
  atLeast,
  byType,
  fieldsOf,
  isAnything,
  isBoolean,
  isDecimal,
  isObject,
  isString,
  listOf,
  missing,
  named,
  oneOf,
  orNull,
  unsupportedValue,
  textOrList,
  upTo,
  type ApiCheck,
  type ApiFields,
} from '../shape.ts'

export type Item = { readonly type?: string } & Readonly<Record<string, unknown>>

export interface ResponsesBody extends Readonly<Record<string, unknown>> {
  readonly model: string
  readonly input?: string | readonly Item[]
}

const LEAST_OUTPUT_TOKENS = 16
const MOST_CALL_ID_CHARS = 64
const MOST_NAME_CHARS = 128
const name = named(MOST_NAME_CHARS)
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
/** Items of hosted tools come back as they were. */
const OPAQUE_ITEMS = [
  'file_search_call',
  'computer_call',
  'computer_call_output',
  'web_search_call',
  'tool_search_call',
  'tool_search_output',
  'image_generation_call',
  'code_interpreter_call',
  'local_shell_call',
  'local_shell_call_output',
  'shell_call',
  'shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
  'mcp_call',
  'program',
  'program_output',
]
const INCLUDED = [
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
]

const tag: ApiFields = { type: isString }
const status: ApiFields = { status: orNull(oneOf('in_progress', 'completed', 'incomplete')) }
const id = (prefix: string): ApiFields => ({ id: orNull(beginsWith(prefix)) })
const callId = upTo(MOST_CALL_ID_CHARS)
const offered: ApiFields = {
  defer_loading: orNull(isBoolean),
  async: orNull(isBoolean),
  allowed_callers: orNull(listOf(isString)),
}
const caller: ApiFields = { caller: orNull(isObject), namespace: orNull(isString), async: orNull(isBoolean) }
const mark: ApiFields = { prompt_cache_breakpoint: markShape('30m', '12h') }

function beginsWith(prefix: string): ApiCheck {
  return (value, path) => {
    if (typeof value !== 'string') return isString(value, path)
    if (value.startsWith(prefix)) return null
    return fault(
      `Invalid '${path}': '${value}'. Expected an ID that begins with '${prefix}'.`,
      path,
      'invalid_value',
    )
  }
}

const MOST_TOOLS = 128
const HOSTED_TOOLS = [
  'file_search',
  'computer',
  'computer_use_preview',
  'web_search',
  'web_search_2025_08_26',
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'mcp',
  'code_interpreter',
  'programmatic_tool_calling',
  'image_generation',
  'local_shell',
  'shell',
  'tool_search',
  'apply_patch',
]

const hosted: ApiFields = Object.fromEntries(HOSTED_TOOLS.map((each) => [each, isObject]))

const tools = (value: unknown, path: string): ApiFault | null => listOf(toolShape, MOST_TOOLS)(value, path)

const toolShape: ApiCheck = (value, path) =>
  byType({
    function: fieldsOf(
      { ...tag, name },
      {
        description: orNull(isString),
        parameters: orNull(isObject),
        strict: orNull(isBoolean),
        ...offered,
        output_schema: orNull(isObject),
      },
    ),
    custom: fieldsOf(
      { ...tag, name },
      {
        description: isString,
        format: byType({
          text: isObject,
          grammar: fieldsOf({ ...tag, syntax: oneOf('lark', 'regex'), definition: isString }),
        }),
        ...offered,
      },
    ),
    namespace: fieldsOf({ ...tag, name, tools }, { description: isString }),
    ...hosted,
  })(value, path)

const toolChoice: ApiCheck = (value, path) =>
  typeof value === 'string'
    ? oneOf('none', 'auto', 'required')(value, path)
    : byType({
        function: fieldsOf({ ...tag, name: isString }),
        custom: fieldsOf({ ...tag, name: isString }),
        allowed_tools: isObject,
        mcp: isObject,
        ...hosted,
      })(value, path)

const asked = byType({
  input_text: fieldsOf({ ...tag, text: isString }, mark),
  input_image: fieldsOf(tag, {
    ...mark,
    image_url: orNull(isString),
    file_id: orNull(isString),
    detail: orNull(oneOf('auto', 'low', 'high', 'original')),
  }),
  input_file: fieldsOf(tag, {
    ...mark,
    file_id: orNull(isString),
    file_data: isString,
    file_url: isString,
    filename: isString,
    detail: isAnything,
  }),
})
const answered = byType({
  output_text: fieldsOf({ ...tag, text: isString }, { annotations: listOf(isObject), logprobs: isAnything }),
  refusal: fieldsOf({ ...tag, refusal: isString }),
})

const message: ApiCheck = (value, path) => {
  if (!isRecord(value)) return isObject(value, path)
  const role = value['role']
  if (role === undefined) return missing(`${path}.role`)
  const roles = ['assistant', 'system', 'developer', 'user']
  if (typeof role !== 'string' || !roles.includes(role))
    return unsupportedValue(typeof role === 'string' ? role : typeof role, `${path}.role`, roles)
  const phase: ApiFields = { phase: orNull(oneOf('commentary', 'final_answer')) }
  const own = { role: isString, content: textOrList(role === 'assistant' ? answered : asked) }
  return fieldsOf(own, { ...tag, ...status, ...phase, ...id('msg') })(value, path)
}
const itemId: ApiFields = { id: orNull(isString) }
const callOutput = fieldsOf(
  { ...tag, call_id: callId, output: textOrList(asked) },
  { ...itemId, ...status, ...caller, name: orNull(isString) },
)
const summary = listOf(byType({ summary_text: fieldsOf({ ...tag, text: isString }) }))
const items: Readonly<Record<string, ApiCheck>> = {
  message,
  reasoning: fieldsOf(
    { ...tag, summary },
    { ...id('rs'), ...status, encrypted_content: orNull(isString), content: orNull(listOf(isObject)) },
  ),
  function_call: fieldsOf(
    { ...tag, call_id: callId, name, arguments: isString },
    { ...id('fc'), ...status, ...caller },
  ),
  function_call_output: callOutput,
  custom_tool_call: fieldsOf(
    { ...tag, call_id: callId, name, input: isString },
    { ...id('ctc'), ...status, ...caller },
  ),
  custom_tool_call_output: callOutput,
  compaction: fieldsOf({ ...tag, encrypted_content: isString }, { ...itemId, created_by: isString }),
  compaction_trigger: fieldsOf(tag, itemId),
  configuration_update: fieldsOf(tag, { ...itemId, reasoning: orNull(isObject), text: orNull(isObject) }),
  additional_tools: fieldsOf({ ...tag, role: oneOf('developer'), tools }, itemId),
  item_reference: fieldsOf({ id: isString }, tag),
  ...Object.fromEntries(OPAQUE_ITEMS.map((each) => [each, isObject])),
}

/** What has a role and no type is a message; what has an id alone refers to an item. */
const item: ApiCheck = (value, path) => {
  if (!isRecord(value)) return isObject(value, path)
  if (value['type'] === undefined && value['role'] === undefined && typeof value['id'] === 'string')
    return null
  return byType(items, value['role'] === undefined ? undefined : 'message')(value, path)
}

const input: ApiFields = {
  input: textOrList(item, 'input items'),
  instructions: orNull(isString),
  previous_response_id: orNull(isString),
  tools,
  tool_choice: toolChoice,
  parallel_tool_calls: orNull(isBoolean),
  reasoning: orNull(
    fieldsOf(
      {},
      {
        effort: orNull(oneOf(...EFFORTS)),
        summary: orNull(oneOf('auto', 'concise', 'detailed')),
        generate_summary: orNull(oneOf('auto', 'concise', 'detailed')),
        context: orNull(oneOf('auto', 'current_turn', 'all_turns')),
        mode: isString,
      },
    ),
  ),
  text: orNull(
    fieldsOf(
      {},
      {
        format: byType({
          text: isObject,
          json_object: isObject,
          json_schema: fieldsOf(
            { ...tag, name, schema: isObject },
            { description: isString, strict: orNull(isBoolean) },
          ),
        }),
        verbosity: orNull(oneOf('low', 'medium', 'high')),
      },
    ),
  ),
  truncation: orNull(oneOf('auto', 'disabled')),
  conversation: isAnything,
}

const create = fieldsOf(
  { model: isString },
  {
    ...input,
    ...cacheFields('30m', '12h'),
    access_programs: isObject,
    background: orNull(isBoolean),
    client_metadata: orNull(isObject),
    context_management: orNull(
      listOf(fieldsOf({ type: oneOf('compaction') }, { compact_threshold: orNull(atLeast(1000)) })),
    ),
    image: isObject,
    include: orNull(listOf(oneOf(...INCLUDED))),
    max_output_tokens: orNull(atLeast(LEAST_OUTPUT_TOKENS)),
    max_tool_calls: orNull(atLeast(1)),
    metadata: orNull(isObject),
    moderation: orNull(isObject),
    prompt: orNull(isObject),
    safety_identifier: orNull(isString),
    service_tier: orNull(isString),
    store: orNull(isBoolean),
    stream: orNull(isBoolean),
    stream_options: orNull(fieldsOf({}, { include_obfuscation: isBoolean })),
    temperature: orNull(isDecimal),
    top_logprobs: orNull(atLeast(0)),
    top_p: orNull(isDecimal),
    user: isString,
  },
)
const compact = fieldsOf(
  { model: isString },
  {
    ...input,
    ...cacheFields('30m', '12h'),
    image: isObject,
    service_tier: orNull(isString),
    store: orNull(isBoolean),
  },
)
const count = fieldsOf({ model: isString }, { ...input, personality: isString })

const shapes = { create, compact, count } as const

export function checkResponsesShape(body: unknown, action: keyof typeof shapes): ApiFault | null {
  if (!isRecord(body)) return fault("Invalid type for 'body': expected an object.", null, 'invalid_type')
  return shapes[action](body, '')
}
