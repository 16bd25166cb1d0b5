// What the shell's own language can do: where it writes, what it reads as a program, what it runs later.
export const languageShapes = {
  'interpreters that read a program': String.raw`
python3 - <<'E'⏎open("F","w")⏎E
python3 -- <<'E'⏎open("F","w")⏎E
python3 -v <<'E'⏎open("F","w")⏎E
python3 -vv < evil.py
python3 -vvv < evil.py
python3 -V -
python3 -q < evil.py
python3 -B - < evil.py
python3 -u < evil.py
python3 -s < evil.py
python3 -i < evil.py
python3 -x evil.py
python3 evil.py
python3 -m evil
python3 -mevil
python3 -c 'open("F","w")'
python3 -Ic 'open("F","w")'
python3 < evil.py
python - < evil.py
python -- < evil.py
cat evil.py | python3
cat evil.py | python3 -
cat evil.py | python3 /dev/stdin
cat evil.py | /usr/bin/python3 -
cat evil.py | env python3 -
cat evil.py | timeout 5 python3 -
cat evil.py | nice python3 --
cat evil.py | command python3 -v
python3 <<< 'open("F","w")'
python3 - <<< 'open("F","w")'
PYTHONSTARTUP=evil.py python3 -i
PYTHONPATH=. python3 --version
node - <<'E'⏎require("fs").writeFileSync("F","")⏎E
node -- <<'E'⏎require("fs").writeFileSync("F","")⏎E
node < evil.js
node evil.js
node evil
node -e 'require("fs").writeFileSync("F","")'
node -p 'require("fs").writeFileSync("F","")'
node -pe 1
node --eval 1
node --print 1
node -r ./evil.js --version
node --require ./evil.js --version
node --import ./evil.js --version
node -c evil.js
node -i < evil.js
node --input-type=module - < evil.js
node --run test
node --test
node --watch evil.js
node --inspect --version
node -v -
node --version - < evil.js
cat evil.js | node
cat evil.js | node -
cat evil.js | node --
cat evil.js | env node -
cat evil.js | /usr/bin/node --
NODE_OPTIONS='--require ./evil.js' node --version
make -
make --
make -n
make -f evil
make -f- <<< 'all:;touch F'
make -C sub
make -v all
make all -v
make --version all
make --eval='x:;touch F' x
make -E 'x:;touch F' x
make SHELL=./evil
perl -e 'open F,">F"'
perl -pe 1 a
perl -pi -e s/x/y/ a
perl -v -e 1
perl - < evil
perl < evil
perl -ne 'system("touch F")' a
perl -V:x
perl -c evil
perl -d evil
ruby -e 'File.write("F","")'
ruby - < evil
ruby --version -e 1
php -r 'touch("F");'
php -f evil
php -S localhost:1
lua -e 'io.open("F","w")'
tclsh evil
wish evil
expect -c 'spawn touch F'
Rscript -e 'file.create("F")'
julia -e 'touch("F")'
deno run evil.js
deno eval 1
bun run evil.js
bun evil.js
ts-node evil.ts
tsx evil.ts
osascript -e 'do shell script "touch F"'
pwsh -c 'New-Item F'
java -jar a.jar
java -version -cp . Evil
java Evil.java
java -cp . Evil
javac Evil.java
gcc a.c
gcc -v a.c
gcc -x c - -o F
gcc --version -o F a.c
gcc -wrapper ./evil a.c
gcc @f
cc -o F a.c
clang -o F a.c
rustc evil.rs
rustc -V evil.rs
rustc --version --out-dir F
cargo run
cargo build
cargo -V run
cargo --config evil.toml version
cargo test
go run .
go build ./...
go test ./...
go env -w GOFLAGS=-x
go generate ./...
go vet ./...
go install ./...
go get x
go mod download
go tool x
go version -m evil x
sqlite3 x.db '.shell touch F'
sqlite3 x.db '.output F'
psql -c '\! touch F'
mysql -e '\! touch F'
redis-cli eval 'x' 0
gdb -ex 'shell touch F'
gdb -batch -x evil
lldb -o 'platform shell touch F'
octave --eval 'system("touch F")'
bc evil
dc -e '!touch F'
m4 evil
m4 -s evil
gnuplot -e 'system "touch F"'
jshell evil
ghci evil
guile -c '(system "touch F")'
emacs --batch --eval '(write-file "F")'
`,
  'shells in shells': String.raw`
sh evil
sh < evil
sh -s < evil
sh -s x < evil
sh -i < evil
sh - < evil
sh -- evil
sh -x evil
sh -n evil
sh -v evil
sh -c -- 'touch F'
sh +x -c 'touch F'
sh -ec 'touch F'
sh -ce 'touch F'
sh <<< 'touch F'
sh <<E⏎touch F⏎E
echo touch F | sh
echo touch F | sh -
echo touch F | bash
echo touch F | bash -s
echo touch F | bash /dev/stdin
echo touch F | dash
echo touch F | zsh
echo touch F | ksh
echo touch F | fish
echo touch F | env sh
echo touch F | env -i sh
echo touch F | /bin/sh
echo touch F | /usr/bin/env sh
echo touch F | timeout 5 sh
echo touch F | nice sh
echo touch F | nice -n 3 bash
echo touch F | command sh
echo touch F | busybox sh
echo touch F | tee /dev/stderr | sh
echo touch F | xargs -I{} sh -c {}
echo touch F | (sh)
echo touch F | { sh; }
echo touch F |& sh
cat evil | sh 2>/dev/null
base64 -d <<< dG91Y2ggRgo= | sh
printf 'touch F' | sh
xxd -r -p <<< 746f7563682046 | sh
rev <<< 'F hcuot' | sh
tr n-za-m a-z <<< gbhpu | sh
bash evil
bash --rcfile evil
bash --init-file evil -i
bash --posix evil
bash -l
bash -i
bash -O extglob -c 'touch F'
bash --version -c 'touch F'
bash --help evil
bash -o posix evil
rbash -c 'touch F'
su -c 'touch F'
su - root -c 'touch F'
. evil
. ./evil
. <(echo touch F)
source evil
source ./evil
source /dev/stdin <<< 'touch F'
source <(cat evil)
eval touch F
eval 'tou''ch F'
eval "$(cat evil)"
eval -- touch F
command eval touch F
builtin eval touch F
builtin source evil
builtin . ./evil
command . ./evil
exec touch F
exec -a x touch F
exec -c touch F
exec > F
exec 2> F
exec 3<> F
exec < evil sh
`,
  redirections: String.raw`
ls >F
ls > F
ls >>F
ls >|F
ls >&F
ls >& F
ls &>F
ls &>>F
ls 1>F
ls 2>F
ls 2>>F
ls 3>F
ls 9>F
ls 10>F
ls <>F
ls 0<>F
ls 2<>F
ls {x}>F
ls {x}>>F
ls {x}<>F
>F
>>F
2>F
<>F
&>F
>F ls
>F <a ls
ls </dev/null >F
ls >/dev/null >F
ls 2>&1 >F
ls >F 2>&1
ls >"F"
ls >'F'
ls >$'F'
ls >\F
ls >./F
ls >~/F
ls >../outside/canary
ls >/dev/null/../../tmp/F
ls >/dev/tcp/localhost/1
ls >/dev/udp/localhost/1
cat </dev/tcp/localhost/1
cat <../outside/secret
cat <~/.secret
cat <.env
cat <link/secret
cat <'.env'
cat <.en""v
cat 0<.env
cat 3<.env <&3
cat <.env >/dev/null 2>&1; cat <.env
cat <*nv
head -1 <.env
ls >F*
ls >*
ls >[F]
ls >{F,G}
ls >$HOME/F
ls >"$(echo F)"
ls >$(echo F)
ls > >(cat >F)
ls > >(tee F)
ls 2> >(tee F)
cat < <(touch F)
tee <(ls) F
ls >&$x
ls >&"F"
ls >&'F'
ls 2>&F
ls >&1F
ls >&-F
ls >/dev/nullF
ls >/dev/null.txt
ls >/dev/../F
ls >/dev/sda
ls >/dev/stdout/F
(ls) >F
{ ls; } >F
{ ls; } 2>F
(ls >F)
{ ls >F; }
! ls >F
time ls >F
if true; then ls; fi >F
while false; do :; done >F
for x in a; do :; done >F
case x in x) ls;; esac >F
f() { ls; } >F; f
[[ a ]] >F
((1)) >F
ls | cat >F
ls | tee F
ls | tee -a F
ls | tee F >/dev/null
ls |& tee F
ls && ls >F
ls || ls >F
ls; ls >F
ls >F & 
cat a >b
cat a >>b
: >a
: > a
true >a
echo >a
printf x >a
find . ! -name 2>&-'' -delete
find . ! -name <&-"" -delete
find . ! -name >&-$'' -delete
rg -e 2>&-'' --pre=./evil .
rg -e 2>&-"" --pre=./evil .
git grep -e 2>&-'' --open-files-in-pager=./evil
git log --author 2>&-'' --output=F
git log --author <&-'' --output=F
tree -I 2>&-'' -o F
xxd -l 2>&-'' f F
grep 2>&-'' .env
grep <&-'' ../outside/secret
sort -k 2>&-'' -o F
sed -e 2>&-'' -i a
cat 2>&-.env
ls 2>&1>F
ls 2>&1>>F
ls 2>&->F
ls 2>&1<>F
ls 2>&$'1'F
ls 2>&1""F >G
`,
  'here-documents': String.raw`
cat <<E⏎$(touch F)⏎E
cat <<"E"⏎x⏎E⏎touch F
cat <<'E'⏎x⏎E⏎touch F
cat <<E⏎${'`'}touch F${'`'}⏎E
cat <<E⏎${'${'}x:=$(touch F)}⏎E
cat <<E⏎$((a[$(touch F)]))⏎E
cat <<-E⏎␉x⏎E⏎touch F
cat <<E >F⏎x⏎E
cat >F <<E⏎x⏎E
cat <<E | sh⏎touch F⏎E
cat <<E | tee F⏎x⏎E
cat <<E; touch F⏎x⏎E
cat <<E && touch F⏎x⏎E
cat <<A <<B; touch F⏎x⏎A⏎y⏎B
sh <<E⏎touch F⏎E
bash -s <<'E'⏎touch F⏎E
cat <<''⏎⏎touch F
cat <<"a b"⏎x⏎a b⏎touch F
cat <<\E⏎x⏎E⏎touch F
cat <<E\⏎F⏎x⏎EF⏎touch F
cat <<$'E'⏎x⏎E⏎touch F
tee F <<E⏎x⏎E
dd of=F <<E⏎x⏎E
patch <<E⏎--- a⏎+++ a⏎@@ -1 +1 @@⏎-x⏎+y⏎E
git apply <<E⏎x⏎E
ed a <<E⏎w F⏎q⏎E
ex a <<E⏎w F⏎q⏎E
ftp localhost <<E⏎x⏎E
at now <<E⏎touch F⏎E
crontab - <<E⏎* * * * * touch F⏎E
cat <<< "$(touch F)"
cat <<< $(touch F)
cat <<< ${'`'}touch F${'`'}
cat <<< ${'${'}x:-$(touch F)}
cat <<< $((a[$(touch F)]))
`,
  'what runs later': String.raw`
trap 'touch F' EXIT
trap 'touch F' 0
trap 'touch F' DEBUG; ls
trap 'touch F' ERR; false
trap 'touch F' RETURN
trap -- 'touch F' EXIT
trap "touch F" INT
alias ls='touch F'; ls
alias x='touch F'⏎x
shopt -s expand_aliases; alias ls=touch⏎ls F
unalias -a; touch F
ls() { touch F; }; ls
function ls { touch F; }; ls
function ls() { touch F; }⏎ls
git() { touch F; }⏎git status
cd() { touch F; }⏎cd src
ls () ( touch F ); ls
declare -f ls; touch F
PROMPT_COMMAND='touch F'
PS0='$(touch F)'
PS1='$(touch F)'
PS4='$(touch F)'; set -x; ls
set -x; PS4='$(touch F)' ls
BASH_ENV=evil bash -c ls
ENV=evil sh -i
export BASH_ENV=evil
export -f ls
hash -p ./evil ls; ls
hash -p ./evil git && git status
enable -f ./evil.so x
enable -n echo
set -o vi
set -- touch F; "$@"
set touch F; $*
set -e
set +o noclobber
shopt -s dotglob; cat *
shopt -s nullglob
shopt -s extglob⏎cat !(a)
shopt -s globstar; cat **
ulimit -f 0
umask 0
exec 3<.env; cat <&3
coproc touch F
coproc X { touch F; }
coproc cat .env; cat <&${'${'}COPROC[0]}
touch F &
ls & touch F
(touch F &)
{ touch F & }
sleep 1 && touch F &
nohup touch F &
disown
wait; touch F
bg
fg
jobs -x touch F
fc -s
fc -e ./evil
fc -l; touch F
history -a F
history -w F
history -c
history -s x
history -r .env; history
bind -x '"x":touch F'
bind -f evil
complete -C ./evil x
complete -F touch x
compgen -C 'touch F'
compgen -F touch
compgen -W '$(touch F)'
compgen -W '${'`'}touch F${'`'}' x
mapfile -C 'touch F' -c 1 < a
readarray -C 'touch F' -c1 x < a
getopts x 'a[$(touch F)]'
caller
suspend
logout
exit 0; touch F
return 0 2>/dev/null; touch F
dirs -c; touch F
pushd .. && cat secret
popd
pushd sub; git status
cd -P link; cat secret
cd link && cat secret
cd ../outside && cat secret
cd .. && cat outside/secret
cd; cat .secret
cd ~ && cat .secret
cd / && ls
cd "$HOME" && ls
CDPATH=.. cd outside
cd sub && touch F
cd .git && git status
`,
  'compound commands': String.raw`
if touch F; then :; fi
if false; then :; else touch F; fi
if ! touch F; then ls; fi
while touch F; do break; done
until touch F; do :; done
for x in $(touch F); do :; done
for x in touch; do $x F; done
for ((i=0;i<1;i++)); do touch F; done
for ((a[$(touch F)];0;)); do :; done
select x in a; do touch F; done
case $(touch F) in x) ;; esac
case x in $(touch F)) ;; esac
case x in x) touch F;; esac
case x in *) touch F;& y) ;; esac
[[ $(touch F) ]]
[[ -v a[$(touch F)] ]]
[[ a[$(touch F)] -eq 1 ]]
[[ 1 -lt a[$(touch F)] ]]
[[ x =~ $(touch F) ]]
[[ x == $(touch F) ]]
(( a[$(touch F)] ))
(( x = 1 ))
((x=a[$(touch F)]))
let 'a[$(touch F)]'
let x=1
echo $((a[$(touch F)]))
echo $[a[$(touch F)]]
echo $((x=1))
echo $((${'${'}x:=$(touch F)}))
echo "$((a[${'`'}touch F${'`'}]))"
{ { touch F; }; }
( ( touch F ) )
! { touch F; }
time { touch F; }
time -p touch F
{ ls; touch F; } | cat
(ls; touch F)
(ls
touch F)
{ ls⏎touch F⏎}
ls | { read x; touch F; }
ls | while read x; do rm "$x"; done
ls | while IFS= read -r x; do echo "$x" > F; done
true && { touch F; }
true && (touch F)
false || { touch F; }
ls;touch F
ls&&touch F
ls||touch F; touch F
ls|touch F
ls⏎touch F
ls # x⏎touch F
# x⏎touch F
ls #⏎touch F
: ; touch F
;touch F
touch F;
touch F #
echo x # > y⏎touch F
echo 'x'# ; touch F
echo x\# ; touch F
echo x#y ; touch F
echo "#" ; touch F
`,
} as const
