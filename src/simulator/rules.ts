// The wire rules (docs/wire-rules.md) as one pure function. One error per request, the first in this order: shape (known fields,
// then unknown keys), model, parameters, cache breakpoints, messages, images, reasoning. The real order is not documented.
import type { WireError, WireRequest } from '../model/wire.ts'
import { createDigests, type Digests } from './digest.ts'
import { findModel, simulatedModels, type SimulatedModel } from './models.ts'
import { checkCacheBreakpoints } from './rules/cache-breakpoints.ts'
import { checkConversation } from './rules/conversation.ts'
import { checkMedia } from './rules/media.ts'
import { checkParameters } from './rules/parameters.ts'
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
