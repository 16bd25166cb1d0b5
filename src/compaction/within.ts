// A compaction within a room that somebody names: the user's words first, and what they leave is shared by the newest
// messages, excerpts and the text. Words that do not fit are cut in any case, so there they leave the rest a share. Sizes
// are known only once a draft is made, so a few are tried, each corrected by the last.
import { defaults } from '../settings/defaults.ts'
import { draft, totalOf, withLedger, type Draft, type Shape } from './draft.ts'
import { newestOf } from './kept-messages.ts'
import type { PlanContext } from './plan-context.ts'

type Rest = Pick<Shape, 'focus' | 'isAutomatic' | 'taskTokens'>

/** Null where even the least does not fit. Where tasks leave no room for what must stay, they have less of their own, and none at last. */
export function draftWithin(
  context: PlanContext,
  tokens: number,
  rest: Omit<Rest, 'taskTokens'>,
): Draft | null {
  for (const share of [1, 1 / 4, 0]) {
    const made = sharedOut(context, tokens, { ...rest, taskTokens: share * defaults.compaction.taskTokens })
    if (made !== null) return made
  }
  return null
}

function sharedOut(context: PlanContext, tokens: number, rest: Rest): Draft | null {
  const { wordsShare } = defaults.dial.within
  const roomy = divided(context, tokens, rest, wordsShare)
  const found =
    roomy !== null && areWhole(roomy)
      ? roomy
      : (wordsAlone(context, tokens, rest) ?? crowded(context, tokens, rest))
  return found === null ? null : filled(context, found, tokens)
}

/** The words have up to their share of the room, and what they leave is for the rest. */
function divided(context: PlanContext, tokens: number, rest: Rest, wordsShare: number): Draft | null {
  const { tries, restShare, nearShare } = defaults.dial.within
  const fixed = context.factor * context.view.fixedEstimate
  let left = restShare * tokens
  let tooMuch = tokens
  let best: { readonly draft: Draft; readonly left: number } | null = null
  for (let attempt = 0; attempt < tries; attempt++) {
    const made = draft(context, shapeWithin(context, tokens, left, rest, wordsShare))
    if (made === null) break
    const over = withLedger(made) - fixed - tokens
    if (over > 0) tooMuch = Math.min(tooMuch, left)
    else if (best === null || left > best.left) best = { draft: made, left }
    if (left <= 0 || (over <= 0 && -over < nearShare * tokens)) break
    // What a result or a long message takes comes in leaps: past one, between what fits and what does not.
    const next = left - over
    const least = best?.left ?? 0
    left = next > least && next < tooMuch ? next : (least + tooMuch) / 2
    if (attempt === tries - 2 && best === null) left = 0
  }
  return best?.draft ?? null
}

/** What leaps leave free goes to single lines, which come in any size. */
function filled(context: PlanContext, found: Draft, tokens: number): Draft {
  const { nearShare, fillShares } = defaults.dial.within
  const room = tokens + context.factor * context.view.fixedEstimate
  const free = room - withLedger(found)
  if (free < nearShare * tokens) return found
  const { shape } = found
  for (const share of fillShares) {
    const made = draft(context, { ...shape, detailTokens: shape.detailTokens + share * free })
    if (made !== null && withLedger(made) <= room) return made
  }
  return found
}

const areWhole = ({ segments }: Draft): boolean => {
  const { shortened, pointed } = totalOf(segments)
  return shortened + pointed === 0
}

/** All of the words and nothing beside them, where that fits: their caps count wider fences than they get. */
function wordsAlone(context: PlanContext, tokens: number, rest: Rest): Draft | null {
  const made = draft(context, shapeWithin(context, tokens, 0, rest, defaults.dial.within.mostWords))
  const room = tokens + context.factor * context.view.fixedEstimate
  return made !== null && areWhole(made) && withLedger(made) <= room ? made : null
}

/** Where the words alone are too much they have a share that nothing else takes; less of it only where the room is too small for that. */
function crowded(context: PlanContext, tokens: number, rest: Rest): Draft | null {
  const { crowdedShare, crowdedTries } = defaults.dial.within
  for (let attempt = 0, share = crowdedShare; attempt < crowdedTries; attempt++, share /= 2) {
    const made = divided(context, tokens, rest, share)
    if (made !== null) return made
  }
  return null
}

function shapeWithin(
  context: PlanContext,
  tokens: number,
  left: number,
  rest: Rest,
  wordsShare: number,
): Shape {
  const { tailShare, excerptShare, detailShare, textShare, ledgerShare } = defaults.dial.within
  const kept = newestOf(context, tailShare * left, tailShare * left)
  const words = wordsShare * tokens
  return {
    ...rest,
    start: 0,
    end: kept.start,
    stubs: kept.stubs,
    textTokens: textShare * left,
    ledgerTokens: Math.floor(ledgerShare * left),
    excerptTokens: excerptShare * left,
    detailTokens: detailShare * left,
    caps: { messageTokens: words, totalTokens: words, factor: context.factor, fillsRoom: true },
    summary: null,
  }
}
