// Notices that the cache of a foreign conversation lost what it had, and says why: what the client changed (its model, its
// tools, its system prompt, an older message), what the gateway sent in another way, or that time had passed. Nothing of a
// conversation is held but hashes and names, so that many long ones fit in memory.
import { memberOf, stringAt, type Node } from '../fit/json-spans.ts'
import type { ForeignRequest } from '../fit/layouts.ts'
import { lookUp, ratesOf, type ModelTable } from '../model/models.ts'
import { promptTokens } from '../model/usage.ts'
import { type BreakCause, describeCause } from '../request/break-report.ts'
import { defaults } from '../settings/defaults.ts'
import type { Usage } from '../transcript/fact.ts'
import { lifetimeMs, type Lifetime } from '../transcript/lifetime.ts'
import { sha256 } from './digest.ts'
import { Recent, rememberedSessions } from './recent.ts'
import { wires } from '../wires/routing.ts'
import { summaryAt, type Plan } from './plan-types.ts'

/** What a request was made of, as far as a cache is keyed by it. */
interface Snapshot {
  readonly model: string
  readonly tools: ReadonlyMap<string, string>
  readonly toolChars: number
  readonly system: string
  readonly systemChars: number
  /** What was sent in place of the client's own: the unit, and what names the text. */
  readonly edits: ReadonlyMap<number, string>
  readonly units: number
  readonly lifetime: Lifetime
  /** Where the client has changed what it had sent. */
  readonly changed: { readonly message: number; readonly block: number; readonly byte: number } | null
  readonly compacts: boolean
}

export function snapshotOf(request: ForeignRequest, plan: Plan, models: ModelTable): Snapshot {
  const tools = memberOf(request.root, 'tools')
  const [first, second] = request.head
  const system = tools === undefined ? first : second
  const model = request.model ?? ''
  return {
    model,
    tools: toolsIn(request, tools),
    toolChars: tools === undefined ? 0 : tools.end - tools.start,
    system: system === undefined ? '' : sha256(system),
    systemChars: system?.length ?? 0,
    edits: plan.sent,
    units: request.units.length,
    lifetime: lifetimeIn(request, models),
    changed: changedIn(request, plan.place?.changedAt ?? null),
    compacts: plan.boundary !== null,
  }
}

function toolsIn({ bytes }: ForeignRequest, tools: Node | undefined): ReadonlyMap<string, string> {
  const found = (tools?.elements ?? []).map((tool, at): readonly [string, string] => {
    const name = memberOf(tool, 'name') ?? memberOf(memberOf(tool, 'function'), 'name')
    const said = name === undefined ? null : stringAt(bytes, name)
    return [said ?? `tool ${at + 1}`, sha256(bytes.subarray(tool.start, tool.end))]
  })
  return new Map(found)
}

function changedIn({ units }: ForeignRequest, at: number | null): Snapshot['changed'] {
  const unit = at === null ? undefined : units[at]
  if (at === null || unit === undefined) return null
  const block = at - units.findIndex(({ message }) => message === unit.message)
  return { message: unit.message, block, byte: unit.start }
}

/** What the last answer of a session told. */
interface Reading {
  readonly snapshot: Snapshot
  /** What the next request should read. */
  readonly cached: number
  readonly at: number
  readonly hits: number
}

export interface ForeignBreak {
  readonly causes: readonly BreakCause[]
  readonly tokens: number
  /** Dollars beyond reading them. */
  readonly cost: number
}

/** What one answer says of the cache. */
export interface Heard {
  readonly cacheBreak: ForeignBreak | null
  /** The gateway has sent something in another way than before, so what was not read is its own doing. */
  readonly isOurs: boolean
  /** The cache was young enough to hold what was written. */
  readonly isWarm: boolean
  /** What should have been read. */
  readonly expected: number
  /** What the next request should read. */
  readonly left: number
}

export class CacheWatch {
  readonly #models: ModelTable
  readonly #readings = new Recent<Reading>(rememberedSessions)

  constructor(models: ModelTable) {
    this.#models = models
  }

  heard(session: string, request: ForeignRequest, snapshot: Snapshot, usage: Usage, now: number): Heard {
    const before = this.#readings.get(session)
    const hits = usage.cacheRead > 0 ? (before?.hits ?? 0) + 1 : 0
    const { kind } = wires[request.wire].cacheRules(lookUp(this.#models, snapshot.model))
    // Where a client names what is cached, the rest of a prompt never was: nothing of it can be lost.
    const isMarked = kind === 'explicit' || usage.cacheWrite > 0
    const cached = isMarked ? usage.cacheRead + usage.cacheWrite : promptTokens(usage)
    this.#readings.set(session, { snapshot, cached, at: now, hits })
    if (before === undefined)
      return { cacheBreak: null, isOurs: false, isWarm: false, expected: 0, left: cached }
    return { ...judged(before, request, snapshot, usage, now, this.#models), left: cached }
  }
}

function judged(
  before: Reading,
  request: ForeignRequest,
  now: Snapshot,
  usage: Usage,
  at: number,
  models: ModelTable,
): Omit<Heard, 'left'> {
  const ageMs = at - before.at
  const isWarm = ageMs < lifetimeMs(before.snapshot.lifetime)
  const ours = sentInAnotherWay(before.snapshot, now, request)
  const isOurs = now.compacts || ours !== null
  const heard = { isOurs, isWarm, expected: before.cached }
  const info = lookUp(models, now.model)
  const { slackTokens, hitsBefore } = wires[request.wire].cacheRules(info).breaks
  const tokens = before.cached - usage.cacheRead
  const isFall = tokens > slackTokens && tokens > defaults.request.breakShare * before.cached
  // A compaction of ours is written down as what it is, and its price is in what was paid.
  if (!isFall || now.compacts || before.hits < hitsBefore) return { ...heard, cacheBreak: null }
  const causes = [...changesOf(before.snapshot, now), ...(ours === null ? [] : [ours])]
  if (!isWarm) causes.push({ kind: 'expired', lifetime: before.snapshot.lifetime, ageMs })
  if (causes.length === 0) causes.push({ kind: 'server' })
  const rates = info === null ? null : ratesOf(info, promptTokens(usage))
  const written = Math.min(tokens, usage.cacheWrite)
  const fresh = Math.min(tokens - written, usage.input)
  const cost =
    rates === null
      ? 0
      : (written * (rates.write5m - rates.read) + fresh * (rates.input - rates.read)) / perTokens
  return { ...heard, cacheBreak: { causes, tokens, cost } }
}
const perTokens = 1_000_000

function changesOf(before: Snapshot, now: Snapshot): BreakCause[] {
  const causes: BreakCause[] = []
  if (before.model !== now.model) causes.push({ kind: 'model', before: before.model, after: now.model })
  const added = [...now.tools.keys()].filter((name) => !before.tools.has(name))
  const removed = [...before.tools.keys()].filter((name) => !now.tools.has(name))
  const changed = [...now.tools].flatMap(([name, hash]) =>
    (before.tools.get(name) ?? hash) === hash ? [] : [name],
  )
  const order = (names: Iterable<string>): string =>
    [...names].filter((name) => !added.includes(name) && !removed.includes(name)).join()
  const isReordered = order(before.tools.keys()) !== order(now.tools.keys())
  if (added.length + removed.length + changed.length > 0 || isReordered)
    causes.push({
      kind: 'tools',
      added,
      removed,
      changed,
      isReordered,
      chars: now.toolChars - before.toolChars,
    })
  if (before.system !== now.system)
    causes.push({ kind: 'system', side: 'static', chars: now.systemChars - before.systemChars })
  if (now.changed !== null) {
    const { message, block, byte } = now.changed
    causes.push(messageCause(message, block, byte, 'client'))
  }
  return causes
}

const messageCause = (index: number, block: number, byte: number, by: 'client' | 'gateway'): BreakCause => ({
  kind: 'message',
  index,
  entry: null,
  block,
  offset: 0,
  chars: 0,
  before: '',
  after: '',
  byte,
  by,
})

/** A unit that went out before in other bytes, though its client sent the same. */
function sentInAnotherWay(before: Snapshot, now: Snapshot, request: ForeignRequest): BreakCause | null {
  const { units } = request
  const changed =
    now.changed === null ? units.length : units.findIndex(({ start }) => start === now.changed?.byte)
  const most = Math.min(before.units, changed)
  for (let at = summaryAt; at < most; at++) {
    if (before.edits.get(at) === now.edits.get(at)) continue
    const unit = units[Math.max(0, at)]!
    const block = at - units.findIndex(({ message }) => message === unit.message)
    return messageCause(unit.message, block, unit.start, 'gateway')
  }
  return null
}

interface ListedBreak {
  readonly session: string
  readonly tokens: number
  readonly cost: number
  /** Each cause in words. */
  readonly causes: readonly string[]
}

/** So many are named one by one. */
const mostListed = 100

export class BreakList {
  readonly #newest: ListedBreak[] = []
  #count = 0
  #cost = 0

  add(session: string, { causes, tokens, cost }: ForeignBreak): void {
    this.#count++
    this.#cost += cost
    this.#newest.push({ session, tokens, cost, causes: causes.map(describeCause) })
    if (this.#newest.length > mostListed) this.#newest.shift()
  }

  get count(): number {
    return this.#count
  }

  /** Dollars beyond reading what was lost. */
  get cost(): number {
    return this.#cost
  }

  get newest(): readonly ListedBreak[] {
    return this.#newest
  }
}

const longMark = Buffer.from('"ttl":"1h"')

/** How long the provider's cache keeps what a foreign request writes. */
export function lifetimeIn({ wire, bytes, model }: ForeignRequest, models: ModelTable): Lifetime {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (wire === 'anthropic') return buffer.includes(longMark) ? '1h' : '5m'
  return wires[wire].cacheRules(lookUp(models, model ?? '')).lifetimes[0] ?? '5m'
}
