// Messages in, messages out: what has been sent is never sent differently, what is to be shortened is shortened before it is
// first sent, the older part is compacted when it must be, and the result is one that the wire accepts. Pure: no clock, no
// file, no network; the same messages, options and state give the same result everywhere.
import { sizeOf } from '../projection/calibration.ts'
import { sharedStart } from './chain.ts'
import { summaryIn } from '../compaction/summary.ts'
import { estimateText } from '../projection/tokens.ts'
import type {
  FitBoundary,
  FitEdit,
  FitFailure,
  FitOptions,
  FitOutcome,
  FitReport,
  SummarisingOptions,
  FitCost,
} from './contract.ts'
import {
  isCheaper,
  reduced,
  summarisedTokens,
  wholesOf,
  withSummary,
  withBoundary,
  withTrim,
} from './deciding.ts'
import { guarded } from './callbacks.ts'
import { readMessages } from './messages.ts'
import { named, outputOf, type Named } from './output.ts'
import { repaired } from './rules.ts'
import { settingOf, wrongOption } from './setting.ts'
import { bytesIn } from './sizing.ts'
import { readState, stateVersion, type FitState } from './state.ts'
import { arranged, heard, untouchedTokens, workOf, type Arranged, type Work } from './work.ts'
import { ratesOf } from '../model/models.ts'
import { writeRate } from './pace.ts'
import { whole } from '../transcript/whole.ts'

/** Messages that may be sent: within the window, valid for the wire, and beginning with what was sent last. */
export function fit<Message>(
  messages: readonly Message[],
  options: SummarisingOptions<Message>,
): Promise<FitOutcome<Message>>
export function fit<Message>(
  messages: readonly Message[],
  options: FitOptions<Message> & { readonly summarise?: undefined },
): FitOutcome<Message>
export function fit<Message>(
  messages: readonly Message[],
  options: FitOptions<Message> & Partial<SummarisingOptions<Message>>,
): FitOutcome<Message> | Promise<FitOutcome<Message>>
export function fit<Message>(
  messages: readonly Message[],
  options: FitOptions<Message> & Partial<SummarisingOptions<Message>>,
): FitOutcome<Message> | Promise<FitOutcome<Message>> {
  // Whose messages they are is known only to `pins`, which gets no others.
  const given = (options ?? {}) as FitOptions
  const wrong = wrongOption(messages, given)
  const asked = guarded(given)
  const decided = wrong ?? decidedOn(messages, asked.options)
  const { summarise } = options ?? {}
  if (typeof summarise === 'function')
    return summarised(messages, asked.failure() ?? decided, summarise).then((made) => asked.failure() ?? made)
  return asked.failure() ?? (decided.ok ? finish(messages, decided) : decided)
}

function decidedOn(messages: readonly unknown[], options: FitOptions): Decided | FitFailure {
  if (messages.length === 0)
    return { ok: false, code: 'empty', message: 'there is no message to send; add one before you call `fit`' }
  const found = settingOf(options)
  if (!found.ok) return found
  const before = readState(options.state, options.wire)
  if (!before.ok) return before
  const ours = new Set(Object.values(before.state.boundaries).map(({ text }) => text))
  const read = readMessages(messages, options, ours)
  if (!read.ok) return read
  const begun = workOf(read, messages, heard(before.state, options), found.setting, options)
  return begun.ok ? decide(begun.work) : begun
}

/** The text of a new compaction by the caller's own model; where that fails, the extracted one stays and it is said why. */
async function summarised<Message>(
  messages: readonly Message[],
  decided: Decided | FitFailure,
  summarise: SummarisingOptions<Message>['summarise'],
): Promise<FitOutcome<Message>> {
  if (!decided.ok) return decided
  const boundary = boundaryOf(decided)
  if (boundary?.isNew !== true) return finish(messages, decided)
  const { work, result } = decided
  const declined = (why: string): FitOutcome<Message> =>
    finish(messages, {
      ...decided,
      declined: [...decided.declined, `the text of the summary was not used: ${why}`],
    })
  try {
    const extracted = result.applied.boundary!.boundary.text
    const room = Math.max(0, summarisedTokens(work.room) - result.tokens)
    const written = await summarise({
      messages: messages.slice(boundary.from, boundary.to),
      extracted,
      maxTokens: Math.floor(room + estimateText(extracted)),
    })
    const summary = summaryIn({ ok: true, text: written, stop: 'end_turn', hasCalls: false })
    if (!summary.ok) return declined(summary.why)
    const made = withSummary(work, result, summary.summary)
    return made.ok ? finish(messages, { ...decided, ...made }) : declined(made.why)
  } catch (error) {
    return declined(error instanceof Error ? error.message : String(error))
  }
}

interface Decided {
  readonly ok: true
  readonly work: Work
  readonly result: Arranged
  readonly boundary: FitBoundary['why']
  readonly declined: readonly string[]
}

function decide(begun: Work): Decided | FitFailure {
  const work = withTrim(begun)
  const result = arranged(work)
  if (result.tokens >= work.room.threshold) {
    const made = reduced(work)
    return made.ok ? { ...made, boundary: 'window', declined: [] } : tooLarge(work, made.tokens, made.why)
  }
  if (isCheaper(work, sentBytes(work, result))) {
    const made = withBoundary(work, 1)
    if (!made.ok) return { ok: true, work, result, boundary: 'earlier', declined: [made.why] }
    const smaller = arranged(made.work)
    if (smaller.tokens < result.tokens)
      return { ok: true, work: made.work, result: smaller, boundary: 'cost', declined: [] }
  }
  return { ok: true, work, result, boundary: 'earlier', declined: [] }
}

const sentBytes = ({ request }: Work, { applied }: Arranged): number =>
  applied.splices.reduce(
    (sum, { start, end, text }) => sum + text.length - (end - start),
    bytesIn(request.elements),
  )

function tooLarge({ room }: Work, tokens: number, why: string): FitFailure {
  return {
    ok: false,
    code: 'too-large',
    message: `the messages take about ${whole(tokens)} tokens at their smallest, and ${whole(room.threshold)} is the most of this window${why === '' ? '' : ` (${why})`}. Shorten the largest message, or take a model with a larger window`,
    tokens,
    limit: room.threshold,
  }
}

function finish<Message>(messages: readonly Message[], decided: Decided): FitOutcome<Message> {
  const { work, result } = decided
  const { wire } = work.options
  const list = outputOf(work, messages, result.applied)
  const { messages: valid, repairs } = repaired(wire, list, work.setting.to)
  const out = named(work, valid)
  const estimate = out.estimate + work.fixed
  const tokens = sizeOf(work.state.anchor, estimate, work.factor)
  if (tokens >= work.room.threshold) return tooLarge(work, tokens, '')
  const boundary = boundaryOf(decided)
  const prefix = prefixOf(work, out, boundary)
  return {
    ok: true,
    messages: valid as readonly Message[],
    state: stateAfter(work, out, estimate, boundary?.isNew === true),
    report: {
      ...matchOf(work),
      tokensBefore: untouchedTokens(work),
      tokensAfter: tokens,
      limit: work.room.threshold,
      window: work.setting.window.tokens,
      windowSource: work.setting.window.from,
      edits: editsOf(work, result),
      boundary,
      repairs,
      prefix,
      cost: costOf(work, out, tokens, prefix.kept),
      declined: decided.declined,
    },
    kept: work.kept,
  }
}

const matchOf = ({
  match,
  isCarried,
  state,
  chain,
}: Work): Pick<FitReport, 'match' | 'isCarried' | 'isStateForeign' | 'isHeadChanged'> => ({
  match: match === 'restart' ? 'new' : match,
  isCarried,
  isStateForeign: match === 'new' && state.given.length > 0,
  isHeadChanged: state.head !== '' && state.head !== chain.head,
})

function editsOf(work: Work, { applied }: Arranged): readonly FitEdit[] {
  const { chain, edits, state, request, pieces } = work
  return applied.edits.map(({ unit, edit, result }) => {
    const link = chain.links[unit]!
    return {
      why: edit.why,
      message: pieces[request.units[unit]!.message]!.origin,
      call: result.call,
      ref: edit.kept,
      tokens: edits.get(link)!.saved,
      isNew: !Object.hasOwn(state.edits, link),
    }
  })
}

function boundaryOf({ work, result, boundary: why }: Decided): FitBoundary | null {
  const found = result.applied.boundary
  if (found === null) return null
  const { from, to, kept, text } = found.boundary
  const link = work.chain.links[found.end - 1]!
  const isNew = !Object.hasOwn(work.state.boundaries, link) || work.state.boundaries[link]!.text !== text
  const origin = (at: number): number => work.pieces[at]?.origin ?? work.pieces.length
  return { why: isNew ? why : 'earlier', from: origin(from), to: origin(to), ref: kept, isNew }
}

function prefixOf(work: Work, { links }: Named, boundary: FitBoundary | null): FitReport['prefix'] {
  const sent = work.state.sent ?? work.state.given
  const kept = sharedStart(sent, links)
  if (kept === sent.length) return { kept, of: sent.length, why: null }
  const why =
    boundary?.isNew === true
      ? 'boundary'
      : work.match === 'next' || work.match === 'again'
        ? 'repair'
        : 'branch'
  return { kept, of: sent.length, why }
}

/** What a state remembers at most: edits of other branches go first, and a fork from before three compactions is rare. */
const most = { edits: 5000, boundaries: 3 }

function stateAfter(work: Work, out: Named, estimate: number, isNewBoundary: boolean): FitState {
  const { state, chain } = work
  const isSame =
    out.links.length === chain.links.length && sharedStart(out.links, chain.links) === out.links.length
  const pace = isNewBoundary && state.pace !== null ? { ...state.pace, sizes: [] } : state.pace
  return {
    v: stateVersion,
    wire: state.wire,
    head: chain.head,
    given: chain.links,
    sent: isSame ? null : out.links,
    tokens: work.tokens,
    edits: Object.fromEntries([...work.edits].slice(-most.edits)),
    boundaries: Object.fromEntries([...work.boundaries].slice(-most.boundaries)),
    wholes: wholesOf(work),
    estimate,
    bytes: out.bytes,
    at: work.options.now ?? null,
    anchor: state.anchor,
    pace,
    calibration: state.calibration,
  }
}

// What a prompt costs with the provider's cache in mind, as it was given and as it is returned: of this call, and of each one
// that follows while the cache is warm. A compaction makes this call dearer and the following ones cheaper; here both are told.

/** Prices are for a million tokens. */
const perTokens = 1_000_000

function costOf(work: Work, out: Named, tokens: number, kept: number): FitReport['cost'] {
  const { setting, state, options, fixed, factor } = work
  const untouched = untouchedTokens(work)
  const rates = setting.info === null ? null : ratesOf(setting.info, Math.max(untouched, tokens))
  if (rates === null) return null
  const isCold =
    state.given.length === 0 ||
    (options.now !== undefined && state.at !== null && options.now - state.at >= setting.lifetimeMs)
  const cached = (sizes: readonly number[], upTo: number): number =>
    isCold ? 0 : factor * sizes.slice(0, upTo).reduce((sum, each) => sum + each, upTo === 0 ? 0 : fixed)
  const priced = (all: number, read: number): number => {
    const least = Math.min(all, read)
    return (least * rates.read + (all - least) * writeRate(rates)) / perTokens
  }
  const both = (ofUntouched: number, ofFitted: number): FitCost => ({
    untouched: ofUntouched,
    fitted: ofFitted,
  })
  return {
    now: both(priced(untouched, cached(work.tokens, work.known)), priced(tokens, cached(out.tokens, kept))),
    next: both(priced(untouched, untouched), priced(tokens, tokens)),
  }
}
