// What a sentence says, as far as words show it: what it speaks of, what of that is denied, what limits or orders it, who is
// said to have said it. Two texts say the same where all of that agrees, in both directions: nothing is added and nothing
// that limits is lost. Words may differ where they are known to say the same (`lexicon`). It is wrong in one direction: what
// it cannot show stays an observation. Pure.
import { cjk, tokensOf, type Token } from './words.ts'

interface Word {
  /** What it speaks of; words that say the same have the same. */
  readonly says: string
  /** `denied`: first behind a negation. `shadow`: further behind it, where the denial may or may not reach. */
  readonly polarity: 'plain' | 'denied' | 'shadow'
  /** In an order of two steps: the one that comes first, or the other. */
  readonly step: 'first' | 'later' | null
  /** A name, number or foreign word: who and what may not change places. */
  readonly isName: boolean
  /** Which part of the text it stands in: clauses, and what "and" joins. */
  readonly part: number
}

interface Meaning {
  readonly words: readonly Word[]
  /** Only, except, some, at most … : each once. */
  readonly flags: ReadonlySet<string>
  readonly denials: number
}

/** Whether a text, a sentence or two, says what some of the typed sentences say, and nothing else. */
export function saysTheSame(saved: string, typed: readonly string[]): boolean {
  const wanted = meaningOf(saved)
  if (wanted.words.length === 0) return false
  return [...carriersOf(typed)].some((carrier) => agrees(meaningOf(carrier), wanted))
}

/** Each typed sentence, and two that follow each other: a memory may join them. A reason behind it may be left out. */
function* carriersOf(typed: readonly string[]): Generator<string> {
  const parts = typed.flatMap(partsIn)
  for (const [at, sentence] of parts.entries()) {
    yield sentence
    const bare = withoutInsertions(sentence)
    if (bare !== sentence) yield bare
    const next = parts[at + 1]
    if (next !== undefined) yield `${sentence}. ${next}`
  }
}

/** Without "Remember this:"; what semicolons part is apart where no head line binds it together. */
function partsIn(sentence: string): readonly string[] {
  const bare = sentence.replace(opening, '')
  return /[:：]/u.test(bare) ? [bare] : bare.split(/[;；]/u).filter((part) => part.trim() !== '')
}
const opening =
  /^(?:please |bitte )?(?:note|remember|write|keep|merke?|notier|retiens|note[rz]?|recuerda|anota|记住|记一下|注意|覚えて|メモ)[^:：]{0,20}[:：]\s*/iu

/** Without what the user adds about themselves or as a tag: it limits nothing where it names no limit. */
function withoutInsertions(sentence: string): string {
  const parts = sentence.replace(tag, '').split(/(?<=[,，、])/u)
  const kept = parts.filter((part, n) => {
    if (n === 0 || !insertion.test(part.trim())) return true
    const { flags } = meaningOf(part)
    return flags.size > 0
  })
  return kept.join('').replace(/[,，、]\s*$/u, '')
}
const tag =
  /[,，]\s*(?:ok|okay|right|alright|always|please|ja|bitte|oder|oui|svp|s'il (?:te|vous) plaît|vale|verdad|por favor)\s*[?.!]?$/iu
const insertion =
  /^(?:i|i'm|i've|i'll|we|we're|it|it's|that's|they|ich|wir|das|da|die|je|j'|on|nous|ça|c'est|yo|no (?:leo|me)|me|我|太|私)(?![\p{Script=Latin}])/iu

/** A question that is more than a tag behind a statement. */
export const isQuestion = (sentence: string): boolean => /[?？]\s*$/u.test(sentence.trim().replace(tag, ''))

function agrees(typed: Meaning, saved: Meaning): boolean {
  if (saved.flags.size !== typed.flags.size || [...saved.flags].some((flag) => !typed.flags.has(flag)))
    return false
  if (saved.denials !== typed.denials) return false
  const pairs = paired(typed.words, saved.words)
  if (pairs === null) return false
  for (const [one, other] of pairs) {
    const [a, b] = [typed.words[one]!, saved.words[other]!]
    const polarities = new Set([a.polarity, b.polarity])
    if (polarities.has('plain') && polarities.has('denied')) return false
    if (a.step !== null && b.step !== null && a.step !== b.step) return false
  }
  return inOrder(typed.words, pairs) && keepsParts(typed, saved)
}

/** Where both have as many parts, each part of the one is in one part of the other: who has what does not change hands. */
function keepsParts(typed: Meaning, saved: Meaning): boolean {
  const [theirs, ours] = [partsOf(typed), partsOf(saved)]
  if (theirs.length < 2 || ours.length !== theirs.length) return true
  return ours.every((part) =>
    theirs.some((other) =>
      part.every(({ says }) => says.startsWith('~') || other.some((word) => areAlike(word.says, says))),
    ),
  )
}

function partsOf({ words }: Meaning): readonly (readonly Word[])[] {
  const parts = new Map<number, Word[]>()
  for (const word of words) parts.set(word.part, [...(parts.get(word.part) ?? []), word])
  return [...parts.values()].filter((part) => part.length > 1)
}

/** Each word of one text with its like in the other; null where one has none. A word may be said twice. */
function paired(
  typed: readonly Word[],
  saved: readonly Word[],
): readonly (readonly [number, number])[] | null {
  const pairs: (readonly [number, number])[] = []
  const used = new Set<number>()
  for (const [other, word] of saved.entries()) {
    const fits = (one: number): boolean => areAlike(typed[one]!.says, word.says)
    const all = [...typed.keys()].filter(fits)
    const one = all.find((each) => !used.has(each)) ?? all[0]
    if (one === undefined && word.says.startsWith('~')) continue
    if (one === undefined) return null
    used.add(one)
    pairs.push([one, other])
  }
  const isSaid = (one: Word): boolean =>
    one.says.startsWith('~') || saved.some((word) => areAlike(one.says, word.says))
  return typed.every(isSaid) ? pairs : null
}

/** The same group, or two forms of one word. */
export function areAlike(a: string, b: string): boolean {
  if (a === b) return true
  if (/^[=~]/u.test(a) || /^[=~]/u.test(b) || /\p{N}/u.test(a + b) || cjk.test(a + b)) return false
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  let same = 0
  while (same < short.length && short[same] === long[same]) same++
  return same >= leastStem && same >= short.length - endingChars && same >= long.length - endingChars
}
const leastStem = 4
const endingChars = 3

/** Where there are two names or more, they keep their order, and each other word its name. */
function inOrder(typed: readonly Word[], pairs: readonly (readonly [number, number])[]): boolean {
  const names = pairs.filter(([one]) => typed[one]!.isName).toSorted((a, b) => a[1] - b[1])
  if (new Set(names.map(([one]) => typed[one]!.says)).size < 2) return true
  return names.every(([one], at) => at === 0 || one >= names[at - 1]![0])
}

// ---- reading a sentence ----

function meaningOf(sentence: string): Meaning {
  const tokens = tokensOf(sentence)
  const flags = new Set<string>()
  const words: Word[] = []
  let denials = 0
  for (const clause of clausesOf(tokens)) {
    const read = readClause(clause)
    const from = (words.at(-1)?.part ?? 0) + 1
    words.push(...read.words.map((word) => ({ ...word, part: word.part + from })))
    denials += read.denials
    for (const flag of read.flags) flags.add(flag)
  }
  if (/[?？]\s*$/u.test(sentence)) flags.add('?')
  return { words, flags, denials }
}

/** From boundary to boundary. What follows a reason is not part of what is said. */
function* clausesOf(tokens: readonly Token[]): Generator<readonly Token[]> {
  let clause: Token[] = []
  let isReason = false
  for (const [at, token] of tokens.entries()) {
    const mark = token.kind === 'mark' ? token.mark : ''
    const next = tokens[at + 1]
    // "Never push, without asking": what orders or limits belongs to what it orders.
    if (mark === ',' && next?.kind === 'mark' && ordering.has(next.mark) && next.mark !== 'sequence') continue
    if (mark === '.' || mark === ',') {
      if (!isReason) yield clause
      clause = []
      if (mark === '.') isReason = false
    } else if (mark === 'because') {
      if (!isReason) yield clause
      clause = []
      isReason = true
    } else clause.push(token)
  }
  if (!isReason) yield clause
}

const flagged: ReadonlySet<string> = new Set([
  'only',
  'except',
  'some',
  'all',
  'maybe',
  'up',
  'down',
  'nolonger',
  'or',
  'hear',
])

function readClause(tokens: readonly Token[]): Meaning {
  const marks = tokens.flatMap((token) => (token.kind === 'mark' ? [token.mark] : []))
  const has = (mark: string): boolean => marks.includes(mark)
  const denied = marks.filter((mark) => denying.has(mark)).length
  // "Never X without Y", "not X until Y" and "X only after Y" ask for Y before X.
  const isCondition =
    (denied > 0 && (has('without') || has('until'))) ||
    has('before') ||
    (has('after') && has('only')) ||
    (has('sequence') && !has('only') && !has('without'))
  const flags = new Set(marks.filter((mark) => flagged.has(mark)))
  if (denied > 0) flags.delete('all')
  if (isCondition) {
    flags.add('order')
    // "Say it first" is not "say it after that": both signs order, and only one of them turns the order round.
    if (has('after') && has('sequence')) flags.add('after')
    flags.delete('only')
    flags.delete('all')
  } else {
    if (has('after')) flags.add('after')
    if (has('without')) flags.add('without')
    if (has('until')) flags.add('until')
  }
  const isDropped = isCondition && denied > 0 && (has('without') || has('until'))
  return {
    words: wordsIn(tokens, isCondition, isDropped),
    flags,
    denials: isDropped ? denied - 1 : denied,
  }
}

const denying: ReadonlySet<string> = new Set(['neg', 'negpost', 'contrast', 'contrastpost'])
const ordering: ReadonlySet<string> = new Set(['before', 'after', 'without', 'until', 'sequence'])

function wordsIn(tokens: readonly Token[], isOrder: boolean, isDropped: boolean): readonly Word[] {
  const isSuffix = tokens.some((token) => token.kind === 'word' && cjk.test(token.says))
  const words: Word[] = []
  const at = tokens.findIndex((token) => token.kind === 'mark' && ordering.has(token.mark))
  const pivot = tokens[at]
  const order = isOrder && pivot?.kind === 'mark' ? pivot.mark : null
  const firstWord = tokens.findIndex(({ kind }) => kind === 'word')
  let reach: Word['polarity'] = 'plain'
  let part = 0
  for (const [n, token] of tokens.entries()) {
    if (token.kind === 'mark') {
      if (token.mark === 'and') part++
      if (isDropped) continue
      if (token.mark === 'neg') {
        for (const [m, word] of words.entries()) words[m] = { ...word, polarity: 'shadow' }
        reach = 'denied'
      }
      if (token.mark === 'contrast') reach = 'denied'
      if (token.mark === 'negpost' || token.mark === 'contrastpost') darken(words)
      continue
    }
    const isOpening = order !== null && !isSuffix && n > at && firstWord === at + 1
    const isKnown = order !== null && !(isOpening && n > at + 1)
    const step = isKnown ? stepOf(order, n > at, isSuffix) : null
    words.push({ says: token.says, isName: token.isName, polarity: reach, step, part })
    if (reach === 'denied') reach = 'shadow'
  }
  return words
}

/** A denial behind what it denies reaches back to an unknown place; its nearest word is denied. */
function darken(words: Word[]): void {
  const last = words.length - 1
  for (const [n, word] of words.entries()) words[n] = { ...word, polarity: n === last ? 'denied' : 'shadow' }
}

/** Which step a word belongs to, by the sign and the side it stands on; where verbs come last the signs follow their words. */
function stepOf(order: string, isBehind: boolean, isSuffix: boolean): Word['step'] {
  if (order === 'sequence') return isBehind ? 'later' : 'first'
  const follows = order === 'before' ? 'later' : 'first'
  const other = order === 'before' ? 'first' : 'later'
  return isBehind !== isSuffix ? follows : other
}
