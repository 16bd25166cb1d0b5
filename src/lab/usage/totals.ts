// Sums of requests by day, model and so on. Each answer counts once over all files; what has no price or no final count is
// a number of its own and in no sum.
import { lookUp, price, type ModelTable } from '../../model/models.ts'
import { added } from '../stats/gains.ts'
import type { BilledRequest } from './billed.ts'
import { spendingOf, type Spending } from './spending.ts'

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
  const unpriced: Record<string, number> = {}
  let total = nothing
  const keyOf = by === 'block' ? blockKeys(requests) : (request: BilledRequest) => keys[by](request)
  for (const request of requests) {
    const one = totalOf(request, models)
    const key = keyOf(request)
    rows.set(key, plus(rows.get(key) ?? nothing, one))
    total = plus(total, one)
    if (one.unpriced > 0) unpriced[request.model] = (unpriced[request.model] ?? 0) + 1
  }
  const sorted = [...rows].map(([key, row]) => ({ key, ...row }))
  sorted.sort((a, b) =>
    inTime.has(by) ? (a.key < b.key ? -1 : 1) : b.dollars - a.dollars || b.requests - a.requests,
  )
  const copies = all.length - requests.length
  return { rows: sorted, total, copies, unpricedModels: unpriced, spending: spendingOf(requests, models) }
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
    if (last === undefined || at >= last + blockHours * hour) begins.push(Math.floor(at / hour) * hour)
  }
  return ({ at }) => {
    const begin = at === null ? undefined : begins.findLast((each) => each <= at)
    return begin === undefined ? unknownTime : `${dayOf(begin)} ${two(new Date(begin).getHours())}:00`
  }
}
