// Sums of requests by day, model and so on. Each answer counts once over all files; what has no price or no final count is
// a number of its own and in no sum.
// Beside the sums, where the money went: what was carried from request to request, what was sent for the first time, what had to
// be sent again because the cache broke or had gone cold, and what was put out; and the breaks that cost most, with their cause.
import { lookUp, price, type ModelTable } from '../../model/models.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Usage } from '../../transcript/fact.ts'
import { lifetimeMs, type Lifetime } from '../../transcript/lifetime.ts'
import { recordedLifetime } from '../../wires/maker-rules.ts'
import { contextOf } from '../recording.ts'
import { added } from '../stats/gains.ts'

export interface UsageTotal {
  readonly requests: number
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** Of the part whose output is known. */
  readonly output: number
  /** Requests whose output is not known: their cost is that of the input side. */
  readonly outputUnknown: number
  /** Requests whose server did not say what they took: counted by size. */
  readonly estimated: number
  readonly dollars: number
  /** Requests of models without a known price; in no sum of money. */
  readonly unpriced: number
  /** Where the money went. */
  readonly paidFor: {
    readonly input: number
    readonly cacheRead: number
    readonly cacheWrite: number
    readonly output: number
  }
}

export interface UsageRow extends UsageTotal {
  readonly key: string
}

export interface UsageReport {
  readonly rows: readonly UsageRow[]
  readonly total: UsageTotal
  /** Copies of answers that were counted in another file. */
  readonly copies: number
  /** Models without a known price, with how many requests each. */
  readonly unpricedModels: Readonly<Record<string, number>>
  readonly spending: Spending
}

export type Grouping =
  | 'day'
  | 'week'
  | 'month'
  /** Five hours from the full hour of a first request. */
  | 'block'
  | 'project'
  | 'model'
  | 'session'
  | 'program'
  | 'agent'

const nothing: UsageTotal = {
  requests: 0,
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
  outputUnknown: 0,
  estimated: 0,
  dollars: 0,
  unpriced: 0,
  paidFor: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 },
}

const plus = ({ paidFor, ...left }: UsageTotal, right: UsageTotal): UsageTotal => {
  const { paidFor: more, ...rest } = right
  return { ...added(left, rest), paidFor: added(paidFor, more) }
}

function totalOf({ usage, output, model }: BilledRequest, models: ModelTable): UsageTotal {
  const info = lookUp(models, model)
  const paid = info === null ? null : price(info, { ...usage, output: output ?? 0 })
  return {
    requests: 1,
    input: usage.input,
    cacheRead: usage.cacheRead,
    cacheWrite: usage.cacheWrite,
    output: output ?? 0,
    outputUnknown: output === null ? 1 : 0,
    estimated: usage.estimated === true ? 1 : 0,
    dollars: paid?.total ?? 0,
    unpriced: paid === null ? 1 : 0,
    paidFor: {
      input: paid?.fresh ?? 0,
      cacheRead: paid?.read ?? 0,
      cacheWrite: paid?.write ?? 0,
      output: paid?.output ?? 0,
    },
  }
}

/** Each answer once, whichever file has it first. */
function once(requests: readonly BilledRequest[]): readonly BilledRequest[] {
  const seen = new Set<string>()
  return requests.filter(({ id }) => {
    if (id === null) return true
    if (seen.has(id)) return false
    seen.add(id)
    return true
  })
}

/** Requests grouped and added up, each answer once. */
export function usageReport(all: readonly BilledRequest[], by: Grouping, models: ModelTable): UsageReport {
  const requests = once(all)
  const rows = new Map<string, UsageTotal>()
  const unpriced = new Map<string, number>()
  let total = nothing
  const keyOf = by === 'block' ? blockKeys(requests) : (request: BilledRequest) => keys[by](request)
  for (const request of requests) {
    const one = totalOf(request, models)
    const key = keyOf(request)
    rows.set(key, plus(rows.get(key) ?? nothing, one))
    total = plus(total, one)
    if (one.unpriced > 0) unpriced.set(request.model, (unpriced.get(request.model) ?? 0) + 1)
  }
  const sorted = [...rows].map(([key, row]) => ({ key, ...row }))
  sorted.sort((a, b) =>
    inTime.has(by) ? (a.key < b.key ? -1 : 1) : b.dollars - a.dollars || b.requests - a.requests,
  )
  const copies = all.length - requests.length
  return {
    rows: sorted,
    total,
    copies,
    // A name from a file may be one that every object has.
    unpricedModels: Object.fromEntries(unpriced),
    spending: spendingOf(requests, models),
  }
}

const inTime: ReadonlySet<Grouping> = new Set(['day', 'week', 'month', 'block'])
const unknownTime = 'unknown time'
const two = (value: number): string => String(value).padStart(2, '0')

/** A day as the person's clock has it. */
function dayOf(at: number | null): string {
  if (at === null) return unknownTime
  const date = new Date(at)
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** The Monday it began on. */
function weekOf(at: number | null): string {
  if (at === null) return unknownTime
  const date = new Date(at)
  return dayOf(
    new Date(date.getFullYear(), date.getMonth(), date.getDate() - ((date.getDay() + 6) % 7)).getTime(),
  )
}

const keys: Readonly<Record<Exclude<Grouping, 'block'>, (request: BilledRequest) => string>> = {
  day: ({ at }) => dayOf(at),
  week: ({ at }) => weekOf(at),
  month: ({ at }) => (at === null ? unknownTime : dayOf(at).slice(0, 7)),
  project: ({ project }) => project ?? 'unknown project',
  model: ({ model }) => model,
  session: ({ session, program }) => `${program} ${session}`,
  program: ({ program }) => program,
  agent: ({ isAgent }) => (isAgent ? 'sub-agents' : 'conversations'),
}

const hour = 3_600_000
const blockHours = 5

/** A block begins with the full hour of its first request and lasts five hours; the next begins with the next request. */
function blockKeys(requests: readonly BilledRequest[]): (request: BilledRequest) => string {
  const times = requests.flatMap(({ at }) => (at === null ? [] : [at])).sort((a, b) => a - b)
  const begins: number[] = []
  for (const at of times) {
    const last = begins.at(-1)
    if (last === undefined || at >= last + blockHours * hour) begins.push(new Date(at).setMinutes(0, 0, 0))
  }
  return ({ at }) => {
    const begin = at === null ? undefined : begins.findLast((each) => each <= at)
    return begin === undefined ? unknownTime : `${dayOf(begin)} ${two(new Date(begin).getHours())}:00`
  }
}

type BreakCause = 'a pause' | 'another model' | 'something was removed' | 'something before it changed'

/** Cached tokens that had to be sent again. */
export interface CacheBreakPaid {
  readonly program: string
  readonly session: string
  readonly model: string
  readonly at: number | null
  readonly tokens: number
  readonly dollars: number
  readonly cause: BreakCause
  /** Since the request before; null where the times are not known. */
  readonly pauseMs: number | null
}

export interface Spending {
  /** Read from the cache. */
  readonly carried: number
  readonly sentFirst: number
  /** Sent again after a break, and after a pause longer than the cache lives. */
  readonly rewritten: number
  readonly coldReturns: number
  readonly output: number
  readonly breaks: number
  readonly worst: readonly CacheBreakPaid[]
}

const shownBreaks = 10
/** A request this much smaller than the one before had something taken out. */
const fall = 0.9

/** Of requests that are each counted once; those without a known price are in no sum. */
export function spendingOf(requests: readonly BilledRequest[], models: ModelTable): Spending {
  const total = { carried: 0, sentFirst: 0, rewritten: 0, coldReturns: 0, output: 0 }
  const breaks: CacheBreakPaid[] = []
  for (const chain of chainsOf(requests)) {
    const saysWrites = chain.some(({ usage }) => usage.cacheWrite > 0)
    let lifetime: Lifetime = '5m'
    let last: BilledRequest | null = null
    for (const request of chain) {
      const { usage, model } = request
      // What nobody counted says nothing of the cache: neither that it was lost nor what of it there is.
      const isCounted = usage.estimated !== true
      const before = last
      if (isCounted) last = request
      const info = lookUp(models, model)
      // Claude caches what a client marks and nothing else: who never marks has no cache that could break.
      const countsWrites = saysWrites || info?.provider === 'anthropic'
      const lost = before === null || !isCounted ? null : lossAt(before, request, { countsWrites, lifetime })
      // A provider that does not say what it wrote has one lifetime.
      if (isCounted && (usage.cacheWrite > 0 || !saysWrites)) lifetime = recordedLifetime(info, usage)
      const paid = info === null ? null : price(info, { ...usage, output: request.output ?? 0 })
      if (paid === null) continue
      const sent = paid.fresh + paid.write
      const sentTokens = usage.input + usage.cacheWrite
      const again =
        lost === null || sentTokens === 0 ? 0 : (sent * Math.min(lost.tokens, sentTokens)) / sentTokens
      total.carried += paid.read
      total.output += paid.output
      total.sentFirst += sent - again
      if (lost === null) continue
      total[lost.cause === 'a pause' ? 'coldReturns' : 'rewritten'] += again
      const { program, session, at } = request
      breaks.push({ program, session, model, at, dollars: again, ...lost })
    }
  }
  const worst = breaks.toSorted((a, b) => b.dollars - a.dollars).slice(0, shownBreaks)
  return { ...total, breaks: breaks.length, worst }
}

/** Each in the order of time, as far as it is known. */
function chainsOf(requests: readonly BilledRequest[]): readonly (readonly BilledRequest[])[] {
  const chains = new Map<string, BilledRequest[]>()
  for (const request of requests) {
    const chain = chains.get(request.chain)
    if (chain === undefined) chains.set(request.chain, [request])
    else chain.push(request)
  }
  return [...chains.values()].map((chain) => chain.toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0)))
}

function lossAt(
  before: BilledRequest,
  now: BilledRequest,
  { countsWrites, lifetime }: { readonly countsWrites: boolean; readonly lifetime: Lifetime },
): Pick<CacheBreakPaid, 'tokens' | 'cause' | 'pauseMs'> | null {
  const { breakTokens, breakShare } = defaults.request
  // A provider that does not say what it wrote caches whatever it is sent.
  const cached = countsWrites ? before.usage.cacheRead + before.usage.cacheWrite : contextOf(before.usage)
  const tokens = Math.min(cached, contextOf(now.usage)) - now.usage.cacheRead
  if (tokens <= breakTokens || tokens <= breakShare * cached) return null
  const pauseMs = before.at === null || now.at === null ? null : now.at - before.at
  const isPause = pauseMs !== null && pauseMs >= lifetimeMs(lifetime)
  const isLess = contextOf(now.usage) < contextOf(before.usage) * fall
  const cause: BreakCause =
    now.model !== before.model
      ? 'another model'
      : isPause
        ? 'a pause'
        : isLess
          ? 'something was removed'
          : 'something before it changed'
  return { tokens, cause, pauseMs }
}

/** One request of a recorded session as it was billed. */
export interface BilledRequest {
  readonly program: string
  readonly session: string
  /** Requests that follow each other on one cache: those of one file, its agents apart. */
  readonly chain: string
  /** The folder it worked in, or null where the file does not say. */
  readonly project: string | null
  readonly model: string
  readonly at: number | null
  /** Of an agent that the session started. */
  readonly isAgent: boolean
  /** The input side as the provider counted it; its output is in `output`. */
  readonly usage: Usage
  /** Null where the file has the count of the moment the answer began. */
  readonly output: number | null
  /** The same in every file that holds a copy of it; null where nothing tells copies apart. */
  readonly id: string | null
}
