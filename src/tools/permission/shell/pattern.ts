// The command of a rule, compared word by word and never by its beginning. It is itself read as a shell command: quotes
// hold words together, an unquoted star stands for anything within a word, a last star for any further words (`:*` at
// the end means the same).
//
// Two readings. Who allows must name it exactly. Who denies is taken generously: any folder before the name, options in
// between, words that are not known yet.
import { parse, type Word } from 'unbash'
import { nameOf } from './runners.ts'
import type { KnownWord, MaybeWord } from './word.ts'
import { knownWord } from './word.ts'

export interface CommandPattern {
  /** The text itself: a command that is written exactly so is meant, whatever it is. */
  readonly text: string
  /** It means the command of its text and no other. */
  readonly isOne: boolean
  readonly allows: (words: readonly KnownWord[]) => boolean
  readonly catches: (words: readonly MaybeWord[]) => boolean
}

interface Token {
  readonly value: string
  readonly isGlob: boolean
  readonly matches: (value: string) => boolean
}

export function compileCommand(what: string): CommandPattern {
  const text = what.trim()
  const tokens = tokensOf(text.replace(/(?::\*|\s+\*)$/, ''))
  const isOpen = /(?::\*|\s\*)$/.test(text)
  if (tokens === null) return { text, isOne: true, allows: () => false, catches: () => false }
  return {
    text,
    isOne: !isOpen && tokens.every(({ isGlob }) => !isGlob),
    allows: (words) =>
      (isOpen ? words.length >= tokens.length : words.length === tokens.length) &&
      tokens.every((token, at) => allowsWord(token, words[at]!)),
    catches: (words) => catchesWords(tokens, isOpen, words),
  }
}

/** A star never stands for a way upwards. */
function allowsWord(token: Token, word: KnownWord): boolean {
  if (token.value === word.value) return true
  return !word.isGlob && token.matches(word.value) && !/(?:^|\/)\.\.(?:\/|$)/.test(word.value)
}

function catchesWords(tokens: readonly Token[], isOpen: boolean, words: readonly MaybeWord[]): boolean {
  const [first, ...rest] = tokens
  const name = nameOf(words)
  if (first === undefined || name === null || !(first.matches(name) || first.matches(words[0]!.value)))
    return false
  let at = 1
  for (const token of rest) {
    let afterOption = false
    for (;;) {
      const word = words[at]
      if (word === undefined) return false
      if (word === null || token.matches(word.value)) break
      if (!word.value.startsWith('-') && !afterOption) return false
      afterOption = word.value.startsWith('-')
      at++
    }
    at++
  }
  return isOpen || at >= words.length || words.slice(at).some((word) => word === null)
}

/** The words of one plain command; null when it is more than that and can only be meant as it is written. */
function tokensOf(text: string): readonly Token[] | null {
  const script = parse(text)
  const [statement] = script.commands
  const command = statement?.command
  if ((script.errors ?? []).length > 0 || script.commands.length !== 1 || command?.type !== 'Command')
    return null
  if (statement?.background === true || command.name === undefined) return null
  if (command.prefix.length > 0 || command.redirects.length > 0) return null
  const tokens = [command.name, ...command.args].map((word) => (word.type === 'Word' ? tokenOf(word) : null))
  return tokens.every((token) => token !== null) ? tokens : null
}

function tokenOf(word: Word): Token | null {
  const known = knownWord(word)
  if (known === null) return null
  if (!known.isGlob) return { ...known, matches: (value) => value === known.value }
  const pieces: string[] = []
  let piece = ''
  for (const part of word.parts ?? []) {
    if (part.type === 'Glob' && part.kind === 'star') {
      pieces.push(piece)
      piece = ''
    } else piece += 'value' in part ? part.value : part.text
  }
  const all = [...pieces, piece]
  return { ...known, matches: (value) => matchesPieces(all, value) }
}

/** Pieces in their order with anything between: no expression that could take long. */
function matchesPieces(pieces: readonly string[], value: string): boolean {
  const first = pieces[0]!
  const last = pieces.at(-1)!
  if (pieces.length === 1) return value === first
  if (!value.startsWith(first) || !value.endsWith(last) || value.length < first.length + last.length)
    return false
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = value.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return at <= value.length - last.length
}
