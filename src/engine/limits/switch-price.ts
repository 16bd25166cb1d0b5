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
  /** Whose answer is the last one; null where there is none yet. */
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
  const from = lastAnswerer(view)
  if (from === null || isSameModel(core.spoken, next, from))
    return { from, tokens: 0, cached: 0, dollars: null, stays: null, left: [] }
  const factor = factorOf(core.state.fold.numbers.calibration, next.model)
  const tokens = Math.round(factor * view.estimate)
  const rules = next.wire.cacheRules(lookUp(models, modelId))
  const lives = rules.lifetimes[0] ?? null
  // Two providers may have one name for a model: then nobody knows whose cache it was.
  const isUnsure = rules.promised === false || from === next.model
  const kept = isUnsure ? 0 : Math.round(factor * keptEstimate(view, next.model, lives, now))
  const cached = kept < rules.minTokens ? 0 : Math.min(kept, tokens)
  const there = tokenRates(models, modelId, lives, tokens)
  const livesHere = wireOf(from).wire.cacheRules(lookUp(models, from)).lifetimes[0] ?? null
  const here = tokenRates(models, from, livesHere, view.tokens)
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
function keptEstimate(view: View, model: string, lifetime: Lifetime | null, now: number): number {
  const parts = Array.from(view.messages.slice(0), (message) => message.parts).flat()
  const at = parts.findLastIndex((part) => part.model === model)
  const answer = parts[at]
  if (answer === undefined || !isWithin(lifetime, answer.at, now)) return 0
  const before = parts.slice(0, at)
  if (before.some(({ edit }) => edit !== null && edit > answer.from)) return 0
  return before.reduce((sum, { estimate }) => sum + estimate, view.fixedEstimate)
}

function lastAnswerer({ messages }: View): string | null {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages.at(at)!
    const model = message.role === 'assistant' ? message.parts.at(-1)?.model : undefined
    if (model !== undefined) return model
  }
  return null
}

/** Whoever answered last goes on; two providers may have one name for a model. */
const isSameModel = (now: Spoken, next: Spoken, from: string): boolean =>
  next.model === from && (now.model !== next.model || now.provider === next.provider)
