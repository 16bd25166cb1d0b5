// Where the provider's cache was lost while a session was recorded, from its own counts, and the likeliest cause.
import { defaults } from '../../settings/defaults.ts'
import type { Usage } from '../../transcript/fact.ts'
import type { Recording } from '../recording.ts'
import { holdsSummary } from './paid.ts'

export type LossCause = 'a new model' | 'a compaction' | 'a pause' | 'no pause'

export interface CacheLoss {
  /** The answer, counted from 0, whose request had to be written again. */
  readonly step: number
  readonly tokens: number
  readonly cause: LossCause
  readonly pauseMs: number
}

interface Last {
  readonly usage: Usage
  readonly sentAt: number
  readonly model: string
}

/** Losses above what counts as a break; none where the recording has no counts of reads and writes. */
export function cacheLosses(recording: Recording): readonly CacheLoss[] {
  if (recording.usageKind !== 'anthropic') return []
  const { breakTokens, breakShare, cacheLifetimeMs } = defaults.request
  const losses: CacheLoss[] = []
  let last: Last | null = null
  let lifetime: '5m' | '1h' = '5m'
  let askedAt: number | null = null
  let isCompacted = false
  let step = -1
  for (const turn of recording.turns) {
    if (turn.role === 'user') {
      askedAt = turn.at
      isCompacted ||= holdsSummary(turn)
      continue
    }
    step += 1
    if (turn.usage === undefined) continue
    // What was asked last is when the request was sent; the response carries the time at which it had begun.
    const now: Last = {
      usage: turn.usage,
      sentAt: askedAt ?? turn.at ?? 0,
      model: turn.model ?? recording.model,
    }
    if (last !== null) {
      const cached = last.usage.cacheRead + last.usage.cacheWrite
      const tokens = cached - turn.usage.cacheRead
      const pauseMs = now.sentAt - last.sentAt
      const pause = pauseMs >= cacheLifetimeMs[lifetime] ? 'a pause' : 'no pause'
      const cause = now.model !== last.model ? 'a new model' : isCompacted ? 'a compaction' : pause
      if (tokens > breakTokens && tokens > breakShare * cached) losses.push({ step, tokens, cause, pauseMs })
    }
    if (turn.usage.cacheWrite > 0) lifetime = (turn.usage.cacheWrite1h ?? 0) > 0 ? '1h' : '5m'
    last = now
    isCompacted = false
  }
  return losses
}
