// Whether the words of a command stay within what its row of a table lets through (PM31). A row is data: the options that
// neither write, run nor read elsewhere, each with the way in which the program itself takes its value. What is not
// listed, exactly and in full, is not let through; shortened names count as unknown.
//
//   -abc        flags, one letter each          --name      a flag
//   -n:N        a value, joined or as the next word          --name:T    a value behind = or as the next word
//   -U?N        a value only where it is joined              --name?T    a value only behind =
//   --name=T    a value, which must stand behind =           --name~T    a value where a next word is left
//
// Behind it the kind of value: T text, N number, S number with a sign, P path, E pattern in place of the first operand,
// L lines of a file (`1,20:path`). In rows of style `words` an option is one whole word and nothing is joined.
import type { OrWhy } from '../../../disk/failure.ts'
import { isNumber, mayBeOption, type KnownWord } from './word.ts'

export interface Grammar {
  readonly options?: string
  /** What stands outside of options: files (the default), text, a pattern and then files, or nothing. */
  readonly operands?: 'paths' | 'text' | 'pattern' | 'none'
  readonly most?: number
  /** `-20` is a count. */
  readonly counts?: true
  readonly style?: 'words'
  /** Behind its first operand the program takes nothing for an option. */
  readonly optionsFirst?: true
  /** File names in place of a word would change what it does. */
  readonly noGlob?: true
  /** Options with which no operand is a pattern. */
  readonly noPattern?: readonly string[]
  /** No option of it acts on anything, so that a file named like one does no harm. */
  readonly isHarmless?: true
  /** A further look: why not, or null. */
  readonly check?: (given: Given) => string | null
}

export interface Given {
  /** Names of options, as the table writes them. */
  readonly options: readonly string[]
  readonly operands: readonly string[]
  /** The pattern or program, wherever it stood. */
  readonly patterns: readonly string[]
  /** Every word as the program gets it. */
  readonly words: readonly string[]
}

export type Fit = OrWhy<{
  readonly paths: readonly string[]
  /** Of these the ones that are no values of options. */
  readonly files?: readonly string[]
}>

/** How an option takes its value; an empty mark takes none. */
interface Option {
  readonly mark: '' | ':' | '?' | '=' | '~'
  readonly kind: string
}

const tables = new WeakMap<Grammar, ReadonlyMap<string, Option>>()

/** The options of a row, read once. */
function optionsOf(grammar: Grammar): ReadonlyMap<string, Option> {
  const read = tables.get(grammar)
  if (read !== undefined) return read
  const table = new Map<string, Option>()
  for (const entry of (grammar.options ?? '').split(/\s+/)) {
    const [, name = '', mark = '', kind = ''] = /^(-[^:?=~]+)(?:([:?=~])([TNSPEL]))?$/.exec(entry) ?? []
    const option: Option = { mark: mark as Option['mark'], kind }
    if (name === '') continue
    if (name.startsWith('--') || grammar.style === 'words') table.set(name, option)
    else for (const letter of name.slice(1)) table.set(`-${letter}`, option)
  }
  tables.set(grammar, table)
  return table
}

const kinds: Readonly<Record<string, RegExp>> = {
  N: /^\d+[A-Za-z]{0,3}$/,
  S: /^[-+]?\d+[A-Za-z]{0,3}$/,
}

export function fits(name: string, args: readonly KnownWord[], grammar: Grammar): Fit {
  const scan = new Scan(name, grammar)
  for (const [at, arg] of args.entries()) {
    const why = scan.take(arg, args[at + 1])
    if (why !== null) return { ok: false, why }
  }
  return scan.end(args)
}

export const unknownOption = (name: string, option: string): string =>
  `${name} ${option} may modify files or run code`

class Scan {
  readonly #name: string
  readonly #grammar: Grammar
  readonly #table: ReadonlyMap<string, Option>
  readonly #options: string[] = []
  readonly #operands: KnownWord[] = []
  readonly #patterns: string[] = []
  readonly #paths: string[] = []
  #isEnded = false
  /** The option whose value is the next word. */
  #waiting: string | null = null

  constructor(name: string, grammar: Grammar) {
    this.#name = name
    this.#grammar = grammar
    this.#table = optionsOf(grammar)
  }

  /** Why a word is not let through, or null. */
  take(word: KnownWord, next: KnownWord | undefined): string | null {
    const { value, isGlob, text } = word
    const { isHarmless, counts, style, noGlob, optionsFirst } = this.#grammar
    if (isGlob && noGlob === true && !isNumber(text)) return this.#unknown(value)
    if (this.#waiting !== null) {
      const option = this.#waiting
      this.#waiting = null
      // Whoever reads it otherwise would take it for an option.
      if (isGlob || (value.startsWith('-') && this.#table.get(option)!.kind !== 'S'))
        return this.#unknown(`${option} ${value}`)
      return this.#value(option, value)
    }
    // A file may be named like an option, and a pattern would put it there.
    if (mayBeOption(word) && !this.#isEnded && isHarmless !== true)
      return `${this.#name} would take a file named like an option for one (write ./${value})`
    if (this.#isEnded || !value.startsWith('-') || value === '-') {
      this.#operands.push(word)
      if (optionsFirst === true) this.#isEnded = true
      return null
    }
    if (value === '--') {
      this.#isEnded = true
      return null
    }
    if (isGlob && !/^--[\w-]+=[^*?[]*[*?[]/.test(text)) return this.#unknown(value)
    if (counts === true && /^-\d+$/.test(value)) return null
    if (!value.startsWith('--'))
      return style === 'words' ? this.#option(value, undefined, next) : this.#letters(value, next)
    const [, name = '', given] = /^(--[^=]*)(?:=([\s\S]*))?$/.exec(value) ?? []
    return this.#option(name, given, next)
  }

  /** A whole option; `given` stood behind its =. */
  #option(name: string, given: string | undefined, next: KnownWord | undefined): string | null {
    const option = this.#table.get(name)
    if (option === undefined) return this.#unknown(name)
    this.#options.push(name)
    const { mark } = option
    if (given !== undefined) return mark === '' ? this.#unknown(`${name}=`) : this.#value(name, given)
    if (mark === '=' || (mark === ':' && next === undefined)) return this.#unknown(name)
    if (mark === ':' || (mark === '~' && next !== undefined)) this.#waiting = name
    return null
  }

  #letters(value: string, next: KnownWord | undefined): string | null {
    for (let at = 1; at < value.length; at++) {
      const name = `-${value[at]}`
      const option = this.#table.get(name)
      if (option === undefined) return this.#unknown(name)
      this.#options.push(name)
      if (option.mark === '') continue
      if (at < value.length - 1) return this.#value(name, value.slice(at + 1))
      if (option.mark === '?') return null
      if (next === undefined) return option.mark === '~' ? null : this.#unknown(name)
      this.#waiting = name
    }
    return null
  }

  #value(name: string, value: string): string | null {
    const { kind } = this.#table.get(name)!
    const shape = kinds[kind]
    if (shape !== undefined && !shape.test(value)) return this.#unknown(`${name} ${value}`)
    if (kind === 'P') this.#paths.push(value)
    if (kind === 'E') this.#patterns.push(value)
    if (kind === 'L') this.#paths.push(value.slice(value.lastIndexOf(':') + 1))
    return null
  }

  end(args: readonly KnownWord[]): Fit {
    const { operands = 'paths', most = Infinity, noPattern = [], check } = this.#grammar
    // An option that brings the pattern may stand behind the files.
    const isFirstPattern =
      operands === 'pattern' &&
      this.#patterns.length === 0 &&
      !this.#options.some((name) => noPattern.includes(name))
    const [first] = this.#operands
    const given = isFirstPattern ? this.#operands.slice(1) : this.#operands
    // The first of the names would be the pattern, and the others files.
    if (isFirstPattern && first?.isGlob === true)
      return { ok: false, why: `the pattern of ${this.#name} is only known when it runs (quote it)` }
    if (given.length > (operands === 'none' ? 0 : most))
      return { ok: false, why: `${this.#name} may write to what is named last` }
    const why = check?.({
      options: this.#options,
      operands: given.map(({ value }) => value),
      patterns: isFirstPattern && first !== undefined ? [first.value] : this.#patterns,
      words: args.map(({ value }) => value),
    })
    if (why !== undefined && why !== null) return { ok: false, why }
    // Names in other folders are shown by whoever is given a pattern for them.
    const named =
      operands === 'text'
        ? given.filter(({ value, isGlob, text }) => isGlob && value.includes('/') && !isNumber(text))
        : given.filter(({ value }) => value !== '-')
    const files = named.map(({ value }) => value)
    return { ok: true, paths: [...this.#paths, ...files], files }
  }

  #unknown(option: string): string {
    return unknownOption(this.#name, option)
  }
}
