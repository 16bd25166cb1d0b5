// `pal companion`: for those who stay with another agent.
import type { Command } from 'commander'
import type { AuditFlags } from '../commands/companion/audit.ts'
import type { Io } from '../terminal/io.ts'
import { subcommand, type RunCommand } from './flags.ts'

export function addCompanionCommands(program: Command, io: Io, run: RunCommand): void {
  const companion = subcommand(program, 'companion', "put back what another agent's compaction lost")
  companion
    .command('audit')
    .description('what the compactions of a session kept and lost; nothing is written')
    .argument('[session]', 'a session file, or an id; default: the newest session of this folder')
    .option('--json', 'as JSON')
    .allowExcessArguments(false)
    .action((session: string | undefined, flags: AuditFlags) =>
      run(async () => (await import('../commands/companion/audit.ts')).companionAudit(io, session, flags)),
    )
}
