// What holds now and may change while a session lasts or between two openings of it: the mode, whether somebody can answer,
// the folder, the date, the model. It never stands in the prefix, which would go stale; it is said before the first request
// after each change, and the newest stands, after a compaction and a resume too.
import { textIn } from '../../transcript/content.ts'
import { attachmentOf } from '../../transcript/fact.ts'
import type { Core } from '../core.ts'
import type { TurnFailure } from '../live.ts'
import { modeKind } from '../restoring/standing.ts'

export async function saySituation(core: Core): Promise<TurnFailure | null> {
  const now = core.options.situation?.(core.modelId)
  if (now === undefined || core.view().messages.length === 0) return null
  const last = [...core.state.fold.parts()].findLast(({ attachment }) => attachment?.kind === modeKind)
  if (last !== undefined && textIn(last.blocks) === now) return null
  const written = await core.append([attachmentOf(modeKind, now, { source: 'program' })])
  return written.ok ? null : written.failure
}
