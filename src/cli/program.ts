// The command line, in one parser: what is not a command is a prompt, and after `--` everything
// is text. Each command is loaded when it is asked for.
import { Command, CommanderError } from 'commander'
import type { RunCommand } from './arguments/flags.ts'
import { addLabCommands } from './arguments/lab-commands.ts'
import { addMemoryCommands } from './arguments/memory-commands.ts'
import { addPrompt, promptCommand } from './arguments/prompt.ts'
import { addSessionCommands } from './arguments/session-commands.ts'
import { exits, type Exit } from './exit-codes.ts'
import type { Io } from './terminal/io.ts'

export async function runProgram(io: Io, args: readonly string[], version: string): Promise<Exit> {
  let exit: Exit = exits.done
  const run: RunCommand = (command) => command().then((code) => void (exit = code))
  const program = baseProgram(io, version)
  addPrompt(program, io, run)
  addSessionCommands(program, io, run)
  addMemoryCommands(program, io, run)
  addLabCommands(program, io, run)
  const first = args[0] ?? ''
  const isCommand = program.commands.some((command) => command.name() === first)
  const isHelp = ['help', '--help', '-h', '--version', '-V'].includes(first)
  try {
    await program.parseAsync(isCommand || isHelp ? args : [promptCommand, ...args], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? exits.done : exits.usage
  }
  return exit
}

function baseProgram(io: Io, version: string): Command {
  return new Command('pal')
    .description('An agent whose context stays small, cheap and true for as long as the work lasts.')
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out(text), writeErr: (text) => io.err(text) })
    .addHelpText(
      'after',
      `
A talk:
  pal                                       on the screen, or line by line from a pipe; /help lists its commands
  pal --continue                            go on with the newest session

Prompts:
  pal -p "why does the test fail?"          one turn, the answer on standard output
  git diff | pal -p "review this"           standard input is added to the prompt
  pal -p --continue "and now fix it" --allow Edit,Bash
  pal -p -- --words that begin with dashes  after -- everything is text
  pal help prompt                           every option of both

Exit codes: 0 done, 1 failed, 2 wrong words, 3 cap reached, 4 no such session or held, 130 interrupted.`,
    )
}
