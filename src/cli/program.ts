// The words of the command line, in one parser (TRUST A30): what is not a command is a prompt, and after `--` everything
// is text. Each command is loaded when it is asked for.
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { check, isKey, keys, type Settings } from '../settings/schema.ts'
import { exits, type Exit } from './exit-codes.ts'
import type { Io } from './terminal/io.ts'
import { formats, type Format } from './output.ts'

const promptCommand = 'prompt'

export async function runProgram(io: Io, words: readonly string[], version: string): Promise<Exit> {
  let exit: Exit = exits.done
  const ends = (run: () => Promise<Exit>): Promise<void> => run().then((code) => void (exit = code))
  const program = baseProgram(io, version)
  addPrompt(program, io, ends)
  addLooking(program, io, ends)
  addChanging(program, io, ends)
  addKeeping(program, io, ends)
  addPlaying(program, io, ends)
  addReplay(program, io, ends)
  const first = words[0] ?? ''
  const isCommand = program.commands.some((command) => command.name() === first)
  const isHelp = ['help', '--help', '-h', '--version', '-V'].includes(first)
  try {
    await program.parseAsync(isCommand || isHelp ? words : [promptCommand, ...words], { from: 'user' })
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
  pal                                       line by line; /help lists its commands
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

type Ends = (run: () => Promise<Exit>) => Promise<void>

interface PromptFlags {
  readonly print?: boolean
  readonly outputFormat: Format
  readonly verbose?: boolean
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

function addPrompt(program: Command, io: Io, ends: Ends): void {
  child(program, promptCommand, 'one prompt; the word itself is left out: pal -p "…"')
    .usage('[options] [--] [words...]')
    .argument('[words...]', 'what to say')
    .option('-p, --print', 'answer and end; without it pal talks line by line')
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
    .option('--verbose', 'show progress on the error stream also where it is no terminal')
    .action((words: readonly string[], flags: PromptFlags) => ends(() => prompt(io, words, flags)))
}

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
    return (await import('./headless.ts')).runPrompt(io, { ...options, words, format: flags.outputFormat })
  if (words.length > 0) {
    io.err(
      'pal: words need -p: pal -p "…" answers and ends; pal alone is a talk; pal --help lists the commands\n',
    )
    return exits.usage
  }
  return (await import('./line-mode/agent.ts')).talk(io, options)
}

interface LookFlags {
  readonly json?: boolean
  readonly all?: boolean
  readonly cwd?: string
}

function addLooking(program: Command, io: Io, ends: Ends): void {
  const looking = (name: string, about: string): Command =>
    child(program, name, about).option('--json', 'as JSON').option('--cwd <folder>', 'the project')
  looking('sessions', 'the sessions of this project, newest first')
    .option('--all', 'also the forks, and without end')
    .action((flags: LookFlags) =>
      ends(async () => (await import('./commands/sessions.ts')).sessions(io, flags)),
    )
  looking('context', 'what is in the context of a session, from the request really sent')
    .argument('[id]', 'the session; the newest when left out')
    .action((id: string | undefined, flags: LookFlags) =>
      ends(async () => (await import('./commands/context.ts')).context(io, id, flags)),
    )
  looking('cost', 'what each turn of a session cost, and why')
    .argument('[id]', 'the session; the newest when left out')
    .action((id: string | undefined, flags: LookFlags) =>
      ends(async () => (await import('./commands/cost.ts')).cost(io, id, flags)),
    )
  looking('edits', 'everything that left the view of a session, and the number to undo it by')
    .argument('[id]', 'the session; the newest when left out')
    .action((id: string | undefined, flags: LookFlags) =>
      ends(async () => (await import('./commands/edits.ts')).edits(io, id, flags)),
    )
  looking('doctor', 'what is wrong with this installation, and how to mend it').action((flags: LookFlags) =>
    ends(async () => (await import('./commands/doctor.ts')).doctor(io, flags)),
  )
}

function addChanging(program: Command, io: Io, ends: Ends): void {
  const changing = (name: string, about: string): Command =>
    child(program, name, about).option('--json', 'as JSON').option('--cwd <folder>', 'the project')
  changing('undo', 'take a removal back')
    .argument('<place>', 'its place, as pal edits lists it')
    .argument('[id]', 'the session; the newest when left out')
    .action((place: string, id: string | undefined, flags: LookFlags) =>
      ends(async () => (await import('./commands/changes.ts')).undo(io, place, id, flags)),
    )
  changing('release', 'let what an undo gave back be put away again')
    .argument('<place>', 'the place that pal undo named')
    .argument('[id]', 'the session; the newest when left out')
    .action((place: string, id: string | undefined, flags: LookFlags) =>
      ends(async () => (await import('./commands/changes.ts')).release(io, place, id, flags)),
    )
  changing('compact', 'put the older part of a session away, behind an account of it')
    .argument('[id]', 'the session; the newest when left out')
    .option('--preview', 'only show what would happen')
    .option('--instructions <text>', 'what you want to find again')
    .action((id: string | undefined, flags: LookFlags & { preview?: boolean; instructions?: string }) =>
      ends(async () => (await import('./commands/changes.ts')).compact(io, id, flags)),
    )
}

function addKeeping(program: Command, io: Io, ends: Ends): void {
  child(program, 'login', 'keep an API key (typed, or piped in) where only you can read it').action(() =>
    ends(async () => (await import('./commands/login.ts')).login(io)),
  )
  child(program, 'logout', 'forget the kept key').action(() =>
    ends(async () => (await import('./commands/login.ts')).logout(io)),
  )
  child(program, 'trust', "let this project's settings count")
    .option('--cwd <folder>', 'the project')
    .option('--remove', 'trust it no longer')
    .action((flags: { readonly cwd?: string; readonly remove?: boolean }) =>
      ends(async () => (await import('./commands/trust.ts')).trust(io, flags)),
    )
}

interface SimulateFlags {
  readonly port?: number
  readonly script?: string
  readonly recorded?: string
  readonly mode?: 'good' | 'lazy' | 'wrong' | 'hostile'
}

function addPlaying(program: Command, io: Io, ends: Ends): void {
  child(program, 'demo', 'a whole coding task, offline, with a scripted model and real tools').action(() =>
    ends(async () => (await import('./demo/demo.ts')).demo(io)),
  )
  child(program, 'start', 'the agent where a model can be reached, the demo where none can').action(() =>
    ends(async () => (await import('./demo/start.ts')).start(io)),
  )
  child(program, 'simulate', 'a local Messages API that answers from rules, a script or a recording')
    .option('--port <n>', 'where it listens; any free port when left out', port)
    .option('--script <file>', 'a task script that the model follows')
    .option('--recorded <file>', 'a list of messages (JSON) that is played back')
    .addOption(
      new Option('--mode <mode>', "how the engine's own requests are served").choices([
        'good',
        'lazy',
        'wrong',
        'hostile',
      ]),
    )
    .action((flags: SimulateFlags) =>
      ends(async () => (await import('./commands/simulate.ts')).simulate(io, flags)),
    )
}

interface ReplayFlags {
  readonly policy?: string
  readonly window?: number
  readonly model?: string
  readonly json?: boolean
  readonly jobs?: number
  readonly part?: string
}

function addReplay(program: Command, io: Io, ends: Ends): void {
  child(program, 'replay', 'recorded sessions under other policies: what they cost, and what stays in sight')
    .argument('<path>', 'a recording, or a folder of them')
    .option('--policy <names>', 'names or files of policies, with commas between; or all')
    .option('--window <tokens>', 'the context window', wholeNumber)
    .option('--model <name>', 'the model whose prices and rules hold')
    .option('--json', 'as JSON')
    .option('--jobs <n>', 'processes that share the work', wholeNumber)
    .addOption(new Option('--part <i/n>', 'one part of the work, as lines of JSON').hideHelp())
    .action((path: string, flags: ReplayFlags) =>
      ends(async () => {
        const { replayCommand } = await import('./commands/replay.ts')
        const script = process.argv[1]
        const self = script === undefined ? null : [process.execPath, script]
        return replayCommand({ path, ...flags }, { ...io, self })
      }),
    )
}

function wholeNumber(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value > 0) return value
  throw new InvalidArgumentError('It must be a whole number above 0.')
}

function child(program: Command, name: string, about: string): Command {
  return program.command(name).description(about).allowExcessArguments(false)
}

const toolNames = (text: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  ...text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== ''),
]

/** A flag that is a setting fits where the setting would. */
const setting =
  (key: 'maxCost' | 'maxTokens', read: (text: string) => number) =>
  (text: string): number => {
    const value = read(text)
    const checked = isKey(key) ? check(key, value) : { ok: false }
    if (!checked.ok) throw new InvalidArgumentError('It must be a number above 0.')
    return value
  }

function thresholdIn(text: string): Settings['threshold'] {
  const checked = check('threshold', /^\d+$/.test(text) ? Number(text) : text)
  if (checked.ok) return checked.value
  throw new InvalidArgumentError(`It must be ${keys.threshold.expected}.`)
}

const mostPort = 65_535
function port(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 0 && value <= mostPort) return value
  throw new InvalidArgumentError(`It must be a number from 0 to ${mostPort}.`)
}
