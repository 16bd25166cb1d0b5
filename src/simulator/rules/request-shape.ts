// Rule 22 and the parts of rule 6 that are patterns: which keys each part of a request has, which of them depend on
// a beta header, a capability or the API version. Blocks only the provider can read stay open.
import {
  anything,
  choice,
  dictionary,
  flag,
  integer,
  list,
  matching,
  nullable,
  number,
  open,
  record,
  tagged,
  isText,
  textOr,
  type Check,
  type Fields,
} from './shape.ts'

export interface ShapeOptions {
  readonly version: string
  readonly betas: ReadonlySet<string>
  /** The server knows `cache_edits` and `cache_reference` (not public). */
  readonly cacheEdits: boolean
}

export const BETAS = {
  contextManagement: 'context-management-2025-06-27',
  binding: 'thinking-binding-controls-2026-08-01',
  clearAt: 'mid-conversation-system-clear-at-2026-08-21',
  messageConfig: 'mid-conversation-output-config-2026-07-01',
  /** The same under the name one client sends. */
  perTurnControl: 'per-turn-control-2026-07-01',
  toolChanges: 'mid-conversation-tool-changes-2026-07-01',
  taskBudgets: 'task-budgets-2026-03-13',
  windowExceeded: 'model-context-window-exceeded-2025-08-26',
} as const

/** The version that took the sampling parameters away. */
export const VERSION_WITHOUT_SAMPLING = '2026-10-21'
export const VERSIONS: readonly string[] = ['2023-06-01', VERSION_WITHOUT_SAMPLING]

const MIN_THINKING_BUDGET = 1024
const ID = /^[a-zA-Z0-9_-]+$/
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/
const SERVER_RESULTS = [
  'web_search',
  'web_fetch',
  'code_execution',
  'bash_code_execution',
  'text_editor_code_execution',
  'tool_search',
  'advisor',
  'mcp',
]

const type: Fields = { type: isText }
const breakpoint = nullable(tagged({ ephemeral: record(type, { ttl: choice('5m', '1h') }) }))
const cache: Fields = { cache_control: breakpointWithPlainTag }

/** A wrong `type` of a breakpoint is named plainly, not as an unknown tag. */
function breakpointWithPlainTag(value: unknown, path: string): string | null {
  const wrong = breakpoint(value, path)
  return wrong?.includes('Input tag') === true ? `${path}.type: Input should be 'ephemeral'` : wrong
}

const answerId: Check = (value, path) =>
  typeof value === 'string' && !value.startsWith('msg_')
    ? `${path}: must be the \`id\` of an earlier answer of /v1/messages (it starts with \`msg_\`)`
    : isText(value, path)
const textBlock = record({ ...type, text: isText }, { ...cache, citations: nullable(list(dictionary)) })
const imageSource = tagged({
  base64: record({
    ...type,
    media_type: choice('image/jpeg', 'image/png', 'image/gif', 'image/webp'),
    data: isText,
  }),
  url: record({ ...type, url: isText }),
  file: record({ ...type, file_id: isText }),
})
const imageBlock = record({ ...type, source: imageSource }, { ...cache, transformations: dictionary })
const citations = nullable(record({}, { enabled: flag }))
const documentBlock = record(
  { ...type, source: open(type) },
  { ...cache, title: nullable(isText), context: nullable(isText), citations },
)
const searchResult = record(
  { ...type, source: isText, title: isText, content: list(tagged({ text: textBlock })) },
  { ...cache, citations },
)
const toolUse = record(
  { ...type, id: matching(ID), name: matching(TOOL_NAME), input: dictionary },
  { ...cache, caller: nullable(dictionary), toolset_name: nullable(isText) },
)
const opaque = open(type, cache)

function contentBlock(options: ShapeOptions): Check {
  const inner = tagged({
    text: textBlock,
    image: imageBlock,
    search_result: searchResult,
    document: documentBlock,
    tool_reference: opaque,
    browser_state: opaque,
  })
  const reference: Fields = options.cacheEdits ? { cache_reference: isText } : {}
  const toolResult = record(
    { ...type, tool_use_id: matching(ID) },
    {
      ...cache,
      ...reference,
      content: textOr(list(inner)),
      is_error: nullable(flag),
      toolset_name: nullable(isText),
    },
  )
  const changes: Fields = options.betas.has(BETAS.toolChanges)
    ? { tool_addition: opaque, tool_removal: opaque }
    : {}
  return tagged({
    text: textBlock,
    image: imageBlock,
    document: documentBlock,
    search_result: searchResult,
    tool_use: toolUse,
    tool_result: toolResult,
    thinking: record({ ...type, thinking: isText, signature: isText }),
    redacted_thinking: record({ ...type, data: isText }),
    server_tool_use: open({ ...type, id: isText, name: isText, input: dictionary }, cache),
    mcp_tool_use: open({ ...type, id: isText, name: isText, input: dictionary }, cache),
    container_upload: opaque,
    ...Object.fromEntries(
      SERVER_RESULTS.map((each) => [`${each}_tool_result`, open({ ...type, tool_use_id: isText }, cache)]),
    ),
    ...changes,
  })
}

const customTool = record(
  { name: matching(TOOL_NAME), input_schema: open({ type: choice('object') }) },
  {
    ...cache,
    type: choice('custom'),
    description: isText,
    defer_loading: flag,
    strict: flag,
    eager_input_streaming: nullable(flag),
    input_examples: list(dictionary),
    allowed_callers: list(isText),
  },
)
const serverTool = open({ ...type, name: isText }, cache)
const tool: Check = (value, path) => {
  const tag = typeof value === 'object' && value !== null ? (value as { type?: unknown }).type : undefined
  return tag === undefined || tag === 'custom'
    ? customTool(value, `${path}.custom`)
    : serverTool(value, `${path}.${typeof tag === 'string' ? tag : 'type'}`)
}

function thinking(betas: ReadonlySet<string>): Check {
  const binding: Fields = betas.has(BETAS.binding)
    ? { block_binding: record({ prefix_mismatch_behavior: choice('error', 'drop_block') }) }
    : {}
  const shown: Fields = { display: choice('summarized', 'omitted', 'updates'), ...binding }
  return tagged({
    adaptive: record(type, shown),
    enabled: record({ ...type, budget_tokens: integer(MIN_THINKING_BUDGET) }, shown),
    disabled: record(type),
    between_tools: record(type),
  })
}

const amount = (...kinds: readonly string[]): Check => record({ type: choice(...kinds), value: integer(1) })
const keepThinking: Check = (value, path) =>
  value === 'all'
    ? null
    : tagged({ all: record(type), thinking_turns: record({ ...type, value: integer(1) }) })(value, path)
const contextEdits = record({
  edits: list(
    tagged({
      clear_thinking_20251015: record(type, { keep: keepThinking }),
      clear_tool_uses_20250919: record(type, {
        trigger: nullable(amount('input_tokens', 'tool_uses')),
        keep: record({ type: choice('tool_uses'), value: integer(0) }),
        clear_at_least: nullable(amount('input_tokens')),
        exclude_tools: nullable(list(isText)),
        clear_tool_inputs: (value, path) =>
          typeof value === 'boolean' ? null : nullable(list(isText))(value, path),
      }),
    }),
  ),
})

export function requestShape(options: ShapeOptions): Check {
  const { betas } = options
  const effort = choice('low', 'medium', 'high', 'xhigh', 'max')
  const budget: Fields = betas.has(BETAS.taskBudgets) ? { task_budget: dictionary } : {}
  const message = record(
    { role: choice('user', 'assistant', 'system'), content: textOr(list(contentBlock(options))) },
    {
      ...(betas.has(BETAS.clearAt) ? { clear_at: choice('next_user_message', 'never') } : {}),
      ...(betas.has(BETAS.messageConfig) || betas.has(BETAS.perTurnControl)
        ? { output_config: nullable(record({}, { effort: nullable(effort) })) }
        : {}),
    },
  )
  const sampling: Fields =
    options.version === VERSION_WITHOUT_SAMPLING
      ? {}
      : { temperature: number, top_p: number, top_k: integer(0) }
  return record(
    { model: isText, messages: list(message), max_tokens: integer(0) },
    {
      system: textOr(list(systemBlock)),
      tools: list(tool),
      tool_choice: record(
        { type: choice('auto', 'any', 'tool', 'none') },
        { name: isText, disable_parallel_tool_use: flag },
      ),
      thinking: thinking(betas),
      output_config: record({}, { effort: nullable(effort), format: nullable(anything), ...budget }),
      cache_control: breakpointWithPlainTag,
      stream: flag,
      stop_sequences: list(isText),
      metadata: record({}, { user_id: nullable(isText) }),
      speed: choice('standard', 'fast'),
      service_tier: choice('auto', 'standard_only'),
      diagnostics: nullable(record({ previous_message_id: nullable(answerId) })),
      container: anything,
      inference_geo: nullable(isText),
      user_profile_id: nullable(isText),
      workspace_id: nullable(isText),
      ...sampling,
      ...(betas.has(BETAS.contextManagement) ? { context_management: nullable(contextEdits) } : {}),
      ...(options.cacheEdits
        ? { cache_edits: list(record({ type: choice('delete'), cache_reference: isText })) }
        : {}),
    },
  )
}

/** System blocks are not a union, so their paths carry no tag. */
function systemBlock(value: unknown, path: string): string | null {
  return record({ type: choice('text'), text: isText }, { ...cache, citations: nullable(list(dictionary)) })(
    value,
    path,
  )
}
