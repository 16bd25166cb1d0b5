// The command line, in one parser: what is not a command is a prompt, and after `--` everything
// is text. Each command is loaded when it is asked for.
import { Argument, Command, CommanderError } from 'commander'
import { subcommand, type RunCommand } from './arguments/flags.ts'
import { addCompanionCommands } from './arguments/companion-commands.ts'
import { addFleetCommands } from './arguments/fleet-commands.ts'
import { addInspect } from './arguments/inspect-command.ts'
import { addLabCommands } from './arguments/lab-commands.ts'
import { addMemoryCommands } from './arguments/memory-commands.ts'
import { completionScript, shells, type Shell } from './arguments/completion.ts'
import { addPrompt, promptCommand } from './arguments/prompt.ts'
import { addSessionCommands } from './arguments/session-commands.ts'
import { exits, type Exit } from './exit-codes.ts'
import type { Io } from './terminal/io.ts'
import { safeLine } from './terminal/safe-text.ts'
import { didYouMean } from './terminal/suggest.ts'
import { prose } from './terminal/tables.ts'

export async function runProgram(io: Io, args: readonly string[], version: string): Promise<Exit> {
  let exit: Exit = exits.done
  const run: RunCommand = (command) => command().then((code) => void (exit = code))
  const program = baseProgram(io, version)
  const names = (): readonly string[] =>
    program.commands.map((command) => command.name()).filter((name) => name !== promptCommand)
  addPrompt(program, io, run, names)
  addSessionCommands(program, io, run)
  addInspect(program, io, run)
  addMemoryCommands(program, io, run)
  addCompanionCommands(program, io, run)
  addFleetCommands(program, io, run)
  addLabCommands(program, io, run)
  addCompletion(program, io, run)
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

function addCompletion(program: Command, io: Io, run: RunCommand): void {
  subcommand(program, 'completion', 'print a completion script: source <(pal completion bash)')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: Shell) =>
      run(() => {
        io.out(completionScript(program, shell))
        return Promise.resolve(exits.done)
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
