// The wire rules (docs/wire-rules.md) as one pure function. One error per request, the first in this order: shape (known fields,
// then unknown keys), model, parameters, cache breakpoints, messages, images, reasoning. The real order is not documented.
// What can be said without looking at the messages stands below: rules 16, 17, 21, the tool half of 6 and 18, the pre-warm
// limits and the order of context edits.
import type { WireError, WireRequest } from '../model/wire.ts'
import { createDigests, type Digests } from './digest.ts'
import { findModel, simulatedModels, type SimulatedModel } from './models.ts'
import { checkCacheBreakpoints } from './rules/cache-breakpoints.ts'
import { checkConversation } from './rules/conversation.ts'
import { checkMedia } from './rules/media.ts'
import { invalid, problem } from './rules/problem.ts'
import { requestShape, VERSION_WITHOUT_SAMPLING } from './rules/request-shape.ts'
import { admitThinking, checkTurnStart, type Admission } from './rules/thinking.ts'

export interface RuleOptions {
  readonly models?: readonly SimulatedModel[]
  /** The `anthropic-version` header; the newest where absent. */
  readonly version?: string
  /** Values of the `anthropic-beta` header. */
  readonly betas?: readonly string[]
  readonly cacheEdits?: boolean
  /** Models take messages of the role `system` as their record says, or all of them do. */
  readonly systemMessages?: 'by-model' | 'all'
  /** Judges signatures and prefix binding; without it reasoning blocks are only looked at from outside. */
  readonly secret?: string | null
  /** Whether binding is on by default for the models where that depends on the account. */
  readonly newAccount?: boolean
  readonly digests?: Digests
}

export type Judgement =
  | {
      readonly ok: true
      readonly request: WireRequest
      readonly model: SimulatedModel
      readonly admission: Admission
    }
  | { readonly ok: false; readonly error: WireError }

/** Null when the API would take it. Sizes against the window need a count and are not judged here. */
export function checkRequest(request: unknown, options: RuleOptions = {}): WireError | null {
  const judgement = judgeRequest(request, options)
  return judgement.ok ? null : judgement.error
}

export function judgeRequest(body: unknown, options: RuleOptions = {}): Judgement {
  const version = options.version ?? VERSION_WITHOUT_SAMPLING
  const betas = new Set(options.betas)
  const shape = requestShape({ version, betas, cacheEdits: options.cacheEdits ?? false })
  const misshapen = shape(body, '')
  if (misshapen !== null) return { ok: false, error: invalid(misshapen) }
  // The shape has just been checked field by field.
  const request = body as WireRequest
  const model = findModel(options.models ?? simulatedModels, request.model)
  if (model === null) return { ok: false, error: problem('not_found_error', `model: ${request.model}`) }
  const error =
    checkParameters(request, model) ??
    checkCacheBreakpoints(request) ??
    checkConversation(request, model, version, options.systemMessages === 'all' || model.systemMessages) ??
    checkMedia(request, model) ??
    checkTurnStart(request)
  if (error !== null) return { ok: false, error }
  const admitted = admitThinking(request, model, {
    secret: options.secret ?? null,
    newAccount: options.newAccount ?? true,
    betas,
    digests: options.digests ?? createDigests(),
  })
  return admitted.ok ? { ok: true, request, model, admission: admitted.admission } : admitted
}

function checkParameters(request: WireRequest, model: SimulatedModel): WireError | null {
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
