// A shell command, read from its syntax tree (TRUST A21–A25). Law: whatever the shell would run is among the leaves, or
// the command is blind, which means: not understood. Only a command whose shape is plain (lists, pipes and groups of
// known words, nothing assigned, nothing written, nothing in the background) has no doubt; everything else says why not.
import { resolve } from 'node:path/posix'
import {
  forEachChild,
  parse,
  type Command,
  type CompoundList,
  type Redirection,
  type Script,
  type Statement,
  type SyntaxNode,
} from 'unbash'
import { defaults } from '../../../settings/defaults.ts'
import { knownWord, type MaybeWord } from './word.ts'
import { handedOn, nameOf, runsOthers } from './wrappers.ts'

export interface Leaf {
  /** As it is written. */
  readonly text: string
  readonly words: readonly MaybeWord[]
  /** Where it runs, as far as the shape tells: relative to where the command starts. */
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
  /** Something in it is not known before it runs, or was not understood. */
  readonly isBlind: boolean
  /** More parts than are looked at. */
  readonly isTooMuch: boolean
}

const limits = defaults.permission

export function analyse(source: string): Analysis {
  const work = new Work()
  if (source.length > limits.commandChars) {
    work.tooMuch = true
  } else {
    const script = parsed(source)
    if (script === null) work.blind('it is not understood as a shell command')
    else {
      // What looks like a blank to a person and is none to the shell, or the other way round.
      if (isOdd(source)) work.blind('it holds control characters or blanks that the shell reads otherwise')
      if (/\\\r?\n/.test(source)) work.doubt('a line of it goes on in the next behind a backslash')
      collect(script, work)
      plainList(script.commands, { source, cwd: '.', mayMove: true }, work)
    }
  }
  return {
    steps: work.steps,
    readings: work.readings,
    doubts: [...work.doubts],
    isBlind: work.isBlind,
    isTooMuch: work.tooMuch,
  }
}

const oddCharacter = /[^\P{Cc}\n\t]|[^\P{Z} ]|\p{Cf}/u
const isOdd = (source: string): boolean => oddCharacter.test(source) || !source.isWellFormed()

class Work {
  readonly steps: Leaf[] = []
  readonly readings: (readonly MaybeWord[])[] = []
  readonly doubts = new Set<string>()
  isBlind = false
  tooMuch = false
  depth = 0

  doubt(why: string): void {
    this.doubts.add(why)
  }
  blind(why: string): void {
    this.isBlind = true
    this.doubts.add(why)
  }
  reading(words: readonly MaybeWord[]): boolean {
    if (this.readings.length >= limits.readings) this.tooMuch = true
    else this.readings.push(words)
    return !this.tooMuch
  }
}

function parsed(source: string): Script | null {
  try {
    const script = parse(source)
    return (script.errors ?? []).length > 0 ? null : script
  } catch {
    // A parser that breaks has not understood; the caller fails closed.
    return null
  }
}

/** Every command anywhere in the tree, substitutions and here-documents included. */
function collect(node: SyntaxNode, work: Work): void {
  if (work.tooMuch) return
  if (node.type === 'Script' && (node.errors ?? []).length > 0) work.blind('a part of it is not understood')
  if ((node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution') && node.script === undefined)
    work.blind('a part of it is not understood')
  if (node.type === 'ParameterExpansion' && node.operation?.type === 'Unknown')
    work.blind('a part of it is not understood')
  if (node.type === 'Command') readings(wordsOf(node), work)
  forEachChild(node, (inner) => collect(inner, work))
}

/** A command, and what it might run in its turn: each rest of its words, and each word that is a script by itself. */
function readings(words: readonly MaybeWord[], work: Work): void {
  if (words.length === 0) return
  if (words.includes(null)) work.isBlind = true
  if (!work.reading(words) || !runsOthers(words)) return
  if (work.depth >= limits.nesting) return work.blind('commands are wrapped in each other too deep')
  work.depth++
  for (let at = 1; at < words.length && !work.tooMuch; at++) {
    const word = words[at]
    if (word === null || word === undefined) continue
    work.reading(words.slice(at))
    const script = /[\s;|&<>$`(){}]/.test(word.value) ? parsed(word.value) : null
    if (script !== null) collect(script, work)
  }
  const joined =
    nameOf(words) === 'eval'
      ? parsed(
          words
            .slice(1)
            .map((word) => word?.value ?? '')
            .join(' '),
        )
      : null
  if (joined !== null) collect(joined, work)
  work.depth--
}

interface Place {
  readonly source: string
  readonly cwd: string
  /** A change of folder here is in force for what follows. */
  readonly mayMove: boolean
}

function plainList(list: readonly Statement[], place: Place, work: Work): string {
  let { cwd } = place
  for (const [at, { command, background }] of list.entries()) {
    if (background === true) work.doubt('a part of it goes on in the background')
    const after = plainNode(command, { ...place, cwd }, work)
    // Where the next one runs hangs on whether the change worked; only && says so.
    if (after !== cwd && at < list.length - 1)
      work.doubt('it changes the folder and goes on even if that fails')
    cwd = after
  }
  return cwd
}

/** Gives back the folder that holds afterwards. */
function plainNode(node: Statement['command'], place: Place, work: Work): string {
  switch (node.type) {
    case 'AndOr': {
      let { cwd } = place
      const mayMove = place.mayMove && !node.operators.includes('||')
      for (const part of node.commands) cwd = plainNode(part, { ...place, cwd, mayMove }, work)
      return cwd
    }
    case 'Pipeline': {
      const isAlone = node.commands.length === 1
      const mayMove = place.mayMove && isAlone && node.prefixes.every(({ type }) => type !== 'Negation')
      const after = node.commands.map((part) => plainNode(part, { ...place, mayMove }, work))
      return isAlone ? after[0]! : place.cwd
    }
    case 'Command':
      return plainCommand(node, place, work)
    case 'Subshell':
      plainBody(node.body, place, work)
      return place.cwd
    case 'BraceGroup':
      return plainBody(node.body, place, work)
    default:
      work.doubt(
        `it uses more of the shell's language than can be judged (${constructs[node.type] ?? node.type})`,
      )
      return place.cwd
  }
}

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
  Redirected: 'a redirected group',
}

const plainBody = (body: CompoundList, place: Place, work: Work): string =>
  plainList(body.commands, place, work)

function plainCommand(node: Command, place: Place, work: Work): string {
  const inputs: string[] = []
  let doubt = node.prefix.some((part) => part.type === 'Assignment') ? 'it sets a variable' : null
  for (const redirect of node.redirects) doubt ??= redirection(redirect, inputs)
  let words = wordsOf(node)
  if (words.includes(null)) doubt ??= 'a word of it is only known when it runs'
  if (words.length === 0) doubt ??= 'it runs nothing by itself'
  for (let inner = handedOn(words); inner !== null; inner = handedOn(words)) words = inner
  // Behind another program the change of folder ends with that program.
  if (nameOf(words) === 'cd' && nameOf(wordsOf(node)) !== 'cd')
    work.doubt('it changes the folder in a way that is not followed')
  const text = place.source.slice(node.pos, node.end)
  work.steps.push({ text, words, cwd: place.cwd, inputs, doubt })
  return nameOf(words) === 'cd' ? moved(words, place, work) : place.cwd
}

function moved(words: readonly MaybeWord[], place: Place, work: Work): string {
  const to = words[1]
  const isPlain =
    place.mayMove &&
    words.length === 2 &&
    to !== null &&
    to !== undefined &&
    !to.isGlob &&
    !/^[-~]/.test(to.value)
  if (isPlain && to.value !== '' && !/[^./].*\/\.\.(?:\/|$)/.test(to.value))
    return joinPath(place.cwd, to.value)
  work.doubt('it changes the folder in a way that is not followed')
  return place.cwd
}

/** Relative paths stay relative: where the command starts is not known here. */
const joinPath = (cwd: string, to: string): string => (to.startsWith('/') ? resolve(to) : `${cwd}/${to}`)

const wordsOf = (node: Command): readonly MaybeWord[] => {
  const args = node.args.map((arg) => (arg.type === 'Word' ? knownWord(arg) : null))
  return node.name === undefined ? args : [knownWord(node.name), ...args]
}

/** Why a redirection is more than reading, or null; what it reads is added. */
function redirection(redirect: Redirection, inputs: string[]): string | null {
  if (redirect.descriptor?.type === 'FileDescriptorVariable') return 'it opens a file under a name of its own'
  if (redirect.type === 'HereDoc')
    return redirect.body.parts === undefined || redirect.body.parts.every((part) => part.type === 'Literal')
      ? null
      : 'the text given to it is only known when it runs'
  const target = redirect.target === undefined ? null : knownWord(redirect.target)
  if (target === null || target.isGlob) return 'where it reads or writes is only known when it runs'
  if (redirect.type === 'HereString') return null
  const { operator } = redirect
  if ((operator === '>&' || operator === '<&') && /^(?:\d{1,2}|-)$/.test(target.value)) return null
  if (operator === '<') {
    inputs.push(target.value)
    return null
  }
  const writes = operator === '>' || operator === '>>' || operator === '&>' || operator === '&>>'
  return writes && target.value === '/dev/null' ? null : `it writes to ${target.value}`
}
