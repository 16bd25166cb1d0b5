// The rule that chooses the default of the dial: of the places that are measured, the one whose total (what is sent and what
// is looked up again) is least over all settings it was played in, with at most so many more rounds.
import { sum, sharesOf } from '../src/lab/measures.ts'
import { policyNamed } from '../src/lab/policies/list.ts'
import type { Lifetime } from '../src/lab/replay.ts'
import type { Report } from '../src/lab/report.ts'

/** Rounds that the default of the dial may add, as a share of all requests. */
const mostMoreRounds = 0.1

export interface Candidate {
  readonly policy: string
  /** Over every report and both lifetimes. */
  readonly total: number
  readonly moreRounds: number
  /** Of the person's words, and of what nothing shows again, the share in sight. */
  readonly words: number | null
  readonly saidOnce: number | null
  /** Of what later answers needed, and of the texts their edits replace, the share in sight. */
  readonly retention: number | null
  readonly readiness: number | null
  readonly isAllowed: boolean
}

export interface Choice {
  readonly candidates: readonly Candidate[]
  readonly chosen: string | null
}

/** The reports are of the same sessions under the same policies, each in another setting; `group` names the sessions that count. What knows the future is shown and never chosen. */
export function chooseDefault(
  reports: readonly Report[],
  policies: readonly string[],
  group: string,
): Choice {
  const lifetimes: readonly Lifetime[] = ['5m', '1h']
  const candidates = policies.flatMap((policy): readonly Candidate[] => {
    const rows = reports.map(({ groups }) =>
      groups.find(({ name }) => name === group)?.rows.find((row) => row.policy === policy),
    )
    if (rows.some((row) => row === undefined)) return []
    const { total, moreRounds, words, saidOnce, retention, readiness } = sharesOf(
      sum(rows.flatMap((row) => lifetimes.map((lifetime) => row!.figures[lifetime]))),
    )
    const isAllowed = policyNamed(policy)?.hindsight !== true && (moreRounds ?? 0) <= mostMoreRounds
    return [{ policy, total, moreRounds: moreRounds ?? 0, words, saidOnce, retention, readiness, isAllowed }]
  })
  const best = candidates.filter(({ isAllowed }) => isAllowed).toSorted((a, b) => a.total - b.total)
  return { candidates, chosen: best[0]?.policy ?? null }
}
