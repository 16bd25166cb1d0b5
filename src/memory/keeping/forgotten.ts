// What must not be learnt again. Kept as names of sessions and sources, and as fingerprints of sentences: salted hashes,
// so that the ledger does not say what was forgotten.
import { createHmac } from 'node:crypto'
import { defaults } from '../../settings/defaults.ts'
import { readMemoryText } from '../format/frontmatter.ts'
import type { Provenance } from '../memory.ts'
import { saysNothing } from '../trust/support.ts'
import type { Ledger } from './ledger.ts'

const printChars = 24

/** The fingerprints of the sentences of a memory that are long enough to be known again. */
export const printsOf = (text: string, salt: string): readonly string[] => [...printed(text, salt).keys()]

/** Each fingerprint with its sentence. What only frames a memory ("the user said so") is in many and tells nothing. */
function printed(text: string, salt: string): ReadonlyMap<string, string> {
  const { head, body } = readMemoryText(text)
  const sentences = [head.description, ...body.split(/(?<=[.!?。！？])\s+|\n+/u)]
  return new Map(
    sentences
      .map((sentence) => sentence.replace(label, '').trim())
      .filter((sentence) => !saysNothing(sentence))
      .map((sentence) => [normalised(sentence), sentence] as const)
      .filter(([words]) => words.split(' ').length >= defaults.memory.printWords)
      .map(([words, sentence]) => [printOf(words, salt), sentence]),
  )
}
const label = /^\s*\*\*[^*\n]{1,40}:\*\*|^\s*\*\*[^*\n]{1,40}\*\*:/u

const printOf = (words: string, salt: string): string =>
  createHmac('sha256', salt).update(words).digest('hex').slice(0, printChars)

/** Words alone: marks, case and blanks are easily written otherwise. */
const normalised = (sentence: string): string =>
  sentence
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/**
 * Why it may not be learnt again, or null. What the user typed after the forgetting was meant to be learnt: `saidAt` is
 * when.
 */
export function forgottenWhy(
  forgotten: Ledger['forgotten'],
  by: Provenance,
  text: string,
  salt: string,
  saidAt = Number.NEGATIVE_INFINITY,
): string | null {
  const session = by.session === null ? undefined : forgotten.sessions.get(by.session)
  if (session !== undefined && saidAt <= session)
    return 'The user had this session forgotten, so nothing it said before that is saved.'
  const source = by.trust === 'data' ? by.from.find((one) => isForgottenSource(forgotten.sources, one)) : null
  if (typeof source === 'string') return `The user had everything from ${source} forgotten. Do not save it.`
  if (forgotten.prints.size === 0) return null
  for (const [print, sentence] of printed(text, salt)) {
    const at = forgotten.prints.get(print)
    if (at !== undefined && saidAt <= at)
      return `The user had this forgotten: ${JSON.stringify(sentence)}. Leave that sentence out; it counts again only when the user says it again.`
  }
  return null
}

/** An address is forgotten with everything below it, and a host with all its addresses. */
export const isFrom = (wanted: string, source: string): boolean =>
  source === wanted || source.startsWith(`${wanted.replace(/\/$/, '')}/`) || hostOf(source) === wanted

const isForgottenSource = (wanted: ReadonlySet<string>, source: string): boolean =>
  wanted.has(source) || [...wanted].some((one) => isFrom(one, source))

const hostOf = (source: string): string | null => (URL.canParse(source) ? new URL(source).host : null)
