// Preparing a summary beside the talk: shortly before the threshold a model is asked on the prefix that is
// cached anyway, and when compaction fires its text is there. What was said meanwhile stays as it is. Until then nothing
// is changed but memory; an abort leaves no trace, and what no longer fits is thrown away.
import { rewritten, type Plan } from '../../compaction/ladder.ts'
import { compactionWishes } from '../../compaction/summary.ts'
import { summaryIn } from '../../compaction/summary.ts'
import type { Room } from '../../projection/budget.ts'
import type { Part } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import { answerOf, noteFailure, type Choosing } from './summary-source.ts'
import type { Core, Slice } from '../core.ts'

const job = 'prepare'

/** Begins it when the room is nearly full; one at a time, and never where notes will do. */
export function prepareAhead(core: Core, room: Room): void {
  const { tokens } = core.view()
  if (tokens < defaults.preparation.share * room.threshold || tokens >= room.threshold) return
  if (!isWanted(core) || core.background.jobs.has(job) || isUsable(core)) return
  const parts = answeredParts(core)
  if (parts.length === 0) return
  core.preparing.prepared = null
  core.preparing.stop = new AbortController()
  core.background.jobs.set(
    job,
    ask(core, room, parts).finally(() => core.background.jobs.delete(job)),
  )
}

function isWanted(core: Slice<'options' | 'role' | 'state' | 'view'>): boolean {
  const {
    options,
    role,
    state: { latest },
  } = core
  const hasNotes =
    options.notes !== undefined && options.notesAsSummary !== false && latest.notesTo !== undefined
  const isOpen = (latest.summaryFailures ?? 0) >= defaults.compaction.failures
  return (
    options.summariser !== undefined &&
    options.prepare !== false &&
    options.layers.some(({ makesRoom }) => makesRoom === true) &&
    role.preparesSummaries &&
    !hasNotes &&
    !isOpen &&
    (options.summariser.onlyWithInstructions !== true || compactionWishes(core.view().reminder) !== null)
  )
}

/** Everything but what awaits an answer. */
function answeredParts({ state: { fold } }: Slice<'state'>): readonly Part[] {
  const parts = [...fold.parts()]
  return parts.slice(0, parts.findLastIndex(({ kind }) => kind === 'answer' || kind === 'result') + 1)
}

async function ask(core: Core, room: Room, parts: readonly Part[]): Promise<void> {
  const askedAt = core.state.fold.numbers.upTo
  const upTo = parts.at(-1)!.to
  const { summariser } = core.options
  const { jobContext } = core
  const { turnSignal, ending } = core.background
  const answer = await answerOf(
    summariser!,
    {
      session: core.session,
      span: { from: parts[0]!.from, to: upTo },
      parts,
      variant: 'full',
      instructions: compactionWishes(core.view().reminder),
      hookInstructions: null,
      maxTokens: room.reserve,
      jobContext,
      emit: jobContext.tell,
    },
    AbortSignal.any([
      ending.signal,
      core.preparing.stop!.signal,
      ...(turnSignal === null ? [] : [turnSignal]),
    ]),
  )
  if (!answer.ok && answer.isAborted) return
  const summary = answer.ok ? summaryIn(answer) : answer
  if (summary.ok) core.preparing.prepared = { summary: summary.summary, upTo, askedAt }
  else {
    // Counted like every other, so that the breaker opens; it can be asked for again when compaction fires.
    const message = `the summary that was prepared ahead is not used: ${summary.why}`
    await noteFailure(core, summary.why, message, jobContext.tell)
  }
}

/** Its end is still in sight, and nobody took anything back or out since. */
function isUsable(core: Slice<'preparing' | 'state'>): boolean {
  const { prepared } = core.preparing
  const { fold } = core.state
  if (prepared === null) return false
  const isChanged = fold.edits.controls.some(
    ({ seq, fact }) =>
      seq > prepared.askedAt &&
      (fact.type === 'undo' ||
        fact.type === 'boundary' ||
        (fact.type === 'view-edit' && fact.edits.some((edit) => edit.kind === 'drop'))),
  )
  return !isChanged && [...fold.parts()].some((part) => part.to === prepared.upTo)
}

/** Waits for one that was begun, but not for ever: the text can be had without it, and then it is not wanted any more. */
async function underWay(
  core: Slice<'background' | 'options' | 'preparing'>,
  signal: AbortSignal,
): Promise<void> {
  const running = core.background.jobs.get(job)
  if (running === undefined || signal.aborted) return
  const { prepare } = core.options
  const waitMs = typeof prepare === 'object' ? prepare.waitMs : defaults.preparation.waitMs
  const enough = AbortSignal.any([signal, AbortSignal.timeout(waitMs)])
  const waited = new Promise<void>((resolve) =>
    enough.addEventListener('abort', () => resolve(), { once: true }),
  )
  await Promise.race([running, waited])
  core.preparing.stop?.abort()
}

/** The plan with the prepared text, once one under way has ended; null where there is none or it does not do. */
export async function withPrepared({
  core,
  ask: asked,
  room,
  options,
  extracted,
  signal,
  passedOver,
}: Choosing): Promise<Plan | null> {
  const isChosen = [asked.instructions, asked.from, asked.upTo, asked.text].some((one) => one !== undefined)
  if (isChosen || extracted.span === null) return null
  await underWay(core, signal)
  const { prepared } = core.preparing
  if (prepared === null || !isUsable(core)) return null
  if (asked.dryRun !== true) core.preparing.prepared = null
  const made = rewritten(core.state.fold, room, options, extracted, {
    summary: prepared.summary,
    by: 'model',
    keptFrom: ({ parts, pendingFrom }) => {
      const next = parts.findIndex((part) => part.from > prepared.upTo)
      return Math.min(next < 0 ? parts.length : next, pendingFrom)
    },
  })
  if (made.ok) return made.plan
  passedOver.push('the summary that was prepared ahead was not used: with it the context would stay too long')
  return null
}
