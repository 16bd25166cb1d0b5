// What random command lines are made of: for each program the options it has, those that write or run among them. F is a
// file that must not appear, ./evil a program of the project that makes it.
const list = (text: string): readonly string[] => text.split(' ').filter((word) => word !== '')

export interface Program {
  readonly names: readonly string[]
  /** Options, whole words. */
  readonly options: readonly string[]
  /** Letters that are put together at random behind one dash. */
  readonly letters: string
  readonly operands: readonly string[]
  /** Words that write or run something, wherever they are taken for options. */
  readonly acts: readonly string[]
}

const files = list('a b f src src/a.ts package.json . ./a F evil evil.py evil.js Makefile nosuch sub')
const patterns = list('x foo a.c ^x p 1,2p s/x/y/ . x|y')

const gitDiff = list(
  '-p -s -u -U -U3 -n -n1 -1 -2 -L -L1,1:a -S -Sx -G -O -Oorder -M -C -z -w -b -R --stat --numstat --oneline ' +
    '--graph --all --format --format=%B --format=%H --pretty --pretty=%s --unified --unified=3 --output --output=F --output-indicator-new=x ' +
    '--ext-diff --no-ext-diff --textconv --no-textconv --author --author=x --grep --grep=x --since --since=1 --until --date --date=iso ' +
    '--name-only --name-status --patch --no-patch --cached --staged --word-diff --color --color=always --diff-filter --diff-filter=A ' +
    '--find-renames --find-copies --diff-algorithm --diff-algorithm=patience --relative --max-count --max-count=1 --skip --skip=1 --reverse ' +
    '--abbrev --abbrev=4 --decorate --notes --raw --summary --check --quiet --dirstat --remerge-diff --no-index --src-prefix=x --inter-hunk-context=1 ' +
    '--stdin --follow --merges --exit-code --full-index --ignore-all-space --function-context --text --cc -c -m -t',
)
const gitOthers = list(
  '-v -a -r -l -s -b -q -h -i -e -d -D -m -f -x -o -O -Oless -O./evil --open-files-in-pager --open-files-in-pager=./evil --list --verbose ' +
    '--show-toplevel --git-dir --abbrev-ref --short --verify --contents --contents=f --ignore-revs-file=f --porcelain --line-porcelain ' +
    '--others --exclude-standard --exclude=x --batch --textconv --filters --dirty --tags --always --heads --count=1 --sort=refname ' +
    '--show-current --contains --merged --no-merged --points-at --ignored --untracked-files --no-index --untracked --and --or --not --cached',
)
const git = (names: string, options: readonly string[]): Program => ({
  names: list(names).map((name) => `git ${name.replaceAll('+', ' ')}`),
  options,
  letters: 'nUSGLpsbwuRMCczatigOovrldDfeqhmx',
  operands: list('HEAD HEAD~1 main a src -- HEAD:a HEAD:.env :a F x list foo HEAD..HEAD'),
  acts: list('--output=F --open-files-in-pager=./evil -O./evil -d'),
})

export const programs: readonly Program[] = [
  git('diff log show', gitDiff),
  git('diff log show reflog shortlog diff-tree rev-list', gitDiff),
  git(
    'status branch tag remote stash stash+list worktree+list rev-parse ls-files ls-tree cat-file describe merge-base name-rev show-ref for-each-ref count-objects blame check-ignore config+--get remote+get-url stash+show',
    gitOthers,
  ),
  git('grep', [
    ...gitOthers,
    ...list('-e -A -B -C -A1 -n -w -E -F -P --max-depth --max-depth=1 --context=1'),
  ]),
  {
    names: ['git'],
    acts: list('--exec-path=. -ccore.pager=./evil'),
    options: list(
      '-C -c --no-pager -P --version --exec-path=. --git-dir=sub/.git --work-tree=. -p --bare --namespace=x --config-env=a=b -ccore.pager=./evil diff status log --output=F',
    ),
    letters: 'CcpP',
    operands: list('sub . src diff log status core.pager=./evil'),
  },
  {
    names: ['find'],
    acts: list('-delete -fprint'),
    options: list(
      '-name -iname -path -type -size -mtime -newer -maxdepth -perm -user -regex -printf -prune -o -a -not ! ( ) , -print -print0 -delete -exec -execdir -ok -fprint -fprintf -fls -ls -quit -empty -depth -L -H -P -follow -samefile -files0-from -D -O3',
    ),
    letters: 'LHPDO',
    operands: list(". a src F touch ; + {} f 1 '*.ts' d %p ./evil -delete -true x"),
  },
  {
    names: ['rg'],
    acts: list('--pre=./evil --hostname-bin=./evil'),
    options: list(
      '-n -i -l -c -v -w -F -S -o -U -H -N -I -0 -u -uu -q -p -P -A -B -C -A1 -e -g -t -T -m -M -j -d -r -rn -z -f -E --pre --pre=./evil --pre-glob --pre-glob=* --hostname-bin=./evil --search-zip --hidden --no-ignore --files --glob --glob=*.ts --type=ts --max-count=1 --context=1 --regexp --regexp=x --sort=path --color=never --json --stats --replace=x --file=f --follow --no-config',
    ),
    letters: 'nilcvwxFSsoUHNI0uqpPABCegtTmMjdrzfEL',
    operands: [...patterns, ...files],
  },
  {
    names: ['grep', 'egrep', 'fgrep'],
    acts: list('.env ../outside/secret'),
    options: list(
      '-n -i -l -c -v -w -r -R -E -F -P -o -q -s -h -H -a -z -A -B -C -A1 -m -e -f -d -D --include --include=*.ts --exclude=x --exclude-from=f --regexp=x --file=f --color=always --recursive --dereference-recursive --label=x --binary-files=text --directories=recurse',
    ),
    letters: 'nilcvwrREFPoqshHazABCmefdD',
    operands: [...patterns, ...files],
  },
  {
    names: ['xxd'],
    acts: list('F -r'),
    options: list(
      '-p -b -i -u -r -l -s -c -g -o -a -e -E -C -d -n -R -l4 -c 16 -ps -bc -revert -len -seek -cols',
    ),
    letters: 'pbiurlscgoaeECdnR',
    operands: list('a f F - 4 16'),
  },
  {
    names: ['tree'],
    acts: list('-oF -o'),
    options: list(
      '-a -d -f -L -I -P -o -L1 -R -H -T -J -X -x -l -C -n --dirsfirst --noreport --prune --filelimit --filelimit=9 --charset=x --fromfile --gitignore --output=F --info',
    ),
    letters: 'adfpshDFiACnNLIPoRHTJXxlugQqvrtcUS',
    operands: list('. src 1 X F a'),
  },
  {
    names: ['sed'],
    acts: list("-i '-ewF' wF").map((word) => word.replaceAll('+', ' ')),
    options: list(
      '-n -E -r -u -e -f -i -s -z -l --expression --expression=p --quiet --in-place --file=f --debug --posix --sandbox -i.bak -ne -nE --line-length=3',
    ),
    letters: 'nEruefiszl',
    operands: [
      "'1,2p'",
      'p',
      "'$p'",
      "'s/x/y/'",
      "'s/x/y/g'",
      "'s/x/y/w F'",
      "'w F'",
      "'1e touch F'",
      "'s/.*/touch F/e'",
      "'1!p'",
      "'/x/,/y/p'",
      "'r f'",
      "'R f'",
      "'W F'",
      "'p;w F'",
      "'{p}'",
      "'y/a/b/'",
      "'s|x|y|w F'",
      "'/x/I,+1p'",
      "'1~2p'",
      "'\\%x%p'",
      ...files,
    ],
  },
  {
    names: ['sort', 'uniq', 'cut', 'tr', 'comm', 'paste', 'nl', 'fold', 'tac', 'column', 'diff', 'cmp'],
    acts: list('-oF --output=F --compress-program=./evil F'),
    options: list(
      '-o -oF --output=F --outp=F -k -k2 -t -t: -n -r -u -c -d -f -i -z -T -S --compress-program=./evil --files0-from=f --batch-size=2 --parallel=1 --key=1 --field-separator=x -s -w -b -l -e --help --unified --context --width=9 -U -C -W -D --to-file=F --from-file=F -x -X --paginate --output-delimiter=x',
    ),
    letters: 'bdfghinrsuVzcCmMktToSRuaBqwyENUWlDxe',
    operands: files,
  },
  {
    names: [
      'cat',
      'head',
      'tail',
      'wc',
      'ls',
      'stat',
      'file',
      'du',
      'df',
      'od',
      'hexdump',
      'strings',
      'base64',
      'md5sum',
      'realpath',
      'readlink',
      'basename',
      'dirname',
      'date',
      'seq',
    ],
    acts: list('.env ../outside/secret --files0-from=.env -C'),
    options: list(
      '-n -c -l -a -A -1 -h -L -R -r -d -s -S -t -i -C -m -f -F -k -z -v -w -b -e -p -x -o -T --files0-from=f --files0-from=- --magic-file=f --compile --set=x --set --date=@0 --reference=a --format=%n --printf=%n --decode --wrap=0 --follow --time-style=+%s --color=always --exclude-from=f --check --tag +1 +%s @f',
    ),
    letters: 'nclaAhLRrdsStiCmfFkzvwbepxoT1',
    operands: [...files, '1', '3', 'x', '*', 'src/*', '?', '[a-f]', "'*'"],
  },
  {
    names: [
      'echo',
      'printf',
      'test',
      '[',
      'true',
      ':',
      'type',
      'which',
      'command -v',
      'expr',
      'id',
      'uname',
      'sleep 0',
    ],
    acts: list("'a[$(touch+F)]' -v %n").map((word) => word.replaceAll('+', ' ')),
    options: list(
      "-n -e -f -d -v -z -s -a -t -p -P -x -eq -nt -ef -o ! ] ( ) = == %s %n %b %q %d %ln '%(%F)T' -V --help",
    ),
    letters: 'nefdvzsatpPx',
    operands: [
      "'a[$(touch F)]'",
      "'a[`touch F`]'",
      'x',
      '1',
      'a',
      'F',
      'PATH',
      "'%s\\n'",
      '*',
      '?',
      'git',
      '1 + 1',
    ],
  },
  {
    names: ['jq'],
    acts: list('-f -L --rawfile'),
    options: list(
      '-r -c -n -e -s -a -j -S -M -f -L -R --arg --args --slurpfile --rawfile --from-file --tab --indent --seq --stream --argjson -nr -rf',
    ),
    letters: 'rcMSnesajfLR',
    operands: ['.', '.name', "'env'", "'input_filename'", "'$ENV'", '\'import "x" as $x; .\'', ...files],
  },
  {
    names: [
      'node',
      'python3',
      'python',
      'npm',
      'make',
      'cargo',
      'rustc',
      'go',
      'java',
      'gcc',
      'perl',
      'ruby',
      'bash',
      'sh',
      'awk',
      'gawk',
    ],
    acts: list('- -- evil.js evil.py -e'),
    options: list(
      '- -- -v -V -vv -vV --version version -i -c -e -f -n -B -q -s -S -m -p -h --help -E -I -x -O env ls list',
    ),
    letters: 'vVicefnBqsSmpx',
    operands: list('evil.py evil.js evil Makefile a F'),
  },
  {
    names: [
      'cd',
      'pwd',
      'tee',
      'xargs',
      'dd',
      'cp',
      'mv',
      'touch',
      'tar',
      'curl',
      'ln',
      'rm',
      'ed',
      'ex',
      'split',
      'less',
      'man',
    ],
    acts: list('F touch of=F'),
    options: list('-P -L -a -i -n -0 -I{} if=a of=F -o F -f -rf -s --output=F -c -x'),
    letters: 'PLain0fsrcx',
    operands: [...files, '..', '/', '~', '-', 'touch', 'ls'],
  },
]

/** Texts a program might take from its input and run. */
export const inputs: readonly string[] = [
  `<<'E'\nopen("F","w")\nE\n`,
  `<<'E'\nrequire("fs").writeFileSync("F","")\nE\n`,
  `<<E\ntouch F\nE\n`,
  `<<< 'touch F'`,
  `<<< 'open("F","w")'`,
  `<<< 'require("fs").writeFileSync("F","")'`,
  '< evil.py',
  '< evil.js',
  '< evil',
  `<<'E'\nall:\n\ttouch F\nE\n`,
]
export const before: readonly string[] = [
  `echo 'require("fs").writeFileSync("F","")' | `,
  `echo 'open("F","w")' | `,
  'echo touch F | ',
  'cat evil.py | ',
  'cat evil | ',
  'find . | ',
  'git log | ',
]
export const wrappers = list(
  'env timeout+5 nice command time ! nice+-n+3 timeout+-k+1+5 env+-i nohup /usr/bin/env builtin exec',
).map((word) => `${word.replaceAll('+', ' ')} `)

export const redirections: readonly string[] = [
  ...list(
    '2>&1 2>/dev/null >/dev/null </dev/null <f <a 2>>/dev/null &>/dev/null >&2 1>&2 2>&- <&- >&- 3>&1 0<&- >F 2>F >>F >|F <>F >&F &>F &>>F {fd}>F {fd}>&- 2>&1- <&0- 3<a 2>&2',
  ),
  ...list(
    `2>&-'' 2>&-"" <&-'' >&-$'' 2>&1'' 2>&1"" 2>&''1 2>&'1' 2>&"-" 2>&-x 2>&1x >&-\\x >/dev/null'' >/dev/null"" '2'>&1 2\\>&1 2>&-* 2>&1* 2>&$'-' 2>&-$x`,
  ),
  '2>& 1',
  '2> /dev/null',
  '> /dev/null ',
  '>& -',
  '< "f"',
  "<<<''",
  '<<<x',
  '2>&-\\\n',
  '2>&-\t',
  "<<''\n\n",
  '<<-E\n\tx\n\tE\n',
  "<<'E'\n$(touch F)\nE\n",
  '<<E\n$(touch F)\nE\n',
]

/** Words of an odd shape, put between the others. */
export const odd: readonly string[] = [
  ...list(
    `'' "" $'' $"" \\ - -- --output=F -oF F * ? [a] {a,b} {-o,F} ~ ~/x ~root a=~ a=~/.secret --x=~ $x \${x} $? "$?" $$ $# $@ "$@" $* $- $! $0 $1 \${x:-y} \${#x} $((1)) \`ls\` $(ls) <(ls) !(a) @(a|F) +(a) *.ts src/* .[e]nv .en? .e* .. ../outside/canary ./-o -o* link/secret a=/x`,
  ),
  '#x',
  '\\#x',
  "$'\\x2d\\x6f'",
  "$'a\\0b'",
  "$'\\c?'",
  "$'\\u00a0'",
  '"a\\\nb"',
  'a\\\nb',
  '\\\n',
  '\u00a0',
  '\u2003',
  '\r',
  '\v',
  '\f',
  '"$(touch F)"',
  "'$(touch F)'",
]
export const separators: readonly string[] = [
  ...list('; && || | |& & ;; ;&'),
  '\n',
  ' ; ',
  ' && ',
  ' | ',
  ' || ',
  '\n\n',
  ' # x\n',
  ';\n',
  ' &\n',
]
