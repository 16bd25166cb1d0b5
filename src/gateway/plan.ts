// What becomes of one request: which conversation it goes on, and the bytes that are sent for it. What was sent before is
// sent as it was; what has never been sent may be shortened; in doubt the client's own bytes go out and it is said why.
import { spliced } from '../fit/json-spans.ts'
import { applyDecisions, shownText, type AppliedEdit } from '../fit/applying.ts'
import { chainOf, type Chain, type Match } from '../fit/chain.ts'
import { sha256 } from './digest.ts'
import { isSideRequest, labelOf, type HeaderOf } from './identity.ts'
import { parameter, type ForeignRequest } from '../fit/layouts.ts'
import type { ShownEdit } from './recorder.ts'
import type { Tenant } from './tenant.ts'
import { compacted, type Boundary } from '../fit/compaction.ts'
import { isDue, lifetimes, usualCharsPerToken, type Pace } from '../fit/pace.ts'
import { pointOf } from '../projection/dial.ts'
import { lookUp, windowOf, type ModelTable } from '../model/models.ts'
import { isRecord } from '../transcript/content.ts'
import { firstUnsent, opensTurn } from '../fit/turns.ts'
import { newResults, trimmed, type TrimLimits } from '../fit/trim.ts'

export type Level = 'watch' | 'trim' | 'compact'

export interface Plan {
  readonly body: Uint8Array
  /** Null for what is asked beside a conversation. */
  readonly place: Place | null
  /** Units sent shorter than the client has them, and how many characters fewer. */
  readonly edited: number
  readonly savedChars: number
  /** Of these the first time with this request. */
  readonly newSavedChars: number
  readonly shown: readonly ShownEdit[]
  /** The compaction that this request is the first to carry, and how many units it replaces. */
  readonly boundary: { readonly boundary: Boundary; readonly from: number; readonly end: number } | null
  /** Why nothing was changed although the level would. */
  readonly unchanged: string | null
}
export interface Place {
  readonly session: string
  readonly label: string
  readonly chain: Chain
  readonly match: Match['kind']
  /** From which unit on it is new to its session. */
  readonly from: number
}

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
  const chain = chainOf(options.tenantName, request, sha256)
  const label = labelOf(header, request)
  await tenant.refresh()
  const match = tenant.chains.match(label, chain)
  const isOff = 'session' in match && options.isOff(match.session)
  const refused = options.level === 'watch' || isOff ? null : await decided(request, chain, tenant, options)
  // Only now: others of this conversation may have come while its decisions were written.
  const place = placeOf(tenant.chains.match(label, chain), label, chain, options)
  if (options.isAnswered) tenant.take(place.session, label, chain)
  if (options.level === 'watch') return untouched(request, place, null)
  if (isOff) return untouched(request, place, 'edits of this session are switched off')
  const plan = applied(request, place, tenant, null)
  if (refused !== null) return { ...plan, unchanged: refused }
  if (!mayCompact(header, request, options) || !isCompactionDue(request, plan, place, options)) return plan
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
  if (pace === undefined || request.model === null || hasOwnEdits(request)) return false
  return isDue({
    pace,
    model: request.model,
    models: options.models,
    point: pointOf(options.limits.thrift),
    lifetimeMs: Buffer.from(plan.body).includes('"ttl":"1h"') ? lifetimes.long : lifetimes.short,
    now: options.now,
    bytes: plan.body.length,
    headBytes: request.head.reduce((sum, { length }) => sum + length, 0),
  })
}

/** A client that has the server clear its context is not compacted by us as well. */
function hasOwnEdits(request: ForeignRequest): boolean {
  const management = parameter(request, 'context_management')
  return isRecord(management) && JSON.stringify(management).includes('"edits"')
}

/** The client's own bytes. */
export const untouched = (request: ForeignRequest, place: Place | null, why: string | null): Plan => ({
  body: request.bytes,
  place,
  edited: 0,
  savedChars: 0,
  newSavedChars: 0,
  shown: [],
  boundary: null,
  unchanged: why,
})

function placeOf(match: Match, label: string, chain: Chain, { newSession }: PlanOptions): Place {
  const known = match.kind === 'next' || match.kind === 'again'
  const session = known || match.kind === 'restart' ? match.session : newSession()
  return { session, label, chain, match: match.kind, from: known ? match.common : 0 }
}

/** Decides about units that no request has carried: those behind the last answer. Why it could not, or null. */
async function decided(
  request: ForeignRequest,
  chain: Chain,
  tenant: Tenant,
  { limits, hide }: PlanOptions,
): Promise<string | null> {
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
  const sum = (list: readonly AppliedEdit[]): number =>
    list.reduce((total, { edit }) => total + edit.saved, 0)
  const first =
    boundary === undefined ? -1 : request.units.findIndex(({ message }) => message >= boundary.from)
  return {
    body: spliced(request.bytes, splices),
    place,
    edited: edits.length + (boundary === undefined ? 0 : 1),
    savedChars: sum(edits) + (boundary?.savedChars ?? 0),
    newSavedChars: sum(added),
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
