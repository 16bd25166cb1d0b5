// A summary by a model: first by a fork that shares the session's cached prefix, then by a direct call, in
// pieces where the conversation exceeds the window of whoever writes. An answer that does not hold is no answer: the
// caller has an extracted text in hand. Nothing here throws, and nothing of the session is changed.
import { summaryIn, type SummaryAnswer, type SummaryAsk } from '../../compaction/summary.ts'
import type { JobContext, SessionSummariser, ForkOutcome, ForkSpec } from '../../engine/ports.ts'
import type { Emit } from '../../engine/live.ts'
import { lookUp, ratesOf, windowOf, wireModelId } from '../../model/models.ts'
import { lifetimeMs } from '../../transcript/lifetime.ts'
import type { StopKind } from '../../transcript/stop.ts'
import { overflowOf } from '../../model/overflow.ts'
import { factorOf } from '../../projection/calibration.ts'
import { estimateText } from '../../projection/tokens.ts'
import type { Part } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import { judged, saidIn } from './check.ts'
import {
  directSystem,
  summaryPrompt,
  piecesOf,
  roundsOf,
  conversationText,
  withoutOldest,
  type Round,
} from './prompt.ts'
import { textIn } from '../../transcript/content.ts'
import { defused } from '../../transcript/fence.ts'

export interface ModelSummaryOptions {
  /** Another model than the session's; it is asked by direct calls, since it shares no cache. */
  readonly modelId?: string | undefined
  /** The text is extracted unless the person, a hook or an instruction file says what it should hold. */
  readonly onlyWithInstructions?: boolean | undefined
  readonly signMs?: number | undefined
}

type Asked = SummaryAsk & { readonly jobContext: JobContext; readonly emit: Emit }
type Tried =
  | { readonly ok: true; readonly summary: string }
  | {
      readonly ok: false
      readonly why: string
      readonly isAborted: boolean
      readonly isFinal: boolean
      /** Tokens by which the request was too long; null where it was too long by nobody knows how much. */
      readonly gap?: number | null | undefined
    }

/** Has a model write the text of a compaction, checked before it is used. */
export function modelSummary(options: ModelSummaryOptions = {}): SessionSummariser {
  return {
    onlyWithInstructions: options.onlyWithInstructions,
    summarise: async (ask, signal) => {
      const { jobContext, emit } = ask
      if (jobContext === null || !jobContext.hasModel) return failed('there is no model to ask')
      const signs = {
        emit,
        source: forkPurpose,
        everyMs: options.signMs ?? defaults.summary.signMs,
        now: () => jobContext.now(),
      }
      return withSigns(signs, () => written({ ...ask, jobContext }, options, signal))
    },
  }
}

const forkPurpose = 'summary'
/** Another prompt than the session's, so another source: its cache is not compared. */
const directPurpose = 'summary-direct'

async function written(
  ask: Asked,
  { modelId }: ModelSummaryOptions,
  signal: AbortSignal,
): Promise<SummaryAnswer> {
  const isOther = modelId !== undefined && wireModelId(modelId) !== wireModelId(ask.jobContext.modelId())
  const first = isOther ? null : await byFork(ask, signal)
  if (first?.ok === true) return answered(first.summary)
  if (first !== null && (first.isAborted || first.isFinal)) return failed(first.why, first.isAborted)
  const second = await directly(ask, isOther ? modelId : undefined, signal)
  if (second.ok) return answered(second.summary)
  const why = first === null ? second.why : `${first.why}; asked directly: ${second.why}`
  return failed(why, second.isAborted)
}

const answered = (text: string): SummaryAnswer => ({ ok: true, text, stop: 'end_turn', hasCalls: false })
const failed = (why: string, isAborted = false): SummaryAnswer => ({ ok: false, why, isAborted })

// ---- on the session's prefix ----

/** Null where it cannot be asked that way. */
async function byFork(ask: Asked, signal: AbortSignal): Promise<Tried | null> {
  const { jobContext, variant } = ask
  const pivot = pivotOf(ask)
  if (variant === 'up-to' && (pivot === null || !isCheaperCached(ask))) return null
  const directive = promptOf(ask, pivot, jobContext.thinkingTokens > 0)
  const maxOutputTokens = forkTokens(jobContext, directive)
  if (maxOutputTokens === null) return null
  return asked(ask, { purpose: forkPurpose, directive, maxOutputTokens }, signal)
}

/** What the parent may put out, or what fits beside what is sent; null when that is too little. */
function forkTokens(jobContext: JobContext, directive: string): number | null {
  const room = jobContext.room()
  if (!room.ok) return null
  const { tokens, factor } = jobContext.fold.view()
  const { leastTokens } = defaults.summary
  const left = room.room.window - tokens - Math.ceil(factor * estimateText(directive)) - leastTokens / 2
  const most = Math.floor(Math.min(jobContext.maxOutput(), left))
  return most < leastTokens || most <= jobContext.thinkingTokens ? null : most
}

/** How the message at the chosen place begins, which the model finds it by: the first that goes, or the first that stays. */
function pivotOf({ variant, parts, jobContext }: Asked): string | null {
  if (variant === 'full') return null
  const last = parts.at(-1)?.to ?? -1
  const from = variant === 'from' ? parts : [...jobContext.fold.parts()].filter((part) => part.from > last)
  const first = from.map(wordsOf).find((text) => text !== '')
  return first?.replaceAll(/\s+/gu, ' ').slice(0, defaults.summary.pivotChars).toWellFormed() ?? null
}

/** Everything read from a warm cache costs less than an early part sent anew, unless that part is small. */
function isCheaperCached({ jobContext, parts }: Asked): boolean {
  const { requestAt, request, lifetime: begunWith } = jobContext.latest()
  const lifetime = request?.lifetime ?? begunWith
  if (requestAt === null || lifetime === undefined) return false
  const isWarm = jobContext.now() - requestAt < lifetimeMs(lifetime)
  const { tokens, factor } = jobContext.fold.view()
  const part =
    factor * parts.reduce((sum, { estimate, clearedEstimate }) => sum + estimate - clearedEstimate, 0)
  const info = lookUp(jobContext.models, jobContext.modelId())
  const rates = info === null ? null : ratesOf(info, tokens)
  const share = rates === null ? defaults.summary.cachedShare : rates.read / rates.input
  return isWarm && part > share * tokens
}

function promptOf(ask: Asked, pivot: string | null, thinks: boolean): string {
  const { variant, instructions, hookInstructions, maxTokens } = ask
  const words = Math.floor(maxTokens * defaults.summary.wordsPerToken)
  return summaryPrompt({ variant, instructions, hookInstructions, pivot, words, thinks })
}

const wordsOf = ({ blocks }: Part): string => textIn(blocks, ' ')

// ---- by a direct call ----

async function directly(ask: Asked, modelId: string | undefined, signal: AbortSignal): Promise<Tried> {
  const { jobContext, parts } = ask
  const { directTokens, slackShare, blockShare, pieces: most } = defaults.summary
  const model = modelId ?? jobContext.modelId()
  const known = jobContext.room()
  const window =
    modelId === undefined && known.ok
      ? known.room.window
      : windowOf({ model, table: jobContext.models, override: undefined, learned: undefined }).tokens
  const out = Math.floor(
    Math.min(
      directTokens,
      // The draft before a summary may be as long as the summary.
      2 * ask.maxTokens,
      lookUp(jobContext.models, model)?.maxOutput ?? directTokens,
      window / 4,
    ),
  )
  const factor = factorOf(jobContext.fold.numbers.calibration, wireModelId(model))
  // Up to a message nothing else is sent here, so there is none to name.
  const directive = promptOf(ask, ask.variant === 'up-to' ? null : pivotOf(ask), false)
  const prompt = Math.ceil(factor * estimateText(directive + directSystem))
  // Beside a piece stands what the pieces before it came to, which may be as long as an answer.
  const roomTokens = Math.floor(window * (1 - slackShare)) - 2 * out - prompt
  if (roomTokens <= 0) return refusal(`a window of ${window} tokens has no room for a conversation`)
  const rounds = roundsOf(parts, Math.floor(roomTokens * blockShare), factor)
  const pieces = piecesOf(rounds, roomTokens)
  if (pieces.length > most)
    return refusal(`the conversation would have to be told in ${pieces.length} pieces`)
  let last: Tried = refusal('there is nothing to tell')
  let earlier: string | null = null
  for (const piece of pieces) {
    last = await pieceOf(ask, { piece, earlier, directive, out, modelId }, signal)
    if (!last.ok) return last
    earlier = last.summary
  }
  return last
}

interface PieceAsk {
  readonly piece: readonly Round[]
  readonly earlier: string | null
  readonly directive: string
  readonly out: number
  readonly modelId: string | undefined
}

/** One piece; when a provider counts otherwise than we do, once more without its oldest rounds. */
async function pieceOf(
  ask: Asked,
  { piece, earlier, directive, out, modelId }: PieceAsk,
  signal: AbortSignal,
): Promise<Tried> {
  let rounds = piece
  for (let retry = 0; ; retry++) {
    const conversation = conversationText(rounds, earlier, retry > 0)
    const spec: ForkSpec = {
      purpose: directPurpose,
      directive,
      maxOutputTokens: out,
      apart: { system: directSystem, conversation, modelId },
    }
    const tried = await asked(ask, spec, signal)
    if (tried.ok || tried.gap === undefined || retry >= defaults.summary.retries) return tried
    rounds = withoutOldest(rounds, tried.gap)
    if (rounds.length === 0) return refusal(`nothing is left to tell: ${tried.why}`)
  }
}

// ---- asking, and looking at what came ----

async function asked(ask: Asked, spec: ForkSpec, signal: AbortSignal): Promise<Tried> {
  let end: { readonly stop: string | null; readonly ended?: StopKind } = { stop: null }
  const emit: Emit = (event) => {
    if (event.type === 'answer-end') end = { stop: event.stop, ended: event.ended }
  }
  const outcome = await ask.jobContext.fork({ ...spec, maxRounds: 1, emit }, signal)
  if (signal.aborted) return { ok: false, why: 'it was stopped', isAborted: true, isFinal: true }
  // One answer is all that is wanted; a call is refused and not asked about again.
  if (outcome.failure?.code === 'rounds') return refusal('it called a tool instead of writing')
  if (outcome.outcome !== 'done') return failure(outcome)
  const summary = summaryIn({ ok: true, text: outcome.text, ...end, hasCalls: false })
  if (!summary.ok) return refusal(summary.why)
  const found = judged(summary.summary, ask.variant, saidIn([...ask.jobContext.fold.parts()]))
  if (!found.ok) return refusal(found.why)
  const [first, ...others] = found.takenOut
  if (first !== undefined)
    ask.emit({
      type: 'notice',
      code: 'summary-mended',
      message: `of the model's summary ${others.length + 1} lines were removed that quote words nobody said: "${first}"`,
    })
  return { ok: true, summary: defused(found.summary) }
}

function failure({ failure: cause, outcome }: ForkOutcome): Tried {
  const why = cause?.message ?? `it ended as ${outcome}`
  const isAborted = cause === null && outcome === 'aborted'
  // A cap holds for every way of asking.
  const isFinal = isAborted || cause?.code === 'cap' || cause?.code === 'closed'
  const isTooLong = cause?.code === 'overflow' || cause?.code === 'too-large'
  return { ok: false, why, isAborted, isFinal, ...(isTooLong ? { gap: gapIn(why) } : {}) }
}

function gapIn(message: string): number | null {
  const found = overflowOf({ status: null, text: message })
  if (found === null || found.promptTokens === null || found.limitTokens === null) return null
  return found.promptTokens + (found.outputTokens ?? 0) - found.limitTokens
}

const refusal = (why: string): Extract<Tried, { ok: false }> => ({
  ok: false,
  why,
  isAborted: false,
  isFinal: false,
})

/** Signs of life: while something takes long, one is given at its beginning and at least every so often. */
async function withSigns<T>({ emit, source, everyMs, now }: SignOptions, work: () => Promise<T>): Promise<T> {
  const begun = now()
  const give = (): void => emit({ type: 'working', source, forMs: now() - begun })
  give()
  const timer = setInterval(give, everyMs)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

interface SignOptions {
  readonly emit: Emit
  /** What is under way. */
  readonly source: string
  readonly everyMs: number
  readonly now: () => number
}
