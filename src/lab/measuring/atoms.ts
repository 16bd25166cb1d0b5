// Atoms: the exact things that work goes by, which cannot be guessed again once they are forgotten. Paths, identifiers,
// numbers and hashes of ASCII letters; a plain word is none.

const run = /[A-Za-z0-9_@~./-]{3,}/g
const edges = /^(?:\.\/)+|^[-@.]+(?![/\w])|[./@~-]+$/g
const fileName = /^[\w-][\w.-]*\.[A-Za-z][A-Za-z0-9]{0,5}$/
const hash = /^(?=.*\d)(?=.*[a-f])[0-9a-f]{7,64}$/
const number = /^\d[\d.-]*\d$/
const digits = /\d/g
const leastDigits = 3
const identifier = /[a-z][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|[A-Za-z]\d|\d[A-Za-z]/
const leastPath = 4

/** The atoms of a text, each once. */
export function atomsOf(text: string): ReadonlySet<string> {
  const atoms = new Set<string>()
  for (const [found] of text.matchAll(run)) {
    const word = found.replaceAll(edges, '')
    if (word.includes('/')) {
      if (word.length < leastPath || !/[A-Za-z]/.test(word)) continue
      atoms.add(word)
      addName(atoms, word.slice(word.lastIndexOf('/') + 1))
    } else addName(atoms, word)
  }
  return atoms
}

function addName(atoms: Set<string>, word: string): void {
  if (number.test(word)) {
    if ((word.match(digits)?.length ?? 0) >= leastDigits) atoms.add(word)
    return
  }
  if (hash.test(word)) return void atoms.add(word)
  if (fileName.test(word)) atoms.add(word)
  for (const part of word.includes('.') ? word.split('.') : [word])
    if (part.length >= leastDigits && identifier.test(part)) atoms.add(part)
}

const contentWord = /[\p{L}\p{N}_]{3,}/gu
const common = new Set(
  (
    'the and for with that this from was were are not but you your has have had can will would should could into out' +
    ' its our their them then than there here what when which who how all any one two use used using via per etc'
  ).split(' '),
)

/** Words of a line that say something, in small letters. */
export function contentWords(line: string): ReadonlySet<string> {
  const words = new Set<string>()
  for (const [word] of line.matchAll(contentWord)) {
    const small = word.toLowerCase()
    if (!common.has(small)) words.add(small)
  }
  return words
}

/** Content words of a line around the atom: what it is part of (a longer path, say) is not around it. */
export const wordsAround = (atom: string, line: string): ReadonlySet<string> =>
  contentWords(line.replaceAll(run, (word) => (word.includes(atom) ? ' ' : word)))
