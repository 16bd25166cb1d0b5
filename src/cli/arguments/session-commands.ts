// Commands that change a session, or what is kept of the user.
import type { Command } from 'commander'
import type { CompactFlags } from '../commands/compact.ts'
import type { Io } from '../terminal/io.ts'
import { child, looking, type Ends, type LookFlags } from './flags.ts'
import type { TrustFlags } from '../commands/trust.ts'

export function addChanging(program: Command, io: Io, ends: Ends): void {
  looking(program, 'undo', 'take a removal back')
    .argument('<place>', 'its place, as pal edits lists it')
    .argument('[id]', 'the session; the newest when left out')
    .action((place: string, id: string | undefined, flags: LookFlags) =>
      ends(async () => (await import('../commands/undo.ts')).undo(io, place, id, flags)),
    )
  looking(program, 'release', 'let what an undo gave back be put away again')
    .argument('<place>', 'the place that pal undo named')
    .argument('[id]', 'the session; the newest when left out')
    .action((place: string, id: string | undefined, flags: LookFlags) =>
      ends(async () => (await import('../commands/undo.ts')).release(io, place, id, flags)),
    )
  looking(program, 'compact', 'put the older part of a session away, behind an account of it')
    .argument('[id]', 'the session; the newest when left out')
    .option('--preview', 'only show what would go, stay and cost, and what the audit says')
    .option('--instructions <text>', 'what you want to find again')
    .option('--from <place>', 'put away what follows this message, as pal messages lists it')
    .option('--up-to <place>', 'put away what precedes this message')
    .option('--edit', 'change the text in your editor before it counts')
    .option('--write-summary <file>', 'write the text to a file, and change nothing')
    .option('--summary-file <file>', 'the text of this file stands for what goes')
    .action((id: string | undefined, flags: CompactFlags) =>
      ends(async () => (await import('../commands/compact.ts')).compact(io, id, flags)),
    )
}

export function addGoingBack(program: Command, io: Io, ends: Ends): void {
  looking(program, 'messages', 'what you said in a session, with the place of each message')
    .argument('[id]', 'the session; the newest when left out')
    .action((id: string | undefined, flags: LookFlags) =>
      ends(async () => (await import('../commands/messages.ts')).messages(io, id, flags)),
    )
  looking(program, 'pin', 'keep a message word for word, whatever is put away')
    .argument('<place>', 'its place, as pal messages lists it')
    .argument('[id]', 'the session; the newest when left out')
    .action((place: string, id: string | undefined, flags: LookFlags) =>
      ends(async () => (await import('../commands/messages.ts')).pin(io, place, id, flags)),
    )
  looking(program, 'rewind', 'go back to before a message was said; nothing is deleted')
    .argument('<place>', 'its place, as pal messages lists it')
    .argument('[id]', 'the session; the newest when left out')
    .option('--files', 'give back the files that were changed since, where nobody else touched them')
    .action((place: string, id: string | undefined, flags: LookFlags & { files?: boolean }) =>
      ends(async () => (await import('../commands/messages.ts')).rewind(io, place, id, flags)),
    )
}

export function addImport(program: Command, io: Io, ends: Ends): void {
  looking(program, 'import', 'make a session of Claude Code, Codex or pi one of this project, to go on with')
    .argument('<file>', 'the file of the session')
    .action((path: string, flags: LookFlags) =>
      ends(async () => (await import('../commands/import.ts')).importSession(io, path, flags)),
    )
}

export function addKeeping(program: Command, io: Io, ends: Ends): void {
  looking(program, 'config', 'the settings in force; or look at one, set it, unset it')
    .argument('[key]', 'the setting')
    .argument('[value]', 'what it shall be, as JSON or as plain words')
    .option('--unset', 'take it out of your settings')
    .action((key: string | undefined, value: string | undefined, flags: LookFlags & { unset?: boolean }) =>
      ends(async () => (await import('../commands/config.ts')).config(io, key, value, flags)),
    )
  child(program, 'login', 'keep an API key (typed, or piped in) where only you can read it').action(() =>
    ends(async () => (await import('../commands/login.ts')).login(io)),
  )
  child(program, 'logout', 'forget the kept key').action(() =>
    ends(async () => (await import('../commands/login.ts')).logout(io)),
  )
  child(
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
    .action((flags: TrustFlags) => ends(async () => (await import('../commands/trust.ts')).trust(io, flags)))
  child(program, 'untrust', 'nothing of this folder acts any more')
    .option('--cwd <folder>', 'the project')
    .option('--json', 'as JSON')
    .action((flags: TrustFlags) =>
      ends(async () => (await import('../commands/trust.ts')).trust(io, { ...flags, remove: true })),
    )
}
