// Whether a command is read-only: only where that is proven, word by word, by the row of its program. What is not in a
// table, or is given a word that its row does not know, is asked about (PM31).
import { fits, unknownOption, type Fit, type Given, type Grammar } from './grammar.ts'
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

// ---- git ----
// Its parts that may be read-only, in the notation of grammar.ts, each option with the value as git itself takes
// it. Those that write (`--output`), run something (`--ext-diff`, `--open-files-in-pager`, signatures), read further files
// (`-O`, `--contents`) or connect are not among them.

const shown =
  '-psuzRabwWctmrit -U?N -M?T -C?T -B?T -S:T -G:T -l?N -X?T --patch --no-patch --raw --patch-with-raw --minimal --patience --histogram ' +
  '--indent-heuristic --no-indent-heuristic --stat?T --numstat --shortstat --dirstat?T --summary --patch-with-stat ' +
  '--compact-summary --name-only --name-status --no-color --color?T --color-moved?T --color-words?T --word-diff?T ' +
  '--word-diff-regex=T --no-renames --find-renames?T --find-copies?T --find-copies-harder --check --full-index --binary ' +
  '--text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines ' +
  '--ignore-matching-lines=T --function-context --exit-code --quiet --no-ext-diff --no-textconv --no-prefix --relative?T ' +
  '--no-relative --pickaxe-all --pickaxe-regex --unified?N --inter-hunk-context=N --diff-filter=T --diff-algorithm=T ' +
  '--submodule?T --ignore-submodules?T --abbrev?N --no-abbrev --src-prefix=T --dst-prefix=T --line-prefix=T --anchored=T ' +
  '--find-object=T --cc --combined-all-paths --root --no-commit-id --irreversible-delete'

const chosen =
  '-gEFPi -n:N -L:L --oneline --graph --no-graph --all --branches?T --tags?T --remotes?T --glob=T --exclude=T --decorate?T --no-decorate ' +
  '--decorate-refs=T --decorate-refs-exclude=T --source --follow --reverse --merges --no-merges --min-parents=N --max-parents=N ' +
  '--first-parent --since:T --after:T --until:T --before:T --author:T --committer:T --grep:T --invert-grep --all-match ' +
  '--regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --max-count:N --skip:N --pretty?T --format=T ' +
  '--abbrev-commit --no-abbrev-commit --date:T --relative-date --parents --children --left-right --cherry-pick --cherry ' +
  '--cherry-mark --left-only --right-only --boundary --simplify-by-decoration --full-history --dense --sparse ' +
  '--ancestry-path --topo-order --date-order --author-date-order --walk-reflogs --no-walk?T --full-diff --log-size ' +
  '--notes?T --no-notes --encoding=T --expand-tabs?N --no-expand-tabs --show-pulls --no-mailmap --use-mailmap --reflog --not ' +
  '--objects --count'

/** A format may ask for signatures, and checking one runs a program. */
const noSignatures = ({ words }: Given): string | null =>
  words.some((word) => /%G|%\(\*?signature/.test(word))
    ? 'a format that shows signatures runs the program that checks them'
    : null

const changes: Grammar = { options: `${shown} --cached --staged --merge-base` }
const history: Grammar = { options: `${shown} ${chosen}`, counts: true, check: noSignatures }
const listed =
  '--sort=T --format=T --contains~T --no-contains~T --merged~T --no-merged~T --points-at~T --no-color --color?T --column?T --no-column --ignore-case -i'

/** Names are patterns for what is listed only where the list was asked for; elsewhere they are made. */
const namesNeed =
  (...listing: string[]) =>
  (given: Given): string | null =>
    given.operands.length === 0 || given.options.some((name) => listing.includes(name))
      ? noSignatures(given)
      : 'a name without --list makes something of that name'

const readable =
  /^(?:user\.(?:name|email)|core\.[a-z]+|init\.defaultbranch|(?:remote|branch)\.[\w./-]+\.(?:url|fetch|remote|merge|pushurl))$/i

const commands: Readonly<Record<string, Grammar>> = {
  status: {
    options:
      '-sbvz -u?T --short --branch --porcelain?T --long --verbose --untracked-files?T --ignored?T --null --column?T --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?T --show-stash --ignore-submodules?T',
  },
  diff: { ...changes, check: noSignatures },
  log: history,
  show: history,
  'diff-tree': { options: shown },
  'rev-list': history,
  shortlog: {
    options:
      '-nsce --numbered --summary --email --committer --no-merges --merges --all --since:T --until:T --after:T --before:T --author:T --group=T --first-parent --format=T',
    check: noSignatures,
  },
  blame: {
    options:
      '-wlcsetfnpb -M?N -C?N -L:L --date=T --porcelain --line-porcelain --incremental --show-email --show-name --show-number --root --abbrev=N --first-parent --no-progress --minimal --since=T',
  },
  branch: {
    options: `-avr --list --all --remotes --verbose --show-current --abbrev=N --no-abbrev ${listed}`,
    operands: 'text',
    check: namesNeed('--list'),
  },
  tag: { options: `-l -n?N --list ${listed}`, operands: 'text', check: namesNeed('-l', '--list') },
  remote: { options: '-v --verbose', operands: 'none' },
  'remote get-url': { options: '--all --push', operands: 'text', most: 1 },
  'stash list': { ...history, operands: 'none' },
  'stash show': { options: `${shown} --include-untracked --only-untracked`, operands: 'text', most: 1 },
  reflog: { ...history, operands: 'none' },
  'reflog show': history,
  // Not what says where the repository keeps what worktrees share: git that runs unasked is shown another folder there.
  'rev-parse': {
    options:
      '-q --show-toplevel --git-dir --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --abbrev-ref?T --short?N --verify --quiet --symbolic --symbolic-full-name --show-prefix --show-cdup --show-superproject-working-tree --all --branches?T --tags?T --remotes?T --revs-only --no-revs --no-flags --show-object-format?T',
  },
  'ls-files': {
    options:
      '-cdmoiskutvz -x:T --cached --deleted --modified --others --ignored --stage --killed --unmerged --exclude-standard --exclude=T --full-name --error-unmatch --directory --no-empty-directory --eol --deduplicate --abbrev?N --recurse-submodules',
  },
  'ls-tree': {
    options:
      '-drtlz --long --name-only --name-status --object-only --full-name --full-tree --abbrev?N --format=T',
  },
  'cat-file': { options: '-tsep' },
  describe: {
    options:
      '--tags --all --always --dirty?T --broken?T --abbrev=N --long --exact-match --match=T --exclude=T --contains --candidates=N --first-parent',
  },
  'merge-base': { options: '-a --all --is-ancestor --fork-point --octopus --independent' },
  'name-rev': { options: '--name-only --tags --always --refs=T --no-undefined' },
  'show-ref': {
    options: '-sqd --heads --branches --tags --head --hash?N --abbrev?N --verify --quiet --dereference',
  },
  'for-each-ref': {
    options:
      '--count=N --sort=T --format=T --points-at=T --merged~T --no-merged~T --contains~T --no-contains~T --ignore-case',
    check: noSignatures,
  },
  'count-objects': { options: '-vH --verbose --human-readable', operands: 'none' },
  'check-ignore': { options: '-vqnz --verbose --quiet --non-matching --no-index' },
  'symbolic-ref': {
    options: '-q --short --quiet',
    operands: 'text',
    most: 1,
  },
  cherry: { options: '-v --verbose --abbrev?N' },
  config: {
    options: '--get --get-all --local --type=T --bool --int --null -z --default=T',
    operands: 'text',
    most: 1,
    // With a second word it would be set, and not every one is for everybody's eyes.
    check: ({ operands: [key = ''] }) =>
      readable.test(key) ? null : 'git config may set something or show a key',
  },
  version: { options: '--build-options', operands: 'none' },
  grep: {
    options:
      '-invwEFPGIlLchHoqWpaz -A:N -B:N -C:N -m:N -e:E --line-number --ignore-case --invert-match --word-regexp --extended-regexp ' +
      '--basic-regexp --fixed-strings --perl-regexp --files-with-matches --files-without-match --name-only --count ' +
      '--context:N --after-context:N --before-context:N --max-count:N --cached --untracked --no-index --heading --break ' +
      '--color?T --no-color --show-function --function-context --only-matching --max-depth:N --and --or --not --all-match ' +
      '--column --text --null --recursive --no-recursive --full-name --quiet --exclude-standard',
    operands: 'pattern',
    counts: true,
  },
}

/** The row of a command of git, or of it and its next word. */
const gitGrammar = (name: string): Grammar | undefined =>
  Object.hasOwn(commands, name) ? commands[name] : undefined
