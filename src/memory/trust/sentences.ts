// The sentences of a text, cut so that nothing that turns one round is left outside of it: "Never do this:" stays with
// the list below it, and "e.g." ends nothing. Where it is not clear that a sentence ended, it goes on.
import { defaults } from '../../settings/defaults.ts'
import { readMemoryText } from '../format/frontmatter.ts'
import type { MemoryHead } from '../memory.ts'

/** The sentences of a text as it was typed, without what only dresses them up. */
export const sentencesOf = (text: string): readonly string[] => rawSentencesOf(text).map(undressed)

/** The same as they were typed. */
export const rawSentencesOf = (text: string): readonly string[] =>
  blocksOf(text)
    .flatMap((block) => (listLine.test(block) || headLine.test(block) ? [block] : splitAtStops(block)))
    .map((sentence) => sentence.trim())
    .filter((sentence) => undressed(sentence) !== '')

const listLine = /^[ \t]*(?:[-*•–]|\(?\d{1,3}[.)])[ \t]/mu
/** A line that speaks of what follows. */
const headLine = /[:：][ \t]*(?:\n|$)/u

/** Paragraphs; a list, and what stands behind a colon, belong to the paragraph before. */
function blocksOf(text: string): readonly string[] {
  const blocks: string[] = []
  for (const block of text.replaceAll('\r\n', '\n').split(/\n[ \t]*\n/u)) {
    const before = blocks.at(-1)
    const belongs =
      before !== undefined && (listLine.test(block) || listLine.test(before) || headLine.test(before))
    if (belongs) blocks[blocks.length - 1] = `${before}\n${block}`
    else blocks.push(block)
  }
  return blocks
}

/** A stop ends a sentence behind a word; behind an abbreviation, a number or a single letter it does not. */
function splitAtStops(block: string): readonly string[] {
  const sentences: string[] = []
  let from = 0
  for (const stop of block.matchAll(/(?<=[.!?])["')\]*_`]*\s+|(?<=[。！？])/gu)) {
    const end = stop.index + stop[0].length
    const sentence = block.slice(from, end)
    const last = /([^\s]+?)[.]["')\]*_`]*\s*$/u.exec(sentence)?.[1]?.toLowerCase()
    const isOpen =
      last !== undefined && (last.includes('.') || /^[^\p{L}]*\p{L}?$/u.test(last) || abbreviations.has(last))
    if (isOpen) continue
    sentences.push(sentence)
    from = end
  }
  return [...sentences, block.slice(from)]
}
const abbreviations = new Set(
  'approx bzw ca cf dr eg esp etc evtl excl fig ggf ie inc incl max min mr mrs nr num p.ex resp sog st usw vgl vs zb'.split(
    ' ',
  ),
)

/** Emphasis, quotes around the whole and the closing stop say nothing; a question mark does. */
const undressed = (sentence: string): string =>
  sentence
    .replace(/\*\*|__|`/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/[.!。！]+$/u, '')
    .trim()

const polite =
  /^(?:(?:please|remember|note|from now on|in (?:the )?future|always|ok(?:ay)?|bitte|merke dir|merk dir|immer|ab jetzt|por favor|siempre|s'il te plaît|toujours|請|请)(?: that|, dass| dass)?[,:]? ?)+/iu
const politeEnd = /(?:,? (?:please|thanks|thank you|from now on|in (?:the )?future|bitte|ab jetzt))+$/iu

/** Two sentences with the same bare form say the same: asked for politely or always, and however they begin. */
function bareSentence(sentence: string): string {
  const bare = sentence.replace(polite, '').replace(politeEnd, '').trim()
  return bare.slice(0, 1).toLowerCase() + bare.slice(1)
}

// Whether a text is made of sentences the user typed, politeness and emphasis aside. No other wording is taken for the user's: a
// model, or a stranger who moves it, may leave out one word, and "Push to main without asking me first" is all there in "Never
// push to main without asking me first". What is worded anew is kept in the user's own sentences instead (`quoting`). It can
// still be wrong where the user typed words that are not meant as said: quoted, pasted or ironic ones.

/** Words that a writer of memories puts around what was said; they neither help nor harm. None of them turns a sentence round. */
const frame = new Set(
  (
    'about apply applies applied asked because been correction corrected does from have here into just keep ' +
    'memory must need needs note preference preferences prefers project reason rule said same says should ' +
    'such sure that their them then there these they this thing times told touches user users wants what ' +
    'whenever where which while will with word words work working would your always please remember'
  ).split(' '),
)
/** Short words that only hold a sentence together, or ask for the reason of one. None of them turns it round either. */
const glue = new Set(
  (
    'a an the to of in on at is are was be it its as and i we he she me my us our you by for so ' +
    'der die das den dem ein ist und zu von im am es ich wir le la les un une est et de du des el los es y lo why how'
  ).split(' '),
)
/** What can do harm by being exact: addresses, paths, code, options, long numbers. */
const exact =
  /[a-z][a-z0-9+.-]*:\/\/[^\s)>\]]+|`[^`\n]+`|[\w.+-]+@[\w-]+\.[\w.]+|(?:\b[\w-]+\.)+[a-z]{2,}\b(?:\/\S*)?|(?:\.{0,2}|~)\/[\w./-]+|(?<![\w-])--?[a-z][\w-]*|\b\d{3,}\b/giu

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** Whether each sentence of a memory is a whole sentence that the user typed. */
export function isSupported(text: string, userWords: readonly string[]): boolean {
  const typed = new Set(userWords.flatMap(sentencesOf).map(bareSentence))
  const sentences = saidIn(text)
    .flatMap(sentencesOf)
    .filter((sentence) => !saysNothing(sentence))
  return sentences.length > 0 && sentences.every((sentence) => typed.has(bareSentence(sentence)))
}

/** The same of all of it, its title included. */
export function isVerbatim(text: string, userWords: readonly string[]): boolean {
  const { head, front } = readMemoryText(text)
  return (
    isSupported(text, userWords) &&
    (front === null || (isTitleOf(head.name, userWords) && areTypedFields(front, head, userWords)))
  )
}
/** Whether the rest of a frontmatter brings no words along: it is shown with the memory. */
const areTypedFields = (
  front: string,
  { triggers, doubtful }: MemoryHead,
  userWords: readonly string[],
): boolean =>
  front.split('\n').every((line) => ownField.test(line)) &&
  [...triggers, ...(doubtful === undefined ? [] : [doubtful])].every((words) => isTitleOf(words, userWords))
const ownField = /^(?:\s|-\s|$|(?:name|description|type|triggers|supersedes|expires|doubtful)\s*:)/u

/** Whether a title is a typed sentence, or so few typed words that it asks for nothing. */
export function isTitleOf(name: string, userWords: readonly string[]): boolean {
  const typed = userWords.flatMap(sentencesOf).map(bareSentence)
  if (typed.includes(bareSentence(name))) return true
  const words = new Set(userWords.flatMap(wordsOf))
  const parts = wordsOf(name.replaceAll(/[-_]/gu, ' '))
  return parts.length <= titleWords && parts.every((part) => words.has(part))
}
const titleWords = 2

/** A title for a sentence: a short one whole, else its two longest words; a part of it might say the opposite. */
export function bareTitle(sentence: string): string {
  if (sentence.length <= defaults.memory.titleChars) return bareSentence(sentence)
  const words = [...new Set(wordsOf(sentence))]
  const longest = words.toSorted((a, b) => b.length - a.length).slice(0, titleWords)
  return words.filter((word) => longest.includes(word)).join(' ')
}

/** What a memory says: all but its name. */
export function saidIn(text: string): readonly string[] {
  const { head, body, front } = readMemoryText(text)
  return front === null ? [text] : [head.description, body]
}

/** Whether a sentence tells nothing of its own: "Why: the user said so" only frames a memory. A question asks. */
export const saysNothing = (sentence: string): boolean =>
  !/[?？]$/u.test(sentence) && wordsOf(sentence).every((word) => frame.has(word) || glue.has(word))

/** The addresses, paths, commands and numbers in a text. */
export const exactIn = (text: string): readonly string[] =>
  [...text.toLowerCase().matchAll(exact)].map(([found]) =>
    found
      .replaceAll('`', '')
      .trim()
      .replace(/[.,;:]$/, ''),
  )

/** Words that tell something, by their beginnings, so that "installing" meets "install". */
export const tellingWords = (text: string): readonly string[] =>
  wordsOf(text)
    .filter((word) => isTelling(word) && !frame.has(word))
    .map(stemOf)

const stemOf = (word: string): string => word.slice(0, defaults.memory.supportStemChars)

/** Every word; "don't" is two of them. */
function wordsOf(text: string): readonly string[] {
  // Each segment holds a copy of all that was segmented, so a long text is taken run by run.
  const runs = text.toLowerCase().match(/\S{1,500}/gu) ?? []
  return runs.flatMap(wordsIn).flatMap((word) => {
    const negated = /^(\p{L}+?)n['’]?t$/u.exec(word)?.[1]
    return negated !== undefined && auxiliaries.has(negated) ? [negated, 'not'] : [word]
  })
}
const auxiliaries = new Set(
  'do does did ca can wo is are was were has have had should would could must need'.split(' '),
)

function wordsIn(run: string): readonly string[] {
  const plain = /^(\p{Script=Latin}+)[.,;:!?]?$/u.exec(run)?.[1]
  if (plain !== undefined) return [plain]
  return [...segmenter.segment(run)].flatMap(({ segment, isWordLike }) => (isWordLike ? [segment] : []))
}

/** A word of a script without blanks is short and tells a lot. */
const isTelling = (word: string): boolean =>
  word.length >= defaults.memory.supportWordChars || /[^\p{Script=Latin}\p{N}]/u.test(word)
