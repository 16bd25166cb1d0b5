// Programs with an output, a program or a list of files of their own behind an option that looks harmless.
export const programShapes = {
  find: String.raw`
find . -delete
find . -name x -delete
find . -name x -o -delete
find . \( -name x -delete \)
find . ! -name a -delete
find . -not -name a -delete
find . , -delete
find . -type f -exec rm {} +
find . -type f -exec rm {} \;
find . -type f -exec rm '{}' ';'
find . -type f -execdir rm {} +
find . -type f -ok rm {} \;
find . -type f -okdir rm {} \;
find . -exec sh -c 'touch F' \;
find . -exec cat {} +
find . -name .env -exec cat {} \;
find . -fprint F
find . -fprint0 F
find . -fprintf F x
find . -fls F
find -delete
find src a -delete
find . -maxdepth 1 -name F -fprint F
find . -files0-from .env
find -files0-from .env
find . -printf x -delete
find . -name -delete -delete
find . "-delete"
find . '-exec' touch F ';'
find . -de\lete
find . $'-delete'
find . -del*
find . -name *
find . -name [a-z]*
find * -delete
find -D exec . -exec touch F \;
find -O3 . -delete
find -P . -delete
find . -newermt x -delete
find . -regextype x -delete
find . -size +1 -delete
find . -empty -delete
find . -depth -delete
find . -prune , -delete
find . -quit , -delete
find . -false -o -delete
fd -x rm
fd -X rm
fd . -x touch F
`,
  'sed and awk': String.raw`
sed -i s/x/y/ a
sed -i.bak s/x/y/ a
sed -i '' s/x/y/ a
sed --in-place s/x/y/ a
sed --in-place=.b s/x/y/ a
sed --in-pl s/x/y/ a
sed -ni p a
sed -Ei s/x/y/ a
sed -n -i p a
sed -e p -i a
sed p a -i
sed p -- -i a >F
sed -s -i p a
sed -zi p a
sed 'w F' a
sed wF a
sed '1w F' a
sed '$w F' a
sed '/x/w F' a
sed '/x/,/y/w F' a
sed '1!w F' a
sed '1,2w F' a
sed '0~2w F' a
sed 'p;w F' a
sed 'p
w F' a
sed '{w F
}' a
sed -e p -e 'w F' a
sed --expression='w F' a
sed --expression 'w F' a
sed -n -e 'w F' a
sed -ne 'w F' a
sed -nE 'w F' a
sed 'W F' a
sed 's/x/y/w F' a
sed 's/x/y/wF' a
sed 's/x/y/gw F' a
sed 's/x/y/pw F' a
sed 's/x/y/2w F' a
sed 's|x|y|w F' a
sed 's,x,y,w F' a
sed 'sxaxbxw F' a
sed 's/x/y/e' a
sed 's/x/touch F/e' a
sed 's/.*/touch F/ge' a
sed 's/.*/touch F/pe' a
sed 's/.*/touch F/me' a
sed '1e touch F' a
sed 'e touch F' a
sed e a
sed '1e' a
sed '/x/e touch F' a
sed '$!e touch F' a
sed 'r .env' a
sed '1r .env' a
sed 'R .env' a
sed '1R../outside/secret' a
sed -f evil a
sed -f- a <<< 'w F'
sed --file=evil a
sed -nf evil a
sed 's/[/]/x/w F' a
sed 's/\//x/w F' a
sed '\,x,w F' a
sed '\%x%e touch F' a
sed 'y/a/b/;w F' a
sed 'a\
x
w F' a
sed ':a;w F' a
sed 'b;w F' a
sed '#n
w F' a
sed --debug -i p a
sed --posix -i p a
sed -l 5 -i p a
sed -E -i.x p a
sed -n '1p;1w F' a
sed -n '1p}w F' a
sed p .env
sed -n p ../outside/secret
sed -n p ~/.secret
sed -s p a .env
sed F a .env
awk 'BEGIN{system("touch F")}'
awk 'BEGIN{print > "F"}'
awk '{print > "F"}' a
awk '{print >> "F"}' a
awk '{print | "sh"}' evil
awk '{print |& "sh"}' evil
awk 'BEGIN{"touch F" | getline}'
awk 'BEGIN{while((getline l < ".env")>0) print l}'
awk 'BEGIN{getline < ".env"; print}'
awk 'BEGIN{printf "x" > "F"}'
awk 'BEGIN{ARGV[1]=".env";ARGC=2}1'
awk 1 .env
awk -f evil
awk --file=evil
awk -i inplace 1 a
awk -l evil
awk -e 'BEGIN{system("touch F")}'
awk -E evil
awk -o F 1
awk -dF 1 a
awk -pF 1 a
awk --dump-variables=F 1
awk --profile=F 1
awk --load=evil 1
awk --include=evil 1
awk 'BEGIN{f="system";@f("touch F")}'
awk 'BEGIN { close("x"); fflush(); system("") ; system("touch F") }'
awk '@include "evil"'
awk '@load "evil"'
awk 'BEGIN{print ENVIRON["HOME"] > "F"}'
gawk 'BEGIN{system("touch F")}'
mawk 'BEGIN{system("touch F")}'
nawk 'BEGIN{system("touch F")}'
`,
  'outputs of their own': String.raw`
sort -o F a
sort -oF a
sort -no F a
sort -nrF -o F a
sort a -o F
sort --output F a
sort --output=F a
sort --out=F a
sort -k2 -o F a
sort -k 2 -oF a
sort -t: -oF a
sort -S1 --compress-program=./evil a
sort --compress-prog ./evil a
sort -T . a
sort --temporary-directory=. a
sort --random-source=.env -R a
sort -t -o F a
sort -k -oF a
uniq a F
uniq -c a F
uniq -- a F
uniq a b
uniq -f 1 a F
uniq -w1 a F
uniq - F
xxd a F
xxd -p a F
xxd -r a F
xxd -r -p a F
xxd -bc f F
xxd -pc f F
xxd -ps f F
xxd -il f F
xxd -us f F
xxd -bs f F
xxd -ug f F
xxd -b f F
xxd -i f F
xxd -l 4 f F
xxd -l4 f F
xxd -c 4 -b f F
xxd -- a F
xxd a -i
xxd a -b
xxd a -p
xxd - -i
xxd f -plc
xxd -s 0 a -u
xxd -plain a F
xxd -postscript a F
xxd -include a F
xxd -revert a F
xxd -bits a F
xxd -e a F
xxd -a a F
xxd -E a F
tree -o F
tree -oF
tree -ao F
tree -Io X F
tree -Lo 1 F
tree -Po X F
tree -L 1 -o F
tree -I X -o F
tree --output F
tree -H . -o F
tree -R -L 1 -H . -o F
tree . -o F
tree -- -o F >F
tree --fromfile .env
tree --fromtabfile .env
tree --gitfile=.env
tree --infofile=.env
od -w1 .env
hexdump -f .env a
hexdump -e '"%s"' .env
column -t .env
base64 -d .env
split a
split -l1 a F
split --filter='touch F' a
split -b1 a F
csplit a 1
csplit -f F a 1
tee F
tee -a F
tee -- F
tee a b < f
shuf -o F a
shuf --output=F a
shuf --random-source=.env a
tsort a > F
ptx a F
pr -l1 a > F
fmt a > F
expand a > F
iconv -o F a
iconv --output=F a
dos2unix a
unix2dos a
recode x a
nroff a > F
troff -U a
groff -U a
enscript -o F a
a2ps -o F a
dd of=F
dd if=a of=F
dd if=.env
truncate -s 0 a
truncate -s0 a
shred a
wipe a
install a F
cp a F
cp -r src F
mv a F
ln a F
ln -s a F
rm a
rm -rf .
rm -f a
rmdir src
unlink a
mkdir F
mkdir -p F
mktemp
mktemp -p .
mkfifo F
mknod F p
touch F
touch a
chmod +x a
chmod 777 a
chown root a
chgrp root a
chattr +i a
setfacl -m u:x:r a
setfattr -n user.x a
rename x y a
patch -p1 < a
patch a < b
ed a
ex -sc 'w! F|q' a
vi -c ':!touch F' a
vim -c ':w F' -c :q a
vim -es -c 'w F|q' a
nvim --headless -c 'w F' -c q a
nano a
emacs a
view -c ':!touch F' a
less a
more a
most a
man ls
info ls
pydoc ls
comm --output-delimiter=x .env a
join .env a
cut -d= -f2 .env
paste -d, .env a
diff --to-file=.env a
diff --from-file=.env a
diff -l a b
diff --paginate a b
diff3 -m a b f > F
diff3 --diff-program=./evil a b f
sdiff -o F a b
sdiff --diff-program=./evil a b
cmp a .env
file -C -m f
file --compile -m f
file -z a
file -f .env
strings -T x @.env
ar r F a
ar x a.a
nm --plugin=./evil.so a
objdump --plugin=./evil.so a
objcopy a F
strip a
ranlib a
readelf --debug-dump=follow-links a > F
tar cf F a
tar cf - a | tar xf - -C /tmp
tar xf a.tar
tar tf a --to-command=./evil
tar tf a --checkpoint=1 --checkpoint-action=exec=./evil
tar -I ./evil -tf a
tar --use-compress-program=./evil -tf a
tar tf a -F ./evil
tar --info-script=./evil -tf a
tar tf x:a --rsh-command=./evil
tar cf a --rmt-command=./evil x:a
tar --index-file=F -tvf a
tar -T .env -cf -
tar --delete -f a x
zip F a
zip -T -TT ./evil F a
unzip a
unzip -o a
unzip -p a > F
gzip a
gzip -c a > F
gunzip a.gz
bzip2 a
xz a
zstd a -o F
zstd a
lz4 a F
7z x a
cpio -i < a
cpio -o > F < a
pax -r < a
rsync a F
rsync -e ./evil a x:
rsync --rsync-path=./evil a x:
jq -f evil a
jq --from-file evil a
jq -L . 'import "x" as $x; .' a
jq 'import "x" as x; .' a
jq 'include "x"; .' a
jq -n 'input' .env
jq -R . .env
jq -Rs . ../outside/secret
jq --rawfile x .env -n '$x'
jq --slurpfile x .env -n '$x'
jq -n --rawfile x ../outside/secret '$x'
jq -n '$__prog_args' .env
jq . package.json > F
yq -i .x=1 a
yq -i e a
xmlstarlet ed -L a
xmllint --output F a
xmllint --noent a
xsltproc -o F a
date -s x
date --set=x
date --set x
date 01010101
date -us x
date -u -s x
hostname x
hostnamectl set-hostname x
script F
tput reset > F
stty -a > F
tset
reset
clear > F
`,
  searches: String.raw`
rg --pre ./evil x
rg --pre=./evil x
rg --pre=cat --pre-glob '*' x
rg -n --pre ./evil x
rg x --pre ./evil
rg -e x --pre=./evil
rg --hostname-bin ./evil x
rg --hostname-bin=./evil --hyperlink-format=x x
rg -z x
rg --search-zip x
rg -f evil x
rg --file .env a
rg --file=.env a
rg --ignore-file .env x
rg --ignore-file=.env --debug x
rg --hidden .
rg -uu .
rg -u --hidden .
rg --no-ignore-vcs --hidden .
rg -L x
rg --follow x
rg x ..
rg x ../outside
rg x link/
rg x ~/
rg --files ~
rg -e x -- ../outside
rg -g '.env' .
rg --glob=.env .
rg --iglob .ENV .
rg --type-add 'x:.env' -tx .
rg --no-config --pre=./evil x
rg -A --pre=./evil x
rg -g --pre=./evil x
rg -t --pre=./evil x
rg -m --pre=./evil x
rg -j --pre=./evil x
rg --max-count --pre=./evil x
rg --sort --pre=./evil x
grep x ../outside/secret
grep -e x ../outside/secret
grep -ex ../outside/secret
grep -f .env a
grep -f.env a
grep --file=.env a
grep --exclude-from=.env x a
grep -R x .
grep -r --dereference-recursive x .
grep --dereference-recursive x .
grep -d recurse x .
grep -rd skip x .
grep -A1 KEY .env
grep -A 1 KEY .env
grep -m 1 KEY .env
grep KEY a .env
grep --regexp KEY .env
grep --regexp=KEY .env
grep --rege KEY .env
grep -- KEY .env
grep -v x .env
grep -c . .env
grep -L x .env
grep -x '' -v .env
grep . .e*
grep . .[e]nv
grep --include=.env -r . .
zgrep x a
zgrep -f .env a
bzgrep x a
pcregrep x .env
ag --pager ./evil x
ag x ..
ack --pager=./evil x
ack --pager ./evil x
locate -d .env x
updatedb
ctags -R
ctags --options=evil a
etags a
cscope -b
`,
} as const
