// The parts of git that only look. Options are shared by the commands that show changes; those that write (`--output`),
// run something (`--ext-diff`, `--open-files-in-pager`, signatures) or talk to others are not among them.
import type { Grammar } from './options.ts'

const shown =
  'stat? numstat shortstat name-only name-status oneline graph all decorate? no-decorate no-color color? cached staged ' +
  'patch no-patch format= pretty? abbrev-commit abbrev? date= since= until= after= before= author= committer= grep= ' +
  'max-count= skip= reverse follow merges no-merges first-parent word-diff? ignore-all-space ignore-space-change ' +
  'ignore-blank-lines minimal summary unified= find-renames? find-copies? diff-filter= quiet exit-code check dirstat? ' +
  'raw full-index no-renames topo-order date-order author-date-order left-right cherry-pick tags branches remotes ' +
  'merge-base histogram patience diff-algorithm= function-context no-ext-diff no-textconv relative? source notes? ' +
  'no-notes cc combined-all-paths parents children boundary simplify-by-decoration full-history text compact-summary'

/** A format may ask for signatures, and checking one runs a program. */
const noSignatures = (words: readonly string[]): string | null =>
  words.some((word) => /%G/.test(word)) ? 'a format with %G runs the program that checks signatures' : null

const changes: Grammar = {
  short: 'psbwuRMCczatig',
  shortValue: 'nUSGL',
  counts: true,
  long: shown,
  refuse: noSignatures,
}
const listing = (short: string, long: string): Grammar => ({ short, long, operands: 'none' })

const commands: Readonly<Record<string, Grammar>> = {
  status: {
    short: 'sbvzu',
    long: 'short branch porcelain? long verbose untracked-files? ignored? null column? ahead-behind renames',
  },
  diff: changes,
  log: changes,
  show: changes,
  'diff-tree': { ...changes, short: 'prtcmsz' },
  'rev-list': changes,
  shortlog: { ...changes, short: 'nsce', shortValue: '' },
  blame: { short: 'wlcsetfnpMC', shortValue: 'L', long: 'date= porcelain line-porcelain show-email' },
  branch: listing('avr', 'list all remotes verbose show-current no-color color? no-column'),
  tag: { short: 'ln', long: 'list', operands: 'none' },
  remote: { short: 'v', long: 'verbose', operands: 'none' },
  stash: onlyWords('list'),
  worktree: onlyWords('list'),
  reflog: { ...changes, maxOperands: 0 },
  'rev-parse': {
    long: 'show-toplevel git-dir is-inside-work-tree abbrev-ref? short? verify quiet symbolic-full-name show-prefix show-cdup git-common-dir is-bare-repository',
    short: 'q',
  },
  'ls-files': {
    short: 'cdmoiskutvz',
    shortValue: 'x',
    long: 'cached deleted modified others ignored stage exclude-standard exclude= full-name error-unmatch directory',
  },
  'ls-tree': { short: 'drtlz', long: 'long name-only name-status full-name full-tree abbrev?' },
  'cat-file': { short: 'tsep' },
  describe: { long: 'tags all always dirty? abbrev= long exact-match match= contains' },
  'merge-base': { short: 'a', long: 'all is-ancestor fork-point octopus' },
  'name-rev': { long: 'name-only tags always' },
  'show-ref': { short: 'sq', long: 'heads tags head hash? abbrev? verify quiet' },
  'for-each-ref': {
    long: 'count= sort= format= points-at= merged? no-merged? contains? no-contains?',
    refuse: noSignatures,
  },
  'count-objects': { short: 'vH', long: 'verbose human-readable', operands: 'none' },
  grep: {
    short: 'invwEFPIlLchHoqWpaz',
    shortValue: 'ABCem',
    long: 'line-number ignore-case invert-match word-regexp extended-regexp fixed-strings perl-regexp files-with-matches files-without-match count context= after-context= before-context= cached untracked no-index heading break color? no-color show-function function-context only-matching max-depth= and or not all-match column',
    operands: 'pattern',
  },
}

function onlyWords(word: string): Grammar {
  return {
    operands: 'text',
    refuse: (words) => (words.join(' ') === word ? null : `only ${word} is known to only look`),
  }
}

export const gitGrammar = (name: string): Grammar | undefined =>
  Object.hasOwn(commands, name) ? commands[name] : undefined
