// Words that are not what they look like: spelled otherwise, expanded by the shell, assigned, or handed on.
export const wordShapes = {
  spelling: String.raw`
\touch F
t\ouch F
'touch' F
"touch" F
tou''ch F
tou""ch F
to'u'ch F
to"u"ch F
$'touch' F
$'\164ouch' F
$'\x74\x6f\x75\x63\x68' F
$'\u0074ouch' F
$'\U00000074ouch' F
$"touch" F
to\⏎uch F
touch\⏎ F
tou$''ch F
tou$""ch F
{touch,F}
{touch,} F
t{ouch,} F
/usr/bin/touch F
/bin/touch F
/usr/bin/../bin/touch F
/bin/./touch F
/???/???/touch F
/usr/bin/tou?h F
/usr/bin/[t]ouch F
~/../bin/touch F
./evil
evil
./././evil
src/../evil
"./evil"
$PWD/evil
"$PWD"/evil
~+/evil
*vil
ev?l
./ev*
$(echo touch) F
${'`'}echo touch${'`'} F
"$(echo touch)" F
$(printf 'tou%s' ch) F
${'${'}x:-touch} F
${'${'}x-touch} F
${'${'}x:=touch} F
${'${'}x:+x}touch F
${'${'}PATH:0:0}touch F
touch${'${'}IFS}F
touch$IFS'F'
touch$'\t'F; touch F
X=touch; $X F
x=t; y=ouch; $x$y F
read x <<< touch; $x F
printf -v x touch; $x F
declare x=touch; $x F
set touch; $1 F
a=(touch F); "${'${'}a[@]}"
a=(touch F); ${'${'}a[*]}
x='touch F'; $x
x='touch F'; eval $x
x=tou; ${'${'}x}ch F
x=hcuot; $(rev <<< $x) F
touch	F
 touch F
	touch F
`,
  assignments: String.raw`
X=1 touch F
X=1 ls
X=1; touch F
PATH=. ls
PATH=.:$PATH ls
PATH=$PWD git status
LD_PRELOAD=./evil.so ls
LD_LIBRARY_PATH=. ls
LD_AUDIT=./evil.so ls
DYLD_INSERT_LIBRARIES=./evil.so ls
GIT_EXTERNAL_DIFF=./evil git diff
GIT_PAGER=./evil git log
GIT_SSH=./evil git fetch
GIT_SSH_COMMAND=./evil git status
GIT_DIR=sub/.git git diff
GIT_WORK_TREE=. git status
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=diff.external GIT_CONFIG_VALUE_0=./evil git diff
GIT_CONFIG_GLOBAL=f git diff
GIT_CONFIG=f git diff
GIT_EXEC_PATH=. git status
GIT_TRACE=$PWD/F git status
GIT_TRACE2=$PWD/F git status
GIT_TRACE_SETUP=$PWD/F git status
GIT_ALTERNATE_OBJECT_DIRECTORIES=. git log
GIT_ASKPASS=./evil git fetch
GIT_EDITOR=./evil git commit
GIT_SEQUENCE_EDITOR=./evil git rebase -i
GIT_PROXY_COMMAND=./evil git fetch
GIT_INDEX_FILE=F git status
GIT_OPTIONAL_LOCKS=1 git status
PAGER=./evil git log
PAGER='touch F' man ls
MANPAGER=./evil man ls
EDITOR=./evil git commit
VISUAL=./evil crontab -e
LESSOPEN='|./evil %s' less a
LESS=+!./evil less a
BROWSER=./evil git help -w log
RIPGREP_CONFIG_PATH=f rg x
GREP_OPTIONS=-r grep x
TAR_OPTIONS=--checkpoint-action=exec=./evil tar tf a
TREE_COLORS=x tree
JQ_LIBRARY_PATH=. jq .
PYTHONPATH=. python3 --version
PYTHONHOME=. python3 --version
NODE_OPTIONS=--require=./evil.js node -v
NODE_PATH=. node -v
RUBYOPT=-r./evil ruby -v
PERL5OPT=-M./evil perl -v
PERL5LIB=. perl -v
JAVA_TOOL_OPTIONS=-javaagent:x java -version
MAKEFLAGS=--eval=x make -v
MAKEFILES=evil make -v
RUSTC_WRAPPER=./evil cargo -V
CARGO_HOME=. cargo -V
GOFLAGS=-toolexec=./evil go version
BASH_ENV=./evil ls
ENV=./evil sh
SHELLOPTS=xtrace PS4='$(touch F)' bash -c ls
IFS=x; ls
HOME=. git status
XDG_CONFIG_HOME=. git status
TMPDIR=. sort a
LC_ALL=C touch F
LC_ALL=C ls >F
a[$(touch F)]=1
a[$(touch F)]=1 ls
x=$(touch F)
x=${'`'}touch F${'`'}
x=$(touch F) ls
x+=$(touch F)
x=(${'$'}(touch F))
x=([$(touch F)]=1)
x=<(touch F)
export x=$(touch F)
export PATH=.
export GIT_PAGER=./evil && git log
readonly x=$(touch F)
declare x=$(touch F)
declare -i x='a[$(touch F)]'
declare -n x='a[$(touch F)]'; echo $x
declare 'a[$(touch F)]=1'
typeset x=$(touch F)
typeset -i x='a[$(touch F)]'
local x=1
unset 'a[$(touch F)]'
unset -v 'a[$(touch F)]'
unset PATH
test -v 'a[$(touch F)]'
[ -v 'a[$(touch F)]' ]
test 'a[$(touch F)]' -eq 1
[ 'a[$(touch F)]' -eq 1 ]
[ 1 -ge 'a[${'`'}touch F${'`'}]' ]
test -t 'a[$(touch F)]'
read 'a[$(touch F)]' < a
read x < .env; echo $x
read -r x < ../outside/secret; echo $x
IFS= read -r x < a
mapfile x < .env; echo "${'${'}x[@]}"
mapfile 'a[$(touch F)]' < a
printf -v 'a[$(touch F)]' x
printf -v PATH .
printf -v x y
printf %n 'a[$(touch F)]'
printf %hn x
printf '%1$n' x
printf '%*n' 1 x
printf '%b' x %n PATH
printf '%d' 'a[$(touch F)]' > F
printf "%$(touch F)s"
wait -p 'a[$(touch F)]' -n
getopts a 'a[$(touch F)]'
`,
  expansion: String.raw`
ls $(touch F)
ls ${'`'}touch F${'`'}
ls "$(touch F)"
ls "${'`'}touch F${'`'}"
ls $(<.env)
echo $(<.env)
echo "$(<../outside/secret)"
echo ${'`'}cat .env${'`'}
echo $(cat .env)
ls <(touch F)
ls >(touch F)
cat <(cat .env)
diff <(cat .env) a
echo ${'${'}x:=$(touch F)}
echo ${'${'}x:-$(touch F)}
echo ${'${'}x:+$(touch F)}
echo ${'${'}x:?$(touch F)}
echo ${'${'}x:$(touch F)}
echo ${'${'}x#$(touch F)}
echo ${'${'}x%$(touch F)}
echo ${'${'}x/$(touch F)/}
echo ${'${'}x^$(touch F)}
echo ${'${'}a[$(touch F)]}
echo ${'${'}#a[$(touch F)]}
echo ${'${'}!a[$(touch F)]}
echo ${'${'}x@P}
echo ${'${'}PS1@P}
echo "${'${'}x[$(touch F)]}"
echo "${'${'}!x}"
echo ${'${'}!PATH*}
echo $HOME/.secret
cat $HOME/.secret
cat ${'${'}HOME}/.secret
cat "$HOME/.secret"
cat $OLDPWD/x
cat $PWD/../outside/secret
cat ~/.secret
cat ~/.bashrc
cat ~root/.bashrc
cat ~+/../outside/secret
cat ~-/x
cat ~1
cat a=~/.secret
cat a=~/.bashrc
grep '' a=~/.secret
head -1 a=~/.secret
cat a=~root/.bashrc
wc a=~/.secret
cat --x=~/.secret
cat x:~/.secret ~/.secret
cat .env
cat ./.env
cat src/../.env
cat .env a
cat a .env
cat -- .env
cat -n .env
cat .en[v]
cat .en?
cat .e*
cat .[!.]*
cat .*
cat .??*
cat ./.e*
cat .{env,gitignore}
cat .e{n,}v
cat {a,.env}
cat "".env
cat .'env'
cat .e\nv
cat $'.env'
cat $'\x2eenv'
head .env
tail .env
less .env
nl .env
tac .env
rev .env
od -c .env
xxd .env
strings .env
base64 .env
sort .env
uniq .env
cut -c1- .env
fold .env
paste .env
column .env
diff .env a
cmp .env a
comm .env a
grep . .env
grep -h '' .env a
grep -f .env a
grep --file=.env a
rg . .env
rg -f .env a
sed p .env
sed -n p .env
jq -R . .env
wc .env && cat .env
cat ../outside/secret
cat link/secret
cat ./link/secret
cat link/../outside/secret
cat src/../../outside/secret
cat /etc/passwd
cat /etc/shadow
cat /proc/self/environ
cat /proc/1/environ
cat /dev/sda
cat /proc/self/fd/0
cat /proc/self/cwd/.env
cat /proc/self/root/etc/passwd
ls ..
ls ../outside
ls ~
ls /
ls /root
ls link/
ls -L link
ls -H link
ls --dereference link
ls -R /
find ..
find /
find ~
find link/
find -L .
find -H link
find . -follow
find . -newer ../outside/secret
grep -r . .
grep -r KEY .
grep -R KEY .
grep -rh KEY
grep -d recurse KEY .
grep --directories=recurse KEY .
grep -r KEY ..
grep KEY link/secret
grep KEY -r link/
rg --hidden KEY
rg -uuu KEY
rg -. KEY
rg --no-ignore --hidden KEY .
rg KEY ..
rg KEY ~
rg -L KEY
rg --follow KEY
rg -g .env KEY
rg -g '.e*' KEY
rg --glob '!a' --hidden KEY
rg --files ..
tree ..
tree -l
du -L
du ..
stat ../outside/secret
file ../outside/secret
readlink -f / ../x
realpath ../outside/x
diff -r . ../outside
diff -r . src
wc -c --files0-from=.env
du --files0-from=.env
sort --files0-from=.env
md5sum -c .env
sha256sum --check .env
date -f .env
date --file=.env
file -f .env
file -m .env a
file --files-from .env
strings @.env
`,
  wrappers: String.raw`
env touch F
env -- touch F
env -i touch F
env - touch F
env -u X touch F
env X=1 touch F
env -C sub touch F
env --chdir=sub touch F
env -S 'touch F'
env -S'touch F'
env --split-string='touch F'
env -vS 'touch F'
env env touch F
env PATH=. ls
env
env -0
printenv
/usr/bin/env touch F
nice touch F
nice -n 5 touch F
nice -5 touch F
nice --adjustment=5 touch F
nice -n5 touch F
timeout 5 touch F
timeout -k 1 5 touch F
timeout -s KILL 5 touch F
timeout --signal=KILL 5 touch F
timeout --foreground 5 touch F
timeout 0.1s touch F
timeout 5 env touch F
timeout 5 nice touch F
command touch F
command -p touch F
command -- touch F
command command touch F
builtin command touch F
nohup touch F
setsid touch F
setsid -f touch F
stdbuf -o0 touch F
unbuffer touch F
time touch F
/usr/bin/time touch F
/usr/bin/time -o F ls
ionice touch F
ionice -c3 touch F
chrt 1 touch F
taskset 1 touch F
prlimit --nproc=9 touch F
setpriv --no-new-privs touch F
setarch x86_64 touch F
linux64 touch F
fakeroot touch F
chroot / touch F
unshare touch F
nsenter touch F
runuser -u root touch F
sudo touch F
sudo -n ls
doas touch F
pkexec touch F
run0 touch F
su root -c 'touch F'
sg root 'touch F'
newgrp root
systemd-run touch F
dbus-run-session touch F
dbus-launch touch F
xvfb-run touch F
start-stop-daemon --start --exec /usr/bin/touch -- F
daemonize /usr/bin/touch F
cgexec touch F
numactl touch F
valgrind touch F
strace touch F
strace -o F ls
ltrace touch F
perf record ls
gdb --args touch F
script -c 'touch F'
script -qc 'touch F' /dev/null
script F
watch touch F
watch -n1 'touch F'
entr touch F
parallel touch ::: F
xargs touch <<< F
xargs -a a touch
xargs -I{} touch {} <<< F
xargs -n1 touch < a
xargs -P2 touch < a
xargs < a
echo F | xargs touch
echo F | xargs -0 touch
echo F | xargs
find . | xargs rm
ls | xargs cat
ls -a | xargs cat
git ls-files | xargs rm
git ls-files -z | xargs -0 rm
rg -l x | xargs sed -i s/x/y/
flock F touch F
flock F -c 'touch F'
chronic touch F
ts touch F
rlwrap touch F
ld.so /usr/bin/touch F
/lib64/ld-linux-x86-64.so.2 /usr/bin/touch F
busybox touch F
busybox sh -c 'touch F'
toybox touch F
proot touch F
firejail touch F
bwrap --bind / / touch F
direnv exec . ls
direnv allow
asdf exec ls
mise exec -- touch F
nix-shell --run 'touch F'
conda run touch F
pipx run x
uv run x
uvx x
poetry run x
pipenv run x
bundle exec x
npx x
npx -y x
pnpm exec x
yarn exec x
bunx x
corepack yarn
volta run x
`,
} as const
