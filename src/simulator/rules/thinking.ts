// Rules 13–15 (docs/wire-rules.md) and the binding of reasoning to its prefix. A bound block is valid only after the very system, tools and earlier
// blocks it was made after; reasoning itself is left out of that comparison and forms a chain of its own, so it may be
// missing at the start or the end but not in the middle. Blocks of another model are dropped without a word.
import type { WireError, WireRequest } from '../../model/wire.ts'
import { chain, type Digests } from '../digest.ts'
import type { SimulatedModel } from '../models.ts'
import { isThinking, placedBlocks, turnsOf, type PlacedBlock } from './blocks.ts'
import { invalid } from './problem.ts'
import { BETAS } from './request-shape.ts'
import { openSeal, signatureOf, visibleDigest } from './seal.ts'

export interface ThinkingOptions {
  /** Signs and recognises reasoning; without it signatures are not judged. */
  readonly secret: string | null
  /** The account was made after binding became the default. */
  readonly newAccount: boolean
  readonly betas: ReadonlySet<string>
  readonly digests: Digests
}

export interface Admission {
  /** Paths of reasoning blocks that do not reach the model. */
  readonly dropped: ReadonlySet<string>
  readonly transformations: readonly Readonly<Record<string, unknown>>[]
  /** What the next reasoning block will be bound to. */
  readonly prefix: string
  readonly previous: string | null
}

export type Admitted =
  | { readonly ok: true; readonly admission: Admission }
  | { readonly ok: false; readonly error: WireError }

/** Rule 13: the tool loop in progress is one turn, and it begins with reasoning where that is switched on by hand. */
export function checkTurnStart(request: WireRequest): WireError | null {
  if (request.thinking?.type !== 'enabled') return null
  const turns = turnsOf(request)
  const inLoop =
    turns
      .findLast((turn) => turn.role !== 'system')
      ?.blocks.some(({ block }) => block.type === 'tool_result') === true
  if (!inLoop) return null
  const asked = turns.findLastIndex(
    (turn) => turn.role === 'user' && !turn.blocks.some(({ block }) => block.type === 'tool_result'),
  )
  const first = turns.slice(asked + 1).find((turn) => turn.role === 'assistant')?.blocks[0]
  if (first === undefined || isThinking(first.block)) return null
  return invalid(
    `${first.path}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.block.type}\`. ` +
      'When `thinking` is enabled, a final `assistant` message must start with a thinking block ' +
      '(preceeding the lastmost set of `tool_use` and `tool_result` blocks). ' +
      'We recommend you include thinking blocks from previous turns. ' +
      'To avoid this requirement, disable `thinking`.',
  )
}

export function admitThinking(
  request: WireRequest,
  model: SimulatedModel,
  options: ThinkingOptions,
): Admitted {
  const bound = isBound(request, model, options)
  // Seals name their prefix even while nobody asks for it: a later request may.
  const tracked = options.secret !== null && model.bindsPrefix !== 'never'
  const latest = turnsOf(request).findLast((turn) => turn.role === 'assistant')?.message ?? Infinity
  const dropped = new Map<string, string>()
  let prefix = tracked ? startOfPrefix(request, options.digests) : ''
  let previous: string | null = null
  let broken = false
  for (const placed of placedBlocks(request)) {
    if (!isThinking(placed.block)) {
      if (tracked) prefix = chain(prefix, placed.role, options.digests.block(placed.block))
      continue
    }
    const verdict = judge(placed, { model, options, prefix, previous, bound, latest })
    if (verdict.kind === 'invalid') return { ok: false, error: verdict.error }
    if (verdict.kind === 'foreign-model') dropped.set(placed.path, 'model_binding_mismatch')
    else if (verdict.kind === 'valid' && !broken) previous = verdict.id
    else {
      if (!dropsOnMismatch(request)) return { ok: false, error: bindingError(placed, options.betas) }
      broken = true
      dropped.set(placed.path, 'prefix_binding_mismatch')
    }
  }
  const transformations = options.betas.has(BETAS.binding)
    ? [...dropped].map(([path, reason]) => ({ type: 'thinking_dropped', path, reason }))
    : []
  return { ok: true, admission: { dropped: new Set(dropped.keys()), transformations, prefix, previous } }
}

type Verdict =
  | { readonly kind: 'valid'; readonly id: string | null }
  | { readonly kind: 'foreign-model' | 'unbound' }
  | { readonly kind: 'invalid'; readonly error: WireError }

interface SealContext {
  readonly model: SimulatedModel
  readonly options: ThinkingOptions
  readonly prefix: string
  readonly previous: string | null
  readonly bound: boolean
  /** First message of the latest assistant turn. */
  readonly latest: number
}

function judge({ block, path, message }: PlacedBlock, context: SealContext): Verdict {
  const { secret } = context.options
  if (secret === null) return { kind: 'valid', id: null }
  const seal = openSeal(secret, signatureOf(block))
  const field = block.type === 'thinking' ? 'signature' : 'data'
  const forged = invalid(`${path}: Invalid \`${field}\` in \`${block.type}\` block`)
  if (seal === null) return { kind: 'invalid', error: forged }
  if (seal.textDigest !== visibleDigest(block)) {
    return { kind: 'invalid', error: message >= context.latest ? modifiedError(path) : forged }
  }
  if (seal.model !== context.model.id) return { kind: 'foreign-model' }
  if (!context.bound) return { kind: 'valid', id: seal.id }
  const inChain = context.previous === null || context.previous === seal.previous
  return seal.prefix === context.prefix && inChain ? { kind: 'valid', id: seal.id } : { kind: 'unbound' }
}

function isBound(request: WireRequest, model: SimulatedModel, options: ThinkingOptions): boolean {
  if (options.secret === null || model.bindsPrefix === 'never') return false
  return model.bindsPrefix === 'always' || options.newAccount || bindingOf(request) !== undefined
}

function dropsOnMismatch(request: WireRequest): boolean {
  return bindingOf(request)?.prefix_mismatch_behavior === 'drop_block'
}

function bindingOf({ thinking }: WireRequest) {
  return thinking?.type === 'adaptive' || thinking?.type === 'enabled' ? thinking.block_binding : undefined
}

function startOfPrefix(request: WireRequest, digests: Digests): string {
  const tools = (request.tools ?? []).filter((tool) => tool.defer_loading !== true)
  return chain('binding', ...tools.map((tool) => digests.tool(tool)), 'system', ...digests.system(request))
}

function bindingError({ path, block }: PlacedBlock, betas: ReadonlySet<string>): WireError {
  const field = block.type === 'thinking' ? 'signature' : 'data'
  const header = betas.has(BETAS.binding)
    ? ''
    : ` That setting requires the \`${BETAS.binding}\` value in the \`anthropic-beta\` header.`
  return invalid(
    `${path}: Invalid \`${field}\` in \`${block.type}\` block. The block is bound to a different conversation. ` +
      `Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".${header}`,
  )
}

function modifiedError(path: string): WireError {
  return invalid(
    `${path}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. ` +
      'These blocks must remain as they were in the original response.',
  )
}
