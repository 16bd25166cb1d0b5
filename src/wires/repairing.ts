// What the repairs of request bodies share: a log of what was changed, and texts that stand in for what is missing.
import { isDeeplyWellFormed, wellFormedRecord } from '../request/well-formed.ts'
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

/** A finding of a check, with its place. */
export const problem = (rule: string, path: string, what: string): WireProblem => ({ rule, path, what })

/** Half characters are refused by every server. */
export function wellFormedFields(fields: Fields, path: string, notes: RepairNotes): Fields {
  if (isDeeplyWellFormed(fields)) return fields
  notes.note('lone-surrogate', path, 'half characters replaced')
  return wellFormedRecord(fields)
}

export const namePattern = /^[a-zA-Z0-9_-]{1,64}$/

/** A name in the spelling that every provider takes. */
export const spelledName = (name: string): string => spelled(name).slice(0, mostNameChars) || 'unknown_tool'
const mostNameChars = 64
export const spelled = (text: string): string => text.replaceAll(/[^a-zA-Z0-9_-]/g, '_')
