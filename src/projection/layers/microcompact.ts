// Microcompact: old tool results leave, everything else stays. Age and count only nominate; a cold cache,
// the economy or pressure decides. Time-based clearing goes first and keeps the other ways from running; where the
// server deletes from its cache our bytes do not move, and when that cache is gone the deletions become stubs.
import type { ClearingPrice, Edit, StubEdit } from '../../transcript/fact.ts'
import { defaults } from '../../settings/defaults.ts'
import { sizeOf } from '../calibration.ts'
import type { Budget, Layer, Proposal } from '../layer.ts'
import { estimateBlock } from '../tokens.ts'
import type { Part, View } from '../view.ts'
import { freedBy, priceOf, tailOf, worthClearing } from './pricing.ts'
import { stubText } from './stub-text.ts'
import { createSurveyor, type Candidate, type Survey } from './survey.ts'
import type { PolicyOf } from './tool-policy.ts'
import { whole } from '../../transcript/whole.ts'

export interface MicrocompactOptions {
  readonly policyOf?: PolicyOf | undefined
  readonly timeClearing?: boolean | undefined
  /** At the threshold old results go before a text stands for anything; off unless set. */
  readonly pressureClearing?: boolean | undefined
  readonly cachedClearing?: boolean | undefined
  /** The server clears by itself; then cached clearing and the economy leave it to that. */
  readonly nativeClearing?: boolean | undefined
  readonly keepResults?: number | undefined
  readonly idleMs?: number | undefined
  readonly digestChars?: number | undefined
}

interface Settings {
  readonly policyOf: PolicyOf | undefined
  readonly timeClearing: boolean
  readonly pressureClearing: boolean
  readonly cachedClearing: boolean
  readonly nativeClearing: boolean
  readonly keepResults: number
  readonly idleMs: number
  readonly digestChars: number
}

interface Choice {
  readonly kind: ClearingPrice['kind']
  readonly chosen: readonly Candidate[]
  /** Weighed and found to lose. */
  readonly left?: readonly Candidate[]
  readonly why: string
}

/** The layer's name, under which its edits are written down. */
export const microcompactName = 'microcompact'

export function microcompact(options: MicrocompactOptions = {}): Layer {
  const { clearing } = defaults
  const settings: Settings = {
    policyOf: options.policyOf,
    timeClearing: options.timeClearing ?? true,
    pressureClearing: options.pressureClearing ?? false,
    cachedClearing: options.cachedClearing ?? true,
    nativeClearing: options.nativeClearing ?? false,
    keepResults: Math.max(1, options.keepResults ?? clearing.keep),
    idleMs: options.idleMs ?? clearing.idleMs,
    digestChars: options.digestChars ?? clearing.digestChars,
  }
  const survey = createSurveyor(settings.policyOf)
  const stubOf = createStubs(settings.digestChars)
  return {
    name: microcompactName,
    deletesFromCache: true,
    decide: (view, budget) => {
      const surveyed = survey(view)
      // Each when its result is new, so that a clear of hundreds has only to put them together.
      for (const candidate of surveyed.candidates) stubOf(candidate)
      return decide(view, budget, surveyed, settings, stubOf)
    },
    declined: (view, budget) => declined(view, budget, survey(view), settings, stubOf),
  }
}

function decide(
  view: View,
  budget: Budget,
  survey: Survey,
  settings: Settings,
  stubOf: StubOf,
): Proposal | null {
  const gone = expired(view, budget, survey.remote, settings)
  const choice = choose(rewrittenBy(view, gone), budget, survey, settings, stubOf)
  const { chosen } = choice
  // What is written anew anyway is stubbed for nothing; only in front of that the server has to be asked.
  const { changedFrom } = view
  const isOurs = ({ part }: Candidate) =>
    choice.kind !== 'cached' || (changedFrom !== null && part.from >= changedFrom)
  const stubs = stubsFor([...gone, ...chosen.filter(isOurs)], stubOf)
  const deleted = chosen.filter((candidate) => !isOurs(candidate))
  if (stubs.length + deleted.length === 0) return null
  const edits: Edit[] = stubs.map(({ edit }) => edit)
  // One each: an edit of many places is judged by all that lies between them.
  for (const { part } of deleted) edits.push({ kind: 'remote', at: [placeOf(part)], via: 'cache-edit' })
  const freed =
    stubs.reduce((sum, stub) => sum + stub.freed, 0) +
    deleted.reduce((sum, { part }) => sum + part.estimate, 0)
  const tail = tailOf(
    view,
    stubs.map(({ of }) => of),
  )
  const whys = [
    ...(gone.length > 0 ? [goneWhy(gone.length)] : []),
    ...(chosen.length > 0 ? [choice.why] : []),
  ]
  const price = priceOf(view, budget, chosen.length === 0 ? 'expired' : choice.kind, freed, tail)
  return { kind: 'edit', edits, why: whys.join('; '), tokensFreed: Math.max(0, price.freedTokens), price }
}

/** What the economy would have cleared, had it not cost more than the margin allows. */
function declined(view: View, budget: Budget, survey: Survey, settings: Settings, stubOf: StubOf) {
  const { left = [] } = choose(view, budget, survey, settings, stubOf)
  if (left.length === 0) return null
  const freed = left.reduce((sum, one) => sum + freedBy(one, stubOf(one).tokens), 0)
  const price = priceOf(view, budget, 'economy', freed, tailOf(view, left))
  const why = `removing ${left.length} results would not save enough to pay for the cache writes`
  return { why, tokens: price.freedTokens, price }
}

/** Who clears, and what. Server-side clearing comes before ours, a cold cache before a warm one; pressure, where it is on, is heard whichever way was taken. */
function choose(view: View, budget: Budget, survey: Survey, settings: Settings, stubOf: StubOf): Choice {
  const nominated = nominate(survey, settings)
  const relieved = (choice: Choice): Choice =>
    settings.pressureClearing ? underPressure(view, budget, survey, choice, stubOf) : choice
  if (!budget.isWarm && budget.boundaryDue === true) return nothing
  if (settings.timeClearing && isIdle(survey, budget, settings))
    return relieved({
      kind: 'time',
      chosen: nominated,
      why: `no request was sent for more than ${Math.round(settings.idleMs / minute)} minutes, so the cache has expired`,
    })
  const pressed = view.tokens >= budget.threshold
  if (canDelete(budget, settings)) {
    const active = survey.candidates.length
    if (pressed || active >= defaults.clearing.cachedTrigger)
      return relieved({
        kind: 'cached',
        chosen: nominated,
        why: `${active} results are active; the server deletes all but the newest ${settings.keepResults} from its cache`,
      })
    return nothing
  }
  if (pressed && settings.pressureClearing) return relieved(pressure(view, budget, nominated, stubOf))
  if (settings.nativeClearing && budget.capabilities.contextEditing) return nothing
  return economy(view, budget, survey, nominated, settings.pressureClearing)
}

const nothing: Choice = { kind: 'economy', chosen: [], why: '' }
const minute = 60_000

/** All but the newest; what stands in the view again goes even among those. */
function nominate(survey: Survey, { keepResults }: Settings): readonly Candidate[] {
  const kept = new Set(survey.candidates.filter((candidate) => !candidate.isRepeated).slice(-keepResults))
  return survey.candidates.filter((candidate) => !kept.has(candidate))
}

function isIdle({ lastAnswerAt }: Survey, budget: Budget, { idleMs }: Settings): boolean {
  return budget.isMain && lastAnswerAt !== null && budget.now - lastAnswerAt > idleMs
}

/** Local bytes stay as they are, and the server is told what to leave out of its cache. */
function canDelete(budget: Budget, settings: Settings): boolean {
  return (
    settings.cachedClearing &&
    budget.capabilities.cacheEdits &&
    budget.isMain &&
    budget.isWarm &&
    !budget.cacheLost &&
    !(settings.nativeClearing && budget.capabilities.contextEditing)
  )
}

/** What was superseded first, then the oldest, until the target is reached: one rewrite frees much. */
function pressure(view: View, budget: Budget, nominated: readonly Candidate[], stubOf: StubOf): Choice {
  const ordered = [
    ...nominated.filter((candidate) => candidate.isSuperseded),
    ...nominated.filter((candidate) => !candidate.isSuperseded),
  ]
  const chosen: Candidate[] = []
  let freed = 0
  for (const candidate of ordered) {
    if (!candidate.isSuperseded && sizeWithout(view, freed) <= budget.target) break
    chosen.push(candidate)
    freed += freedBy(candidate, stubOf(candidate).tokens)
  }
  const why = `the view takes ${whole(view.tokens)} tokens; at ${whole(budget.threshold)} it must shrink`
  return { kind: 'pressure', chosen: inOrder(chosen), why }
}

/**
 * Where the choice leaves the view too large, results above the size of any one go too, however new, largest first. Where
 * the newest that are kept are still too large for the target, fewer are kept: else the next result would press again, and
 * each time everything behind is written anew.
 */
function underPressure(view: View, budget: Budget, survey: Survey, choice: Choice, stubOf: StubOf): Choice {
  const chosen = new Set(choice.chosen)
  let freed = choice.chosen.reduce((sum, candidate) => sum + freedBy(candidate, stubOf(candidate).tokens), 0)
  const clear = (more: readonly Candidate[], isEnough: () => boolean): boolean => {
    const before = chosen.size
    for (const candidate of more) {
      if (isEnough()) break
      if (chosen.has(candidate)) continue
      chosen.add(candidate)
      freed += freedBy(candidate, stubOf(candidate).tokens)
    }
    return chosen.size > before
  }
  const large = survey.candidates.filter(isOversized).toSorted((a, b) => b.part.estimate - a.part.estimate)
  const isLarge = clear(large, () => sizeWithout(view, freed) < budget.threshold)
  const isFewer =
    choice.kind === 'pressure' &&
    clear(survey.candidates.slice(0, -1), () => sizeWithout(view, freed) <= budget.target)
  if (!isLarge && !isFewer) return choice
  const why = [
    choice.why,
    ...(isLarge ? ['results above the size limit are removed as well'] : []),
    ...(isFewer ? ['fewer of the newest stay, since they alone take too much'] : []),
  ].join('; ')
  return { kind: choice.kind === 'cached' ? 'cached' : 'pressure', chosen: inOrder([...chosen]), why }
}

/** What the view will take once so much of its estimate is gone. Where little is left, the provider's own count no longer speaks for it. */
const sizeWithout = ({ anchor, estimate, factor }: View, freed: number): number =>
  sizeOf(anchor, estimate - freed, factor)

const isOversized = ({ block }: Candidate): boolean =>
  block.content.reduce((sum, inner) => sum + (inner.type === 'text' ? inner.text.length : 0), 0) >
  defaults.results.maxChars

function economy(
  view: View,
  budget: Budget,
  survey: Survey,
  nominated: readonly Candidate[],
  mayTakeAll: boolean,
): Choice {
  // On models that bind reasoning to its prefix an edit in the middle of a turn would cost the turn its reasoning.
  if (budget.capabilities.bindsPrefix && !survey.isTurnStart) return nothing
  const { earlyShare, stubTokens } = defaults.clearing
  const level = budget.target + earlyShare * (budget.threshold - budget.target)
  const isEarly = !mayTakeAll || view.tokens <= level
  const allowed = isEarly ? nominated.filter((candidate) => candidate.isSuperseded) : nominated
  const weighed = worthClearing(view, budget, allowed, stubTokens)
  const what = isEarly ? 'newer work supersedes them' : 'they are old'
  return { kind: 'economy', ...weighed, why: `${what}, and removing them is cheaper than keeping them` }
}

/** Deletions whose cache is gone, or lies behind a place that is written anew anyway. */
function expired(
  view: View,
  budget: Budget,
  remote: readonly Candidate[],
  settings: Settings,
): readonly Candidate[] {
  const isGone =
    !budget.isWarm || budget.cacheLost || !budget.capabilities.cacheEdits || !settings.cachedClearing
  if (isGone) return remote
  return view.changedFrom === null ? [] : remote.filter(({ part }) => part.from >= view.changedFrom!)
}

/** As the view will be once these are stubs: what lies behind the first is written anew, so the rest may go for nothing. */
function rewrittenBy(view: View, stubs: readonly Candidate[]): View {
  const from = stubs[0]?.part.from
  if (from === undefined || (view.changedFrom !== null && view.changedFrom <= from)) return view
  return { ...view, changedFrom: from }
}

const goneWhy = (count: number): string =>
  `the cache that ${count} results were deleted from is gone; here they become stubs`

interface Stub {
  readonly of: Candidate
  readonly edit: StubEdit
  readonly freed: number
}

type StubOf = (candidate: Candidate) => { readonly text: string; readonly tokens: number }

/** What would stand for a result, and its estimated tokens; made once for each. */
function createStubs(digestChars: number): StubOf {
  const made = new WeakMap<Part, ReturnType<StubOf>>()
  return (candidate) => {
    const { part, block } = candidate
    const before = made.get(part)
    if (before !== undefined) return before
    const text = stubText(candidate, digestChars)
    const tokens = estimateBlock({ ...block, content: [{ type: 'text', text }], cleared: undefined })
    made.set(part, { text, tokens })
    return { text, tokens }
  }
}

/** A stub that would not be smaller is not made, except where the server must no longer be asked. */
function stubsFor(chosen: readonly Candidate[], stubOf: StubOf): readonly Stub[] {
  return inOrder(chosen).flatMap((of): readonly Stub[] => {
    const { part, block } = of
    const { text, tokens } = stubOf(of)
    const freed = part.estimate - part.clearedEstimate - tokens
    if (freed <= 0 && block.cleared === undefined) return []
    return [{ of, freed, edit: { kind: 'stub', at: placeOf(part), text, ref: `${part.from}` } }]
  })
}

const placeOf = (part: Part) => ({ seq: part.from, block: part.source[0]! })

const inOrder = (chosen: readonly Candidate[]): readonly Candidate[] =>
  chosen.toSorted((a, b) => a.part.from - b.part.from)
