// The prompt cache, as its vectors in the tests state it: writes only at breakpoints, reads by walking back at most twenty positions from each
// breakpoint, lifetimes from the start of a request, entries visible once the writing response has begun. Open choices made
// here: lookback crosses the borders between tools, system and messages; any member of a run matches; a hit refreshes
// only the entry it hit; a breakpoint before the hit writes nothing; an entry written after cache edits serves only requests
// that carry the same deletions or more, because deleted content cannot come back.
import type { WireRequest, WireUsage } from '../model/wire.ts'
import { createPromptReader, readPrompt, type Position, type Prompt, type ReadPrompt } from './prompt.ts'
import { createCounter, type Counter } from './counter.ts'
import { createDigests, type Digests } from './digest.ts'
import { findModel, simulatedModels, unknownModel, type SimulatedModel } from './models.ts'

const LOOKBACK_POSITIONS = 20
const LIFETIME_MS = { '5m': 300_000, '1h': 3_600_000 } as const
/** Expired entries are swept when the store has grown by this many. */
const SWEEP_ENTRIES = 10_000

export interface CacheOptions {
  readonly models?: readonly SimulatedModel[]
  readonly counter?: Counter
  readonly digests?: Digests
  /** Entries are shared inside one scope (a workspace). */
  readonly scope?: string
  /** How requests are read; caches that account the same requests share one, so that each is read once. */
  readonly read?: ReadPrompt
  /** Every breakpoint counts as one of this lifetime; as what it says, where unset. */
  readonly lifetime?: '5m' | '1h'
}

export interface CacheUsage extends Omit<WireUsage, 'output_tokens'> {
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation: {
    readonly ephemeral_5m_input_tokens: number
    readonly ephemeral_1h_input_tokens: number
  }
}

export interface Reading {
  readonly prompt: Prompt
  readonly usage: CacheUsage
  /** The position that was read from the cache. */
  readonly hit: Position | null
  /** Writes what this request writes; call it when the first byte of the response goes out, or never. */
  commit(firstByteAt: number): void
}

export interface PromptCache {
  /** What one request reads and writes, when its response begins at once. */
  account(request: WireRequest, startedAt: number, firstByteAt: number): CacheUsage
  open(request: WireRequest, model: SimulatedModel, startedAt: number): Reading
  count(request: WireRequest, model: SimulatedModel): number
}

interface Entry {
  readonly lifetimeMs: number
  readonly visibleAt: number
  readonly deleted: readonly string[]
  expiresAt: number
}

/** The prompt cache of the simulator, with its lifetimes and minimums. */
export function createCache(options: CacheOptions = {}): PromptCache {
  const read =
    options.read ??
    createPromptReader({
      counter: options.counter ?? createCounter(),
      digests: options.digests ?? createDigests(),
      scope: options.scope ?? 'workspace',
    })
  const lifetimeOf = (position: Position): '5m' | '1h' => options.lifetime ?? position.breakpoint ?? '5m'
  const entries = new Map<string, Entry>()
  const sweep = createSweep(entries)
  const open = (request: WireRequest, model: SimulatedModel, startedAt: number): Reading => {
    const prompt = read(request, model)
    const breakpoints = prompt.positions.filter(
      (each) => each.breakpoint !== null && each.endTokens >= model.minCacheable,
    )
    const hit = findHit(prompt.positions, breakpoints, entries, startedAt)
    const entry = hit === null ? undefined : entries.get(hit.hash)
    if (entry !== undefined) entry.expiresAt = startedAt + entry.lifetimeMs
    const readTokens = hit?.endTokens ?? 0
    const written = breakpoints.filter((each) => each.endTokens > readTokens)
    return {
      prompt,
      hit,
      usage: usageOf(prompt, readTokens, written, lifetimeOf),
      commit: (firstByteAt) => {
        sweep(startedAt)
        for (const position of written) write(entries, position, lifetimeOf(position), startedAt, firstByteAt)
      },
    }
  }
  return {
    open,
    count: (request, model) => read(request, model).totalTokens,
    account: (request, startedAt, firstByteAt) => {
      const opened = open(request, modelOf(request, options.models), startedAt)
      opened.commit(firstByteAt)
      return opened.usage
    },
  }
}

/** Requests of models nobody has listed are accounted too. */
const modelOf = ({ model: id }: WireRequest, models = simulatedModels): SimulatedModel =>
  findModel(models, id) ?? { ...unknownModel, id }

function findHit(
  positions: readonly Position[],
  breakpoints: readonly Position[],
  entries: ReadonlyMap<string, Entry>,
  now: number,
): Position | null {
  for (const breakpoint of breakpoints.toReversed()) {
    for (let index = positions.lastIndexOf(breakpoint); index >= 0; index -= 1) {
      const position = positions[index]
      if (position === undefined || breakpoint.run - position.run >= LOOKBACK_POSITIONS) break
      const entry = entries.get(position.hash)
      if (entry !== undefined && isReadable(entry, position, now)) return position
    }
  }
  return null
}

function isReadable(entry: Entry, position: Position, now: number): boolean {
  return (
    entry.visibleAt <= now &&
    entry.expiresAt > now &&
    entry.deleted.every((each) => position.deleted.includes(each))
  )
}

/** Up to the hit is read, up to the last long breakpoint is written for an hour, up to the last breakpoint for less. */
function usageOf(
  prompt: Prompt,
  readTokens: number,
  written: readonly Position[],
  lifetimeOf: (position: Position) => '5m' | '1h',
): CacheUsage {
  const end = written.at(-1)?.endTokens ?? readTokens
  const longEnd = written.findLast((each) => lifetimeOf(each) === '1h')?.endTokens ?? readTokens
  return {
    input_tokens: prompt.totalTokens - end,
    cache_creation_input_tokens: end - readTokens,
    cache_read_input_tokens: readTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: end - longEnd,
      ephemeral_1h_input_tokens: longEnd - readTokens,
    },
    ...(prompt.deletedTokens > 0 ? { cache_deleted_input_tokens: prompt.deletedTokens } : {}),
  }
}

/** Of two parallel writers the one that answered first makes the entry visible. */
function write(
  entries: Map<string, Entry>,
  position: Position,
  lifetime: '5m' | '1h',
  startedAt: number,
  firstByteAt: number,
): void {
  const lifetimeMs = LIFETIME_MS[lifetime]
  const other = entries.get(position.hash)
  const parallel =
    other !== undefined && other.expiresAt > startedAt && other.deleted.join() === position.deleted.join()
  const visibleAt = parallel ? Math.min(other.visibleAt, firstByteAt) : firstByteAt
  entries.set(position.hash, {
    lifetimeMs,
    expiresAt: startedAt + lifetimeMs,
    visibleAt,
    deleted: position.deleted,
  })
}

/** Forgets what has expired, once enough has come. */
export function createSweep(entries: Map<string, { readonly expiresAt: number }>): (now: number) => void {
  let sweepAt = SWEEP_ENTRIES
  return (now) => {
    if (entries.size < sweepAt) return
    for (const [hash, entry] of entries) if (entry.expiresAt <= now) entries.delete(hash)
    sweepAt = entries.size + SWEEP_ENTRIES
  }
}

export interface ImplicitCacheOptions {
  readonly counter?: Counter
  readonly lifetimeMs: number
  /** A shorter prefix is not cached. */
  readonly minTokens: number
  /** Hits are multiples of this. */
  readonly stepTokens: number
  /** Asked at each request that could read: where a provider promises nothing. Always, where unset. */
  readonly isLucky?: () => boolean
}

/**
 * A cache of prefixes that nobody asks for, over requests in the words of the Messages API: for playing recorded sessions
 * under another provider's rules. Read is what any earlier request had in common with this one, in whole steps and from a
 * minimum on. Open choices: a prefix ends with a block; a use renews what it used; everything up to the last whole step is
 * written.
 */
export function createImplicitCache(options: ImplicitCacheOptions): Pick<PromptCache, 'account'> {
  const { lifetimeMs, minTokens, stepTokens, isLucky = () => true } = options
  const reading = {
    counter: options.counter ?? createCounter(),
    digests: createDigests(),
    scope: 'workspace',
  }
  const entries = new Map<string, Pick<Entry, 'visibleAt' | 'expiresAt'>>()
  const isThere = (hash: string, now: number): boolean => {
    const entry = entries.get(hash)
    return entry !== undefined && entry.visibleAt <= now && entry.expiresAt > now
  }
  const usable = (tokens: number): number => {
    const whole = Math.floor(tokens / stepTokens) * stepTokens
    return whole >= minTokens ? whole : 0
  }
  return {
    account(request: WireRequest, startedAt: number, firstByteAt: number): CacheUsage {
      const model = modelOf(request)
      const { positions, totalTokens } = readPrompt(request, model, reading)
      const last = positions.findLast(({ hash }) => isThere(hash, startedAt))
      const common = usable(last?.endTokens ?? 0)
      const read = common > 0 && isLucky() ? common : 0
      const written = Math.max(0, usable(totalTokens) - read)
      for (const { hash } of positions) {
        const visibleAt = isThere(hash, startedAt) ? entries.get(hash)!.visibleAt : firstByteAt
        entries.set(hash, { visibleAt, expiresAt: startedAt + lifetimeMs })
      }
      return {
        input_tokens: totalTokens - read - written,
        cache_read_input_tokens: read,
        cache_creation_input_tokens: written,
        cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
      }
    },
  }
}
