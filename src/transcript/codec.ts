// One entry to one line and back. Reading is an edge: every line is checked against the schemas, and what does not
// fit is reported as damage, never guessed at. What fits is handed on as it was parsed, so unknown fields survive.
import { isRecord } from './content.ts'
import type { Entry, StoredEntry } from './fact.ts'
import { factSchemas, knownEdit } from './schema.ts'
import type { Seq, Uuid } from './ids.ts'
import { defaults } from '../settings/defaults.ts'

export type Decoded =
  | { readonly ok: true; readonly entry: StoredEntry }
  | { readonly ok: false; readonly why: string }

/** The line of an entry, without a line end. An entry of an unknown kind gives back the line it came from. */
export function encode(entry: StoredEntry): string {
  if ('raw' in entry) return entry.raw
  const { v, seq, uuid, parent, at, fact } = entry
  return JSON.stringify({ v, seq, uuid, parent, at, fact })
}

export function decode(line: string): Decoded {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    return { ok: false, why: `not JSON (${(error as Error).message})` }
  }
  if (!isRecord(value)) return { ok: false, why: 'not an object' }
  const place = placeProblem(value)
  if (place !== null) return { ok: false, why: place }
  const fact = value['fact']
  const type = isRecord(fact) && typeof fact['type'] === 'string' ? fact['type'] : null
  if (value['v'] !== 1 || type === null || !factSchemas.has(type))
    return { ok: true, entry: unknownEntry(value, type, line) }
  const problem = factProblem(fact)
  if (problem !== null) return { ok: false, why: `${type}: ${problem}` }
  if (hasUnknownEdit(fact as Record<string, unknown>))
    return { ok: true, entry: unknownEntry(value, type, line) }
  return isEntry(value) ? { ok: true, entry: value } : { ok: false, why: 'no entry' }
}

/** Why a value is no fact of ours, or null. The check for everything that comes from outside. */
export function factProblem(fact: unknown): string | null {
  const type = isRecord(fact) ? fact['type'] : undefined
  const schema = typeof type === 'string' ? factSchemas.get(type) : undefined
  if (schema === undefined) return `unknown fact type ${JSON.stringify(type)}`
  if (isTooDeep(fact, defaults.transcript.maxDepth))
    return `nested deeper than ${defaults.transcript.maxDepth}`
  const result = schema.safeParse(fact)
  if (result.success) return null
  const issue = result.error.issues[0]
  return issue === undefined ? 'does not fit its schema' : `${issue.path.join('.')}: ${issue.message}`
}

function placeProblem(value: Record<string, unknown>): string | null {
  if (typeof value['v'] !== 'number') return 'no version'
  if (!Number.isSafeInteger(value['seq']) || (value['seq'] as number) < 0) return 'no sequence number'
  if (value['v'] !== 1) return null
  if (typeof value['uuid'] !== 'string') return 'no uuid'
  if (value['parent'] !== null && typeof value['parent'] !== 'string') return 'no parent'
  return typeof value['at'] === 'number' ? null : 'no time'
}

function unknownEntry(value: Record<string, unknown>, type: string | null, raw: string): StoredEntry {
  const fact = value['fact']
  return {
    seq: value['seq'] as Seq,
    uuid: typeof value['uuid'] === 'string' ? (value['uuid'] as Uuid) : null,
    unknown: type ?? `version ${String(value['v'])}`,
    changesView: isRecord(fact) && Array.isArray(fact['edits']),
    raw,
  }
}

function hasUnknownEdit(fact: Record<string, unknown>): boolean {
  const edits = fact['edits']
  return Array.isArray(edits) && edits.some((edit) => !knownEdit.safeParse(edit).success)
}

function isTooDeep(value: unknown, room: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (room === 0) return true
  for (const inner of Object.values(value)) if (isTooDeep(inner, room - 1)) return true
  return false
}

/** Its place and its fact have been checked above. */
const isEntry = (value: Record<string, unknown>): value is Record<string, unknown> & Entry => 'fact' in value
