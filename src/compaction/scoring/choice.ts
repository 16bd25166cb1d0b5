// Which lines stay: greedy for what each adds for its size. A name counts once, by the line that tells most of it; what is
// in sight anyway adds nothing. The chance that a name is needed and the chance that a line then helps are both learned.
// The title of what a line belongs to is shown once for all lines under it, so the first is not weighed with all of it, and the
// names in it are told with that line.
import { estimateText } from '../../projection/tokens.ts'
import { defaults } from '../../settings/defaults.ts'
import type { ScoreWeights } from '../../settings/score-weights.ts'
import { namesIn } from '../phrases.ts'
import { canLead, titledItem } from '../sections.ts'
import { isNumberAlone, lineValues, wordsIn, type Line } from './lines.ts'
import { nameValues } from './names.ts'
import type { Survey } from './survey.ts'

/** The chance that a sum of weighed features stands for. */
export function chanceOf(values: readonly number[], weights: readonly number[]): number {
  let sum = 0
  for (let index = 0; index < values.length; index++) sum += values[index]! * (weights[index] ?? 0)
  return 1 / (1 + Math.exp(-sum))
}

/** The features of a name. */
export function nameValuesIn({ names, counts, now, subjects }: Survey, index: number): readonly number[] {
  const own = counts[index]!
  const subject = subjects[own.subject]
  const context = { now, subjectAge: now - (subject?.last ?? own.last), subjectWork: subject?.work ?? 0 }
  return nameValues(names[index]!, own, context)
}

/** For each name the chance that a later call uses it before it is seen again. */
export const needOf = (survey: Survey, weights: ScoreWeights): Float64Array =>
  Float64Array.from(survey.names, (_, index) => chanceOf(nameValuesIn(survey, index), weights.name))

/** For a line the chance that it helps, given that a name in it is needed; each is looked at once, when it is asked for. */
export function helpOf(survey: Survey, weights: ScoreWeights): (index: number) => number {
  const known = new Float64Array(survey.lines.length).fill(-1)
  const shared = survey.subjects.map(
    ({ title }) => [...wordsIn(title)].filter((word) => survey.recent.has(word)).length,
  )
  return (index) => {
    if (known[index]! < 0) {
      const line = survey.lines[index]!
      known[index] = chanceOf(lineValuesIn(survey, line, shared[line.subject] ?? 0), weights.line)
    }
    return known[index]!
  }
}

export const lineValuesIn = (
  { recent, asked, now, subjects }: Survey,
  line: Line,
  titleShared: number,
): readonly number[] =>
  lineValues(line, { recent, asked, titleShared, subjectAge: now - (subjects[line.subject]?.last ?? now) })

export interface Chosen {
  readonly line: Line
  /** Its place among the lines of the survey. */
  readonly index: number
  /** What it added for each token when it was taken. */
  readonly worth: number
}

export interface Choice {
  readonly chosen: readonly Chosen[]
  /** The best of those that were left, with what they would have added. */
  readonly left: readonly Chosen[]
}

/** A survey with what the weights make of it: the same for every span. */
export interface Scored {
  readonly survey: Survey
  readonly weights: ScoreWeights
  readonly need: Float64Array
  readonly help: (index: number) => number
  readonly title: (subject: number) => Title
}

/** What the title of a subject takes, with its mark and its refs, and the names in it. */
interface Title {
  readonly tokens: number
  readonly names: readonly number[]
}

export const scored = (survey: Survey, weights: ScoreWeights): Scored => ({
  survey,
  weights,
  need: needOf(survey, weights),
  help: helpOf(survey, weights),
  title: titlesOf(survey),
})

/** Each is looked at once, when it is asked for. */
function titlesOf({ subjects, index }: Survey): (subject: number) => Title {
  const known: Title[] = []
  return (subject) => {
    const { title } = subjects[subject]!
    return (known[subject] ??= {
      tokens: estimateText(title) + titleExtra,
      names: [...new Set([...namesIn(title)].flatMap((name) => index.get(name) ?? []))],
    })
  }
}

/** Lines of the parts from `start` to before `end` within so many tokens. `texts` are what stands beside them in any case. */
export function chooseLines(
  { survey, need, help, title }: Scored,
  { start, end }: { readonly start: number; readonly end: number },
  tokens: number,
  texts: readonly string[] = [],
): Choice {
  const { titleWeight, titleHelps } = defaults.score
  const best = new Float64Array(need.length)
  for (const [part, names] of survey.shown.entries())
    if (part < start || part >= end) for (const name of names) best[name] = 1
  for (const text of texts)
    for (const name of namesIn(text)) {
      const index = survey.index.get(name)
      if (index !== undefined) best[index] = 1
    }
  const opened = new Set<number>()
  const costOf = ({ tokens: own, subject }: Line): number =>
    own + (opened.has(subject) ? 0 : title(subject).tokens)
  const gainOf = (names: readonly number[], helps: number): number => {
    let gain = 0
    for (const name of names) if (helps > best[name]!) gain += need[name]! * (helps - best[name]!)
    return gain
  }
  /** For each token, where it helps so much. */
  const worthOf = ({ names, subject, tokens: own }: Line, helps: number): number => {
    if (opened.has(subject)) return gainOf(names, helps) / own
    const above = title(subject)
    const others = above.names.filter((name) => !names.includes(name))
    return (gainOf(names, helps) + gainOf(others, titleHelps * helps)) / (own + titleWeight * above.tokens)
  }
  /** What was searched for stands in the title of the search, and again in the line of its own that it was given in. */
  const isInTitle = ({ text, names, subject }: Line): boolean =>
    survey.subjects[subject]!.title.includes(text.trim()) &&
    names.every((name) => title(subject).names.includes(name))
  const heap = new Heap()
  for (const [index, line] of survey.lines.entries()) {
    if (line.part < start || line.part >= end || isNumberAlone(line.text) || isInTitle(line)) continue
    // No line helps more than surely: what it truly adds is asked when its turn comes.
    const most = worthOf(line, 1)
    if (most > 0) heap.push(index, most)
  }
  const chosen: Chosen[] = []
  const left: Chosen[] = []
  let room = tokens
  while (heap.size > 0 && left.length < defaults.score.leftNamed) {
    const [index, known] = heap.pop()
    const line = survey.lines[index]!
    const worth = worthOf(line, help(index))
    if (worth <= defaults.score.leastWorth) continue
    // What was taken since makes others worth less, and an opened subject makes its lines cheaper.
    if (worth < known * stale && heap.size > 0 && worth < heap.top()) {
      heap.push(index, worth)
      continue
    }
    const cost = costOf(line)
    if (cost > room) {
      left.push({ line, index, worth })
      continue
    }
    room -= cost
    chosen.push({ line, index, worth })
    for (const name of line.names) best[name] = Math.max(best[name]!, help(index))
    if (opened.has(line.subject)) continue
    opened.add(line.subject)
    for (const name of title(line.subject).names) best[name] = Math.max(best[name]!, titleHelps * help(index))
  }
  return { chosen, left }
}

const stale = 0.999
/** What stands around a title: its mark and its refs. */
const titleExtra = 8

/** The best first; of equals the one that came later, which is the newer. */
class Heap {
  readonly #items: { readonly index: number; readonly worth: number }[] = []

  get size(): number {
    return this.#items.length
  }

  top(): number {
    return this.#items[0]?.worth ?? 0
  }

  push(index: number, worth: number): void {
    const items = this.#items
    let at = items.push({ index, worth }) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(items[at]!, items[parent]!)) break
      ;[items[at], items[parent]] = [items[parent]!, items[at]!]
      at = parent
    }
  }

  pop(): readonly [index: number, worth: number] {
    const items = this.#items
    const first = items[0]!
    const last = items.pop()!
    if (items.length > 0) {
      items[0] = last
      let at = 0
      for (;;) {
        const left = 2 * at + 1
        if (left >= items.length) break
        const child = left + 1 < items.length && isBefore(items[left + 1]!, items[left]!) ? left + 1 : left
        if (!isBefore(items[child]!, items[at]!)) break
        ;[items[at], items[child]] = [items[child]!, items[at]!]
        at = child
      }
    }
    return [first.index, first.worth]
  }
}

const isBefore = (
  a: { readonly index: number; readonly worth: number },
  b: { readonly index: number; readonly worth: number },
): boolean => a.worth > b.worth || (a.worth === b.worth && a.index > b.index)

export interface Grouped {
  /** Items of a section. */
  readonly items: readonly string[]
  /** The lines in them, titles apart, in their order. */
  readonly lines: readonly Line[]
}

/**
 * Chosen lines under what they belong to, subjects by their oldest line, lines in their order. The one that was worth most leads:
 * it stands behind the title, so that this says at once what is in it, where that takes nothing from the line.
 */
export function groupedLines(survey: Survey, { chosen }: Choice): Grouped {
  const groups = new Map<number, Line[]>()
  for (const { line } of chosen.toSorted((a, b) => a.index - b.index)) {
    const own = groups.get(line.subject)
    if (own === undefined) groups.set(line.subject, [line])
    else own.push(line)
  }
  const turns = new Map(chosen.map(({ line }, turn) => [line, turn]))
  const shown: Line[] = []
  const items = [...groups].map(([subject, lines]) => {
    const refs = [...new Set(lines.map(({ at }) => at))].slice(-defaults.score.refs)
    const { title } = survey.subjects[subject]!
    const texts = new Map(lines.map((line) => [line.text.trim(), line]))
    const lead = [...texts]
      .toSorted(([, a], [, b]) => turns.get(a)! - turns.get(b)!)
      .find(([text]) => saysAtOnce(title, refs, text))?.[0]
    const others = [...texts.keys()].filter((text) => text !== lead)
    const inOrder = lead === undefined ? others : [lead, ...others]
    shown.push(...inOrder.map((text) => texts.get(text)!))
    return titledItem(title, refs, lead, others)
  })
  return { items, lines: shown }
}

/** A name that stands alone in its line is found where it stands alone: such a line stays one of its own. */
function saysAtOnce(title: string, refs: readonly number[], text: string): boolean {
  if (title.length + text.length > defaults.score.lineChars) return false
  return [...namesIn(text)].every((name) => hasWordsAround(name, text)) && canLead(title, refs, text)
}

const wordRun = /[\p{L}\p{N}_@~./-]+/gu
const hasWordsAround = (name: string, text: string): boolean =>
  wordsIn(text.replaceAll(wordRun, (word) => (word.includes(name) ? ' ' : word))).size > 0
