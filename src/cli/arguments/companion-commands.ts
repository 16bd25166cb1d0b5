// `pal companion`: for those who stay with another agent.
import { Argument, type Command } from 'commander'
import type { AuditFlags } from '../commands/companion/audit.ts'
import type { DoctorFlags } from '../commands/companion/doctor.ts'
import type { CompanionFlags } from '../commands/companion/install.ts'
import type { Io } from '../terminal/io.ts'
import { subcommand, type RunCommand } from './flags.ts'

/** All that can be named; some are refused in words. */
const clients = ['claude', 'codex', 'opencode', 'qwen', 'gemini']

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
  addInstallCommands(companion, program.version() ?? '', io, run)
}

function addInstallCommands(companion: Command, version: string, io: Io, run: RunCommand): void {
  const child = (name: string, about: string): Command =>
    subcommand(companion, name, about)
      .addArgument(new Argument('<client>', 'the agent').choices(clients))
      .option('--json', 'as JSON')
  child('install', "add hooks to an agent's own files; shows the diff and asks first")
    .option('--dry-run', 'show the diff and change nothing')
    .option('--yes', 'do not ask')
    .option('--status-line', 'Claude Code: put our status line below the one you have')
    .action((client: string, flags: CompanionFlags) =>
      run(async () =>
        (await import('../commands/companion/install.ts')).installCompanion(io, client, version, flags),
      ),
    )
  child('uninstall', "take them out: the agent's files are as before, or what changed since is named")
    .option('--dry-run', 'show what would be done and change nothing')
    .option('--yes', 'do not ask')
    .action((client: string, flags: CompanionFlags) =>
      run(async () =>
        (await import('../commands/companion/uninstall.ts')).uninstallCompanion(io, client, flags),
      ),
    )
  child('doctor', 'run the installed agent offline against the simulator: which hooks work')
    .option('--program <path>', 'the agent to run; default: the one on the PATH')
    .action((client: string, flags: DoctorFlags) =>
      run(async () => (await import('../commands/companion/doctor.ts')).companionDoctor(io, client, flags)),
    )
}
