// Foresees the growth of recorded requests, each with what was known before it was sent, and says how far off it was.
import { factorOf, learn, uncalibrated, type Calibration } from '../src/projection/calibration.ts'
import type { ViewBlock } from '../src/projection/view.ts'
import { BIG_GROWTH_TOKENS, unknownPart, type GrowthSample, type SampledSession } from './growth-samples.ts'

export interface Method {
  readonly name: string
  readonly estimate: (blocks: readonly ViewBlock[]) => number
  /** Over what the factor is learned; a baseline may have none. */
  readonly factor: 'none' | 'session' | 'all before'
  readonly outputKnown: boolean
}
export interface Measured {
  readonly session: SampledSession
  readonly sample: GrowthSample
  readonly foreseen: number
  readonly error: number
}
export interface Cell {
  readonly count: number
  readonly median: number
  readonly p95: number
  /** Mean of the signed error: below zero is counted too low. */
  readonly bias: number
}

export function measure(method: Method, sessions: readonly SampledSession[]): readonly Measured[] {
  const measured: Measured[] = []
  let state: Calibration = uncalibrated
  for (const session of [...sessions].sort((a, b) => a.started - b.started)) {
    if (method.factor !== 'all before') state = uncalibrated
    for (const sample of session.samples) {
      const known = method.outputKnown ? sample.known : 0
      const estimated = method.estimate(known > 0 ? unknownPart(sample) : [...sample.answer, ...sample.added])
      const factor = method.factor === 'none' ? 1 : factorOf(state, sample.model)
      const foreseen = known + factor * estimated
      if (sample.grown > BIG_GROWTH_TOKENS) {
        measured.push({ session, sample, foreseen, error: (foreseen - sample.grown) / sample.grown })
      }
      state = learn(state, { model: sample.model, estimated, reported: sample.grown - known })
    }
  }
  return measured
}

export function cellOf(measured: readonly Measured[]): Cell {
  const errors = measured.map(({ error }) => Math.abs(error)).sort((a, b) => a - b)
  const at = (share: number): number =>
    errors[Math.min(errors.length - 1, Math.floor(errors.length * share))] ?? Number.NaN
  const bias = measured.reduce((sum, { error }) => sum + error, 0) / Math.max(1, measured.length)
  return { count: errors.length, median: at(0.5), p95: at(0.95), bias }
}
