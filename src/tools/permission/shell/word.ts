// A word of a command as far as it is known before the shell runs: its value when nothing in it is expanded, else null.
// A word that names files by a pattern keeps the pattern as its value and says so.
import type { Word, WordPart } from 'unbash'

export interface KnownWord {
  readonly value: string
  /** As it is written. */
  readonly text: string
  /** The shell puts file names in its place. */
  readonly isGlob: boolean
  /** Written without any quoting or escape. */
  readonly isBare: boolean
}

/** Null: the word is not known before the command runs. */
export type MaybeWord = KnownWord | null

/** Numbers that the shell fills in: any of them, as a pattern would say, since a file may be named like one. */
const numbers = new Set(['$?', '$#', '$$'])
const anyNumber = '*'

/** The shell may put a name there that begins with a dash. */
export const mayBeOption = ({ value, text, isGlob }: KnownWord): boolean =>
  isGlob && /^[*?[]/.test(value) && !isNumber(text)

/** Nothing but a number comes to stand there. */
export const isNumber = (text: string): boolean => /^(?:\$[?#$]|"\$[?#$]")$/.test(text)

export function knownWord(word: Word): MaybeWord {
  const { text, parts } = word
  // Somebody's home, or the folder before: only our own home is known. Behind = and : the shell may expand it too.
  if (/^~[^/]|[=:]~/.test(text)) return null
  if (parts === undefined) return { value: word.value, text, isGlob: false, isBare: text === word.value }
  let value = ''
  let isGlob = false
  for (const part of parts) {
    const known = knownPart(part)
    if (known === null) return null
    value += known
    if (part.type === 'Glob' || holdsNumber(part)) isGlob = true
  }
  return { value, text, isGlob, isBare: false }
}

/** Whether two readings of a word come to the same. */
export const sameWord = (one: MaybeWord | undefined, other: MaybeWord | undefined): boolean =>
  one?.value === other?.value && one?.isGlob === other?.isGlob && one !== null && one !== undefined

const holdsNumber = (part: WordPart): boolean =>
  part.type === 'SimpleExpansion' || (part.type === 'DoubleQuoted' && part.parts.some(holdsNumber))

function knownPart(part: WordPart): string | null {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value
    case 'Glob':
      return part.kind === 'bracket' && part.parts.some((inner) => knownPart(inner) === null)
        ? null
        : part.text
    case 'SimpleExpansion':
      return numbers.has(part.text) ? anyNumber : null
    case 'DoubleQuoted': {
      const inner = part.parts.map(knownPart)
      return inner.includes(null) ? null : inner.join('')
    }
    default:
      return null
  }
}
