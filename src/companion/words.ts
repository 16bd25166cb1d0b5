// Which of the user's words stand in a block: the newest request, the first task, rules from the newest back, and of the
// others first those that the score of our own compaction values most for their size, then the newest.
import { ruleWord, namesIn, sentencesOf } from '../compaction/phrases.ts'
import { chooseLines, scored } from '../compaction/scoring/choice.ts'
import { wordsIn, type Line } from '../compaction/scoring/lines.ts'
import { newCounts, type NameCounts } from '../compaction/scoring/names.ts'
import { estimateText } from '../projection/tokens.ts'
import { defaults } from '../settings/defaults.ts'
import { scoreWeights } from '../settings/score-weights.ts'
import { fenced } from '../transcript/fence.ts'
import type { BlockItem, TypedWords } from './block-input.ts'
import { quotable, withoutOwnText } from './clean.ts'

const limits = defaults.companion

/** The ledger as it may be quoted: in order, without our own text, secrets, commands of the client and repetitions. */
export function quotedWords(typed: readonly TypedWords[]): readonly TypedWords[] {
  const inOrder = [...typed].sort((a, b) => a.order - b.order)
  const newest = inOrder.slice(-limits.typedMessages)
  const kept = newest[0] === inOrder[0] ? newest : [inOrder[0]!, ...newest]
  const seen = new Set<string>()
  const words: TypedWords[] = []
  // A repetition counts where it was said last, but what was said first stays the first.
  for (const one of kept.toReversed()) {
    const text = quotable(withoutOwnText(one.text)).trim()
    const key = flat(text)
    if (text === '' || isClientCommand(text) || (seen.has(key) && one !== kept[0])) continue
    seen.add(key)
    words.push({ ...one, text })
  }
  return words.toReversed()
}

/** `/compact`, `/clear` and the like: addressed to the program, not to the model. */
const isClientCommand = (text: string): boolean => /^\/[\w:-]+(?:\s|$)/.test(text) && text.length < 200

const flat = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/** Looks for texts in what is in sight, whatever their line breaks. */
export function sightOf(shown: string): (text: string) => boolean {
  const all = flat(shown)
  return (text) => all !== '' && all.includes(flat(text))
}

export interface Quote extends BlockItem {
  readonly order: number
  /** As it stands in the block. */
  readonly written: string
}

/** One message as it can stand: whole, or by its ends where it may be pasted. */
export function quoteOf(kind: Quote['kind'], { order, text }: TypedWords): Quote {
  if (text.length <= limits.pasteChars)
    return { kind, form: 'whole', order, text, written: fenced('typed', { n: order }, text) }
  const { pasteEndChars: ends } = limits
  const head = text.slice(0, ends).toWellFormed()
  const tail = text.slice(-ends).toWellFormed()
  const cut = text.length - 2 * ends
  const said = `${head}\n[${cut} characters left out; the message has ${text.length}]\n${tail}`
  return { kind, form: 'ends', order, text, written: fenced('typed', { n: order }, said) }
}

/** The sentences of a message that are rules. One that may be pasted gives none: what it says need not be the user's. */
export const rulesIn = ({ text }: TypedWords): readonly string[] =>
  text.length > limits.pasteChars
    ? []
    : sentencesOf(text).filter((line) => line.length <= limits.ruleChars && ruleWord.test(line))

export const rulesQuote = (words: TypedWords, rules: readonly string[]): Quote => ({
  kind: 'rules',
  form: 'sentences',
  order: words.order,
  text: rules.join('\n'),
  written: fenced('typed', { n: words.order, part: 'sentences' }, rules.join('\n')),
})

/** The other messages, those first that the score values for their size; `standing` is what stands anyway. */
export function byWorth(
  candidates: readonly TypedWords[],
  {
    words,
    files,
    standing,
  }: {
    readonly words: readonly TypedWords[]
    readonly files: readonly string[]
    readonly standing: readonly string[]
  },
): readonly TypedWords[] {
  if (candidates.length < 2) return candidates
  const survey = surveyOf(candidates, words, files)
  const all = candidates.reduce((sum, { text }) => sum + estimateText(text), 0)
  const { chosen } = chooseLines(
    scored(survey, scoreWeights),
    { start: 0, end: candidates.length },
    2 * all + candidates.length * titleTokens,
    standing,
  )
  const valued = chosen.map(({ index }) => candidates[index]!)
  const rest = new Set(candidates)
  for (const one of valued) rest.delete(one)
  return [...valued, ...[...rest].toReversed()]
}

/** A line is charged for opening its subject; here none needs one. */
const titleTokens = 16

/** What the score sees: each message a line, each name with where it was typed and whether a file at work has it. */
function surveyOf(
  candidates: readonly TypedWords[],
  words: readonly TypedWords[],
  files: readonly string[],
): Parameters<typeof scored>[0] {
  const index = new Map<string, number>()
  const counts: NameCounts[] = []
  const note = (text: string, now: number, kind: 'typed' | 'uses'): readonly number[] => {
    const found = new Set<number>()
    for (const name of namesIn(text)) {
      let at = index.get(name)
      if (at === undefined) {
        at = counts.push({ ...newCounts(now), subject: 0 }) - 1
        index.set(name, at)
      }
      found.add(at)
    }
    for (const at of found) {
      const own = counts[at]!
      own.seen++
      own[kind]++
      own.last = now
      if (kind === 'uses') own.lastUse = now
    }
    return [...found]
  }
  const now = words.length
  const names = new Map(words.map((one, at) => [one, note(one.text, at, 'typed')]))
  for (const path of files) note(path, now, 'uses')
  const lines = candidates.map((one, part): Line => ({
    text: one.text,
    at: one.order,
    part,
    subject: 0,
    role: 'answer',
    age: now - words.indexOf(one),
    isError: false,
    names: names.get(one) ?? [],
    tokens: estimateText(one.text) + 1,
  }))
  const newest = words.slice(-recentMessages).map(({ text }) => text)
  return {
    names: [...index.keys()],
    index,
    counts,
    subjects: [{ title: '', last: now, work: 0 }],
    lines,
    shown: candidates.map(() => new Set<number>()),
    now,
    recent: wordsIn([...newest, ...files].join('\n')),
    asked: wordsIn(words.at(-1)?.text ?? ''),
    met: new Map(),
    read: new Map(),
  }
}

const recentMessages = 3
