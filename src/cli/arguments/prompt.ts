// The arguments of a prompt and of a conversation: everything that is no command.
import { Option, type Command } from 'commander'
import type { Settings } from '../../settings/schema.ts'
import { permissionModes } from '../../tools/permission/verdict.ts'
import { exits, type Exit } from '../exit-codes.ts'
import { formats, type Format } from '../output.ts'
import type { Io } from '../terminal/io.ts'
import { subcommand, setting, thresholdIn, ruleTexts, type RunCommand } from './flags.ts'

export const promptCommand = 'prompt'

interface PromptFlags {
  readonly print?: boolean
  readonly outputFormat: Format
  readonly verbose?: boolean
  readonly lines?: boolean
  readonly continue?: boolean
  readonly resume?: string | true
  readonly forkSession?: boolean
  readonly model?: string
  readonly maxCost?: number
  readonly maxTokensTotal?: number
  readonly threshold?: Settings['threshold']
  readonly automaticRemoval?: boolean
  readonly allow?: readonly string[]
  readonly ask?: readonly string[]
  readonly deny?: readonly string[]
  readonly permissionMode?: Settings['permissionMode']
  readonly cwd?: string
  readonly system?: string
  readonly trust?: boolean
  readonly requireTrust?: boolean
  readonly offline?: boolean
  readonly unsaved?: boolean
}

export function addPrompt(program: Command, io: Io, run: RunCommand): void {
  subcommand(program, promptCommand, 'one prompt; the word itself is left out: pal -p "…"')
    .usage('[options] [--] [words...]')
    .argument('[words...]', 'what to say')
    .option('-p, --print', 'answer and end; without it pal is a talk')
    .addOption(
      new Option('--output-format <form>', 'what standard output gets').choices(formats).default('text'),
    )
    .option('-c, --continue', 'go on with the newest session of this project')
    .option(
      '-r, --resume [id]',
      'go on with this session; the beginning of its id is enough. Without one you choose',
    )
    .option(
      '--fork-session',
      'with --continue or --resume: go on in a new session, the old one stays as it is',
    )
    .option('--model <name>', 'who answers', setting('model', String))
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
      '--allow <rules>',
      "what may run unasked beside what only looks, as Edit,'Bash(npm test)'; may be given again",
      ruleTexts,
    )
    .option('--ask <rules>', 'what is asked about in any case', ruleTexts)
    .option('--deny <rules>', 'what never runs, whatever else allows it', ruleTexts)
    .addOption(
      new Option('--permission-mode <mode>', 'how calls are treated that no rule names').choices(
        permissionModes,
      ),
    )
    .option('--threshold <n>', 'make room from here on: tokens, or a part of the window as 80%', thresholdIn)
    .option('--no-automatic-removal', 'nothing leaves the context but by you')
    .option('--system <text>', 'replaces the system prompt whole')
    .option('--cwd <folder>', 'work there')
    .option('--trust', 'let everything in this folder act, this time only')
    .option('--require-trust', 'fail where something of this folder would be left out')
    .option(
      '--offline',
      'a scripted model answers on this machine; it follows task scripts and understands nothing',
    )
    .option('--unsaved', 'keep nothing of this conversation; for a state folder that cannot be written to')
    .option('--lines', 'talk in plain lines also where the terminal can draw')
    .option('--verbose', 'show progress on the error stream also where it is no terminal')
    .action((texts: readonly string[], flags: PromptFlags) => run(() => prompt(io, texts, flags)))
}

function noChoice(io: Io): Exit {
  io.err('pal: --resume wants the id of a session here; pal sessions lists them\n')
  return exits.usage
}

/** A person at a terminal that can draw gets the screen, unless plain lines are asked for. */
const isForScreen = (io: Io, flags: PromptFlags): boolean =>
  io.inIsTerminal && io.outIsTerminal && io.environment['TERM'] !== 'dumb' && flags.lines !== true

const listed = (rules: readonly string[] | undefined): string[] | undefined =>
  rules === undefined ? undefined : [...rules]

async function prompt(io: Io, texts: readonly string[], flags: PromptFlags): Promise<Exit> {
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
    allow: listed(flags.allow),
    ask: listed(flags.ask),
    deny: listed(flags.deny),
    permissionMode: flags.permissionMode,
  }
  const options = {
    isVerbose: flags.verbose ?? false,
    continue: flags.continue ?? false,
    resume: flags.resume === true ? undefined : flags.resume,
    forkSession: flags.forkSession ?? false,
    system: flags.system,
    cwd: flags.cwd,
    trust: flags.trust,
    requireTrust: flags.requireTrust,
    offline: flags.offline,
    unsaved: flags.unsaved,
    settings,
  }
  if (flags.print === true && flags.resume === true) return noChoice(io)
  if (flags.print === true)
    return (await import('../headless.ts')).runPrompt(io, { ...options, texts, format: flags.outputFormat })
  if (texts.length > 0) {
    io.err(
      'pal: words need -p: pal -p "…" answers and run; pal alone is a talk; pal --help lists the commands\n',
    )
    return exits.usage
  }
  const chooses = flags.resume === true
  if (isForScreen(io, flags))
    return (await import('../screen/conversation.ts')).converseOnScreen(io, options, chooses)
  return chooses ? noChoice(io) : (await import('../line-mode/conversation.ts')).converseInLines(io, options)
}
