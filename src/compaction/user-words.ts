// The user's own words in a summary (law U1): whole up to the caps, the first goal and the newest before the others;
// beyond that head and tail with the way to the rest; beyond even that, by their place alone. Pins are not handled here:
// the fold shows them whatever an edit says.
import type { Kept } from '../transcript/fact.ts'
import type { Seq } from '../transcript/ids.ts'
import { estimateText } from '../projection/tokens.ts'
import { isOneLine } from '../projection/folding/render.ts'
import type { Part } from '../projection/view.ts'
import { defaults } from '../settings/defaults.ts'

export interface WordCaps {
  readonly messageTokens: number
  readonly totalTokens: number
  /** What an estimate is multiplied by. */
  readonly factor: number
  /** The room is all there is: what whole messages leave of it goes to the ends of the others, however long those are. */
  readonly fillsRoom?: boolean | undefined
}

export interface Keeping {
  /** In the order in which they were said. */
  readonly keep: readonly Kept[]
  readonly whole: number
  readonly shortened: number
  readonly pointed: number
}

/** Law U1 says what must be kept; there may be more room. */
export const wordCaps = (factor: number, more = 0): WordCaps => ({
  messageTokens: defaults.view.userWordsMessageTokens + more,
  totalTokens: defaults.view.userWordsTotalTokens + more,
  factor,
})

/** `words` are the blocks that must not be lost, as `userWords` names them. */
export function keepWords(
  words: readonly Kept[],
  find: (place: Seq) => Part | undefined,
  caps: WordCaps,
  isUnanswered: (place: Seq) => boolean = () => false,
): Keeping {
  const texts = words.map(({ at }) => textAt(find(at.seq), at.block))
  const chosen = new Map<number, Kept>()
  let left = caps.totalTokens
  let shortened = 0
  // What waits for an answer comes first, and the newest of it is never only pointed at.
  const byAge = byWeight(words.length)
  const waits = (index: number): boolean => isUnanswered(words[index]!.at.seq)
  const order = [...byAge.filter(waits), ...byAge.filter((one) => !waits(one))]
  for (const index of order) {
    const most = Math.min(caps.messageTokens, left)
    const cost = costWithin(texts[index]!, aroundWhole(texts[index]!), caps.factor, most)
    if (cost > most) continue
    left -= cost
    chosen.set(index, { at: words[index]!.at })
  }
  const whole = chosen.size
  let leftForEnds = caps.fillsRoom === true ? left : caps.totalTokens * defaults.compaction.endsShare
  const cut = order.filter((index) => !chosen.has(index))
  for (const [done, index] of cut.entries()) {
    const { at } = words[index]!
    const share = caps.fillsRoom === true ? leftForEnds / (cut.length - done) : leftForEnds
    const ends =
      endsWithin(texts[index]!, Math.min(share, caps.messageTokens), caps) ??
      (waits(index) && at.seq === words.at(-1)?.at.seq ? leastEnds(texts[index]!, caps.factor) : null)
    chosen.set(index, { at, head: ends?.chars ?? 0, tail: ends?.chars ?? 0 })
    if (ends === null) continue
    leftForEnds -= ends.cost
    shortened++
  }
  const keep = words.map((_, index) => chosen.get(index)!)
  return { keep, whole, shortened, pointed: words.length - whole - shortened }
}

/** The first goal, then the newest, back to the oldest. */
function byWeight(count: number): number[] {
  if (count === 0) return []
  return [0, ...Array.from({ length: count - 1 }, (_, index) => count - 1 - index)]
}

/** The longest ends of a text that fit; null when none do that are worth showing. */
function endsWithin(
  text: string,
  tokens: number,
  { factor, fillsRoom }: WordCaps,
): { readonly chars: number; readonly cost: number } | null {
  const { leastEndChars, endsShrink } = defaults.compaction
  const longest = fillsRoom === true ? text.length : defaults.view.userWordsEndChars
  const shrink = fillsRoom === true ? endsShrink : 1 / 2
  for (let chars = longest; chars >= leastEndChars; chars *= shrink) {
    const most = Math.floor(chars)
    if (2 * most >= text.length) continue
    const cost = costWithin(`${text.slice(0, most)}${text.slice(-most)}`, endsTokens, factor, tokens)
    if (cost <= tokens) return { chars: most, cost }
  }
  return null
}

function leastEnds(text: string, factor: number): { readonly chars: number; readonly cost: number } {
  const chars = defaults.compaction.leastEndChars
  return { chars, cost: costOf(text.slice(0, 2 * chars), endsTokens, factor) }
}

/** A text with what stands around it. */
const costOf = (text: string, around: number, factor: number): number =>
  Math.ceil(factor * (estimateText(text) + around))
/** A ref before a line among others, a fence, and a fence with the words that name what is left out. */
const aroundWhole = (text: string): number => (isOneLine(text) ? refTokens : fenceTokens)
const refTokens = 10
const fenceTokens = 36
const endsTokens = 60

/**
 * The same, and no more than is needed to see that it is too much: a text takes at least what its beginning takes. As
 * many characters as there may be tokens are the least that can be too much in most scripts.
 */
function costWithin(text: string, around: number, factor: number, most: number): number {
  for (let chars = Math.max(leastChars, Math.ceil(most)); chars < text.length; chars *= 2) {
    const cost = costOf(text.slice(0, chars), around, factor)
    if (cost > most) return cost
  }
  return costOf(text, around, factor)
}
const leastChars = 32

function textAt(part: Part | undefined, block: number | undefined): string {
  const shown = part?.blocks.find((_, index) => block === undefined || part.source[index] === block)
  return shown?.type === 'text' && 'text' in shown ? shown.text : ''
}
