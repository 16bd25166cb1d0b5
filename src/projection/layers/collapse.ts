// Collapse: spans of early work that may be archived behind a short text. Here they are found and scored, and
// the layer says when to look; who writes the texts and when they count is decided above. Pure.
import { defaults } from '../../settings/defaults.ts'
import type { Range } from '../../transcript/fact.ts'
import { cutPlaces } from '../cuts.ts'
import type { Layer } from '../layer.ts'
import { roundsOf } from '../turns.ts'
import type { Part, View } from '../view.ts'

export const collapseName = 'collapse'

/** Speaks from the first share of the threshold on. It is heard before autocompact, which so runs only if it did not do. */
export function collapse(): Layer {
  return {
    name: collapseName,
    decide: (view, budget) => {
      const first = view.messages.at(0)
      const last = view.messages.last()
      if (first === undefined || last === undefined) return null
      if (view.tokens < defaults.collapse.stageShare * budget.threshold) return null
      return { kind: 'ask', span: { from: first.from, to: last.to }, want: 'summary', when: 'ahead' }
    },
  }
}

export interface CollapseSpan extends Range {
  /** Calibrated size. */
  readonly tokens: number
  /** By size, age and how much of it later work refers to; the highest goes first. */
  readonly score: number
}

/** The spans that may be archived, in their order: whole rounds before the newest turns, each large enough. */
export function collapsible(view: View): readonly CollapseSpan[] {
  const parts = [...view.messages].flatMap((message) => message.parts)
  const cuts = cutPlaces(parts)
  const end = startOfKept(parts)
  const groups = groupsOf(view, parts, cuts, end)
  return groups.map(({ start, stop, tokens }) => ({
    from: parts[start]!.from,
    to: parts[stop - 1]!.to,
    tokens: Math.round(tokens),
    score: scoreOf(parts, start, stop, tokens),
  }))
}

/** Where the turns that stay begin. */
function startOfKept(parts: readonly Part[]): number {
  let turns = 0
  for (let index = parts.length - 1; index >= 0; index--)
    if (parts[index]!.kind === 'input' && ++turns === defaults.collapse.turnsKept) return index
  return 0
}

interface Group {
  readonly start: number
  readonly stop: number
  readonly tokens: number
}

function groupsOf(
  view: View,
  parts: readonly Part[],
  cuts: readonly boolean[],
  end: number,
): readonly Group[] {
  const { leastTokens, spanTokens } = defaults.collapse
  const groups: Group[] = []
  let start = 0
  let index = 0
  let tokens = 0
  const close = (next: number): void => {
    if (tokens >= leastTokens && cuts[start]! && cuts[index]!) groups.push({ start, stop: index, tokens })
    start = next
    tokens = 0
  }
  for (const round of roundsOf(parts)) {
    const first = index
    const stop = first + round.parts.length
    if (stop > end) break
    if (round.parts.some((part) => isFixed(view, part))) {
      close(stop)
      index = stop
      start = stop
      continue
    }
    // A new turn is a better place to part than the middle of one.
    if (round.parts[0]!.kind === 'input' && tokens >= leastTokens) close(first)
    index = stop
    tokens += view.factor * round.estimate
    if (tokens >= spanTokens) close(stop)
  }
  close(index)
  return groups
}

/** Already an edit's, or given back by an undo. */
const isFixed = ({ held }: View, part: Part): boolean =>
  part.kind === 'edit' || held.some((range) => part.from <= range.to && part.to >= range.from)

function scoreOf(parts: readonly Part[], start: number, stop: number, tokens: number): number {
  const { ageWeight, referenceWeight } = defaults.collapse
  const age = 1 - stop / Math.max(1, parts.length)
  const referred = referredShare(parts.slice(start, stop), parts.slice(stop))
  return (tokens * (1 + ageWeight * age)) / (1 + referenceWeight * referred)
}

/** The share of the names a span works with that later words and calls still use. */
function referredShare(span: readonly Part[], later: readonly Part[]): number {
  const names = new Set<string>()
  for (const part of span)
    for (const name of namesIn(part)) {
      names.add(name)
      if (names.size >= defaults.collapse.names) break
    }
  if (names.size === 0) return 0
  const used = new Set<string>()
  for (const part of later) for (const name of namesIn(part)) if (names.has(name)) used.add(name)
  return used.size / names.size
}

/** Paths and identifiers in what was said and asked for; what results say is not looked at. */
function* namesIn(part: Part): Generator<string> {
  if (part.kind === 'result') return
  for (const block of part.blocks) {
    if (block.type === 'text' && 'text' in block) yield* namesOf(block.text)
    if (block.type === 'tool_use' && 'name' in block)
      for (const value of Object.values(block.input)) if (typeof value === 'string') yield* namesOf(value)
  }
}

const name = /[\w$]*[\w$](?:[./_-]\w+)+|[a-z]+[A-Z]\w+/g
const lookChars = 4000

function* namesOf(text: string): Generator<string> {
  for (const [found] of text.slice(0, lookChars).matchAll(name)) yield found
}
