// What an estimate must be multiplied by, learned per model from requests that were really counted. A small state
// that can be kept as JSON, and a pure step; nothing here knows a clock or a tokenizer.
//
// Each sample is a growth of a request: what we estimated, what the provider reported. Sums with decay weigh a large
// growth more than a small one and forget slowly; a single sample cannot pull the factor far, because it is clipped.
import { defaults } from '../settings/defaults.ts'

/** Decayed sums of one model. Their quotient is its factor. */
interface Learned {
  readonly estimated: number
  readonly reported: number
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

export const uncalibrated: Calibration = { models: {} }

/** The state after one more request. A sample too small to tell anything, or a fall, changes nothing. */
export function learn(state: Calibration, sample: Sample): Calibration {
  const { minSampleTokens, memoryTokens, clip } = defaults.calibration
  if (!(sample.estimated >= minSampleTokens) || !(sample.reported > 0)) return state
  const before = learnedOf(state, sample.model)
  const factor = before.reported / before.estimated
  const lowest = sample.estimated * factor * (1 - clip)
  const highest = sample.estimated * factor * (1 + clip)
  const reported = Math.min(Math.max(sample.reported, lowest), highest)
  const keep = memoryTokens / (memoryTokens + sample.estimated)
  const learned: Learned = {
    estimated: (before.estimated + sample.estimated) * keep,
    reported: (before.reported + reported) * keep,
  }
  return { models: { ...state.models, [sample.model]: learned } }
}

/** What to multiply an estimate by for this model. */
export function factorOf(state: Calibration, model: string): number {
  const { estimated, reported } = learnedOf(state, model)
  return reported / estimated
}

// A model nobody has heard from starts at its prior, held by a little weight.
function learnedOf(state: Calibration, model: string): Learned {
  const known = Object.hasOwn(state.models, model) ? state.models[model] : undefined
  if (known !== undefined) return known
  const { priorTokens } = defaults.calibration
  return { estimated: priorTokens, reported: priorTokens * priorOf(model) }
}

function priorOf(model: string): number {
  const { priors, prior } = defaults.calibration
  for (const [pattern, factor] of priors) if (pattern.test(model)) return factor
  return prior
}
