// Every way to read a part of a command as a command, for rules that deny or ask (PM4, PM33). Law: whatever the shell would
// run, directly or through one of the known runners, is among the readings, or the command is blind: something in it is
// not known before it runs, or was not understood.
import { forEachChild, parse, type Assignment, type Command, type Script, type SyntaxNode } from 'unbash'
import { defaults } from '../../../settings/defaults.ts'
import { nameOf, runnerOf, variableKind, type Runner } from './runners.ts'
import { knownWord, type MaybeWord } from './word.ts'

const limits = defaults.permission

export function parsed(source: string): Script | null {
  try {
    const script = parse(source)
    return (script.errors ?? []).length > 0 ? null : script
  } catch {
    // A parser that breaks has not understood; the caller fails closed.
    return null
  }
}

export const wordsOf = (node: Command): readonly MaybeWord[] => {
  const args = node.args.map((arg) => (arg.type === 'Word' ? knownWord(arg) : null))
  return node.name === undefined ? args : [knownWord(node.name), ...args]
}

/** What may begin a script rather than be a plain word. */
const scriptLike = /[\s;|&<>$`(){}]/
const notUnderstood = 'a part of it cannot be parsed'

export class Readings {
  readonly all: (readonly MaybeWord[])[] = []
  readonly doubts = new Set<string>()
  readonly unknowns = new Set<string>()
  isBlind = false
  isTooMuch = false
  /** How many words the commands of the line have. */
  words = 0
  #depth = 0

  /** What it runs is not known, which matters to those who would compare it. */
  unknown(why: string): void {
    this.isBlind = true
    this.unknowns.add(why)
  }

  blind(why: string): void {
    this.isBlind = true
    this.doubts.add(why)
  }

  /** Every command anywhere in the tree, substitutions and here-documents included. */
  collect(node: SyntaxNode): void {
    if (this.isTooMuch) return
    if (node.type === 'Script' && (node.errors ?? []).length > 0) this.blind(notUnderstood)
    if (
      (node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution') &&
      node.script === undefined
    )
      this.blind(notUnderstood)
    if (node.type === 'ParameterExpansion' && node.operation?.type === 'Unknown') this.blind(notUnderstood)
    if (node.type === 'Assignment') this.#assignment(node)
    if (node.type === 'Command') this.#command(wordsOf(node))
    if (node.type === 'TestCommand') this.#testWords(node)
    forEachChild(node, (inner) => this.collect(inner))
  }

  /** Of `[[ … ]]`: a comparison of numbers runs what stands in the brackets of a name, quoted or not. */
  #testWords(node: SyntaxNode): void {
    forEachChild(node, (inner) => {
      if (inner.type === 'Word') this.#subscripts([null, knownWord(inner)])
      else this.#testWords(inner)
    })
  }

  #add(words: readonly MaybeWord[]): boolean {
    if (this.all.length >= limits.readings) this.isTooMuch = true
    else this.all.push(words)
    return !this.isTooMuch
  }

  #assignment({ name, value }: Assignment): void {
    this.#setting(name, value.type === 'Word' ? knownWord(value) : null)
  }

  #setting(name: string, value: MaybeWord): void {
    const kind = variableKind(name)
    if (kind === null) return
    if (kind === 'origin' || value === null) this.unknown(`it sets ${name}, which decides what is run`)
    else this.#script(value.value, true)
  }

  /** A command, and what it might run in its turn. */
  #command(words: readonly MaybeWord[]): void {
    if (words.length === 0) return
    this.words += words.length
    if (words.includes(null)) this.isBlind = true
    const runner = runnerOf(words)
    if (!this.#add(words) || runner === undefined) return
    if (this.#depth >= limits.nesting) return this.blind('commands are nested too deeply')
    this.#depth++
    this.#unknown(words, runner)
    if (runner.runs === 'options') this.#options(words, runner.options ?? [])
    else if (runner.runs === 'subscripts') this.#subscripts(words)
    else if (runner.runs !== 'nothing') this.#words(words, runner)
    this.#depth--
  }

  #unknown(words: readonly MaybeWord[], runner: Runner): void {
    const values = words.map((word) => word?.value ?? '')
    if (runner.isUnknown?.(values) === true)
      this.unknown(`what ${nameOf(words)} starts is only known when it runs`)
  }

  #words(words: readonly MaybeWord[], { runs, after = [] }: Runner): void {
    const values = words.map((word) => word?.value ?? '')
    const isShell = nameOf(words) === 'eval'
    for (let at = 1; at < words.length && !this.isTooMuch; at++) {
      const word = words[at]
      if (word === null || word === undefined) continue
      const { value } = word
      if (runs === 'rest' || after.includes(values[at - 1]!)) this.#rest(words.slice(at))
      if (/^(?:-a?m|--message|-F|--grep|--author|-S|-G)$/.test(values[at - 1]!) && runs === 'scripts')
        continue
      const [, name, given] = /^(?:-{1,2})?([A-Za-z_][\w.-]*)=([\s\S]*)$/.exec(value) ?? []
      if (name !== undefined && given !== undefined && !value.startsWith('-'))
        this.#setting(name, { ...word, value: given })
      this.#script(value.replace(/^!/, ''), false)
      if (given !== undefined) this.#script(given.replace(/^(?:exec=|!)/, ''), false)
      else if (/^-[A-Za-z]./.test(value)) this.#script(value.slice(2), false)
    }
    if (isShell) this.#script(values.slice(1).join(' '), true)
  }

  /** A command that begins at some word of another. */
  #rest(words: readonly MaybeWord[]): void {
    if (!this.#add(words)) return
    const inner = runnerOf(words)
    if (inner !== undefined && nameOf(words) !== null) this.#unknown(words, inner)
  }

  /** What is given to an option that names a program, shortened or not. */
  #options(words: readonly MaybeWord[], options: readonly string[]): void {
    for (const [at, word] of words.entries()) {
      if (word === null || at === 0) continue
      const [, name = '', given] = /^(--[^=]+)(?:=([\s\S]*))?$/.exec(word.value) ?? []
      const short = options.find((option) => !option.startsWith('--') && word.value.startsWith(option))
      const isLong = name.length > 3 && options.some((option) => option.startsWith(name))
      if (!isLong && short === undefined) continue
      const value = isLong ? given : word.value.slice(short!.length) || undefined
      const next = words[at + 1]
      const script = value ?? next?.value
      if (script === undefined) this.isBlind ||= next === null
      else this.#script(script.replace(/^exec=/, ''), true)
    }
  }

  /** `a[$(…)]` as the name of a variable runs what stands in the brackets. */
  #subscripts(words: readonly MaybeWord[]): void {
    for (const word of words.slice(1)) {
      if (word === null) continue
      const [, name, given] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(word.value) ?? []
      if (name !== undefined && given !== undefined) this.#setting(name, { ...word, value: given })
      if (!/\$\(|`|\$\{/.test(word.value) || (nameOf(words) === 'printf' && !/\[/.test(word.value))) continue
      this.unknown('a name in it holds a command')
      this.#script(word.value, false)
    }
  }

  /** A text that may be a script; with `isCommand` a single word of it is a command too. */
  #script(text: string, isCommand: boolean): void {
    if (text === '' || (!isCommand && !scriptLike.test(text))) return
    const script = parsed(text)
    if (script !== null) this.collect(script)
    else if (isCommand) this.blind(notUnderstood)
  }
}
