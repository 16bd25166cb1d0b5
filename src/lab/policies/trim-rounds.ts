// Trimming of whole rounds from the oldest end: above a size, only the newest rounds stay and a text stands for the
// rest. Every policy that runs out of room ends here, so that a replay can go on.
import { defaults } from '../../settings/defaults.ts'
import { roundsOf, type Span } from '../../projection/turns.ts'
import type { Budget, Layer, Proposal } from '../../projection/layer.ts'
import { estimateText } from '../../projection/tokens.ts'
import type { Part, View } from '../../projection/view.ts'
import type { Edit, Kept, StubEdit } from '../../transcript/fact.ts'
import type { Seq } from '../../transcript/ids.ts'
import { textFor, type TrimText } from './extract.ts'

export interface TrimRule {
  /** Where it begins: tokens, a share of the window, or so many tokens below its end; the engine's threshold else. */
  readonly atTokens?: number | undefined
  readonly atShare?: number | undefined
  readonly belowEnd?: number | undefined
  /** What stays of the newest rounds: tokens, or a share of the view; up to the engine's target else. */
  readonly keepTokens?: number | undefined
  readonly keepShare?: number | undefined
  readonly text: TrimText
  /** The user's words stay word for word, up to the caps of law U1, or are left out but for a marker. */
  readonly userWords: 'keep' | 'lose'
}

export interface Trimmed {
  readonly viewTokens: number
  readonly textTokens: number
}

export const trimRoundsName = 'trim-rounds'

/** One for a session: words of which nothing is shown any more are remembered here, because no view names them. */
export function trimRounds(rule: TrimRule, heard: (trimmed: Trimmed) => void = () => undefined): Layer {
  const past = new Map<string, Word>()
  return {
    name: trimRoundsName,
    decide: (view, budget) => {
      if (view.tokens < triggerOf(rule, budget)) return null
      const parts = [...view.messages].flatMap((message) => message.parts)
      const trimmed = oldest(parts, view, budget, rule)
      if (trimmed.length === 0) return view.tokens > budget.effective ? cutLargest(parts, view, budget) : null
      const isFollowed = parts.slice(trimmed.length).some((part) => part.kind === 'answer')
      const text = textFor(rule.text, { parts: trimmed, budget, factor: view.factor, isFollowed })
      for (const word of trimmed.flatMap(inputsOf)) past.set(`${word.at.seq}.${word.at.block}`, word)
      const keep = wordsOf([...past.values()], rule, view.factor)
      const edit: Edit = {
        kind: 'summary',
        from: trimmed[0]!.from,
        to: trimmed.at(-1)!.to,
        text,
        ref: `${trimmed[0]!.from}-${trimmed.at(-1)!.to}`,
        keep,
      }
      const gone = trimmed.reduce((sum, part) => sum + part.estimate - part.clearedEstimate, 0)
      const freed = Math.round(view.factor * (gone - estimateText(text)))
      if (freed <= 0) return null
      heard({ viewTokens: view.tokens, textTokens: Math.round(view.factor * estimateText(text)) })
      const why = `the view takes ${view.tokens} tokens, so the oldest ${trimmed.length} messages go`
      return { kind: 'edit', edits: [edit], why, tokensFreed: freed }
    },
  }
}

function triggerOf(rule: TrimRule, budget: Budget): number {
  const asked = [
    rule.atTokens,
    rule.atShare === undefined ? undefined : rule.atShare * budget.window,
    rule.belowEnd === undefined ? undefined : budget.window - rule.belowEnd,
  ].filter((tokens) => tokens !== undefined)
  // Above the effective window nothing can be sent, whatever the rule says.
  return Math.min(budget.effective, ...(asked.length === 0 ? [budget.threshold] : asked))
}

/** The parts of the rounds that go; the round at work always stays. */
function oldest(parts: readonly Part[], view: View, budget: Budget, rule: TrimRule): readonly Part[] {
  const rounds = roundsOf(parts)
  const conversation = rounds.reduce((sum, round) => sum + round.estimate, 0)
  const room =
    rule.keepTokens ??
    (rule.keepShare === undefined
      ? budget.target - budget.fixed
      : rule.keepShare * view.factor * conversation)
  let kept = 0
  let first = rounds.length
  while (first > 0) {
    kept += view.factor * rounds[first - 1]!.estimate
    if (kept > room && first < rounds.length) break
    first--
  }
  const gone: readonly Span[] = rounds.slice(0, first)
  const isNew = gone.some((round) => round.parts.some((part) => part.kind !== 'edit'))
  return isNew ? gone.flatMap((round) => round.parts) : []
}

interface Word {
  readonly at: { readonly seq: Seq; readonly block: number }
  readonly text: string
}

/** The user's words of a span, first goal and newest first (law U1); beyond the caps both ends, then nothing. */
function wordsOf(all: readonly Word[], rule: TrimRule, factor: number): readonly Kept[] {
  const { userWordsMessageTokens, userWordsTotalTokens, userWordsEndChars } = defaults.view
  const nothing = { head: 0, tail: 0 }
  if (rule.userWords === 'lose') return all.map(({ at }) => ({ at, ...nothing }))
  let left: number = userWordsTotalTokens
  const chosen = new Map<Word, Kept>()
  for (const word of [...all.slice(0, 1), ...all.slice(1).toReversed()]) {
    const { at, text } = word
    const tokens = factor * estimateText(text)
    if (tokens <= Math.min(left, userWordsMessageTokens)) {
      left -= tokens
      chosen.set(word, { at })
      continue
    }
    const ends = factor * estimateText(text.slice(0, 2 * userWordsEndChars))
    const fits = ends <= left
    chosen.set(word, { at, ...(fits ? { head: userWordsEndChars, tail: userWordsEndChars } : nothing) })
    if (fits) left -= ends
  }
  return all.map((word) => chosen.get(word)!)
}

function inputsOf(part: Part): readonly Word[] {
  if (part.kind !== 'input') return []
  return part.blocks.flatMap((block, index) =>
    block.type === 'text' ? [{ at: { seq: part.from, block: part.source[index]! }, text: block.text }] : [],
  )
}

/** One round alone is too large: its largest results are cut until it fits. */
function cutLargest(parts: readonly Part[], view: View, budget: Budget): Proposal | null {
  const { cutResultChars } = defaults.lab
  const results = parts
    .filter((part) => part.kind === 'result' && part.by === null)
    .toSorted((a, b) => b.estimate - a.estimate)
  const edits: StubEdit[] = []
  let freed = 0
  for (const part of results) {
    if (view.tokens - freed <= budget.threshold) break
    const block = part.blocks[0]
    const words = block !== undefined && 'is_error' in block ? block.content : []
    const whole = words.map((inner) => (inner.type === 'text' ? inner.text : '')).join('\n')
    const text = `${whole.slice(0, cutResultChars).toWellFormed()}\n[cut here]`
    edits.push({
      kind: 'stub',
      at: { seq: part.from, block: part.source[0]! },
      text,
      ref: `${part.from}`,
    })
    freed += view.factor * (part.estimate - estimateText(text))
  }
  const why = `one round alone takes more than the ${budget.effective} tokens that fit`
  return freed <= 0 ? null : { kind: 'edit', edits, why, tokensFreed: Math.round(freed) }
}
