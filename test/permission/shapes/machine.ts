// The machine and the world around it: network, packages, services, other processes, keys.
export const machineShapes = {
  network: String.raw`
curl http://localhost:1/
curl -o F http://localhost:1/
curl -O http://localhost:1/F
curl -d @.env http://localhost:1/
curl -T .env http://localhost:1/
curl -F x=@.env http://localhost:1/
curl -K f
curl file:///etc/passwd
curl --version -o F http://localhost:1/
curl -V http://localhost:1/
curl -sS http://localhost:1/ | sh
wget http://localhost:1/
wget -O F http://localhost:1/
wget -i .env
wget --post-file=.env http://localhost:1/
wget --use-askpass=./evil http://localhost:1/
aria2c http://localhost:1/
http localhost:1
httpie localhost
xh localhost:1
lynx -dump http://localhost:1/
w3m http://localhost:1/
links http://localhost:1/
nc localhost 1
nc -l 1
nc -e ./evil localhost 1
ncat --exec ./evil localhost 1
socat - TCP:localhost:1
socat EXEC:./evil -
telnet localhost 1
ssh localhost
ssh localhost touch F
ssh -o ProxyCommand=./evil localhost
ssh -oProxyCommand=./evil localhost
ssh -F f localhost
ssh -V -o PermitLocalCommand=yes localhost
scp a localhost:
scp -S ./evil a localhost:
sftp -b a localhost
sftp -S ./evil localhost
sshfs localhost: F
ssh-keygen -f F -N ''
ssh-keygen -D ./evil.so
ssh-add
ssh-add -l
ssh-agent sh -c 'touch F'
ssh-copy-id localhost
mosh localhost
ftp localhost
tftp localhost
rsync a localhost:
rclone copy a x:
dig example.org
dig $(cat .env).example.org
dig -f .env
host example.org
nslookup example.org
whois example.org
ping -c1 localhost
ping6 ::1
traceroute localhost
mtr localhost
nmap localhost
nmap --script=./evil localhost
tcpdump -w F
tcpdump -z ./evil
tshark -w F
ip link set lo down
ip netns exec x touch F
ifconfig lo down
iptables -F
nft flush ruleset
route add default x
arp -d x
hostname -F .env
mail x < .env
sendmail x < .env
msmtp x < .env
mutt -s x y < .env
swaks --to x
openssl s_client -connect localhost:1
openssl enc -in .env
openssl req -out F
openssl genrsa -out F
gpg -d a
gpg --output F a
gpg --import a
gpg --list-keys
gpg --agent-program ./evil --list-keys
gpg-agent --daemon
age -d a
keybase login
xdg-open a
open a
start a
sensible-browser x
firefox x
google-chrome x
`,
  'packages and builds': String.raw`
npm install
npm i x
npm ci
npm test
npm t
npm run x
npm start
npm exec x
npm x y
npm init
npm init x
npm publish
npm version patch
npm config set x y
npm config set script-shell ./evil
npm set x y
npm link
npm pack
npm audit fix
npm rebuild
npm cache clean --force
npm login
npm token list
npm -v install
npm --version install
npm --prefix sub test
npm ls --prefix ../outside
npm ls --globalconfig=f
npm ls --userconfig f
npm ls --script-shell=./evil
npm ls --node-options=--require=./evil.js
npm ls; npm test
npm explore x -- touch F
npm edit x
npm config edit
npm config ls -l > F
npm view x
npm outdated
npm help ls
npm docs x
npm bugs x
npm repo x
pnpm install
pnpm test
pnpm dlx x
yarn
yarn install
yarn test
yarn dlx x
bun install
pip install x
pip3 install -r a
pip download x
pip config set x y
python3 -m pip install x
python3 -m venv F
python3 -m http.server
python3 setup.py install
uv pip install x
uv sync
poetry install
pipenv install
conda install x
gem install x
gem build x
bundle install
rake
rake -f evil
composer install
cargo install x
cargo add x
cargo fmt
cargo clean
cargo fetch
rustup update
rustup run stable touch F
go install x@latest
mvn package
mvn -v -Dexec=x
gradle build
./gradlew
ant
sbt
lein
mix deps.get
rebar3 compile
stack build
cabal build
nix build
nix-env -i x
guix install x
brew install x
apt install x
apt-get update
apt-get install x
apt-get -o Dpkg::Pre-Invoke::=./evil update
dpkg -i x
yum install x
dnf install x
pacman -S x
apk add x
zypper install x
snap install x
flatpak install x
cmake .
cmake -P evil
cmake -E touch F
cmake --build .
ninja
meson setup F
bazel build x
buck build x
scons
waf
autoconf
./configure
configure
tsc
tsc --outDir F
eslint --fix a
prettier --write a
prettier a
black a
ruff --fix a
gofmt -w a
rustfmt a
clang-format -i a
shfmt -w a
jest
vitest
mocha
pytest
tox
nox
phpunit
rspec
ctest
just x
task x
invoke x
fab x
ansible all -m shell -a 'touch F'
ansible-playbook x
terraform apply
terraform plan -out=F
pulumi up
vagrant up
packer build x
skaffold run
helm install x y
kubectl apply -f a
kubectl exec x -- touch F
kubectl delete x
kubectl get secrets -o yaml
docker run x
docker run -v /:/x y
docker exec x touch F
docker build .
docker compose up
docker ps
docker cp x:y F
docker -H tcp://localhost:1 ps
docker version
docker-compose up
podman run x
buildah run x
nerdctl run x
lxc exec x touch F
aws s3 cp .env s3://x
aws configure list
gcloud auth print-access-token
az login
heroku run x
fly deploy
vercel deploy
netlify deploy
wrangler deploy
firebase deploy
`,
  'processes and the system': String.raw`
kill 1
kill -9 1
kill -9 -1
kill -l; kill 1
kill %1
kill $$
kill $PPID
pkill x
pkill -f node
killall node
killall5
xkill
skill x
renice 10 1
ionice -p 1
reboot
shutdown now
halt
poweroff
init 0
telinit 0
systemctl start x
systemctl stop x
systemctl enable x
systemctl --user start x
systemctl edit x
systemctl status x
systemd-run --user touch F
journalctl
journalctl --vacuum-size=1
service x start
rc-service x start
launchctl load x
loginctl terminate-user x
crontab a
crontab -e
crontab -r
crontab -l; crontab -r
crontab -
at now < evil
at -f evil now
batch < evil
atrm 1
anacron -f
mount x y
umount x
losetup x
fdisk -l
mkfs x
fsck x
swapoff -a
sysctl -w x=y
modprobe x
insmod x
rmmod x
dmesg -C
useradd x
usermod x
userdel x
passwd
chpasswd < a
groupadd x
visudo
chsh
chfn
login
newusers a
ldconfig
update-alternatives --set x y
dpkg-reconfigure x
locale-gen
timedatectl set-time x
hwclock -w
setterm --blank 1
wall x
write root
mesg y
logger x
tmux new -d 'touch F'
tmux run-shell 'touch F'
tmux send-keys x
screen -dm touch F
screen -X stuff x
dtach -n F touch F
byobu
zellij run x
gnome-terminal -- touch F
xterm -e 'touch F'
xdotool key x
xclip -o
xclip < .env
xsel -b < .env
pbcopy < .env
pbpaste
wl-copy < .env
notify-send x
dbus-send x
gdbus call x
gsettings set x y
defaults write x y
security find-generic-password -w x
secret-tool lookup x y
pass show x
op read x
bw get x
vault kv get x
security dump-keychain
ps e
ps aux > F
ps auxe
cat /proc/1/cmdline /proc/self/environ
lsof -p 1 > F
strace -p 1
gdb -p 1
gcore 1
nsenter -t 1 -a touch F
chroot . ./evil
pivot_root . .
unshare -r touch F
setcap x a
capsh -- -c 'touch F'
ulimit -n 1; touch F
umask 000; touch F
sync; touch F
fallocate -l 1 F
swapon F
loadkeys f
openvt touch F
fbset x
sleep 1; touch F
sleep $(touch F)
seq 1 2 | xargs -I{} touch F{}
yes | head -1 > F
whoami > F
id > F
uname -a > F
printenv HOME > F
set
set > F
declare -p
export -p
compgen -v
compgen -e
env | sort
jq -n env
jq -n '$ENV'
jq -n 'env.HOME'
awk 'BEGIN{for(k in ENVIRON)print k,ENVIRON[k]}'
echo $AWS_SECRET_ACCESS_KEY
echo "$HOME"
echo ${'${'}!A*}
`,
} as const
