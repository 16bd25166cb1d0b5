#!/usr/bin/env bash
# A review in CI: reads the diff, writes nothing, costs at most 50 cents, and fails the build when the model says so.
# A lost key, a refusal or a broken network is a failure too, never a green build: see the exit codes in docs/cli.md.
set -euo pipefail
git diff "${BASE:-HEAD~1}" |
  pal -p 'Review this diff. End with one line: VERDICT: OK, or VERDICT: PROBLEMS.' \
    --permission-mode plan --max-cost 0.50 --output-format json >review.json
node -e '
  const { text } = JSON.parse(require("fs").readFileSync("review.json", "utf8"))
  console.log(text)
  process.exit(/^VERDICT: OK$/m.test(text) ? 0 : 1)
'
