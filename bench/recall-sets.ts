// Reads a file of documents and queries with evidence labels; the format stands in bench/recall.ts.
import { readFileSync } from 'node:fs'

export interface Doc {
  readonly id: string
  readonly text: string
  readonly tags?: readonly string[]
  readonly session?: string
  readonly speaker?: string
  readonly date?: string
}
export interface Query {
  readonly text: string
  readonly category?: string
  readonly gold: readonly string[]
}
export interface Collection {
  readonly docs: Doc[]
  readonly queries: Query[]
}

/** Ids, sessions and categories may be numbers. */
type Name = string | number
interface Line {
  readonly collection: string
  readonly doc?: Omit<Doc, 'id' | 'session'> & { readonly id: Name; readonly session?: Name | null }
  readonly query?: { readonly text: string; readonly category?: Name | null; readonly gold: readonly Name[] }
}

export function readSets(file: string): readonly Collection[] {
  const collections = new Map<string, Collection>()
  for (const [at, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    if (line.trim() === '') continue
    const { collection, doc, query } = JSON.parse(line) as Line
    const known = collections.get(collection) ?? { docs: [], queries: [] }
    collections.set(collection, known)
    if (doc !== undefined) {
      const { session, id, ...rest } = doc
      known.docs.push({ ...rest, id: `${id}`, ...(isGiven(session) ? { session: `${session}` } : {}) })
    } else if (query !== undefined) {
      const { category, gold, text } = query
      known.queries.push({
        text,
        gold: gold.map(String),
        ...(isGiven(category) ? { category: `${category}` } : {}),
      })
    } else throw new Error(`${file}:${at + 1}: neither a document nor a query`)
  }
  return [...collections.values()].filter(({ docs }) => docs.length > 0)
}

const isGiven = (name: Name | null | undefined): name is Name => name !== undefined && name !== null
