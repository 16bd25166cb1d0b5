// Which text stands for a span: the caller's own, a model's, or the extracted one that is always there.
import { rewritten, type Plan, type PlanOptions } from '../../compaction/ladder.ts'
import { accountOf } from '../../compaction/summary.ts'
import type { Room } from '../../projection/budget.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Result } from '../../transcript/store.ts'
import type { Core } from '../core.ts'
import type { Emit } from '../live.ts'
import { refused, type CompactAsk } from './ask.ts'

export async function withAccount(
  core: Core,
  ask: CompactAsk,
  room: Room,
  options: PlanOptions,
  extracted: Plan,
  emit: Emit,
  signal: AbortSignal,
): Promise<Result<{ readonly plan: Plan }>> {
  if (ask.text !== undefined) {
    const own = rewritten(core.fold, room, options, extracted, ask.text)
    return own.ok ? own : refused(own.code, own.message)
  }
  const { summariser } = core.options
  const isOpen =
    (core.latest.summaryFailures ?? 0) >= defaults.compaction.failures && ask.trigger !== 'manual'
  if (summariser === undefined || extracted.span === null || isOpen || ask.dryRun === true)
    return { ok: true, plan: extracted }
  const answer = await summariser.summarise(
    {
      session: core.session,
      span: extracted.span,
      parts: extracted.partsGone,
      instructions: ask.instructions ?? null,
      maxTokens: room.reserve,
    },
    signal,
  )
  if (!answer.ok && answer.isAborted)
    return refused('aborted', 'the compaction was stopped; the session is as it was')
  const account = answer.ok ? accountOf(answer) : answer
  const made = account.ok ? rewritten(core.fold, room, options, extracted, account.account) : null
  if (made?.ok === true) return made
  const why = account.ok ? 'it is too long' : account.why
  return failedSummary(core, why, extracted, emit)
}

/** A failing summary replaces nothing: it is written down, said, and the extracted text stands. */
async function failedSummary(
  core: Core,
  why: string,
  extracted: Plan,
  emit: Emit,
): Promise<Result<{ readonly plan: Plan }>> {
  const noted = await core.append([{ type: 'compaction-failed', source: 'model', why }])
  if (!noted.ok) return noted
  emit({ type: 'notice', code: 'summary-failed', message: `the model's summary was not used: ${why}` })
  if (core.latest.summaryFailures === defaults.compaction.failures)
    emit({
      type: 'notice',
      code: 'breaker-open',
      message: `${defaults.compaction.failures} summaries failed in a row; from now on texts are extracted, until one succeeds`,
    })
  return { ok: true, plan: extracted }
}
