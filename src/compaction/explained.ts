// Why lines and pieces stayed at a boundary and others did not: the score of each with what speaks most for it. Made again
// from the transcript by the same weights; nothing of it is kept.
import type { Fold } from '../projection/fold.ts'
import { defaults } from '../settings/defaults.ts'
import { scoreWeights } from '../settings/score-weights.ts'
import { defused } from '../transcript/fence.ts'
import type { SummaryEdit } from '../transcript/fact.ts'
import { callShape, titleOf } from './call-shape.ts'
import { likelyIn, nextOf, type Likely } from './excerpts.ts'
import { usageIn } from './file-work.ts'
import type { PieceContext } from './pieces.ts'
import { chooseLines, nameValuesIn, scored, type Scored } from './scoring/choice.ts'
import type { Line } from './scoring/lines.ts'
import { nameFeatures } from './scoring/names.ts'
import { pieceFeatures } from './scoring/pieces.ts'
import { surveyOf } from './scoring/survey.ts'
import { parseSections, titledLines } from './sections.ts'

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
  readonly because: readonly Reason[]
}

/** A feature with its weight times its value. */
interface Reason {
  readonly feature: string
  readonly weighs: number
}

/** Neighbouring lines of a block that stay, or do not, as one. */
export interface ExplainedPiece {
  /** The first line that says something. */
  readonly begins: string
  /** The file, command or message it stands in. */
  readonly subject: string
  readonly at: number
  /** The first and the last of its lines in the block, counted from 1. */
  readonly lines: readonly [first: number, last: number]
  readonly tokens: number
  /** How likely an edit quotes it before it is shown again, and how many of its names calls are likely to use. */
  readonly quoted: number
  readonly names: number
  /** What it adds for a thousand tokens, were nothing else kept. */
  readonly worth: number
  /** What speaks most for and against its being quoted. */
  readonly because: readonly Reason[]
}

export interface Explained {
  readonly kept: readonly ExplainedLine[]
  /** The best of those that did not stay. */
  readonly left: readonly ExplainedLine[]
  /** The same of pieces. */
  readonly pieces: { readonly kept: readonly ExplainedPiece[]; readonly left: readonly ExplainedPiece[] }
  readonly weights: string
}

/** `fold` is the session as it was before the boundary. */
export function explainBoundary(fold: Fold, edit: SummaryEdit): Explained {
  const parts = [...fold.parts()]
  const all = scored(surveyOf({ fold, parts }), scoreWeights)
  const usage = usageIn({ fold, parts })
  const start = Math.max(
    0,
    parts.findIndex((part) => part.from >= edit.from),
  )
  const after = parts.findIndex((part) => part.from > edit.to)
  const end = after < 0 ? parts.length : after
  const items = parseSections(edit.text)?.details ?? []
  const stayed = new Set(items.flatMap((item) => titledLines(item).lines))
  const isKept = ({ text }: Line): boolean => stayed.has(defused(text.trim()))
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
    pieces: explainedPieces(
      { fold, parts, factor: fold.view().factor, scored: () => all, usage: () => usage },
      { start, end },
      edit,
    ),
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
    because: reasons(nameFeatures, nameValuesIn(survey, best), scoreWeights.name),
  }
}

function explainedPieces(
  context: PieceContext,
  span: { readonly start: number; readonly end: number },
  { keep, text }: SummaryEdit,
): Explained['pieces'] {
  const likely = likelyIn(context, span)
  const stays = ({ piece: { part, source, from, to } }: Likely): boolean =>
    keep.some(
      ({ at, lines = [] }) =>
        at.seq === part.from &&
        (at.block ?? 0) === source &&
        lines.some(([first, end]) => first <= from && end >= to),
    )
  const stayed = likely.filter(stays)
  const left = nextOf(context, span, {
    left: likely.filter((one) => !stays(one)),
    stayed,
    shown: [text],
  })
  const shown = (one: Likely): ExplainedPiece => explainedPiece(context, one)
  return {
    kept: stayed.map(shown).toSorted((a, b) => b.worth - a.worth),
    left: left.slice(0, defaults.score.leftNamed).map(shown),
  }
}

function explainedPiece(
  { scored: all, usage }: PieceContext,
  { piece, values, chance }: Likely,
): ExplainedPiece {
  const { block, part, names, lines, from, to, tokens } = piece
  const { need } = all()
  const { namesWeight, fenceTokens } = defaults.excerpts
  const expected = names.reduce((sum, name) => sum + need[name]!, 0)
  const call = block.type === 'tool_result' ? usage().callOf(block.tool_use_id)?.block : block
  return {
    begins: lines[0] ?? '',
    subject: call?.type === 'tool_use' && 'input' in call ? titleOf(call, callShape(call)) : part.kind,
    at: part.from,
    lines: [from + 1, to],
    tokens: Math.round(tokens),
    quoted: chance,
    names: expected,
    worth: (perThousand * (chance + namesWeight * expected)) / (tokens + fenceTokens),
    because: reasons(pieceFeatures, values, scoreWeights.piece),
  }
}

const perThousand = 1000

/** The features that weigh most, either way; the first is the same for all. */
function reasons(
  features: readonly string[],
  values: readonly number[],
  weights: readonly number[],
): readonly Reason[] {
  return features
    .map((feature, at) => ({ feature, weighs: values[at]! * (weights[at] ?? 0) }))
    .slice(1)
    .filter(({ weighs }) => weighs !== 0)
    .toSorted((a, b) => Math.abs(b.weighs) - Math.abs(a.weighs))
    .slice(0, defaults.score.reasons)
}
