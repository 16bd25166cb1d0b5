// The user's own sentences behind a wording that cannot be shown to say the same: what is remembered then is what was
// typed, and no wording has to be believed. Which sentences these are is told by the words both share, in any of their forms,
// the rarer in what was typed the more. A wrong choice shows the user's words all the same. Pure.
import { defaults } from '../../settings/defaults.ts'
import { readMemoryText, withFields } from '../format/frontmatter.ts'
import { rawSentencesOf, sentencesOf, bareTitle, isTitleOf, saidIn, saysNothing } from './sentences.ts'
import { cjk, tokensOf } from './words.ts'

/**
 * The same memory in the sentences the user typed, or null where none of them speaks of it. What a person is known to have
 * said in it before (`before`) stays as it is.
 */
export function inUsersWords(
  text: string,
  userWords: readonly string[],
  before: readonly string[],
): string | null {
  const known = new Set(before.flatMap(sentencesOf))
  const { head, body, front } = readMemoryText(text)
  const kept = rawSentencesOf(body).filter((sentence) => sentencesOf(sentence).every((one) => known.has(one)))
  const quote = quoteFor(text, userWords, known)
  if (quote === null) return null
  if (front === null) return [...kept, ...quote].join(' ')
  const isKnown = (line: string): boolean => sentencesOf(line).every((one) => known.has(one))
  const description = isKnown(head.description) ? head.description : quote[0]!.replaceAll(/\s+/gu, ' ').trim()
  const isTyped = (words: string): boolean => isTitleOf(words, [...userWords, ...before])
  const triggers = head.triggers.filter(isTyped)
  // Of the frontmatter only what says nothing of its own.
  const fields = {
    name: isTyped(head.name) ? head.name : bareTitle(sentencesOf(description).join(' ')),
    description,
    ...(head.type === null ? {} : { type: head.type }),
    ...(triggers.length === 0 ? {} : { triggers }),
    ...(head.supersedes.length === 0 ? {} : { supersedes: head.supersedes }),
    ...(head.expires === null ? {} : { expires: head.expires }),
  }
  return `${withFields('', fields).trimEnd()}\n\n${[...kept, quote.join(' ')].join('\n\n')}\n`
}

/** The typed sentences that a memory speaks of, as they were typed and in their order. */
export function quoteFor(
  text: string,
  userWords: readonly string[],
  known: ReadonlySet<string> = new Set(),
): readonly string[] | null {
  // Who typed a page has pasted it; its sentences are looked for by nobody.
  const typed = [...new Set(userWords)].filter(({ length }) => length <= defaults.memory.quotedMessageChars)
  const messages = typed.slice(-defaults.memory.quotedMessages).map((words) => rawSentencesOf(words))
  const terms = messages.map((sentences) => sentences.map(termsOf))
  const weigh = rarity(terms.map((sentences) => sentences.flat()))
  const taken = new Map<number, Set<number>>()
  const wanted = saidIn(text)
    .flatMap(sentencesOf)
    .filter((sentence) => !known.has(sentence) && !saysNothing(sentence))
  for (const sentence of wanted) {
    const best = bestOf(termsOf(sentence), terms, weigh)
    if (best === null) continue
    const some = taken.get(best.message) ?? new Set()
    taken.set(best.message, new Set([...some, ...withLimits(best.sentences, messages[best.message]!)]))
  }
  const quote = [...taken]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([message, some]) => messages[message]!.filter((_, at) => some.has(at)))
  const chars = quote.reduce((total, sentence) => total + sentence.length, 0)
  // Who only asked has said nothing yet.
  const isSaid = quote.some((sentence) => !isQuestion(sentence))
  return isSaid && chars <= defaults.memory.quoteChars ? quote : null
}

interface Best {
  readonly message: number
  readonly sentences: readonly number[]
}

function bestOf(
  wanted: readonly string[],
  messages: readonly (readonly (readonly string[])[])[],
  weigh: (term: string) => number,
): Best | null {
  let best: (Best & { readonly score: number }) | null = null
  for (const [message, sentences] of messages.entries()) {
    const all = sentences.flat()
    const shared = wanted.filter((term) => all.some((other) => isLike(term, other)))
    const score = sum(shared.map(weigh)) / Math.max(sum(wanted.map(weigh)), Number.EPSILON)
    const least = shared.length < 2 ? defaults.memory.quoteAlone : defaults.memory.quoteShare
    if (shared.length === 0 || score < least || score <= (best?.score ?? 0)) continue
    const has = (one: readonly string[]): boolean =>
      shared.some((term) => one.some((other) => isLike(term, other)))
    best = { message, score, sentences: sentences.flatMap((one, at) => (has(one) ? [at] : [])) }
  }
  return best
}

/** With the neighbours that limit, doubt or attribute what is said. */
function withLimits(chosen: readonly number[], sentences: readonly string[]): readonly number[] {
  const near = chosen.flatMap((at) => [at - 1, at + 1])
  return [...chosen, ...near.filter((at) => sentences[at] !== undefined && isLimiting(sentences[at]))]
}
const isLimiting = (sentence: string): boolean => tokensOf(sentence).some(({ kind }) => kind === 'limit')

/** A question that is more than a tag behind a statement. */
const isQuestion = (sentence: string): boolean => /[?？]\s*$/u.test(sentence.trim().replace(tag, ''))
const tag =
  /[,，]\s*(?:ok|okay|right|alright|always|please|ja|bitte|oder|oui|svp|s'il (?:te|vous) plaît|vale|verdad|por favor)\s*[?.!]?$/iu

/** What a sentence speaks of; of scripts without blanks pairs of characters, since one alone says little. */
function termsOf(sentence: string): readonly string[] {
  const words = tokensOf(sentence).flatMap((token) =>
    token.kind === 'word' && !/^\p{Script=Hiragana}$/u.test(token.says) ? [token.says] : [],
  )
  const terms = new Set<string>()
  for (const [at, word] of words.entries()) {
    const isSign = cjk.test(word) && word.length === 1
    if (!isSign) terms.add(word)
    const next = words[at + 1]
    if (isSign && next !== undefined && cjk.test(next) && next.length === 1) terms.add(word + next)
    if (isSign) terms.add(word)
  }
  return [...terms]
}

/** What only one message speaks of weighs 1, and so does what none does; what many speak of, less. */
function rarity(messages: readonly (readonly string[])[]): (term: string) => number {
  const known = new Map<string, number>()
  const weightOf = (term: string): number => {
    const count = messages.filter((some) => some.some((one) => isLike(term, one))).length
    const share = Math.log(1 + messages.length / Math.max(1, count)) / Math.log(1 + messages.length)
    return share * (cjk.test(term) && term.length === 1 ? signWeight : 1)
  }
  return (term) => {
    const weight = known.get(term) ?? weightOf(term)
    known.set(term, weight)
    return weight
  }
}
const signWeight = 0.5

/** Forms of one word, or a word within a compound. */
function isLike(a: string, b: string): boolean {
  if (a === b) return true
  if (cjk.test(a + b)) return false
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  if (areForms(short, long)) return true
  if (short.length >= leastPart && long.includes(short)) return true
  return short.length >= leastPart && likeness(short, long) >= leastLikeness
}
const leastPart = 5
const leastLikeness = 0.5

/** Two words with one beginning, but for their endings; numbers have no forms. */
function areForms(short: string, long: string): boolean {
  let same = 0
  while (same < short.length && short[same] === long[same]) same++
  return same >= leastStem && same >= long.length - endingChars && !/\p{N}/u.test(short + long)
}
const leastStem = 4
const endingChars = 3

/** How many of their runs of three letters two words share, from 0 to 1. */
function likeness(a: string, b: string): number {
  const [one, other] = [runsOf(a), runsOf(b)]
  const shared = [...one].filter((run) => other.has(run)).length
  return (2 * shared) / (one.size + other.size)
}
const runChars = 3
const runsOf = (word: string): ReadonlySet<string> =>
  new Set(Array.from({ length: word.length - runChars + 1 }, (_, at) => word.slice(at, at + runChars)))

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
