// The words of a prompt and of a talk: everything that is no command.
import { Option, type Command } from 'commander'
import type { Settings } from '../../settings/schema.ts'
import { exits, type Exit } from '../exit-codes.ts'
import { formats, type Format } from '../output.ts'
import type { Io } from '../terminal/io.ts'
import { child, setting, thresholdIn, toolNames, type Ends } from './argument.ts'

export const promptCommand = 'prompt'

interface PromptFlags {
  readonly print?: boolean
  readonly outputFormat: Format
  readonly verbose?: boolean
  readonly lines?: boolean
  readonly continue?: boolean
  readonly resume?: string
  readonly forkSession?: boolean
  readonly model?: string
  readonly maxCost?: number
  readonly maxTokensTotal?: number
  readonly threshold?: Settings['threshold']
  readonly automaticRemoval?: boolean
  readonly allow?: readonly string[]
  readonly cwd?: string
  readonly system?: string
  readonly trust?: boolean
}

export function addPrompt(program: Command, io: Io, ends: Ends): void {
  child(program, promptCommand, 'one prompt; the word itself is left out: pal -p "…"')
    .usage('[options] [--] [words...]')
    .argument('[words...]', 'what to say')
    .option('-p, --print', 'answer and end; without it pal is a talk')
    .addOption(
      new Option('--output-format <form>', 'what standard output gets').choices(formats).default('text'),
    )
    .option('-c, --continue', 'go on with the newest session of this project')
    .option('-r, --resume <id>', 'go on with this session; the beginning of its id is enough')
    .option(
      '--fork-session',
      'with --continue or --resume: go on in a new session, the old one stays as it is',
    )
    .option('--model <name>', 'who answers')
    .option(
      '--max-cost <dollars>',
      'most this session may cost, asked before each request',
      setting('maxCost', Number),
    )
    .option(
      '--max-tokens-total <n>',
      'most tokens this session may take, cache reads included',
      setting('maxTokens', Number),
    )
    .option(
      '--allow <tools>',
      'tools that may run beside the safe ones, as Edit,Bash; may be given again',
      toolNames,
    )
    .option('--threshold <n>', 'make room from here on: tokens, or a part of the window as 80%', thresholdIn)
    .option('--no-automatic-removal', 'nothing leaves the context but by you')
    .option('--system <text>', 'replaces the system prompt whole')
    .option('--cwd <folder>', 'work there')
    .option('--trust', "read this project's settings, this time only")
    .option('--lines', 'talk in plain lines also where the terminal can draw')
    .option('--verbose', 'show progress on the error stream also where it is no terminal')
    .action((words: readonly string[], flags: PromptFlags) => ends(() => prompt(io, words, flags)))
}

/** A person at a terminal that can draw gets the screen, unless plain lines are asked for. */
const isForScreen = (io: Io, flags: PromptFlags): boolean =>
  io.inIsTerminal && io.outIsTerminal && io.environment['TERM'] !== 'dumb' && flags.lines !== true

async function prompt(io: Io, words: readonly string[], flags: PromptFlags): Promise<Exit> {
  if (flags.forkSession === true && flags.continue !== true && flags.resume === undefined) {
    io.err('pal: --fork-session needs a session to fork from: add --continue or --resume ID\n')
    return exits.usage
  }
  const settings: Settings = {
    model: flags.model,
    maxCost: flags.maxCost,
    maxTokens: flags.maxTokensTotal,
    threshold: flags.threshold,
    // Without the flag the word is true, which would beat the settings.
    automaticRemoval: flags.automaticRemoval === false ? false : undefined,
    allow: flags.allow === undefined ? undefined : [...flags.allow],
  }
  const options = {
    isVerbose: flags.verbose ?? false,
    continue: flags.continue ?? false,
    resume: flags.resume,
    forkSession: flags.forkSession ?? false,
    system: flags.system,
    cwd: flags.cwd,
    trust: flags.trust,
    settings,
  }
  if (flags.print === true)
    return (await import('../headless.ts')).runPrompt(io, { ...options, words, format: flags.outputFormat })
  if (words.length > 0) {
    io.err(
      'pal: words need -p: pal -p "…" answers and ends; pal alone is a talk; pal --help lists the commands\n',
    )
    return exits.usage
  }
  return isForScreen(io, flags)
    ? (await import('../screen/talk.ts')).talkOnScreen(io, options)
    : (await import('../line-mode/agent.ts')).talk(io, options)
}
