// Commands beside the agent: the demo, the simulator and replays of recorded sessions, which need no model; what is for users of
// other agents; the inspector.
import { Option, Argument, type Command } from 'commander'
import type { CompanionFlags } from '../commands/companion/install.ts'
import type { InspectFlags } from '../commands/inspect/inspect.ts'
import { port, subcommand, wholeNumber, type RunCommand } from './flags.ts'

export function addLabCommands(program: Command, run: RunCommand): void {
  subcommand(program, 'demo', 'play a coding task offline, with a scripted model and real tools').action(
    run(async () => (await import('../demo/demo.ts')).demo),
  )
  subcommand(program, 'start', 'start a conversation, or the demo without an API key').action(
    run(async () => (await import('../demo/demo.ts')).start),
  )
  subcommand(
    program,
    'simulate',
    'serve a local model on the wires of Anthropic, OpenAI and Gemini; it answers from rules, a script or a recording',
  )
    .option('--port <n>', 'the port; default: any free one', port)
    .option('--script <file>', 'a task script for the model to follow (docs/simulator.md)')
    .option('--recorded <file>', 'a JSON list of messages to play back')
    .addOption(
      new Option('--mode <mode>', "how the engine's own requests are served").choices([
        'good',
        'lazy',
        'wrong',
        'hostile',
      ]),
    )
    .addOption(
      new Option(
        '--server <name>',
        'which server that speaks like OpenAI plain paths mean; default: openai',
      ).choices([
        'openai',
        'openrouter',
        'deepseek',
        'groq',
        'ollama',
        'vllm',
        'lmstudio',
        'azure',
        'litellm',
      ]),
    )
    .option('--system-messages', 'every model takes messages of the role system, as some clients expect')
    .action(run(async () => (await import('../commands/simulate.ts')).simulate))
  addGateway(program, run)
  addReplay(program, run)
}

function addGateway(program: Command, run: RunCommand): void {
  subcommand(
    program,
    'gateway',
    'an address for other agents (Claude Code, opencode, Codex …): what they send, what it costs, and less of it',
  )
    .argument('[command...]', 'after --: a client to run behind it, for example: pal gateway -- claude')
    .addOption(
      new Option(
        '--level <level>',
        'watch: change nothing (default); trim: shorten large results before they are first sent; compact: also replace older messages with a summary when that is cheaper or the window is full',
      ).choices(['watch', 'trim', 'compact']),
    )
    .option('--port <n>', 'the port; default: any free one', port)
    .option('--listen <host>', 'another address than this machine; every request then needs a token')
    .option(
      '--upstream <url>',
      "the API behind it; default: the vendor's, or the client's own base URL variable",
    )
    .option('--no-keep', 'record no sessions, only figures')
    .option('--json', 'figures at the end as JSON')
    .action(run(async () => (await import('../commands/gateway.ts')).gateway))
}

function addReplay(program: Command, run: RunCommand): void {
  subcommand(program, 'replay', 'replay recorded sessions under other policies, and compare cost')
    .argument('[path]', 'a recording, or a folder of them; without one your own sessions on this machine')
    .option('--own', 'your own sessions of Claude Code, Codex and pi; nothing is written there')
    .option('--since <day>', 'with your own: only from a day on, as 2026-11-01, or days back as 7d')
    .option('--limit <n>', 'with your own: at most this many, newest first', wholeNumber)
    .option('--sample', 'generated sample sessions, if you have none of your own')
    .option('--policy <names>', 'policy names or files, separated by commas; or all, dial, layers, texts')
    .option('--against <name>', 'compare each session with this policy')
    .option(
      '--window <tokens>',
      'one context window for all; each session has that of its model otherwise',
      wholeNumber,
    )
    .option(
      '--model <name>',
      'the model whose prices and rules apply to all; each session has its own otherwise',
    )
    .option('--report <file>', 'write an HTML report')
    .option('--compactions', 'what compactions kept of what was needed later: the recorded ones against ours')
    .option('--show <n>', 'with --compactions: the n-th recorded one side by side', wholeNumber)
    .option('--simulated', 'with --compactions: also at boundaries that nobody made')
    .option('--json', 'as JSON')
    .option('--jobs <n>', 'number of worker processes', wholeNumber)
    .addOption(new Option('--worker', 'play what stdin says').hideHelp())
    .action(run(async () => (await import('../replay/replay.ts')).replayCommand))
}

// ---- `pal companion`: for those who stay with another agent ----

/** All that can be named; some are refused in words. */
const clients = ['claude', 'codex', 'opencode', 'qwen', 'gemini']

export function addCompanionCommands(program: Command, run: RunCommand): void {
  const companion = subcommand(program, 'companion', "put back what another agent's compaction lost")
  companion
    .command('audit')
    .description('what the compactions of a session kept and lost; nothing is written')
    .argument('[session]', 'a session file, or an id; default: the newest session of this folder')
    .option('--json', 'as JSON')
    .allowExcessArguments(false)
    .action(run(async () => (await import('../commands/companion/audit.ts')).companionAudit))
  addInstallCommands(companion, program.version() ?? '', run)
}

function addInstallCommands(companion: Command, version: string, run: RunCommand): void {
  const child = (name: string, about: string): Command =>
    subcommand(companion, name, about)
      .addArgument(new Argument('<client>', 'the agent').choices(clients))
      .option('--json', 'as JSON')
  child('install', "add hooks to an agent's own files; shows the diff and asks first")
    .option('--dry-run', 'show the diff and change nothing')
    .option('--yes', 'do not ask')
    .option('--status-line', 'Claude Code: put our status line below the one you have')
    .action(
      run(async () => {
        const { installCompanion } = await import('../commands/companion/install.ts')
        return (io, client: string, flags: CompanionFlags) => installCompanion(io, client, version, flags)
      }),
    )
  child('uninstall', "take them out: the agent's files are as before, or what changed since is named")
    .option('--dry-run', 'show what would be done and change nothing')
    .option('--yes', 'do not ask')
    .action(run(async () => (await import('../commands/companion/install.ts')).uninstallCompanion))
  child('doctor', 'run the installed agent offline against the simulator: which hooks work')
    .option('--program <path>', 'the agent to run; default: the one on the PATH')
    .action(run(async () => (await import('../commands/companion/doctor.ts')).companionDoctor))
}

export function addInspect(program: Command, run: RunCommand): void {
  subcommand(
    program,
    'inspect',
    'open a page in the browser: what the model saw at every request, what it cost, every removal and its undo',
  )
    .argument('[id]', 'the session to open first; default: the list of all')
    .option('--no-open', 'print the address, open no browser')
    .option('--port <n>', 'the port; default: any free one', port)
    .option('--host <address>', 'listen beyond this machine; needs the TLS files')
    .option('--tls-cert <file>', 'with --host: the certificate, as PEM')
    .option('--tls-key <file>', 'with --host: its private key, as PEM')
    .option(
      '--export <file>',
      'write one session to a file that shows itself in any browser, secrets redacted',
    )
    .option(
      '--from <where>',
      'sessions that lie elsewhere, to read: a folder of them, or postgres (PAL_DATABASE_URL)',
    )
    .option('--raw', 'with --export: as it is, secrets and all')
    .option('--json', 'the address, or what was written, as JSON')
    .option('--cwd <folder>', 'the project')
    .action(
      run(async () => {
        const { inspect } = await import('../commands/inspect/inspect.ts')
        return (io, id: string | undefined, flags: InspectFlags) =>
          inspect(io, id, flags, program.version() ?? '')
      }),
    )
}
