// The programs that may be read-only, each with the options that keep it so, in the notation of grammar.ts. A row must
// hold for every version of the program: nothing listed may write a file, run a program, open a connection, change the
// machine, or go through links to other places.
import { awkRefusal, jqRefusal, sedRefusal, testRefusal } from './scripts.ts'
import type { Given, Grammar } from './grammar.ts'

const sum: Grammar = {
  options:
    '-bctwz --binary --check --text --tag --zero --ignore-missing --quiet --status --strict --warn -a:N --algorithm:N',
  isHarmless: true,
  // The list that is checked names further files.
  check: ({ options }) =>
    options.includes('-c') || options.includes('--check') ? 'it reads the files that a list names' : null,
}

const grep: Grammar = {
  options:
    '-abcEFGHhIiLlnoPqrsTUvwxyZz -e:E -A:N -B:N -C:N -m:N -d:T --regexp:E --after-context:N --before-context:N ' +
    '--context:N --max-count:N --include=T --exclude=T --exclude-dir=T --extended-regexp --fixed-strings --basic-regexp ' +
    '--perl-regexp --ignore-case --no-ignore-case --word-regexp --line-regexp --null-data --no-messages --invert-match ' +
    '--version --help --byte-offset --line-number --line-buffered --with-filename --no-filename --label=T ' +
    '--only-matching --quiet --silent --binary-files=T --text --directories=T --recursive --files-without-match ' +
    '--files-with-matches --count --initial-tab --null --color?T --colour?T --binary',
  operands: 'pattern',
  counts: true,
  isHarmless: true,
}

const any: Grammar = { operands: 'text', isHarmless: true }
const lines = '-n:S -c:S -qvz --lines:S --bytes:S --quiet --silent --verbose --zero-terminated'
const test: Grammar = { operands: 'text' }

const rows: Readonly<Record<string, Grammar>> = {
  ls: {
    options:
      '-aAbBcCdfFgGhiklmnNopqQrRsStTuUvwxXZ1 --all --almost-all --author --escape --block-size=T --ignore-backups --color?T ' +
      '--directory --classify?T --file-type --format=T --full-time --group-directories-first --no-group --human-readable ' +
      '--si --hide=T --indicator-style=T --inode --ignore:T -I:T --kibibytes --numeric-uid-gid --literal --quote-name ' +
      '--quoting-style=T --reverse --recursive --size --sort=T --time=T --time-style=T --width=N --version --help -D',
    isHarmless: true,
  },
  pwd: { options: '-LP', operands: 'none' },
  cat: {
    options:
      '-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting --version --help',
    isHarmless: true,
  },
  wc: { options: '-clLmw --bytes --chars --lines --words --max-line-length', isHarmless: true },
  head: { options: lines, counts: true, isHarmless: true },
  tail: { options: `${lines} -r`, counts: true, isHarmless: true },
  basename: { options: '-az -s:T --multiple --suffix:T --zero', operands: 'text' },
  dirname: { options: '-z --zero', operands: 'text' },
  realpath: {
    options:
      '-emLPqsz --canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip --no-symlinks --zero --relative-to:P --relative-base:P',
  },
  readlink: {
    options:
      '-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --silent --verbose --zero',
  },
  stat: { options: '-tfLxsFrn -c:T --format:T --printf=T --terse --dereference' },
  true: any,
  false: any,
  ':': any,
  printf: { operands: 'text', noGlob: true, check: printfRefusal },
  whoami: { operands: 'none' },
  hostname: { options: '-s', operands: 'none' },
  uptime: { options: '-ps', operands: 'none' },
  id: { options: '-agGnruz --group --groups --name --real --user', operands: 'text' },
  groups: { operands: 'text' },
  uname: {
    options:
      '-asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --operating-system',
    operands: 'none',
  },
  nproc: { options: '--all', operands: 'none' },
  arch: { operands: 'none' },
  free: { options: '-bkmghtw --human --mega --giga --total', operands: 'none' },
  date: {
    options:
      '-uR -I?T -d:T -r:P --utc --universal --iso-8601?T --rfc-3339=T --rfc-email --date:T --reference:P',
    operands: 'text',
    most: 1,
    check: ({ operands: [first] }) =>
      first === undefined || first.startsWith('+') ? null : 'date sets the clock with such a word',
  },
  sleep: { operands: 'text' },
  seq: { options: '-w -s:T -f:T --equal-width --separator:T', operands: 'text' },
  expr: { operands: 'text' },
  du: {
    options:
      '-abchkmsSx0 -d:N -t:S --all --apparent-size --bytes --total --human-readable --si --max-depth:N --summarize --one-file-system --separate-dirs --exclude=T --threshold:S --time?T --null',
  },
  df: {
    options:
      '-ahHiklmPT -t:T -x:T --all --human-readable --si --inodes --local --portability --print-type --total --type:T',
    operands: 'text',
  },
  cut: {
    options:
      '-nsz -b:T -c:T -d:T -f:T --bytes:T --characters:T --delimiter:T --fields:T --only-delimited --complement --output-delimiter:T --zero-terminated',
  },
  tr: { options: '-cCdst --complement --delete --squeeze-repeats --truncate-set1', operands: 'text' },
  nl: { options: '-p -b:T -d:T -f:T -h:T -i:N -l:N -n:T -s:T -v:S -w:N --body-numbering:T --number-width:N' },
  fold: { options: '-bs -w:N --bytes --spaces --width:N' },
  fmt: { options: '-cstu -w:N --width:N --split-only' },
  expand: { options: '-i -t:T --initial --tabs:T' },
  unexpand: { options: '-a -t:T --all --tabs:T' },
  paste: { options: '-sz -d:T --delimiters:T --serial --zero-terminated' },
  join: { options: '-iz -1:N -2:N -a:N -v:N -t:T -o:T -e:T -j:N' },
  comm: { options: '-123iz --check-order --nocheck-order --output-delimiter=T --total --zero-terminated' },
  cmp: { options: '-bls -n:N -i:T --print-bytes --verbose --silent --quiet --bytes:N --ignore-initial:T' },
  tac: { options: '-br -s:T --before --regex --separator:T' },
  rev: {},
  column: { options: '-tx -s:T -c:N -o:T --table --separator:T --output-separator:T' },
  md5sum: sum,
  sha1sum: sum,
  sha224sum: sum,
  sha256sum: sum,
  sha384sum: sum,
  sha512sum: sum,
  b2sum: sum,
  shasum: sum,
  cksum: {},
  md5: { options: '-qr' },
  od: {
    options:
      '-abcdfhilosvx -A:T -t:T -N:N -j:N -w?N --address-radix:T --format:T --read-bytes:N --skip-bytes:N --output-duplicates',
  },
  hexdump: { options: '-bcCdovx -n:N -s:N' },
  hd: { options: '-bcCdovx -n:N -s:N' },
  strings: {
    options: '-aw -n:N -t:T --all --bytes:N --radix:T',
    check: ({ words }) =>
      words.some((word) => word.startsWith('@')) ? 'strings takes further words from a file' : null,
  },
  base64: { options: '-di -w:N --decode --wrap:N --ignore-garbage', most: 1 },
  // Its words are never joined, options come first, and a second file is written, whatever its name begins with.
  xxd: {
    options: '-a -b -e -i -p -ps -plain -u -l:N -s:S -c:N -g:N',
    style: 'words',
    optionsFirst: true,
    most: 1,
  },
  tree: {
    options:
      '-a -d -f -p -s -h -D -F -i -A -C -J -X -n -N -u -g -r -t -U -v -c -L:N -I:T -P:T --dirsfirst --filesfirst --noreport --prune --gitignore --du --si --inodes --charset=T --sort=T',
    style: 'words',
  },
  file: {
    options: '-bihkN0L --brief --mime --mime-type --mime-encoding --keep-going --no-pad --dereference',
  },
  diff: {
    options:
      '-uabBciqrswyENtTdpZen -U:N -C:N -W:N -x:T -I:T -L:T --unified?N --context?N --brief --recursive --ignore-all-space ' +
      '--ignore-space-change --ignore-blank-lines --ignore-case --ignore-trailing-space --new-file --color?T --side-by-side ' +
      '--width:N --minimal --report-identical-files --suppress-common-lines --strip-trailing-cr --text --exclude:T --label:T ' +
      '--show-c-function --normal --no-dereference',
  },
  sort: {
    options:
      '-bdfghinrRsuVzcCmM -k:T -t:T --reverse --unique --numeric-sort --human-numeric-sort --version-sort --ignore-case ' +
      '--stable --key:T --field-separator:T --check?T --zero-terminated --general-numeric-sort --month-sort --merge ' +
      '--random-sort --sort=T --ignore-leading-blanks --dictionary-order --parallel=N',
  },
  uniq: {
    options:
      '-cdDuiz -f:N -s:N -w:N --count --repeated --unique --ignore-case --zero-terminated --skip-fields:N --skip-chars:N --check-chars:N',
    most: 1,
  },
  jq: {
    options:
      '-rcCMSnesaj --raw-output --compact-output --color-output --monochrome-output --sort-keys --null-input --slurp --ascii-output --exit-status --join-output --tab',
    operands: 'pattern',
    check: ({ patterns: [program] }) => jqRefusal(program ?? '.'),
  },
  grep,
  egrep: grep,
  fgrep: grep,
  rg: {
    options:
      '-nilcvwxFSsoUHNI0uqpPa. -A:N -B:N -C:N -e:E -g:T -t:T -T:T -m:N -M:N -j:N -d:N -r:T -E:T --line-number --ignore-case ' +
      '--files-with-matches --files-without-match --count --count-matches --invert-match --word-regexp --line-regexp ' +
      '--fixed-strings --smart-case --case-sensitive --only-matching --multiline --multiline-dotall --with-filename ' +
      '--no-filename --no-line-number --hidden --no-ignore --no-ignore-vcs --files --glob:T --iglob:T --type:T --type-not:T ' +
      '--type-list --max-count:N --max-depth:N --max-filesize:N --context:N --after-context:N --before-context:N ' +
      '--regexp:E --sort:T --sortr:T --color:T --colors:T --heading --no-heading --json --stats --pcre2 --null --column ' +
      '--vimgrep --trim --passthru --text --no-messages --max-columns:N --no-config --replace:T --context-separator=T ' +
      '--pretty --quiet --debug --version --crlf --threads:N',
    operands: 'pattern',
    noPattern: ['--files', '--type-list', '--version'],
  },
  which: { options: '-as', operands: 'text' },
  whereis: { options: '-bms', operands: 'text' },
  type: { options: '-aftpP', operands: 'text' },
  test,
  '[': test,
  sed: {
    options:
      '-nErusz -e:E --quiet --silent --regexp-extended --expression:E --separate --unbuffered --null-data --sandbox --posix',
    operands: 'pattern',
    check: ({ patterns }) => sedRefusal(patterns),
  },
  awk: {
    options: '-F:T -v:T',
    operands: 'pattern',
    check: ({ patterns: [program], words }) => awkRefusal(program ?? '', words),
  },
  gofmt: { options: '-l -d -e -s', style: 'words' },
  'npm ls': npmList(),
  'npm list': npmList(),
}
const table = new Map(Object.entries({ ...rows, gawk: rows['awk']!, mawk: rows['awk']! }))

function npmList(): Grammar {
  return {
    options:
      '-agl --all --json --long --parseable --global --depth:N --prod --production --dev --omit=T --link --package-lock-only',
    operands: 'text',
  }
}

/** `%n` stores into the variable it is given, `-v` too, and the name may hold a command. */
function printfRefusal({ words }: Given): string | null {
  return words.some((word) => /%[^%A-Za-z]*[hjlLqtz]*n/.test(word)) ? 'printf stores something with %n' : null
}

/** Programs that run what they are given, or the project's own: nothing of theirs but these very words is read-only. */
const versions: Readonly<Record<string, string>> = {
  node: '--version -v',
  npm: '--version -v',
  npx: '--version -v',
  deno: '--version',
  bun: '--version',
  python: '--version -V',
  python3: '--version -V',
  pip: '--version -V',
  pip3: '--version -V',
  ruby: '--version',
  perl: '--version -v',
  java: '--version -version',
  javac: '--version -version',
  gcc: '--version',
  'g++': '--version',
  clang: '--version',
  cc: '--version',
  make: '--version -v',
  cmake: '--version',
  bash: '--version',
  docker: '--version -v',
  gh: '--version',
  uv: '--version',
  curl: '--version -V',
  jq: '--version',
  sed: '--version',
  awk: '--version',
  tar: '--version',
  find: '--version',
  tree: '--version',
}

export const isVersionQuestion = (name: string, words: readonly string[]): boolean =>
  words.length === 1 && Object.hasOwn(versions, name) && versions[name]!.split(' ').includes(words[0]!)

/** The row of a program, or of a program and its first word. */
export const programGrammar = (name: string): Grammar | undefined => table.get(name)

/** Programs whose words are not options at all, whatever they look like. */
export const textOnly = new Set(['echo', 'true', 'false', ':'])

/** What a test of the shell is given, without the bracket that ends it. */
export const testWords = (name: string, words: readonly string[]): string | null =>
  name === '[' && words.at(-1) !== ']' ? 'a test without its bracket' : testRefusal(words)
