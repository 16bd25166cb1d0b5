// git: what it writes, runs or asks of others behind commands that read, and whose configuration it obeys.
export const gitShapes = {
  'git options': String.raw`
git log --output=F
git log --output F
git log -p --output=F
git log --unified --output=F
git log -U --output=F
git log -s --format=%B --unified --output=F
git log -s --format=%B --unified --output=../outside/canary
git log -L --output=F
git log -S --output=F
git log -G --output=F
git log --format --output=F
git log --author --output=F
git log --since --output=F
git log --grep --output=F
git log --date --output=F
git log --max-count --output=F
git log -n --output=F
git log --skip --output=F
git log --until --output=F
git log --committer --output=F
git log --diff-filter --output=F
git log --diff-algorithm --output=F
git log --pretty --output=F
git log --abbrev --output=F
git log --stat --output=F
git log --relative --output=F
git log --word-diff --output=F
git log --decorate --output=F
git log --color --output=F
git log --notes --output=F
git diff --output=F
git diff -U --output=F
git diff -U3 --output=F
git diff --unified --output=F
git diff --format --output=F
git diff -L --output=F
git diff --stat --output=F
git diff --name-only --output=F
git diff HEAD --output=F
git diff -- a --output=F > F
git diff --cached --output=F
git diff --outp=F
git diff --ou F
git diff -O.env
git diff -O .env
git diff -Oorder --output=F
git diff --no-index a .env
git diff --no-index /dev/null ../outside/secret
git diff --no-index -- a ../outside/secret
git diff a ../outside/secret
git diff --ext-diff
git diff -p --ext-diff HEAD
git diff --textconv
git show --output=F
git show --unified --output=F
git show -U --output=F
git show --ext-diff
git show --textconv HEAD
git show HEAD:.env
git show :.env
git show HEAD:./.env
git show HEAD:src/../.env
git show --format=%G?
git show --show-signature
git log --show-signature
git log --format=%GS
git log --pretty=format:%G?
git log --pretty=%GK
git log --pretty=tformat:%GG
git reflog -U --output=F
git reflog --output=F
git reflog expire --all
git reflog delete HEAD@{0}
git shortlog --unified --output=F
git shortlog --output=F
git diff-tree --unified --output=F HEAD
git diff-tree --output=F HEAD
git rev-list --unified --output=F HEAD
git rev-list --disk-usage --output=F HEAD
git diff-index --output=F HEAD
git diff-files --output=F
git format-patch HEAD~1
git format-patch -o F HEAD~1
git format-patch --stdout --output=F HEAD~1
git range-diff --output=F HEAD~1..HEAD HEAD~1..HEAD
git whatchanged --output=F
git archive -o F HEAD
git archive --output=F HEAD
git archive HEAD > F
git archive --remote=. HEAD
git archive --exec=./evil --remote=. HEAD
git bundle create F HEAD
git fast-export --export-marks=F HEAD
git fast-import < a
git grep -O x
git grep -Oless x
git grep -O./evil x
git grep --open-files-in-pager x
git grep --open-files-in-pager=./evil x
git grep --open=./evil x
git grep -e --open-files-in-pager=./evil x
git grep -A --open-files-in-pager=./evil x
git grep -f .env
git grep -f.env
git grep --no-index KEY
git grep --no-index KEY .
git grep --untracked --no-exclude-standard KEY
git grep --no-index x ../outside
git grep --textconv x
git grep --recurse-submodules x
git blame --contents .env a
git blame --contents=../outside/secret a
git blame --ignore-revs-file .env a
git blame --ignore-revs-file=.env a
git blame -S .env a
git blame --textconv a
git cat-file --batch
git cat-file --batch-check
git cat-file --batch-command
git cat-file --textconv HEAD:a
git cat-file --filters HEAD:a
git cat-file -p HEAD:.env
git cat-file blob HEAD:.env
git ls-files -X .env
git ls-files --exclude-from=.env
git ls-files --exclude-per-directory=.env
git ls-remote
git ls-remote .
git ls-remote --upload-pack=./evil .
git ls-remote ext::./evil
git check-attr --stdin -a
git check-ignore --stdin < .env
git status --output=F
git status > F
git describe --dirty --output=F
git rev-parse --parseopt < a
git rev-parse --sq-quote x > F
git rev-parse --path-format=absolute --git-path x > F
git for-each-ref --shell --format='%(refname)' | sh
git for-each-ref --format='%(signature)'
git for-each-ref --format='%(signature:key)'
git for-each-ref --stdin < .env
git show-branch --output=F
git -c core.pager=./evil log
git -c core.pager=./evil -p log
git -p log
git --paginate log
git -c diff.external=./evil diff
git -c core.fsmonitor=./evil status
git -c core.sshCommand=./evil fetch
git -c core.hooksPath=. diff
git -c core.editor=./evil commit
git -c alias.x='!./evil' x
git -ccore.pager=./evil log
git -c include.path=evil log
git -c include.path=../f status
git --config-env=core.pager=HOME log
git --config-env core.pager=HOME log
git --exec-path=. status
git --exec-path=. evil
git --git-dir=sub/.git diff
git --git-dir sub/.git status
git --git-dir=. status
git --work-tree=.. status
git --work-tree=../outside diff
git --bare status
git --namespace=x log
git --super-prefix=x status
git --attr-source=x diff
git --html-path > F
git --literal-pathspecs diff --output=F
git --no-optional-locks diff --output=F
git --no-pager diff --output=F
git --no-pager -c core.pager=./evil -p log
git -P diff --output=F
git -C sub diff --output=F
git -C ../outside status
git -C .. status
git -C ~ status
git -C / status
git -C link status
git -C .git status
git -C .git config -l
git -C sub -C .. -C .. status
git -C "" diff --output=F
git -C * status
`,
  'git that changes': String.raw`
git add .
git add -A
git add a
git am a
git apply a
git apply --reject a
git bisect start
git bisect run ./evil
git branch x
git branch -d x
git branch -D x
git branch -m x
git branch -M main
git branch -c x
git branch -f x
git branch -u origin/x
git branch --unset-upstream
git branch --edit-description
git branch --set-upstream-to=x
git branch --list -D main
git branch -a -D main
git branch -v x
git checkout .
git checkout -- a
git checkout -b x
git checkout HEAD~1
git cherry-pick HEAD
git clean -fdx
git clean -n; git clean -f
git clone . F
git clone ext::./evil F
git clone --upload-pack=./evil . F
git clone -u ./evil . F
git clone -c core.fsmonitor=./evil . F
git clone --template=sub . F
git commit -m x
git commit --amend
git commit-graph write
git commit-tree HEAD^{tree} -m x
git config x.y z
git config --add x.y z
git config --global x.y z
git config --unset x.y
git config -e
git config --file F x.y z
git config -f .env -l
git config --blob HEAD:a -l
git config --get-all -f ../outside/secret x
git config core.pager ./evil
git config set x.y z
git config edit
git credential fill
git credential-store get
git daemon
git difftool
git difftool -x ./evil
git difftool --extcmd=./evil -y
git mergetool
git fetch
git fetch --upload-pack=./evil .
git fetch origin
git fetch --all
git fetch ext::./evil
git filter-branch --tree-filter ./evil
git fsck --lost-found
git gc
git gui
git gitk
git hash-object -w a
git help -w log
git help log
git hook run pre-commit
git index-pack a
git init F
git init --template=sub
git instaweb
git interpret-trailers --in-place a
git maintenance run
git maintenance start
git merge x
git merge-file a b f
git merge-index ./evil a
git mv a F
git notes add -m x
git notes edit
git pack-refs --all
git prune
git pull
git pull --rebase
git push
git push --receive-pack=./evil .
git push --exec=./evil .
git push origin :main
git push --force
git push --mirror
git read-tree HEAD
git rebase main
git rebase -i HEAD~1
git rebase --exec ./evil HEAD~1
git rebase -x ./evil HEAD~1
git remote add x y
git remote remove x
git remote rename x y
git remote set-url x y
git remote update
git remote prune x
git remote show origin
git -c remote.x.url=ext::./evil fetch x
git repack -a
git replace x y
git request-pull x y
git rerere
git reset --hard
git reset HEAD a
git restore a
git restore --staged a
git revert HEAD
git rm a
git send-email a
git send-email --smtp-server=./evil a
git sparse-checkout set x
git stash
git stash push
git stash pop
git stash apply
git stash drop
git stash clear
git stash list; git stash drop
git stash list --output=F
git stash show --output=F
git stash show -p --ext-diff
git stash branch x
git submodule add . F
git submodule update --init
git submodule foreach ./evil
git submodule foreach --recursive 'touch F'
git submodule status; touch F
git svn fetch
git switch main
git symbolic-ref HEAD refs/heads/x
git symbolic-ref -d HEAD
git tag x
git tag -d x
git tag -a x -m y
git tag -f x
git tag -s x
git tag -v x
git tag -l -d x
git tag --list --delete x
git update-index --refresh
git update-index --assume-unchanged a
git update-ref refs/heads/x HEAD
git update-ref --stdin < a
git upload-pack .
git receive-pack .
git shell
git verify-commit HEAD
git verify-tag x
git web--browse x
git worktree add F
git worktree remove F
git worktree prune
git write-tree
git unknown-alias
git evil
git x
git lfs pull
git lfs fetch
git annex get
git flow init
git secrets --scan
git-shell -c x
git-upload-pack .
git-receive-pack .
gh pr create
gh pr merge 1
gh api -X DELETE x
gh auth token
gh repo clone x
gh alias set x '!touch F' --shell
gh extension install x
hub pull-request
glab mr create
tig
lazygit
gitk
svn update
svn commit
hg update
hg --config alias.x='!touch F' x
hg status --config extensions.x=./evil.py
bzr commit
fossil commit
jj commit
`,
} as const
