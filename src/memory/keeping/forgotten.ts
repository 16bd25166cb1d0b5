// What must not be learnt again. Kept as names of sessions and sources, and as fingerprints of sentences: salted hashes,
// so that the ledger does not say what was forgotten.
import { createHmac } from 'node:crypto'
import { defaults } from '../../settings/defaults.ts'
import { readMemoryText } from '../format/frontmatter.ts'
import type { Provenance } from '../memory.ts'
import type { Ledger } from './ledger.ts'

const printChars = 24

/** The fingerprints of the sentences of a memory that are long enough to be known again. */
export function printsOf(text: string, salt: string): readonly string[] {
  const { head, body } = readMemoryText(text)
  const sentences = [head.description, ...body.split(/(?<=[.!?。！？])\s+|\n+/u)].map(normalised)
  return [
    ...new Set(
      sentences
        .filter((sentence) => sentence.split(' ').length >= defaults.memory.printWords)
        .map((sentence) => createHmac('sha256', salt).update(sentence).digest('hex').slice(0, printChars)),
    ),
  ]
}

/** Words alone: marks, case and blanks are easily written otherwise. */
const normalised = (sentence: string): string =>
  sentence
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

export function isForgotten(
  forgotten: Ledger['forgotten'],
  by: Provenance,
  text: string,
  salt: string,
): boolean {
  if (by.session !== null && forgotten.sessions.has(by.session)) return true
  if (by.trust === 'data' && by.from.some((source) => isForgottenSource(forgotten.sources, source)))
    return true
  return forgotten.prints.size > 0 && printsOf(text, salt).some((print) => forgotten.prints.has(print))
}

/** An address is forgotten with everything below it, and a host with all its addresses. */
export const isFrom = (wanted: string, source: string): boolean =>
  source === wanted || source.startsWith(`${wanted.replace(/\/$/, '')}/`) || hostOf(source) === wanted

const isForgottenSource = (wanted: ReadonlySet<string>, source: string): boolean =>
  wanted.has(source) || [...wanted].some((one) => isFrom(one, source))

const hostOf = (source: string): string | null => (URL.canParse(source) ? new URL(source).host : null)
