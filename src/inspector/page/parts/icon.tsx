// Small shapes for the kinds of entries and marks. Each has a word as well: a shape alone says nothing to many.

/** Drawn in a square of 12, as strokes unless the name is in `filled`. */
const shapes: Readonly<Record<string, string>> = {
  'user-message': 'M2 2h8v8H2z',
  'assistant-message': 'M6 1.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9z',
  'tool-result': 'M3 2l6 4l-6 4z',
  'request-sent': 'M1 6h9M7 3l3 3l-3 3',
  'view-edit': 'M2 2l8 8M10 2L2 10',
  boundary: 'M1.5 1.5h9v9h-9zM4 4h4v4H4z',
  'compaction-recorded': 'M1.5 1.5h9v9h-9zM4 6h4',
  'cache-break': 'M7 1L3 7h3l-1 4l4-6H6z',
  'agent-start': 'M6 1l5 5l-5 5l-5-5z',
  'fork-end': 'M6 1l5 5l-5 5l-5-5z',
  'memory-recall': 'M3 1h6v10l-3-3l-3 3z',
  'memories-extracted': 'M3 1h6v10l-3-3l-3 3z',
  undo: 'M4 2L1.5 4.5L4 7M1.5 4.5H8a3 3 0 0 1 0 6H5',
  rewind: 'M6 2L1 6l5 4zM11 2L6 6l5 4z',
  release: 'M4 5V3a2 2 0 0 1 4 0M2.5 5h7v6h-7z',
  pin: 'M6 11V7M3 7h6L8 4V1H4v3z',
  attachment: 'M2 1h6l2 2v8H2z',
  'instructions-set': 'M2 3h8M2 6h8M2 9h5',
  'session-start': 'M3 1v10M3 2h7l-2 2.500l2 2.500H3',
  'turn-end': 'M2 6h8',
}
const filled = new Set(['user-message', 'tool-result', 'cache-break', 'fork-end', 'memory-recall', 'rewind'])

const words: Readonly<Record<string, string>> = {
  'user-message': 'user',
  'assistant-message': 'assistant',
  'tool-result': 'result',
  'request-sent': 'request',
  'view-edit': 'edit',
  boundary: 'compaction',
  'compaction-recorded': 'recorded compaction',
  'cache-break': 'cache break',
  'agent-start': 'agent started',
  'fork-end': 'fork ended',
  'memory-recall': 'memories recalled',
  'memories-extracted': 'memories saved',
  'instructions-set': 'instructions',
  'session-start': 'session start',
  'turn-end': 'turn end',
  'notes-update': 'notes',
  'damage-found': 'damage found',
  'compaction-failed': 'compaction failed',
  'input-queued': 'input queued',
  'model-set': 'model set',
  'window-learned': 'window learned',
  'media-learned': 'media limits learned',
  'feature-refused': 'feature refused',
  'reasoning-refused': 'reasoning refused',
  'summary-previewed': 'summary previewed',
}

/** What a kind of fact is called; one that is not known here keeps its own name. */
export const wordFor = (kind: string): string => own(words, kind) ?? kind

/** Kinds come from transcripts: a name that every object has is none of ours. */
const own = (table: Readonly<Record<string, string>>, kind: string): string | undefined =>
  Object.hasOwn(table, kind) ? table[kind] : undefined

export function Icon({ kind }: { readonly kind: string }) {
  return (
    <svg
      class={`icon k-${own(words, kind) === undefined ? 'other' : kind}`}
      viewBox="0 0 12 12"
      aria-hidden="true"
    >
      <path d={own(shapes, kind) ?? 'M4.500 6h3'} class={filled.has(kind) ? 'filled' : ''} />
    </svg>
  )
}
