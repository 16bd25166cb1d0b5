// What becomes of one request: which conversation it goes on, and the bytes that are sent for it. What was sent before is
// sent as it was; what has never been sent may be shortened; in doubt the client's own bytes go out and it is said why.
import { spliced } from '../fit/json-spans.ts'
import { applyDecisions, shownText } from '../fit/applying.ts'
import { chainOf, type Chain } from '../fit/chain.ts'
import { lifetimeIn } from './breaks.ts'
import { wires } from '../wires/routing.ts'
import { summaryAt, type Level, type Place, type Plan } from './plan-types.ts'
import { sha256 } from './digest.ts'
import { isSideRequest, labelOf, type HeaderOf } from './identity.ts'
import { parameter, type ForeignRequest } from '../fit/layouts.ts'
import type { Tenant } from './tenant.ts'
import { compacted, type Boundary } from '../fit/compaction.ts'
import { isDue, usualCharsPerToken, type Pace } from '../fit/pace.ts'
import { pointOf } from '../projection/dial.ts'
import { lookUp, windowOf, type ModelTable } from '../model/models.ts'
import { isRecord } from '../transcript/content.ts'
import { lifetimeMs } from '../transcript/lifetime.ts'
import { firstUnsent, opensTurn } from '../fit/turns.ts'
import { newResults, trimmed, type TrimLimits, type UnitEdit } from '../fit/trim.ts'

export interface PlanLimits extends TrimLimits {
  /** Where the dial stands for compactions. */
  readonly thrift: number
}

export interface PlanOptions {
  readonly tenantName: string
  readonly level: Level
  readonly limits: PlanLimits
  readonly newSession: () => string
  /** Sessions whose requests are not changed any more. */
  readonly isOff: (session: string) => boolean
  /** Sessions in which nothing further is changed; what was sent is sent the same. */
  readonly isFrozen: (session: string) => boolean
  readonly models: ModelTable
  readonly pace: (session: string) => Pace | undefined
  readonly now: number
  /** Asks for an answer; one that only asks how long it is takes no place in its conversation and compacts nothing. */
  readonly isAnswered: boolean
  /** Takes the request's own credential out of a text that is kept. */
  readonly hide: (text: string) => string
}

export async function planFor(
  request: ForeignRequest,
  header: HeaderOf,
  tenant: Tenant,
  options: PlanOptions,
): Promise<Plan> {
  if (isSideRequest(header, request)) return untouched(request, null, null)
  const goesOn = goesOnFrom(request)
  // What is new says nothing by itself: the same words may follow any answer.
  const chain = chainOf(`${options.tenantName}${goesOn === null ? '' : `\n${goesOn}`}`, request, sha256)
  const label = labelOf(header, request)
  await tenant.refresh()
  const before = placeOf(request, label, chain, tenant, options)
  const isOff = options.isOff(before.session)
  const isFrozen = isOff || options.isFrozen(before.session)
  const refused =
    options.level === 'watch' || isFrozen ? null : await decided(request, before, tenant, options)
  // Again: others of this conversation may have come while its decisions were written.
  const found = placeOf(request, label, chain, tenant, options)
  const place = found.match === before.match ? { ...found, session: before.session } : found
  if (options.isAnswered) tenant.take(place.session, label, chain, lastUnit(request, request.units.length))
  if (options.level === 'watch') return untouched(request, place, null)
  if (isOff) return untouched(request, place, 'edits of this session are switched off')
  const plan = applied(request, place, tenant, null)
  if (options.isAnswered) void tenant.markUsed(plan.keptIn, chain.links, options.now)
  if (refused !== null) return { ...plan, unchanged: refused }
  if (isFrozen || !mayCompact(header, request, options) || !isCompactionDue(request, plan, place, options))
    return plan
  return (await compactedPlan(request, place, tenant, options, 1)) ?? plan
}

/** A person has spoken, and the client is not about to compact its conversation itself. */
const mayCompact = (header: HeaderOf, request: ForeignRequest, { level, isAnswered }: PlanOptions): boolean =>
  level === 'compact' &&
  isAnswered &&
  header('x-claude-code-request-class') !== 'compaction' &&
  opensTurn(request)

/** The request with a compaction that it is the first to carry; null where none is possible. */
export async function compactedPlan(
  request: ForeignRequest,
  place: Place,
  tenant: Tenant,
  options: PlanOptions,
  tailShare: number,
): Promise<Plan | null> {
  // A client that has the server do it is not compacted by us as well, and what the server keeps is not here.
  if (hasOwnEdits(request) || place.isKeptThere) return null
  const model = request.model ?? ''
  const bindsPrefix = lookUp(options.models, model)?.capabilities.bindsPrefix === true
  // Reasoning of an answer whose calls are open must be sent with them, and where it is bound it cannot be.
  if (!opensTurn(request) && bindsPrefix) return null
  const made = compacted(request, place.chain, {
    point: pointOf(options.limits.thrift),
    window: windowOf({ model, table: options.models }).tokens,
    charsPerToken: options.pace(place.session)?.charsPerToken ?? usualCharsPerToken,
    bindsPrefix,
    tailShare,
    keeper: (text) => {
      const ref = tenant.pathFor(options.hide(text))
      return { ref, wayBack: `The original is kept in the file ${ref}.` }
    },
  })
  if (!made.ok || tenant.boundary(made.link) !== undefined) return null
  const boundary = { ...made.boundary, text: options.hide(made.boundary.text) }
  if (!isValidWith(request, place.chain, tenant, made.link, boundary)) return null
  const written = await tenant.decideBoundary(made.link, boundary, options.hide(made.whole))
  return written.ok ? applied(request, place, tenant, boundary) : null
}

function isCompactionDue(
  request: ForeignRequest,
  plan: Plan,
  { session }: Place,
  options: PlanOptions,
): boolean {
  const pace = options.pace(session)
  if (pace === undefined || request.model === null) return false
  return isDue({
    pace,
    model: request.model,
    models: options.models,
    point: pointOf(options.limits.thrift),
    lifetimeMs: lifetimeMs(lifetimeIn(request, options.models)),
    now: options.now,
    bytes: plan.body.length,
    headBytes: request.head.reduce((sum, { length }) => sum + length, 0),
  })
}

/** The request with a compaction breaks no rule of its API that it did not break before. */
function isValidWith(
  request: ForeignRequest,
  chain: Chain,
  tenant: Tenant,
  link: string,
  boundary: Boundary,
): boolean {
  const { splices } = applyDecisions(request, chain, {
    edit: (each) => tenant.edit(each),
    boundary: (each) => (each === link ? boundary : tenant.boundary(each)),
  })
  const wire = wires[request.wire]
  const broken = (bytes: Uint8Array): ReadonlySet<string> =>
    new Set(
      wire
        .check(JSON.parse(Buffer.from(bytes).toString()), { model: request.model ?? '' })
        .map(({ rule }) => rule),
    )
  const before = broken(request.bytes)
  return [...broken(spliced(request.bytes, splices))].every((rule) => rule === joined || before.has(rule))
}
/** Two messages of one role in a row: our own word for what the APIs take as one. */
const joined = 'same-role'

/** A client that has the server clear results or compact; reasoning it may clear. */
function hasOwnEdits(request: ForeignRequest): boolean {
  const management = parameter(request, 'context_management')
  // A list in Responses, in the Messages API an object with one.
  const named = isRecord(management) ? management['edits'] : management
  const edits: readonly unknown[] = Array.isArray(named) ? named : []
  return edits.some((edit) => isRecord(edit) && /^(?:clear_tool_uses|compact)/u.test(String(edit['type'])))
}

/** The client's own bytes. */
export const untouched = (request: ForeignRequest, place: Place | null, why: string | null): Plan => ({
  body: request.bytes,
  place,
  edited: 0,
  savedChars: 0,
  shown: [],
  sent: new Map(),
  keptIn: [],
  boundary: null,
  unchanged: why,
})

/** The answer or the conversation at the provider that a request goes on from; null where it says everything itself. */
function goesOnFrom(request: ForeignRequest): string | null {
  if (request.wire !== 'openai-responses') return null
  const conversation = parameter(request, 'conversation')
  const names = [
    parameter(request, 'previous_response_id'),
    isRecord(conversation) ? conversation['id'] : conversation,
  ]
  return names.find((name): name is string => typeof name === 'string' && name !== '') ?? null
}

/** The hash of a unit alone. */
const lastUnit = ({ units }: ForeignRequest, count: number): string =>
  sha256(units[count - 1]?.canonical ?? new Uint8Array())

function placeOf(
  request: ForeignRequest,
  label: string,
  chain: Chain,
  tenant: Tenant,
  { newSession }: PlanOptions,
): Place {
  const match = tenant.chains.match(label, chain)
  const goesOn = goesOnFrom(request)
  const place = { label, chain, match: match.kind, changedAt: null, isKeptThere: goesOn !== null }
  if (goesOn !== null && (match.kind === 'new' || match.kind === 'restart')) {
    const named = match.kind === 'restart' ? match.session : undefined
    return { ...place, match: 'next', session: tenant.answeredIn(goesOn) ?? named ?? newSession(), from: 0 }
  }
  if (match.kind === 'new') return { ...place, session: newSession(), from: 0 }
  const { session } = match
  if (match.kind === 'next' || match.kind === 'again') return { ...place, session, from: match.common }
  const tip = tenant.tip(session)
  const common = match.kind === 'branch' ? match.common : 0
  // Where the last thing said stands where it stood, the conversation goes on, and its client has changed what lies before.
  if (tip !== undefined && tip.units > common && tip.units <= chain.links.length)
    if (lastUnit(request, tip.units) === tip.last)
      return { ...place, session, match: 'changed', changedAt: common, from: tip.units }
  return { ...place, session: match.kind === 'restart' ? session : newSession(), from: 0 }
}

/** Decides about units that no request has carried: those behind the last answer. Why it could not, or null. */
async function decided(
  request: ForeignRequest,
  place: Place,
  tenant: Tenant,
  { limits, hide }: PlanOptions,
): Promise<string | null> {
  const { chain } = place
  const carried = place.changedAt === null ? null : await carriedOver(request, place, tenant, hide)
  if (carried !== null) return carried
  const from = firstUnsent(request, tenant.chains.sentBefore(chain))
  const results = newResults(request, from)
    .filter(({ unit }) => tenant.edit(chain.links[unit]!) === undefined)
    .map((result) => ({ ...result, texts: result.texts.map(hide) }))
  const kept: string[] = []
  const inSight = linksInSight(request, chain, tenant)
  const edits = trimmed(
    results,
    chain,
    limits,
    (text) => tenant.repeatOn(inSight, text),
    (text) => {
      kept.push(text)
      const ref = tenant.pathFor(text)
      const wayBack = `The whole result is in the file ${ref}: read the part you need from it, or make a narrower call`
      return { ref, wayBack }
    },
  )
  for (const { unit, call, texts } of results)
    if (texts.length === 1 && !edits.has(chain.links[unit]!))
      tenant.noteWhole(chain.links[unit]!, texts[0]!, call)
  if (edits.size === 0) return null
  const written = await tenant.decide(edits, kept)
  return written.ok ? null : written.failure.message
}

/** The beginnings whose last units are sent, and not behind a summary. */
function linksInSight(request: ForeignRequest, { links }: Chain, tenant: Tenant): readonly string[] {
  const { boundary } = applyDecisions(request, { links }, tenant)
  if (boundary === null) return links
  const { from } = boundary.boundary
  return links.filter((_, at) => at >= boundary.end || request.units[at]!.message < from)
}

function applied(request: ForeignRequest, place: Place, tenant: Tenant, newest: Boundary | null): Plan {
  const { splices, edits, boundary: found } = applyDecisions(request, place.chain, tenant)
  const boundary = found?.boundary
  const added = edits.filter(({ unit }) => unit >= place.from)
  const saved = edits.reduce((total, { edit }) => total + edit.saved, 0)
  const first =
    boundary === undefined ? -1 : request.units.findIndex(({ message }) => message >= boundary.from)
  return {
    body: spliced(request.bytes, splices),
    place,
    edited: edits.length + (boundary === undefined ? 0 : 1),
    savedChars: saved + (boundary?.savedChars ?? 0),
    sent: new Map([
      ...(boundary === undefined ? [] : [[summaryAt, boundary.kept] as const]),
      ...edits.map(({ unit, edit }) => [unit, edit.kept ?? edit.texts.join('\n')] as const),
    ]),
    keptIn: [
      ...edits.flatMap(({ edit }) => edit.kept ?? []),
      ...(boundary === undefined ? [] : [boundary.kept]),
    ],
    shown: added.map((applied) => ({
      call: applied.result.call,
      text: shownText(request, applied),
      ref: applied.edit.kept ?? applied.result.call,
      saved: applied.edit.saved,
    })),
    boundary: newest === null || boundary !== newest ? null : { boundary, from: first, end: found!.end },
    unchanged: null,
  }
}

// A client that changes what it has sent (clears old results itself, say) gives all that follows another beginning. What was
// decided for it is carried over to the new one: a result stays short, and a summary stands whose replaced part was changed.

/** Why it could not be written, or null. */
async function carriedOver(
  request: ForeignRequest,
  { session, chain, changedAt }: Place,
  tenant: Tenant,
  hide: (text: string) => string,
): Promise<string | null> {
  const before = tenant.chains.linksOf(session)
  const first = changedAt ?? chain.links.length
  const edits = new Map<string, UnitEdit>()
  for (const { unit, texts } of newResults(request, first)) {
    const [old, link] = [before[unit], chain.links[unit]!]
    const edit = old === undefined || old === '' ? undefined : tenant.edit(old)
    // Only what is the same text: it lies in the same file.
    if (edit?.kept === tenant.pathFor(texts.map(hide).join('\n')) && tenant.edit(link) === undefined)
      edits.set(link, edit)
  }
  const written = edits.size === 0 ? null : await tenant.decide(edits, [])
  if (written !== null && !written.ok) return written.failure.message
  return carriedBoundary(request, before, chain.links, first, tenant)
}

async function carriedBoundary(
  request: ForeignRequest,
  before: readonly string[],
  links: readonly string[],
  first: number,
  tenant: Tenant,
): Promise<string | null> {
  const at = before.findLastIndex((link) => link !== '' && tenant.boundary(link) !== undefined)
  const boundary = at < 0 ? undefined : tenant.boundary(before[at]!)
  const link = links[at]
  if (boundary === undefined || link === undefined || tenant.boundary(link) !== undefined) return null
  // What was changed lies behind the summary, so what is sent stays as it was.
  const isReplaced = first <= at && request.units[first]!.message >= boundary.from
  if (!isReplaced || boundary.to >= request.messages) return null
  const without = boundary.without.flatMap((old) => links[before.indexOf(old)] ?? [])
  const written = await tenant.decideBoundary(link, { ...boundary, without }, null)
  return written.ok ? null : written.failure.message
}
