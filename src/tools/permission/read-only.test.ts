// A command is read-only only where that is proven. Judged through the public door, in a real folder; nobody is asked.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toolsDoor } from '../../../test/doors.ts'
import { machineFileSystem, type FileSystem } from '../../disk/fs.ts'
import type { GivenRule, RuleList } from '../../settings/rule-list.ts'
import { commandStart } from './shell/runners.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'pal-read-only-')))
beforeAll(() => {
  mkdirSync(join(root, 'src'))
  for (const name of ['a', 'b', 'f', 'package.json', '.env', 'src/a.ts', 'src/b.ts'])
    writeFileSync(join(root, name), 'x\n')
  symlinkSync('/', join(root, 'a='))
})
afterAll(() => rmSync(root, { recursive: true }))

const rule = (list: RuleList, text: string): GivenRule => ({ list, text, source: 'user' })

async function kindsOf(
  commands: readonly string[],
  rules: readonly GivenRule[] = [],
  fs: FileSystem = machineFileSystem,
): Promise<Map<string, string>> {
  const { createPermission } = await toolsDoor()
  const permission = createPermission({
    fs,
    root,
    cwd: root,
    home: join(root, 'home'),
    rules,
    mode: 'default',
  })
  const kinds = new Map<string, string>()
  for (const command of commands)
    kinds.set(command, (await permission.judge({ name: 'Bash', input: { command } }, false)).kind)
  return kinds
}

/** Those of the commands that are decided otherwise than expected. */
async function otherThan(kind: string, commands: readonly string[], rules: readonly GivenRule[] = []) {
  return [...(await kindsOf(commands, rules))].flatMap(([command, got]) => (got === kind ? [] : [command]))
}

describe('read-only commands', () => {
  it('[PM31] an interpreter runs unasked only for the question which version it is', async () => {
    const programs = [
      "python3 - <<'E'\nopen('F','w')\nE",
      "echo 'x' | node -",
      "echo 'x' | node --",
      'python3 -v',
      'python3 -vv',
      'python3 -v < a',
      'make -',
      'make --',
      'env make -',
      'timeout 5 node -',
      '/usr/bin/python3 -',
      'node --version a',
      'node -v -',
      'python3 --ver',
      'ruby -v',
      'java -v',
      'npm -v x',
      'cargo --version',
      'go version',
    ]
    expect(await otherThan('ask', programs)).toEqual([])
    const questions = [
      'node --version',
      'node -v',
      'python3 --version',
      'python3 -V',
      'make -v',
      'npm --version',
    ]
    expect(await otherThan('allow', questions)).toEqual([])
  })

  it('[PM31] an option of git takes its value as git takes it, and a value never begins with a dash', async () => {
    const smuggled = [
      'git log -s --format=%B --unified --output=F',
      'git diff -U --output=F',
      'git show --unified --output=F',
      'git reflog -U --output=F',
      'git shortlog --unified --output=F',
      'git diff-tree --unified --output=F',
      'git rev-list --unified --output=F',
      'git diff --format --output=F',
      'git diff -L --output=F',
      'git log -U --ext-diff',
      'git log --author --output=F',
      'git log -n --output=F',
      'git grep -e --open-files-in-pager=x',
      'git grep -A -Ox y',
      'git branch --contains --output',
      'git branch --sort x name',
      'git tag name',
      'git branch --merged main name',
      'git config core.pager x',
      'git symbolic-ref HEAD refs/heads/x',
      'git for-each-ref --format=%(signature)',
      'git log --outp=F',
      'git diff --outpu F',
      'git -C --output=F log',
    ]
    expect(await otherThan('ask', smuggled)).toEqual([])
  })

  it('[PM31] letters are joined only where the program joins them', async () => {
    const written = [
      ...['-bc', '-pc', '-ps -c', '-il', '-us', '-bs', '-ug'].map((letters) => `xxd ${letters} f F`),
      'tree -Io X F',
      'tree -Lo 1 F',
      'tree -Po X F',
      'xxd -l 5 f F',
      'xxd f F',
      'sed -l 1p "w F"',
      'sed -s -i p f',
      'column -n -s .env',
      'sort -uo F a',
      'uniq -c a F',
      'rg --pre=x y',
      'rg -zn x',
      'sort --outp=F a',
      'date 010100002020',
      'sha256sum -c a',
      'grep x -e y .env',
      'grep a*',
    ]
    expect(await otherThan('ask', written)).toEqual([])
    expect(await otherThan('allow', ['xxd -l 5 f', 'xxd -p f', 'tree -a -L 2 -I x', 'sort -un a'])).toEqual(
      [],
    )
  })

  it('[PM32] the words that are judged are the words that bash runs', async () => {
    const shifted = [
      "grep 2>&-'' .env",
      "grep <&-'' .env",
      'grep >&-"" .env',
      "grep 2>&-$'' .env",
      "find . ! -name 2>&-'' -delete",
      "rg -e 2>&-'' --pre=./evil .",
      "git grep -e 2>&-'' --open-files-in-pager=./evil",
      "git log --author 2>&-'' --output=F",
      "tree -I 2>&-'' -o F",
      "xxd -l 2>&-'' f F",
      "ls 2>&1''",
      'ls 2>&1x',
      'ls 2>"&"1',
      'cat {.env,a}',
      'cat .{e,x}nv',
      "cat $'.env'",
      'cat {fd}<.env',
      'ls a(b)',
      'cat <<-E\n\tx\n\tE\ncat .env',
    ]
    expect(await otherThan('ask', shifted)).toEqual([])
    const plain = [
      'ls 2>&1',
      'ls 2>&-',
      'ls 2>&1|cat',
      'ls >/dev/null 2>&1;pwd',
      '(ls) 2>/dev/null',
      'cat {a,b}',
    ]
    expect(await otherThan('allow', plain)).toEqual([])
  })

  it('[PM32] a tilde behind = or : is not taken for a name', async () => {
    const homes = [
      'cat a=~/.bash_history',
      "grep '' a=~root/.bashrc",
      'cat a=x:~/y',
      'cat < a=~/x',
      'ls ~root',
    ]
    expect(await otherThan('ask', homes)).toEqual([])
    expect(
      await otherThan('allow', ['git show HEAD~1', 'git diff HEAD~2..HEAD', 'cat a~ 2>/dev/null']),
    ).toEqual([])
  })

  it('[PM34] jq, awk and sed run unasked only with programs that turn their input into output', async () => {
    const more = [
      'jq -n env',
      "jq -n '$ENV'",
      "jq -n '$ENV.HOME'",
      "jq -n '[env]'",
      `jq -n '"\\(env)"'`,
      "jq -n '{(env|keys[0]): 1}'",
      // Since 1.7 a condition is a value of an object, and a comma in it parts no keys.
      "jq -n '{a: if true then 1, env else 2 end}'",
      "jq -n '{a: if true, env then 1 else 2 end, b}'",
      'jq input_filename a',
      'jq -n get_search_list',
      'jq -f a b',
      'jq --rawfile x .env . a',
      'jq -L . . a',
      'awk \'BEGIN{print ENVIRON["HOME"]}\'',
      'awk \'BEGIN{ARGV[1]=".env"}1\' x',
      `awk '{print > "F"}' a`,
      `awk '{print $1, ($2) > "F"}' a`,
      `awk '{print "x" | "sh"}' a`,
      "awk '{system($0)}' a",
      "awk '{system ($0)}' a",
      `awk '{while (("cat .env" | getline x) > 0) print x}' a`,
      `awk '{if (x) /"/; print "y" > "F"; /"/}' a`,
      `awk '{x = (1) /"/; print > "F"; y = "/ 1}' a`,
      'awk -f a b',
      'awk \'@include "x"\' a',
      "sed 's/x/y/w F' a",
      "sed 's|x|touch F|e' a",
      "sed '1{e touch F\n}' a",
      "sed 'r .env' a",
      "sed 's/[/]p;s/x/w F/' a",
      "sed 's|[|]p;s|x|w F|' a",
      "sed 's/[^]/]X/g;s|a/w F|b|' a",
      "sed 's/[]/]X/g;s|a/w F|b|' a",
      "sed 'p;w F' a",
    ]
    expect(await otherThan('ask', more)).toEqual([])
    const plain = [
      "jq '.a.env | keys' a",
      "jq '{a: (if .x then 1, 2 else 3 end), if: .if, end: 1, env} | if .a then .b else empty end' a",
      "jq -r '.[] | select(.x == 1) | {name, env}' a",
      `jq -r '.a | "\\(.b) \\(.c)"' a`,
      "awk '{print $1}' a",
      "awk -F: '$3 > 5 {print $1, $NF}' a",
      "awk '{ if ($3 > 5) s += $1 / 2 } END { print s }' a",
      "awk '/x/,/y/' a",
      "sed -n '1,5p;10q' a",
      "sed 's|a/b|c|g; s#x#y#' a",
      "sed -e 's/a/b/' -e '/x/d' a",
      "sed -n '/a/{p;n;p}' a",
    ]
    expect(await otherThan('allow', plain)).toEqual([])
  })

  it('[PM36] what is read-only is not asked about for the way it is written', async () => {
    const everyday = [
      'cd src\nls',
      'cd src; cat a.ts',
      'git log \\\n  --oneline \\\n  -5',
      'cat src/{a,b}.ts',
      'grep -rn foo src --include=*.ts',
      'grep -rn "foo\\|bar$" src',
      'grep -E "^(a|b)" src/a.ts | head -n -1',
      "git stash list && git reflog -3 && git show 'HEAD@{1}'",
      "git branch --list 'a*' && git tag -l 'v*' --sort=-v:refname",
      'git log --since "2 days ago" --author me --format="%h %s"',
      'git config user.name; git remote get-url origin; git symbolic-ref --short HEAD',
      "find . -type f -mtime -7 -size +1k -not -path './node_modules/*' 2>/dev/null | sort | uniq -c",
      '{ ls; pwd; } 2>&1 | cat',
      'ls -la src && echo "--- done: $?" || true',
      'npm ls --depth=0 2>/dev/null',
      "diff -u a b | sed -n '1,20p'",
      'du -sh src; df -h; date -u +%s; uname -a; hostname',
      'tail -n +2 a | cut -d: -f1 | tr a-z A-Z | sort -k1,1 | paste -s -d,',
      'gofmt -l src',
    ]
    expect(await otherThan('allow', everyday)).toEqual([])
  })
})

describe('rules and commands that run others', () => {
  const rules = [rule('allow', 'Bash'), rule('deny', 'Bash(rm *)')]

  it('[PM33] what runs through input, wrappers, options or variables is denied, or asked about', async () => {
    const commands = [
      'echo rm x | sh',
      "sh <<< 'rm x'",
      'sh <<E\nrm x\nE',
      'bash -s < a',
      'bash /dev/stdin < a',
      "make -f - <<< 'x:;rm x'",
      ...'prlimit setpriv fakeroot pkexec run0 valgrind numactl dbus-run-session start-stop-daemon npx busybox'
        .split(' ')
        .map((name) => `${name} rm x`),
      ...['npm exec', 'pnpm exec', 'yarn exec', 'uv run', 'poetry run', 'docker run image'].map(
        (name) => `${name} rm x`,
      ),
      '/lib64/ld-linux-x86-64.so.2 /bin/rm x',
      ...['printf -v', 'read', 'declare', 'let', 'unset', 'test -v'].map((name) => `${name} 'a[$(rm x)]'`),
      "PAGER='rm x' man ls",
      "GIT_SSH_COMMAND='rm x' git fetch",
      "export PAGER='rm x'; man ls",
      "env GIT_PAGER='rm x' git log",
      'LD_PRELOAD=./x.so ls',
      'PATH=.:$PATH ls',
      'hash -p /bin/rm ls; ls x',
      "sed '1e rm x' a",
      "sed -e '1e rm x' a",
      "tar cf x y --checkpoint=1 --checkpoint-action=exec='rm x'",
      "tar cf x y --checkpoint-act=exec='rm x'",
      "split --filter='rm x' a",
      'sort --compress-program=rm a',
      "rg --pre 'rm' x",
      'rg --pre=rm x',
      'echo rm x | xargs env',
      'echo x | xargs -I{} sh -c {}',
      'parallel < a',
      'find . -exec rm {} +',
      "env -S 'rm x'",
      "ssh -o ProxyCommand='rm x' host",
      'ssh host < a',
      'sudo -s < a',
      "python3 -c 'x'",
      'python3 - < a',
      'cat a | node',
      'awk \'BEGIN{system("rm x")}\'',
      "git -c core.pager='rm x' log",
      "git -c alias.z='!rm x' z",
      'git bisect run rm x',
      "trap 'rm x' EXIT",
      "gdb -ex 'shell rm x'",
      'crontab a',
      "alias ls='rm x'",
      'nice nice sh < a',
      'systemd-run --user rm x',
      "watch 'rm x'",
      "su -c 'rm x'",
      'chroot . rm x',
      'bash -o errexit < a',
      'echo rm x | xargs -I % % x',
      "[[ 'a[$(rm x)]' -eq 0 ]]",
      'make -f /dev/stdin < a',
      'deno eval x',
    ]
    const kinds = await kindsOf(commands, rules)
    expect([...kinds].filter(([, kind]) => kind === 'allow').map(([command]) => command)).toEqual([])
    // What stands in the words is denied, not only asked about.
    expect(kinds.get('prlimit rm x')).toBe('deny')
    expect(kinds.get('sort --compress-program=rm a')).toBe('deny')
    expect(kinds.get("GIT_SSH_COMMAND='rm x' git fetch")).toBe('deny')
  })

  it('[PM33] a rule that denies stops nothing else', async () => {
    const others = [
      'sh build.sh',
      'npm test',
      'npm run build -- --watch',
      'make all',
      'python3 -m pytest',
      'node build.js',
      "git commit -m 'rm old files'",
      "sed -i 's/a/b/' f",
      "sed -n '1,5p' src/e.ts",
      "awk '{print $1 || $2}' a",
      'tar czf x.tgz src',
      'docker build .',
      'X=1 npm test',
      'ls | xargs -I{} grep x {}',
      '[[ -f a ]] && echo yes',
      'bash -euo pipefail build.sh',
      `git add ${'x '.repeat(600)}`,
    ]
    expect(await otherThan('allow', others, rules)).toEqual([])
  })
})

describe('the work of judging', () => {
  it('[PM35] a command that names thousands of files is asked about, not looked through', async () => {
    let looked = 0
    const fs: FileSystem = {
      ...machineFileSystem,
      realPath: (path) => {
        looked++
        return machineFileSystem.realPath(path)
      },
    }
    const [many, more] = [`ls ${'x '.repeat(3000)}`, `ls ${'x '.repeat(19_000)}`]
    expect([...(await kindsOf([many, more], [], fs)).values()]).toEqual(['ask', 'ask'])
    expect(looked).toBeLessThan(1000)
  })

  it('[PM35] a chain asks the disk once for each place it names', async () => {
    let asked = 0
    const counted = <T>(ask: (path: string) => Promise<T>) => {
      return (path: string): Promise<T> => {
        asked++
        return ask(path)
      }
    }
    const fs: FileSystem = {
      ...machineFileSystem,
      realPath: counted((path) => machineFileSystem.realPath(path)),
      stat: counted((path) => machineFileSystem.stat(path)),
      names: counted((path) => machineFileSystem.names(path)),
      entries: counted((path) => machineFileSystem.entries(path)),
    }
    const one = 'git status; cat a b src/a.ts; git log -1'
    await kindsOf([one], [], fs)
    const once = asked
    asked = 0
    await kindsOf([Array.from({ length: 20 }, () => one).join('; ')], [], fs)
    expect(once).toBeGreaterThan(3)
    expect(asked).toBe(once)
  })

  it('[PM35] wrappers within wrappers are taken off in one pass', () => {
    for (const name of ['nice', 'env', 'command']) {
      let reads = 0
      const word = { value: name, text: name, isGlob: false, isBare: true }
      const words = new Proxy(
        Array.from({ length: 3000 }, () => word),
        {
          get: (target, key) => {
            reads++
            return Reflect.get(target, key) as unknown
          },
        },
      )
      expect(commandStart(words)).toBe(2999)
      expect(reads).toBeLessThan(30_000)
    }
  })
})
