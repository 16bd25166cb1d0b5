// What a client was charged when a session was recorded, by the provider's own counts: each request at the prices of whoever
// answered it, its tier and the lifetime of what it wrote, with its output where that is recorded as final.
// And where the provider's cache was lost meanwhile, with the likeliest cause.
import { lookUp, modelTable, price } from '../../model/models.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Usage } from '../../transcript/fact.ts'
import { noFigures, type Figures } from '../measures.ts'
import { contextOf, isSummary, type RecordedTurn, type Recording } from '../recording.ts'

/** Null where the recording has no counts. `priced` says by whose prices an answer is charged; `copies` are not counted. */
export function recordedFigures(
  recording: Recording,
  priced: (model: string) => string,
  copies: ReadonlySet<number> = new Set(),
): Figures | null {
  const table = modelTable()
  const figures = { ...noFigures, sessions: 1 }
  for (const [index, turn] of answersOf(recording).entries()) {
    const { usage, model = recording.model } = turn
    if (usage === undefined || copies.has(index)) continue
    const isFinal = recording.outputCounts === 'final'
    const info = lookUp(table, priced(model))
    const paid = info === null ? null : price(info, isFinal ? usage : { ...usage, output: 0 })
    const long = usage.cacheWrite1h ?? 0
    figures.requests += 1
    figures.fresh += usage.input
    figures.read += usage.cacheRead
    figures.written5m += usage.cacheWrite - long
    figures.written1h += long
    figures.largest = Math.max(figures.largest, contextOf(usage))
    figures.dollars += paid?.total ?? 0
    figures.unpriced += paid === null ? 1 : 0
    figures.outputUnknown += isFinal ? 0 : 1
  }
  return figures.requests === 0 ? null : figures
}

/** Where the provider saw this much less than before, the client had taken something out. */
const fall = 0.9

/** What the provider counted for each answer, up to the client's first reduction. */
export function recordedContexts(recording: Recording): readonly (number | null)[] {
  const contexts: (number | null)[] = []
  let largest = 0
  for (const turn of recording.turns) {
    if (turn.role === 'user') {
      if (holdsSummary(turn)) break
      continue
    }
    const tokens = turn.usage === undefined ? null : contextOf(turn.usage)
    if (tokens !== null && tokens < largest * fall) break
    largest = Math.max(largest, tokens ?? 0)
    contexts.push(tokens)
  }
  return contexts
}

export const answersOf = ({ turns }: Recording): readonly RecordedTurn[] =>
  turns.filter(({ role }) => role === 'assistant')

const holdsSummary = ({ content }: RecordedTurn): boolean => content.some(isSummary)

/** The same in every file that holds a copy of the answer; null where nothing tells copies apart. */
export function answerKey({ messageId, at, usage }: RecordedTurn): string | null {
  if (messageId !== undefined) return messageId
  return at === null || usage === undefined ? null : `${at} ${contextOf(usage)} ${usage.output}`
}

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
