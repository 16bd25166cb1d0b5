// Notices that the provider's cache lost what it had, and says why. Two phases: before the call a snapshot
// of everything that makes the cache key, after it the reading is held against the last one of the same source.
//
// What should be read is what the last request read and wrote, not what it read: a write that never comes back is a
// loss as well, and comparing reads alone would miss it. Where a snapshot differs and the lifetime is over too, both
// are named. A summary asked of a fork that shares the main thread's prefix shares its baseline; a summary by a direct
// call has another prompt and must come under another source. Bounded: one snapshot a source, the newest sources.
import type { CacheRules } from '../model/cache-rules.ts'
import { promptTokens } from '../model/usage.ts'
import type { TokenRates } from '../projection/economy.ts'
import { defaults } from '../settings/defaults.ts'
import type { CacheParameters, Usage } from '../transcript/fact.ts'
import { lifetimeMs } from '../transcript/lifetime.ts'
import { changesBetween, diffText, type BreakCause } from './break-report.ts'
import type { Composed } from './compose.ts'
import type { Segments } from './segments.ts'

export interface CacheBreak {
  readonly source: string
  readonly causes: readonly BreakCause[]
  /** Tokens that should have been read and were not. */
  readonly tokens: number
  readonly expected: number
  readonly read: number
  /** What that cost beyond reading them; null where no rates are known. */
  readonly cost: number | null
  /** For a file to look at. */
  readonly diff: string
}

/** A request under way. */
export interface Pending {
  readonly source: string
  readonly segments: Segments
  /** When it was sent: lifetimes count from there. */
  readonly at: number
  readonly baseline: Baseline | null
  readonly era: number
}

interface Baseline {
  readonly segments: Segments
  readonly at: number
  /** What the next request should read. */
  readonly tokens: number
  /** Tokens the server was told to leave out, as it last reported them. */
  readonly deleted: number
  /** Tokens it cleared by itself, as it last reported them. */
  readonly cleared: number
  /** Readings in a row that found something. */
  readonly hits: number
}

export interface CacheReading {
  readonly usage: Usage
  readonly deletedTokens?: number | undefined
  /** What the server says it cleared by itself, as it was asked to. */
  readonly clearedTokens?: number | undefined
  readonly rates?: TokenRates | null | undefined
  /** How this cache behaves; left out, as that of the Messages API. */
  readonly rules?: CacheRules | undefined
}

/** What an earlier process knew of the last reading. */
export interface EarlierReading {
  readonly parameters: CacheParameters
  readonly tokens: number
  readonly at: number
}

export interface BreakDetector {
  /** Before the first call of a source that has none yet: what was read and written in another process. */
  resume(source: string, composed: Composed, earlier: EarlierReading): void
  before(source: string, composed: Composed, at: number): Pending
  /** After it. A call that failed, or an answer that does not count its prompt, has no reading and is just forgotten. */
  after(pending: Pending, reading: CacheReading): CacheBreak | null
  /** The next reading of this source, and only that one, may fall by about so many tokens. */
  announce(tokens: number, why: string, source?: string): void
  /** After a compaction or a clear: of one source, or of all. */
  reset(source?: string): void
}

interface Watched {
  readonly baseline: Baseline | null
  readonly announced: { readonly tokens: number; readonly why: string } | null
  /** Counts resets, so that a request sent before one says nothing after it. */
  readonly era: number
}

const unwatched: Watched = { baseline: null, announced: null, era: 0 }

export function createBreakDetector(): BreakDetector {
  const sources = new Map<string, Watched>()
  const watched = (source: string): Watched => sources.get(keyOf(source)) ?? unwatched
  const watch = (source: string, change: Partial<Watched>): void => {
    const key = keyOf(source)
    const next = { ...watched(source), ...change }
    sources.delete(key)
    sources.set(key, next)
    const [oldest] = sources.keys()
    if (sources.size > defaults.request.breakSources && oldest !== undefined) sources.delete(oldest)
  }
  return {
    resume: (source, { segments }, { parameters, tokens, at }) => {
      if (sources.has(keyOf(source))) return
      watch(source, {
        baseline: { segments: { ...segments, ...parameters }, at, tokens, deleted: 0, cleared: 0, hits: 0 },
      })
    },
    before: (source, { segments }, at) => {
      // Remembered at once, so that a reset while it is under way reaches it.
      watch(source, {})
      const { baseline, era } = watched(source)
      return { source, segments, at, baseline, era }
    },
    after: (pending, reading) => {
      const { announced, era } = watched(pending.source)
      if (era !== pending.era) return null
      if (promptTokens(reading.usage) === 0) return null
      watch(pending.source, { baseline: baselineOf(pending, reading), announced: null })
      return judge(pending, reading, announced)
    },
    announce: (tokens, why, source = 'main') => {
      const before = watched(source).announced
      // Each reaches from its place to the end, so the longer one holds the shorter.
      if (before === null || before.tokens < tokens) watch(source, { announced: { tokens, why } })
    },
    reset: (source) => {
      const names = source === undefined ? [...sources.keys()] : [source]
      for (const name of names) watch(name, { baseline: null, announced: null, era: watched(name).era + 1 })
    },
  }
}

const keyOf = (source: string): string => (source === 'summary' ? 'main' : source)

function baselineOf({ segments, at, baseline }: Pending, reading: CacheReading): Baseline {
  const { usage, deletedTokens: deleted = 0, clearedTokens: cleared = 0 } = reading
  const hits = usage.cacheRead > 0 ? (baseline?.hits ?? 0) + 1 : 0
  return { segments, at, tokens: usage.cacheRead + usage.cacheWrite, deleted, cleared, hits }
}

function judge(
  { source, segments, at, baseline }: Pending,
  { usage, deletedTokens, clearedTokens = 0, rates, rules }: CacheReading,
  announced: Watched['announced'],
): CacheBreak | null {
  if (baseline === null) return null
  // What it clears it reads and writes anew, from a place that it does not name.
  if (clearedTokens !== baseline.cleared) return null
  // A cache that promises nothing is missed only after it was there.
  if (baseline.hits < (rules?.breaks.hitsBefore ?? 0)) return null
  const expected = baseline.tokens - Math.max(0, (deletedTokens ?? 0) - baseline.deleted)
  const tokens = expected - usage.cacheRead
  const { breakShare, announcedSlack } = defaults.request
  const breakTokens = rules?.breaks.slackTokens ?? defaults.request.breakTokens
  if (tokens <= breakTokens || tokens <= breakShare * expected) return null
  if (announced !== null && tokens <= announced.tokens * (1 + announcedSlack) + breakTokens) return null
  const causes: BreakCause[] = [...changesBetween(baseline.segments, segments, rules)]
  if (announced !== null) causes.push({ kind: 'announced', ...announced })
  const { lifetime } = baseline.segments
  const ageMs = at - baseline.at
  if (lifetime !== null && ageMs >= lifetimeMs(lifetime)) causes.push({ kind: 'expired', lifetime, ageMs })
  if (causes.length === 0) causes.push({ kind: 'server' })
  const cost = rates === undefined || rates === null ? null : costOf(tokens, usage, rates)
  const diff = diffText(baseline.segments, segments)
  return { source, causes, tokens, expected, read: usage.cacheRead, cost, diff }
}

/** Lost tokens are written again as far as this request wrote, or sent as fresh input; what an edit took away is not. */
function costOf(tokens: number, usage: Usage, rates: TokenRates): number {
  const written = Math.min(tokens, usage.cacheWrite)
  const fresh = Math.min(tokens - written, usage.input)
  return written * (rates.write - rates.read) + fresh * (rates.fresh - rates.read)
}
