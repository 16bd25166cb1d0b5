// Rules 16, 17, 21, the tool half of 6 and 18, the pre-warm limits and the order of context edits:
// everything that can be said without looking at the messages.
import type { WireError, WireRequest } from '../../model/wire.ts'
import type { SimulatedModel } from '../models.ts'
import { invalid } from './problem.ts'

export function checkParameters(request: WireRequest, model: SimulatedModel): WireError | null {
  return (
    checkMaxTokens(request, model) ??
    checkThinkingMode(request, model) ??
    checkTools(request, model) ??
    checkPrewarm(request) ??
    checkContextEdits(request)
  )
}

function checkMaxTokens(request: WireRequest, model: SimulatedModel): WireError | null {
  if (request.max_tokens <= model.maxOutput) return null
  return invalid(
    `max_tokens: ${request.max_tokens} > ${model.maxOutput}, which is the maximum allowed number of output tokens for ${request.model}`,
  )
}

function checkThinkingMode(request: WireRequest, model: SimulatedModel): WireError | null {
  const { thinking } = request
  if (thinking === undefined) return null
  if (!model.thinking.includes(thinking.type)) return invalid(refusedMode(thinking.type, model))
  if (thinking.type === 'enabled' && request.max_tokens > 0 && request.max_tokens <= thinking.budget_tokens) {
    return invalid('`max_tokens` must be greater than `thinking.budget_tokens`')
  }
  return null
}

function refusedMode(mode: string, model: SimulatedModel): string {
  if (mode === 'adaptive') return 'adaptive thinking is not supported on this model'
  const refused = `"thinking.type.${mode}" is not supported for this model.`
  if (mode === 'enabled') {
    return `${refused} Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`
  }
  const other = model.thinking.find((each) => each !== 'adaptive') ?? 'adaptive'
  return `${refused} Use "thinking.type.${other}" instead.`
}

function checkTools(request: WireRequest, model: SimulatedModel): WireError | null {
  const tools = request.tools ?? []
  const names = new Set(tools.map((tool) => tool.name))
  if (names.size < tools.length) return invalid('tools: Tool names must be unique.')
  if (tools.length > 0 && tools.every((tool) => tool.defer_loading === true)) {
    return invalid('All tools have defer_loading: true')
  }
  const choice = request.tool_choice
  if (choice === undefined) return null
  if (tools.length === 0) return invalid('tool_choice: may only be specified while providing tools')
  if (choice.type !== 'tool' && choice.type !== 'any') return null
  if (!model.forcedTools)
    return invalid('tool_choice: type "tool" and "any" are not supported for this model.')
  if (choice.type === 'any') return null
  if (choice.name === undefined) return invalid('tool_choice.tool.name: Field required')
  return names.has(choice.name) ? null : invalid(`Tool '${choice.name}' not found in provided tools`)
}

/** Which combinations are refused is documented; the wording is not. */
function checkPrewarm(request: WireRequest): WireError | null {
  if (request.max_tokens > 0) return null
  const forced = request.tool_choice?.type === 'tool' || request.tool_choice?.type === 'any'
  const thinks = request.thinking?.type === 'enabled' || request.thinking?.type === 'adaptive'
  const refused = [
    request.stream === true ? 'stream' : null,
    thinks ? 'thinking' : null,
    (request.output_config?.format ?? null) === null ? null : 'output_config.format',
    forced ? 'tool_choice' : null,
  ].find((each) => each !== null)
  return refused === undefined ? null : invalid(`max_tokens: 0 is not supported together with \`${refused}\``)
}

function checkContextEdits(request: WireRequest): WireError | null {
  const edits = request.context_management?.edits ?? []
  const late = edits.findIndex((edit, index) => edit.type === 'clear_thinking_20251015' && index > 0)
  if (late < 0) return null
  return invalid(`context_management.edits.${late}: \`clear_thinking_20251015\` must be the first edit`)
}
