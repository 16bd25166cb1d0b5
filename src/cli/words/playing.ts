// Commands that play: the demo, the simulator, recorded sessions.
import { Option, type Command } from 'commander'
import type { Io } from '../terminal/io.ts'
import { child, port, wholeNumber, type Ends } from './argument.ts'

interface SimulateFlags {
  readonly port?: number
  readonly script?: string
  readonly recorded?: string
  readonly mode?: 'good' | 'lazy' | 'wrong' | 'hostile'
}

export function addPlaying(program: Command, io: Io, ends: Ends): void {
  child(program, 'demo', 'a whole coding task, offline, with a scripted model and real tools').action(() =>
    ends(async () => (await import('../demo/demo.ts')).demo(io)),
  )
  child(program, 'start', 'the agent where a model can be reached, the demo where none can').action(() =>
    ends(async () => (await import('../demo/start.ts')).start(io)),
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
      ends(async () => (await import('../commands/simulate.ts')).simulate(io, flags)),
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

export function addReplay(program: Command, io: Io, ends: Ends): void {
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
        const { replayCommand } = await import('../commands/replay.ts')
        const script = process.argv[1]
        const self = script === undefined ? null : [process.execPath, script]
        return replayCommand({ path, ...flags }, { ...io, self })
      }),
    )
}
