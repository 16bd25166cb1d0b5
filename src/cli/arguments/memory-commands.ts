// `pal memory` and `pal consolidate`, which was `pal dream`.
import { Option, type Command } from 'commander'
import type { ConsolidateFlags } from '../commands/consolidate.ts'
import type { MemoryFlags } from '../commands/memory/open.ts'
import type { ForgetFlags } from '../commands/memory/versions.ts'
import type { Io } from '../terminal/io.ts'
import { projectCommand, wholeNumber, type RunCommand } from './flags.ts'

export function addMemoryCommands(program: Command, io: Io, run: RunCommand): void {
  const memory = scoped(
    projectCommand(program, 'memory', 'list memories, where they came from, and what needs review'),
  )
    .option('--why', 'what the model gets before the first message, and from where')
    .action((flags: MemoryFlags & { why?: boolean }) =>
      run(async () => (await import('../commands/memory/list.ts')).memory(io, flags)),
    )
  const child = (name: string, about: string): Command => scoped(projectCommand(memory, name, about))
  const flagsOf = (command: Command): MemoryFlags => command.optsWithGlobals()
  child('show', 'one memory, with where it came from')
    .argument('<name>')
    .action((name: string, _: object, command: Command) =>
      run(async () => (await import('../commands/memory/list.ts')).showMemory(io, name, flagsOf(command))),
    )
  child('log', 'every version, of one memory or of all')
    .argument('[name]')
    .action((name: string | undefined, _: object, command: Command) =>
      run(async () => (await import('../commands/memory/versions.ts')).logMemory(io, name, flagsOf(command))),
    )
  child('diff', 'what a version changed; default: the newest')
    .argument('<name>')
    .argument('[version]', 'as pal memory log lists it', wholeNumber)
    .action((name: string, version: number | undefined, _: object, command: Command) =>
      run(async () =>
        (await import('../commands/memory/versions.ts')).diffMemory(io, name, version, flagsOf(command)),
      ),
    )
  child('revert', 'restore a version; default: the one before the newest')
    .argument('<name>')
    .argument('[version]', 'as pal memory log lists it', wholeNumber)
    .action((name: string, version: number | undefined, _: object, command: Command) =>
      run(async () =>
        (await import('../commands/memory/versions.ts')).revertMemory(io, name, version, flagsOf(command)),
      ),
    )
  child(
    'forget',
    'delete a memory with all its versions, or all that came from a session or source, for good',
  )
    .argument('[name]')
    .option('--session <id>', 'everything saved from this session')
    .option('--source <name>', 'everything that came from this address, host, path or tool')
    .action((name: string | undefined, _: object, command: Command) =>
      run(async () =>
        (await import('../commands/memory/versions.ts')).forgetMemory(
          io,
          name,
          command.optsWithGlobals<ForgetFlags>(),
        ),
      ),
    )
  child('search', 'search memories, best match first')
    .argument('[text...]')
    .option('--transcripts', 'also what was said in earlier sessions')
    .option('--expand <ref>', 'the turns around one that was found')
    .action((query: readonly string[], _: object, command: Command) =>
      run(async () =>
        (await import('../commands/memory/list.ts')).searchMemory(io, query, command.optsWithGlobals()),
      ),
    )
  child('review', 'what needs review: held writes, and files that something else changed').action(
    (_: object, command: Command) =>
      run(async () => (await import('../commands/memory/review.ts')).review(io, flagsOf(command))),
  )
  for (const how of ['accept', 'reject'] as const) {
    child(
      how,
      how === 'accept' ? 'accept what needs review, by its number or file' : 'reject what needs review',
    )
      .argument('[names...]')
      .option('--all', 'everything that needs review')
      .action((names: readonly string[], _: object, command: Command) =>
        run(async () => (await import('../commands/memory/review.ts'))[how](io, names, flagsOf(command))),
      )
  }
  addConsolidate(program, io, run)
}

function addConsolidate(program: Command, io: Io, run: RunCommand): void {
  scoped(
    projectCommand(
      program,
      'consolidate',
      'put memories in order across sessions: merge, date, retire',
    ).alias('dream'),
  )
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--undo', 'undo the last consolidation')
    .action((flags: ConsolidateFlags) =>
      run(async () => (await import('../commands/consolidate.ts')).runConsolidate(io, flags)),
    )
}

const scoped = (command: Command): Command =>
  command.addOption(
    new Option('--scope <scope>', 'only this scope').choices(['user', 'project', 'team', 'agent']),
  )
