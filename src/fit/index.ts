// The door `palimpsest/fit`: keeps the messages of your own loop within the window, valid and on the cache.
export { fit } from './fit.ts'
export type {
  FitBoundary,
  FitEdit,
  FitFailure,
  FitFailureCode,
  FitOptions,
  FitOutcome,
  FitReport,
  KeptOriginal,
} from './contract.ts'
export type { FitState } from './state.ts'
export type { TrimLimits } from './trim.ts'
export { usageIn } from './rules.ts'
