// Commands that read a session, those that change one, and those that change what is kept of the user.
import { Option, type Command } from 'commander'
import type { Grouping } from '../../lab/index.ts'
import { permissionModes } from '../../tools/permission/pipeline.ts'
import {
  projectCommand,
  ruleTexts,
  sessionCommand,
  subcommand,
  wholeNumber,
  type RunCommand,
} from './flags.ts'

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
export function addSessionCommands(program: Command, run: RunCommand): void {
  addReadCommands(program, run)
  addChangeCommands(program, run)
  addMessageCommands(program, run)
  addImport(program, run)
  addUserCommands(program, run)
}

/** They change nothing. */
function addReadCommands(program: Command, run: RunCommand): void {
  addSessions(program, run)
  sessionCommand(program, 'context', 'what the last request of a session contained')
    .option('--count', 'ask the provider how many tokens it counts')
    .action(run(async () => (await import('../commands/context.ts')).context))
  sessionCommand(program, 'cost', 'what each turn of a session cost, and why').action(
    run(async () => (await import('../commands/cost.ts')).cost),
  )
  projectCommand(program, 'edits', 'what was removed from context, and the number to undo it by')
    .argument('[id]', 'the session; default: the newest. With --why: the number of a compaction')
    .argument('[session]', 'with --why: the session; default: the newest')
    .option('--why', 'which lines a compaction kept and left, with their score')
    .action(run(async () => (await import('../commands/edits.ts')).edits))
  projectCommand(
    program,
    'stats',
    'usage and cost of your sessions by day, project, purpose and layer',
  ).action(run(async () => (await import('../commands/stats.ts')).stats))
  projectCommand(
    program,
    'usage',
    'tokens and cost of your sessions of Claude Code, Codex, pi, Gemini CLI, opencode and pal',
  )
    .argument('[path]', 'a session file or a folder of them; your own sessions when left out')
    .addOption(new Option('--by <what>', 'one row for each').choices(usageGroups).default('day'))
    .option('--since <day>', 'only from a day on, as 2026-11-01, or days back as 7d')
    .option('--csv', 'as CSV')
    .option('--compare', 'also what our policy would have cost: plays the newest sessions again')
    .action(run(async () => (await import('../commands/usage.ts')).usage))
  sessionCommand(program, 'agents', 'agents of a session, and the agent types there are').action(
    run(async () => (await import('../commands/agents.ts')).agents),
  )
  sessionCommand(program, 'tasks', 'background tasks of a session').action(
    run(async () => (await import('../commands/agents.ts')).tasks),
  )
  projectCommand(program, 'doctor', 'check this installation, and say how to fix problems')
    .argument('[provider]', 'check this provider alone, by one tiny request')
    .option('--ask', 'also ask the model one tiny question, which costs a few tokens')
    .action(run(async () => (await import('../commands/doctor.ts')).doctor))
  addPermissions(program, run)
}

function addSessions(program: Command, run: RunCommand): void {
  const list = projectCommand(program, 'sessions', 'list the sessions of this project; delete or prune them')
    .option('--all', 'every session, forks too')
    .action(run(async () => (await import('../commands/sessions.ts')).sessions))
  projectCommand(list, 'delete', 'delete sessions for good, with their forks and agents')
    .argument('<ids...>', 'the sessions; the beginning of an id is enough')
    .option('--with-branches', 'also the sessions that were branched off from them')
    .option('--dry-run', 'only show what would be deleted')
    .option('--yes', 'do not ask')
    .action(run(async () => (await import('../commands/sessions-delete.ts')).deleteSessions))
  projectCommand(
    list,
    'prune',
    'list sessions beyond the limits and leftovers of crashes; --delete removes them',
  )
    .option('--days <n>', 'sessions not written to for this many days; default: keepSessionDays', wholeNumber)
    .option(
      '--megabytes <n>',
      'the oldest, until all together fit in this many megabytes; default: keepSessionMegabytes',
      wholeNumber,
    )
    .option('--delete', 'delete them; from then on the limits in the settings apply once a day')
    .action(run(async () => (await import('../commands/sessions-prune.ts')).prune))
  addExport(list, run)
}

function addExport(list: Command, run: RunCommand): void {
  projectCommand(
    list,
    'export',
    'copy sessions to a folder or a database, or send their spans to a collector',
  )
    .argument('[ids...]', 'the sessions; default: the newest')
    .option('--to <folder>', 'a folder of JSONL, or "postgres": the database of PAL_DATABASE_URL')
    .option(
      '--otlp [to]',
      'as spans: the address of an OTLP collector, or a file; default: the setting telemetry',
    )
    .option('--all', 'every session of this project')
    .option('--checkpoints', 'checkpoints too; they can be made again')
    .action(run(async () => (await import('../commands/sessions-export.ts')).exportSessions))
  projectCommand(list, 'import', 'copy sessions that were exported into this project; overwrites nothing')
    .argument('<from>', 'a folder of JSONL, or "postgres": the database of PAL_DATABASE_URL')
    .argument('[ids...]', 'the sessions; default: all of them')
    .option('--checkpoints', 'checkpoints too')
    .action(run(async () => (await import('../commands/sessions-export.ts')).importSessions))
}

/** With the flags of a prompt that bear on permission, so that one can ask about the call of such a run. */
function addPermissions(program: Command, run: RunCommand): void {
  projectCommand(program, 'permissions', 'list permission rules and mode; why CALL explains a decision')
    .argument(
      '[arguments...]',
      "nothing, or why CALL, such as why 'Bash(git push)' or why 'mcp__srv__tool {\"key\": 1}'",
    )
    .option('--allow <rules>', 'as with pal -p', ruleTexts)
    .option('--ask <rules>', 'as with pal -p', ruleTexts)
    .option('--deny <rules>', 'as with pal -p', ruleTexts)
    .addOption(new Option('--permission-mode <mode>', 'as with pal -p').choices(permissionModes))
    .option('--trust', 'as with pal -p')
    .action(run(async () => (await import('../commands/permissions.ts')).permissions))
}

function addChangeCommands(program: Command, run: RunCommand): void {
  projectCommand(program, 'undo', 'restore what an edit removed from context')
    .argument('<number>', 'the number of the edit, from pal edits')
    .argument('[id]', 'the session; default: the newest')
    .action(run(async () => (await import('../commands/undo.ts')).undo))
  projectCommand(program, 'release', 'allow what was restored or pinned to be compacted again')
    .argument('<number>', 'the number that pal undo or pal pin named')
    .argument('[id]', 'the session; default: the newest')
    .action(run(async () => (await import('../commands/undo.ts')).release))
  sessionCommand(program, 'compact', 'compact: replace older messages of a session with a summary')
    .option('--preview', 'only show what would be replaced, kept, retained and cost')
    .option('--instructions <text>', 'what the summary should keep')
    .option('--from <number>', 'compact what follows this message, from pal messages')
    .option('--up-to <number>', 'compact what precedes this message')
    .option('--edit', 'edit the summary in your editor first')
    .option('--write-summary <file>', 'write the summary to a file, and change nothing')
    .option('--summary-file <file>', 'use the text of this file as the summary')
    .action(run(async () => (await import('../commands/compact.ts')).compact))
}

function addMessageCommands(program: Command, run: RunCommand): void {
  sessionCommand(program, 'messages', 'your messages in a session, with their numbers').action(
    run(async () => (await import('../commands/messages.ts')).messages),
  )
  projectCommand(program, 'pin', 'keep a message verbatim through every compaction')
    .argument('<number>', 'the number of the message, from pal messages')
    .argument('[id]', 'the session; default: the newest')
    .action(run(async () => (await import('../commands/messages.ts')).pin))
  projectCommand(program, 'rewind', 'go back to before a message; nothing is deleted')
    .argument('<number>', 'the number of the message, from pal messages')
    .argument('[id]', 'the session; default: the newest')
    .option('--files', 'restore the files that were changed since, where nobody else changed them')
    .action(run(async () => (await import('../commands/messages.ts')).rewind))
}

function addImport(program: Command, run: RunCommand): void {
  projectCommand(program, 'import', 'import a session of Claude Code, Codex or pi')
    .argument('<file>', 'the file of the session')
    .action(run(async () => (await import('../commands/import.ts')).importSession))
}

function addMcp(program: Command, run: RunCommand): void {
  const mcp = projectCommand(program, 'mcp', 'the MCP servers in use, and whether they answer').action(
    run(async () => (await import('../commands/mcp.ts')).mcp),
  )
  subcommand(mcp, 'serve-memory', 'serve memories to other agents over MCP, on stdin and stdout')
    .option('--http', 'on HTTP instead, on this machine alone, with a token')
    .option('--port <n>', 'the port of --http; default: a free one', wholeNumber)
    .option('--cwd <folder>', 'also the memories of this project, whatever folders the client names')
    .action(run(async () => (await import('../commands/memory/serve.ts')).serveMemory))
}

function addUserCommands(program: Command, run: RunCommand): void {
  projectCommand(program, 'config', 'list settings, show one, set it or unset it')
    .argument('[key]', 'the setting')
    .argument('[value]', 'the new value, as JSON or plain text')
    .option('--unset', 'remove it from your settings')
    .action(run(async () => (await import('../commands/config.ts')).config))
  projectCommand(program, 'models', 'the models that are known, with window and prices').action(
    run(async () => (await import('../commands/models.ts')).models),
  )
  addMcp(program, run)
  subcommand(program, 'login', 'store an API key (typed, or piped in) for you only')
    .argument('[provider]', 'openai, google, openrouter …; left out, Anthropic')
    .action(run(async () => (await import('../commands/config.ts')).login))
  subcommand(program, 'logout', 'delete the stored API keys, or that of one provider')
    .argument('[provider]', 'whose; left out, all of them')
    .action(run(async () => (await import('../commands/config.ts')).logout))
  subcommand(program, 'trust', 'trust this folder: its settings, instructions, MCP servers, skills')
    .option('--cwd <folder>', 'the project')
    .option('--list', 'only list what is in it, and what was decided')
    .option('--diff', 'only show what is new, and what changed as a diff')
    .option('--yes', 'do not ask')
    .option('--remove', 'no longer trust it (pal untrust)')
    .option('--json', 'as JSON')
    .action(run(async () => (await import('../commands/trust.ts')).trust))
  subcommand(program, 'untrust', 'no longer trust this folder')
    .option('--cwd <folder>', 'the project')
    .option('--json', 'as JSON')
    .action(run(async () => (await import('../commands/trust.ts')).untrust))
}
