// Commands that need no model: the demo, the simulator, and replays of recorded sessions.
import { Option, type Command } from 'commander'
import type { GatewayFlags } from '../commands/gateway.ts'
import type { SimulateFlags } from '../commands/simulate.ts'
import type { ReplayArguments } from '../replay/replay.ts'
import type { Io } from '../terminal/io.ts'
import { port, subcommand, wholeNumber, type RunCommand } from './flags.ts'

export function addLabCommands(program: Command, io: Io, run: RunCommand): void {
  subcommand(program, 'demo', 'play a coding task offline, with a scripted model and real tools').action(() =>
    run(async () => (await import('../demo/demo.ts')).demo(io)),
  )
  subcommand(program, 'start', 'start a conversation, or the demo without an API key').action(() =>
    run(async () => (await import('../demo/demo.ts')).start(io)),
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
    .action((flags: SimulateFlags) =>
      run(async () => (await import('../commands/simulate.ts')).simulate(io, flags)),
    )
  addGateway(program, io, run)
  addReplay(program, io, run)
}

function addGateway(program: Command, io: Io, run: RunCommand): void {
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
    .action((command: string[], flags: GatewayFlags) =>
      run(async () => (await import('../commands/gateway.ts')).gateway(io, flags, command)),
    )
}

function addReplay(program: Command, io: Io, run: RunCommand): void {
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
    .action((path: string | undefined, flags: Omit<ReplayArguments, 'path'>) =>
      run(async () => {
        const { replayCommand } = await import('../replay/replay.ts')
        const script = process.argv[1]
        const self = script === undefined ? null : [process.execPath, script]
        return replayCommand({ path, ...flags }, { ...io, self })
      }),
    )
}
