// What looks like a command, or like a patch, wherever it stands.

const shell = /^(?:\/\S*\/)?(?:ba|z|da|fi)?sh$|^(?:powershell|pwsh|cmd)(?:\.exe)?$/
const program =
  /^\s*(?:[A-Z_][A-Z0-9_]*=\S*\s+)*(?:sudo\s+)?(?:cd|ls|cat|sed|awk|rg|grep|find|git|gh|go|npm|npx|pnpm|yarn|bun|node|deno|python3?|pip3?|uv|poetry|pytest|cargo|rustc|make|cmake|docker|kubectl|terraform|az|aws|gcloud|curl|wget|echo|printf|head|tail|wc|sort|uniq|tree|touch|mkdir|rm|cp|mv|chmod|which|env|export|source|set|test|jq|diff|tee|nl|bat|less|xargs|tsc|eslint|ruff|mvn|gradle|java|ruby|bundle|rake|perl|php|composer|swift|dotnet|mise|task|just|apply_patch|bash|sh|zsh|true|time|timeout|for|if|while|ps|kill|df|du|date|pwd|stat|file|ssh|scp|tar|unzip|apt|brew|systemctl)(?=[\s;&|]|$)/
const operator = /(?:^|\s)(?:&&|\|\||\||;|>>?|2>&1|<<)(?:\s|$|['"A-Z])|\s--?[A-Za-z][\w-]*/

export const isShell = (word: string): boolean => shell.test(word)

/** It begins with a program that everybody has. */
export const startsProgram = (text: string): boolean => program.test(text)

/** An operator of a shell, or an option. */
export const hasOperator = (text: string): boolean => operator.test(text)

export const looksRun = (text: string): boolean =>
  startsProgram(text) || (/^\s*[\w./~-]+\s/.test(text) && !/[.!?]\s+[A-Z]/.test(text) && hasOperator(text))

export const patchMark = /^\*\*\* Begin Patch|^diff --git |^--- \S[^\n]*\n\+\+\+ /m
