// What the layers of a replay did, as the engine tells it.
import type { LiveEvent } from '../../engine/live.ts'
import { autocompactName, microcompactName } from '../../projection/layers/index.ts'
import { capResultsName } from '../policies/cap-results.ts'
import { clearResultsName } from '../policies/clear-results.ts'
import { pruneCallsName } from '../policies/prune-calls.ts'
import { staleReadsName } from '../policies/stale-reads.ts'
import type { Timeline } from './timeline.ts'

/** Since the last request, the edits of the whole replay apart. */
export interface Noted {
  readonly edits: Map<string, number>
  readonly timeline: Timeline | null
  freed: number
  isSummary: boolean
}

/** What they take out leaves no text that stands for a span. */
const clearing: ReadonlySet<string> = new Set([
  capResultsName,
  clearResultsName,
  pruneCallsName,
  staleReadsName,
  microcompactName,
  'tool-result-budget',
])

export function note(run: Noted, event: LiveEvent): void {
  if (event.type !== 'view-edit' && event.type !== 'compaction') return
  const layer = event.type === 'compaction' ? autocompactName : event.layer
  run.edits.set(layer, (run.edits.get(layer) ?? 0) + 1)
  const freed = event.type === 'compaction' ? event.tokensBefore - event.tokensAfter : event.tokensFreed
  run.freed += freed
  const why =
    event.type === 'compaction' ? `${event.tokensBefore} tokens became ${event.tokensAfter}` : event.why
  run.timeline?.change({ layer, why, freed })
  if (!clearing.has(layer)) run.isSummary = true
}
