// Why lines stayed at a boundary and others did not: the score of each with what speaks most for it. Made again from the
// transcript by the same weights; nothing of it is kept.
import type { Fold } from '../projection/fold.ts'
import { defaults } from '../settings/defaults.ts'
import { scoreWeights, type ScoreWeights } from '../settings/score-weights.ts'
import type { SummaryEdit } from '../transcript/fact.ts'
import { chooseLines, nameValuesIn, scored, type Scored } from './scoring/choice.ts'
import type { Line } from './scoring/lines.ts'
import { nameFeatures } from './scoring/names.ts'
import { surveyOf } from './scoring/survey.ts'
import { parseSections } from './sections.ts'

export interface ExplainedLine {
  readonly line: string
  /** The file, command or message it stands in. */
  readonly subject: string
  readonly at: number
  /** The name in it that is likeliest to be needed, and how likely; how likely the line then helps. */
  readonly name: string
  readonly need: number
  readonly help: number
  /** What it adds for a thousand tokens, were nothing else kept. */
  readonly worth: number
  /** What speaks most for and against that name, with its weight times its value. */
  readonly because: readonly { readonly feature: string; readonly weighs: number }[]
}

export interface Explained {
  readonly kept: readonly ExplainedLine[]
  /** The best of those that did not stay. */
  readonly left: readonly ExplainedLine[]
  readonly weights: string
}

/** `fold` is the session as it was before the boundary. */
export function explainBoundary(fold: Fold, edit: SummaryEdit): Explained {
  const parts = [...fold.parts()]
  const all = scored(surveyOf({ fold, parts }), scoreWeights)
  const start = Math.max(
    0,
    parts.findIndex((part) => part.from >= edit.from),
  )
  const after = parts.findIndex((part) => part.from > edit.to)
  const end = after < 0 ? parts.length : after
  const items = parseSections(edit.text)?.details ?? []
  const stayed = new Set(items.flatMap((item) => item.split('\n').slice(1)))
  const isKept = ({ text }: Line): boolean => stayed.has(text.trim())
  const inSpan = all.survey.lines
    .map((line, index) => ({ line, index }))
    .filter(({ line }) => line.part >= start && line.part < end)
  const newest = new Map(inSpan.filter(({ line }) => isKept(line)).map((one) => [one.line.text.trim(), one]))
  // What would have come next, had there been more room.
  const next = chooseLines(all, { start, end }, defaults.score.whyTokens, [edit.text])
  return {
    kept: [...newest.values()]
      .map(({ line, index }) => explained(all, line, index))
      .toSorted((a, b) => b.worth - a.worth),
    left: next.chosen
      .filter(({ line }) => !isKept(line))
      .slice(0, defaults.score.leftNamed)
      .map(({ line, index }) => explained(all, line, index)),
    weights: scoreWeights.origin,
  }
}

function explained({ survey, need, help }: Scored, line: Line, index: number): ExplainedLine {
  const best = line.names.reduce((one, other) => (need[other]! > need[one]! ? other : one), line.names[0]!)
  const whole = line.names.reduce((sum, name) => sum + need[name]!, 0)
  return {
    line: line.text.trim(),
    subject: survey.subjects[line.subject]?.title ?? '',
    at: line.at,
    name: survey.names[best]!,
    need: need[best]!,
    help: help(index),
    worth: (perThousand * whole * help(index)) / line.tokens,
    because: reasons(nameValuesIn(survey, best), scoreWeights),
  }
}

const perThousand = 1000

/** The features that weigh most, either way; the first is the same for all. */
function reasons(values: readonly number[], { name }: ScoreWeights): ExplainedLine['because'] {
  return nameFeatures
    .map((feature, at) => ({ feature, weighs: values[at]! * (name[at] ?? 0) }))
    .slice(1)
    .toSorted((a, b) => Math.abs(b.weighs) - Math.abs(a.weighs))
    .slice(0, defaults.score.reasons)
}
