// What stands for one archived span: a model's account or lines taken from its own words, what the audit found missing,
// and the user's words whole. Only its own range is touched; everything around it stays byte for byte.
import { redact } from '../../disk/redact.ts'
import type { Range, SummaryEdit } from '../../transcript/fact.ts'
import { seq } from '../../transcript/ids.ts'
import type { Fold } from '../../projection/fold.ts'
import { rangePart } from '../../projection/folding/render.ts'
import { userWords } from '../../projection/refusal.ts'
import { estimateText } from '../../projection/tokens.ts'
import type { Part } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import { inventoryOf, ledgerOf, missingFrom } from '../audit.ts'
import { sectionsOf } from '../extract.ts'
import { keepWords, wordCaps } from '../keeping.ts'
import { readSpan, shownText } from '../reading.ts'
import { fitSections, leftOut, noSections, renderSections, sectionNames, type Sections } from '../sections.ts'
import { summaryText } from '../summary.ts'

export interface SpanText {
  readonly edit: SummaryEdit
  readonly tokensFreed: number
}

/** Null where nothing would be won. */
export function spanText(fold: Fold, span: Range, account: string | null): SpanText | null {
  const { factor, tools } = fold.view()
  const parts = partsIn(fold, span)
  if (parts.length === 0) return null
  const { textShare, textTokens, ledgerTokens } = defaults.collapse
  const estimate = parts.reduce((sum, part) => sum + part.estimate - part.clearedEstimate, 0)
  const reading = readSpan(parts)
  const all = account === null ? sectionsOf(reading, { isFollowed: true }) : noSections
  const tokens = Math.min(textTokens, textShare * factor * estimate)
  const fitted = fitSections(all, tokens, { factor, focus: [] })
  const words = keepWords(userWords(fold, span), (place) => fold.units.find(place), wordCaps(factor))
  const written = (sections: Sections): SummaryEdit => ({
    kind: 'summary',
    from: span.from,
    to: span.to,
    text: summaryText({
      span,
      account: account === null ? null : redact(account).text,
      by: 'model',
      sections: redact(renderSections(sections, leftOut(all, fitted))).text,
      words,
      isUnanswered: false,
      isAutomatic: true,
      isLast: false,
      canExpand: tools.some((tool) => tool.name === 'Expand'),
    }),
    ref: `${span.from}-${span.to}`,
    keep: words.keep,
  })
  const inventory = inventoryOf(reading)
  const shown = shownText(partFor(fold, parts, written(fitted)))
  const ledger = ledgerOf(missingFrom(inventory, shown), ledgerTokens, factor)
  const edit = written(added(fitted, ledger))
  const freed = Math.round(factor * (estimate - partFor(fold, parts, edit).estimate))
  return freed <= 0 ? null : { edit, tokensFreed: freed }
}

/** The parts a span covers, as they stand in the view. */
export const partsIn = (fold: Fold, { from, to }: Range): readonly Part[] =>
  [...fold.parts()].filter((part) => part.from >= from && part.to <= to)

/** As the fold will show it. */
function partFor(fold: Fold, parts: readonly Part[], edit: SummaryEdit): Part {
  const place = seq(fold.numbers.upTo + 1)
  const live = { seq: place, uuid: parts[0]!.uuid, at: 0, layer: '', asked: 'automatic', edit } as const
  return rangePart(live, fold.edits.pins, (at) => fold.units.find(at))!
}

const added = (sections: Sections, more: Sections): Sections =>
  Object.fromEntries(
    sectionNames.map((name) => [name, [...new Set([...sections[name], ...more[name]])]]),
  ) as Record<keyof Sections, string[]>

/** What an account may take, in estimated tokens of it. */
export const isShort = (account: string, factor: number): boolean =>
  factor * estimateText(account) <= defaults.collapse.accountTokens
