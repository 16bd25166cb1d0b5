// What going on with another model costs: little of the conversation is in its cache, and what only the makers of answers can read
// stays behind. Said before it is paid.
import { lookUp } from '../../model/models.ts'
import { factorOf } from '../../projection/calibration.ts'
import type { View } from '../../projection/view.ts'
import { lifetimeMs, type Lifetime } from '../../transcript/lifetime.ts'
import { leftBehind, type LeftBehind } from '../../wires/left-behind.ts'
import type { Spoken } from '../../wires/wire.ts'
import type { Slice } from '../core.ts'
import { tokenRates } from './spend.ts'

export interface SwitchPrice {
  /** Whose answer is the last one, with its provider where both have one name; null where there is none yet. */
  readonly from: string | null
  /** What the next request will send, as the new model counts; 0 where nothing was said yet. */
  readonly tokens: number
  /** How much of that it should still have in its cache, where it has answered before; 0 where nothing is promised. */
  readonly cached: number
  /** What that costs; null where no price is known. */
  readonly dollars: number | null
  /** What the model that answered last would take for the same; null where that is not known. */
  readonly stays: number | null
  /** What of the view the new model is not sent, by kind and maker. */
  readonly left: readonly LeftBehind[]
}

/** What going on with this model costs, held against the one that answered last. */
export function switchPrice(
  core: Slice<'modelId' | 'options' | 'spoken' | 'state' | 'view'>,
  modelId: string,
): SwitchPrice {
  const view = core.view()
  const { models, wire: wireOf, clock } = core.options
  const now = clock.now()
  const next = wireOf(modelId)
  const last = lastAnswerer(view)
  const from = last === null ? null : last.model === next.model ? fullName(last) : last.model
  if (last === null || from === null || isSame(core.spoken, next, last))
    return { from, tokens: 0, cached: 0, dollars: null, stays: null, left: [] }
  const factor = factorOf(core.state.fold.numbers.calibration, next.model)
  const tokens = Math.round(factor * view.estimate)
  const rules = next.wire.cacheRules(lookUp(models, modelId))
  const lives = rules.lifetimes[0] ?? null
  const kept = rules.promised === false ? 0 : Math.round(factor * keptEstimate(view, next, lives, now))
  const cached = kept < rules.minTokens ? 0 : Math.min(kept, tokens)
  const there = tokenRates(models, modelId, lives, tokens)
  const livesHere = wireOf(fullName(last)).wire.cacheRules(lookUp(models, last.model)).lifetimes[0] ?? null
  const here = tokenRates(models, last.model, livesHere, view.tokens)
  const warm = isWithin(livesHere, core.state.latest.requestAt, now)
  return {
    from,
    tokens,
    cached,
    dollars: there === null ? null : cached * there.read + (tokens - cached) * there.write,
    stays: here === null ? null : view.tokens * (warm ? here.read : here.write),
    left: leftBehind(view, { wire: next.wire.name, model: next.model }),
  }
}

const isWithin = (lifetime: Lifetime | null, at: number | null, now: number): boolean =>
  lifetime !== null && at !== null && now - at < lifetimeMs(lifetime)

/** What stood before the last answer of a model and stands there still: an edit behind it would have changed the prefix. */
function keptEstimate(
  view: View,
  { model, provider }: Spoken,
  lifetime: Lifetime | null,
  now: number,
): number {
  const parts = Array.from(view.messages.slice(0), (message) => message.parts).flat()
  const at = parts.findLastIndex((part) => part.model === model && part.provider === provider)
  const answer = parts[at]
  if (answer === undefined || !isWithin(lifetime, answer.at, now)) return 0
  const before = parts.slice(0, at)
  if (before.some(({ edit }) => edit !== null && edit > answer.from)) return 0
  return before.reduce((sum, { estimate }) => sum + estimate, view.fixedEstimate)
}

interface Answerer {
  readonly model: string
  readonly provider: string | undefined
}

function lastAnswerer({ messages }: View): Answerer | null {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages.at(at)!
    const { model, provider } = (message.role === 'assistant' ? message.parts.at(-1) : undefined) ?? {}
    if (model !== undefined) return { model, provider }
  }
  return null
}

/** As it is named when it is asked for. */
const fullName = ({ model, provider }: Answerer): string =>
  provider === undefined ? model : `${provider}/${model}`

/**
 * Whoever answered last goes on. Two providers may have one name for a model; of an answer that does not say its provider (an
 * imported one) only what was chosen here tells.
 */
function isSame(now: Spoken, next: Spoken, last: Answerer): boolean {
  if (next.model !== last.model) return false
  if (last.provider !== undefined) return next.provider === last.provider
  return now.model !== next.model || now.provider === next.provider
}
