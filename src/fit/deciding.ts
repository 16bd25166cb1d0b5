// What is decided in one call: results that were never sent are shortened, and the older part is compacted where it must be or
// where that is cheaper. The deciding itself is that of the gateway (`trim`, `compaction`, `pace`); here it meets a state.
import { allowanceOf } from '../projection/dial.ts'
import { estimateText } from '../projection/tokens.ts'
import { compacted, retold } from './compaction.ts'
import { plainDigest } from '../wires/plain-digest.ts'
import { bytesOf } from './json-spans.ts'
import { isAnswer } from './layouts.ts'
import { isDue } from './pace.ts'
import { limitsFor } from './setting.ts'
import { bytesIn } from './sizing.ts'
import type { StoredEdit, StoredWhole } from './state.ts'
import { newResults, trimmed, type Keeper, type LargeResult, type TrimLimits } from './trim.ts'
import { opensTurn } from './turns.ts'
import { arranged, type Arranged, type Work } from './work.ts'
import type { KeptOriginal } from './contract.ts'

const digestOf = (text: string): string => plainDigest(bytesOf(text))

/** Keeps texts for the caller, who alone has a place for them. */
function keeping(
  { options }: Work,
  usual: string,
): { readonly keeper: Keeper; readonly kept: KeptOriginal[] } {
  const kept: KeptOriginal[] = []
  return {
    kept,
    keeper: (text) => {
      const ref = digestOf(text)
      kept.push({ ref, text })
      return { ref, wayBack: options.wayBack?.(ref) ?? usual }
    },
  }
}

// ---- results that were never sent ----

/** `share` below one cuts them shorter than usual, where they would not fit otherwise. */
export function withTrim(work: Work, share = 1): Work {
  const { request, chain, from } = work
  const limits = limitsFor(work.room, work.options.limits, share)
  const results = work.wishes
    .shortenable(newResults(request, from), share)
    .filter(({ unit }) => share < 1 || !work.edits.has(chain.links[unit]!))
  if (results.length === 0) return work
  const { keeper, kept } = keeping(work, narrower)
  const wholes = share < 1 ? new Map<string, string>() : wholesIn(work)
  const made = trimmed(results, chain, limits, (text) => wholes.get(digestOf(text)), keeper)
  const edits = new Map(work.edits)
  for (const result of results) {
    const link = chain.links[result.unit]!
    const edit = made.get(link)
    if (edit === undefined || edit.saved <= 0) continue
    edits.set(link, {
      ...stored(limits, result, edit.texts),
      why: edit.why,
      ref: edit.kept ?? '',
      wayBack: edit.kept === null ? '' : (work.options.wayBack?.(edit.kept) ?? narrower),
      call: wholes.get(digestOf(result.texts[0] ?? '')) ?? result.call,
    })
  }
  return { ...work, edits, kept: [...work.kept, ...kept] }
}
const narrower = 'Make a narrower call to see the part you need'

function stored(
  { headChars, tailChars }: TrimLimits,
  { texts }: LargeResult,
  shown: readonly (string | null)[],
): Pick<StoredEdit, 'headChars' | 'tailChars' | 'saved'> {
  const saved = shown.reduce(
    (sum, text, at) => sum + (text === null ? 0 : estimateText(texts[at]!) - estimateText(text)),
    0,
  )
  return { headChars, tailChars, saved }
}

/** Which call gave a text that is still sent whole, by the text's name. */
function wholesIn(work: Work): ReadonlyMap<string, string> {
  const { request, chain, edits, state } = work
  const { boundary } = arranged(work).applied
  const calls = new Map<string, string>()
  for (const [at, unit] of chain.units.entries()) {
    const whole = Object.hasOwn(state.wholes, unit) ? state.wholes[unit] : undefined
    if (whole === undefined || edits.has(chain.links[at]!)) continue
    if (boundary !== null && request.units[at]!.message < boundary.boundary.to) continue
    calls.set(whole.text, whole.call)
  }
  return calls
}

/** Results of this list that are sent whole and large enough to be named by a later one. */
export function wholesOf(work: Work): Readonly<Record<string, StoredWhole>> {
  const { request, chain, edits, state, from } = work
  const { repeatedChars } = limitsFor(work.room, work.options.limits)
  const present = new Set(chain.units)
  const found = Object.entries(state.wholes).filter(([unit]) => present.has(unit))
  const added = newResults(request, from).flatMap(({ unit, call, texts, chars }) =>
    texts.length !== 1 || chars < repeatedChars || edits.has(chain.links[unit]!)
      ? []
      : [[chain.units[unit]!, { text: digestOf(texts[0]!), call }] as const],
  )
  return Object.fromEntries([...found, ...added])
}

// ---- the older part ----

/** Of the newest part: as much as the dial says and the target leaves, then less, then no more than must be. */
const tailShares = [1, 0.3, 0]
/** Results that were never sent, cut to this share of what is usual. */
const harder = [1, 0.25, 0.05]

export type Reduced =
  | { readonly ok: true; readonly work: Work; readonly result: Arranged }
  | { readonly ok: false; readonly tokens: number; readonly why: string }

/** A list that is too large, made smaller by as little as is enough. */
export function reduced(work: Work): Reduced {
  const { threshold, target } = work.room
  let best: { readonly work: Work; readonly result: Arranged } | null = null
  let why = ''
  for (const share of harder) {
    const base = share === 1 ? work : withTrim(work, share)
    const plain = arranged(base)
    if (share < 1 && plain.tokens < threshold) return { ok: true, work: base, result: plain }
    if (best === null || plain.tokens < best.result.tokens) best = { work: base, result: plain }
    const most = tailShareOf(base)
    for (const tailShare of work.options.compaction === false ? [] : tailShares) {
      const made = withBoundary(base, tailShare * most)
      if (!made.ok) {
        why = made.why
        continue
      }
      const result = arranged(made.work)
      if (result.tokens <= target) return { ok: true, work: made.work, result }
      if (result.tokens < best.result.tokens) best = { work: made.work, result }
    }
    if (best.result.tokens < threshold) return { ok: true, ...best }
  }
  return { ok: false, tokens: best?.result.tokens ?? 0, why }
}

/** How much of what the dial says the target leaves for the newest part. */
function tailShareOf(work: Work): number {
  const { room, setting, factor } = work
  const allowed = allowanceOf(setting.point, setting.window.tokens)
  const text = allowed.excerptTokens + allowed.detailTokens + allowed.textTokens
  const answer = work.request.units.findIndex(({ role }) => isAnswer(role))
  const opening = work.tokens.slice(0, Math.max(0, answer)).reduce((sum, each) => sum + each, 0)
  const left = room.target - room.fixed - factor * opening - text
  return Math.min(1, Math.max(0, left / allowed.tailTokens))
}

/** A compaction that this call is the first to carry. */
export function withBoundary(
  work: Work,
  tailShare: number,
): { readonly ok: true; readonly work: Work } | { readonly ok: false; readonly why: string } {
  const { request, chain, setting, tokens, edits, factor } = work
  const { keeper, kept } = keeping(work, goneForGood)
  const made = compacted(request, chain, {
    point: setting.point,
    window: setting.window.tokens,
    // Sizes are told in tokens, as they are sent.
    charsPerToken: 1,
    sizeOf: (unit) => factor * (tokens[unit]! - (edits.get(chain.links[unit]!)?.saved ?? 0)),
    bindsPrefix: setting.info?.capabilities.bindsPrefix === true,
    tailShare,
    keeper,
    opening: openingOf(work),
    isPinned: work.options.pins === undefined ? undefined : work.wishes.isPinned,
  })
  if (!made.ok) return made
  const before = work.boundaries.get(made.link)
  // In a smaller window the same part may have to be said in fewer words.
  if (before !== undefined && before.text.length <= made.boundary.text.length)
    return { ok: false, why: 'the older part is compacted already' }
  const boundaries = new Map(work.boundaries).set(made.link, made.boundary)
  return { ok: true, work: { ...work, boundaries, kept: [...work.kept, ...kept] } }
}

/** What a list may have with a text that was written: some way from where the next compaction would begin. */
export const summarisedTokens = ({ target, threshold }: Work['room']): number =>
  Math.floor((target + threshold) / 2)

const goneForGood = 'The original is no longer part of this conversation.'

/** Both texts are written into one room, and fill it but for a line or two. */
const sameRoom = 1.02

/** A compaction told in words that somebody wrote, if it then is small enough. */
export function withSummary(
  work: Work,
  { applied, tokens }: Arranged,
  summary: string,
):
  | { readonly ok: true; readonly work: Work; readonly result: Arranged }
  | { readonly ok: false; readonly why: string } {
  const found = applied.boundary!
  const { setting, options, wishes, room, chain } = work
  const made = retold(work.request, found, summary, {
    point: setting.point,
    window: setting.window.tokens,
    isPinned: options.pins === undefined ? undefined : wishes.isPinned,
    wayBack: options.wayBack?.(found.boundary.kept) ?? goneForGood,
  })
  if (!made.ok) return made
  const boundaries = new Map(work.boundaries).set(chain.links[found.end - 1]!, made.boundary)
  const result = arranged({ ...work, boundaries })
  const most = Math.max(summarisedTokens(room), Math.ceil(tokens * sameRoom))
  return result.tokens > most
    ? { ok: false, why: `with it the list has ${result.tokens} tokens, and ${most} is the most` }
    : { ok: true, work: { ...work, boundaries }, result }
}

/** Where the older part begins: with the first answer, or with a text of ours that stands before it. */
function openingOf({ request, pieces, state }: Work): number | undefined {
  const ours = new Set(Object.values(state.boundaries).map(({ text }) => JSON.stringify(text)))
  if (ours.size === 0) return undefined
  const answer = request.units.find(({ role }) => isAnswer(role))?.message ?? 0
  const at = pieces
    .slice(0, answer)
    .findIndex(({ value }) => [...ours].some((text) => JSON.stringify(value).includes(text)))
  return at < 0 ? undefined : at
}

/** Whether compacting now is cheaper than going on: only between turns, and only where answers have told what they cost. */
export function isCheaper(work: Work, bytes: number): boolean {
  const { state, setting, options, request } = work
  if (state.pace === null || options.now === undefined || options.compaction === false) return false
  if (!opensTurn(request)) return false
  return isDue({
    pace: state.pace,
    model: options.model,
    models: setting.table,
    point: setting.point,
    lifetimeMs: setting.lifetimeMs,
    now: options.now,
    bytes,
    headBytes: bytesIn(request.head.map(({ length }) => ({ start: 0, end: length }))),
  })
}
