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

export function readSets(file: string): readonly Collection[] {
  const collections = new Map<string, Collection>()
  for (const [at, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    if (line.trim() === '') continue
    const { collection, doc, query } = JSON.parse(line) as { collection: string; doc?: Doc; query?: Query }
    const known = collections.get(collection) ?? { docs: [], queries: [] }
    collections.set(collection, known)
    // Ids and sessions may be numbers, and labels of the same set strings.
    if (doc !== undefined)
      known.docs.push({
        ...doc,
        id: String(doc.id),
        text: doc.text ?? '',
        ...(doc.session == null ? {} : { session: String(doc.session) }),
      })
    else if (query !== undefined)
      known.queries.push({
        ...query,
        ...(query.category == null ? {} : { category: String(query.category) }),
        gold: (query.gold ?? []).map(String),
      })
    else throw new Error(`${file}:${at + 1}: neither a document nor a query`)
  }
  return [...collections.values()].filter(({ docs }) => docs.length > 0)
}
