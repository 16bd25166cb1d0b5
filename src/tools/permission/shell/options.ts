// Whether the words of a command stay within what its row of the table lets through. Law: an option that is not listed,
// exactly and in full, is not let through; abbreviations count as unknown.
import { isNumber, mayBeOption, type KnownWord } from './word.ts'

export interface Grammar {
  /** Letters without and with a value. */
  readonly short?: string
  readonly shortValue?: string
  /** Long names with blanks between; `name=` takes a value, `name?` may carry one behind `=`. */
  readonly long?: string
  /** No option of it acts on anything. */
  readonly anyOption?: true
  /** File names in place of a word would change what it does. */
  readonly noGlob?: true
  /** `-20` is a count. */
  readonly counts?: true
  /** What stands outside of options: files (the default), words, a pattern and then files, or nothing. */
  readonly operands?: 'paths' | 'text' | 'pattern' | 'none'
  readonly maxOperands?: number
  /** A further look at the words: why not, or null. */
  readonly refuse?: (words: readonly string[]) => string | null
}

export type Fit =
  | {
      readonly ok: true
      readonly paths: readonly string[]
      /** Of these the ones that are no values of options. */
      readonly files?: readonly string[]
    }
  | { readonly ok: false; readonly why: string }

export function fits(name: string, args: readonly KnownWord[], grammar: Grammar): Fit {
  const values = args.map(({ value }) => value)
  const refused = grammar.refuse?.(values) ?? null
  if (refused !== null) return { ok: false, why: refused }
  const scan = new Scan(name, grammar)
  for (const [at, arg] of args.entries()) {
    const why = scan.take(arg, values[at + 1])
    if (why !== null) return { ok: false, why }
  }
  return scan.end()
}

/** Options that bring the pattern, or say that there is none: all other words are files then. */
const patternOptions = new Set(['regexp', 'file', 'files', 'expression', 'type-list'])

class Scan {
  readonly #name: string
  readonly #grammar: Grammar
  readonly #long: ReadonlyMap<string, string>
  readonly #operands: string[] = []
  readonly #values: string[] = []
  readonly #globs: string[] = []
  #isEnded = false
  #takesNext = false
  #hasPattern = false

  constructor(name: string, grammar: Grammar) {
    this.#name = name
    this.#grammar = grammar
    const names = (grammar.long ?? '').split(' ').filter((one) => one !== '')
    this.#long = new Map(names.map((one) => [one.replace(/[=?]$/, ''), /[=?]$/.exec(one)?.[0] ?? '']))
  }

  /** Why a word is not let through, or null. */
  take(word: KnownWord, next: string | undefined): string | null {
    const { value, isGlob, text } = word
    if (isGlob && this.#grammar.noGlob === true && !isNumber(text)) return this.#unknown(value)
    if (this.#takesNext) {
      this.#takesNext = false
      this.#values.push(value)
      return isGlob ? this.#unknown(value) : null
    }
    const isOption = !this.#isEnded && value.startsWith('-') && value !== '-'
    // A file may be named like an option, and a pattern would put it there.
    if (mayBeOption(word) && !this.#isEnded && this.#grammar.anyOption !== true)
      return `${this.#name} would take a file named like an option for one (write ./${value})`
    if (!isOption) {
      this.#operands.push(value)
      // Names in other folders are shown by whoever is given the pattern.
      if (isGlob && value.includes('/')) this.#globs.push(value)
      return null
    }
    if (value === '--') {
      this.#isEnded = true
      return null
    }
    if (isGlob) return this.#unknown(value)
    if (this.#grammar.counts === true && /^-\d+$/.test(value)) return null
    return value.startsWith('--') ? this.#longOption(value, next) : this.#shortOptions(value, next)
  }

  end(): Fit {
    const { operands = 'paths', maxOperands = Infinity } = this.#grammar
    const given = this.#operands
    if (given.length > (operands === 'none' ? 0 : maxOperands))
      return { ok: false, why: `${this.#name} may write to what is named last` }
    if (operands === 'text') return { ok: true, paths: [...this.#values, ...this.#globs] }
    const files = operands === 'pattern' && !this.#hasPattern ? given.slice(1) : given
    return { ok: true, paths: [...this.#values, ...files], files }
  }

  #longOption(value: string, next: string | undefined): string | null {
    const [, name = '', given] = /^--([^=]*)(?:=([\s\S]*))?$/.exec(value) ?? []
    const kind = this.#long.get(name)
    if (kind === undefined && this.#grammar.anyOption !== true) return this.#unknown(`--${name}`)
    if (patternOptions.has(name)) this.#hasPattern = true
    if (given !== undefined) {
      if (kind === '') return this.#unknown(value)
      // A pattern is no file, wherever it stands.
      if (name !== 'regexp') this.#values.push(given)
      return null
    }
    if (kind === '=') {
      if (next === undefined) return this.#unknown(value)
      this.#takesNext = true
    }
    return null
  }

  #shortOptions(value: string, next: string | undefined): string | null {
    const { short = '', shortValue = '', anyOption } = this.#grammar
    for (let at = 1; at < value.length; at++) {
      const letter = value[at]!
      if (letter === 'e' || letter === 'f') this.#hasPattern = true
      if (shortValue.includes(letter)) {
        if (at < value.length - 1) this.#values.push(value.slice(at + 1))
        else if (next === undefined) return this.#unknown(value)
        else this.#takesNext = true
        return null
      }
      if (anyOption !== true && !short.includes(letter)) return this.#unknown(`-${letter}`)
    }
    return null
  }

  #unknown(option: string): string {
    return `${this.#name} ${option} is not known to only look`
  }
}
