// What becomes of one request: which conversation it goes on, and the bytes that are sent for it. What was sent before is
// sent as it was; what has never been sent may be shortened; in doubt the client's own bytes go out and it is said why.
import { stringAt, spliced, type Splice } from './json-spans.ts'
import { chainOf, type Chain, type Match } from './chain.ts'
import { isSideRequest, labelOf, type HeaderOf } from './identity.ts'
import { resultTexts, type ForeignRequest } from './layouts.ts'
import type { ShownEdit } from './recorder.ts'
import type { Tenant } from './tenant.ts'
import { newResults, trimmed, type TrimLimits, type UnitEdit } from './trim.ts'

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

export interface PlanOptions {
  readonly tenantName: string
  readonly level: Level
  readonly limits: TrimLimits
  readonly newSession: () => string
  /** Sessions whose requests are not changed any more. */
  readonly isOff: (session: string) => boolean
}

export async function planFor(
  request: ForeignRequest,
  header: HeaderOf,
  tenant: Tenant,
  options: PlanOptions,
): Promise<Plan> {
  if (isSideRequest(header, request)) return untouched(request, null, null)
  const chain = chainOf(options.tenantName, request)
  await tenant.refresh()
  const place = placeOf(
    tenant.chains.match(labelOf(header, request), chain),
    labelOf(header, request),
    chain,
    options,
  )
  if (options.isOff(place.session)) return untouched(request, place, 'edits of this session are switched off')
  const refused = options.level === 'watch' ? null : await decided(request, place, tenant, options)
  if (refused !== null) return { ...applied(request, place, tenant), unchanged: refused }
  return applied(request, place, tenant)
}

/** The client's own bytes. */
export const untouched = (request: ForeignRequest, place: Place | null, why: string | null): Plan => ({
  body: request.bytes,
  place,
  edited: 0,
  savedChars: 0,
  newSavedChars: 0,
  shown: [],
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
  { chain }: Place,
  tenant: Tenant,
  { limits }: PlanOptions,
): Promise<string | null> {
  const from = firstUnsent(request, chain, tenant)
  const results = newResults(request, from).filter(
    ({ unit }) => tenant.edit(chain.links[unit]!) === undefined,
  )
  const kept: string[] = []
  const edits = trimmed(
    results,
    chain,
    limits,
    (text) => tenant.repeatOn(chain, text),
    (text) => {
      kept.push(text)
      return tenant.pathFor(text)
    },
  )
  for (const { unit, call, texts } of results)
    if (texts.length === 1 && !edits.has(chain.links[unit]!))
      tenant.noteWhole(chain.links[unit]!, texts[0]!, call)
  if (edits.size === 0) return null
  const written = await tenant.decide(edits, kept)
  return written.ok ? null : written.failure.message
}

/** A model has answered everything before its last answer, so that was sent, by whichever gateway or none. */
function firstUnsent({ units }: ForeignRequest, chain: Chain, tenant: Tenant): number {
  const answer = units.findLastIndex(({ role }) => role === 'assistant' || role === 'model')
  return Math.max(answer + 1, tenant.chains.sentBefore(chain))
}

function applied(request: ForeignRequest, place: Place, tenant: Tenant): Plan {
  const splices: Splice[] = []
  const shown: ShownEdit[] = []
  let [edited, savedChars, newSavedChars] = [0, 0, 0]
  for (const [at, link] of place.chain.links.entries()) {
    const edit = tenant.edit(link)
    const found = edit === undefined ? null : resultTexts(request, request.units[at]!)
    if (edit === undefined || found === null || found.texts.length !== edit.texts.length) continue
    edited++
    savedChars += edit.saved
    for (const [index, span] of found.texts.entries()) {
      const text = edit.texts[index]
      if (text !== null && text !== undefined) splices.push({ ...span, text: JSON.stringify(text) })
    }
    if (at < place.from) continue
    newSavedChars += edit.saved
    shown.push({
      call: found.call,
      text: shownText(request, found.texts, edit),
      ref: edit.kept ?? found.call,
      saved: edit.saved,
    })
  }
  return {
    body: spliced(request.bytes, splices),
    place,
    edited,
    savedChars,
    newSavedChars,
    shown,
    unchanged: null,
  }
}

const shownText = (
  { bytes }: ForeignRequest,
  spans: readonly { start: number; end: number }[],
  edit: UnitEdit,
): string => edit.texts.map((text, index) => text ?? stringAt(bytes, spans[index]!) ?? '').join('\n')
