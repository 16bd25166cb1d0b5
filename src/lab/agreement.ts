// How far the sizes of a replay are from what the providers counted: each request of a recording with counts, sent whole,
// against the recorded one, up to the client's first reduction.
import type { About, Outcome, Played } from './batch.ts'
import { familyOf } from './playing/sizing.ts'

export interface Agreement {
  readonly family: string
  readonly sessions: number
  readonly requests: number
  /** Our size over the recorded one: at the median, and where a tenth lies below and above. */
  readonly median: number
  readonly low: number
  readonly high: number
}

const tenth = 0.1

/** Nothing where no policy was played that sends everything. */
export function agreementOf(outcomes: readonly Outcome[]): readonly Agreement[] {
  const sizes = new Map<number, readonly number[]>()
  for (const outcome of outcomes) if (isWhole(outcome)) sizes.set(outcome.file, outcome.replayed.sizes ?? [])
  const families = new Map<string, { sessions: number; ratios: number[] }>()
  for (const outcome of outcomes) {
    if (outcome.kind !== 'about') continue
    const ratios = ratiosOf(outcome, sizes.get(outcome.file) ?? [])
    if (ratios.length === 0) continue
    const { name } = familyOf(outcome.model)
    const family = families.get(name) ?? { sessions: 0, ratios: [] }
    families.set(name, family)
    family.sessions += 1
    family.ratios.push(...ratios)
  }
  return [...families].map(([family, { sessions, ratios }]) => {
    const sorted = ratios.toSorted((a, b) => a - b)
    const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)]!
    return { family, sessions, requests: sorted.length, median: at(0.5), low: at(tenth), high: at(1 - tenth) }
  })
}

const isWhole = (outcome: Outcome): outcome is Played =>
  outcome.kind === 'played' && outcome.replayed.sizes !== undefined

const ratiosOf = ({ contexts }: About, sizes: readonly number[]): readonly number[] =>
  contexts.flatMap((tokens, step) => {
    const ours = sizes[step]
    return tokens === null || tokens === 0 || ours === undefined ? [] : [ours / tokens]
  })
