// The command line, in one parser: what is not a command is a prompt, and after `--` everything
// is text. Each command is loaded when it is asked for.
import { Argument, Command, CommanderError } from 'commander'
import { addCompanionCommands, addInspect, addLabCommands } from './arguments/lab-commands.ts'
import { subcommand, type RunCommand } from './arguments/flags.ts'
import { addFleetCommands } from './arguments/fleet-commands.ts'
import { addSessionCommands } from './arguments/session-commands.ts'
import { addMemoryCommands } from './arguments/memory-commands.ts'
import { addPrompt, promptCommand } from './arguments/prompt.ts'
import { exits, type Exit } from './exit-codes.ts'
import type { Io } from './terminal/io.ts'
import { safeLine } from './terminal/safe-text.ts'
import { didYouMean } from './terminal/suggest.ts'
import { prose } from './terminal/tables.ts'

export async function runProgram(io: Io, args: readonly string[], version: string): Promise<Exit> {
  let exit: Exit = exits.done
  const run: RunCommand =
    (load) =>
    async (...given) => {
      const options = (given.at(-1) as Command).optsWithGlobals()
      const work = await load()
      exit = await work(io, ...([...given.slice(0, -2), options] as never[]))
    }
  const program = baseProgram(io, version)
  const names = (): readonly string[] =>
    program.commands.map((command) => command.name()).filter((name) => name !== promptCommand)
  addPrompt(program, run, names)
  addSessionCommands(program, run)
  addInspect(program, run)
  addMemoryCommands(program, run)
  addCompanionCommands(program, run)
  addFleetCommands(program, run)
  addLabCommands(program, run)
  addCompletion(program, run)
  const first = args[0] ?? ''
  const isCommand = program.commands.some(
    (command) => command.name() === first || command.aliases().includes(first),
  )
  const isHelp = ['help', '--help', '-h', '--version', '-V'].includes(first)
  const mistaken = wrongSubcommand(program, args)
  if (mistaken !== null) {
    io.err(mistaken)
    return exits.usage
  }
  try {
    await program.parseAsync(isCommand || isHelp ? args : [promptCommand, ...args], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? exits.done : exits.usage
  }
  return exit
}

/** A word behind a command that only has subcommands; left to itself the parser counts arguments and names none. */
function wrongSubcommand(program: Command, [first, second = '']: readonly string[]): string | null {
  const command = program.commands.find((one) => one.name() === first || one.aliases().includes(first ?? ''))
  if (command === undefined || command.commands.length === 0 || command.registeredArguments.length > 0)
    return null
  const names = command.commands.map((one) => one.name())
  if (second === '' || second.startsWith('-') || second === 'help' || names.includes(second)) return null
  const word = safeLine(second)
  return `pal: pal ${command.name()} has no '${word}'.${didYouMean(word, names)} It has ${names.join(', ')}; pal ${command.name()} --help explains them\n`
}

/** Wider lines are hard to read. */
const helpColumns = 120

function addCompletion(program: Command, run: RunCommand): void {
  subcommand(program, 'completion', 'print a completion script: source <(pal completion bash)')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action(
      run(async () => (io, shell: Shell) => {
        io.out(scripts[shell](choicesOf(program)))
        return exits.done
      }),
    )
}

/** Where two columns have no room, what a name is for stands below it. */
const narrowed = (text: string, room: number): string =>
  prose(room < twoColumns ? text.replaceAll(/(\S) {2,}(?=\S)/g, '$1\n      ') : text, room)
const twoColumns = 70

const examples = `
Interactive:
  pal                        start a conversation; /help lists its commands
  pal --continue             continue the newest session
  pal --resume [ID]          continue another one; without an id choose from a list

For scripts:
  pal -p "why does the test fail?"
                             answer on stdout, then exit
  git diff | pal -p "review this"
                             stdin is added to the prompt, as what it is about
  pal -p --continue --allow Edit,Bash "and now fix it"
  pal -p -- --flag           after -- everything is prompt
  pal -p --help              all options of both

Exit codes: 0 done, 1 failed, 2 usage error, 3 cap reached, 4 session not found or open in another process, 130 interrupted.`

function baseProgram(io: Io, version: string): Command {
  return new Command('pal')
    .description('An agent whose context stays small, cheap and true for as long as the work lasts.')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out(narrowed(text, io.columns)),
      writeErr: (text) => io.err(text),
      // In the voice of every other error.
      outputError: (text, write) =>
        write(`pal: ${text.replace(/^error: /, '').replaceAll('\n(Did', '. (Did')}`),
      getOutHelpWidth: () => Math.min(io.columns, helpColumns),
    })
    .showHelpAfterError('Run pal help, or pal help COMMAND, for usage.')
    .helpCommand('help [command]', 'show help for a command')
    .addHelpText('after', () => prose(examples, Math.min(io.columns, helpColumns)))
}

// ---- `pal completion bash|zsh|fish`: a script for the shell that completes commands, subcommands and options, made from the
// parser itself, so that it knows what this version knows ----

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

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
