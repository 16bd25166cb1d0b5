// A client that changes what it has sent (clears old results itself, say) gives all that follows another beginning. What was
// decided for it is carried over to the new one: a result stays short, and a summary stands whose replaced part was changed.
import type { UnitEdit } from '../fit/trim.ts'
import { newResults } from '../fit/trim.ts'
import type { ForeignRequest } from '../fit/layouts.ts'
import type { Place } from './plan-types.ts'
import type { Tenant } from './tenant.ts'

/** Why it could not be written, or null. */
export async function carriedOver(
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
