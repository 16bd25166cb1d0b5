// One extraction: a fork on the session's prefix that is told what there is and may write memories, nothing
// else. The cursor moves only when it went well.
import type { JobContext } from '../../../engine/ports.ts'
import { defaults } from '../../../settings/defaults.ts'
import { guardedTools } from '../../../tools/files/guard.ts'
import type { MemoryJob } from '../board.ts'
import { memoryLimits } from '../limits.ts'
import { shownMemories } from '../manifest.ts'
import { isOurs, type MemoryJobOptions } from '../options.ts'
import { extractionPrompt, type Listed } from './prompt.ts'
import type { Span } from './span.ts'
import { extractionGuard } from './writing.ts'

export const extractionPurpose = 'extraction'

export type Extracted =
  | { readonly ok: true; readonly saved: readonly string[]; readonly held: readonly string[] }
  | { readonly ok: false; readonly why: string; readonly isAborted: boolean }

export async function extract(
  options: MemoryJobOptions,
  aside: JobContext,
  span: Span,
  job: MemoryJob,
): Promise<Extracted> {
  const folders: Listed[] = []
  for (const keeper of options.keepers) {
    const shown = await shownMemories(keeper, defaults.extraction.manifestFiles)
    if (!shown.ok) return { ok: false, why: shown.failure.message, isAborted: false }
    folders.push({ scope: keeper.place.scope, root: keeper.place.root, manifest: shown.lines })
  }
  const saved = new Set<string>()
  const held = new Set<string>()
  const guard = extractionGuard({
    stores: options.keepers,
    span,
    session: aside.session,
    purpose: extractionPurpose,
    wrote: (path, isHeld) => {
      ;(isHeld ? held : saved).add(path)
      job.wrote(path)
    },
  })
  const today = new Date(aside.now()).toISOString().slice(0, 'yyyy-mm-dd'.length)
  const tools = options.tools()
  const writers = tools.filter(({ spec }) => spec.name === 'Write' || spec.name === 'Edit')
  const ours = isOurs(options.keepers, options)
  const outcome = await aside.fork(
    {
      purpose: extractionPurpose,
      directive: extractionPrompt(span.messages, folders, today),
      tools: guardedTools(writers, guard, options.userHome),
      judges: [memoryLimits(ours), ...options.judges],
      maxRounds: defaults.extraction.rounds,
      emit: (event) => job.hear(event),
    },
    AbortSignal.any([aside.ending, job.signal]),
  )
  const wasLong = outcome.failure?.code === 'rounds' && saved.size > 0
  if (outcome.outcome === 'done' || wasLong) return { ok: true, saved: [...saved], held: [...held] }
  const isAborted = outcome.outcome === 'aborted'
  return { ok: false, why: outcome.failure?.message ?? `the fork was ${outcome.outcome}`, isAborted }
}
