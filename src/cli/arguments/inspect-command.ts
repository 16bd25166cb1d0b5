// `pal inspect` and its options.
import type { Command } from 'commander'
import type { InspectFlags } from '../commands/inspect/inspect.ts'
import type { Io } from '../terminal/io.ts'
import { port, subcommand, type RunCommand } from './flags.ts'

export function addInspect(program: Command, io: Io, run: RunCommand): void {
  subcommand(
    program,
    'inspect',
    'open a page in the browser: what the model saw at every request, what it cost, every removal and its undo',
  )
    .argument('[id]', 'the session to open first; default: the list of all')
    .option('--no-open', 'print the address, open no browser')
    .option('--port <n>', 'the port; default: any free one', port)
    .option('--host <address>', 'listen beyond this machine; needs the TLS files')
    .option('--tls-cert <file>', 'with --host: the certificate, as PEM')
    .option('--tls-key <file>', 'with --host: its private key, as PEM')
    .option(
      '--export <file>',
      'write one session to a file that shows itself in any browser, secrets redacted',
    )
    .option(
      '--from <where>',
      'sessions that lie elsewhere, to read: a folder of them, or postgres (PAL_DATABASE_URL)',
    )
    .option('--raw', 'with --export: as it is, secrets and all')
    .option('--json', 'the address, or what was written, as JSON')
    .option('--cwd <folder>', 'the project')
    .action((id: string | undefined, flags: InspectFlags) =>
      run(async () =>
        (await import('../commands/inspect/inspect.ts')).inspect(io, id, flags, program.version() ?? ''),
      ),
    )
}
