// The arguments of a prompt and of a conversation: everything that is no command.
import { Option, type Command } from 'commander'
import type { Settings } from '../../settings/schema.ts'
import { permissionModes } from '../../tools/permission/pipeline.ts'
import { exits, type Exit } from '../exit-codes.ts'
import { formats, type Format } from '../output.ts'
import type { Io } from '../terminal/io.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { didYouMean } from '../terminal/suggest.ts'
import { setting, thresholdIn, ruleTexts, type RunCommand } from './flags.ts'

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
  readonly allow?: string[]
  readonly ask?: string[]
  readonly deny?: string[]
  readonly permissionMode?: Settings['permissionMode']
  readonly cwd?: string
  readonly system?: string
  readonly trust?: boolean
  readonly requireTrust?: boolean
  readonly offline?: boolean
  readonly unsaved?: boolean
}

/** `names`: the commands there are, for somebody who mistyped one. */
export function addPrompt(program: Command, run: RunCommand, names: () => readonly string[]): void {
  program
    .command(promptCommand, { hidden: true })
    .description('A prompt with -p, or a conversation without it. The word "prompt" itself is left out.')
    .usage('[options] [--] [prompt...]')
    .argument('[prompt...]', 'the prompt')
    .option('-p, --print', 'print the answer and exit')
    .addOption(
      new Option('--output-format <form>', 'what is written to stdout').choices(formats).default('text'),
    )
    .option('-c, --continue', 'continue the newest session of this project')
    .option(
      '-r, --resume [id]',
      'continue this session, by the id that pal sessions shows; without one choose from a list',
    )
    .option(
      '--fork-session',
      'with --continue or --resume: branch off a new session, the old one stays as it is',
    )
    .option('--model <name>', 'the model; pal models lists them', setting('model', String))
    .option(
      '--max-cost <dollars>',
      'stop before a request that could make the session cost more',
      setting('maxCost', Number),
    )
    .option(
      '--max-tokens-total <n>',
      'stop before the session takes more tokens than this, cache reads included',
      setting('maxTokens', Number),
    )
    .option(
      '--allow <rules>',
      "allow without asking, besides read-only calls: Edit,'Bash(npm test)'; can be repeated",
      ruleTexts,
    )
    .option('--ask <rules>', 'always ask about these', ruleTexts)
    .option('--deny <rules>', 'never run these, whatever else allows them', ruleTexts)
    .addOption(
      new Option('--permission-mode <mode>', 'what happens to calls that no rule names').choices(
        permissionModes,
      ),
    )
    .option(
      '--threshold <n>',
      'compact from here on: tokens, or a share of the window such as 80%',
      thresholdIn,
    )
    .option('--no-automatic-removal', 'never remove anything from context automatically')
    .option('--system <text>', 'replace the whole system prompt')
    .option('--cwd <folder>', 'the project folder')
    .option('--trust', 'trust everything in this folder, this time only')
    .option('--require-trust', 'fail if something in this folder is not trusted')
    .option('--offline', 'use the built-in scripted model: it follows task scripts and understands nothing')
    .option('--unsaved', 'keep nothing of this conversation; for a state folder that cannot be written to')
    .option('--lines', 'plain lines instead of the screen')
    .option('--verbose', 'show progress on stderr even if it is not a terminal')
    .action(
      run(
        async () => (io, texts: readonly string[], flags: PromptFlags) => prompt(io, texts, flags, names()),
      ),
    )
}

function noChoice(io: Io): Exit {
  io.err('pal: --resume needs a session id here; pal sessions lists them\n')
  return exits.usage
}

/** A person at a terminal that can draw gets the screen, unless plain lines are asked for. */
const isForScreen = (io: Io, flags: PromptFlags): boolean =>
  io.inIsTerminal && io.outIsTerminal && io.environment['TERM'] !== 'dumb' && flags.lines !== true

/** Somebody without a key may have sessions of other agents: what those cost and lost is said before anything else. */
async function lookAround(io: Io, cwd: string | undefined): Promise<void> {
  const has = (name: string): boolean => (io.environment[name] ?? '') !== ''
  if (has('ANTHROPIC_API_KEY') || has('ANTHROPIC_AUTH_TOKEN') || has('ANTHROPIC_BASE_URL')) return
  const place = await (await import('../workplace/workplace.ts')).openWorkplace(io, { cwd })
  if (!place.ok || place.access !== null) return
  await (await import('../commands/companion/audit.ts')).sayFirstLook(io, place)
}

async function prompt(
  io: Io,
  texts: readonly string[],
  flags: PromptFlags,
  names: readonly string[],
): Promise<Exit> {
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
    allow: flags.allow,
    ask: flags.ask,
    deny: flags.deny,
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
    const word = safeLine(texts[0] ?? '')
    if (names.includes(word)) {
      io.err(
        `pal: the options before ${word} are those of a prompt. Options of a command come after it; pal ${word} --help lists them\n`,
      )
      return exits.usage
    }
    io.err(
      `pal: unknown command '${word}'.${didYouMean(word, names)} To send a prompt use pal -p "${word} …"; pal --help lists the commands\n`,
    )
    return exits.usage
  }
  const chooses = flags.resume === true
  const isPlainStart = !options.continue && flags.resume === undefined && flags.offline !== true
  if (isPlainStart) await lookAround(io, options.cwd)
  if (isForScreen(io, flags))
    return (await import('../screen/conversation.ts')).converseOnScreen(io, options, chooses)
  return chooses ? noChoice(io) : (await import('../line-mode/conversation.ts')).converseInLines(io, options)
}
