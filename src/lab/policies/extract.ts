// What stands for a trimmed span: the extract that our own compaction makes without a model, the same for every policy,
// so that policies are compared and not those who summarise; or a bag of words; or a mere line.
import { extract } from '../../compaction/extract.ts'
import { fitSections, leftOut, renderSections } from '../../compaction/sections.ts'
import { summaryText } from '../../compaction/summary.ts'
import type { Budget } from '../../projection/layer.ts'
import type { Part } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import { atomsOf } from '../measuring/atoms.ts'
import { textOf } from '../measuring/texts.ts'
import { estimateText } from '../../projection/tokens.ts'
import { readsIn, resultText } from './parts.ts'

export type TrimText = 'extract' | 'bag' | 'none'

export interface TrimSpan {
  readonly parts: readonly Part[]
  readonly budget: Budget
  readonly factor: number
  /** Answers of the model stay behind it. */
  readonly isFollowed: boolean
}

export function textFor(kind: TrimText, span: TrimSpan): string {
  if (kind === 'none') return '[Earlier rounds were cut off here.]'
  return kind === 'bag' ? bagOf(span.parts) : extractOf(span)
}

function extractOf({ parts, budget, factor, isFollowed }: TrimSpan): string {
  const { textShare, textTokens } = defaults.compaction
  const all = extract(parts, { isFollowed })
  const tokens = Math.min(textTokens, textShare * budget.room)
  const fitted = fitSections(all, tokens, { factor, focus: [] })
  return summaryText({
    span: { from: parts[0]!.from, to: parts.at(-1)!.to },
    account: null,
    by: 'model',
    sections: renderSections(fitted, leftOut(all, fitted)),
    words: { whole: 0, shortened: 0, pointed: 0 },
    isUnanswered: false,
    isAutomatic: true,
    isLast: true,
    canExpand: false,
  })
}

/** The files of a span that were read last, each once and cut to size, as they were when they were read. */
export function restored(
  { parts, factor }: TrimSpan,
  rule: { readonly files: number; readonly tokensEach: number } | undefined,
): string {
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
