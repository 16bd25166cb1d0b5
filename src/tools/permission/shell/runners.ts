// The commands that run another command, as one table: where in their words it stands, and when it is not there at all
// (PM33). A rule that denies or asks looks at every reading; what is not known before it runs cannot be compared with a
// rule and is asked about.
import { basename } from 'node:path/posix'
import { awkRunsPrograms, sedRefusal } from './scripts.ts'
import type { MaybeWord } from './word.ts'

/** A command's own name, whatever folder it is called from. */
export const nameOf = (words: readonly MaybeWord[]): string | null => {
  const first = words[0]
  return first === undefined || first === null ? null : basename(first.value)
}

export interface Runner {
  /**
   * `rest`: a command may begin at any of its words. `scripts`: any word may be a script. `options`: only what is given to
   * one of these options. `subscripts`: a name in brackets may hold a command. `nothing`: a program of another language.
   */
  readonly runs: 'rest' | 'scripts' | 'options' | 'subscripts' | 'nothing'
  readonly options?: readonly string[]
  /** The words, behind which a command begins. */
  readonly after?: readonly string[]
  /** What it runs does not stand in its words. */
  readonly isUnknown?: (words: readonly string[]) => boolean
}

const isOption = (word: string): boolean => word.startsWith('-') && word !== '-'
const noOperand = (words: readonly string[]): boolean => words.slice(1).every(isOption)
const fewOperands = (words: readonly string[]): boolean =>
  words.slice(1).filter((word) => !isOption(word)).length < 2
const always = (): boolean => true
const has =
  (shape: RegExp) =>
  (words: readonly string[]): boolean =>
    words.slice(1).some((word) => shape.test(word))
const asksOnly = /^(?:--?version|--?help|-[vVh])$/
const stream = /^(?:-|\/dev\/|\/proc\/)/

/** A shell without a script reads one from its input. */
function shell(words: readonly string[]): boolean {
  if (words.length === 2 && asksOnly.test(words[1]!)) return false
  if (has(/^-[a-zA-Z]*s|^--(?:rcfile|init-file)/)(words)) return true
  if (has(/^[-+][a-zA-Z]*c/)(words)) return false
  // The word behind -o is the name of an option of the shell.
  const operands = words
    .slice(1)
    .filter((word, at) => !/^[-+]./.test(word) && !/^[-+][a-zA-Z]*[oO]$/.test(words[at] ?? ''))
  return operands.length === 0 || stream.test(operands[0]!)
}

/** A program of another language: not compared with rules for commands. A file or module of it is like any program. */
const code = (words: readonly string[]): boolean =>
  !(words.length === 2 && asksOnly.test(words[1]!)) &&
  (words[1] === 'eval' ||
    has(/^-[a-zA-Z]*[ceEpr]$|^-[ce].|^--(?:eval|print|command|exec)/)(words) ||
    noOperand(words) ||
    words.slice(1).some((word) => stream.test(word) && !isOption(word)))

/** Of sed the scripts count, not the files; one that is not understood may run what it reads. */
function sedRunsPrograms(words: readonly string[]): boolean {
  const scripts: string[] = []
  let first: string | undefined
  for (let at = 1; at < words.length; at++) {
    const word = words[at]!
    const [, joined] = /^(?:-[a-zA-Z]*e|--expression=)([\s\S]*)$/.exec(word) ?? []
    if (/^-[a-zA-Z]*f|^--file/.test(word)) return true
    if (joined !== undefined || word === '--expression')
      scripts.push(joined === undefined || joined === '' ? (words[++at] ?? '') : joined)
    else if (!isOption(word)) first ??= word
  }
  return (scripts.length > 0 ? scripts : [first ?? '']).some(
    (script) => sedRefusal([script]) !== null && /(?:^|[\s;{}\d$/|!,])e|e\s*$/.test(script),
  )
}

/** `xargs -I % % …`: the command itself comes from the input. */
function placeholderRuns(words: readonly string[]): boolean {
  const at = words.findIndex((word) => /^-[a-zA-Z0-9]*[Ii]|^--replace/.test(word))
  if (at === -1) return false
  const [, joined = ''] = /^(?:-[a-zA-Z0-9]*?[Ii]|--replace=?)([\s\S]*)$/.exec(words[at]!) ?? []
  const isSeparate = joined === '' && words[at]!.endsWith('I')
  const placeholder = joined !== '' ? joined : isSeparate ? (words[at + 1] ?? '') : '{}'
  const first = words.slice(at + (isSeparate ? 2 : 1)).find((word) => !isOption(word) && !/^\d+$/.test(word))
  return first === undefined || first.includes(placeholder)
}

const rows: readonly (readonly [string, Runner])[] = [
  [
    'env timeout nice nohup command builtin exec watch stdbuf setsid ionice chrt taskset flock strace ltrace time entr ' +
      'prlimit setpriv fakeroot pkexec run0 valgrind numactl dbus-run-session dbus-launch start-stop-daemon catchsegv perf ' +
      'rr cgexec firejail proot unbuffer rlwrap torsocks proxychains proxychains4 faketime xvfb-run direnv mise asdf conda ' +
      'systemd-run systemd-inhibit caffeinate npx pnpx bunx npm pnpm yarn uv uvx poetry pipx pipenv hatch rye bundle ' +
      'docker podman nerdctl kubectl lxc-attach machinectl nix nix-shell cross-env concurrently nodemon foreman hyperfine ' +
      'dotenv op aws-vault mosh tmux screen busybox toybox bwrap coproc trap compgen complete mapfile readarray ! { ' +
      'if then elif else do while until for case gosu su-exec tini dumb-init s6-setuidgid softlimit chpst runcon setarch ' +
      'linux32 linux64 i386 x86_64 cpulimit ts parallel-ssh pdsh sshpass autossh rsh eatmydata aa-exec capsh newgrp sg',
    { runs: 'rest' },
  ],
  ['sudo doas', { runs: 'rest', isUnknown: has(/^-[a-zA-Z]*[si]$|^--(?:shell|login)/) }],
  ['su runuser', { runs: 'rest', isUnknown: (words) => !has(/^-[a-z]*c|^--(?:session-)?command/)(words) }],
  ['chroot unshare nsenter', { runs: 'rest', isUnknown: (words) => fewOperands(words) && words.length < 4 }],
  ['script', { runs: 'rest', isUnknown: (words) => !has(/^-[a-z]*c|^--command/)(words) }],
  [
    'xargs',
    {
      runs: 'rest',
      // Words that come from its input may be options or commands to one who runs others.
      isUnknown: (words) =>
        words.slice(1).some((word) => byName(basename(word)) !== undefined) || placeholderRuns(words),
    },
  ],
  [
    'parallel at batch crontab ed ex gdb lldb expect tclsh wish socat telnet ftp',
    { runs: 'rest', isUnknown: always },
  ],
  ['ssh', { runs: 'rest', isUnknown: fewOperands }],
  [
    'sh bash dash zsh ksh ksh93 mksh fish ash rbash csh tcsh elvish nu pwsh',
    { runs: 'rest', isUnknown: shell },
  ],
  [
    'python python2 python3 pypy pypy3 perl ruby node nodejs deno bun php lua luajit Rscript R osascript guile sbcl julia groovy scala irb ipython ghci',
    { runs: 'rest', isUnknown: code },
  ],
  [
    'make gmake bmake',
    {
      runs: 'rest',
      isUnknown: (words) =>
        has(/^-[a-zA-Z]*f(?:-|\/dev\/.*)$|^--(?:file|makefile)=(?:-|\/dev)|^--eval|^SHELL=|^--?$/)(words) ||
        words.some(
          (word, at) => /^-[a-zA-Z]*f$|^--(?:make)?file$/.test(words[at - 1] ?? '') && stream.test(word),
        ),
    },
  ],
  ['bind', { runs: 'rest', isUnknown: always }],
  ['eval', { runs: 'rest' }],
  ['source .', { runs: 'rest', isUnknown: has(stream) }],
  ['hash', { runs: 'scripts', isUnknown: has(/^-[a-z]*p/) }],
  ['enable', { runs: 'scripts', isUnknown: has(/^-[a-z]*f/) }],
  ['shopt', { runs: 'scripts', isUnknown: has(/expand_aliases/) }],
  ['alias git', { runs: 'scripts', after: ['run', 'foreach'] }],
  [
    'find fd fdfind',
    { runs: 'scripts', after: ['-exec', '-execdir', '-ok', '-okdir', '-x', '-X', '--exec', '--exec-batch'] },
  ],
  [
    'printf read declare typeset local readonly export let unset test [ [[ getopts wait',
    { runs: 'subscripts' },
  ],
  [
    'vim vi view nvim emacs emacsclient',
    { runs: 'scripts', isUnknown: has(/^-[cSses]$|^\+|^--(?:cmd|eval|batch)|^-$/) },
  ],
  [
    'sqlite3 psql mysql',
    { runs: 'scripts', isUnknown: (words) => fewOperands(words) || has(/\\!|\.sh|\.system|^-init/)(words) },
  ],
  [
    'sed gsed',
    {
      runs: 'nothing',
      isUnknown: sedRunsPrograms,
    },
  ],
  [
    'awk gawk mawk nawk',
    {
      runs: 'nothing',
      isUnknown: (words) => has(/^-[a-z]*[fie]$|^--/)(words) || words.slice(1).some(awkRunsPrograms),
    },
  ],
  [
    'tar bsdtar gtar',
    {
      runs: 'options',
      options: [
        '--checkpoint-action',
        '--to-command',
        '--use-compress-program',
        '-I',
        '--info-script',
        '--new-volume-script',
        '-F',
        '--rsh-command',
        '--rmt-command',
      ],
    },
  ],
  ['sort', { runs: 'options', options: ['--compress-program'] }],
  ['split', { runs: 'options', options: ['--filter'] }],
  ['rg', { runs: 'options', options: ['--pre', '--hostname-bin'] }],
  ['rsync', { runs: 'options', options: ['-e', '--rsh', '--rsync-path'] }],
  ['scp sftp', { runs: 'options', options: ['-S', '-o', '-D'] }],
  ['man', { runs: 'options', options: ['-P', '--pager', '-H', '--html', '-p', '--preprocessor'] }],
  ['nc ncat netcat', { runs: 'options', options: ['-e', '-c', '--exec', '--sh-exec', '--lua-exec'] }],
  ['zip', { runs: 'options', options: ['-TT', '--unzip-command'] }],
  ['less more', { runs: 'options', options: ['-P'] }],
  ['curl wget', { runs: 'options', options: ['--use-askpass'] }],
  ['logrotate ctags pg_dump ip tcpdump', { runs: 'scripts' }],
]
const table = new Map(
  rows.flatMap(([names, runner]) => names.split(' ').map((name) => [name, runner] as const)),
)

const loader = /^ld[-\w.]*\.so[\d.]*$/
const versioned = /^(python|perl|ruby|php|lua|node|pypy)\d[\d.]*$/

function byName(name: string): Runner | undefined {
  return (
    table.get(name) ??
    (loader.test(name)
      ? { runs: 'rest' }
      : versioned.test(name)
        ? table.get(versioned.exec(name)![1]!)
        : undefined)
  )
}

/** What a command may run; undefined where it runs nothing. A name that is not known may run anything. */
export function runnerOf(words: readonly MaybeWord[]): Runner | undefined {
  const name = nameOf(words)
  return name === null ? { runs: 'rest' } : byName(name)
}

/** Variables whose value is run as a command, by somebody or other. */
const commands =
  /^(?:PAGER|MANPAGER|GIT_PAGER|BAT_PAGER|SYSTEMD_PAGER|AWS_PAGER|EDITOR|VISUAL|GIT_EDITOR|GIT_SEQUENCE_EDITOR|SUDO_EDITOR|GIT_SSH|GIT_SSH_COMMAND|GIT_EXTERNAL_DIFF|GIT_ASKPASS|SSH_ASKPASS|SUDO_ASKPASS|GIT_PROXY_COMMAND|PROMPT_COMMAND|PS[0-4]|LESSOPEN|LESSCLOSE|BROWSER|RSYNC_RSH|CVS_RSH|TAR_OPTIONS|FCEDIT|SHELL|CC|CXX|LD|CARGO_TARGET_\w+_RUNNER|RUSTC_WRAPPER)$/
/** Variables that say where programs, libraries or settings come from. */
const origins =
  /^(?:PATH|IFS|ENV|BASH_ENV|SHELLOPTS|BASHOPTS|CDPATH|LD_\w+|DYLD_\w+|NODE_OPTIONS|NODE_PATH|PYTHON\w+|PERL5\w+|PERLLIB|RUBYOPT|RUBYLIB|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|_JAVA_OPTIONS|MAKEFLAGS|MAKEFILES|GIT_CONFIG\w*|GIT_EXEC_PATH|GIT_DIR|GIT_TEMPLATE_DIR|npm_config_\w+|RIPGREP_CONFIG_PATH|BASH_FUNC_.*|AWKPATH|AWKLIBPATH|LUA_\w+|PHPRC|GOFLAGS)$/

/** What setting a variable means: its value is a command, or says where commands come from. */
export const variableKind = (name: string): 'command' | 'origin' | null =>
  commands.test(name) ? 'command' : origins.test(name) ? 'origin' : null

const duration = /^\d+(?:\.\d+)?[smhd]?$/
const isNumber = (text: string | undefined): boolean => /^[+-]?\d+$/.test(text ?? '')

/** Where the command begins inside ones that change nothing about it; 0 where there is none of these. */
export function commandStart(words: readonly MaybeWord[]): number {
  let start = 0
  for (;;) {
    const name = words[start]
    if (name === undefined || name === null || !name.isBare) return start
    const own = ownWords(name.value, (at) => words[start + 1 + at]?.value)
    const inner = own === null ? undefined : words[start + 1 + own]
    if (own === null || inner === undefined || inner?.value.startsWith('-') === true) return start
    start += 1 + own
  }
}

/** How many words behind its name belong to the wrapper itself; null where it is more than a plain hand-over. */
function ownWords(name: string, word: (at: number) => string | undefined): number | null {
  switch (name) {
    case 'timeout': {
      let at = 0
      for (;;) {
        const value = word(at) ?? ''
        if (value === '-k' || value === '-s') at += 2
        else if (/^--(?:foreground|preserve-status|kill-after=[\w.]+|signal=\w+)$/.test(value)) at++
        else return duration.test(value) ? at + 1 : null
      }
    }
    case 'nice':
      if (word(0) === '-n' && isNumber(word(1))) return 2
      return /^-(?:n)?\d+$|^--adjustment=-?\d+$/.test(word(0) ?? '') ? 1 : 0
    case 'env':
    case 'command':
      // With an assignment or an option it is more than a plain hand-over.
      return /^[^-=][^=]*$/.test(word(0) ?? '') ? 0 : null
    default:
      return null
  }
}
