// A shell command, read from its syntax tree. Law: whatever the shell would run is among the readings, or the command is
// blind, which means: not understood. Only a command whose shape is plain (lists, pipes and groups of known words, nothing
// assigned, nothing written, nothing in the background) has no doubt; everything else says why not. The words of its
// steps are those that two readings agree about: the parser's and that of our own small lexer.
import { resolve } from 'node:path/posix'
import type { Command, CompoundList, Redirected, Statement } from 'unbash'
import { defaults } from '../../../settings/defaults.ts'
import { lex, type Plain, type PlainCommand, type PlainRedirect } from './lexer.ts'
import { parsed, Readings, wordsOf } from './readings.ts'
import { commandStart, nameOf } from './runners.ts'
import { sameWord, type MaybeWord } from './word.ts'

export interface Leaf {
  /** As it is written. */
  readonly text: string
  readonly words: readonly MaybeWord[]
  /** Where it runs, as far as the shape tells: relative to where the command starts. One step for each such folder. */
  readonly cwd: string
  /** Files that are read through redirections. */
  readonly inputs: readonly string[]
  /** Why its words alone do not tell what it does; null when they do. */
  readonly doubt: string | null
}

export interface Analysis {
  /** The commands of a plain shape, in order, wrappers that hand on taken off. */
  readonly steps: readonly Leaf[]
  /** Every way to read any part of it as a command: for rules that deny or ask. */
  readonly readings: readonly (readonly MaybeWord[])[]
  /** Why the shape is not plain. */
  readonly doubts: readonly string[]
  /** What it runs is not known before it runs: why. */
  readonly unknowns: readonly string[]
  /** Something in it is not known before it runs, or was not understood. */
  readonly isBlind: boolean
  /** More parts than are looked at. */
  readonly isTooMuch: boolean
}

const limits = defaults.permission

export function analyse(source: string): Analysis {
  const readings = new Readings()
  const steps: Leaf[] = []
  if (source.length > limits.commandChars) readings.isTooMuch = true
  else {
    const script = parsed(source)
    if (script === null) readings.blind('it cannot be parsed as a shell command')
    else {
      // What looks like a blank to a person and is none to the shell, or the other way round.
      if (isOdd(source))
        readings.blind('it contains control characters or spaces that the shell treats differently')
      readings.collect(script)
      if (readings.words > limits.words) readings.doubts.add('it has more arguments than can be checked')
      else if (!readings.isTooMuch) new Shape(source, steps, readings.doubts).read(script.commands)
    }
  }
  return {
    steps,
    readings: readings.all,
    doubts: [...readings.doubts],
    unknowns: [...readings.unknowns],
    isBlind: readings.isBlind,
    isTooMuch: readings.isTooMuch,
  }
}

const oddCharacter = /[^\P{Cc}\n\t]|[^\P{Z} ]|\p{Cf}/u
const isOdd = (source: string): boolean => oddCharacter.test(source) || !source.isWellFormed()

interface Place {
  /** Where the shell may be: more than one folder where a change may have failed. */
  readonly folders: readonly string[]
  /** A change of folder here is in force for what follows. */
  readonly mayMove: boolean
}

/** The steps of a plain shape, and every reason why it is none. */
class Shape {
  readonly #source: string
  readonly #steps: Leaf[]
  readonly #doubts: Set<string>
  readonly #plain: Plain
  /** Every folder that a change led to: a chain may have ended in any of them. */
  readonly #visited = new Set<string>()
  #seen = 0

  constructor(source: string, steps: Leaf[], doubts: Set<string>) {
    this.#source = source
    this.#steps = steps
    this.#doubts = doubts
    this.#plain = lex(source)
  }

  read(list: readonly Statement[]): void {
    this.#list(list, { folders: ['.'], mayMove: true })
    if (!this.#plain.ok) this.#doubts.add(this.#plain.why)
    else if (this.#plain.commands.size !== this.#seen) this.#doubts.add(ambiguous)
  }

  #list(list: readonly Statement[], place: Place): readonly string[] {
    let { folders } = place
    for (const { command, background } of list) {
      if (background === true) this.#doubts.add('a part of it goes on in the background')
      const after = this.#node(command, { ...place, folders })
      // Where the next one runs hangs on whether the change worked; only && says so.
      folders = [...new Set([...after, ...folders, ...this.#visited])]
      if (folders.length > limits.folders) {
        this.#doubts.add('it changes the folder too often to be followed')
        return place.folders
      }
    }
    return folders
  }

  /** Gives back the folders that may hold afterwards, where it worked. */
  #node(node: Statement['command'], place: Place): readonly string[] {
    switch (node.type) {
      case 'AndOr': {
        let { folders } = place
        const mayMove = place.mayMove && !node.operators.includes('||')
        for (const part of node.commands) folders = this.#node(part, { folders, mayMove })
        return folders
      }
      case 'Pipeline': {
        const isAlone = node.commands.length === 1
        const mayMove = place.mayMove && isAlone && node.prefixes.every(({ type }) => type !== 'Negation')
        const after = node.commands.map((part) => this.#node(part, { ...place, mayMove }))
        return isAlone ? after[0]! : place.folders
      }
      case 'Command':
        return this.#command(node, place)
      case 'Subshell':
        this.#body(node.body, place)
        return place.folders
      case 'BraceGroup':
        return this.#body(node.body, place)
      case 'Redirected':
        return this.#redirected(node, place)
      default:
        this.#doubts.add(
          `it contains shell syntax that cannot be checked (${constructs[node.type] ?? node.type})`,
        )
        return place.folders
    }
  }

  #body(body: CompoundList, place: Place): readonly string[] {
    return this.#list(body.commands, place)
  }

  /** A group whose streams all go somewhere else: as safe as its redirections, which read no file. */
  #redirected(node: Redirected, place: Place): readonly string[] {
    const redirects = this.#plain.ok ? this.#plain.groups.get(node.command.end - 1) : undefined
    if (redirects?.length !== node.redirects.length || redirects.some(({ input }) => input !== null))
      this.#doubts.add('it redirects a group in a way that cannot be checked')
    for (const { doubt } of redirects ?? []) if (doubt !== null) this.#doubts.add(doubt)
    return this.#node(node.command, {
      ...place,
      mayMove: place.mayMove && node.command.type === 'BraceGroup',
    })
  }

  #command(node: Command, place: Place): readonly string[] {
    this.#seen++
    const written = wordsOf(node)
    const plain = this.#plain.ok ? this.#plain.commands.get(node.name?.pos ?? -1) : undefined
    const agreed = plain === undefined ? null : agreement(node, written, plain)
    const all = agreed?.words ?? written
    const words = all.slice(commandStart(all))
    // Behind another program the change of folder ends with that program.
    if (nameOf(words) === 'cd' && nameOf(all) !== 'cd') this.#doubts.add(lost)
    const text = this.#source.slice(node.pos, node.end)
    const inputs = agreed?.redirects.flatMap(({ input }) => (input === null ? [] : [input])) ?? []
    for (const cwd of place.folders)
      this.#steps.push({ text, words, cwd, inputs, doubt: doubtOf(node, all, agreed) })
    return nameOf(words) === 'cd' ? this.#moved(words, place) : place.folders
  }

  #moved(words: readonly MaybeWord[], place: Place): readonly string[] {
    const to = words[1]
    const isPlain =
      place.mayMove &&
      words.length === 2 &&
      to !== null &&
      to !== undefined &&
      !to.isGlob &&
      !/^[-~]/.test(to.value)
    if (isPlain && to.value !== '' && !/[^./].*\/\.\.(?:\/|$)/.test(to.value))
      return place.folders.map((folder) => this.#visit(joinPath(folder, to.value)))
    this.#doubts.add(lost)
    return place.folders
  }

  #visit(folder: string): string {
    this.#visited.add(folder)
    return folder
  }
}

const ambiguous = 'it is written in a way that shells may read differently'
const lost = 'it changes the folder in a way that cannot be checked'

const constructs: Readonly<Record<string, string>> = {
  If: 'if',
  For: 'for',
  ArithmeticFor: 'for ((…))',
  While: 'while',
  Case: 'case',
  Select: 'select',
  Function: 'a function',
  Coproc: 'coproc',
  TestCommand: '[[ … ]]',
  ArithmeticCommand: '((…))',
}

interface Agreed {
  readonly words: readonly MaybeWord[]
  readonly redirects: readonly PlainRedirect[]
}

/** The words of a command where both readings see the same ones, with the same values; else null. */
function agreement(node: Command, written: readonly MaybeWord[], plain: PlainCommand): Agreed | null {
  const places = [node.name, ...node.args]
  if (plain.words.length !== places.length || plain.redirects.length !== node.redirects.length) return null
  const isSame = plain.words.every(({ pos, end, known }, at) => {
    const place = places[at]
    const word = written[at]
    if (place?.pos !== pos || place.end !== end) return false
    // Of braces the parser says only that they are some.
    return known.length > 1 ? word === null : sameWord(word, known[0])
  })
  return isSame ? { words: plain.words.flatMap(({ known }) => known), redirects: plain.redirects } : null
}

function doubtOf(node: Command, words: readonly MaybeWord[], agreed: Agreed | null): string | null {
  if (node.prefix.some((part) => part.type === 'Assignment')) return 'it sets a variable'
  if (words.length === 0) return 'it runs nothing by itself'
  if (words.includes(null)) return 'one of its arguments is only known when it runs'
  if (agreed === null) return ambiguous
  return agreed.redirects.find(({ doubt }) => doubt !== null)?.doubt ?? null
}

/** Relative paths stay relative: where the command starts is not known here. */
const joinPath = (cwd: string, to: string): string => (to.startsWith('/') ? resolve(to) : `${cwd}/${to}`)
