// Trimming of whole rounds from the oldest end: above a size, only the newest rounds stay and a text stands for the
// rest. Every policy that runs out of room ends here, so that a replay can go on.
import { defaults } from '../../settings/defaults.ts'
import { roundsOf, type Span } from '../../projection/turns.ts'
import type { Budget, Layer, Proposal } from '../../projection/layer.ts'
import { estimateText } from '../../projection/tokens.ts'
import type { Part, View } from '../../projection/view.ts'
import type { Edit, Kept, StubEdit } from '../../transcript/fact.ts'
import type { Seq } from '../../transcript/ids.ts'
import { partsOf, readsIn, resultText, stubOf } from './plain-rules.ts'
import type { TrimRule } from './rules.ts'
import { extract } from '../../compaction/extract.ts'
import { fitSections, leftOut, renderSections } from '../../compaction/sections.ts'
import { summaryText } from '../../compaction/summary.ts'
import { atomsOf } from '../measuring/atoms.ts'
import { textOf } from '../measuring/texts.ts'

export interface Trimmed {
  readonly viewTokens: number
  readonly textTokens: number
}

const trimRoundsName = 'trim-rounds'

/** One for a session: words of which nothing is shown any more are remembered here, because no view names them. */
export function trimRounds(rule: TrimRule, heard: (trimmed: Trimmed) => void = () => undefined): Layer {
  const past = new Map<string, Word>()
  return {
    name: trimRoundsName,
    decide: (view, budget) => {
      if (view.tokens < triggerOf(rule, budget)) return null
      const parts = partsOf(view)
      const asked = attempt(parts, view, budget, rule, past)
      // Where what the rule keeps does not fit, only the round at work stays. Sizes are estimates, hence the threshold.
      const isEnough = asked === null || view.tokens - asked.freed <= budget.threshold
      const made = isEnough ? asked : attempt(parts, view, budget, { ...rule, keepTokens: 0 }, past)
      if (made === null) return cutProposal(parts, view, budget)
      for (const word of made.words) past.set(keyOf(word), word)
      heard({ viewTokens: view.tokens, textTokens: made.textTokens })
      const why = `the view takes ${view.tokens} tokens, so the oldest ${made.count} messages go`
      return { kind: 'edit', edits: made.edits, why, tokensFreed: made.freed }
    },
  }
}

interface Attempt {
  readonly edits: readonly Edit[]
  readonly freed: number
  readonly textTokens: number
  readonly words: readonly Word[]
  readonly count: number
}

/** Null where nothing can go, or nothing would be won. */
function attempt(
  parts: readonly Part[],
  view: View,
  budget: Budget,
  rule: TrimRule,
  past: ReadonlyMap<string, Word>,
): Attempt | null {
  const trimmed = oldest(parts, view, budget, rule)
  const last = trimmed.at(-1)
  if (last === undefined) return null
  const rest = parts.slice(trimmed.length)
  const isFollowed = rest.some((part) => part.kind === 'answer')
  const span = { parts: trimmed, budget, factor: view.factor, isFollowed }
  const text = textFor(rule.text, span) + restored(span, rule.restore)
  const found = new Map([...past, ...trimmed.flatMap(inputsOf).map((word) => [keyOf(word), word] as const)])
  const words = [...found.values()].filter(({ at }) => at.seq <= last.to)
  const { keep, estimate } = wordsOf(words, rule, view.factor)
  const gone = trimmed.reduce((sum, part) => sum + part.estimate - part.clearedEstimate, 0)
  const freed = Math.round(view.factor * (gone - estimateText(text) - estimate))
  if (freed <= 0) return null
  const cut = cutLargest(rest, view.tokens - freed, view.factor, budget)
  return {
    edits: [summaryOf(trimmed, text, keep), ...cut.edits],
    freed: freed + cut.freed,
    textTokens: Math.round(view.factor * estimateText(text)),
    words,
    count: trimmed.length,
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
    (rule.keepWindowShare === undefined ? undefined : rule.keepWindowShare * budget.window) ??
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

interface KeptWords {
  readonly keep: readonly Kept[]
  readonly estimate: number
}

/** The user's words of a span, first goal and newest first (law U1); beyond the caps both ends, then nothing. */
function wordsOf(all: readonly Word[], rule: TrimRule, factor: number): KeptWords {
  const { userWordsMessageTokens, userWordsTotalTokens, userWordsEndChars: end } = defaults.view
  const nothing = { head: 0, tail: 0 }
  if (rule.userWords === 'lose') return { keep: all.map(({ at }) => ({ at, ...nothing })), estimate: 0 }
  let left = userWordsTotalTokens / factor
  const chosen = new Map<Word, Kept>()
  for (const word of [...all.slice(0, 1), ...all.slice(1).toReversed()]) {
    const { at, text } = word
    const whole = estimateText(text)
    const isWhole = whole <= Math.min(left, userWordsMessageTokens / factor)
    const cost = isWhole ? whole : estimateText(text.slice(0, 2 * end))
    const ends = cost <= left ? { head: end, tail: end } : nothing
    chosen.set(word, isWhole ? { at } : { at, ...ends })
    if (cost <= left) left -= cost
  }
  return { keep: all.map((word) => chosen.get(word)!), estimate: userWordsTotalTokens / factor - left }
}

const keyOf = ({ at }: Word): string => `${at.seq}.${at.block}`

function inputsOf(part: Part): readonly Word[] {
  if (part.kind !== 'input') return []
  return part.blocks.flatMap((block, index) =>
    block.type === 'text' ? [{ at: { seq: part.from, block: part.source[index]! }, text: block.text }] : [],
  )
}

function summaryOf(trimmed: readonly Part[], text: string, keep: readonly Kept[]): Edit {
  const [from, to] = [trimmed[0]!.from, trimmed.at(-1)!.to]
  return { kind: 'summary', from, to, text, ref: `${from}-${to}`, keep }
}

interface Cut {
  readonly edits: readonly StubEdit[]
  readonly freed: number
}

/** What stays is too large by itself: its largest results are cut until it fits. */
function cutLargest(parts: readonly Part[], tokens: number, factor: number, budget: Budget): Cut {
  const edits: StubEdit[] = []
  let freed = 0
  if (tokens <= budget.threshold) return { edits, freed }
  const results = parts
    .filter((part) => part.kind === 'result' && part.by === null)
    .toSorted((a, b) => b.estimate - a.estimate)
  for (const part of results) {
    if (tokens - freed <= budget.threshold) break
    const text = `${resultText(part).slice(0, defaults.lab.cutResultChars).toWellFormed()}\n[cut here]`
    const saved = factor * (part.estimate - estimateText(text))
    if (saved <= 0) break
    edits.push(stubOf(part, text))
    freed += Math.round(saved)
  }
  return { edits, freed }
}

function cutProposal(parts: readonly Part[], view: View, budget: Budget): Proposal | null {
  const { edits, freed } = cutLargest(parts, view.tokens, view.factor, budget)
  const why = `what cannot be trimmed takes more than the ${budget.effective} tokens that fit`
  return edits.length === 0 ? null : { kind: 'edit', edits, why, tokensFreed: freed }
}

// What stands for a trimmed span: the extract that our own compaction makes without a model, the same for every policy,
// so that policies are compared and not those who summarise; or a bag of words; or a mere line.

interface TrimSpan {
  readonly parts: readonly Part[]
  readonly budget: Budget
  readonly factor: number
  /** Answers of the model stay behind it. */
  readonly isFollowed: boolean
}

function textFor(kind: TrimRule['text'], span: TrimSpan): string {
  if (kind === 'none') return '[Earlier rounds were cut off here.]'
  return kind === 'bag' ? bagOf(span.parts) : extractOf(span)
}

function extractOf({ parts, budget, factor, isFollowed }: TrimSpan): string {
  const { textShare, textTokens, taskTokens } = defaults.compaction
  const all = extract(parts, { isFollowed })
  const tokens = Math.min(textTokens, textShare * budget.room)
  const fitted = fitSections(all, tokens, { factor, focus: [], taskTokens })
  return summaryText({
    span: { from: parts[0]!.from, to: parts.at(-1)!.to },
    summary: null,
    by: 'model',
    sections: renderSections(fitted, leftOut(all, fitted)),
    words: { whole: 0, shortened: 0, pointed: 0 },
    isUnanswered: false,
    isAutomatic: true,
    isLast: true,
    canExpand: false,
    hasExcerpts: false,
  })
}

/** The files of a span that were read last, each once and cut to size, as they were when they were read. */
function restored({ parts, factor }: TrimSpan, rule: TrimRule['restore']): string {
  if (rule === undefined) return ''
  const newest = new Map<string, string>()
  for (const { part, path } of readsIn(parts).toReversed()) {
    if (newest.size >= rule.files) break
    if (part.by === null && !newest.has(path)) newest.set(path, resultText(part))
  }
  return [...newest]
    .map(([path, text]) => {
      const tokens = factor * estimateText(text)
      const share = tokens <= rule.tokensEach ? 1 : rule.tokensEach / tokens
      return `\n\n${path}:\n${text.slice(0, Math.floor(share * text.length)).toWellFormed()}`
    })
    .join('')
}

/** Every atom of the span and nothing of what it meant: the policy that a measure must not fall for. */
function bagOf(parts: readonly Part[]): string {
  const counts = new Map<string, number>()
  for (const part of parts) {
    for (const block of part.blocks)
      for (const atom of atomsOf(textOf({ ...block }))) counts.set(atom, (counts.get(atom) ?? 0) + 1)
  }
  const lines: string[] = ['[Words that occurred earlier:]']
  let left: number = defaults.lab.bagChars
  for (const [atom] of [...counts].sort((a, b) => b[1] - a[1])) {
    left -= atom.length + 1
    if (left < 0) break
    lines.push(atom)
  }
  return lines.join('\n')
}
