// Lines that an agent writes all day to find its way, none of which anybody wants to be asked about. The project is the one
// of fuzz/fixture.ts.
export const everyday: readonly string[] = String.raw`
ls
ls -la
ls -lah src
ls -1
ls -R src
ls -lt | head -5
ls src/*.ts
ls -d */
ls src nosuch 2>/dev/null
ls nosuch 2>/dev/null || echo none
pwd
pwd && ls
cat a
cat a b
cat -n a
cat -A a
cat src/*.ts
cat package.json | head -20
cat package.json | jq .name
cat a | wc -l
head a
head -5 a
head -n 5 a
head -n 5 a b
head -c 100 a
tail a
tail -n 3 a
tail -n +2 a
tail -5 a | head -2
wc a
wc -l a b
wc -l src/*.ts
wc -c < a
nl -ba a | sed -n 1,2p
tac a
rev a
grep foo a
grep -n foo a
grep -rn foo src
grep -rn "foo\|bar" src
grep -rn --include='*.ts' foo src
grep -rln foo src
grep -c x a
grep -v x a
grep -i FOO a
grep -E 'fo+|bar' a
grep -A 2 -B 1 foo a
grep -C2 foo a
grep -w foo a b
grep -o 'fo*' a | sort | uniq -c
grep -q foo a && echo yes
grep -n foo a | head -3
grep -n foo nosuch 2>/dev/null
rg foo src
rg -n foo src
rg -l foo src
rg -i FOO src
rg -c foo src
rg -n "foo|bar" src
rg -n foo src -g '*.ts'
rg -t ts foo src
rg -A 2 foo src
rg --files src
rg --files src | head
rg -w foo src | wc -l
rg -n -F 'foo = 1' src
rg --version
rg -rn foo src
find . -name '*.ts'
find . -name '*.ts' -not -path './node_modules/*'
find . -type f -name '*.json'
find . -maxdepth 2 -type d
find src -type f | wc -l
find src -type f | head -20
find . -path ./node_modules -prune -o -name '*.ts' -print
find src -name '*.ts' -size +1k
find . -iname 'makefile'
find src -newer a
find . -mtime -1 -type f
tree src
tree -L 2
tree -a -L 1
tree -d
tree -I node_modules -L 2
git status
git status -s
git status --short
git status -sb
git status --porcelain
git diff
git diff --stat
git diff --cached
git diff --staged --stat
git diff HEAD
git diff HEAD~1
git diff HEAD~1 HEAD
git diff HEAD~1..HEAD
git diff main...HEAD --stat
git diff --name-only HEAD~1
git diff --name-status HEAD~1
git diff -U5 -- a
git diff -w
git diff -- a b
git --no-pager diff
git log
git log --oneline
git log --oneline -5
git log -1
git log -n 3
git log -3 --stat
git log -p -1
git log --oneline --graph --all
git log --oneline main..HEAD
git log --format=%H -1
git log --format='%h %s' -5
git log --pretty=format:%s -3
git log --author=x --oneline
git log --since=yesterday --oneline
git log --grep=foo --oneline
git log --follow -- a
git log --name-only -2
git log -S foo --oneline
git log -- a
git --no-pager log --oneline -5
git show
git show HEAD
git show --stat
git show --stat HEAD
git show HEAD~1
git show HEAD:a
git show HEAD:src/a.ts | head -5
git show --name-only HEAD
git blame a
git blame -L 1,2 a
git branch
git branch -a
git branch -vv
git branch --show-current
git remote -v
git remote
git rev-parse HEAD
git rev-parse --show-toplevel
git rev-parse --abbrev-ref HEAD
git rev-parse --short HEAD
git ls-files
git ls-files src
git ls-files | wc -l
git ls-files --others --exclude-standard
git ls-tree HEAD
git ls-tree -r HEAD --name-only
git cat-file -p HEAD
git cat-file -t HEAD
git rev-list --count HEAD
git remote get-url origin
git check-ignore -v a
git branch --list main
git tag --sort=-creatordate
git config --get user.name
git describe --tags --always
git merge-base main HEAD
git shortlog -sn HEAD
git stash list
git tag
git tag -l
git reflog -5
git grep foo
git grep -n foo -- src
git grep -l foo
git count-objects -v
git for-each-ref --format='%(refname)'
git show-ref --heads
git --version
git -C src log --oneline -2
git status && git diff --stat
git status --short && git log --oneline -3
git log --oneline -5 && echo --- && git status -sb
cd src && ls
cd src && grep -n foo a.ts
cd src && git log --oneline -1
(cd src && ls)
sed -n 1,3p a
sed -n '1,3p' a
sed -n '2p' a
sed -n '/foo/p' a
sed -n '/foo/,/x/p' a
sed 's/foo/bar/' a
sed 's/foo/bar/g' a | head -3
sort a
sort -u a
sort -rn a | head -1
sort a | uniq -c | sort -rn | head
awk '{print $1}' a
awk -F: 'NR>1{print $2}' a
cut -d' ' -f1 a
cut -c1-3 a
tr a-z A-Z < a
diff a b
diff -u a b
diff -u a b | head -20
cmp a b
comm a b
paste a b
column -t a
jq . package.json
jq -r .name package.json
jq '.scripts' package.json
xxd a | head -2
od -c a | head -2
file a
stat a
du -sh .
du -sh src
df -h .
which node
which git rg
command -v node
type git
node --version
node -v
npm --version
npm ls
npm ls --depth=0
npm ls --json 2>/dev/null
python3 --version
python3 -V
make --version | head -1
date
date +%Y-%m-%d
date -u
whoami
uname -a
echo hello
echo "a b" 'c d'
printf '%s\n' a b
test -f a && echo yes
test -d src || echo no
[ -f package.json ] && cat package.json
[ -d nosuch ] || echo none
true
basename src/a.ts .ts
dirname src/a.ts
realpath a
md5sum a
sha256sum a b
seq 1 3
ls; pwd; git status -sb
ls && pwd
ls 2>&1 | head
ls > /dev/null 2>&1; echo "exit $?"
timeout 10 git status
time ls
cat a 2>/dev/null | grep foo | wc -l
git diff --stat 2>&1 | tail -1
`
  .split('\n')
  .filter((line) => line !== '')
