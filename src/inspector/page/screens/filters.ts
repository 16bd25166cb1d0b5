// What the list of entries can be narrowed to.
import { entryFlags } from '../../columns.ts'

interface Filter {
  isWanted(kind: string, flags: number): boolean
}

const of = (...kinds: readonly string[]): Filter => {
  const set = new Set(kinds)
  return { isWanted: (kind) => set.has(kind) }
}

export const filters = {
  everything: { isWanted: () => true },
  conversation: of('user-message', 'assistant-message', 'tool-result', 'attachment', 'memory-recall'),
  requests: of('request-sent'),
  edits: of('view-edit', 'boundary', 'undo', 'release', 'pin', 'rewind', 'compaction-failed'),
  breaks: of('cache-break'),
  errors: { isWanted: (_: string, flags: number) => (flags & entryFlags.isError) !== 0 },
} satisfies Readonly<Record<string, Filter>>

export type FilterName = keyof typeof filters
