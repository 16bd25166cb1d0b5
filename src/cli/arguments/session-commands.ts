// Commands that read a session, those that change one, and those that change what is kept of the user.
import { Option, type Command } from 'commander'
import type { Grouping } from '../../lab/index.ts'
import type { Settings } from '../../settings/schema.ts'
import { permissionModes, type PermissionMode } from '../../tools/permission/verdict.ts'
import type { CompactFlags } from '../commands/compact.ts'
import type { ConfigFlags } from '../commands/config.ts'
import type { RewindFlags } from '../commands/messages.ts'
import type { SessionsFlags } from '../commands/sessions.ts'
import type { DeleteFlags } from '../commands/sessions-delete.ts'
import type { PruneFlags } from '../commands/sessions-prune.ts'
import type { UsageFlags } from '../commands/usage.ts'
import type { TrustFlags } from '../commands/trust.ts'
import type { Io } from '../terminal/io.ts'
import type { ProjectFlags } from '../workplace/workplace.ts'
import { projectCommand, ruleTexts, subcommand, wholeNumber, type RunCommand } from './flags.ts'

/** Named here, so that the help does not load the lab. */
const usageGroups: readonly Grouping[] = [
  'day',
  'week',
  'month',
  'block',
  'project',
  'model',
  'session',
  'program',
  'agent',
]

/** In the order of `pal --help`. */
export function addSessionCommands(program: Command, io: Io, run: RunCommand): void {
  addReadCommands(program, io, run)
  addChangeCommands(program, io, run)
  addMessageCommands(program, io, run)
  addImport(program, io, run)
  addUserCommands(program, io, run)
}

/** They change nothing. */
function addReadCommands(program: Command, io: Io, run: RunCommand): void {
  addSessions(program, io, run)
  projectCommand(program, 'context', 'what is in the context of a session, from the request really sent')
    .argument('[id]', 'the session; the newest when left out')
    .action((id: string | undefined, flags: ProjectFlags) =>
      run(async () => (await import('../commands/context.ts')).context(io, id, flags)),
    )
  projectCommand(program, 'cost', 'what each turn of a session cost, and why')
    .argument('[id]', 'the session; the newest when left out')
    .action((id: string | undefined, flags: ProjectFlags) =>
      run(async () => (await import('../commands/cost.ts')).cost(io, id, flags)),
    )
  projectCommand(program, 'edits', 'everything that left the view of a session, and the number to undo it by')
    .argument('[id]', 'the session; the newest when left out')
    .action((id: string | undefined, flags: ProjectFlags) =>
      run(async () => (await import('../commands/edits.ts')).edits(io, id, flags)),
    )
  projectCommand(
    program,
    'stats',
    'figures of your sessions over time: by day, project, purpose and layer',
  ).action((flags: ProjectFlags) => run(async () => (await import('../commands/stats.ts')).stats(io, flags)))
  projectCommand(
    program,
    'usage',
    'what sessions of Claude Code, Codex, pi and pal used and cost, by the counts of the provider',
  )
    .argument('[path]', 'a session file or a folder of them; your own sessions when left out')
    .addOption(new Option('--by <what>', 'one row for each').choices(usageGroups).default('day'))
    .option('--since <day>', 'only from a day on, as 2026-11-01, or days back as 7d')
    .option('--csv', 'as CSV')
    .action((path: string | undefined, flags: UsageFlags) =>
      run(async () => (await import('../commands/usage.ts')).usage(io, path, flags)),
    )
  projectCommand(program, 'agents', 'the agents of a session, and the types that can be started')
    .argument('[id]', 'the session; the newest when left out')
    .action((id: string | undefined, flags: ProjectFlags) =>
      run(async () => (await import('../commands/agents.ts')).agents(io, id, flags)),
    )
  projectCommand(program, 'tasks', 'what is still under way beside a session')
    .argument('[id]', 'the session; the newest when left out')
    .action((id: string | undefined, flags: ProjectFlags) =>
      run(async () => (await import('../commands/agents.ts')).tasks(io, id, flags)),
    )
  projectCommand(program, 'doctor', 'what is wrong with this installation, and how to mend it').action(
    (flags: ProjectFlags) => run(async () => (await import('../commands/doctor.ts')).doctor(io, flags)),
  )
  addPermissions(program, io, run)
}

function addSessions(program: Command, io: Io, run: RunCommand): void {
  const list = projectCommand(
    program,
    'sessions',
    'the sessions of this project, newest first; delete or prune them',
  )
    .option('--all', 'also the forks, and without end')
    .action((flags: SessionsFlags) =>
      run(async () => (await import('../commands/sessions.ts')).sessions(io, flags)),
    )
  projectCommand(list, 'delete', 'delete sessions for good, with their forks and agents')
    .argument('<ids...>', 'the sessions; the beginning of an id is enough')
    .option('--with-branches', 'also the sessions that were branched off from them')
    .option('--dry-run', 'only show what would go')
    .option('--yes', 'do not ask')
    .action((ids: readonly string[], _: object, command: Command) =>
      run(async () =>
        (await import('../commands/sessions-delete.ts')).deleteSessions(
          io,
          ids,
          command.optsWithGlobals<DeleteFlags>(),
        ),
      ),
    )
  projectCommand(
    list,
    'prune',
    'what is beyond the limits for sessions, and what crashes left; shows it, and deletes it with --delete',
  )
    .option(
      '--days <n>',
      'sessions not written to for longer than this; keepSessionDays when left out',
      wholeNumber,
    )
    .option(
      '--megabytes <n>',
      'the oldest, until all take no more than this; keepSessionMegabytes when left out',
      wholeNumber,
    )
    .option('--delete', 'delete it; limits of the settings are kept once a day from then on')
    .action((_: object, command: Command) =>
      run(async () =>
        (await import('../commands/sessions-prune.ts')).prune(io, command.optsWithGlobals<PruneFlags>()),
      ),
    )
}

interface RuleFlags extends ProjectFlags {
  readonly allow?: readonly string[]
  readonly ask?: readonly string[]
  readonly deny?: readonly string[]
  readonly permissionMode?: PermissionMode
  readonly trust?: boolean
}

/** With the flags of a prompt that bear on permission, so that one can ask about the call of such a run. */
function addPermissions(program: Command, io: Io, run: RunCommand): void {
  projectCommand(
    program,
    'permissions',
    'the rules and the mode in force; why CALL: who decides about a call, and by which rule',
  )
    .argument(
      '[words...]',
      "nothing, or why CALL, as why 'Bash(git push)' or why 'mcp__srv__tool {\"key\": 1}'",
    )
    .option('--allow <rules>', 'as if the run had this flag', ruleTexts)
    .option('--ask <rules>', 'as if the run had this flag', ruleTexts)
    .option('--deny <rules>', 'as if the run had this flag', ruleTexts)
    .addOption(new Option('--permission-mode <mode>', 'as if the run had this flag').choices(permissionModes))
    .option('--trust', 'as if the run had this flag')
    .action((args: readonly string[], { allow, ask, deny, permissionMode, ...flags }: RuleFlags) =>
      run(async () => {
        const settings: Settings = {
          allow: allow === undefined ? undefined : [...allow],
          ask: ask === undefined ? undefined : [...ask],
          deny: deny === undefined ? undefined : [...deny],
          permissionMode,
        }
        return (await import('../commands/permissions.ts')).permissions(io, args, { ...flags, settings })
      }),
    )
}

function addChangeCommands(program: Command, io: Io, run: RunCommand): void {
  projectCommand(program, 'undo', 'take a removal back')
    .argument('<place>', 'its place, as pal edits lists it')
    .argument('[id]', 'the session; the newest when left out')
    .action((place: string, id: string | undefined, flags: ProjectFlags) =>
      run(async () => (await import('../commands/undo.ts')).undo(io, place, id, flags)),
    )
  projectCommand(program, 'release', 'let what an undo gave back be put away again')
    .argument('<place>', 'the place that pal undo named')
    .argument('[id]', 'the session; the newest when left out')
    .action((place: string, id: string | undefined, flags: ProjectFlags) =>
      run(async () => (await import('../commands/undo.ts')).release(io, place, id, flags)),
    )
  projectCommand(program, 'compact', 'put the older part of a session away, behind an account of it')
    .argument('[id]', 'the session; the newest when left out')
    .option('--preview', 'only show what would go, stay and cost, and what the audit says')
    .option('--instructions <text>', 'what you want to find again')
    .option('--from <place>', 'put away what follows this message, as pal messages lists it')
    .option('--up-to <place>', 'put away what precedes this message')
    .option('--edit', 'change the text in your editor before it counts')
    .option('--write-summary <file>', 'write the text to a file, and change nothing')
    .option('--summary-file <file>', 'the text of this file stands for what goes')
    .action((id: string | undefined, flags: CompactFlags) =>
      run(async () => (await import('../commands/compact.ts')).compact(io, id, flags)),
    )
}

function addMessageCommands(program: Command, io: Io, run: RunCommand): void {
  projectCommand(program, 'messages', 'what you said in a session, with the place of each message')
    .argument('[id]', 'the session; the newest when left out')
    .action((id: string | undefined, flags: ProjectFlags) =>
      run(async () => (await import('../commands/messages.ts')).messages(io, id, flags)),
    )
  projectCommand(program, 'pin', 'keep a message word for word, whatever is put away')
    .argument('<place>', 'its place, as pal messages lists it')
    .argument('[id]', 'the session; the newest when left out')
    .action((place: string, id: string | undefined, flags: ProjectFlags) =>
      run(async () => (await import('../commands/messages.ts')).pin(io, place, id, flags)),
    )
  projectCommand(program, 'rewind', 'go back to before a message was said; nothing is deleted')
    .argument('<place>', 'its place, as pal messages lists it')
    .argument('[id]', 'the session; the newest when left out')
    .option('--files', 'give back the files that were changed since, where nobody else touched them')
    .action((place: string, id: string | undefined, flags: RewindFlags) =>
      run(async () => (await import('../commands/messages.ts')).rewind(io, place, id, flags)),
    )
}

function addImport(program: Command, io: Io, run: RunCommand): void {
  projectCommand(
    program,
    'import',
    'make a session of Claude Code, Codex or pi one of this project, to go on with',
  )
    .argument('<file>', 'the file of the session')
    .action((path: string, flags: ProjectFlags) =>
      run(async () => (await import('../commands/import.ts')).importSession(io, path, flags)),
    )
}

function addUserCommands(program: Command, io: Io, run: RunCommand): void {
  projectCommand(program, 'config', 'the settings in force; or look at one, set it, unset it')
    .argument('[key]', 'the setting')
    .argument('[value]', 'what it shall be, as JSON or as plain words')
    .option('--unset', 'take it out of your settings')
    .action((key: string | undefined, value: string | undefined, flags: ConfigFlags) =>
      run(async () => (await import('../commands/config.ts')).config(io, key, value, flags)),
    )
  subcommand(program, 'login', 'keep an API key (typed, or piped in) where only you can read it').action(() =>
    run(async () => (await import('../commands/config.ts')).login(io)),
  )
  subcommand(program, 'logout', 'forget the kept key').action(() =>
    run(async () => (await import('../commands/config.ts')).logout(io)),
  )
  subcommand(
    program,
    'trust',
    'let what this folder holds now act: settings, instructions, MCP servers, skills, …',
  )
    .option('--cwd <folder>', 'the project')
    .option('--list', 'only list what would act, and what was decided about it')
    .option('--diff', 'only show what is new, and what changed as a diff, whole')
    .option('--yes', 'do not ask')
    .option('--remove', 'trust it no longer (pal untrust)')
    .option('--json', 'as JSON')
    .action((flags: TrustFlags) => run(async () => (await import('../commands/trust.ts')).trust(io, flags)))
  subcommand(program, 'untrust', 'nothing of this folder acts any more')
    .option('--cwd <folder>', 'the project')
    .option('--json', 'as JSON')
    .action((flags: TrustFlags) =>
      run(async () => (await import('../commands/trust.ts')).trust(io, { ...flags, remove: true })),
    )
}
