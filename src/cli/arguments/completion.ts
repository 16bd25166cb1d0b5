// `pal completion bash|zsh|fish`: a script for the shell that completes commands, subcommands and options, made from the
// parser itself, so that it knows what this version knows.
import type { Command } from 'commander'
import { promptCommand } from './prompt.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

interface Entry {
  readonly name: string
  readonly about: string
}

/** What can follow `pal`, and what can follow each command. */
interface Choices {
  readonly first: readonly Entry[]
  readonly after: ReadonlyMap<string, readonly Entry[]>
}

function choicesOf(program: Command): Choices {
  const prompt = program.commands.find((command) => command.name() === promptCommand)
  const named = program.commands.filter((command) => command !== prompt)
  const options = (command: Command | undefined): readonly Entry[] =>
    (command?.options ?? []).flatMap(({ long, description, hidden }) =>
      hidden || long === undefined || long === null ? [] : [{ name: long, about: description }],
    )
  const commands = (of: readonly Command[]): readonly Entry[] =>
    of.map((command) => ({ name: command.name(), about: command.description() }))
  return {
    first: [...commands(named), ...options(prompt)],
    after: new Map(
      named.map((command) => [command.name(), [...commands(command.commands), ...options(command)]]),
    ),
  }
}

export function completionScript(program: Command, shell: Shell): string {
  return scripts[shell](choicesOf(program))
}

const names = (entries: readonly Entry[]): string => entries.map(({ name }) => name).join(' ')
/** In single quotes, for every shell; a line's end would end the entry. */
const quoted = (text: string): string => `'${text.replaceAll(/\s+/g, ' ').replaceAll("'", "'\\''")}'`

const scripts: Readonly<Record<Shell, (choices: Choices) => string>> = {
  bash: ({ first, after }) => `# pal completion for bash: add to ~/.bashrc:  source <(pal completion bash)
_pal() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" choices=""
  if [ "$COMP_CWORD" -eq 1 ]; then choices="${names(first)}"
  else
    case "\${COMP_WORDS[1]}" in
${[...after].map(([name, entries]) => `      ${name}) choices="${names(entries)}" ;;`).join('\n')}
      -*) choices="${names(first.filter(({ name }) => name.startsWith('-')))}" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$choices" -- "$cur"))
}
complete -o default -F _pal pal
`,
  zsh: ({ first, after }) => `#compdef pal
# pal completion for zsh: add to ~/.zshrc, after compinit:  source <(pal completion zsh)
_pal() {
  local -a choices
  if (( CURRENT == 2 )); then
    choices=(${described(first)})
  else
    case "$words[2]" in
${[...after].map(([name, entries]) => `      ${name}) choices=(${described(entries)}) ;;`).join('\n')}
      -*) choices=(${described(first.filter(({ name }) => name.startsWith('-')))}) ;;
    esac
  fi
  _describe 'pal' choices || _files
}
compdef _pal pal
`,
  fish: ({ first, after }) => {
    const line = (condition: string, { name, about }: Entry): string =>
      name.startsWith('--')
        ? `complete -c pal -n ${condition} -l ${name.slice(2)} -d ${fishQuoted(about)}`
        : `complete -c pal -n ${condition} -a ${name} -d ${fishQuoted(about)}`
    return `# pal completion for fish: pal completion fish > ~/.config/fish/completions/pal.fish
${first.map((entry) => line('__fish_use_subcommand', entry)).join('\n')}
${[...after]
  .flatMap(([name, entries]) => entries.map((entry) => line(`'__fish_seen_subcommand_from ${name}'`, entry)))
  .join('\n')}
`
  },
}

/** A colon divides name and description for zsh. */
const described = (entries: readonly Entry[]): string =>
  entries.map(({ name, about }) => quoted(`${name.replaceAll(':', '\\:')}:${about}`)).join(' ')
/** In single quotes fish knows only two escapes. */
const fishQuoted = (text: string): string =>
  `'${text.replaceAll(/\s+/g, ' ').replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
