// What a request asks of an endpoint beside an answer: only what the model is known to take and the endpoint has not refused.
// What is left out is said once.
import type { WireThinking } from '../../model/wire.ts'
import type { Composed } from '../../request/compose.ts'
import type { Feature } from '../../model/model.ts'
import type { Slice } from '../core.ts'
import type { Emit, TurnFailure } from '../live.ts'
import { isRefused } from '../state.ts'

export interface AskedFeatures {
  readonly thinking: WireThinking | undefined
  readonly effort: string | undefined
}

type Asking = Slice<'modelId' | 'modelInfo' | 'options' | 'requests' | 'state'>

/** The options of the session that the model in force knows. A row that says nothing of a model forbids nothing. */
export function featuresFor(core: Asking, emit: Emit): AskedFeatures {
  const { thinking, effort } = core.options
  const known = knownFeatures(core)
  if (thinking !== undefined && known.thinking === undefined && !isRefused(core, 'thinking'))
    leaveOut(core, `thinking (${thinking.type})`, emit)
  if (effort !== undefined && known.effort === undefined && !isRefused(core, 'effort'))
    leaveOut(core, `effort (${effort})`, emit)
  return known
}

export function knownFeatures(core: Slice<'modelInfo' | 'options' | 'state'>): AskedFeatures {
  const { thinking, effort } = core.options
  const info = core.modelInfo()
  const can = info === null || info.provider === 'unknown' ? null : info.capabilities
  const thinks = thinking !== undefined && (can === null || can.thinking.includes(thinking.type))
  const works = effort !== undefined && (can === null || can.effort.includes(effort))
  return {
    thinking: thinks && !isRefused(core, 'thinking') ? thinking : undefined,
    effort: works && !isRefused(core, 'effort') ? effort : undefined,
  }
}

function leaveOut({ modelId, requests }: Asking, what: string, emit: Emit): void {
  const key = `${modelId} ${what}`
  if (requests.leftOut.has(key)) return
  requests.leftOut.add(key)
  emit({
    type: 'notice',
    code: 'option-left-out',
    message: `${modelId} does not know ${what}; requests are sent without it`,
  })
}

/**
 * The endpoint refused what it was asked for: from now on it is not asked. False where the request did not ask for it.
 * Where breakpoints of an hour are refused, those of five minutes may still be taken: most gateways know these.
 */
export async function withoutFeature(
  core: Slice<'append' | 'lifetime' | 'state'>,
  refused: Feature,
  why: string,
  { segments, betas }: Composed,
  emit: Emit,
): Promise<boolean | TurnFailure> {
  const feature = refused === 'caching' && core.lifetime === '1h' ? 'long-lifetime' : refused
  const asked = {
    'context-management': segments.extra,
    thinking: segments.thinking,
    effort: segments.effort,
    caching: segments.breakpoints.join(' '),
    'long-lifetime': segments.breakpoints.join(' '),
    // No part of the cache key: its beta is the one that no segment names.
    'cache-diagnostics': betas.join() === segments.betas ? '' : 'asked',
  }
  if (asked[feature] === '' || isRefused(core, feature)) return false
  const written = await core.append([{ type: 'feature-refused', feature }])
  if (!written.ok) return written.failure
  emit({
    type: 'notice',
    code: 'option-left-out',
    message:
      feature === 'long-lifetime'
        ? `the endpoint refuses to cache for an hour (${why}); requests are cached for five minutes from now on`
        : `the endpoint refuses ${feature} (${why}); requests are sent without it from now on`,
  })
  return true
}
