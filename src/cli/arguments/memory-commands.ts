// `pal memory` and `pal consolidate`, which was `pal dream`.
import { Option, type Command } from 'commander'
import { projectCommand, wholeNumber, type RunCommand } from './flags.ts'

export function addMemoryCommands(program: Command, run: RunCommand): void {
  const memory = scoped(
    projectCommand(program, 'memory', 'list memories, where they came from, and what needs review'),
  )
    .option('--why', 'what the model gets before the first message, and from where')
    .action(run(async () => (await import('../commands/memory/list.ts')).memory))
  const child = (name: string, about: string): Command => scoped(projectCommand(memory, name, about))
  child('show', 'one memory, with where it came from')
    .argument('<name>')
    .action(run(async () => (await import('../commands/memory/list.ts')).showMemory))
  child('log', 'every version, of one memory or of all')
    .argument('[name]')
    .action(run(async () => (await import('../commands/memory/versions.ts')).logMemory))
  child('diff', 'what a version changed; default: the newest')
    .argument('<name>')
    .argument('[version]', 'as pal memory log lists it', wholeNumber)
    .action(run(async () => (await import('../commands/memory/versions.ts')).diffMemory))
  child('revert', 'restore a version; default: the one before the newest')
    .argument('<name>')
    .argument('[version]', 'as pal memory log lists it', wholeNumber)
    .action(run(async () => (await import('../commands/memory/versions.ts')).revertMemory))
  child(
    'forget',
    'delete a memory with all its versions, or all that came from a session or source, for good',
  )
    .argument('[name]')
    .option('--session <id>', 'everything saved from this session')
    .option('--source <name>', 'everything that came from this address, host, path or tool')
    .action(run(async () => (await import('../commands/memory/versions.ts')).forgetMemory))
  child('search', 'search memories, best match first')
    .argument('[text...]')
    .option('--transcripts', 'also what was said in earlier sessions')
    .option('--expand <ref>', 'the turns around one that was found')
    .action(run(async () => (await import('../commands/memory/list.ts')).searchMemory))
  child('review', 'what needs review: held writes, and files that something else changed').action(
    run(async () => (await import('../commands/memory/review.ts')).review),
  )
  for (const how of ['accept', 'reject'] as const) {
    child(
      how,
      how === 'accept' ? 'accept what needs review, by its number or file' : 'reject what needs review',
    )
      .argument('[names...]')
      .option('--all', 'everything that needs review')
      .action(run(async () => (await import('../commands/memory/review.ts')).deciding(how)))
  }
  addConsolidate(program, run)
}

function addConsolidate(program: Command, run: RunCommand): void {
  scoped(
    projectCommand(
      program,
      'consolidate',
      'put memories in order across sessions: merge, date, retire',
    ).alias('dream'),
  )
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--undo', 'undo the last consolidation')
    .action(run(async () => (await import('../commands/consolidate.ts')).runConsolidate))
}

const scoped = (command: Command): Command =>
  command.addOption(
    new Option('--scope <scope>', 'only this scope').choices(['user', 'project', 'team', 'agent']),
  )
