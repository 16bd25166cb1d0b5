// Commands that look and change nothing.
import type { Command } from 'commander'
import type { Io } from '../terminal/io.ts'
import { looking, type Ends, type LookFlags } from './argument.ts'

export function addLooking(program: Command, io: Io, ends: Ends): void {
  looking(program, 'sessions', 'the sessions of this project, newest first')
    .option('--all', 'also the forks, and without end')
    .action((flags: LookFlags) =>
      ends(async () => (await import('../commands/sessions.ts')).sessions(io, flags)),
    )
  looking(program, 'context', 'what is in the context of a session, from the request really sent')
    .argument('[id]', 'the session; the newest when left out')
    .action((id: string | undefined, flags: LookFlags) =>
      ends(async () => (await import('../commands/context.ts')).context(io, id, flags)),
    )
  looking(program, 'cost', 'what each turn of a session cost, and why')
    .argument('[id]', 'the session; the newest when left out')
    .action((id: string | undefined, flags: LookFlags) =>
      ends(async () => (await import('../commands/cost.ts')).cost(io, id, flags)),
    )
  looking(program, 'edits', 'everything that left the view of a session, and the number to undo it by')
    .argument('[id]', 'the session; the newest when left out')
    .action((id: string | undefined, flags: LookFlags) =>
      ends(async () => (await import('../commands/edits.ts')).edits(io, id, flags)),
    )
  looking(program, 'stats', 'figures of your sessions over time: by day, project, purpose and layer').action(
    (flags: LookFlags) => ends(async () => (await import('../commands/stats.ts')).stats(io, flags)),
  )
  looking(program, 'agents', 'the agents of a session, and the types that can be started')
    .argument('[id]', 'the session; the newest when left out')
    .action((id: string | undefined, flags: LookFlags) =>
      ends(async () => (await import('../commands/agents.ts')).agents(io, id, flags)),
    )
  looking(program, 'tasks', 'what is still under way beside a session')
    .argument('[id]', 'the session; the newest when left out')
    .action((id: string | undefined, flags: LookFlags) =>
      ends(async () => (await import('../commands/tasks.ts')).tasks(io, id, flags)),
    )
  looking(program, 'doctor', 'what is wrong with this installation, and how to mend it').action(
    (flags: LookFlags) => ends(async () => (await import('../commands/doctor.ts')).doctor(io, flags)),
  )
}
