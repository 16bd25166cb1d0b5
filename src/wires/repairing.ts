// What the repairs of request bodies share: a log of what was changed, and texts that stand in for what is missing.
import { isDeeplyWellFormed, wellFormedRecord } from '../request/well-formed.ts'
import { plainDigest } from './plain-digest.ts'
import type { Fields } from './reading.ts'
import type { WireProblem, WireRepair } from './wire.ts'

export interface RepairNotes {
  readonly repairs: WireRepair[]
  note(rule: string, path: string, what: string): void
}

export function repairNotes(): RepairNotes {
  const repairs: WireRepair[] = []
  return { repairs, note: (rule, path, what) => void repairs.push({ rule, path, what }) }
}

/** Nothing was changed: the very items, in their order. */
export const sameItems = (kept: readonly unknown[], given: readonly unknown[]): boolean =>
  kept.length === given.length && kept.every((item, index) => item === given[index])

/** A finding of a check, with its place. */
export const problem = (rule: string, path: string, what: string): WireProblem => ({ rule, path, what })

/** A rule that looks at each item of a list among its neighbours: a sentence where it is broken. */
export const eachIn =
  <Item = Fields, Target = unknown>(list: string) =>
  (rule: string, fault: (item: Item, at: number, all: readonly Item[], target: Target) => string | null) =>
  (items: readonly Item[], target: Target): readonly WireProblem[] =>
    items.flatMap((item, at) => {
      const what = fault(item, at, items, target)
      return what === null ? [] : [problem(rule, `${list}.${at}`, what)]
    })

/** Half characters are refused by every server. */
export function wellFormedFields(fields: Fields, path: string, notes: RepairNotes): Fields {
  if (isDeeplyWellFormed(fields)) return fields
  notes.note('lone-surrogate', path, 'half characters replaced')
  return wellFormedRecord(fields)
}

/** Fields whose id of a call is short enough. A long one is spelled from itself alone, so a call and its result agree. */
export function withShortId(
  fields: Fields,
  key: string,
  mostChars: number,
  path: string,
  notes: RepairNotes,
): Fields {
  const id = fields[key]
  if (typeof id !== 'string' || id.length <= mostChars) return fields
  notes.note('call-id', path, `an id of ${id.length} characters shortened: ${mostChars} are taken`)
  return { ...fields, [key]: spelledId(id, mostChars, plainDigest) }
}

export const namePattern = /^[a-zA-Z0-9_-]{1,64}$/

/** A name in the spelling that every provider takes. */
export const spelledName = (name: string): string => spelled(name).slice(0, mostNameChars) || 'unknown_tool'
const mostNameChars = 64
const spelled = (text: string): string => text.replaceAll(/[^a-zA-Z0-9_-]/g, '_')

/** An id that a wire takes. The spelling depends on the id alone, so a call and its result agree in every request. */
export function spelledId(id: string, mostChars: number, hash: (id: string) => string): string {
  if (/^[a-zA-Z0-9_-]+$/.test(id) && id.length <= mostChars) return id
  const mark = hash(id).slice(0, 8)
  return `${spelled(id).slice(0, mostChars - mark.length - 1)}_${mark}`
}
