// The commands that only look, each with the options it may have. What is not here, or is given an option that is not
// listed, is asked about. An entry must hold for every version of the command: no option or operand of it may write a
// file, run a program, open a connection or change the machine.
import { isSecretPath } from '../../files/protected-names.ts'
import { gitGrammar } from './git-looking.ts'
import { fits, type Fit, type Grammar } from './options.ts'
import { findPaths, sedRefusal, testRefusal } from './scripts.ts'
import type { KnownWord } from './word.ts'

const any: Grammar = { anyOption: true }
const anyText: Grammar = { anyOption: true, operands: 'text' }
/** Without a word such a command reads a program from its input and runs it. */
const versionOnly: Grammar = {
  short: 'vV',
  long: 'version',
  refuse: (words) => (words.length === 1 && words[0]!.startsWith('-') ? null : 'it runs programs'),
}

/** Options that go through links to where nobody looked. */
const noFollowing = (letters: RegExp, long: RegExp) => (words: readonly string[]) => {
  const found = words.find((word) => (word.startsWith('--') ? long.test(word) : letters.test(word)))
  return found === undefined ? null : `${found} follows links to other places`
}

const grepLong =
  'regexp= file= after-context= before-context= context= max-count= include= exclude= exclude-dir= extended-regexp ' +
  'fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case word-regexp line-regexp null-data no-messages ' +
  'invert-match version help byte-offset line-number line-buffered with-filename no-filename label= only-matching quiet ' +
  'silent binary-files= text directories= devices= recursive files-without-match files-with-matches count initial-tab ' +
  'null color? colour? binary'
const grepNames = new Set(grepLong.split(' ').map((name) => name.replace(/[=?]$/, '')))

/** Nothing of grep acts, but a shortened name could make a file of what is taken for the pattern. */
const grep: Grammar = {
  anyOption: true,
  shortValue: 'ABCmefDd',
  long: grepLong,
  operands: 'pattern',
  refuse: (words) =>
    noFollowing(/^-[A-Za-z]*R/, /^--deref/)(words) ??
    (words.some(
      (word) => word.startsWith('--') && word !== '--' && !grepNames.has(word.slice(2).split('=')[0]!),
    )
      ? 'grep has no such option written in full'
      : null),
}

const table: Readonly<Record<string, Grammar>> = {
  ls: { ...any, refuse: noFollowing(/^-[A-Za-z]*[LH]/, /^--deref/) },
  pwd: any,
  cat: any,
  wc: any,
  head: any,
  tail: any,
  basename: anyText,
  dirname: anyText,
  realpath: any,
  readlink: any,
  stat: any,
  true: anyText,
  false: anyText,
  ':': anyText,
  echo: anyText,
  printf: { operands: 'text', noGlob: true, refuse: printfRefusal },
  whoami: any,
  id: anyText,
  uname: anyText,
  nproc: any,
  arch: any,
  date: {
    short: 'uRI',
    shortValue: 'dr',
    long: 'utc iso-8601? rfc-3339= date= reference=',
    operands: 'text',
    refuse: dateRefusal,
  },
  sleep: anyText,
  seq: anyText,
  expr: anyText,
  du: { ...any, refuse: noFollowing(/^-[A-Za-z]*L/, /^--deref/) },
  df: any,
  cut: any,
  tr: anyText,
  nl: any,
  fold: any,
  paste: any,
  comm: any,
  cmp: any,
  tac: any,
  rev: any,
  column: any,
  md5sum: any,
  sha1sum: any,
  sha256sum: any,
  cksum: any,
  od: any,
  hexdump: { short: 'bcCdovx', shortValue: 'ns' },
  strings: { short: 'aw', shortValue: 'nt', long: 'all', refuse: stringsRefusal },
  base64: { short: 'di', shortValue: 'w', long: 'decode wrap= ignore-garbage' },
  xxd: { short: 'pbiu', shortValue: 'lscg', maxOperands: 1 },
  file: { short: 'bihk', long: 'brief mime mime-type mime-encoding' },
  diff: {
    short: 'uabBciqswyENtTd',
    shortValue: 'UCW',
    long: 'unified? context? brief ignore-all-space ignore-space-change ignore-blank-lines ignore-case new-file color? side-by-side width= minimal report-identical-files',
  },
  sort: {
    short: 'bdfghinrsuVzcCmM',
    shortValue: 'kt',
    long: 'reverse unique numeric-sort human-numeric-sort version-sort ignore-case stable key= field-separator= check? zero-terminated general-numeric-sort month-sort',
  },
  uniq: {
    short: 'cduiz',
    shortValue: 'fsw',
    long: 'count repeated unique ignore-case zero-terminated',
    maxOperands: 1,
  },
  tree: {
    short: 'adfpshDFiACnN',
    shortValue: 'LIP',
    long: 'dirsfirst noreport prune gitignore filelimit= charset=',
  },
  jq: {
    short: 'rcMSnesaj',
    long: 'raw-output compact-output monochrome-output sort-keys null-input slurp ascii-output exit-status tab',
    operands: 'pattern',
    refuse: jqRefusal,
  },
  grep,
  egrep: grep,
  fgrep: grep,
  rg: {
    short: 'nilcvwxFSsoUHNI0uqpP',
    shortValue: 'ABCegtTmMjd',
    long: 'line-number ignore-case files-with-matches files-without-match count count-matches invert-match word-regexp fixed-strings smart-case case-sensitive only-matching multiline with-filename no-filename no-line-number hidden no-ignore files glob= iglob= type= type-not= type-list max-count= max-depth= context= after-context= before-context= regexp= sort= color= heading no-heading json stats pcre2 null column vimgrep trim',
    operands: 'pattern',
  },
  which: { short: 'a', operands: 'text' },
  type: { short: 'aftpP', operands: 'text' },
  test: { operands: 'text', anyOption: true, noGlob: true, refuse: testRefusal },
  '[': { operands: 'text', anyOption: true, noGlob: true, refuse: testRefusal },
  sed: {
    short: 'nEru',
    shortValue: 'e',
    long: 'quiet silent regexp-extended expression=',
    operands: 'pattern',
    refuse: sedRefusal,
  },
  node: versionOnly,
  npm: versionOnly,
  python: versionOnly,
  python3: versionOnly,
  cargo: versionOnly,
  rustc: versionOnly,
  go: {
    operands: 'text',
    refuse: (words) => (words.join(' ') === 'version' ? null : 'only go version is known to only look'),
  },
  java: versionOnly,
  gcc: versionOnly,
  make: versionOnly,
}

/** A program of jq may read further files by itself. */
function jqRefusal(words: readonly string[]): string | null {
  return words.some((word) => /\b(?:import|include|modulemeta|get_search_list)\b/.test(word))
    ? 'the program of jq reads further files'
    : null
}

/** `@file` stands for the words in that file. */
function stringsRefusal(words: readonly string[]): string | null {
  return words.some((word) => word.startsWith('@')) ? 'strings takes further words from a file' : null
}

/** `%n` stores into the variable it is given, and its name may hold a command. */
function printfRefusal(words: readonly string[]): string | null {
  return words.some((word) => /%[^%A-Za-z]*[hjlLqtz]*n/.test(word)) ? 'printf stores something with %n' : null
}

function dateRefusal(words: readonly string[]): string | null {
  const setting = words.find(
    (word, at) => !/^[-+]/.test(word) && !/^-[dr]$|^--(?:date|reference|rfc-3339)$/.test(words[at - 1] ?? ''),
  )
  return setting === undefined ? null : 'date sets the clock with such a word'
}

/** Whether a command only looks, and at which files; else why that is not known. */
export function looksOnly(words: readonly KnownWord[]): Fit {
  const [first, ...args] = words
  if (first === undefined) return { ok: false, why: 'nothing is run' }
  const name = first.value.replace(/^\/(?:usr\/)?bin\//, '')
  if (!first.isBare || first.isGlob)
    return { ok: false, why: `the name of the command is written in a hidden way` }
  if (name === 'git') return gitLooks(args)
  if (name === 'find') return findPaths(args)
  if (name === 'command' && /^-[vV]$/.test(args[0]?.value ?? '')) return { ok: true, paths: [] }
  const grammar = Object.hasOwn(table, name) ? table[name] : undefined
  if (grammar === undefined) return { ok: false, why: `${name} is not among the commands that only look` }
  return fits(name, args, grammar)
}

/** git before its own command takes a folder and the wish for no pager, nothing else. */
function gitLooks(args: readonly KnownWord[]): Fit {
  let at = 0
  let folder: string | undefined
  for (; at < args.length && args[at]!.value.startsWith('-'); at++) {
    const { value } = args[at]!
    if (value === '--no-pager' || value === '-P') continue
    if (value === '--version') return { ok: true, paths: [] }
    if (value !== '-C' || args[at + 1] === undefined || args[at + 1]!.isGlob)
      return { ok: false, why: `git ${value} changes how git works` }
    folder = below(folder, args[++at]!.value)
  }
  const name = args[at]?.value ?? ''
  const grammar = gitGrammar(name)
  if (grammar === undefined) return { ok: false, why: `git ${name} is not among the commands that only look` }
  const fit = fits(`git ${name}`, args.slice(at + 1), grammar)
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
  if (words[0]?.value.replace(/^\/(?:usr\/)?bin\//, '') !== 'git') return null
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
