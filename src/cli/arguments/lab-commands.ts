// Commands that play: the demo, the simulator.
import { Option, type Command } from 'commander'
import type { Io } from '../terminal/io.ts'
import { child, port, type Ends } from './flags.ts'

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
