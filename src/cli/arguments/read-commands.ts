// Commands that look and change nothing.
import { Option, type Command } from 'commander'
import type { Settings } from '../../settings/schema.ts'
import { permissionModes, type PermissionMode } from '../../tools/permission/verdict.ts'
import type { Io } from '../terminal/io.ts'
import { looking, ruleTexts, type Ends, type LookFlags } from './flags.ts'

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
  addPermissions(program, io, ends)
}

interface RuleFlags extends LookFlags {
  readonly allow?: readonly string[]
  readonly ask?: readonly string[]
  readonly deny?: readonly string[]
  readonly permissionMode?: PermissionMode
  readonly trust?: boolean
}

/** With the flags of a prompt that bear on permission, so that one can ask about the call of such a run. */
function addPermissions(program: Command, io: Io, ends: Ends): void {
  looking(
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
    .action((words: readonly string[], { allow, ask, deny, permissionMode, ...flags }: RuleFlags) =>
      ends(async () => {
        const settings: Settings = {
          allow: allow === undefined ? undefined : [...allow],
          ask: ask === undefined ? undefined : [...ask],
          deny: deny === undefined ? undefined : [...deny],
          permissionMode,
        }
        return (await import('../commands/permissions.ts')).permissions(io, words, { ...flags, settings })
      }),
    )
}
