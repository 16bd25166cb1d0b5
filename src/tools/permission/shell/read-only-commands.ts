// Whether a command is read-only: only where that is proven, word by word, by the row of its program. What is not in a
// table, or is given a word that its row does not know, is asked about (PM31).
import { gitGrammar } from './git-grammars.ts'
import { fits, unknownOption, type Fit } from './grammar.ts'
import { isVersionQuestion, programGrammar, testWords, textOnly } from './program-grammars.ts'
import { findPaths } from './scripts.ts'
import { isSecretPath } from '../../files/protected-names.ts'
import { isNumber, type KnownWord } from './word.ts'

/** The name of a program, also where it is called from its usual folder. */
const programOf = (word: KnownWord | undefined): string =>
  word === undefined ? '' : word.value.replace(/^\/(?:usr\/)?bin\//, '')

/** Whether a command is read-only, and which files it names; else why that is not known. */
export function readOnly(words: readonly KnownWord[]): Fit {
  const [first, ...args] = words
  if (first === undefined) return { ok: false, why: 'nothing is run' }
  const name = programOf(first)
  const values = args.map(({ value }) => value)
  if (!first.isBare || first.isGlob)
    return { ok: false, why: 'the name of the command is written in a hidden way' }
  if (isVersionQuestion(name, values)) return { ok: true, paths: [] }
  if (name === 'git') return readOnlyGit(args)
  if (name === 'find') return findPaths(args)
  if (name === 'command' && /^-[vV]$/.test(values[0] ?? ''))
    return args.every(({ isGlob }) => !isGlob)
      ? { ok: true, paths: [] }
      : { ok: false, why: unknownOption(name, '*') }
  if (name === 'test' || name === '[') return readOnlyTest(name, args)
  if (textOnly.has(name))
    return { ok: true, paths: values.filter((value, at) => args[at]!.isGlob && value.includes('/')) }
  const pair = `${name} ${values[0] ?? ''}`
  const own = programGrammar(pair)
  if (own !== undefined) return fits(pair, args.slice(1), own)
  const grammar = programGrammar(name)
  return grammar === undefined
    ? { ok: false, why: `${name} may modify files or run code` }
    : fits(name, args, grammar)
}

/** File names in place of a word would change what is tested. */
function readOnlyTest(name: string, args: readonly KnownWord[]): Fit {
  const glob = args.find(({ isGlob, text }) => isGlob && !isNumber(text))
  if (glob !== undefined) return { ok: false, why: unknownOption(name, glob.value) }
  const why = testWords(
    name,
    args.map(({ value }) => value),
  )
  return why === null ? { ok: true, paths: [] } : { ok: false, why }
}

/** git before its own command takes a folder and the wish for no pager, nothing else. */
function readOnlyGit(args: readonly KnownWord[]): Fit {
  let at = 0
  let folder: string | undefined
  for (; at < args.length && args[at]!.value.startsWith('-'); at++) {
    const { value } = args[at]!
    const next = args[at + 1]
    if (value === '--no-pager' || value === '-P' || value === '--no-optional-locks') continue
    if (value === '--version' && args.length === 1) return { ok: true, paths: [] }
    if (value !== '-C' || next === undefined || next.isGlob || /^-|^$/.test(next.value))
      return { ok: false, why: `git ${value} changes how git works` }
    folder = below(folder, args[++at]!.value)
  }
  const [name, second] = [args[at], args[at + 1]]
  const pair = second === undefined ? undefined : gitGrammar(`${name?.value} ${second.value}`)
  const grammar = pair ?? gitGrammar(name?.value ?? '')
  if (grammar === undefined || name?.isGlob !== false)
    return {
      ok: false,
      why: `git ${name?.value ?? ''} may modify files or run code`,
    }
  const fit = fits(`git ${name.value}`, args.slice(at + (pair === undefined ? 1 : 2)), grammar)
  if (!fit.ok) return fit
  // `HEAD:.env` and `:(top).env` name a file too.
  const named = fit.paths.flatMap((path) => path.split(/[:()]/).slice(1).filter(isSecretPath))
  const paths = [...fit.paths, ...named].map((path) => below(folder, path))
  return { ok: true, paths: folder === undefined ? paths : [folder, ...paths], files: [folder ?? '.'] }
}

const below = (folder: string | undefined, path: string): string =>
  folder === undefined || /^[/~]/.test(path) ? path : `${folder}/${path}`

/** The folder that a git command is told to work in, where it is. */
export function gitFolder(words: readonly KnownWord[]): string | null {
  if (programOf(words[0]) !== 'git') return null
  let folder: string | undefined
  for (let at = 1; words[at]?.value.startsWith('-') === true; at++)
    if (words[at]!.value === '-C') folder = below(folder, words[++at]?.value ?? '.')
  return folder ?? '.'
}

/** Whether a command reads through whole folders: all of them, or what is not hidden. */
export function readsThrough(words: readonly KnownWord[]): 'all' | 'shown' | null {
  const [name, ...args] = words.map(({ value }) => value.replace(/^\/(?:usr\/)?bin\//, ''))
  if (/^[ef]?grep$/.test(name ?? ''))
    return args.some((arg) => /^-[A-Za-z]*r|^--recursive$|^--directories\b|^-[A-Za-z]*d/.test(arg))
      ? 'all'
      : null
  if (name === 'git')
    return args.includes('grep') && args.some((arg) => /^--(?:no-index|untracked)$/.test(arg)) ? 'all' : null
  if (name !== 'rg') return null
  // A pattern for names finds hidden ones too.
  return args.some((arg) => /^-[A-Za-z]*[ug]|^--(?:hidden|no-ignore|i?glob)\b|^-[A-Za-z]*\.$/.test(arg))
    ? 'all'
    : 'shown'
}
