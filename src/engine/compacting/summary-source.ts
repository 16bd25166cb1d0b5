// Which text stands for a span: the user's own, the notes, a model's, or the extracted one that is always there.
import { keptAfter, unanswered } from '../../compaction/kept-messages.ts'
import { rewritten, type Plan, type PlanOptions } from '../../compaction/ladder.ts'
import {
  compactionWishes,
  summaryIn,
  wishIn,
  type SummaryAnswer,
  type SummaryAsk,
} from '../../compaction/summary.ts'
import { errorText } from '../../disk/failure.ts'
import type { Room } from '../../projection/budget.ts'
import { defaults } from '../../settings/defaults.ts'
import { seq } from '../../transcript/ids.ts'
import { isRecord } from '../../transcript/json.ts'
import type { Result } from '../../transcript/store.ts'
import type { Appended } from '../../transcript/transcript.ts'
import type { Core, Slice } from '../core.ts'
import type { Emit } from '../live.ts'
import type { SessionSummariser } from '../ports.ts'
import { refused, type CompactAsk } from './ask.ts'

/** What a text is chosen for. */
export interface Choosing {
  readonly core: Core
  readonly ask: CompactAsk
  readonly room: Room
  readonly options: PlanOptions
  /** Made from the span's own words. */
  readonly extracted: Plan
  readonly emit: Emit
  readonly signal: AbortSignal
  /** Why texts that came before it in the order do not stand there; written on the boundary. */
  readonly passedOver: string[]
}

/** The plan with the session's notes as its text: no model is called. Null where they are not available. */
export async function withNotes(choosing: Choosing): Promise<Plan | null> {
  const { core, ask, room, options, extracted, signal } = choosing
  const { notes, notesAsSummary } = core.options
  const isChosen = [ask.instructions, ask.from, ask.upTo, ask.text].some((choice) => choice !== undefined)
  if (notes === undefined || notesAsSummary === false || !core.role.keepsNotes) return null
  if (isChosen || extracted.span === null) return null
  const read = await notes.read(core.jobContext, signal).catch((error: unknown) => {
    choosing.passedOver.push(`the notes were not used: ${errorText(error)}`)
    return null
  })
  if (read === null) return null
  const made = rewritten(core.state.fold, room, options, extracted, {
    summary: read.text,
    by: 'notes',
    keptFrom: (context) => keptAfter(context, read.coversTo),
  })
  if (made.ok) return made.plan
  choosing.passedOver.push(
    made.code === 'nothing-to-compact'
      ? 'the notes were not used: an earlier summary covers more than they do'
      : 'the notes were not used: with everything that came after them the context would stay too long',
  )
  return null
}

export async function withSummary(
  choosing: Choosing,
  hookInstructions: string | null,
): Promise<Result<{ readonly plan: Plan }>> {
  const { core, ask, room, options, extracted, emit, signal } = choosing
  if (ask.text !== undefined) {
    const own = rewritten(core.state.fold, room, options, extracted, { summary: ask.text, by: 'user' })
    return own.ok ? own : refused(own.code, own.message)
  }
  const { summariser } = core.options
  const isOpen =
    (core.state.latest.summaryFailures ?? 0) >= defaults.compaction.failures && ask.trigger !== 'manual'
  const wishes = wishesOf(ask, core)
  const isWanted = summariser?.onlyWithInstructions !== true || wishes !== null || hookInstructions !== null
  if (summariser === undefined || !isWanted || extracted.span === null) return { ok: true, plan: extracted }
  if (isOpen) {
    choosing.passedOver.push('no model was asked, since too many summaries have failed in a row')
    return { ok: true, plan: extracted }
  }
  const { jobContext } = core
  const asked = askKey(ask, wishes, hookInstructions)
  const shown = previewedText(core, asked)
  const again = shown === null ? null : withText(choosing, shown)
  if (again !== null) return { ok: true, plan: again }
  const answer = await answerOf(
    summariser,
    { ...summaryAsk(choosing, hookInstructions, extracted.span), jobContext, emit },
    signal,
  )
  if (!answer.ok && answer.isAborted)
    return refused('aborted', 'the compaction was stopped; the session is as it was')
  const summary = answer.ok ? summaryIn(answer) : answer
  if (!summary.ok) return failedSummary(choosing, summary.why)
  const made = withText(choosing, summary.summary)
  if (made === null) return failedSummary(choosing, 'it is too long')
  if (ask.dryRun === true) {
    const { upTo } = core.state.fold.numbers
    const kept = await core.append([
      { type: 'summary-previewed', account: summary.summary, ask: asked, upTo: seq(upTo) },
    ])
    if (!kept.ok) return kept
    // What was just written is part of what the text stands for.
    return { ok: true, plan: withText(choosing, summary.summary) ?? made }
  }
  return { ok: true, plan: made }
}

/** Whoever embeds may hand in one that throws, answers anything or does not hear an abort: the session goes on without it. */
export async function answerOf(
  summariser: SessionSummariser,
  asked: Parameters<SessionSummariser['summarise']>[0],
  signal: AbortSignal,
): Promise<SummaryAnswer> {
  const stopped: SummaryAnswer = { ok: false, why: 'it was stopped', isAborted: true }
  if (signal.aborted) return stopped
  try {
    const answer: unknown = await orAborted(summariser.summarise(asked, signal), signal)
    if (answer === null && signal.aborted) return stopped
    const isAnswer =
      isRecord(answer) && typeof (answer['ok'] === true ? answer['text'] : answer['why']) === 'string'
    return isAnswer
      ? (answer as object as SummaryAnswer)
      : { ok: false, why: 'the summariser gave neither a text nor a reason', isAborted: false }
  } catch (error) {
    return { ok: false, why: `the summariser failed: ${errorText(error)}`, isAborted: signal.aborted }
  }
}

/** Null where the signal fires first. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  const over = new AbortController()
  const stopped = new Promise<null>((resolve) =>
    signal.addEventListener('abort', () => resolve(null), { once: true, signal: over.signal }),
  )
  try {
    return await Promise.race([work, stopped])
  } finally {
    over.abort()
  }
}

function withText({ core, ask, room, options, extracted }: Choosing, summary: string): Plan | null {
  const made = rewritten(core.state.fold, room, options, extracted, {
    summary,
    by: 'model',
    ...(isWhole(ask) ? { keptFrom: unanswered } : {}),
  })
  return made.ok ? made.plan : null
}

/** The text of a preview, while it was asked for in the same words and nothing was said or edited since. */
function previewedText({ state: { latest, fold } }: Slice<'state'>, asked: string): string | null {
  const { previewed } = latest
  if (previewed?.ask !== asked) return null
  const isOld =
    [...fold.parts()].some((part) => part.to > previewed.upTo) ||
    fold.edits.controls.some(({ seq: at }) => at > previewed.upTo)
  return isOld ? null : previewed.account
}

const askKey = ({ from, upTo }: CompactAsk, wishes: string | null, hook: string | null): string =>
  JSON.stringify({ from, upTo, wishes, hook })

const isWhole = ({ from, upTo }: CompactAsk): boolean => from === undefined && upTo === undefined

/** What a summary of everything stands for is everything but what awaits an answer. */
function summaryAsk(
  { core, ask, room, extracted }: Choosing,
  hookInstructions: string | null,
  span: SummaryAsk['span'],
): SummaryAsk {
  const all = [...core.state.fold.parts()]
  const answered = all.findLastIndex((part) => part.kind === 'answer' || part.kind === 'result') + 1
  return {
    session: core.session,
    span,
    parts: isWhole(ask) ? all.slice(0, answered) : extracted.partsGone,
    variant: isWhole(ask) ? 'full' : ask.from === undefined ? 'up-to' : 'from',
    instructions: wishesOf(ask, core),
    hookInstructions,
    maxTokens: room.reserve,
  }
}

/** The user's of the moment first, then those of the instruction files. */
function wishesOf({ instructions }: CompactAsk, core: Slice<'view'>): string | null {
  const wishes = [wishIn(instructions), compactionWishes(core.view().reminder)].filter(
    (text) => text !== null,
  )
  return wishes.length === 0 ? null : wishes.join('\n\n')
}

/** A failing summary replaces nothing: it is written down, said, and the extracted text stands. */
async function failedSummary(
  { core, extracted, emit, passedOver }: Choosing,
  why: string,
): Promise<Result<{ readonly plan: Plan }>> {
  const message = `the model's summary was not used: ${why}`
  const noted = await noteFailure(core, why, message, emit)
  if (!noted.ok) return noted
  passedOver.push(message)
  return { ok: true, plan: extracted }
}

/** Written down and said, whoever asked for the summary; the one that opens the breaker says that too. */
export async function noteFailure(
  core: Slice<'append' | 'state'>,
  why: string,
  message: string,
  emit: Emit,
): Promise<Appended> {
  const noted = await core.append([{ type: 'compaction-failed', source: 'model', why }])
  if (!noted.ok) return noted
  emit({ type: 'notice', code: 'summary-failed', message })
  if (core.state.latest.summaryFailures === defaults.compaction.failures)
    emit({
      type: 'notice',
      code: 'breaker-open',
      message: `${defaults.compaction.failures} summaries failed in a row; from now on texts are extracted, until one succeeds`,
    })
  return noted
}
