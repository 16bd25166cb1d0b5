// What an estimate must be multiplied by, learned per model from requests that were really counted. A small state
// that can be kept as JSON, and a pure step; nothing here knows a clock or a tokenizer.
//
// Each sample is a growth of a request: what we estimated, what the provider reported. The factor is a running mean
// in which a large growth weighs more than a small one and old ones fade; a single sample cannot pull it far,
// because what clients add unseen (reminders, tool definitions, images) comes in single large samples.
import { defaults } from '../settings/defaults.ts'

interface Learned {
  readonly factor: number
  /** Estimated tokens the factor rests on. */
  readonly weight: number
}
export interface Calibration {
  readonly models: Readonly<Record<string, Learned>>
}
export interface Sample {
  readonly model: string
  /** Growth by our estimate, before calibration. */
  readonly estimated: number
  /** Growth by the provider's own count. */
  readonly reported: number
}

/** Estimates taken as they are. */
export const uncalibrated: Calibration = { models: {} }

/** The state after one more request. A sample too small to tell anything, or a fall, changes nothing. */
export function learn(state: Calibration, sample: Sample): Calibration {
  const { minSampleTokens, memoryTokens, clip, lowest, highest } = defaults.calibration
  const { model, estimated, reported } = sample
  if (!Number.isFinite(estimated) || estimated < minSampleTokens || !(reported > 0)) return state
  const { factor, weight } = learnedOf(state, model)
  const ratio = between(reported / estimated, factor * (1 - clip), factor * (1 + clip))
  const share = estimated / (weight + estimated)
  const learned: Learned = {
    factor: between(factor + share * (ratio - factor), lowest, highest),
    weight: Math.min(weight + estimated, memoryTokens),
  }
  return { models: { ...state.models, [model]: learned } }
}

/** What to multiply an estimate by for this model. */
export function factorOf(state: Calibration, model: string): number {
  return learnedOf(state, model).factor
}

/** What a view takes: what the provider last counted, corrected by what the estimate says has changed since. */
export function sizeOf(
  anchor: { readonly tokens: number; readonly estimate: number } | null,
  estimate: number,
  factor: number,
): number {
  // Once more is gone than is left, counting what is left errs less than subtracting what is gone.
  const isGone = anchor === null || estimate < anchor.estimate / 2
  const size = isGone ? factor * estimate : anchor.tokens + factor * (estimate - anchor.estimate)
  return Math.max(0, Math.round(size))
}

// A model nobody has heard from starts at its prior, held by a little weight.
function learnedOf(state: Calibration, model: string): Learned {
  const known = Object.hasOwn(state.models, model) ? state.models[model] : undefined
  if (known !== undefined) return known
  const { priorTokens } = defaults.calibration
  return { factor: priorOf(model), weight: priorTokens }
}

function priorOf(model: string): number {
  const { priors, prior } = defaults.calibration
  for (const [part, factor] of priors) if (model.includes(part)) return factor
  return prior
}

const between = (value: number, lowest: number, highest: number): number =>
  Math.min(Math.max(value, lowest), highest)
