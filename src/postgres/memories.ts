// Memories of a team in the database: every version is a row, the newest that is not held counts. The promises are those of every
// store of memories: what is only data stays fenced, trust never rises by saving, and a change is made from the bytes that were read.
import { createHash } from 'node:crypto'
import type { FailureCode, Result } from '../disk/failure.ts'
import { redact } from '../disk/redact.ts'
import { readMemoryText } from '../memory/format/frontmatter.ts'
import { nameRefusal } from '../memory/format/names.ts'
import {
  isOpen,
  isPersons,
  isRule,
  type Memory,
  type MemoryScope,
  type Provenance,
} from '../memory/memory.ts'
import type { Applied, MemoryStore, SearchHit } from '../memory/memory-store.ts'
import type { Connection } from './connection.ts'

export interface PostgresMemoriesOptions {
  readonly connection: Connection
  readonly tenant: string
  readonly scope: MemoryScope
  /** Which memories of the tenant: one name for a team or a project. */
  readonly place: string
}

interface Row {
  readonly version: number
  readonly text: string
  readonly memory: Memory
}

/** Memories of one place of a tenant. */
export function postgresMemories(options: PostgresMemoriesOptions): MemoryStore {
  const { connection, tenant, place, scope } = options
  const rows = async (file: string | null): Promise<Result<{ readonly rows: readonly Row[] }>> => {
    const found = await connection.query('select * from pal.memories($1, $2, $3)', [tenant, place, file])
    return found.ok ? { ok: true, rows: found.rows.map(rowOf) } : found
  }
  return {
    scope,
    root: `/memories/${place}`,
    async list(most = Infinity) {
      const found = await rows(null)
      if (!found.ok) return found
      const memories = found.rows.map(({ memory }) => memory)
      return { ok: true, memories: memories.slice(0, most), total: memories.length, skipped: [] }
    },
    async read(file) {
      const found = await rows(file)
      if (!found.ok) return found
      const row = found.rows[0]
      return row === undefined
        ? { ok: false, failure: { code: 'not-found', message: `there is no memory ${file}` } }
        : { ok: true, memory: row.memory, text: row.text }
    },
    async save(change, by, { via, approved = false }) {
      const { file } = change
      const text = change.text === null ? null : redact(change.text).text.toWellFormed().replaceAll('\0', '')
      const done = (
        kind: Applied['kind'],
        version: number | null,
        code: FailureCode | null = null,
        why = '',
      ) => ({
        ok: true as const,
        applied: { file, kind, version, text, by, code, why, notes: [] },
        dropped: [],
      })
      const found = await rows(file)
      if (!found.ok) return found
      const now = found.rows[0] ?? null
      const refused = refusalOf(file, text, change.expected, now)
      if (refused !== null) return done('refused', null, ...refused)
      if (now?.text === text || (text === null && now === null))
        return done('unchanged', now?.version ?? null)
      const why = approved ? null : heldFor(text, by, now)
      const kind = why !== null ? 'held' : text === null ? 'removed' : 'written'
      const standing = text === null ? null : isOpen(by.trust, readMemoryText(text).head) ? 'open' : 'fenced'
      const values = [tenant, place, file, kind, text, text === null ? null : hashOf(text), standing]
      const saved = await connection.query(
        'select pal.save_memory($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) as version',
        [...values, JSON.stringify(by), via, now?.version ?? null],
      )
      if (!saved.ok) return saved
      const version = saved.rows[0]!['version']
      if (version === null) return done('refused', null, 'changed', `${file} changed since it was read.`)
      return done(kind, Number(version), null, why ?? '')
    },
    async search(query, most) {
      const found = await rows(null)
      if (!found.ok) return found
      const terms = query
        .toLowerCase()
        .split(/[^\p{L}\p{N}]+/u)
        .filter((term) => term.length > 2)
      const hits = found.rows
        .map(({ memory, text }): SearchHit => {
          const words = text.toLowerCase()
          return { memory, score: terms.filter((term) => words.includes(term)).length }
        })
        .filter(({ score }) => score > 0)
        .toSorted((a, b) => b.score - a.score)
      return { ok: true, hits: hits.slice(0, most) }
    },
  }
}

function refusalOf(
  file: string,
  text: string | null,
  expected: string | null | undefined,
  now: Row | null,
): readonly [FailureCode, string] | null {
  const bad = nameRefusal(file)
  if (bad !== null) return ['bad-name', bad]
  if (expected !== undefined && expected !== (now?.memory.sha256 ?? null))
    return ['changed', `${file} changed since it was read.`]
  if (text === null) return null
  const { head, problems } = readMemoryText(text)
  return problems.length > 0 || head.name === ''
    ? ['bad-memory', problems[0] ?? 'a memory needs a name and a description']
    : null
}

/** Why a person must look at it first; null where nobody must. */
function heldFor(text: string | null, by: Provenance, now: Row | null): string | null {
  if (by.trust !== 'data') return null
  if (now !== null && isPersons(now.memory)) return 'it would replace what a person said'
  if (text !== null && isRule(readMemoryText(text).head))
    return 'it would be a rule, and nobody vouches for it'
  return null
}

function rowOf(row: Record<string, unknown>): Row {
  const text = row['body'] as string
  const { head, body } = readMemoryText(text)
  const file = row['file'] as string
  const memory: Memory = {
    ...head,
    file,
    bytes: Buffer.byteLength(text),
    modifiedMs: Number(row['at']),
    sha256: row['sha256'] as string,
    opening: body.trim().slice(0, openingChars),
    standing: row['standing'] as Memory['standing'],
    provenance: JSON.parse(row['origin'] as string) as Provenance,
  }
  return { version: Number(row['version']), text, memory }
}

const openingChars = 400
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
