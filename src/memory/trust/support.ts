// Whether a text is made of words the user typed. A test that can be wrong in one direction only: it may take the user's
// own words for somebody else's, and then a person is asked or the text is held; it does not take a stranger's sentence
// for the user's, because each sentence must be carried by typed words, and every address, path, command or number in
// it must have been typed.
import { defaults } from '../../settings/defaults.ts'
import { readMemoryText } from '../format/frontmatter.ts'

/** Words that a writer of memories puts around what was said; they neither help nor harm. */
const frame = new Set(
  (
    'about apply applies applied asked because been correction corrected does every from have here into just keep ' +
    'memory more must need needs note only preference preferences prefers project reason rule said same says should ' +
    'such sure that their them then there these they this thing times told touches user users wants what when ' +
    'whenever where which while will with without word words work working would your always never please remember'
  ).split(' '),
)
/** What can do harm by being exact: addresses, paths, code, options, long numbers. */
const exact =
  /[a-z][a-z0-9+.-]*:\/\/[^\s)>\]]+|`[^`\n]+`|[\w.+-]+@[\w-]+\.[\w.]+|(?:\b[\w-]+\.)+[a-z]{2,}\b(?:\/\S*)?|(?:\.{0,2}|~)\/[\w./-]+|(?<![\w-])--?[a-z][\w-]*|\b\d{3,}\b/giu

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

export function isSupported(text: string, userWords: readonly string[]): boolean {
  const typed = userWords.join('\n').toLowerCase()
  const known = new Set(tellingWords(typed))
  if (known.size === 0) return false
  const { head, body, front } = readMemoryText(text)
  const said = front === null ? text : [head.description, body].join('\n')
  const sentences = said.split(/(?<=[.!?。！？])\s+|\n+/u).filter((sentence) => sentence.trim() !== '')
  if (!exactIn(said).every((one) => typed.includes(one))) return false
  let telling = 0
  for (const sentence of sentences) {
    const words = tellingWords(sentence)
    telling += words.length
    const shared = words.filter((word) => known.has(word)).length
    if (words.length > 0 && shared < words.length * defaults.memory.supportShare) return false
  }
  return telling > 0
}

/** The addresses, paths, commands and numbers in a text. */
export const exactIn = (text: string): readonly string[] =>
  [...text.toLowerCase().matchAll(exact)].map(([found]) =>
    found
      .replaceAll('`', '')
      .trim()
      .replace(/[.,;:]$/, ''),
  )

/** Words that tell something, by their beginnings, so that "installing" meets "install". */
export function tellingWords(text: string): readonly string[] {
  // Each segment holds a copy of all that was segmented, so a long text is taken run by run.
  const runs = text.toLowerCase().match(/\S{1,500}/gu) ?? []
  return runs
    .flatMap(wordsIn)
    .filter((word) => isTelling(word) && !frame.has(word))
    .map((word) => word.slice(0, defaults.memory.supportStemChars))
}

function wordsIn(run: string): readonly string[] {
  const plain = /^(\p{Script=Latin}+)[.,;:!?]?$/u.exec(run)?.[1]
  if (plain !== undefined) return [plain]
  return [...segmenter.segment(run)].flatMap(({ segment, isWordLike }) => (isWordLike ? [segment] : []))
}

/** A word of a script without blanks is short and tells a lot. */
const isTelling = (word: string): boolean =>
  word.length >= defaults.memory.supportWordChars || /[^\p{Script=Latin}\p{N}]/u.test(word)
