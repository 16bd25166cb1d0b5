// Memories of a team in the database: every version is a row, the newest that is not held counts. The promises are those of every
// store of memories: what is only data stays fenced, trust never rises by saving, and a change is made from the bytes that were read.
import { createHash, randomUUID } from 'node:crypto'
import { refused, type FailureCode, type Result } from '../disk/failure.ts'
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
import type {
  Applied,
  BegunConsolidation,
  MemoryChange,
  MemorySets,
  SearchHit,
  SetStore,
} from '../memory/memory-store.ts'
import { defaults } from '../settings/defaults.ts'
import { callsOf, type Calls, type Connection } from './connection.ts'

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
export function postgresMemories(options: PostgresMemoriesOptions): SetStore {
  const { connection, tenant, place, scope } = options
  const calls = callsOf(connection, tenant)
  const rows = async (file: string | null): Rows => {
    const found = await calls.rows('memories', [place, file])
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
        ? refused('not-found', `there is no memory ${file}`)
        : { ok: true, memory: row.memory, text: row.text }
    },
    async save(change, by, { via, approved = false }) {
      const found = await rows(change.file)
      if (!found.ok) return found
      const { applied, row } = judged(change, by, found.rows[0] ?? null, approved)
      if (row === null) return { ok: true, applied, dropped: [] }
      const { file, kind, body, sha256, standing, origin, expected } = row
      const values = [place, file, kind, body, sha256, standing, origin, via, expected]
      const saved = await calls.value('save_memory', values)
      if (!saved.ok) return saved
      const version = saved.value
      if (version !== null)
        return { ok: true, applied: { ...applied, version: Number(version) }, dropped: [] }
      const made = await madeBefore(() => rows(file), [row])
      if (!made.ok) return made
      const own =
        made.versions === null ? staleIn(applied) : { ...applied, version: made.versions[0] ?? null }
      return { ok: true, applied: own, dropped: [] }
    },
    sets: setsIn(calls, place, () => rows(null)),
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

type Rows = Promise<Result<{ readonly rows: readonly Row[] }>>

function setsIn(calls: Calls, place: string, rows: () => Rows): MemorySets {
  return {
    async last() {
      const found = await calls.value('last_consolidation', [place])
      return found.ok ? { ok: true, at: Number(found.value ?? 0) } : found
    },
    async begin() {
      const token = randomUUID()
      const stale = `${defaults.consolidation.staleLockMs} milliseconds`
      const taken = await calls.found('begin_consolidation', [place, token, stale])
      if (!taken.ok) return taken
      const end: BegunConsolidation['end'] = (how) =>
        calls.done('end_consolidation', [place, token, how === 'done'])
      return { ok: true, begun: taken.isFound ? { end } : null }
    },
    async save(changes, { via }) {
      const found = await rows()
      if (!found.ok) return found
      const there = new Map(found.rows.map((row) => [row.memory.file, row]))
      const all = changes.map((change) => judged(change, change.by, there.get(change.file) ?? null, false))
      const no = all.find(({ applied: { kind } }) => kind === 'refused' || kind === 'held')
      if (no !== undefined)
        return refused(no.applied.code ?? 'needs-review', `${no.applied.file}: ${no.applied.why}`)
      const wanted = all.flatMap(({ row }) => (row === null ? [] : [row]))
      const saved = await calls.value('save_memory_set', [place, via, JSON.stringify(wanted)])
      if (!saved.ok) return saved
      const written = saved.value as readonly unknown[] | null
      const made =
        written === null ? await madeBefore(rows, wanted) : { ok: true as const, versions: written }
      if (!made.ok) return made
      const { versions } = made
      if (versions === null) return refused('changed', 'a memory changed since it was read')
      const byFile = new Map(wanted.map(({ file }, at) => [file, toVersion(versions[at])]))
      const applied = all.map(({ applied: one }) => ({
        ...one,
        version: byFile.get(one.file) ?? one.version,
      }))
      return { ok: true, applied, dropped: [], set: null }
    },
  }
}

const toVersion = (version: unknown): number | null => (version === null ? null : Number(version))

/**
 * A statement whose answer was lost is asked again, and finds what it wrote itself: where everything stands as it was wanted,
 * and from the same moment of the same origin, nobody came between. Null versions: somebody did. One that was removed has none.
 */
async function madeBefore(
  rows: () => Rows,
  wanted: readonly WantedRow[],
): Promise<Result<{ readonly versions: readonly (number | null)[] | null }>> {
  const found = await rows()
  if (!found.ok) return found
  const there = new Map(found.rows.map((row) => [row.memory.file, row]))
  const isMade = ({ file, body, origin }: WantedRow): boolean => {
    const now = there.get(file)
    if (now === undefined || body === null) return now === undefined && body === null
    return now.text === body && JSON.stringify(now.memory.provenance) === origin
  }
  if (!wanted.every(isMade)) return { ok: true, versions: null }
  return { ok: true, versions: wanted.map(({ file }) => there.get(file)?.version ?? null) }
}

/** A row as `pal.save_memory` and `pal.save_memory_set` take it. */
interface WantedRow {
  readonly file: string
  readonly kind: 'written' | 'removed' | 'held'
  readonly body: string | null
  readonly sha256: string | null
  readonly standing: Memory['standing'] | null
  readonly origin: string
  /** The version it was made from; null for none. */
  readonly expected: number | null
}

/** What becomes of a change, and the row that is left to write; null where nothing is. */
function judged(
  change: MemoryChange,
  by: Provenance,
  now: Row | null,
  approved: boolean,
): { readonly applied: Applied; readonly row: WantedRow | null } {
  const { file } = change
  const text = change.text === null ? null : redact(change.text).text.toWellFormed().replaceAll('\0', '')
  const said = (kind: Applied['kind'], rest: Partial<Applied> = {}): Applied => ({
    file,
    kind,
    version: null,
    text,
    by,
    code: null,
    why: '',
    notes: [],
    ...rest,
  })
  const no = refusalOf(file, text, change.expected, now)
  if (no !== null) return { applied: said('refused', { code: no[0], why: no[1] }), row: null }
  if (now?.text === text || (text === null && now === null))
    return { applied: said('unchanged', { version: now?.version ?? null }), row: null }
  const why = approved ? null : heldFor(text, by, now)
  const kind = why !== null ? 'held' : text === null ? 'removed' : 'written'
  const standing = text === null ? null : isOpen(by.trust, readMemoryText(text).head) ? 'open' : 'fenced'
  const sha256 = text === null ? null : hashOf(text)
  const origin = JSON.stringify(by)
  const row = { file, kind, body: text, sha256, standing, origin, expected: now?.version ?? null } as const
  return { applied: said(kind, { why: why ?? '' }), row }
}

const staleIn = (applied: Applied): Applied => ({
  ...applied,
  kind: 'refused',
  code: 'changed',
  why: `${applied.file} changed since it was read.`,
})

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
